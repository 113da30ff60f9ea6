"""A metric that is linearised in every segment, and the influence of clusters on it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.cells import Cells
from balframe.core.safe_divide import ratio
from balframe.core.sample import Sample
from balframe.stats.cluster_influence import Influence, cr2_influence
from balframe.stats.delta_method import Linearisation
from balframe.stats.effective_sample_size import kish_effective_size
from balframe.stats.smoothed_cells import ObservedCells, SmoothedCells

# A metric as a proportion u of cells, with its derivatives.
Linearise = Callable[[SmoothedCells], Linearisation]


@dataclass(frozen=True)
class LinearisedMetric:
    """The linearisations of a metric whose cells are smoothed by rows of two weights."""

    linearise: Linearise
    cells: ObservedCells

    @classmethod
    def of(cls, linearise: Linearise, sample: Sample) -> "LinearisedMetric":
        """Linearise a metric of a sample, once for all levels."""
        return sample.once((cls, linearise), lambda: cls(linearise, ObservedCells.of(sample)))

    @cached_property
    def by_mean(self) -> Linearisation:
        """At cells smoothed by rows of the mean weight."""
        return self.linearise(SmoothedCells(self.cells, self.cells.weights.mean))

    @cached_property
    def by_largest(self) -> Linearisation:
        """At cells smoothed by rows of the largest weight."""
        if self.cells.counts.squares is None:
            return self.by_mean
        return self.linearise(SmoothedCells(self.cells, self.cells.weights.largest_of_segment))

    @cached_property
    def influence(self) -> FloatArray:
        """Influence of a row of each observed cell: the derivative at the cells as they are."""
        nothing = np.zeros(self.cells.counts.n_segments)
        return self.linearise(SmoothedCells(self.cells, nothing)).first


def cluster_influence(linearise: Linearise, sample: Sample, width: float) -> Influence:
    """Return the influence of each cluster on a metric: that of its rows, added up.

    The metric has a range of this width, so that its influence is `width` times that of u.
    """
    clusters = sample.clusters
    assert clusters is not None
    metric, cells = LinearisedMetric.of(linearise, sample), clusters.pairs.cells()
    pair = cells.segments[0]
    of_row = width * metric.influence[_positions(metric.cells, clusters.segment[pair], cells)]
    pairs = clusters.pairs.counts
    total, total_sq = pairs.total, pairs.squared.total
    weight = cells.n if cells.weight is None else cells.weight
    sums = np.bincount(pair, weights=weight * of_row, minlength=len(total))
    squares = np.bincount(pair, weights=cells.squares * of_row**2, minlength=len(total))
    segment_total = clusters.sum(total)
    iid_variance = ratio(clusters.sum(squares), segment_total**2)
    variance_share = ratio(total_sq, clusters.sum(total_sq)[clusters.segment])
    used = np.flatnonzero(total > 0)
    segment = clusters.segment[used]
    n = segment_total[segment]
    return Influence(
        segment,
        clusters.cluster[used],
        clusters.times[used],
        cr2_influence(sums[used], n, total[used] / n),
        iid_variance[segment] * variance_share[used],
        kish_effective_size(total[used], total_sq[used]),
        iid_variance,
    )


def _positions(observed: ObservedCells, segment: Int64Array, cells: Cells) -> Int64Array:
    """Return the positions of cells of these segments among those observed."""
    c, entries = observed.counts, observed.entries
    n_labels = c.n_labels
    keys = (entries.segment * n_labels + c.label[entries.true]) * n_labels
    keys = keys + c.label[entries.predicted]
    return np.searchsorted(keys, (segment * n_labels + cells.actual) * n_labels + cells.outcome)
