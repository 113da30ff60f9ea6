"""The kinds of confidence interval of metrics that are functions of a mean of ratios."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts
from balframe.core.sample import Sample
from balframe.stats import mean_recall, proportions
from balframe.stats.base import GATE, Interval, IntervalRequest, LeastCount
from balframe.stats.batching import over_segments
from balframe.stats.cluster_influence import Influence
from balframe.stats.clustered_means import doubted, limits_of_means, means_of_clusters
from balframe.stats.effective_sample_size import effective, kish
from balframe.stats.geometric_mean import geometric, geometric_gate
from balframe.stats.kappa_mcc import Coefficient, effective_rows, influence_on_coefficient
from balframe.stats.mean_recall import (
    Recalls,
    is_by_prevalence,
    one_recall,
    recalls_of_both_sides,
    recalls_of_labels,
    recalls_under_class_weight,
)
from balframe.stats.mean_recall_posterior import Posterior
from balframe.stats.proportions import Limits, normal_quantile

Parts = tuple[FloatArray, FloatArray]
Transform = Callable[[ClassCounts, FloatArray], FloatArray]
Among = Literal["all", "positives", "negatives"]

_OF_PROPORTIONS = {
    "wilson": proportions.wilson,
    "scas": mean_recall.scas_of_proportion,
    "jeffreys": proportions.jeffreys,
    "exact": proportions.exact,
}
_OF_MEANS = {
    "score": mean_recall.score,
    "scas": mean_recall.scas,
    "mover": mean_recall.mover,
    GATE: mean_recall.gate,
}


def identity(c: ClassCounts, value: FloatArray) -> FloatArray:
    """Take a value as it is."""
    return value


def f1_of_jaccard(c: ClassCounts, jaccard: FloatArray) -> FloatArray:
    """Turn the Jaccard index into f1: 2J / (1 + J)."""
    return 2 * jaccard / (1 + jaccard)


@dataclass(frozen=True, slots=True)
class Proportion(Interval):
    """A proportion x / n, or an increasing function of one.

    Parameters
    ----------
    parts : function of ClassCounts
        Returns x and n for every segment.
    transform : function of ClassCounts and the proportion, optional
        Returns the metric, which increases with the proportion; by default the proportion itself.
    is_linear : bool, default True
        Whether the transform is linear in the proportion.
    among : {"all", "positives", "negatives"} or None, default None
        The rows that n counts: all rows of the segment, those with the positive label, or those
        with another label. None if n depends on the predictions, as for precision. `compare` has
        intervals only if n does not depend on them.
    """

    parts: Callable[[ClassCounts], Parts]
    transform: Transform = identity
    is_linear: bool = True
    among: Among | None = None

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods of proportions."""
        return tuple(_OF_PROPORTIONS)

    def method_of(self, asked: str | None) -> str:
        """Return the method that applies: Wilson by default, Clopper-Pearson for gates."""
        if asked == GATE:
            return "exact"
        return asked if asked in self.methods else "wilson"

    def limits(self, sample: Sample, estimate: FloatArray, request: IntervalRequest) -> Limits:
        """Compute the limits of the proportion, and transform them."""
        c = sample.counts
        x, n = effective(*self.parts(c), *self.parts(c.squared))
        known = np.isfinite(n) & (n > 0)
        method = self.method_of(request.method)
        low, high = limits_of_proportions(x, n, known, method, request.level)
        return self.transform(c, low), self.transform(c, high)

    def smallest_denominator(self, c: ClassCounts) -> Int64Array:
        """Count the rows of n."""
        return np.asarray(self.parts(c.in_rows)[1], np.int64)

    @property
    def least_count(self) -> LeastCount:
        """All rows, or those of a label; none where n depends on the predictions."""
        return "n" if self.among == "all" else None if self.among is None else "min_support"

    def linear_recalls(self, c: ClassCounts) -> Recalls | None:
        """Read the proportion as one recall, where the transform is linear."""
        return self.ratios(c) if self.is_linear else None

    def ratios(self, c: ClassCounts) -> Recalls:
        """Read the proportion as one recall."""
        return one_recall(c, *self.parts(c), *self.parts(c.squared))

    def influence(self, sample: Sample) -> Influence | None:
        """Return the influence of each cluster on the proportion."""
        return influence_on_ratios(self, sample)

    def limits_of_clusters(
        self, sample: Sample, estimate: FloatArray, request: IntervalRequest
    ) -> Limits:
        """Compute the limits of the proportion from effective counts, and transform them."""
        method = request.method if request.method in ("scas", GATE) else "wilson"
        low, high = limits_of_ratios(self, sample, method, request)
        return self.transform(sample.counts, low), self.transform(sample.counts, high)

    def rescaled(self, c: ClassCounts, value: FloatArray) -> FloatArray:
        """Transform a proportion."""
        return self.transform(c, value)

    def is_proportion(self, c: ClassCounts) -> bool:
        """Return whether the transform is linear."""
        return self.is_linear

    @property
    def is_paired(self) -> bool:
        """Whether n does not depend on the predictions."""
        return self.is_linear and self.among is not None


