"""Paired comparison of two models: limits of the difference of their scores, and its p-value.

Of the n_k rows of label k the first model alone gets b_k right, the second alone c_k, and r_k are
right or wrong in both. With weights a_k that sum to 1 the difference of the scores is
sum_k a_k (b_k - c_k) / n_k. The arrays have one row for each segment and one column for each label.
Counts need not be whole.
"""

from collections.abc import Callable

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.stats.constrained_mle_paired import PairedCounts, statistic_at_zero
from balframe.stats.effective_sample_size import PairedRows
from balframe.stats.lazy_scipy import special
from balframe.stats.proportions import Limits, normal_quantile
from balframe.stats.root_finding import increasing_root

_MIN_ROWS_MONOTONE = 2  # of every label: then the statistic grows as the difference falls
_LARGE_MULTIPLIER = 1e12  # times n / a: at this multiplier only the second model gets rows right
_WIDENING = 0.1  # of a multiplier: where the search for the corrected one begins

# of the rows that only the first and only the second model gets right, all rows and weights, and
# of a level, or of a quantile of each segment
PairedLimits = Callable[..., Limits]


def paired_limits(
    only_first: FloatArray,
    only_second: FloatArray,
    n: FloatArray,
    a: FloatArray,
    level: float,
    upper_rows: PairedRows | None = None,
) -> Limits:
    """Invert the score test of the difference under constrained maximum likelihood.

    With one label these are Tango's limits; with more, their generalisation to a weighted mean.

    Parameters
    ----------
    only_first, only_second, n, a : float arrays, shape (segments, labels)
        Rows of the label that only the first, and only the second, of two models gets right; all
        its rows; and the weights of the labels. Every n and a is above 0.
    level : float
        Confidence level, between 0 and 1.
    upper_rows : three float arrays, optional
        The first three for the upper limit, which weights may make others; by default the same.

    Returns
    -------
    lower, upper : float arrays, shape (segments,)

    References
    ----------
    T. Tango, "Equivalence test and confidence interval for the difference in proportions for the
    paired-sample design", Statistics in Medicine 1998.
    """
    z = np.full(len(n), normal_quantile(level))
    return paired_limits_at(only_first, only_second, n, a, z, upper_rows)


def paired_limits_at(
    only_first: FloatArray,
    only_second: FloatArray,
    n: FloatArray,
    a: FloatArray,
    z: FloatArray,
    upper_rows: PairedRows | None = None,
    *,
    wider: bool = False,
) -> Limits:
    """Return the limits of `paired_limits` at a quantile z of each segment.

    If `wider`, return those of `paired_gate_limits`.
    """
    pairs = PairedCounts.of(only_first, only_second, n, a)
    upper = pairs if upper_rows is None else PairedCounts.of(*upper_rows, a)
    swapped = upper.swap_models(np.ones(len(n), np.bool_))
    return _lower_limits(pairs, z, wider=wider), -_lower_limits(swapped, z, wider=wider)


def paired_gate_limits(
    only_first: FloatArray,
    only_second: FloatArray,
    n: FloatArray,
    a: FloatArray,
    level: float,
    upper_rows: PairedRows | None = None,
) -> Limits:
    """Return the limits that decide: the wider of two score intervals, limit by limit.

    These are `paired_limits` and the same with a correction for skewness. The correction matters
    where one model is rarely right on a row on which the other is wrong: without it, a new model
    that only loses rows fails too often although it is not worse than its margin.

    Parameters and shapes as in `paired_limits`.

    References
    ----------
    T. Tango, "Equivalence test and confidence interval for the difference in proportions for the
    paired-sample design", Statistics in Medicine 1998; P. J. Laud, "Equal-tailed confidence
    intervals for comparison of rates", Pharmaceutical Statistics 2017, for the correction.
    """
    z = np.full(len(n), normal_quantile(level))
    return paired_limits_at(only_first, only_second, n, a, z, upper_rows, wider=True)


