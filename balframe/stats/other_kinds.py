"""The kinds of intervals of metrics that are no functions of a mean of ratios."""

from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts
from balframe.core.sample import Sample
from balframe.stats.base import Interval, LeastCount
from balframe.stats.batching import over_segments
from balframe.stats.cluster_influence import Influence
from balframe.stats.effective_sample_size import kish
from balframe.stats.geometric_mean import geometric, geometric_gate
from balframe.stats.kappa_mcc import Coefficient, effective_rows, influence_on_coefficient
from balframe.stats.limits_of_clusters import doubted
from balframe.stats.metric_intervals import lacks_label, limits_of_proportions, rows_of_rarest
from balframe.stats.proportions import Limits, normal_quantile
from balframe.stats.recalls_of_counts import recalls_of_labels
from balframe.stats.request import GATE, Request

_LEAST_ALONE, _LEAST_TOGETHER = 10, 100  # rows of each label, for limits that decide to hold


@dataclass(frozen=True, slots=True)
class GeometricMeanOfRecalls(Interval):
    """The geometric mean of the recalls of the labels present."""

    def method_of(self, asked: str | None) -> str:
        """Return the only method, the score method; limits for gates are exact."""
        return "exact" if asked == GATE else "score"

    def limits(self, sample: Sample, estimate: FloatArray, request: Request) -> Limits:
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

    def limits(self, sample: Sample, estimate: FloatArray, request: Request) -> Limits:
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

    def limits_of_clusters(self, sample: Sample, estimate: FloatArray, request: Request) -> Limits:
        """Compute limits of the inverse hyperbolic tangent, and transform them back."""
        if request.method == GATE:
            return self._gate_of_clusters(sample, estimate, request)
        influence = self.influence(sample)
        spread = np.sqrt(influence.at_least_of_rows)
        half = influence.quantile(request.level) * spread / (1 - estimate**2)
        return np.tanh(np.arctanh(estimate) - half), np.tanh(np.arctanh(estimate) + half)

    def _decides(self, c: ClassCounts, request: Request) -> BoolArray:
        """Return where labels have rows enough for limits that decide."""
        least = _LEAST_TOGETHER if request.n_together > 1 else _LEAST_ALONE
        return (c.min_support >= least) & (c.n_present > 1)

    def _gate_of_clusters(self, sample: Sample, estimate: FloatArray, request: Request) -> Limits:
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
