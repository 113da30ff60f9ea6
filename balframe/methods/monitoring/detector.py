"""The detector, which asks since when, if at all, the score is worse than in everything before.

At each period every earlier period is a candidate. The evidence that the score is lower since then
is a mean of likelihood ratios of several drops. The detector is the sum over all candidates.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.counting_strategy import blocks

_DROPS = (0.5, 1.0, 2.0, 4.0)  # in tolerances
_MAX_ALL_STARTS = 208  # periods up to which each is a candidate; then they become sparse
_START_GROWTH = 1.3  # of the number of periods from one sparse candidate to the next
_MAX_CANDIDATES = 2**17  # computed at once


@dataclass(frozen=True, slots=True)
class Candidates:
    """Periods from which on the score may be lower, one for each segment, start and end.

    `n_window` is the number of periods with rows from start to end, and `n_before` that of the
    monitored periods before.
    """

    segment: Int64Array
    start: Int64Array
    end: Int64Array
    n_window: Int64Array
    n_before: Int64Array

    def at(self, positions: Int64Array) -> "Candidates":
        """Take the candidates at these positions."""
        return Candidates(
            self.segment[positions],
            self.start[positions],
            self.end[positions],
            self.n_window[positions],
            self.n_before[positions],
        )


def log_likelihood_ratio(z: FloatArray, variance: FloatArray, tolerance: FloatArray) -> FloatArray:
    """Return the logarithm of the evidence that the score is lower.

    The mean over drops d of exp(-d z / sqrt(V) - d^2 / (2 V)), the likelihood ratio of a normal
    difference with mean -d to one with mean 0. The drops are 1/2, 1, 2 and 4 tolerances.

    Parameters
    ----------
    z : float array, shape (comparisons,)
        The difference over its standard error, negative where the score is lower.
    variance, tolerance : float arrays, shape (comparisons,)
        Variance V of the difference, and the tolerance.
    """
    scaled = tolerance / np.sqrt(variance)
    logs = np.stack([-drop * scaled * (z + drop * scaled / 2) for drop in _DROPS])
    largest = logs.max(axis=0)
    return np.asarray(largest + np.log(np.exp(logs - largest).mean(axis=0)))


def detect(
    has_rows: BoolArray, log_terms: Callable[[Candidates], FloatArray]
) -> tuple[FloatArray, Candidates]:
    """Return the detector at every period, and the candidates with the most evidence.

    Parameters
    ----------
    has_rows : bool array, shape (segments, periods)
        Whether a segment has rows in a period. Other periods are not candidates.
    log_terms : function of candidates
        Returns the logarithms of their evidence, -inf for none.

    Returns
    -------
    log_sum : float array, shape (segments, periods)
        Logarithm of the detector, -inf where no candidate has evidence.
    best : Candidates
        The candidate with the most evidence, the latest of equals, where there is one.

    References
    ----------
    J. Shin, A. Ramdas and A. Rinaldo, "E-detectors: a nonparametric framework for sequential change
    detection", New England Journal of Statistics in Data Science 2023.
    """
    n_periods = has_rows.sum(axis=1)
    position = np.argsort(~has_rows, axis=1, kind="stable")  # of the periods with rows, in order
    start, end = candidate_starts(int(n_periods.max(initial=0)))
    log_sum = np.full(has_rows.shape, -np.inf)
    best: list[Candidates] = []
    size = max(1, _MAX_CANDIDATES // max(1, len(start)))
    for block in blocks(slice(0, len(has_rows)), size):
        segment, pair = np.nonzero(end < n_periods[block][:, None])
        segment += block.start
        if not len(segment):
            continue
        i, j = start[pair], end[pair]
        candidates = Candidates(segment, position[segment, i], position[segment, j], j - i + 1, i)
        logs = log_terms(candidates)
        begins = np.flatnonzero(np.diff(j, prepend=-1) | np.diff(segment, prepend=-1))
        largest = np.maximum.reduceat(logs, begins)
        is_finite = np.isfinite(largest)
        group = np.repeat(np.arange(len(begins)), np.diff(begins, append=len(j)))
        offset = np.where(is_finite, largest, 0)
        with np.errstate(divide="ignore"):
            sums = np.log(np.add.reduceat(np.exp(logs - offset[group]), begins)) + offset
        top = np.flatnonzero((logs == largest[group]) & is_finite[group])
        top = top[np.diff(group[top], append=-1) != 0]  # the latest of equals
        log_sum[segment[begins], candidates.end[begins]] = sums
        best.append(candidates.at(top))
    return log_sum, _concat(best)


def candidate_starts(n_periods: int) -> tuple[Int64Array, Int64Array]:
    """Return the candidates at every period: starts, and the periods at which they are tested.

    All periods so far are candidates, up to the 208th period. From then on there are those that
    began 1.3^k periods ago, rounded, and the first.
    """
    n_widths = 2 + int(np.log(max(n_periods, 1)) / np.log(_START_GROWTH))
    widths = np.unique(np.round(_START_GROWTH ** np.arange(n_widths)).astype(np.int64))
    starts: list[Int64Array] = []
    for end in range(n_periods):
        if end < _MAX_ALL_STARTS:
            starts.append(np.arange(end + 1))
        else:
            sparse = end + 1 - widths[widths <= end + 1]
            starts.append(np.unique(np.append(sparse, 0)))
    lengths = [len(part) for part in starts]
    empty = np.zeros(0, np.int64)
    return np.concatenate([empty, *starts]), np.repeat(np.arange(n_periods), lengths)


def _concat(parts: Sequence[Candidates]) -> Candidates:
    names = Candidates.__slots__
    empty = np.zeros(0, np.int64)
    return Candidates(
        *(np.concatenate([empty, *(getattr(part, name) for part in parts)]) for name in names)
    )