def paired_p_value(
    only_first: FloatArray,
    only_second: FloatArray,
    n: FloatArray,
    a: FloatArray,
    upper_rows: PairedRows | None = None,
) -> FloatArray:
    """Return the two-sided p-value of the score test that two models have the same score.

    Shapes as in `paired_limits`. The p-value is below 1 - level exactly where the limits exclude 0.
    With one label it is that of McNemar's (b - c)^2 / (b + c), without continuity correction.

    References
    ----------
    Q. McNemar, "Note on the sampling error of the difference between correlated proportions or
    percentages", Psychometrika 1947.
    """
    pairs = PairedCounts.of(only_first, only_second, n, a)
    is_below = pairs.observed_difference < 0
    if upper_rows is not None:
        pairs = pairs.replaced_by(PairedCounts.of(*upper_rows, a), is_below)
    pairs = pairs.swap_models(is_below)
    rows = np.flatnonzero(pairs.observed_difference > 0)
    _, statistic = statistic_at_zero(pairs.at(rows))
    p = np.ones(len(n))
    p[rows] = 2 * special.ndtr(-statistic)
    return p


def _lower_limits(pairs: PairedCounts, z: FloatArray, *, wider: bool) -> FloatArray:
    """Return the lower limits: those of the score test or, if lower, of the corrected one."""
    lower = np.full(len(pairs.n), -1.0)
    rows = np.flatnonzero(np.isfinite(pairs.start))
    pairs, z = pairs.at(rows), z[rows]
    multiplier = _score_multiplier(pairs, z)
    if wider:
        multiplier = _wider_multiplier(pairs, z, multiplier)
        is_bounded = np.flatnonzero(np.isfinite(multiplier))
        rows, pairs, multiplier = rows[is_bounded], pairs.at(is_bounded), multiplier[is_bounded]
    limit = pairs.fit(multiplier).difference
    lower[rows] = np.clip(np.minimum(limit, pairs.observed_difference), -1, 1)
    return lower


def _score_multiplier(pairs: PairedCounts, z: FloatArray) -> FloatArray:
    """Return the multipliers of lower limits, where l V = z sqrt(V_f)."""
    start = pairs.start
    smallest, largest = start.copy(), np.full(len(z), np.inf)
    few = np.flatnonzero(
        (pairs.n < _MIN_ROWS_MONOTONE).any(axis=1) & (pairs.observed_difference > 0)
    )
    if len(few):  # the statistic may equal z more than once: its value at 0 decides the root
        at_zero, statistic = statistic_at_zero(pairs.at(few))
        smallest[few] = np.where(statistic > z[few], smallest[few], at_zero)
        largest[few] = np.where(statistic > z[few], at_zero, np.inf)

    def excess(t: FloatArray, segments: Int64Array) -> FloatArray:
        """Return l V - z sqrt(V_f), which is positive outside of the interval."""
        multiplier = np.minimum(smallest[segments] + np.exp(t), largest[segments])
        fit = pairs.at(segments).fit(multiplier)
        difference: FloatArray = multiplier * fit.variance - z[segments] * np.sqrt(fit.variance_f)
        return difference

    variance = np.where(start > 0, 1, pairs.observed_variance)
    guess = np.where(start > 0, z * z / pairs.a.max(axis=1), z / np.sqrt(variance))
    multiplier = smallest + np.exp(increasing_root(excess, np.log(guess)))
    return np.asarray(np.minimum(multiplier, largest))


def _wider_multiplier(pairs: PairedCounts, z: FloatArray, multiplier: FloatArray) -> FloatArray:
    """Increase the multipliers where the corrected statistic is below z, until it is z.

    They are infinite where it never is: the corrected statistic of few rows is bounded.
    """
    multiplier = multiplier.copy()
    below = np.flatnonzero(pairs.skewness_corrected_statistic(multiplier) < z)
    largest = _LARGE_MULTIPLIER * (pairs.n / pairs.a).max(axis=1)[below]
    exceeds = pairs.at(below).skewness_corrected_statistic(largest) > z[below]
    multiplier[below[~exceeds]] = np.inf
    rows = below[exceeds]
    pairs, z, smallest = pairs.at(rows), z[rows], multiplier[rows]

    def excess(t: FloatArray, segments: Int64Array) -> FloatArray:
        part = pairs.at(segments)
        statistic = part.skewness_corrected_statistic(smallest[segments] + np.exp(t))
        return np.asarray(statistic - z[segments])

    multiplier[rows] += np.exp(increasing_root(excess, np.log(_WIDENING * smallest)))
    return multiplier
