"""Strata of rows with equal or similar scores, and the positive rows expected in them.

In a stratum, K of N rows are positive. If that has nothing to do with the segment, the positive
rows of the segments are a draw without replacement: multivariate hypergeometric.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.binning import quantiles
from balframe.core.counting_strategy import sample
from balframe.core.probability_scores import Probabilities
from balframe.core.safe_divide import ratio, scaled

MOST_SCORES = 30  # distinct ones that are strata of their own


def strata_of(score: FloatArray, n: Int64Array) -> Int64Array:
    """Return the position of the stratum of each score, ascending with the scores.

    Every score is a stratum of its own where there are at most 30 distinct ones. Otherwise there
    are ceil(2 N^0.4) quantile strata, cut between different scores, N being the number of rows.

    Parameters
    ----------
    score : float array, shape (ties,)
    n : int64 array, shape (ties,)
        Rows of each tie.
    """
    if len(np.unique(sample(score))) <= MOST_SCORES:
        distinct, position = np.unique(score, return_inverse=True)
        if len(distinct) <= MOST_SCORES:
            return position.astype(np.int64)
    total = int(n.sum())
    edges = quantiles(score, None if total == len(n) else n, int(np.ceil(2 * total**0.4)))
    return np.searchsorted(edges, score, side="right")


@dataclass(frozen=True)
class Strata:
    """Rows of each segment in each stratum, where there are any: an entry.

    Parameters
    ----------
    entries : Probabilities
        Rows and positive rows. Their score is the position of the stratum.
    n_all, k_all, score : float arrays, shape (strata,)
        Rows, positive rows and mean score of all segments. The scores are in units of a power of
        two, so that none is above 1.
    n_segments : int array, shape (strata,)
        How many segments have rows.
    """

    entries: Probabilities
    n_all: FloatArray
    k_all: FloatArray
    score: FloatArray
    n_segments: Int64Array

    @classmethod
    def of(cls, p: Probabilities) -> "Strata":
        """Add up the ties of each segment in each stratum."""
        stratum = strata_of(p.score, p.n)
        changes = np.ones(len(stratum), np.bool_)
        changes[1:] = (stratum[1:] != stratum[:-1]) | (p.segment[1:] != p.segment[:-1])
        starts = np.flatnonzero(changes)
        n, k = (np.add.reduceat(one, starts) if len(starts) else one for one in (p.n, p.k))
        position = stratum[starts]
        entries = Probabilities(p.segment[starts], position.astype(np.float64), n, k, p.n_segments)
        n_all, k_all = (np.bincount(position, weights=one).astype(np.float64) for one in (n, k))
        score = scaled(p.score, np.abs(p.score).max(initial=0))
        score = np.bincount(stratum, weights=p.n * score) / n_all
        return cls(entries, n_all, k_all, score, np.bincount(position))

    def by_blocks(
        self, work: Callable[["Strata"], tuple[FloatArray, ...]]
    ) -> tuple[FloatArray, ...]:
        """Do work that gives arrays with one entry for each segment, some segments at a time."""
        return self.entries.by_blocks(lambda entries: work(replace(self, entries=entries)))

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
    def spread(self) -> FloatArray:
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
        weight = self.spread * self.n_all
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
        return self.spread[self.position] * self.n * rest

    @cached_property
    def varies(self) -> BoolArray:
        """Whether there is such a variance."""
        return self.spread[self.position] > 0
