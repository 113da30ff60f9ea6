"""Tests of differences by the limits of both scores: p-values that agree with MOVER's limits.

The p-value is 2 Phi(-z), where z is the normal quantile at which the limit nearer to 0 is 0.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.stats.delta_method import ExactLimits
from balframe.stats.lazy_scipy import special
from balframe.stats.proportions import Limits, normal_quantile
from balframe.stats.root_finding import increasing_root

# Returns the logarithm of the half width at z over the difference, of pairs at these positions.
Excess = Callable[[FloatArray, Int64Array], FloatArray]

_SMALLEST_Z, _LARGEST_Z = 1e-3, 37.0  # beyond the largest one, p-values leave the range of a float
_FEW = 2.0  # standard errors, under which limits of all levels may include 0
_STEEPNESS = 5  # z changes by a tenth in half a step of the search
_TOLERANCE = 1e-11


def z_at_zero(excess: Excess, guess: FloatArray, may_exclude: BoolArray) -> FloatArray:
    """Return the normal quantiles at which the limits nearer to 0 are 0, from a guess.

    0 where no limits exclude 0, and the largest one where all do, as may be with `may_exclude`.
    """
    z = np.clip(guess, _SMALLEST_Z, _LARGEST_Z)
    is_open = np.ones(len(z), np.bool_)
    for end, is_near, sign in (
        (_SMALLEST_Z, z < _FEW, 1),
        (_LARGEST_Z, ((z > _FEW) & may_exclude) | (z == _LARGEST_Z), -1),
    ):
        rows = np.flatnonzero(is_near)
        if not len(rows):
            continue
        beyond = rows[sign * excess(np.full(len(rows), end), rows) >= 0]
        z[beyond] = 0 if sign > 0 else end
        is_open[beyond] = False
    open_rows = np.flatnonzero(is_open)

    def excess_of_log(t: FloatArray, rows: Int64Array) -> FloatArray:
        at = np.maximum(np.exp(t / _STEEPNESS), _SMALLEST_Z)
        value = excess(np.minimum(at, _LARGEST_Z), open_rows[rows])
        return np.where(at < _LARGEST_Z, value, np.maximum(value, 0))

    t = increasing_root(excess_of_log, _STEEPNESS * np.log(z[open_rows]), tolerance=_TOLERANCE)
    z[open_rows] = np.minimum(np.exp(t / _STEEPNESS), _LARGEST_Z)
    return z


def quantile_guess(difference: FloatArray, limits: Limits, level: float) -> FloatArray:
    """Return about the quantiles at which limits are 0, as if their width were proportional to z.

    `limits` are those of the differences at this level.
    """
    lower, upper = limits
    half_width = np.where(difference > 0, difference - lower, upper - difference)
    with np.errstate(divide="ignore", invalid="ignore"):
        return normal_quantile(level) * np.abs(difference) / half_width


def agreeing_p_values(p: FloatArray, limits: Limits, level: float) -> FloatArray:
    """Return p-values that are below 1 - level exactly where the limits exclude 0."""
    lower, upper = limits
    alpha = 1 - level
    excludes_zero = (lower > 0) | (upper < 0)
    return np.where(excludes_zero, np.minimum(p, np.nextafter(alpha, 0)), np.maximum(p, alpha))


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The limits that the limit nearer to 0 of each difference is computed from.

    They are those of the side with the larger score, and of the other side.
    """

    larger: ExactLimits
    smaller: ExactLimits

    def excess(self, z: FloatArray, rows: Int64Array) -> FloatArray:
        """Return the logarithm of the half width at z over the difference."""
        larger, smaller = self.larger.at(rows), self.smaller.at(rows)
        above = larger.share - larger.limits(z)[0]
        below = smaller.limits(z)[1] - smaller.share
        half = np.hypot(np.maximum(above, 0), np.maximum(below, 0))
        smallest = np.finfo(np.float64).tiny
        return np.asarray(np.log(np.maximum(half, smallest) / (larger.share - smaller.share)))


def mover_p_values(
    first: ExactLimits, second: ExactLimits, limits: Limits, level: float
) -> FloatArray:
    """Return two-sided p-values: below 1 - level exactly where the limits exclude 0.

    Parameters
    ----------
    first, second : ExactLimits
        The limits that decide of both scores, as proportions of the same range.
    limits : two float arrays, shape (pairs,)
        MOVER's limits of the differences of the scores at this level.
    level : float
        Confidence level, between 0 and 1.

    Returns
    -------
    p_value : float array, shape (pairs,)
        NaN where a score has no limits that decide; 1 where the difference is 0.
    """
    difference = first.share - second.share
    is_defined = first.are_defined & second.are_defined & np.isfinite(difference)
    p = np.where(is_defined, 1.0, np.nan)
    rows = np.flatnonzero(is_defined & (difference != 0))
    is_first = difference[rows] > 0
    first, second = first.at(rows), second.at(rows)
    pairs = _Pairs(first.where(is_first, second), second.where(is_first, first))
    guess = quantile_guess(difference, limits, level)[rows]
    z = z_at_zero(pairs.excess, guess, np.zeros(len(rows), np.bool_))
    p[rows] = 2 * special.ndtr(-z)
    return np.where(is_defined, agreeing_p_values(p, limits, level), np.nan)