@dataclass(frozen=True, slots=True)
class MeanOfRecalls(Interval):
    """A weighted mean of recalls, or an increasing linear function of one.

    Parameters
    ----------
    recalls : function of ClassCounts, default recalls_of_labels
        Returns the recalls and their weights; see `balframe.stats.mean_recall`. By
        default all labels present have the same weight.
    transform : function of ClassCounts and the mean, optional
        Returns the metric, which increases with the mean; by default the mean itself.
    """

    recalls: Callable[[ClassCounts], Recalls] = recalls_of_labels
    transform: Transform = identity

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods of means of recalls, and the posterior."""
        return (*(name for name in _OF_MEANS if name != GATE), "posterior")

    def method_of(self, asked: str | None) -> str:
        """Return the method that applies: the score method by default."""
        return asked if asked in (*self.methods, GATE) else "score"

    def limits(self, sample: Sample, estimate: FloatArray, request: IntervalRequest) -> Limits:
        """Compute the limits of the mean, once for all metrics of it, and transform them."""
        found = sample.once(self.recalls, lambda: self._limits_of_mean(sample.counts, request))
        low, high = (self.transform(sample.counts, limit) for limit in found)
        return low, high

    def _limits_of_mean(self, c: ClassCounts, request: IntervalRequest) -> Limits:
        method, level = self.method_of(request.method), request.level

        def compute(x: FloatArray, n: FloatArray, a: FloatArray) -> Sequence[FloatArray]:
            if method == "posterior":
                tail = (1 - level) / 2
                return Posterior.of(x, n, a, request.prior).quantiles((tail, 1 - tail))
            return _OF_MEANS[method](x, n, a, level)

        # a mean under weights by prevalence is decided as the accuracy that it is
        r = self.linear_recalls(c) if method == GATE else self.recalls(c)
        low, high = over_segments(r, 2, compute)
        part = _part_of_whole(r)
        return low * part, high * part

    def influence(self, sample: Sample) -> Influence | None:
        """Return the influence of each cluster on the mean."""
        return influence_on_ratios(self, sample)

    def limits_of_clusters(
        self, sample: Sample, estimate: FloatArray, request: IntervalRequest
    ) -> Limits:
        """Compute the limits of the mean from effective counts, and transform them."""
        method = request.method if request.method in ("scas", GATE) else "score"
        low, high = sample.once(
            (self.recalls, method), lambda: limits_of_ratios(self, sample, method, request)
        )
        part = _part_of_whole(self.linear_recalls(sample.counts))
        low, high = (self.transform(sample.counts, limit * part) for limit in (low, high))
        return low, high

    def smallest_denominator(self, c: ClassCounts) -> Int64Array:
        """Count the rows of the rarest label present that the mean looks at."""
        return rows_of_rarest(self.recalls, c)

    @property
    def least_count(self) -> LeastCount:
        """The rows of the rarest label present."""
        return "min_support"

    def lacks_label(self, c: ClassCounts) -> BoolArray:
        """Return whether a segment lacks a label that the mean looks at in another one."""
        return lacks_label(self.recalls, c)

    def linear_recalls(self, c: ClassCounts) -> Recalls:
        """Read the recalls; one where their weights, by prevalence, make the mean an accuracy.

        Those weights differ from segment to segment, and an accuracy has none.
        """
        if not self.is_proportion(c):
            return self.recalls(c)
        rows = (c.correct, c.support, c.squared.correct, c.squared.support)
        return one_recall(c, *(c.sum(np.where(c.present, values, 0)) for values in rows))

    def rescaled(self, c: ClassCounts, value: FloatArray) -> FloatArray:
        """Transform a mean of recalls."""
        return self.transform(c, value)

    def is_proportion(self, c: ClassCounts) -> bool:
        """Return whether the weights are by prevalence, which makes the mean an accuracy."""
        return self.recalls is recalls_under_class_weight and is_by_prevalence(c)

    @property
    def is_paired(self) -> bool:
        """Always: the rows of a label are the same whatever is predicted."""
        return True

    @property
    def rises_with_both_recalls(self) -> bool:
        """Whether the labels have the same weight whatever the data and the options."""
        return self.recalls in (recalls_of_labels, recalls_of_both_sides)


def _part_of_whole(r: Recalls) -> FloatArray:
    """Find the share of the labels present in the weight of all labels of each segment."""
    total = np.bincount(r.segment, weights=r.weight, minlength=len(r.whole))
    return np.asarray(total / r.whole)


def influence_on_ratios(interval: Interval, sample: Sample) -> Influence | None:
    """Return the influence of each cluster on a mean of ratios."""
    means = means_of_clusters(interval, sample)
    return None if means is None else means.influence


def limits_of_ratios(
    interval: Interval, sample: Sample, method: str, request: IntervalRequest
) -> Limits:
    """Compute the limits of a mean of ratios whose rows come in clusters."""
    means = means_of_clusters(interval, sample)
    assert means is not None
    return limits_of_means(means, method, request.level)


def limits_of_proportions(
    x: FloatArray, n: FloatArray, known: BoolArray, method: str, level: float
) -> Limits:
    """Compute the limits of proportions x / n by a method, where they are known."""
    low, high = np.full((2, len(n)), np.nan)
    low[known], high[known] = _OF_PROPORTIONS[method](x[known], n[known], level)
    return low, high


def rows_of_rarest(read: Callable[[ClassCounts], Recalls], c: ClassCounts) -> Int64Array:
    """Count the rows of each segment's rarest label present, 0 where there is none."""
    r = read(c.in_rows)
    smallest = np.full(c.n_segments, np.iinfo(np.int64).max)
    np.minimum.at(smallest, r.segment, r.support.astype(np.int64))
    return np.where(smallest == np.iinfo(np.int64).max, 0, smallest)


