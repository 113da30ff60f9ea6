"""Designs to plan with: the rows of segments by kind, and the moments of their scores."""

from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.stats.constrained_mle import WeightedBinomials
from balframe.stats.constrained_mle_paired import PairedCounts, difference_variance, multiplier_at

_SAME = 1e-12  # scores closer than this are equal


class StudyDesign(Protocol):
    """The rows of segments by kind, which a plan varies, and the moments of their score."""

    @property
    def score(self) -> FloatArray:
        """The observed score."""

    @property
    def lowest(self) -> float:
        """The least that a score can be."""

    def constrained_to(self, score: FloatArray) -> Self:
        """Return the design with the rates of largest likelihood at this score."""

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return standard deviation and skewness of the score."""

    @property
    def supports(self) -> FloatArray:
        """The rows of each label, of the shape (segments, labels)."""

    def with_supports(self, n: FloatArray) -> Self:
        """Return the design with other rows of each label; the rates stay the same."""

    def mirrored(self) -> Self:
        """Mirror the scores, so that those above a bound are below one."""

    def at(self, segments: Int64Array) -> Self:
        """Return these segments."""


@dataclass(frozen=True, slots=True)
class RecallDesign:
    """Independent recalls, and a weighted mean of them."""

    recalls: WeightedBinomials
    lowest = 0.0

    @classmethod
    def of(cls, x: FloatArray, n: FloatArray, a: FloatArray) -> "RecallDesign":
        """Make a design from arrays of the shape (segments, labels)."""
        return cls(WeightedBinomials.of(x, n, a))

    @property
    def score(self) -> FloatArray:
        """The observed score."""
        return self.recalls.score

    def constrained_to(self, score: FloatArray) -> "RecallDesign":
        """Return the design with the recalls of largest likelihood at this score."""
        _, p = self.recalls.constrained_mle(score)
        return RecallDesign(replace(self.recalls, x=p * self.recalls.n))

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return standard deviation and skewness of the mean."""
        c = self.recalls
        p = c.x / c.n
        sd = np.sqrt(c.variance)
        return sd, ratio_or_zero(
            (c.third_moment_factor * p * (1 - p) * (1 - 2 * p)).sum(axis=0), sd**3
        )

    @property
    def supports(self) -> FloatArray:
        """The rows of each label."""
        return self.recalls.n.T

    def with_supports(self, n: FloatArray) -> "RecallDesign":
        """Return the design with other rows of each label."""
        c = self.recalls
        return RecallDesign(replace(c, x=c.x / c.n * n.T, n=n.T))

    def mirrored(self) -> "RecallDesign":
        """Mirror the scores, to 1 - score."""
        return RecallDesign(self.recalls.mirror())

    def at(self, segments: Int64Array) -> "RecallDesign":
        """Return these segments."""
        return RecallDesign(self.recalls.at(segments))


@dataclass(frozen=True, slots=True)
class PairedDesign:
    """Rows that only one of two models gets right, and the difference of their scores."""

    pairs: PairedCounts
    lowest = -1.0

    @property
    def score(self) -> FloatArray:
        """The observed difference."""
        return self.pairs.observed_difference

    def constrained_to(self, score: FloatArray) -> "PairedDesign":
        """Return the design with the shares of largest likelihood at this difference."""
        is_below = score > self.score
        pairs = self.pairs.swap_models(is_below)
        target = np.where(is_below, -score, score)
        moved = np.flatnonzero(np.abs(pairs.observed_difference - target) > _SAME)
        kinds = np.array([pairs.b, pairs.c, pairs.r])
        own = pairs.at(moved)
        kinds[:, moved] = own.n * own.fit_shares(multiplier_at(own, target[moved]))
        return PairedDesign(
            PairedCounts.of(kinds[0], kinds[1], pairs.n, pairs.a).swap_models(is_below)
        )

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return standard deviation and skewness of the difference."""
        c = self.pairs
        p_b, p_c, p_r = c.b / c.n, c.c / c.n, c.r / c.n
        sd = np.sqrt((c.variance_factor * difference_variance(p_b, p_c, p_r)).sum(axis=1))
        return sd, ratio_or_zero(c.third_moment(p_b, p_c, p_r), sd**3)

    @property
    def supports(self) -> FloatArray:
        """The rows of each label."""
        return self.pairs.n

    def with_supports(self, n: FloatArray) -> "PairedDesign":
        """Return the design with other rows of each label."""
        c, by = self.pairs, n / self.pairs.n
        return PairedDesign(PairedCounts.of(c.b * by, c.c * by, n, c.a))

    def mirrored(self) -> "PairedDesign":
        """Exchange the models."""
        return PairedDesign(self.pairs.swap_models(np.ones(len(self.pairs.n), np.bool_)))

    def at(self, segments: Int64Array) -> "PairedDesign":
        """Return these segments."""
        return PairedDesign(self.pairs.at(segments))


def ratio_or_zero(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Divide; 0 where the denominator is 0."""
    varies = denominator > 0
    return np.where(varies, numerator, 0) / np.where(varies, denominator, 1)
