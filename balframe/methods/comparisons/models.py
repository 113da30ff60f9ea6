"""Two models on the same rows: limits of differences from the rows that only one gets right."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from balframe.api.interval_estimates import DesignEffects
from balframe.api.metric_selection import MetricSelection
from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.cells import LEFT_OUT, Cells
from balframe.core.class_counts import ClassCounts
from balframe.core.counting_strategy import blocks
from balframe.core.label_counts import LabelCounts
from balframe.core.maxima import Maxima
from balframe.core.row_sums import RowSums
from balframe.core.safe_divide import ratio
from balframe.core.sample import Sample
from balframe.core.threads import run_on_all_cores
from balframe.frames.counted_frame import CountedFrame
from balframe.stats.base import Interval
from balframe.stats.batching import group_by_label_count
from balframe.stats.clustered_means import (
    ClusteredMeans,
    LabelMeans,
    clustered_paired_limits,
    clustered_paired_p_value,
)
from balframe.stats.effective_sample_size import PairedRows, effective_paired_counts
from balframe.stats.mean_recall import Recalls
from balframe.stats.paired_differences import (
    PairedLimits,
    paired_gate_limits,
    paired_limits,
    paired_limits_at,
    paired_p_value,
)
from balframe.stats.proportions import Limits

_BLOCK_SIZE = 16_384  # recalls at work at once, so that the arrays between stay in the cache


def split_models(joint: CountedFrame) -> tuple[CountedFrame, CountedFrame]:
    """Split the counts of two models, which have their cells in the same order."""
    clusters = joint.clusters
    cells_by_model = _split_cells(joint.cells, len(joint.labels))
    if clusters is None:
        first, second = (replace(joint, cells=cells) for cells in cells_by_model)
        return first, second
    cluster_cells_by_model = _split_cells(clusters.cells, len(joint.labels))
    first, second = (
        replace(joint, cells=cells, clusters=replace(clusters, cells=cluster_cells))
        for cells, cluster_cells in zip(cells_by_model, cluster_cells_by_model, strict=True)
    )
    return first, second


def _split_cells(cells: Cells, n_labels: int) -> tuple[Cells, Cells]:
    """Return the cells of each model; an outcome of both is a pair of predictions."""
    outcomes = np.divmod(cells.outcome, max(n_labels, 1))
    is_left_out = cells.actual == LEFT_OUT
    first, second = (
        replace(cells, outcome=np.where(is_left_out, LEFT_OUT, codes)) for codes in outcomes
    )
    return first, second


@dataclass(frozen=True, slots=True)
class DiscordantRows:
    """Effective rows of each recall: those that only one model gets right, and all.

    They are those for lower limits of differences. `upper` are those for upper limits, None if they
    are the same.
    """

    segment: Int64Array
    label: Int64Array
    share: FloatArray
    only_first: FloatArray
    only_second: FloatArray
    n: FloatArray
    upper: PairedRows | None = None

    @property
    def difference(self) -> FloatArray:
        """Share of the rows that the first model alone gets right, less that of the second."""
        return (self.only_first - self.only_second) / self.n

    def at(self, entries: BoolArray) -> "DiscordantRows":
        """Take these entries."""
        return DiscordantRows(
            self.segment[entries],
            self.label[entries],
            self.share[entries],
            self.only_first[entries],
            self.only_second[entries],
            self.n[entries],
            _rows_at(self.upper, entries),
        )


def _rows_at(rows: PairedRows | None, entries: Int64Array | BoolArray) -> PairedRows | None:
    """Take rows at these positions, if there are any."""
    if rows is None:
        return None
    only_first, only_second, n = (values[entries] for values in rows)
    return only_first, only_second, n


def discordant_rows(
    interval: Interval, first: Cells, second: Cells, counts: ClassCounts
) -> DiscordantRows | None:
    """Count the rows on which two models differ, for a metric linear in recalls of true labels.

    None for other metrics, such as precision, whose denominator depends on the predictions.
    """
    weights = discordant_weights(interval, first, second, counts)
    if weights is None:
        return None
    (only_first, only_second, n), upper = effective_paired_counts(
        weights.sums, weights.squares, weights.largest
    )
    return DiscordantRows(
        weights.segment, weights.label, weights.share, only_first, only_second, n, upper
    )


@dataclass(frozen=True, slots=True)
class DiscordantWeights:
    """Weights of the rows of each recall, by which of two models gets them right.

    `sums`, and `squares` of weights, are those of rows that only the first gets right, only the
    second, and of all others; `largest` is None without weights, and rows then count 1.
    """

    segment: Int64Array
    label: Int64Array
    share: FloatArray
    sums: Sequence[FloatArray]
    squares: Sequence[FloatArray]
    largest: FloatArray | None


def discordant_weights(
    interval: Interval, first: Cells, second: Cells, counts: ClassCounts
) -> DiscordantWeights | None:
    """Add up the rows on which two models differ; None for metrics without paired tests."""
    if not interval.is_paired or not counts.n_labels:
        return None
    gains = _cell_gains(interval, first, second, counts)
    if gains is None:
        return None
    cells = gains.cell
    n_labels = int(gains.label.max(initial=0)) + 1
    key = first.segments[0][cells] * n_labels + gains.label
    keys, position, entry = np.unique(key, return_index=True, return_inverse=True)

    def total(values: FloatArray | Int64Array, share: FloatArray) -> FloatArray:
        some = np.flatnonzero(share)
        weights = values[cells[some]] * share[some]
        return np.asarray(np.bincount(entry[some], weights, len(keys)), np.float64)

    gain = gains.gain
    kinds = (np.maximum(gain, 0), np.maximum(-gain, 0), 1 - np.abs(gain))
    weight = first.n if first.weight is None else first.weight
    with np.errstate(over="ignore", under="ignore"):
        sums = [total(weight, kind) for kind in kinds]
        squares = [total(first.squares, kind) for kind in kinds]
    used = np.any(sums, axis=0)
    segment, label = np.divmod(keys, n_labels)
    label_weight = np.where(used, gains.weight[position], 0)
    total_weight = np.bincount(segment, weights=label_weight, minlength=counts.n_segments)
    share = ratio(label_weight, total_weight[segment])
    largest = None
    if first.sums.weight_max is not None:
        largest = np.asarray(Maxima.of(first.largest[cells]).in_groups(entry, len(keys)))[used]
    return DiscordantWeights(
        segment[used],
        label[used],
        share[used],
        [values[used] for values in sums],
        [values[used] for values in squares],
        largest,
    )


@dataclass(frozen=True, slots=True)
class _CellGains:
    """What the first model gains over the second in each row of a cell, from -1 to 1.

    `cell` is its position among all cells, `label` that of the recall that it belongs to, and
    `weight` the weight of this recall.
    """

    cell: Int64Array
    label: Int64Array
    weight: FloatArray
    gain: FloatArray


def _cell_gains(
    interval: Interval, first: Cells, second: Cells, counts: ClassCounts
) -> _CellGains | None:
    """Return the gains in all cells in use; None if the recalls of the models are others."""
    cells = np.flatnonzero(first.actual != LEFT_OUT)
    payoffs = [
        interval.payoffs(counts, model.actual[cells], model.outcome[cells])
        for model in (first, second)
    ]
    if payoffs[0] is not None and payoffs[1] is not None:
        gain = payoffs[0] - payoffs[1]
        return _CellGains(cells, np.zeros_like(cells), np.ones_like(gain), gain)
    r, r_second = (
        _cell_recalls(interval, model.actual[cells], model.outcome[cells], counts)
        for model in (first, second)
    )
    has_same_recalls = np.array_equal(r.segment, r_second.segment) and np.array_equal(
        r.label, r_second.label
    )
    if not has_same_recalls:
        return None
    gain = np.subtract(r.correct > 0, r_second.correct > 0, dtype=np.float64)
    return _CellGains(cells[r.segment], r.label, r.weight, gain)


def _cell_recalls(
    interval: Interval, actual: Int64Array, outcome: Int64Array, counts: ClassCounts
) -> Recalls:
    """Return the recalls of the metric in each cell, as if the cell were a segment of one row."""
    cells = Cells((np.arange(len(actual)),), actual, outcome, RowSums(np.ones_like(actual)))
    entries = LabelCounts.of(cells, counts.n_labels)
    c = ClassCounts.of(entries, pos_label=counts.pos_label, class_weight=counts.class_weight)
    recalls = interval.linear_recalls(c)
    assert recalls is not None
    return recalls.at(np.argsort(recalls.segment))


@dataclass(frozen=True)
class PairedModels:
    """Two models on the same rows, whose cells are in the same order."""

    first: Sample
    second: Sample

    @classmethod
    def of(cls, counted_frame: CountedFrame, selection: MetricSelection) -> "PairedModels":
        """Split two models whose predictions were counted together."""
        first, second = (selection.sample(model) for model in split_models(counted_frame))
        return cls(first, second)

    def at(self, segments: Int64Array) -> "PairedModels":
        """Take the segments at these positions."""
        return PairedModels(self.first.at(segments), self.second.at(segments))

    def discordant_rows(self, interval: Interval) -> DiscordantRows | None:
        """Count the rows that only one model gets right."""
        return self.first.once(
            (discordant_rows, id(interval)),
            lambda: discordant_rows(
                interval, self.first.cells(), self.second.cells(), self.first.counts
            ),
        )

    def limits_and_p_values(self, interval: Interval, level: float) -> tuple[Limits, FloatArray]:
        """Return limits and p-values of the differences, NaN for a metric without paired tests.

        If each row is a cluster of its own, rows are independent.
        """
        if (pairs := interval.pair_clusters(self.first, self.second)) is not None:
            return pairs.limits_and_p_values(level)
        discordant, n_segments = self.discordant_rows(interval), self.first.counts.n_segments
        limits = self._limits(interval, level, paired_limits, paired_limits_at)
        if discordant is None:
            return limits, np.full(n_segments, np.nan)
        means = self._clustered_means(interval)
        if means is None:
            return limits, _independent_p_values(discordant, n_segments)
        single = means.clusters.are_single
        own = _independent_p_values(discordant.at(single[discordant.segment]), n_segments)
        with np.errstate(invalid="ignore", divide="ignore"):
            p = clustered_paired_p_value(means)
        return limits, np.where(single, own, p)

    def gate_limits(self, interval: Interval, level: float) -> Limits:
        """Return the limits that decide: each the wider of two, with and without skewness."""
        if (pairs := interval.pair_clusters(self.first, self.second)) is not None:
            return pairs.gate_limits(level)
        wider = partial(paired_limits_at, wider=True)
        return self._limits(interval, level, paired_gate_limits, wider)

    def _limits(
        self, interval: Interval, level: float, limits: PairedLimits, limits_at: PairedLimits
    ) -> Limits:
        """Return limits of independent rows, at a level, or of clusters, at their quantiles."""
        c, discordant = self.first.counts, self.discordant_rows(interval)
        if discordant is None:
            low, high = np.full((2, c.n_segments), np.nan)
            return low, high
        means = self._clustered_means(interval)
        if means is None:
            low, high = _independent_limits(discordant, c.n_segments, level, limits)
        else:
            single = means.clusters.are_single
            own = _independent_limits(
                discordant.at(single[discordant.segment]), c.n_segments, level, limits
            )
            with np.errstate(invalid="ignore", divide="ignore"):
                clustered = clustered_paired_limits(
                    means,
                    discordant.only_first / discordant.n,
                    discordant.only_second / discordant.n,
                    level,
                    limits_at,
                )
            low, high = (np.where(single, *sides) for sides in zip(own, clustered, strict=True))
        origin = interval.rescaled(c, np.zeros(c.n_segments))
        return interval.rescaled(c, low) - origin, interval.rescaled(c, high) - origin

    def design_effects(self, interval: Interval) -> DesignEffects:
        """Return the effective clusters and the design effects of the differences."""
        means = None if interval.is_of_clusters else self._clustered_means(interval)
        if means is None:
            nothing = np.full(self.first.counts.n_segments, np.nan)
            return nothing, nothing
        with np.errstate(invalid="ignore", divide="ignore"):
            return means.influence.effective_clusters, means.design_effect

    def _clustered_means(self, interval: Interval) -> ClusteredMeans | None:
        """Return the mean differences of clusters; None without clusters or paired tests."""
        return self.first.once(
            (PairedModels, id(interval)), lambda: self._compute_clustered_means(interval)
        )

    def _compute_clustered_means(self, interval: Interval) -> ClusteredMeans | None:
        rows = self.discordant_rows(interval)
        first, second = self.first.clusters, self.second.clusters
        if rows is None or first is None or second is None:
            return None
        pairs = discordant_weights(
            interval, first.pairs.cells(), second.pairs.cells(), first.pairs.counts
        )
        assert pairs is not None
        difference = rows.difference
        spread = (rows.only_first + rows.only_second) / rows.n - difference**2
        n_of_side = rows.n, rows.n if rows.upper is None else rows.upper[2]
        n = np.fmin(*n_of_side)
        outer = LabelMeans(rows.segment, rows.label, n, rows.share, difference, spread, n_of_side)
        only_first, only_second, others = pairs.sums
        return outer.with_clusters(
            first,
            pairs.segment,
            pairs.label,
            only_first - only_second,
            only_first + only_second + others,
            sum(pairs.squares[1:], pairs.squares[0]),
        )


def _independent_limits(
    rows: DiscordantRows, n_segments: int, level: float, limits: PairedLimits
) -> Limits:
    """Return limits of differences if rows are independent."""
    low, high = np.full((2, n_segments), np.nan)

    def work(batch: tuple[Int64Array, Int64Array]) -> None:
        segments, entries = batch
        counts, upper = _columns(rows, entries)
        low[segments], high[segments] = limits(*counts, level, upper)

    run_on_all_cores(work, _batches(rows, n_segments))
    return low, high


def _independent_p_values(rows: DiscordantRows, n_segments: int) -> FloatArray:
    """Return p-values of differences if rows are independent."""
    p = np.full(n_segments, np.nan)

    def work(batch: tuple[Int64Array, Int64Array]) -> None:
        segments, entries = batch
        counts, upper = _columns(rows, entries)
        p[segments] = paired_p_value(*counts, upper)

    run_on_all_cores(work, _batches(rows, n_segments))
    return p


def _columns(
    rows: DiscordantRows, entries: Int64Array
) -> tuple[tuple[FloatArray, FloatArray, FloatArray, FloatArray], PairedRows | None]:
    """Return rows and weights of entries, and the rows for upper limits if they are others."""
    columns = (rows.only_first, rows.only_second, rows.n, rows.share)
    only_first, only_second, n, share = (values[entries] for values in columns)
    return (only_first, only_second, n, share), _rows_at(rows.upper, entries)


def _batches(rows: DiscordantRows, n_segments: int) -> Iterator[tuple[Int64Array, Int64Array]]:
    """Yield segments with equally many labels and a defined number of rows, in blocks."""
    order = np.arange(len(rows.segment))
    for segments, entries in group_by_label_count(rows.segment, n_segments, order):
        defined = np.flatnonzero(np.isfinite(rows.n[entries]).all(axis=1))
        size = max(_BLOCK_SIZE // entries.shape[1], 1)
        for block in blocks(slice(0, len(defined)), size):
            yield segments[defined[block]], entries[defined[block]]
