"""The bootstrap: limits of any function of labels, from resampled counts.

The limits are percentiles of the function in resamples of a segment, drawn from its cells with
replacement. They hold for a smooth function of many rows. With few rows, and near an end of the
range, they are too narrow.

References
----------
B. Efron and R. J. Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.sample import Clusters, Sample
from balframe.stats.base import GATE, Interval, IntervalRequest
from balframe.stats.label_function import LabelFunction, LabelPairs, without_warnings
from balframe.stats.proportions import Limits

_BLOCK_SIZE = 2**20  # counts drawn at once
_LEAST_IN_TAIL = 10  # resamples beyond a limit, for its percentile to be known


@dataclass(frozen=True, slots=True)
class Bootstrap(Interval):
    """Percentiles of a function of labels in resamples of each segment.

    Every segment is drawn with the same seed, so that its limits depend on its own counts alone.
    There are no limits that decide: a percentile interval is too narrow in small segments.

    Parameters
    ----------
    function : LabelFunction
        The metric.
    n_resamples : int
        Number of resamples of each segment.
    seed : int
        Seed of the random numbers.
    """

    function: LabelFunction
    n_resamples: int
    seed: int

    @property
    def reason(self) -> str:
        """Why there are no limits that decide."""
        return "those of the bootstrap are too narrow where rows or errors are few"

    @property
    def kind(self) -> str:
        """What kind of interval it is."""
        return "bootstrap"

    def method_of(self, requested: str | None) -> str:
        """Return the only method; there is none for gates."""
        return "" if requested == GATE else "bootstrap"

    def limits(self, sample: Sample, estimate: FloatArray, request: IntervalRequest) -> Limits:
        """Compute percentiles from multinomial resamples of the cells of each segment."""
        lower, upper = np.full((2, len(estimate)), np.nan)
        if not self._has_limits(request):
            return lower, upper
        self.function.check(sample.counts)
        for pairs in LabelPairs.of_segments(sample.counts):
            if np.isfinite(estimate[pairs.segment]):
                values = self._evaluate(pairs, self._resamples(pairs.n))
                lower[pairs.segment], upper[pairs.segment] = percentiles(values, request.level)
        return lower, upper

    @property
    def has_clusters(self) -> bool:
        """Always: clusters are resampled as rows are."""
        return True

    def limits_of_clusters(
        self, sample: Sample, estimate: FloatArray, request: IntervalRequest
    ) -> Limits:
        """Compute percentiles from multinomial resamples of the clusters of each segment."""
        lower, upper = np.full((2, len(estimate)), np.nan)
        clusters = sample.clusters
        assert clusters is not None
        if not self._has_limits(request):
            return lower, upper
        self.function.check(sample.counts)
        # whose clusters are rows gets the limits of rows
        is_used = np.isfinite(estimate) & (clusters.n > 1) & ~clusters.are_single
        for pairs in LabelPairs.of_segments(sample.counts):
            if is_used[pairs.segment]:
                values = self._evaluate(pairs, self._cluster_resamples(pairs, clusters))
                lower[pairs.segment], upper[pairs.segment] = percentiles(values, request.level)
        return lower, upper

    def _has_limits(self, request: IntervalRequest) -> bool:
        """Return whether the limits are those of a report, and enough resamples are beyond them."""
        in_tail = self.n_resamples * (1 - request.level) / 2
        return request.method != GATE and in_tail > _LEAST_IN_TAIL - 1e-6

    def _evaluate(self, pairs: LabelPairs, resamples: Iterator[Int64Array]) -> FloatArray:
        """Evaluate the function in every resample, and only once in those with equal counts."""
        by_counts: dict[bytes, float] = {}
        values = []
        with without_warnings():  # they are about resamples, not about the data
            for n in resamples:
                key = n.tobytes()
                if key not in by_counts:
                    by_counts[key] = self.function.evaluate(pairs, n, "in a bootstrap resample ")
                values.append(by_counts[key])
        return np.array(values)

    def _resamples(self, n: Int64Array) -> Iterator[Int64Array]:
        """Draw as many of these as there are, with replacement, each time."""
        rng, total = np.random.default_rng(self.seed), int(n.sum())
        block = max(_BLOCK_SIZE // len(n), 1)
        for begin in range(0, self.n_resamples, block):
            size = min(block, self.n_resamples - begin)
            yield from rng.multinomial(total, n / total, size=size)

    def _cluster_resamples(self, pairs: LabelPairs, clusters: Clusters) -> Iterator[Int64Array]:
        """Draw clusters of a segment with replacement, and add up their cells."""
        own = np.flatnonzero(clusters.segment == pairs.segment)
        cells = clusters.pairs.at(own).counts.confusion_cells()
        n_labels = clusters.pairs.counts.n_labels
        pair = np.searchsorted(pairs.key, cells.actual * n_labels + cells.outcome)
        for times in self._resamples(clusters.times[own]):
            n = np.zeros(len(pairs.n), np.int64)
            np.add.at(n, pair, times[cells.by[0]] * cells.n)
            yield n


def percentiles(values: FloatArray, level: float) -> Limits:
    """Return the limits between which the values lie, but for an equal tail on either side.

    Undefined values count as lowest for the lower limit, and as highest for the upper one. Both
    limits are NaN if either is undefined, or if they are equal: then the resamples say nothing.
    """
    tail, is_undefined = (1 - level) / 2, np.isnan(values)
    lower = np.quantile(np.where(is_undefined, -np.inf, values), tail, method="lower")
    upper = np.quantile(np.where(is_undefined, np.inf, values), 1 - tail, method="higher")
    if not np.isfinite([lower, upper]).all() or lower == upper:
        return np.array(np.nan), np.array(np.nan)
    return lower, upper
