"""Scores read as probabilities: the ties of every segment, and sums over them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.score_ties import Ties
from balframe.core.threads import run_on_all_cores

_Scalar = TypeVar("_Scalar", bound=np.generic)

_BLOCK = 2**15  # ties at a time: their arrays stay in cache


@dataclass(frozen=True)
class ProbabilityScores:
    """Rows of each segment with the same score, ascending by segment, then by score.

    Parameters
    ----------
    segment : int64 array, shape (ties,)
        Position of the segment of each tie.
    score : float array, shape (ties,)
    n, k : int64 arrays, shape (ties,)
        Rows of each tie, at least one, and how many of them are positive.
    n_segments : int
        Number of segments. One without rows has no tie.
    """

    segment: Int64Array
    score: FloatArray
    n: Int64Array
    k: Int64Array
    n_segments: int

    @classmethod
    def of(cls, ties: Ties) -> "ProbabilityScores":
        """Read the counts of ties, without those that stand for no row."""
        p = cls(
            ties.segment.astype(np.int64),
            ties.score,
            ties.n,
            ties.positive.row_counts.astype(np.int64),
            ties.n_segments,
        )
        has_rows = p.n > 0
        return p if has_rows.all() else p.where(has_rows)

    def where(self, ties: BoolArray) -> "ProbabilityScores":
        """Keep some of the ties, and all segments."""
        return ProbabilityScores(
            self.segment[ties], self.score[ties], self.n[ties], self.k[ties], self.n_segments
        )

    def of_segments(self, kept: BoolArray) -> "ProbabilityScores":
        """Keep some of the segments."""
        if kept.all():
            return self
        ties, lengths = np.repeat(kept, self._lengths), self._lengths[kept]
        segment = np.repeat(np.arange(len(lengths)), lengths)
        return ProbabilityScores(
            segment, self.score[ties], self.n[ties], self.k[ties], len(lengths)
        )

    def of_positions(self, segments: Int64Array) -> "ProbabilityScores":
        """Keep the segments at these ascending positions."""
        kept = np.zeros(self.n_segments, np.bool_)
        kept[segments] = True
        return self.of_segments(kept)

    @cached_property
    def bounds(self) -> Int64Array:
        """Where the ties of each segment begin, and the number of ties at the end."""
        return np.searchsorted(self.segment, np.arange(self.n_segments + 1))

    @cached_property
    def _lengths(self) -> Int64Array:
        return np.diff(self.bounds)

    @cached_property
    def _present(self) -> BoolArray:
        return self._lengths > 0

    def reduced(self, function: np.ufunc, values: FloatArray | Int64Array) -> FloatArray:
        """Combine the values of each segment's ties; 0 for a segment without ties."""
        return np.asarray(self._reduced(function, values, np.float64))

    def sum(self, values: FloatArray | Int64Array) -> FloatArray:
        """Add up the values of each segment's ties."""
        return self.reduced(np.add, values)

    def count(self, values: Int64Array) -> Int64Array:
        """Add up counts of each segment's ties, as integers."""
        return np.asarray(self._reduced(np.add, values, np.int64))

    def _reduced(
        self, function: np.ufunc, values: FloatArray | Int64Array, dtype: type
    ) -> npt.NDArray[Any]:
        out: npt.NDArray[Any] = np.zeros(self.n_segments, dtype)
        if len(values):
            out[self._present] = function.reduceat(values, self.bounds[:-1][self._present])
        return out

    def spread(self, values: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
        """Repeat the values of the segments for each of their ties."""
        return np.repeat(values, self._lengths)

    @cached_property
    def n_rows(self) -> Int64Array:
        """Rows of each segment."""
        return self.count(self.n)

    @cached_property
    def n_positive(self) -> Int64Array:
        """Positive rows of each segment: O."""
        return self.count(self.k)

    @cached_property
    def expected(self) -> FloatArray:
        """Expected number of positive rows of each segment, the sum of the scores: E."""
        return self.sum(self.n * self.score)

    @cached_property
    def variance(self) -> FloatArray:
        """Variance of the number of positive rows of each segment, given the scores."""
        return self.sum(self.n * self.score * (1 - self.score))

    @cached_property
    def is_outside(self) -> BoolArray:
        """Whether a score of each segment is outside [0, 1], and so no probability."""
        return self._any((self.score < 0) | (self.score > 1))

    @cached_property
    def is_refuted(self) -> BoolArray:
        """Whether a score of each segment is 0 for a positive row, or 1 for a negative one."""
        wrong = ((self.score <= 0) & (self.k > 0)) | ((self.score >= 1) & (self.k < self.n))
        return self._any(wrong)

    @cached_property
    def has_several(self) -> BoolArray:
        """Whether each segment has several different scores."""
        return self._lengths > 1

    def _any(self, ties: BoolArray) -> BoolArray:
        out = np.zeros(self.n_segments, np.bool_)
        out[self.segment[ties]] = True
        return out

    @cached_property
    def uncertain(self) -> "ProbabilityScores":
        """The ties with scores other than 0 and 1, where log odds are finite."""
        inside = (self.score > 0) & (self.score < 1)
        return self if inside.all() else self.where(inside)

    def by_blocks(
        self, work: Callable[["ProbabilityScores"], tuple[FloatArray, ...]]
    ) -> tuple[FloatArray, ...]:
        """Do work that gives arrays with one entry for each segment, some segments at a time."""
        results = run_on_all_cores(work, self.blocks())
        return tuple(np.concatenate(parts) for parts in zip(*results, strict=True))

    def blocks(self, size: int = _BLOCK) -> list["ProbabilityScores"]:
        """Cut between segments, into blocks of about so many ties."""
        n_ties = len(self.segment)
        if n_ties <= size:
            return [self]
        marks = np.searchsorted(self.bounds, np.arange(size, n_ties, size))
        cuts = np.unique([0, *marks, self.n_segments])
        return [self._between(low, high) for low, high in pairwise(cuts)]

    def _between(self, low: int, high: int) -> "ProbabilityScores":
        ties = slice(self.bounds[low], self.bounds[high])
        return ProbabilityScores(
            self.segment[ties] - low, self.score[ties], self.n[ties], self.k[ties], high - low
        )
