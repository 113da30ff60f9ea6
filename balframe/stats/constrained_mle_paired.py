"""Constrained maximum likelihood estimates for two models on the same rows.

Of the n_k rows of label k the first model alone gets b_k right, the second alone c_k, and r_k are
right or wrong in both. With weights a_k that sum to 1 the difference of the scores is
sum_k a_k (b_k - c_k) / n_k. If it is constrained to d, the shares of largest likelihood have one
Lagrange multiplier l for all labels; the observed difference then lies l V above d. Counts need not
be whole.
"""

from dataclasses import dataclass, fields, replace

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.stats.constrained_mle import correct_for_skewness
from balframe.stats.root_finding import increasing_root

_NEGLIGIBLE = 1e-50  # shares below it change no limit, and their squares underflow
_ROUNDING = 1e-13  # times the parts of a difference: smaller differences are 0 up to rounding
_STEPS = 4  # of the Newton type; after them no share is off by more than 1e-15


@dataclass(frozen=True, slots=True)
class ConstrainedFit:
    """The difference at a constrained estimate, and its variances V and V_f there."""

    difference: FloatArray
    variance: FloatArray
    variance_f: FloatArray


@dataclass(frozen=True, slots=True)
class PairedCounts:
    """Rows of each label by outcome, its weight, and the factors of its variance in V and V_f.

    The arrays have one row for each segment and one column for each label.
    """

    b: FloatArray
    c: FloatArray
    r: FloatArray
    n: FloatArray
    a: FloatArray
    variance_factor: FloatArray
    variance_factor_f: FloatArray

    @classmethod
    def of(
        cls, only_first: FloatArray, only_second: FloatArray, n: FloatArray, a: FloatArray
    ) -> "PairedCounts":
        """Compute the variance factors; V_f takes the rows of a label as at least 1."""
        outcomes = (only_first, only_second, n - (only_first + only_second))
        b, c, r = (np.where(rows > _NEGLIGIBLE * n, rows, 0) for rows in outcomes)
        n, a = b + c + r, np.maximum(a, _NEGLIGIBLE)
        factor, n_f = a * a / n, np.maximum(n, 1)
        share = factor / factor.sum(axis=1, keepdims=True)
        return cls(b, c, r, n, a, factor, factor * n_f / (n_f - 1 + share))

    def at(self, segments: Int64Array) -> "PairedCounts":
        """Take the segments at these positions."""
        columns = (getattr(self, field.name) for field in fields(self))
        return PairedCounts(*(column.take(segments, axis=0) for column in columns))

    def swap_models(self, where: BoolArray) -> "PairedCounts":
        """Exchange the two models in these segments."""
        swap = where[:, None]
        return replace(self, b=np.where(swap, self.c, self.b), c=np.where(swap, self.b, self.c))

    def replaced_by(self, other: "PairedCounts", where: BoolArray) -> "PairedCounts":
        """Take the counts of others in these segments."""
        names = [field.name for field in fields(self)]
        columns = ((getattr(other, name), getattr(self, name)) for name in names)
        return PairedCounts(*(np.where(where[:, None], *pair) for pair in columns))

    @property
    def observed_difference(self) -> FloatArray:
        """The observed difference."""
        parts = self.a * (self.b - self.c) / self.n
        difference = parts.sum(axis=1)
        is_zero = np.abs(difference) <= _ROUNDING * np.abs(parts).sum(axis=1)
        return np.where(is_zero, 0.0, difference)

    @property
    def observed_variance(self) -> FloatArray:
        """V at the observed difference."""
        row_variance = difference_variance(self.b / self.n, self.c / self.n, self.r / self.n)
        return np.asarray((self.variance_factor * row_variance).sum(axis=1))

    @property
    def start(self) -> FloatArray:
        """The multiplier up to which nothing varies; infinite where only the second is right."""
        varies = (np.maximum(np.maximum(self.b, self.c), self.r) < self.n).any(axis=1)
        rows = np.where(self.r > 0, self.n, np.where(self.b > 0, self.n / 2, np.inf))
        return np.where(varies, 0.0, (rows / self.a).min(axis=1))

    def fit(self, multiplier: FloatArray) -> ConstrainedFit:
        """Return the constrained maximum likelihood estimate at Lagrange multipliers l >= 0.

        The multiplier is 0 at the observed difference, and grows as the difference falls. The
        observed difference less the fitted one is l V.
        """
        p_b, p_c, p_r = self.fit_shares(multiplier)
        row_variance = difference_variance(p_b, p_c, p_r)
        return ConstrainedFit(
            (self.a * (p_b - p_c)).sum(axis=1),
            (self.variance_factor * row_variance).sum(axis=1),
            (self.variance_factor_f * row_variance).sum(axis=1),
        )

    def third_moment(self, p_b: FloatArray, p_c: FloatArray, p_r: FloatArray) -> FloatArray:
        """Return the third central moment of the observed difference under these shares."""
        factor = self.variance_factor * (self.a / self.n)
        return np.asarray((factor * difference_third_moment(p_b, p_c, p_r)).sum(axis=1))

    def skewness_corrected_statistic(self, multiplier: FloatArray) -> FloatArray:
        """Return l V / sqrt(V_f) at multipliers l >= 0, corrected for skewness.

        The skewness is the third central moment over V_f^1.5. The result is 0 where nothing varies.

        References
        ----------
        J. J. Gart and J. Nam, "Approximate interval estimation of the ratio of binomial
        parameters: a review and corrections for skewness", Biometrics 1988.
        """
        shares = self.fit_shares(multiplier)
        row_variance = difference_variance(*shares)
        variance_f = (self.variance_factor_f * row_variance).sum(axis=1)
        error = np.sqrt(np.where(variance_f > 0, variance_f, np.inf))
        statistic = multiplier * (self.variance_factor * row_variance).sum(axis=1) / error
        return correct_for_skewness(statistic, self.third_moment(*shares) / error**3)

    def fit_shares(self, multiplier: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the fitted shares p_b, p_c and p_r of each label."""
        return constrained_shares(multiplier[:, None] * self.a, self.b, self.c, self.r)


def difference_variance(p_b: FloatArray, p_c: FloatArray, p_r: FloatArray) -> FloatArray:
    """Return the variance of one row, p_b + p_c - (p_b - p_c)^2, without cancellation.

    The three shares add up to 1.
    """
    return (p_b + p_c) * p_r + 4 * p_b * p_c


def difference_third_moment(p_b: FloatArray, p_c: FloatArray, p_r: FloatArray) -> FloatArray:
    """Return the third central moment of one row, without cancellation.

    With d = p_b - p_c it is p_b (1 - d)^3 - p_c (1 + d)^3 - p_r d^3. The three shares add up to 1.
    """
    below, above, d = 2 * p_c + p_r, 2 * p_b + p_r, p_b - p_c
    return p_b * below * below * below - p_c * above * above * above - p_r * d * d * d


def constrained_shares(
    t: FloatArray, b: FloatArray, c: FloatArray, r: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return p_b = b/(z + 2t), p_c = c/z and p_r = r/(z + t) for the z >= 0 that makes their sum 1.

    Multiplied by z + t this is z (z + t - b - r + bt/(z + 2t)) = c (z + t). The factor in brackets
    is nearly linear in z: with its tangent, each step solves a quadratic equation. Where c is 0, z
    may be 0 too, and p_c is 1 - p_b - p_r.
    """
    z = np.maximum(b + c + r - 2 * t, c)
    bt, ct, constant = b * t, c * t, t - (b + c + r)
    for _ in range(_STEPS):
        denominator = z + 2 * t
        curved = bt / denominator
        fall = curved / denominator
        linear, quadratic = constant + curved + z * fall, 1 - fall
        root = np.abs(linear) + np.sqrt(linear * linear + 4 * ct * quadratic)
        z = np.where(linear < 0, root / (2 * quadratic), 2 * ct / np.where(root > 0, root, 1))
    p_b, p_r = b / (z + 2 * t), r / (z + t)
    p_c = np.where(c > 0, c / np.where(c > 0, z, 1), np.maximum(1 - p_b - p_r, 0))
    return p_b, p_c, p_r


def multiplier_at(pairs: PairedCounts, difference: FloatArray) -> FloatArray:
    """Return the multipliers at which the fitted differences are these, below the observed ones."""
    start, observed = pairs.start, pairs.observed_difference

    def excess(t: FloatArray, rows: Int64Array) -> FloatArray:
        fitted = pairs.at(rows).fit(start[rows] + np.exp(t)).difference
        return np.asarray(difference[rows] - fitted)

    variance = np.where(start > 0, 1, pairs.observed_variance)
    guess = np.where(start > 0, start, (observed - difference) / variance)
    return np.asarray(start + np.exp(increasing_root(excess, np.log(guess))))


def statistic_at_zero(pairs: PairedCounts) -> tuple[FloatArray, FloatArray]:
    """Return the multiplier at which positive differences become 0, and the statistic there."""
    difference = pairs.observed_difference
    multiplier = multiplier_at(pairs, np.zeros(len(difference)))
    fit = pairs.fit(multiplier)
    # V as difference / l is precise where shares near 0 have lost digits
    variance_f = difference / multiplier + (fit.variance_f - fit.variance)
    return multiplier, difference / np.sqrt(variance_f)
