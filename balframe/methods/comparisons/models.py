"""Two models on the same rows: limits of differences from the rows that only one gets right."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

import numpy as np

from balframe.api.interval_estimates import Design
from balframe.api.metric_selection import Scoring
from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.cells import LEFT_OUT, Cells
from balframe.core.class_counts import ClassCounts
from balframe.core.counting_strategy import blocks
from balframe.core.label_counts import Entries
from balframe.core.row_sums import Measures
from balframe.core.safe_divide import ratio
from balframe.core.sample import Sample
from balframe.core.threads import on_all_cores
from balframe.frames.counted_frame import CountedFrame
from balframe.stats.base import Interval
from balframe.stats.batching import by_number_of_labels
from balframe.stats.clustered_means import (
    Labels,
    MeansOfClusters,
    paired_limits_of_clusters,
    paired_p_value_of_clusters,
)
from balframe.stats.mean_recall import Recalls
from balframe.stats.paired_differences import effective_pairs, paired_limits, paired_p_value
from balframe.stats.proportions import Limits

_BLOCK_SIZE = 16_384  # recalls at work at once, so that the arrays between stay in the cache


def split_models(joint: CountedFrame) -> tuple[CountedFrame, CountedFrame]:
    """Take either model from what was read of both together; their cells are in the same order."""
    clusters = joint.clusters
    of_cells = _split_cells(joint.cells, len(joint.labels))
    if clusters is None:
        one, other = (replace(joint, cells=cells) for cells in of_cells)
        return one, other
    of_clusters = _split_cells(clusters.cells, len(joint.labels))
    one, other = (
        replace(joint, cells=cells, clusters=replace(clusters, cells=held))
        for cells, held in zip(of_cells, of_clusters, strict=True)
    )
    return one, other


def _split_cells(cells: Cells, n_labels: int) -> tuple[Cells, Cells]:
    """Take the cells of either model from those of both."""
    outcomes = np.divmod(cells.outcome, max(n_labels, 1))
    is_left_out = cells.actual == LEFT_OUT
    one, other = (
        replace(cells, outcome=np.where(is_left_out, LEFT_OUT, codes)) for codes in outcomes
    )
    return one, other


@dataclass(frozen=True, slots=True)
class DiscordantRows:
    """Effective rows of recalls: those that only one model gets right, and all."""

    segment: Int64Array
    label: Int64Array
    share: FloatArray
    only_first: FloatArray
    only_second: FloatArray
    n: FloatArray

    @property
    def difference(self) -> FloatArray:
        """Share of the rows that the first model alone gets right, less that of the second."""
        return (self.only_first - self.only_second) / self.n

    def at(self, entries: BoolArray) -> "DiscordantRows":
        """Take these entries."""
        return DiscordantRows(*(getattr(self, one.name)[entries] for one in fields(self)))


def discordant_rows(
    interval: Interval, one: Cells, other: Cells, like: ClassCounts
) -> DiscordantRows | None:
    """Find the rows on which models differ, for a metric that is linear in recalls of true labels.

    None where it is not, as a precision: its denominator depends on the predictions.
    """
    if not interval.is_paired or not like.n_labels:
        return None
    counted = np.flatnonzero(one.actual != LEFT_OUT)
    r, r_other = (
        _cell_recalls(interval, c.actual[counted], c.outcome[counted], like) for c in (one, other)
    )
    same = np.array_equal(r.segment, r_other.segment) and np.array_equal(r.label, r_other.label)
    if not same:
        return None
    cells = counted[r.segment]
    n_labels = int(r.label.max(initial=0)) + 1
    key = one.segments[0][cells] * n_labels + r.label
    keys, first, entry = np.unique(key, return_index=True, return_inverse=True)

    def total(values: FloatArray | Int64Array, which: BoolArray) -> FloatArray:
        sums = np.bincount(entry[which], weights=values[cells[which]], minlength=len(keys))
        return np.asarray(sums, np.float64)

    is_right, is_other_right = r.correct > 0, r_other.correct > 0
    kinds = (is_right & ~is_other_right, is_other_right & ~is_right, is_right == is_other_right)
    weight = one.n if one.weight is None else one.weight
    with np.errstate(over="ignore", under="ignore"):
        sums = [total(weight, kind) for kind in kinds]
        squares = [total(one.squares, kind) for kind in kinds]
    used = np.any(sums, axis=0)
    segment, label = np.divmod(keys, n_labels)
    label_weight = np.where(used, r.weight[first], 0)
    whole = np.bincount(segment, weights=label_weight, minlength=like.n_segments)
    share = ratio(label_weight, whole[segment])
    rows = effective_pairs(*sums, *squares)
    return DiscordantRows(
        segment[used], label[used], share[used], *(of_kind[used] for of_kind in rows)
    )


def _cell_recalls(
    interval: Interval, actual: Int64Array, outcome: Int64Array, like: ClassCounts
) -> Recalls:
    """Ask a metric which part of it each cell is, as if the cell were one row on its own."""
    cells = Cells((np.arange(len(actual)),), actual, outcome, Measures(np.ones_like(actual)))
    entries = Entries.of(cells, like.n_labels)
    c = ClassCounts.of(entries, pos_label=like.pos_label, class_weight=like.class_weight)
    recalls = interval.linear_recalls(c)
    assert recalls is not None
    return recalls.at(np.argsort(recalls.segment))


@dataclass(frozen=True)
class PairedModels:
    """Two models on the same rows, whose cells are in the same order."""

    first: Sample
    second: Sample

    @classmethod
    def of(cls, reading: CountedFrame, scoring: Scoring) -> "PairedModels":
        """Take the models apart whose predictions were counted together."""
        one, other = (scoring.sample(model) for model in split_models(reading))
        return cls(one, other)

    def at(self, segments: Int64Array) -> "PairedModels":
        """Take the segments at these positions."""
        return PairedModels(self.first.at(segments), self.second.at(segments))

    def discordant_rows(self, interval: Interval) -> DiscordantRows | None:
        """Find the rows that only one model gets right."""
        return self.first.once(
            (discordant_rows, id(interval)),
            lambda: discordant_rows(
                interval, self.first.cells(), self.second.cells(), self.first.counts
            ),
        )

    def limits_and_p_values(self, interval: Interval, level: float) -> tuple[Limits, FloatArray]:
        """Find limits of the differences and p-values, undefined where the models are not paired.

        Where each row is a cluster of its own, rows are independent.
        """
        c, found, means = (
            self.first.counts,
            self.discordant_rows(interval),
            self._clustered_means(interval),
        )
        if found is None:
            low, high, p = np.full((3, c.n_segments), np.nan)
            return (low, high), p
        if means is None:
            (low, high), p = _independent_limits_and_p_values(found, c.n_segments, level)
        else:
            single = means.clusters.are_single
            (own_low, own_high), own_p = _independent_limits_and_p_values(
                found.at(single[found.segment]), c.n_segments, level
            )
            with np.errstate(invalid="ignore", divide="ignore"):
                low, high = paired_limits_of_clusters(
                    means, found.only_first, found.only_second, level
                )
                p = paired_p_value_of_clusters(means)
            low, high, p = (
                np.where(single, own, values)
                for own, values in ((own_low, low), (own_high, high), (own_p, p))
            )
        origin = interval.rescaled(c, np.zeros(c.n_segments))
        return (interval.rescaled(c, low) - origin, interval.rescaled(c, high) - origin), p

    def design_effects(self, interval: Interval) -> Design:
        """Give the effective clusters and the design effects of the differences."""
        means = self._clustered_means(interval)
        if means is None:
            nothing = np.full(self.first.counts.n_segments, np.nan)
            return nothing, nothing
        with np.errstate(invalid="ignore", divide="ignore"):
            return means.influence.effective_clusters, means.design_effect

    def _clustered_means(self, interval: Interval) -> MeansOfClusters | None:
        """Read the differences of the labels where models are paired and rows are in clusters."""
        return self.first.once(
            (PairedModels, id(interval)), lambda: self._compute_clustered_means(interval)
        )

    def _compute_clustered_means(self, interval: Interval) -> MeansOfClusters | None:
        found, one, other = (
            self.discordant_rows(interval),
            self.first.clusters,
            self.second.clusters,
        )
        if found is None or one is None or other is None:
            return None
        of_pairs = discordant_rows(
            interval, one.pairs.cells(), other.pairs.cells(), one.pairs.counts
        )
        assert of_pairs is not None
        difference = found.difference
        spread = (found.only_first + found.only_second) / found.n - difference**2
        outer = Labels(found.segment, found.label, found.n, found.share, difference, spread)
        total = of_pairs.only_first - of_pairs.only_second
        return outer.joined(one, of_pairs.segment, of_pairs.label, total, of_pairs.n)


def _independent_limits_and_p_values(
    found: DiscordantRows, n_segments: int, level: float
) -> tuple[Limits, FloatArray]:
    """Find limits and p-values where rows are independent."""
    low, high, p = np.full((3, n_segments), np.nan)

    def work(part: tuple[Int64Array, Int64Array]) -> None:
        segments, entries = part
        columns = (found.only_first, found.only_second, found.n, found.share)
        only_one, only_other, n, share = (values[entries] for values in columns)
        low[segments], high[segments] = paired_limits(only_one, only_other, n, share, level)
        p[segments] = paired_p_value(only_one, only_other, n, share)

    on_all_cores(work, _batches(found, n_segments))
    return (low, high), p


def _batches(found: DiscordantRows, n_segments: int) -> Iterator[tuple[Int64Array, Int64Array]]:
    """Put segments of equally many labels together, and cut them up; those of unknown rows go."""
    everything = np.arange(len(found.segment))
    for segments, entries in by_number_of_labels(found.segment, n_segments, everything):
        known = np.flatnonzero(np.isfinite(found.n[entries]).all(axis=1))
        size = max(_BLOCK_SIZE // entries.shape[1], 1)
        for block in blocks(slice(0, len(known)), size):
            yield segments[known[block]], entries[known[block]]
