"""Test of the positive rows of one segment, given those of all segments in each stratum.

They are a sum of independent hypergeometric counts. Where its variance is at most 100, its tail is
a saddlepoint approximation from tables of the counts' probabilities, and exact at the ends. Where
it is larger, it is the tail of a Pearson III distribution with the mean, variance and skewness.
"""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.safe_divide import ratio
from balframe.methods.calibration.saddlepoint import (
    SERIES_BELOW,
    TiltedChances,
    log_lattice_tail,
    log_near_centre,
    two_sided,
)
from balframe.methods.calibration.strata import ScoreStrata
from balframe.stats.constrained_mle import correct_for_skewness
from balframe.stats.lazy_scipy import special

_LARGEST_VARIANCE_OF_TABLES = 100.0
_TABLE_REACH = 9.0  # standard deviations, and rows beyond them
_SMALL_SKEWNESS = 1e-3  # below it, the incomplete gamma function has parameters above 4e6
_MAX_STEPS = 100
# of the last step, whose square is the error after it
_RELATIVE_TOLERANCE, _TOLERANCE = 1e-5, 1e-9
_FARTHEST, _LONGEST, _FARTHEST_GUESS = 700.0, 2.0, 5.0  # of t, and its steps
_NO_GROWTH, _FAR = 1e-6, -0.9
_LARGEST_EXPONENT = 300.0  # exp of it, and of its negative, are floats with all digits
_LOG_2 = np.log(2)

_Scalar = TypeVar("_Scalar", bound=np.generic)


def excess_p_value(strata: ScoreStrata) -> FloatArray:
    """Return the two-sided mid-p-value of the positive rows of each segment.

    Returns
    -------
    float array, shape (segments,)
        NaN where they cannot vary.
    """
    variance = strata.sum(strata.variance)
    excess = strata.sum(strata.k - strata.expected)
    third = strata.sum(_third_moment(strata))
    out = np.full(len(variance), np.nan)
    is_large = variance > _LARGEST_VARIANCE_OF_TABLES
    out[is_large] = _pearson_p_value(excess[is_large], variance[is_large], third[is_large])
    is_small = (variance > 0) & ~is_large
    if is_small.any():
        tables = _Tables.of(strata, is_small)
        out[is_small] = np.exp(
            tables.log_p_value(excess[is_small], variance[is_small], third[is_small])
        )
    return out


def _third_moment(strata: ScoreStrata) -> FloatArray:
    """Return the third central moment of the positive rows of each entry: hypergeometric."""
    total, share = strata.n_all[strata.position], (strata.k_all / strata.n_all)[strata.position]
    others = np.where(total > 2, (total - 2 * strata.n) / np.maximum(total - 2, 1), 0)
    return strata.variance * (1 - 2 * share) * others


def _pearson_p_value(excess: FloatArray, variance: FloatArray, third: FloatArray) -> FloatArray:
    """Return two-sided p-values of a Pearson III distribution."""
    statistic = excess / np.sqrt(variance)
    skewness = third / variance**1.5
    size = np.abs(skewness)
    is_skewed = size >= _SMALL_SKEWNESS
    shape = 4 / np.where(is_skewed, size, 1) ** 2
    # the skewed side is up
    value = np.maximum(shape + np.sign(skewness) * statistic * np.sqrt(shape), 0)
    p = 2 * np.minimum(special.gammainc(shape, value), special.gammaincc(shape, value))
    z = correct_for_skewness(statistic, np.where(is_skewed, 0, skewness))
    return np.where(is_skewed, p, 2 * special.ndtr(-np.abs(z)))


