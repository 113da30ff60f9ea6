"""How likely a gate is to decide about proportions: exact probabilities of Clopper-Pearson limits.

Arrays have one value for each segment.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.later import special

_SAME = 1e-12  # proportions closer than this are the same one
_MANY = 24  # numbers of errors behind the first that is enough, which are looked at too

_Holds = Callable[[FloatArray], BoolArray]


@dataclass(frozen=True, slots=True)
class PlannedProportion:
    """Proportions x / n, the bounds that they should not fall below, and Clopper-Pearson limits.

    `tail` is the probability of an error on either side. All probabilities are exact.
    """

    x: FloatArray
    n: FloatArray
    bound: FloatArray
    tail: FloatArray

    @property
    def turned(self) -> "PlannedProportion":
        """Exchange pass and fail."""
        return replace(self, x=self.n - self.x, bound=1 - self.bound)

    def _most_to_fail(self) -> FloatArray:
        """Find the most right rows with the upper limit below the bound; -1 if there is none."""
        return _last(lambda k: _at_most(k, self.n, self.bound) < self.tail, self.n)

    def chance_to_fail(self, score: FloatArray) -> FloatArray:
        """Return the probability that the upper limit is below the bound, at a true proportion."""
        return _at_most(self._most_to_fail(), self.n, score)

    def chance_to_pass(self) -> FloatArray:
        """Return the probability that the lower limit is above the bound, at x / n."""
        turned = self.turned
        return turned.chance_to_fail(turned.x / turned.n)

    def detectable(self, power: float) -> FloatArray:
        """Find the least fall of the proportion at which it fails with this probability.

        0 where it does so without a fall, NaN where it never does.
        """
        most = self._most_to_fail()
        p = 1 - special.betaincinv(self.n - most, most + 1, power)
        return np.where(most < 0, np.nan, np.maximum(self.x / self.n - p, 0))

    def factor_needed(self, power: float) -> FloatArray:
        """Find from how many times the rows on the proportion passes with this probability.

        NaN where it is not above its bound.
        """
        p, known = self.x / self.n, self.x / self.n > self.bound + _SAME
        rows = np.full(len(p), np.nan)
        rows[known] = _rows_needed(1 - p[known], 1 - self.bound[known], self.tail[known], power)
        return rows / self.n


def _at_most(k: FloatArray, n: FloatArray, p: FloatArray) -> FloatArray:
    """Return the probability of at most k of n rows, each with probability p; k is below n."""
    possible = np.maximum(k, 0)
    return np.where(k < 0, 0.0, special.betainc(n - possible, possible + 1, 1 - p))


def _last(holds: _Holds, n: FloatArray) -> FloatArray:
    """Find the largest whole number below n for which it holds, as for all below; -1 if none is."""
    low, high = np.full(len(n), -1.0), np.array(n, np.float64)
    while (going := high - low > 1).any():
        middle = np.floor((low + high) / 2)
        is_held = going & holds(np.clip(middle, 0, n - 1))
        low = np.where(is_held, middle, low)
        high = np.where(going & ~is_held, middle, high)
    return low


def _rows_needed(
    q: FloatArray, q_at_bound: FloatArray, tail: FloatArray, power: float
) -> FloatArray:
    """Find from how many rows on a share of errors q is found to be below that at the bound.

    With more rows, more errors are allowed from time to time. In between the chance falls, so that
    it is lowest just before.
    """

    def allowing(errors: FloatArray, at: Int64Array) -> FloatArray:
        """Find the fewest rows on which so many errors are few enough."""
        high = np.ceil(2 * (errors + 1) / q_at_bound[at]) + 8
        while (few := _at_most(errors, high, q_at_bound[at]) >= tail[at]).any():
            high = np.where(few, 2 * high, high)
        low = errors + 0.0
        while (going := high - low > 1).any():
            middle = np.floor((low + high) / 2)
            enough = _at_most(errors, middle, q_at_bound[at]) < tail[at]
            high = np.where(going & enough, middle, high)
            low = np.where(going & ~enough, middle, low)
        return high

    def is_likely(errors: FloatArray, at: Int64Array) -> BoolArray:
        return _at_most(errors, allowing(errors + 1, at) - 1, q[at]) >= power

    everything = np.arange(len(q))
    high = np.zeros(len(q))
    while (unlikely := ~is_likely(high, everything)).any():
        high = np.where(unlikely, 2 * high + 1, high)
    low = np.floor((high - 1) / 2)
    while (going := high - low > 1).any():
        middle = np.floor((low + high) / 2)
        likely = is_likely(middle, everything)
        high = np.where(going & likely, middle, high)
        low = np.where(going & ~likely, middle, low)
    first = high.copy()
    for errors in range(1, _MANY):
        first = np.where(is_likely(high + errors, everything), first, high + errors + 1)
    return allowing(first, everything)
