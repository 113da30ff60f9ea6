"""The difference of two models on the same rows under a constraint, by maximum likelihood.

Of the n_k rows of label k the first model alone gets b_k right, the second alone c_k, and r_k are
right or wrong in both. With weights a_k that sum to 1 the difference of the scores is
sum_k a_k (b_k - c_k) / n_k. Where it is held at d, the shares of largest likelihood have one
multiplier l for all labels; the observed difference then lies l V above d. Counts need not be
whole.
"""

from dataclasses import dataclass, fields, replace

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.stats.root_finding import increasing_root

_NOTHING = 1e-50  # shares below it change no limit, and their squares have no digits
_ROUNDING = 1e-13  # a difference so small beside its parts is 0
_STEPS = 4  # of Newton's kind; after them no share is off by more than 1e-15


@dataclass(frozen=True, slots=True)
class Fit:
    """The difference under a constraint, and its variances V and V_f there."""

    difference: FloatArray
    variance: FloatArray
    variance_f: FloatArray


@dataclass(frozen=True, slots=True)
class Pairs:
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
    ) -> "Pairs":
        """Prepare the fits; what is less than one row is one row where V_f corrects for them."""
        kinds = (only_one, only_other, n - (only_one + only_other))
        b, c, r = (np.where(kind > _NOTHING * n, kind, 0) for kind in kinds)
        n, a = b + c + r, np.maximum(a, _NOTHING)
        part, corrected = a * a / n, np.maximum(n, 1)
        share = part / part.sum(axis=1, keepdims=True)
        return cls(b, c, r, n, a, part, part * corrected / (corrected - 1 + share))

    def at(self, rows: Int64Array) -> "Pairs":
        """Take these segments."""
        return Pairs(*(getattr(self, one.name).take(rows, axis=0) for one in fields(self)))

    def exchanged(self, where: BoolArray) -> "Pairs":
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
        spread = spread_of(self.b / self.n, self.c / self.n, self.r / self.n)
        return np.asarray((self.part * spread).sum(axis=1))

    @property
    def start(self) -> FloatArray:
        """The multiplier up to which nothing varies; infinite where only the second is right."""
        varies = (np.maximum(np.maximum(self.b, self.c), self.r) < self.n).any(axis=1)
        rows = np.where(self.r > 0, self.n, np.where(self.b > 0, self.n / 2, np.inf))
        return np.where(varies, 0.0, (rows / self.a).min(axis=1))

    def fitted(self, multiplier: FloatArray) -> Fit:
        """Fit shares that have the largest likelihood among those of a lower difference.

        The multiplier is that of the constraint: 0 at the observed difference, and the larger the
        lower the difference. The observed difference less this one is l V.
        """
        shares = self.shares(multiplier)
        spread = spread_of(*shares)
        return Fit(
            (self.a * (shares[0] - shares[1])).sum(axis=1),
            (self.part * spread).sum(axis=1),
            (self.part_f * spread).sum(axis=1),
        )

    def shares(self, multiplier: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Fit the shares of the rows by kind."""
        return shares_of(multiplier[:, None] * self.a, self.b, self.c, self.r)


def spread_of(p_b: FloatArray, p_c: FloatArray, p_r: FloatArray) -> FloatArray:
    """Compute p_b + p_c - (p_b - p_c)^2 to full digits; the three shares add up to 1."""
    return (p_b + p_c) * p_r + 4 * p_b * p_c


def shares_of(
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


def multiplier_at(pairs: Pairs, difference: FloatArray) -> FloatArray:
    """Find the multipliers at which differences fall to those given, which are lower."""
    start, observed = pairs.start, pairs.observed

    def below(t: FloatArray, at: Int64Array) -> FloatArray:
        fitted = pairs.at(at).fitted(start[at] + np.exp(t)).difference
        return np.asarray(difference[at] - fitted)

    variance = np.where(start > 0, 1, pairs.observed_variance)
    guess = np.where(start > 0, start, (observed - difference) / variance)
    return np.asarray(start + np.exp(increasing_root(below, np.log(guess))))


def at_zero(pairs: Pairs) -> tuple[FloatArray, FloatArray]:
    """Find the multiplier at which positive differences become 0, and the statistic there."""
    difference = pairs.observed
    multiplier = multiplier_at(pairs, np.zeros(len(difference)))
    found = pairs.fitted(multiplier)
    # V is difference / l: that has digits which shares near 0 have lost
    variance_f = difference / multiplier + (found.variance_f - found.variance)
    return multiplier, difference / np.sqrt(variance_f)
