"""Designs to plan with: the rows of segments by kind, and the moments of their scores."""

from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.stats.constrained_mle import Segments
from balframe.stats.constrained_mle_paired import Pairs, multiplier_at, spread_of

_SAME = 1e-12  # scores closer than this are the same one


class Design(Protocol):
    """The rows of segments by kind: what is varied to plan, and what is known of its score."""

    @property
    def score(self) -> FloatArray:
        """The observed score."""

    @property
    def lowest(self) -> float:
        """The least that a score can be."""

    def held_at(self, score: FloatArray) -> Self:
        """Move the rates along the path of largest likelihood until the score is that given."""

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return standard deviation and skewness of the score."""

    def times(self, factor: FloatArray) -> Self:
        """Multiply the rows, rates as they are."""

    def turned(self) -> Self:
        """Turn scores around, so that what was above a bound is below one."""

    def at(self, segments: Int64Array) -> Self:
        """Take these segments."""


@dataclass(frozen=True, slots=True)
class OfRecalls:
    """Independent recalls, and a weighted mean of them."""

    recalls: Segments
    lowest = 0.0

    @classmethod
    def of(cls, x: FloatArray, n: FloatArray, a: FloatArray) -> "OfRecalls":
        """Take arrays of the shape (segments, labels), as limits of means of recalls do."""
        return cls(Segments.of(x, n, a))

    @property
    def score(self) -> FloatArray:
        """The observed score."""
        return self.recalls.score

    def held_at(self, score: FloatArray) -> "OfRecalls":
        """Move the recalls."""
        _, p = self.recalls.held_at(score)
        return OfRecalls(replace(self.recalls, x=p * self.recalls.n))

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return standard deviation and skewness of the mean."""
        c = self.recalls
        p = c.x / c.n
        sd = np.sqrt(c.variance)
        return sd, over((c.third * p * (1 - p) * (1 - 2 * p)).sum(axis=0), sd**3)

    def times(self, factor: FloatArray) -> "OfRecalls":
        """Multiply the rows."""
        c = self.recalls
        return OfRecalls(replace(c, x=c.x * factor, n=c.n * factor))

    def turned(self) -> "OfRecalls":
        """Take 1 - score."""
        return OfRecalls(self.recalls.mirrored())

    def at(self, segments: Int64Array) -> "OfRecalls":
        """Take these segments."""
        return OfRecalls(self.recalls.at(segments))


@dataclass(frozen=True, slots=True)
class OfPairs:
    """Rows that only one of two models gets right, and the difference of their scores."""

    pairs: Pairs
    lowest = -1.0

    @property
    def score(self) -> FloatArray:
        """The observed difference."""
        return self.pairs.observed

    def held_at(self, score: FloatArray) -> "OfPairs":
        """Move the shares."""
        is_below = score > self.score
        pairs = self.pairs.exchanged(is_below)
        target = np.where(is_below, -score, score)
        moved = np.flatnonzero(np.abs(pairs.observed - target) > _SAME)
        kinds = np.array([pairs.b, pairs.c, pairs.r])
        own = pairs.at(moved)
        kinds[:, moved] = own.n * own.shares(multiplier_at(own, target[moved]))
        return OfPairs(Pairs.of(kinds[0], kinds[1], pairs.n, pairs.a).exchanged(is_below))

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return standard deviation and skewness of the difference."""
        c = self.pairs
        p_b, p_c, p_r = c.b / c.n, c.c / c.n, c.r / c.n
        d = p_b - p_c
        third = p_b * (1 - d) ** 3 - p_c * (1 + d) ** 3 - p_r * d**3
        sd = np.sqrt((c.part * spread_of(p_b, p_c, p_r)).sum(axis=1))
        return sd, over((c.part * c.a / c.n * third).sum(axis=1), sd**3)

    def times(self, factor: FloatArray) -> "OfPairs":
        """Multiply the rows."""
        c, by = self.pairs, factor[:, None]
        return OfPairs(Pairs.of(c.b * by, c.c * by, c.n * by, c.a))

    def turned(self) -> "OfPairs":
        """Let the models change places."""
        return OfPairs(self.pairs.exchanged(np.ones(len(self.pairs.n), np.bool_)))

    def at(self, segments: Int64Array) -> "OfPairs":
        """Take these segments."""
        return OfPairs(self.pairs.at(segments))


def over(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Divide; 0 where nothing varies."""
    varies = denominator > 0
    return np.where(varies, numerator, 0) / np.where(varies, denominator, 1)
