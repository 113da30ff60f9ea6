"""What limits are computed from: counts of segments, their cells, and their clusters."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.cells import LEFT_OUT, Cells, segment_positions, segment_ranges
from balframe.core.class_counts import ClassCounts, segments_at
from balframe.core.label_counts import LabelCounts
from balframe.core.strata import Strata

T = TypeVar("T")


@dataclass(frozen=True)
class Sample:
    """The input of an interval: class counts, and cells for kinds that need the full matrix.

    `cells` is a function, because adding up the cells takes time and most kinds do not need them.
    `clusters` are None where rows are independent, and `strata` where all rows have a true label.
    """

    counts: ClassCounts
    cells: Callable[[], Cells]
    clusters: "Clusters | None" = None
    strata: Strata | None = None
    _computed: dict[Hashable, Any] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        """Let metrics of clusters find them among the counts."""
        if self.clusters is not None:
            object.__setattr__(self, "counts", replace(self.counts, clusters=self.clusters))

    @property
    def n(self) -> Int64Array:
        """Rows of each segment, also those without a true label."""
        return self.counts.n if self.strata is None else self.strata.n.astype(np.int64)

    @property
    def is_partly_labelled(self) -> bool:
        """Whether some rows have no true label."""
        return self.strata is not None and not self.strata.are_whole

    def at(self, segments: Int64Array) -> "Sample":
        """Take the segments at these positions, in this order and as often as they are given."""
        return Sample(
            segments_at(self.counts, segments),
            lambda: self.cells().at(segments),
            None if self.clusters is None else self.clusters.at(segments),
            None if self.strata is None else self.strata.at(segments).without_padding(),
        )

    def once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Compute what several metrics share only once."""
        if key not in self._computed:
            self._computed[key] = compute()
        value: T = self._computed[key]
        return value


@dataclass(frozen=True)
class Clusters:
    """The rows of each cluster in each segment, as a sample with a segment for each such pair.

    Parameters
    ----------
    segment, cluster : int64 arrays, shape (pairs,)
        Position of the segment, and code of the cluster. Pairs are ascending by segment.
    times : int64 array, shape (pairs,)
        Of how many clusters with the same rows the pair stands.
    pairs : Sample
        Counts and cells of the pairs.
    n_segments : int
        Number of segments.
    """

    segment: Int64Array
    cluster: Int64Array
    times: Int64Array
    pairs: Sample
    n_segments: int

    @classmethod
    def of(cls, cells: Cells, like: ClassCounts) -> "Clusters":
        """Count the cells of segments, whose last by-column is the cluster.

        `like` are the class counts of the segments, which have the options of metrics.
        """
        segment = segment_positions(cells.by[:-1], len(cells.n))
        kept = np.flatnonzero(cells.actual != LEFT_OUT)
        cluster_cells = Cells(
            (segment[kept], cells.by[-1][kept]),
            cells.actual[kept],
            cells.outcome[kept],
            cells.sums.at(kept),
        )
        return cls.of_pairs(cluster_cells, np.ones(len(cluster_cells.segments[1]), np.int64), like)

    @classmethod
    def of_pairs(cls, cells: Cells, times: Int64Array, like: ClassCounts) -> "Clusters":
        """Count cells whose by-columns are the position of the segment, and the cluster."""
        _, first = cells.segments
        segment, cluster = (codes[first] for codes in cells.by)
        counts = ClassCounts.of(
            LabelCounts.of(cells, like.n_labels),
            pos_label=like.pos_label,
            class_weight=like.class_weight,
            absent=like.absent,
            labels=like.labels,
        )
        return cls(segment, cluster, times, Sample(counts, lambda: cells), like.n_segments)

    def at(self, segments: Int64Array) -> "Clusters":
        """Take the segments at these positions, in this order and as often as they are given."""
        pairs, segment = segment_ranges(self.segment, self.n_segments, segments)
        return Clusters(
            segment, self.cluster[pairs], self.times[pairs], self.pairs.at(pairs), len(segments)
        )

    def sum(self, values: FloatArray | Int64Array | BoolArray) -> FloatArray:
        """Add up over the clusters of each segment what each pair has."""
        sums = np.bincount(self.segment, weights=values * self.times, minlength=self.n_segments)
        return np.asarray(sums, np.float64)

    @cached_property
    def n(self) -> Int64Array:
        """Clusters of each segment."""
        return self.sum(np.ones(len(self.segment))).astype(np.int64)

    @cached_property
    def are_rows(self) -> bool:
        """Whether every cluster has one row, in all segments together."""
        rows = np.bincount(np.unique(self.cluster, return_inverse=True)[1], self.pairs.counts.n)
        return bool((rows <= 1).all())

    @cached_property
    def are_single(self) -> BoolArray:
        """Whether all clusters of a segment have one row."""
        return np.asarray(self.sum(self.pairs.counts.n > 1) == 0)
