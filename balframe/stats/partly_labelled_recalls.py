"""Limits of recalls of all rows, if only some have a true label.

Strata are those of `partly_labelled`, where right rows of strata that are predicted to have a label
have it, and so have wrong rows of all others.

References
----------
C. B. Begg and R. A. Greenes, "Assessment of diagnostic tests when disease verification is subject
to selection bias", Biometrics 1983.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, Protocol, Self, TypeVar

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.safe_divide import ratio
from balframe.core.strata import Strata
from balframe.stats.constrained_mle import Statistic
from balframe.stats.lazy_scipy import special
from balframe.stats.partly_labelled import Completions, have_few_labels, strata_limits
from balframe.stats.proportions import Limits, clopper_pearson_lower
from balframe.stats.root_finding import root_between
from balframe.stats.stratified_binomials import (
    STATISTICS,
    StratifiedBinomials,
    mover_half_width,
    score,
)

_LOWEST = 1e-9  # where the search for a limit begins; it ends as far from 1, before rounding errors
_Segments = Int64Array | slice
Purpose = Literal["report", "difference", "rule"]


@dataclass(frozen=True)
class LinearScore:
    """A score near the shares p = (x + 1/2) / (n + 1) of strata: its value, and that of rows.

    The score changes by p with a = W times the slope, and by W with slope p + offset. Rules take
    the variance of rows not to be less than `row_variance`.
    """

    strata: Strata
    value: FloatArray
    slope: FloatArray
    offset: FloatArray
    row_variance: FloatArray

    @classmethod
    def of_share(cls, s: Strata) -> "LinearScore":
        """Return the share of right rows."""
        value = (s.share * smoothed_shares(s)).sum(axis=1)
        return cls(s, value, np.ones(s.rows.shape), np.zeros(s.rows.shape), np.zeros(len(value)))

    def mean_with(self, other: "LinearScore") -> "LinearScore":
        """Return the mean of two scores of the same strata."""
        value, slope, offset = (
            (getattr(self, name) + getattr(other, name)) / 2
            for name in ("value", "slope", "offset")
        )
        row_variance = (self.row_variance + other.row_variance) / 4
        return LinearScore(self.strata, value, slope, offset, row_variance)

    @property
    def value_of_rows(self) -> FloatArray:
        """The value of a row of each stratum."""
        return self.slope * smoothed_shares(self.strata) + self.offset

    def covariance(self, other: "LinearScore") -> FloatArray:
        """Return the covariance with another score of the same strata, of labels and of rows."""
        s, p, w = self.strata, smoothed_shares(self.strata), self.strata.share
        of_labels = w**2 * p * (1 - p) / np.where(s.labelled > 0, s.labelled, np.inf)
        values = self.value_of_rows, other.value_of_rows
        means = [(w * each).sum(axis=1) for each in values]
        of_rows = (w * values[0] * values[1]).sum(axis=1) - means[0] * means[1]
        return np.asarray((self.slope * other.slope * of_labels).sum(axis=1) + of_rows / s.n)


class CorrectedScore(Protocol):
    """A score of all rows of each segment, of which only some have a true label."""

    def at(self, segments: _Segments) -> Self:
        """Take the segments at these positions."""

    def followed_by(self, other: Self) -> Self:
        """Append the segments of the same score elsewhere: one search takes as long as two."""

    def extremes(self) -> Limits:
        """Return the lowest and the highest score that doubt allows, both the estimate without."""

    def limits(self, z: FloatArray | float, purpose: Purpose = "report") -> Limits:
        """Return limits at normal quantiles, one for all segments or one for each.

        Those of differences are the wider of two tests, and those of rules are wider where labels
        are few.
        """


@dataclass(frozen=True)
class Recall:
    """A recall R = A / (A + B), with A = sum W p over some strata, and B = sum W (1 - p).

    A is over the strata predicted to have the label, where right rows have it, and B over all
    others, whose wrong rows have it.
    """

    strata: Strata
    predicted: BoolArray

    def at(self, segments: _Segments) -> "Recall":
        """Take the segments at these positions."""
        return Recall(self.strata.at(segments), self.predicted[segments])

    def followed_by(self, other: "Recall") -> "Recall":
        """Append the segments of other recalls."""
        strata = self.strata.followed_by(other.strata)
        predicted = np.zeros(strata.rows.shape, np.bool_)
        predicted[: len(self.predicted), : self.predicted.shape[1]] = self.predicted
        predicted[len(self.predicted) :, : other.predicted.shape[1]] = other.predicted
        return Recall(strata, predicted)

    def mirrored(self) -> "Recall":
        """Return 1 - R, which is the recall of wrong rows."""
        s = self.strata
        return Recall(replace(s, right=s.labelled - s.right), ~self.predicted)

    @property
    def lowest(self) -> FloatArray:
        """The lowest recall that doubt allows; strata without a label are wrong."""
        c = StratifiedBinomials.of_strata(self.strata, self.strata.right)
        return self._of_shares(c.doubted(c.x / c.n).T)

    def extremes(self) -> Limits:
        """Return the lowest and the highest recall that doubt allows."""
        return self.lowest, 1 - self.mirrored().lowest

    def _of_shares(self, p: FloatArray) -> FloatArray:
        """Return the recall at shares of right rows in strata."""
        detected = np.where(self.predicted, self.strata.share * p, 0).sum(axis=1)
        return np.asarray(ratio(detected, self._with_label(p)))

    def _with_label(self, p: FloatArray) -> FloatArray:
        """Return the share of rows with the label, A + B."""
        share = self.strata.share * np.where(self.predicted, p, 1 - p)
        return np.asarray(share.sum(axis=1))

    def completions(self) -> Completions:
        """Return the rows of the completions that bound the recall."""
        return Completions.of_recall(self.strata, self.predicted)

    def limits(self, z: FloatArray | float, purpose: Purpose = "report") -> Limits:
        """Return the limits that the score test of (1 - R) A - R B = 0 does not reject.

        Where all rows have the same kind of prediction, R is 1 or 0, and limits are Wilson's of the
        rows with a label. Those of rules are like `share_gate_limits`.
        """
        return _two_sided_limits(self, z, purpose)

    def lower_limits(
        self, z: FloatArray, purpose: Purpose, has_few: BoolArray | None = None
    ) -> FloatArray:
        """Return lower limits; `has_few` is whether labels are few, by default as they are."""
        s, predicted = self.strata, self.predicted
        if has_few is None:
            has_few = have_few_labels(s)
        detected, missed = (s.only(used).n > 0 for used in (predicted, ~predicted))
        n = np.where(predicted, s.right, s.labelled - s.right).sum(axis=1)
        lower = np.where(missed, 0.0, np.nan_to_num(1 / (1 + ratio(z**2, n))))
        if purpose == "rule":
            lower = np.minimum(lower, clopper_pearson_lower(n, n, special.ndtr(-z)))
        both = np.flatnonzero(detected & missed)
        lower[both] = self.at(both)._root(z[both], purpose)
        few = both[has_few[both]] if purpose == "rule" else both[:0]
        lower[few] = np.minimum(lower[few], self.at(few)._mover_root(z[few]))
        return lower

    def _root(self, z: FloatArray, purpose: Purpose) -> FloatArray:
        """Return the recalls at which the least statistic is z, shifted by doubt."""
        statistics: tuple[Statistic, ...] = (score,) if purpose == "report" else STATISTICS

        def excess(recall: FloatArray, at: Int64Array) -> FloatArray:
            c, target = self.at(at)._scaled_contrast(recall, purpose)
            fitted = c.constrained_mle(target)
            least = np.min([statistic(c, *fitted) for statistic in statistics], axis=0)
            return np.asarray(z[at] - least)

        root = self._recall_between(excess)
        is_doubted = (root > 0) & (root < 1) & (self.strata.doubt > np.ones(len(z)))
        doubted = np.flatnonzero(is_doubted)
        some = self.at(doubted)
        c, target = some._scaled_contrast(root[doubted])
        _, p = c.constrained_mle(target)
        root[doubted] = some._of_shares(c.doubted(p).T)
        return root

    def _mover_root(self, z: FloatArray) -> FloatArray:
        """Return the recalls at which MOVER's limit of (1 - R) A - R B is 0."""

        def excess(recall: FloatArray, at: Int64Array) -> FloatArray:
            c, target = self.at(at)._scaled_contrast(recall, "rule")
            shares, limits = strata_limits(c, z[at])
            contrast = (c.a * shares).sum(axis=0) - target
            return np.asarray(mover_half_width(c, shares, limits, z[at]) - contrast)

        return self._recall_between(excess)

    def _recall_between(self, excess: Callable[[FloatArray, Int64Array], FloatArray]) -> FloatArray:
        """Return where an excess changes its sign; 0 or 1 where it never does."""
        low = np.full(len(self.predicted), _LOWEST)
        root = root_between(excess, low, 1 - low)
        return np.asarray(np.select([root <= low, root >= 1 - low], [0.0, 1.0], root))

    def _scaled_contrast(
        self, recall: FloatArray, purpose: Purpose = "report"
    ) -> tuple[StratifiedBinomials, FloatArray]:
        """Return (1 - R) A - R B as a weighted mean of p, and the mean at which it is 0.

        For rules, the variance of the rows is at least that of as many rows with the label of which
        a share R is detected: few rows may be predicted not to have it by chance.
        """
        s, (slope, offset) = self.strata, self._terms(recall)
        scale = np.maximum((s.share * slope).sum(axis=1), np.finfo(np.float64).tiny)
        slope, offset = slope / scale[:, None], offset / scale[:, None]
        c = StratifiedBinomials.of_strata(s, s.right, slope, offset)
        if purpose == "rule":
            row_variance = self._row_variance(recall, (c.x / c.n).T)
            c = replace(c, row_variance=row_variance / scale**2)
        return c, -(s.share * offset).sum(axis=1)

    def linearised(self) -> LinearScore:
        """Return the recall near the shares of its strata."""
        p = smoothed_shares(self.strata)
        r, total = self._of_shares(p), self._with_label(p)
        slope, offset = (each / total[:, None] for each in self._terms(r))
        return LinearScore(self.strata, r, slope, offset, self._row_variance(r, p) / total**2)

    def contrast(self, bound: float) -> LinearScore:
        """Return (1 - R) A - R B at a bound R, which is 0 where the recall is this bound."""
        s, p, r = self.strata, smoothed_shares(self.strata), np.full(len(self.predicted), bound)
        slope, offset = self._terms(r)
        value = (s.share * (slope * p + offset)).sum(axis=1)
        return LinearScore(s, value, slope, offset, self._row_variance(r, p))

    def _row_variance(self, recall: FloatArray, p: FloatArray) -> FloatArray:
        """Return the variance of (1 - R) A - R B if a share R of rows with the label is detected.

        It is that of rows whose true labels are all known.
        """
        return np.asarray(self._with_label(p) * recall * (1 - recall) / self.strata.n)

    def _terms(self, recall: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the slopes and offsets of (1 - R) A - R B."""
        r = recall[:, None]
        return np.where(self.predicted, 1 - r, r), np.where(self.predicted, 0, -r)


def smoothed_shares(s: Strata) -> FloatArray:
    """Return the share of right rows of each stratum, (x + 1/2) / (n + 1)."""
    return np.asarray((s.right + 0.5) / (s.labelled + 1))


@dataclass(frozen=True)
class MeanRecall:
    """The mean of two recalls, that of a label and that of all others."""

    recall: Recall
    specificity: Recall

    @property
    def strata(self) -> Strata:
        """The strata of both recalls."""
        return self.recall.strata

    def at(self, segments: _Segments) -> "MeanRecall":
        """Take the segments at these positions."""
        return MeanRecall(self.recall.at(segments), self.specificity.at(segments))

    def followed_by(self, other: "MeanRecall") -> "MeanRecall":
        """Append the segments of other means."""
        return MeanRecall(
            self.recall.followed_by(other.recall), self.specificity.followed_by(other.specificity)
        )

    def extremes(self) -> Limits:
        """Return the lowest and the highest mean that doubt allows."""
        (low, high), (other_low, other_high) = self.recall.extremes(), self.specificity.extremes()
        return (low + other_low) / 2, (high + other_high) / 2

    def completions(self) -> Completions:
        """Return the rows of the completions that bound the mean."""
        return self.recall.completions().mean_with(self.specificity.completions())

    def limits(self, z: FloatArray | float, purpose: Purpose = "report") -> Limits:
        """Return limits by MOVER, with the correlation of both recalls.

        It is positive: a share that is too high in one stratum moves both. For rules, it is 1 where
        labels are few.
        """
        return _two_sided_limits(self, z, purpose)

    def lower_limits(
        self, z: FloatArray, purpose: Purpose, has_few: BoolArray | None = None
    ) -> FloatArray:
        """Return lower limits; `has_few` is whether labels are few, by default as they are."""
        if has_few is None:
            has_few = have_few_labels(self.strata)
        r = self._correlation()
        if purpose == "rule":
            r = np.where(has_few, 1, r)
        both = self.recall.followed_by(self.specificity)
        lowest = both.lowest
        distance = lowest - both.lower_limits(np.tile(z, 2), purpose, np.tile(has_few, 2))
        (low, other_low), (a, b) = np.split(lowest, 2), np.split(distance, 2)
        half_width = np.sqrt(np.maximum(a**2 + b**2 + 2 * r * a * b, 0)) / 2
        return np.maximum((low + other_low) / 2 - half_width, 0)

    def _correlation(self) -> FloatArray:
        own, other = self.recall.linearised(), self.specificity.linearised()
        product = own.covariance(own) * other.covariance(other)
        return np.clip(np.nan_to_num(ratio(own.covariance(other), np.sqrt(product))), -1, 1)

    def mirrored(self) -> "MeanRecall":
        """Return 1 less the mean."""
        return MeanRecall(self.recall.mirrored(), self.specificity.mirrored())

    def linearised(self) -> LinearScore:
        """Return the mean near the shares of its strata."""
        return self.recall.linearised().mean_with(self.specificity.linearised())


_Score = TypeVar("_Score", Recall, MeanRecall)


def _two_sided_limits(score: _Score, z: FloatArray | float, purpose: Purpose) -> Limits:
    """Return the limits of a score: one search for it and for 1 less it."""
    z = np.tile(np.broadcast_to(z, len(score.strata.rows)), 2)
    both = score.followed_by(score.mirrored())
    lower, above = np.split(both.lower_limits(z, purpose), 2)
    return lower, 1 - above


@dataclass(frozen=True)
class LinearTransform:
    """A linear function of a score, such as 1 - R."""

    score: CorrectedScore
    slope: float
    origin: float

    def at(self, segments: _Segments) -> "LinearTransform":
        """Take the segments at these positions."""
        return LinearTransform(self.score.at(segments), self.slope, self.origin)

    def followed_by(self, other: "LinearTransform") -> "LinearTransform":
        """Append the segments of other transforms."""
        return LinearTransform(self.score.followed_by(other.score), self.slope, self.origin)

    def extremes(self) -> Limits:
        """Return the lowest and the highest value that doubt allows."""
        return transform_limits(self.score.extremes(), self.slope, self.origin)

    def limits(self, z: FloatArray | float, purpose: Purpose = "report") -> Limits:
        """Return the transformed limits of the score."""
        return transform_limits(self.score.limits(z, purpose), self.slope, self.origin)


def transform_limits(limits: Limits, slope: float, origin: float) -> Limits:
    """Return slope * x + origin of limits, which a negative slope exchanges."""
    lower, upper = (slope * limit + origin for limit in limits)
    return (lower, upper) if slope > 0 else (upper, lower)
