"""Confidence limits of the geometric mean of recalls.

There is one row for each segment and one column for each label. With x_k of n_k rows of label k
correct, the recalls are p_k = x_k / n_k and the score is (prod_k p_k)^(1/K). Counts need not be
whole.
"""

import math

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.stats.proportions import Limits, exact, normal_quantile
from balframe.stats.root_finding import increasing_root

_LEAST_WRONG = 1e-7
_MOST_BIAS = 0.5  # of the mean log recall, in standard errors


def geometric(x: FloatArray, n: FloatArray, level: float) -> Limits:
    """Invert the score test of the geometric mean, where it is not too biased.

    Under the constraint p_k = (x_k - m)/(n_k - m), and a limit is where
    m^2 sum_k (n_k - x_k)/(n_k (x_k - m)) = z^2.

    The logarithm of a recall from few rows is on average too low. With more labels this bias of the
    mean stays while its standard error falls: in standard errors the bias is about half the root of
    sum_k q_k/(n_k p_k). There are no limits where that sum, with p_k = (x_k + 1/2)/(n_k + 1), is
    above 1, as it is where a label is never found.

    Parameters
    ----------
    x, n : float arrays, shape (segments, labels)
        Correct rows and rows of the labels present; every n is above 0.
    level : float
        Confidence level, between 0 and 1.

    Returns
    -------
    lower, upper : float arrays, shape (segments,)
        NaN where the bias is too large.
    """
    lower, upper = np.full((2, len(x)), np.nan)
    known = np.flatnonzero(~_is_biased(x, n))
    lower[known], upper[known] = _by_score(x[known], n[known], level)
    return lower, upper


def geometric_gate(x: FloatArray, n: FloatArray, level: float) -> Limits:
    """Multiply Clopper-Pearson limits of the recalls that hold together (Bonferroni).

    Shapes as in `geometric`. They hold the geometric mean at least as often as they say, however
    few rows there are, and are wide where there are many labels.
    """
    with np.errstate(divide="ignore"):
        limits = (np.log(limit) for limit in exact(x, n, 1 - (1 - level) / x.shape[1]))
        lower, upper = (np.exp(limit.mean(axis=1)) for limit in limits)
    return lower, upper


def _is_biased(x: FloatArray, n: FloatArray) -> BoolArray:
    bias = 0.5 * np.sqrt(((n - x + 0.5) / (n * (x + 0.5))).sum(axis=1))
    return np.asarray(bias > _MOST_BIAS)


def _by_score(x: FloatArray, n: FloatArray, level: float) -> Limits:
    two_log_z = 2 * math.log(normal_quantile(level))
    x = np.minimum(x, n * (1 - _LEAST_WRONG))
    share_wrong = (n - x) / n
    least = x.min(axis=1)

    def towards_least(t: FloatArray, at: Int64Array) -> tuple[FloatArray, FloatArray]:
        """Move m from 0 to the least x_k, keeping the digits of x_k - m."""
        m = least[at] / (1 + np.exp(-t))
        rest = least[at] / (1 + np.exp(t))
        return m, (x[at] - least[at, None]) + rest[:, None]

    def below(t: FloatArray, at: Int64Array) -> FloatArray:
        return _log_statistic(*towards_least(t, at), share_wrong[at]) - two_log_z

    def above(t: FloatArray, at: Int64Array) -> FloatArray:
        m = np.exp(t)
        return _log_statistic(m, x[at] + m[:, None], share_wrong[at]) - two_log_z

    _, left = towards_least(increasing_root(below, np.zeros(len(x))), np.arange(len(x)))
    lower = np.exp(np.log(left / (left + (n - x))).mean(axis=1))
    m = np.exp(increasing_root(above, np.zeros(len(x))))[:, None]
    upper = np.exp(np.log((x + m) / (n + m)).mean(axis=1))
    return lower, np.minimum(upper, 1)


def _log_statistic(m: FloatArray, left: FloatArray, share_wrong: FloatArray) -> FloatArray:
    statistic: FloatArray = 2 * np.log(m) + np.log((share_wrong / left).sum(axis=1))
    return statistic
