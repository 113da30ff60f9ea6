"""Saddlepoint tail probabilities of sums of independent counts, for many segments at once.

K(t) is the log of the moment generating function of the sum. At the t that solves K'(t) = y, the
deviance is w^2 / 2 = t y - K(t). Tail probabilities are logarithms, so that none is 0.

References
----------
R. Lugannani and S. O. Rice, "Saddle point approximation for the distribution of the sum of
independent random variables", Advances in Applied Probability 1980; R. W. Butler, "Saddlepoint
approximations with applications", Cambridge 2007, for lattices.
"""

from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import FloatArray
from balframe.core.probability_scores import ProbabilityScores
from balframe.core.safe_divide import ratio
from balframe.stats.lazy_scipy import special

MIDDLE = 0.1, 0.9  # series next to the centre are kept in there
SERIES_BELOW = 1e-3  # |w| from which the tail formula has lost too many digits
_LEAST_SHARE = 1 / 5  # of the normal tail: the formula may not go below it
_FAR = -0.9  # 1 plus a number below it has lost a digit
_MAX_TILT = 700.0  # exp of it is still finite
_LOG_2 = np.log(2)


def log_tail(w: FloatArray, u: FloatArray) -> FloatArray:
    """Return the log of Phi(-w) + phi(w) (1 / u - 1 / w) for positive w and u.

    The result is kept between Phi(-w) / 5 and 1 - Phi(w) / 5, since the formula fails where the
    sum can hardly vary.
    """
    mills = np.sqrt(np.pi / 2) * special.erfcx(w / np.sqrt(2))
    with np.errstate(divide="ignore", over="ignore"):
        share = 1 + (1 / u - 1 / w) / mills
    log_p = special.log_ndtr(-w) + np.log(np.maximum(share, _LEAST_SHARE))
    return np.asarray(np.minimum(log_p, np.log1p(-special.ndtr(w) * _LEAST_SHARE)))


def log_lattice_tail(w: FloatArray, t: FloatArray, variance: FloatArray) -> FloatArray:
    """Return the log of P(X beyond y) + P(X = y) / 2 for a sum X of integers.

    Beyond y is the side of y on which the mean is not. `variance` is K''(t).
    """
    size = np.minimum(np.abs(t), _MAX_TILT)
    return log_tail(np.abs(w), 2 * np.sqrt(variance) * np.tanh(size / 2))


def two_sided(log_one_side: FloatArray) -> FloatArray:
    """Return the log of twice the smaller of a mid-probability and its complement."""
    complement = np.log1p(-np.exp(np.minimum(log_one_side, -1e-300)))
    return np.asarray(np.minimum(_LOG_2 + np.minimum(log_one_side, complement), 0.0))


def log_near_centre(w: FloatArray, third: FloatArray, variance: FloatArray) -> FloatArray:
    """Return the log of the mid-probability above y, for w close to 0.

    It is 1/2 - w / sqrt(2 pi) - k3 / (6 V^1.5 sqrt(2 pi)), with V and k3 at t = 0.
    """
    middle = 0.5 - (w + ratio(third, 6 * variance**1.5)) / np.sqrt(2 * np.pi)
    return np.asarray(np.log(np.clip(middle, *MIDDLE)))


@dataclass(frozen=True)
class TiltedChances:
    """Chances whose log odds are shifted by t: K(t) = n log(1 - s + s e^t) is of each tie."""

    chance: FloatArray
    complement: FloatArray
    growth: FloatArray
    total: FloatArray
    beyond: FloatArray | float

    @classmethod
    def of(cls, chance: FloatArray, complement: FloatArray, t: FloatArray) -> "TiltedChances":
        """Shift the log odds of each chance by its t, at most 700 in either direction.

        Chances are then 0 or 1 up to rounding; K(t) grows by what is beyond 700.
        """
        beyond = np.maximum(t - _MAX_TILT, 0) if t.max(initial=0) > _MAX_TILT else 0.0
        t = np.clip(t, -_MAX_TILT, _MAX_TILT)
        growth = chance * np.expm1(t)
        moved = chance + growth
        is_far = growth < _FAR
        if is_far.any():
            moved[is_far] = chance[is_far] * np.exp(t[is_far])
        total = complement + moved
        return cls(moved / total, complement / total, growth, total, beyond)

    @property
    def log_mgf(self) -> FloatArray:
        """K(t) of one row: the log of 1 - s + s e^t."""
        is_far = self.growth < _FAR
        if not is_far.any():
            return np.log1p(self.growth) + self.beyond
        return np.log1p(self.growth, out=np.log(self.total), where=~is_far) + self.beyond


def tilted_moments(p: ProbabilityScores, t: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return K(t) and K''(t) of the number of positive rows of each segment."""
    tilted = TiltedChances.of(p.score, 1 - p.score, p.spread(t))
    return (
        p.sum(p.n * tilted.log_mgf),
        p.sum(p.n * tilted.chance * tilted.complement),
    )