@dataclass(frozen=True)
class _Pairs:
    """Entries with two possible numbers of positive rows, which are nearly all with one row.

    Parameters
    ----------
    bounds : int64 array, shape (segments + 1,)
        Where the entries of each segment begin.
    chance, complement : float arrays, shape (entries,)
        Probability of the larger number, and of the smaller one.
    """

    bounds: Int64Array
    chance: FloatArray
    complement: FloatArray

    @property
    def lowest(self) -> FloatArray:
        """Smallest number of positive rows of each segment, less those expected."""
        return -_add_up(self.chance, self.bounds)

    @property
    def highest(self) -> FloatArray:
        """Largest number of positive rows of each segment, less those expected."""
        return _add_up(self.complement, self.bounds)

    def at_end(self, step: int) -> tuple[FloatArray, FloatArray]:
        """Return the log probability of an end of each segment, and the next one's over it."""
        end, other = self.complement, self.chance
        if step < 0:
            end, other = other, end
        return _add_up(np.log(end), self.bounds), _add_up(other / end, self.bounds)

    def at_segments(self, kept: BoolArray) -> "_Pairs":
        """Keep the entries of some of the segments."""
        lengths = np.diff(self.bounds)
        entries = np.repeat(kept, lengths)
        bounds = np.append(0, np.cumsum(lengths[kept]))
        return _Pairs(bounds, self.chance[entries], self.complement[entries])

    def moments(self, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return K, K' and K'' of the excess of each segment at t."""
        t = np.repeat(t, np.diff(self.bounds))
        tilted = TiltedChances.of(self.chance, self.complement, t)
        return (
            _add_up(tilted.log_mgf - t * self.chance, self.bounds),
            _add_up(tilted.chance - self.chance, self.bounds),
            _add_up(tilted.chance * tilted.complement, self.bounds),
        )


@dataclass(frozen=True)
class _Tables:
    """Probabilities of the positive rows of entries, one table behind the other.

    Parameters
    ----------
    first_entry : int64 array, shape (segments + 1,)
        Where the entries of each segment begin.
    first : int64 array, shape (entries + 1,)
        Where the table of each entry begins.
    value : float array, shape (values,)
        Positive rows, less those expected.
    log_p : float array, shape (values,)
        Log of their probability.
    has_low, has_high : bool arrays, shape (segments,)
        Whether the tables reach the ends of what is possible.
    pairs : _Pairs
        Entries without a table.
    """

    first_entry: Int64Array
    first: Int64Array
    value: FloatArray
    log_p: FloatArray
    has_low: BoolArray
    has_high: BoolArray
    pairs: _Pairs

    @classmethod
    def of(cls, strata: ScoreStrata, segments: BoolArray) -> "_Tables":
        """Make the tables of entries that vary."""
        varies = (strata.variance > 0) & segments[strata.entries.segment]
        position = strata.position[varies]
        n, expected = strata.n[varies], strata.expected[varies]
        total, positive = strata.n_all[position], strata.k_all[position]
        lowest, highest = np.maximum(n + positive - total, 0), np.minimum(n, positive)
        segment = np.cumsum(segments)[strata.entries.segment[varies]] - 1
        marks = np.arange(segments.sum() + 1)
        is_pair = highest - lowest == 1
        odds = _ratio_to_next(lowest, n, total, positive)[is_pair]
        pairs = _Pairs(np.searchsorted(segment[is_pair], marks), odds / (1 + odds), 1 / (1 + odds))
        columns = (n, expected, total, positive, lowest, highest, segment)
        n, expected, total, positive, lowest, highest, segment = (
            values[~is_pair] for values in columns
        )
        reach = _TABLE_REACH * (np.sqrt(strata.variance[varies][~is_pair]) + 1)
        low = np.maximum(lowest, np.floor(expected - reach))
        high = np.minimum(highest, np.ceil(expected + reach))
        length = (high - low).astype(np.int64) + 1
        first = np.append(0, np.cumsum(length))
        x = np.arange(first[-1]) + np.repeat(low - first[:-1], length)
        n, total, positive = (np.repeat(values, length) for values in (n, total, positive))
        ratio_to_next = _ratio_to_next(x, n, total, positive)
        ratio_to_next[first[1:] - 1] = 1
        log_p = np.append(0, np.cumsum(np.log(ratio_to_next)))[:-1]
        if len(log_p):
            log_p -= np.repeat(np.maximum.reduceat(log_p, first[:-1]), length)
            log_p -= np.repeat(np.log(np.add.reduceat(np.exp(log_p), first[:-1])), length)
        first_entry = np.searchsorted(segment, marks)
        return cls(
            first_entry,
            first,
            x - np.repeat(expected, length),
            log_p,
            _add_up((low > lowest).astype(np.float64), first_entry) == 0,
            _add_up((high < highest).astype(np.float64), first_entry) == 0,
            pairs,
        )

    def of_entries(self, values: FloatArray) -> FloatArray:
        """Add up the values of each table."""
        return np.asarray(np.add.reduceat(values, self.first[:-1])) if len(values) else values

    def of_segments(self, entries: FloatArray) -> FloatArray:
        """Add up the entries of each segment."""
        return _add_up(entries, self.first_entry)

    def spread(self, values: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
        """Repeat the values of the segments for each value of their tables."""
        return np.repeat(values, np.diff(self.first[self.first_entry]))

    def log_p_value(
        self, excess: FloatArray, variance: FloatArray, third: FloatArray
    ) -> FloatArray:
        """Return the log of the two-sided mid-p-value of each segment."""
        lowest = self.of_segments(self.value[self.first[:-1]]) + self.pairs.lowest
        highest = self.of_segments(self.value[self.first[1:] - 1]) + self.pairs.highest
        from_low = np.where(self.has_low, np.rint(excess - lowest), np.inf)
        from_high = np.where(self.has_high, np.rint(highest - excess), np.inf)
        t, cumulant, tilted_variance = self._saddlepoint(
            np.where((from_low > 1) & (from_high > 1), excess, 0), variance, third / variance
        )
        w = np.sign(t) * np.sqrt(2 * np.maximum(t * excess - cumulant, 0))
        near = np.abs(w) < SERIES_BELOW
        log_p = log_lattice_tail(np.where(near, 1, w), np.where(near, 1, t), tilted_variance)
        log_p = two_sided(np.where(near, log_near_centre(w, third, variance), log_p))
        ends = (
            (from_low, self.first[:-1], 1),
            (from_high, self.first[1:] - 1, -1),
        )
        for distance, position, step in ends:
            log_p = np.where(distance <= 1, self._log_p_at_end(distance, position, step), log_p)
        return log_p

    def _log_p_at_end(self, distance: FloatArray, position: Int64Array, step: int) -> FloatArray:
        """Return the log p-value at an end of the support, or next to it."""
        end = self.log_p[position]
        log_end_of_pairs, next_of_pairs = self.pairs.at_end(step)
        log_end = self.of_segments(end) + log_end_of_pairs
        next_to_end = self.of_segments(np.exp(self.log_p[position + step] - end)) + next_of_pairs
        log_next = log_end + np.log(next_to_end)
        beyond = np.logaddexp(log_end, log_next - _LOG_2)
        with np.errstate(divide="ignore"):
            inside = np.log(np.maximum(-np.expm1(log_end) - np.exp(log_next) / 2, 0))
        of_next = np.minimum(_LOG_2 + np.minimum(beyond, inside), 0)
        return np.where(distance == 0, np.minimum(log_end, 0), of_next)

    def _saddlepoint(
        self, target: FloatArray, variance: FloatArray, growth: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return t with K'(t) = target, by Newton steps between bounds, with K(t) and K''(t).

        The first guess is exact where the variance K'' is V e^(growth t), as in a Poisson count.
        """
        growth = np.where(np.abs(growth) < _NO_GROWTH, _NO_GROWTH, growth)
        t = np.log1p(np.maximum(growth * target / variance, _FAR)) / growth
        t = np.clip(t, -_FARTHEST_GUESS, _FARTHEST_GUESS)
        step = np.full(len(t), np.inf)
        low, high = np.full(len(t), -_FARTHEST), np.full(len(t), _FARTHEST)
        out, rows, tables = np.zeros((3, len(t))), np.arange(len(t)), self
        for _ in range(_MAX_STEPS):
            cumulant, mean, tilted_variance = tables._moments(t)
            out[:, rows] = t, cumulant, tilted_variance
            is_active = np.abs(step) > _RELATIVE_TOLERANCE * np.abs(t) + _TOLERANCE
            if not is_active.any():
                break
            gap = target - mean
            low, high = np.where(gap > 0, t, low), np.where(gap > 0, high, t)
            step = np.clip(ratio(gap, np.maximum(tilted_variance, 1e-300)), -_LONGEST, _LONGEST)
            moved = t + step
            moved = np.where((low <= moved) & (moved <= high), moved, (low + high) / 2)
            step, t = moved - t, moved
            if 2 * is_active.sum() <= len(is_active):
                tables, rows = tables.at_segments(is_active), rows[is_active]
                t, step, low, high, target = (
                    values[is_active] for values in (t, step, low, high, target)
                )
        return out[0], out[1], out[2]

    def at_segments(self, kept: BoolArray) -> "_Tables":
        """Keep the tables of some of the segments."""
        if kept.all():
            return self
        n_entries, lengths = np.diff(self.first_entry), np.diff(self.first)
        values = self.spread(kept)
        return _Tables(
            np.append(0, np.cumsum(n_entries[kept])),
            np.append(0, np.cumsum(lengths[np.repeat(kept, n_entries)])),
            self.value[values],
            self.log_p[values],
            self.has_low[kept],
            self.has_high[kept],
            self.pairs.at_segments(kept),
        )

    def _moments(self, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return K, K' and K'' of the excess of each segment at t."""
        exponent = self.log_p + self.spread(t) * self.value
        largest = np.zeros(len(self.first) - 1)
        if exponent.max(initial=0) > _LARGEST_EXPONENT:
            largest = np.maximum.reduceat(exponent, self.first[:-1])
            exponent -= np.repeat(largest, np.diff(self.first))
        p = np.exp(exponent)
        weighted = p * self.value
        total = self.of_entries(p)
        mean = self.of_entries(weighted) / total
        squares = self.of_entries(weighted * self.value) / total
        cumulant, mean_of_pairs, variance = self.pairs.moments(t)
        return (
            self.of_segments(np.log(total) + largest) + cumulant,
            self.of_segments(mean) + mean_of_pairs,
            self.of_segments(np.maximum(squares - mean**2, 0)) + variance,
        )


def _ratio_to_next(
    x: FloatArray, n: FloatArray, total: FloatArray, positive: FloatArray
) -> FloatArray:
    """Return P(x + 1) / P(x) of the positive rows among n: hypergeometric."""
    return (positive - x) * (n - x) / ((x + 1) * (total - positive - n + x + 1))


def _add_up(values: FloatArray, bounds: Int64Array) -> FloatArray:
    """Add up the values between bounds; 0 where there are none."""
    out, starts = np.zeros(len(bounds) - 1), bounds[:-1]
    if len(values):
        has_values = starts < bounds[1:]
        out[has_values] = np.add.reduceat(values, starts[has_values])
    return out
