"""Two models on the same rows: limits of the difference of their scores, and its p-value.

Of the n_k rows of label k the first model alone gets b_k right, the second alone c_k, and r_k are
right or wrong in both. With weights a_k that sum to 1 the difference of the scores is
sum_k a_k (b_k - c_k) / n_k. The arrays have one row for each segment and one column for each label;
counts need not be whole.
"""

from dataclasses import dataclass, fields, replace

import numpy as np

from balframe.core.arrays import BoolArray, FloatArray, Int64Array
from balframe.core.division import ratio
from balframe.intervals.effective_rows import kish
from balframe.intervals.later import special
from balframe.intervals.proportions import Limits, normal_quantile
from balframe.intervals.roots import increasing_root

_NOTHING = 1e-50  # shares below it change no limit, and their squares have no digits
_ROUNDING = 1e-13  # a difference so small beside its parts is 0
_STEPS = 4  # of Newton's kind; after them no share is off by more than 1e-15
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
    z, pairs = normal_quantile(level), _Pairs.of(only_one, only_other, n, a)
    everywhere = np.ones(len(n), np.bool_)
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
    pairs = _Pairs.of(only_one, only_other, n, a)
    pairs = pairs.exchanged(pairs.observed < 0)
    rows = np.flatnonzero(pairs.observed > 0)
    _, statistic = _at_zero(pairs.at(rows))
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
    n = size / np.maximum(ratio(variance, _spread(p_b, p_c, p_e) * whole), 1)
    is_plain = np.logical_and.reduce([one == sq for one, sq in zip(sums, squares, strict=True)])
    b, c, n = (
        np.where(usable & is_plain, rows, effective)
        for rows, effective in ((only_one, b * n), (only_other, c * n), (total, n))
    )
    return b, c, n


def _lower(pairs: "_Pairs", z: float) -> FloatArray:
    """Find the lower limits, where l V = z sqrt(V_f)."""
    lower = np.full(len(pairs.n), -1.0)
    rows = np.flatnonzero(np.isfinite(pairs.start))
    pairs = pairs.at(rows)
    start = pairs.start
    least, most = start.copy(), np.full(len(rows), np.inf)
    few = np.flatnonzero((pairs.n < _FEW_ROWS).any(axis=1) & (pairs.observed > 0))
    if len(few):  # the statistic may reach z more than once: 0 says on which side of it to look
        zero, statistic = _at_zero(pairs.at(few))
        least[few] = np.where(statistic > z, least[few], zero)
        most[few] = np.where(statistic > z, zero, np.inf)

    def excess(t: FloatArray, at: Int64Array) -> FloatArray:
        """Compute l V - z sqrt(V_f): positive outside of the interval."""
        multiplier = np.minimum(least[at] + np.exp(t), most[at])
        found = pairs.at(at).fitted(multiplier)
        beyond: FloatArray = multiplier * found.variance - z * np.sqrt(found.variance_f)
        return beyond

    variance = np.where(start > 0, 1, pairs.observed_variance)
    guess = np.where(start > 0, z * z / pairs.a.max(axis=1), z / np.sqrt(variance))
    multiplier = np.minimum(least + np.exp(increasing_root(excess, np.log(guess))), most)
    limit = pairs.fitted(multiplier).difference
    lower[rows] = np.clip(np.minimum(limit, pairs.observed), -1, 1)
    return lower


def _at_zero(pairs: "_Pairs") -> tuple[FloatArray, FloatArray]:
    """Find the multiplier at which positive differences become 0, and the statistic there."""
    start, difference = pairs.start, pairs.observed

    def below(t: FloatArray, at: Int64Array) -> FloatArray:
        return -pairs.at(at).fitted(start[at] + np.exp(t)).difference

    variance = np.where(start > 0, 1, pairs.observed_variance)
    guess = np.where(start > 0, start, difference / variance)
    multiplier = start + np.exp(increasing_root(below, np.log(guess)))
    found = pairs.fitted(multiplier)
    # V is difference / l: that has digits which shares near 0 have lost
    variance_f = difference / multiplier + (found.variance_f - found.variance)
    return multiplier, difference / np.sqrt(variance_f)


