"""Two models on the same rows: limits of the difference of their scores, and its p-value.

Of the n_k rows of label k the first model alone gets b_k right, the second alone c_k, and r_k are
right or wrong in both. With weights a_k that sum to 1 the difference of the scores is
sum_k a_k (b_k - c_k) / n_k. The arrays have one row for each segment and one column for each label;
counts need not be whole.
"""

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.safe_divide import ratio
from balframe.stats.constrained_mle_paired import Pairs, at_zero, spread_of
from balframe.stats.effective_sample_size import kish
from balframe.stats.lazy_scipy import special
from balframe.stats.proportions import Limits, normal_quantile
from balframe.stats.root_finding import increasing_root

_FEW_ROWS = 2  # from so many of every label on, a lower difference has a larger statistic


def paired_limits(
    only_one: FloatArray, only_other: FloatArray, n: FloatArray, a: FloatArray, level: float
) -> Limits:
    """Invert the score test of the difference under constrained maximum likelihood.

    With one label these are Tango's limits; with more, their counterpart for a weighted mean.

    Parameters
    ----------
    only_one, only_other, n, a : float arrays, shape (segments, labels)
        Rows of the label that only the first, and only the second, of two models gets right; all
        its rows; and the weights of the labels. Every n and a is above 0.
    level : float
        Confidence level, between 0 and 1.

    Returns
    -------
    lower, upper : float arrays, shape (segments,)

    References
    ----------
    T. Tango, "Equivalence test and confidence interval for the difference in proportions for the
    paired-sample design", Statistics in Medicine 1998.
    """
    z = np.full(len(n), normal_quantile(level))
    return paired_limits_at(only_one, only_other, n, a, z)


def paired_limits_at(
    only_one: FloatArray, only_other: FloatArray, n: FloatArray, a: FloatArray, z: FloatArray
) -> Limits:
    """Return the limits of `paired_limits` with a quantile given for each segment."""
    pairs, everywhere = Pairs.of(only_one, only_other, n, a), np.ones(len(n), np.bool_)
    return _lower(pairs, z), -_lower(pairs.exchanged(everywhere), z)


def paired_p_value(
    only_one: FloatArray, only_other: FloatArray, n: FloatArray, a: FloatArray
) -> FloatArray:
    """Test that two models have the same score, two-sided, by the statistic of the limits.

    Shapes as in `paired_limits`. The p-value is below 1 - level exactly where the limits exclude 0.
    With one label it is that of McNemar's (b - c)^2 / (b + c), without a correction for continuity.

    References
    ----------
    Q. McNemar, "Note on the sampling error of the difference between correlated proportions or
    percentages", Psychometrika 1947.
    """
    pairs = Pairs.of(only_one, only_other, n, a)
    pairs = pairs.exchanged(pairs.observed < 0)
    rows = np.flatnonzero(pairs.observed > 0)
    _, statistic = at_zero(pairs.at(rows))
    p = np.ones(len(n))
    p[rows] = 2 * special.ndtr(-statistic)
    return p


def effective_pairs(
    only_one: FloatArray,
    only_other: FloatArray,
    rest: FloatArray,
    only_one_sq: FloatArray,
    only_other_sq: FloatArray,
    rest_sq: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the effective rows of a label from sums of weights and of squared weights.

    This is Kish's effective size (sum w)^2 / sum w^2, divided by the design effect of the
    difference if that is above 1. The design effect is estimated after adding two rows of the
    average weight k = sum w^2 / sum w: one that only one model gets right, half for each model, and
    one other row. Rows without weights are unchanged. NaN if the squares overflow or underflow a
    float.

    Parameters
    ----------
    only_one, only_other, rest : float arrays
        Sums of the weights of the rows that only the first, and only the second, of two models gets
        right, and of all others.
    only_one_sq, only_other_sq, rest_sq : float arrays
        Sums of their squares.

    Returns
    -------
    only_one, only_other, n : float arrays
        Effective rows that only the first, and only the second, gets right; and all.
    """
    sums, squares = (only_one, only_other, rest), (only_one_sq, only_other_sq, rest_sq)
    with np.errstate(over="ignore", under="ignore"):
        total, total_sq = (sum(kinds[1:], kinds[0]) for kinds in (sums, squares))
    size = kish(total, total_sq)
    usable = np.isfinite(size)
    row = 1 / np.where(usable, size, 1)  # the share of a mean row
    whole = 1 + 2 * row
    b, c, e = (ratio(np.where(usable, kind, 0), total) for kind in sums)
    b_sq, c_sq, e_sq = (ratio(np.where(usable, kind, 0), total_sq) for kind in squares)
    p_b, p_c, p_e = (b + row / 2) / whole, (c + row / 2) / whole, (e + row) / whole
    difference = p_b - p_c
    variance = (
        (1 - difference) ** 2 * (b_sq + row / 2)
        + (1 + difference) ** 2 * (c_sq + row / 2)
        + difference**2 * (e_sq + row)
    )
    n = size / np.maximum(ratio(variance, spread_of(p_b, p_c, p_e) * whole), 1)
    is_plain = np.logical_and.reduce([one == sq for one, sq in zip(sums, squares, strict=True)])
    b, c, n = (
        np.where(usable & is_plain, rows, effective)
        for rows, effective in ((only_one, b * n), (only_other, c * n), (total, n))
    )
    return b, c, n


def _lower(pairs: Pairs, z: FloatArray) -> FloatArray:
    """Find the lower limits, where l V = z sqrt(V_f)."""
    lower = np.full(len(pairs.n), -1.0)
    rows = np.flatnonzero(np.isfinite(pairs.start))
    pairs, z = pairs.at(rows), z[rows]
    start = pairs.start
    least, most = start.copy(), np.full(len(rows), np.inf)
    few = np.flatnonzero((pairs.n < _FEW_ROWS).any(axis=1) & (pairs.observed > 0))
    if len(few):  # the statistic may reach z more than once: 0 says on which side of it to look
        zero, statistic = at_zero(pairs.at(few))
        least[few] = np.where(statistic > z[few], least[few], zero)
        most[few] = np.where(statistic > z[few], zero, np.inf)

    def excess(t: FloatArray, at: Int64Array) -> FloatArray:
        """Compute l V - z sqrt(V_f): positive outside of the interval."""
        multiplier = np.minimum(least[at] + np.exp(t), most[at])
        found = pairs.at(at).fitted(multiplier)
        beyond: FloatArray = multiplier * found.variance - z[at] * np.sqrt(found.variance_f)
        return beyond

    variance = np.where(start > 0, 1, pairs.observed_variance)
    guess = np.where(start > 0, z * z / pairs.a.max(axis=1), z / np.sqrt(variance))
    multiplier = np.minimum(least + np.exp(increasing_root(excess, np.log(guess))), most)
    limit = pairs.fitted(multiplier).difference
    lower[rows] = np.clip(np.minimum(limit, pairs.observed), -1, 1)
    return lower