def lacks_label(read: Callable[[ClassCounts], Recalls], c: ClassCounts) -> BoolArray:
    """Return whether a segment lacks a label that another one has."""
    r = read(c)
    n_labels = np.bincount(r.segment, minlength=c.n_segments)
    return n_labels < len(np.unique(r.label))


# The kinds of intervals of metrics that are no functions of a mean of ratios.


_LEAST_ALONE, _LEAST_TOGETHER = 10, 100  # rows of each label, for limits that decide to hold


@dataclass(frozen=True, slots=True)
class GeometricMeanOfRecalls(Interval):
    """The geometric mean of the recalls of the labels present."""

    def method_of(self, asked: str | None) -> str:
        """Return the only method, the score method; limits for gates are exact."""
        return "exact" if asked == GATE else "score"

    def limits(self, sample: Sample, estimate: FloatArray, request: IntervalRequest) -> Limits:
        """Compute the limits; none where the mean is 0 by the convention `absent="zero"`."""
        c = sample.counts
        method = geometric_gate if request.method == GATE else geometric
        found = over_segments(recalls_of_labels(c), 2, lambda x, n, a: method(x, n, request.level))
        by_convention = (c.absent == "zero") & (c.n_present < c.n_labels)
        low, high = (np.where(by_convention, np.nan, limit) for limit in found)
        return low, high

    def smallest_denominator(self, c: ClassCounts) -> Int64Array:
        """Count the rows of the rarest label present."""
        return rows_of_rarest(recalls_of_labels, c)

    @property
    def least_count(self) -> LeastCount:
        """The rows of the rarest label present."""
        return "min_support"

    def lacks_label(self, c: ClassCounts) -> BoolArray:
        """Return whether a segment lacks a label that another one has."""
        return lacks_label(recalls_of_labels, c)


