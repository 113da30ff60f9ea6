"""Confidence limits of the geometric mean of recalls.

There is one row for each segment and one column for each label. With x_k of n_k rows of label k
correct, the recalls are p_k = x_k / n_k and the score is (prod_k p_k)^(1/K). Counts need not be
whole.
"""

import math

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.stats.proportions import Limits, Rows, clopper_pearson, normal_quantile
from balframe.stats.root_finding import increasing_root

_MIN_ERROR_SHARE = 1e-7
_MAX_BIAS = 0.5  # of the mean log recall, in standard errors


def geometric_mean_limits(
    x: FloatArray, n: FloatArray, level: float, upper_rows: Rows | None = None
) -> Limits:
    """Invert the score test of the geometric mean, where its bias is small.

    Under the constraint p_k = (x_k - m)/(n_k - m), and a limit is where
    m^2 sum_k (n_k - x_k)/(n_k (x_k - m)) = z^2.

    The logarithm of a recall from few rows is on average too low. With more labels this bias of the
    mean stays while its standard error falls: in standard errors the bias is about half the root of
    sum_k q_k/(n_k p_k). There are no limits where that sum, with p_k = (x_k + 1/2)/(n_k + 1), is
    above 1, as it is where the recall of a label is 0.

    Parameters
    ----------
    x, n : float arrays, shape (segments, labels)
        Correct rows and rows of the labels present; every n is above 0.
    level : float
        Confidence level, between 0 and 1.
    upper_rows : two float arrays of the same shape, optional
        x and n for the upper limit, which weights may make others; by default the same.

    Returns
    -------
    lower, upper : float arrays, shape (segments,)
        NaN where the bias is too large.
    """
    lower, upper = np.full((2, len(x)), np.nan)
    x_up, n_up = (x, n) if upper_rows is None else upper_rows
    rows = np.flatnonzero(~(_is_biased(x, n) | _is_biased(x_up, n_up)))
    two_log_z = 2 * math.log(normal_quantile(level))
    lower[rows] = _lower_score_limit(x[rows], n[rows], two_log_z)
    upper[rows] = _upper_score_limit(x_up[rows], n_up[rows], two_log_z)
    return lower, upper


def geometric_mean_gate_limits(
    x: FloatArray, n: FloatArray, level: float, upper_rows: Rows | None = None
) -> Limits:
    """Return geometric means of simultaneous Clopper-Pearson limits of the recalls (Bonferroni).

    Shapes as in `geometric_mean_limits`. Their coverage is at least the level for any number of
    rows. They are wide where there are many labels.
    """
    with np.errstate(divide="ignore"):
        limits = clopper_pearson(x, n, 1 - (1 - level) / x.shape[1], upper_rows)
        lower, upper = (np.exp(np.log(limit).mean(axis=1)) for limit in limits)
    return lower, upper


def _is_biased(x: FloatArray, n: FloatArray) -> BoolArray:
    bias = 0.5 * np.sqrt(((n - x + 0.5) / (n * (x + 0.5))).sum(axis=1))
    return np.asarray(bias > _MAX_BIAS)


def _lower_score_limit(x: FloatArray, n: FloatArray, two_log_z: float) -> FloatArray:
    x = np.minimum(x, n * (1 - _MIN_ERROR_SHARE))
    q = (n - x) / n
    smallest = x.min(axis=1)

    def multiplier(t: FloatArray, rows: Int64Array) -> tuple[FloatArray, FloatArray]:
        """Return m, which moves from 0 to the smallest x_k, and x_k - m without cancellation."""
        m = smallest[rows] / (1 + np.exp(-t))
        smallest_less_m = smallest[rows] / (1 + np.exp(t))
        return m, (x[rows] - smallest[rows, None]) + smallest_less_m[:, None]

    def lower_excess(t: FloatArray, rows: Int64Array) -> FloatArray:
        return _log_statistic(*multiplier(t, rows), q[rows]) - two_log_z

    _, x_m = multiplier(increasing_root(lower_excess, np.zeros(len(x))), np.arange(len(x)))
    lower: FloatArray = np.exp(np.log(x_m / (x_m + (n - x))).mean(axis=1))
    return lower


def _upper_score_limit(x: FloatArray, n: FloatArray, two_log_z: float) -> FloatArray:
    x = np.minimum(x, n * (1 - _MIN_ERROR_SHARE))
    q = (n - x) / n

    def upper_excess(t: FloatArray, rows: Int64Array) -> FloatArray:
        m = np.exp(t)
        return _log_statistic(m, x[rows] + m[:, None], q[rows]) - two_log_z

    m = np.exp(increasing_root(upper_excess, np.zeros(len(x))))[:, None]
    return np.asarray(np.minimum(np.exp(np.log((x + m) / (n + m)).mean(axis=1)), 1))


def _log_statistic(m: FloatArray, x_m: FloatArray, q: FloatArray) -> FloatArray:
    """Return the logarithm of m^2 sum_k q_k / x_mk, where x_mk is x_k less m."""
    statistic: FloatArray = 2 * np.log(m) + np.log((q / x_m).sum(axis=1))
    return statistic