@dataclass(frozen=True, slots=True)
class _Fit:
    """The difference under a constraint, and its variances V and V_f there."""

    difference: FloatArray
    variance: FloatArray
    variance_f: FloatArray


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Rows of each label by kind, its weight, and what its variance weighs in V and V_f."""

    b: FloatArray
    c: FloatArray
    r: FloatArray
    n: FloatArray
    a: FloatArray
    part: FloatArray
    part_f: FloatArray

    @classmethod
    def of(
        cls, only_one: FloatArray, only_other: FloatArray, n: FloatArray, a: FloatArray
    ) -> "_Pairs":
        """Prepare the fits; what is less than one row is one row where V_f corrects for them."""
        kinds = (only_one, only_other, n - (only_one + only_other))
        b, c, r = (np.where(kind > _NOTHING * n, kind, 0) for kind in kinds)
        n, a = b + c + r, np.maximum(a, _NOTHING)
        part, corrected = a * a / n, np.maximum(n, 1)
        share = part / part.sum(axis=1, keepdims=True)
        return cls(b, c, r, n, a, part, part * corrected / (corrected - 1 + share))

    def at(self, rows: Int64Array) -> "_Pairs":
        """Take these segments."""
        return _Pairs(*(getattr(self, one.name).take(rows, axis=0) for one in fields(self)))

    def exchanged(self, where: BoolArray) -> "_Pairs":
        """Let the models change places in these segments."""
        turn = where[:, None]
        return replace(self, b=np.where(turn, self.c, self.b), c=np.where(turn, self.b, self.c))

    @property
    def observed(self) -> FloatArray:
        """The observed difference."""
        parts = self.a * (self.b - self.c) / self.n
        difference = parts.sum(axis=1)
        is_zero = np.abs(difference) <= _ROUNDING * np.abs(parts).sum(axis=1)
        return np.where(is_zero, 0.0, difference)

    @property
    def observed_variance(self) -> FloatArray:
        """V at the observed difference."""
        spread = _spread(self.b / self.n, self.c / self.n, self.r / self.n)
        return np.asarray((self.part * spread).sum(axis=1))

    @property
    def start(self) -> FloatArray:
        """The multiplier up to which nothing varies; infinite where only the second is right."""
        varies = (np.maximum(np.maximum(self.b, self.c), self.r) < self.n).any(axis=1)
        rows = np.where(self.r > 0, self.n, np.where(self.b > 0, self.n / 2, np.inf))
        return np.where(varies, 0.0, (rows / self.a).min(axis=1))

    def fitted(self, multiplier: FloatArray) -> _Fit:
        """Fit shares that have the largest likelihood among those of a lower difference.

        The multiplier is that of the constraint: 0 at the observed difference, and the larger the
        lower the difference. The observed difference less this one is l V.
        """
        shares = _shares(multiplier[:, None] * self.a, self.b, self.c, self.r)
        spread = _spread(*shares)
        return _Fit(
            (self.a * (shares[0] - shares[1])).sum(axis=1),
            (self.part * spread).sum(axis=1),
            (self.part_f * spread).sum(axis=1),
        )


def _spread(p_b: FloatArray, p_c: FloatArray, p_r: FloatArray) -> FloatArray:
    """Compute p_b + p_c - (p_b - p_c)^2 to full digits; the three shares add up to 1."""
    return (p_b + p_c) * p_r + 4 * p_b * p_c


def _shares(
    t: FloatArray, b: FloatArray, c: FloatArray, r: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Find the z >= 0 at which p_b = b/(z + 2t), p_c = c/z and p_r = r/(z + t) add up to 1.

    Times z + t that is z (z + t - b - r + bt/(z + 2t)) = c (z + t), where the factor in brackets is
    nearly linear in z: with its tangent, each step is a quadratic equation. Where c is 0, z may be
    0 too, and p_c is the rest.
    """
    z = np.maximum(b + c + r - 2 * t, c)
    bt, ct, level = b * t, c * t, t - (b + c + r)
    for _ in range(_STEPS):
        width = z + 2 * t
        curved = bt / width
        falling = curved / width
        half, slope = level + curved + z * falling, 1 - falling
        both = np.abs(half) + np.sqrt(half * half + 4 * ct * slope)
        z = np.where(half < 0, both / (2 * slope), 2 * ct / np.where(both > 0, both, 1))
    p_b, p_r = b / (z + 2 * t), r / (z + t)
    p_c = np.where(c > 0, c / np.where(c > 0, z, 1), np.maximum(1 - p_b - p_r, 0))
    return p_b, p_c, p_r