@dataclass(frozen=True, slots=True)
class CoefficientOfAgreement(Interval):
    """A coefficient of the whole confusion matrix, from -1 to 1.

    Parameters
    ----------
    coefficient : function
        `kappa` or `correlation` of `balframe.stats.kappa_mcc`.
    """

    coefficient: Coefficient

    def method_of(self, asked: str | None) -> str:
        """Return the only method, Wilson with effective rows; limits for gates are exact."""
        return "exact" if asked == GATE else "wilson"

    def limits(self, sample: Sample, estimate: FloatArray, request: IntervalRequest) -> Limits:
        """Compute the limits of the proportion (1 + estimate) / 2, and transform them."""
        c = sample.counts
        n = effective_rows(self.coefficient, c, sample.cells())
        share = (1 + estimate) / 2
        known = np.isfinite(share) & np.isfinite(n)
        if request.method == GATE:
            known &= self._decides(c, request)
        method = self.method_of(request.method)
        low, high = limits_of_proportions(share * n, n, known, method, request.level)
        return 2 * low - 1, 2 * high - 1

    def influence(self, sample: Sample) -> Influence:
        """Return the influence of each cluster on the coefficient."""
        return influence_on_coefficient(self.coefficient, sample)

    def method_of_clusters(self, asked: str | None) -> str:
        """Return the only method, by Fisher's z; limits for gates are exact."""
        return "exact" if asked == GATE else "fisher"

    def limits_of_clusters(
        self, sample: Sample, estimate: FloatArray, request: IntervalRequest
    ) -> Limits:
        """Compute limits of the inverse hyperbolic tangent, and transform them back."""
        if request.method == GATE:
            return self._gate_of_clusters(sample, estimate, request)
        influence = self.influence(sample)
        spread = np.sqrt(influence.at_least_of_rows)
        half = influence.quantile(request.level) * spread / (1 - estimate**2)
        return np.tanh(np.arctanh(estimate) - half), np.tanh(np.arctanh(estimate) + half)

    def _decides(self, c: ClassCounts, request: IntervalRequest) -> BoolArray:
        """Return where labels have rows enough for limits that decide."""
        least = _LEAST_TOGETHER if request.n_together > 1 else _LEAST_ALONE
        return (c.min_support >= least) & (c.n_present > 1)

    def _gate_of_clusters(
        self, sample: Sample, estimate: FloatArray, request: IntervalRequest
    ) -> Limits:
        """Compute exact limits of the proportion (1 + estimate) / 2 in effective rows."""
        found, clusters = self.influence(sample), sample.clusters
        assert clusters is not None
        z, t = normal_quantile(request.level), found.quantile(request.level)
        n = (1 - estimate**2) / found.at_least_of_rows
        correct = clusters.pairs.counts.total_correct
        limits = []
        for share, errors in (
            ((1 + estimate) / 2, clusters.pairs.counts.total - correct),
            ((1 - estimate) / 2, correct),
        ):
            with_errors = np.nan_to_num(kish(clusters.sum(errors), clusters.sum(errors**2)))
            fewer = doubted(n, found.effective_clusters, with_errors, z) * (z / t) ** 2
            known = np.isfinite(share) & np.isfinite(fewer) & self._decides(sample.counts, request)
            low, _ = limits_of_proportions(share * fewer, fewer, known, "exact", request.level)
            limits.append(2 * low - 1)
        return limits[0], -limits[1]
