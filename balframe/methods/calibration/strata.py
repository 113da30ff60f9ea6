"""Strata of rows with equal or similar scores, and the positive rows expected in them.

In a stratum, K of N rows are positive. If outcomes are independent of the segment, the numbers of
positive rows of the segments are multivariate hypergeometric: a draw without replacement.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.binning import quantiles
from balframe.core.counting_strategy import sample
from balframe.core.probability_scores import ProbabilityScores
from balframe.core.safe_divide import ratio, rescale
from balframe.core.threads import run_on_all_cores

MAX_SCORE_STRATA = 30  # distinct scores, up to which each is a stratum


def score_strata(score: FloatArray, n: Int64Array) -> Int64Array:
    """Return the position of the stratum of each score, ascending with the scores.

    If there are at most 30 distinct scores, each is a stratum. Otherwise there are ceil(2 N^0.4)
    quantile strata for N rows, cut between different scores.

    Parameters
    ----------
    score : float array, shape (ties,)
    n : int64 array, shape (ties,)
        Rows of each tie.
    """
    if len(np.unique(sample(score))) <= MAX_SCORE_STRATA:
        distinct, position = np.unique(score, return_inverse=True)
        if len(distinct) <= MAX_SCORE_STRATA:
            return position.astype(np.int64)
    total = int(n.sum())
    edges = quantiles(score, None if total == len(n) else n, int(np.ceil(2 * total**0.4)))
    return np.searchsorted(edges, score, side="right")


@dataclass(frozen=True)
class ScoreStrata:
    """Entries: the rows of each segment in each stratum where it has any.

    Parameters
    ----------
    entries : ProbabilityScores
        Rows and positive rows. Their score is the position of the stratum.
    n_all, k_all, score : float arrays, shape (strata,)
        Rows, positive rows and mean score of all segments. The scores are in units of a power of
        two, so that none is above 1.
    n_segments : int array, shape (strata,)
        How many segments have rows.
    """

    entries: ProbabilityScores
    n_all: FloatArray
    k_all: FloatArray
    score: FloatArray
    n_segments: Int64Array

    @classmethod
    def of(cls, p: ProbabilityScores) -> "ScoreStrata":
        """Add up the ties of each segment in each stratum."""
        stratum = score_strata(p.score, p.n)
        is_start = np.ones(len(stratum), np.bool_)
        is_start[1:] = (stratum[1:] != stratum[:-1]) | (p.segment[1:] != p.segment[:-1])
        starts = np.flatnonzero(is_start)
        n, k = (np.add.reduceat(rows, starts) if len(starts) else rows for rows in (p.n, p.k))
        position = stratum[starts]
        entries = ProbabilityScores(
            p.segment[starts], position.astype(np.float64), n, k, p.n_segments
        )
        n_all, k_all = (np.bincount(position, weights=rows).astype(np.float64) for rows in (n, k))
        score = rescale(p.score, np.abs(p.score).max(initial=0))
        score = np.bincount(stratum, weights=p.n * score) / n_all
        return cls(entries, n_all, k_all, score, np.bincount(position))

    def with_merged(self, segments: BoolArray) -> "ScoreStrata":
        """Merge some segments into one, the last."""
        code = np.cumsum(~segments) - 1
        n_segments = int((~segments).sum()) + 1
        is_merged = segments[self.entries.segment]
        n, k = (
            np.bincount(self.position[is_merged], rows[is_merged], len(self.score)).astype(np.int64)
            for rows in (self.entries.n, self.entries.k)
        )
        merged = np.flatnonzero(n)
        others = self.entries.where(~is_merged)
        entries = ProbabilityScores(
            np.append(code[others.segment], np.full(len(merged), n_segments - 1)),
            np.append(others.score, merged),
            np.append(others.n, n[merged]),
            np.append(others.k, k[merged]),
            n_segments,
        )
        counts = np.bincount(entries.score.astype(np.int64), minlength=len(self.score))
        return replace(self, entries=entries, n_segments=counts)

    def by_blocks(
        self, function: Callable[["ScoreStrata"], tuple[FloatArray, ...]]
    ) -> tuple[FloatArray, ...]:
        """Apply a function that returns a value per segment to one block of segments at a time."""
        results = run_on_all_cores(function, self.blocks())
        return tuple(np.concatenate(parts) for parts in zip(*results, strict=True))

    def blocks(self, size: int | None = None) -> list["ScoreStrata"]:
        """Cut between segments, into blocks of about so many entries."""
        blocks = self.entries.blocks() if size is None else self.entries.blocks(size)
        return [self] if len(blocks) == 1 else [replace(self, entries=block) for block in blocks]

    def sum(self, values: FloatArray) -> FloatArray:
        """Add up the entries of each segment."""
        return self.entries.sum(values)

    @cached_property
    def position(self) -> Int64Array:
        """Position of the stratum of each entry."""
        return self.entries.score.astype(np.int64)

    @cached_property
    def n(self) -> FloatArray:
        """Rows of each entry."""
        return self.entries.n.astype(np.float64)

    @cached_property
    def k(self) -> FloatArray:
        """Positive rows of each entry."""
        return self.entries.k.astype(np.float64)

    @cached_property
    def expected(self) -> FloatArray:
        """Positive rows of each entry, if the stratum's share were the same in all segments."""
        return self.n * ratio(self.k_all, self.n_all)[self.position]

    @cached_property
    def outcome_variance(self) -> FloatArray:
        """Variance of an outcome in each stratum, 0 where it has one segment only.

        K (N - K) / (N (N - 1))
        """
        n, k = self.n_all, self.k_all
        return np.where(self.n_segments > 1, k * (n - k) / (n * np.maximum(n - 1, 1)), 0)

    @cached_property
    def standard_score(self) -> FloatArray:
        """Score of each stratum, with mean 0 and variance 1 under the weights K (N - K) / (N - 1).

        0 where there is no such weight.
        """
        weight = self.outcome_variance * self.n_all
        total = weight.sum()
        if not total > 0:
            return np.zeros(len(self.score))
        centred = self.score - (weight * self.score).sum() / total
        scale = np.sqrt((weight * centred**2).sum() / total)
        return np.asarray(centred / scale if scale > 0 else centred)

    @cached_property
    def variance(self) -> FloatArray:
        """Variance of the positive rows of each entry, if the segments do not differ."""
        rest = 1 - self.n / self.n_all[self.position]
        return self.outcome_variance[self.position] * self.n * rest

    @cached_property
    def has_variance(self) -> BoolArray:
        """Whether the outcomes of the stratum of each entry vary."""
        return self.outcome_variance[self.position] > 0

    @cached_property
    def varying(self) -> ProbabilityScores:
        """Entries of strata whose outcomes vary."""
        return self.entries if self.has_variance.all() else self.entries.where(self.has_variance)
