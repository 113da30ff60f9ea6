"""The power in batches of segments: by scores, by items, by differences, and by planned models."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts
from balframe.core.counting_strategy import blocks
from balframe.core.safe_divide import ratio
from balframe.core.sample import Sample
from balframe.core.threads import run_on_all_cores
from balframe.methods.comparisons.segments import restrict_to_shared_labels
from balframe.methods.gates.baseline import Baseline, PairedBaseline
from balframe.methods.gates.power_designs import PairedDesign, RecallDesign
from balframe.methods.gates.power_functions import ScorePower
from balframe.methods.gates.power_of_items import Difficulty, ItemPower
from balframe.methods.gates.power_of_proportions import ProportionPower, RandomRows
from balframe.metrics.registry import Metric
from balframe.stats.batching import group_by_label_count
from balframe.stats.constrained_mle_paired import PairedCounts
from balframe.stats.differences import difference_as_mean_recall
from balframe.stats.lazy_scipy import special
from balframe.stats.mean_recall import Recalls, is_by_prevalence

RELIABILITY = ("exact", "good", "rough")
EXACT, GOOD, ROUGH = range(3)
_MIN_ROWS = 30  # right or wrong rows of a label
_MAX_RANDOM_LABELS = 2
_BLOCK_SIZE = 512  # segments, or pairs of a segment and a power, at work at once
_MIN_ITEMS = 10  # times the mean, and times 1 less the mean: with fewer, it is hardly normal
_MIN_DISCORDANT_ROWS = 40  # rows of a label that only one of two models gets right


@dataclass(frozen=True, slots=True)
class PowerTarget:
    """The bound of a score or difference, and the tail probability of the limits that decide.

    With `is_lower_bound`, the score should not be below the bound, otherwise not above it. Samples
    of `n` rows are decided if the smallest denominator has at least `min_support` rows. Where rows
    are in clusters, these are effective rows: all rows over the `design_effect` of the segment.
    """

    bound: float
    is_lower_bound: bool
    tail: FloatArray
    n: FloatArray
    min_support: int
    design_effect: FloatArray

    def effective(self, segments: Int64Array, *rows: FloatArray) -> list[FloatArray]:
        """Return the effective rows of the labels of segments, of the shape (segments, labels)."""
        return [values / self.design_effect[segments, None] for values in rows]

    def random_rows(
        self, metric: Metric, c: ClassCounts, segments: Int64Array, supports: FloatArray
    ) -> RandomRows | None:
        """Return how the rows of one or two labels vary; None where they are taken as fixed.

        They are fixed for more labels, and where labels are weighted by their prevalence.
        """
        n_labels = supports.shape[1]
        if n_labels > _MAX_RANDOM_LABELS or _is_by_prevalence(metric, c):
            return None
        total = self.n[segments] if n_labels == 1 else supports.sum(axis=1)
        return RandomRows(total, n_labels, self.min_support)


@dataclass(frozen=True, slots=True)
class PowerResult:
    """The power in every segment; arrays of two dimensions have one column for each power."""

    pass_probability: FloatArray
    detectable_difference: FloatArray
    rows_needed: FloatArray
    clusters_needed: FloatArray
    rows_needed_per_label: FloatArray
    reliability: Int64Array

    @classmethod
    def undefined(cls, n_segments: int, n_powers: int) -> "PowerResult":
        """Return a result in which all numbers are NaN."""
        difference, rows, clusters, per_label = np.full((4, n_segments, n_powers), np.nan)
        probability, reliability = (
            np.full(n_segments, np.nan),
            np.full(n_segments, len(RELIABILITY)),
        )
        return cls(probability, difference, rows, clusters, per_label, reliability)


@dataclass(frozen=True, slots=True)
class _SegmentBatch:
    """The power in segments of equally many labels: with their rows, and one row of each label.

    A difference times `scale` is one of the metric.
    """

    segments: Int64Array
    observed: ScorePower | ProportionPower | ItemPower
    one_per_label: ScorePower | ProportionPower | ItemPower
    scale: FloatArray
    reliability: Int64Array


@dataclass(frozen=True, slots=True)
class RowPlan:
    """The planned rows and clusters of every segment; clusters are NaN if rows are in none.

    The design effect is that of the planned rows. With `has_whole_clusters`, rows are planned as
    clusters of the same number of rows.
    """

    n: FloatArray
    clusters: FloatArray
    design_effect: FloatArray
    has_whole_clusters: bool = False


def power_result(
    metric: Metric,
    c: ClassCounts,
    batches: Sequence[_SegmentBatch],
    powers: Sequence[float],
    plan: RowPlan,
) -> PowerResult:
    """Return the power in all segments, with the planned rows."""
    result = PowerResult.undefined(c.n_segments, len(powers))

    def work(batch: _SegmentBatch) -> None:
        at = batch.segments
        result.pass_probability[at] = batch.observed.pass_probability()
        result.reliability[at] = batch.reliability
        for pairs in blocks(slice(0, len(at) * len(powers)), _BLOCK_SIZE):
            rows, numbers = np.divmod(np.arange(pairs.start, pairs.stop), len(powers))
            pair, power = (at[rows], numbers), np.asarray(powers)[numbers]
            observed = batch.observed.at(rows)
            difference = observed.detectable_difference(power)
            result.detectable_difference[pair] = difference * batch.scale[rows]
            factor = observed.sample_size_factor(power)
            size = plan.n[pair[0]] / plan.clusters[pair[0]]
            result.clusters_needed[pair] = _round_up(factor * plan.clusters[pair[0]])
            result.rows_needed[pair] = np.where(
                plan.has_whole_clusters,
                _round_up(result.clusters_needed[pair] * size),
                _round_up(factor * plan.n[pair[0]]),
            )
            if _can_plan_labels(metric, c):
                factor = batch.one_per_label.at(rows).sample_size_factor(power)
                result.rows_needed_per_label[pair] = _round_up(factor * plan.design_effect[pair[0]])

    run_on_all_cores(work, batches)
    return result


def score_batches(
    metric: Metric, c: ClassCounts, is_evaluable: BoolArray, target: PowerTarget
) -> Iterator[_SegmentBatch]:
    """Iterate over the evaluable segments of a rule on scores."""
    r = _linear_recalls(metric, c)
    intercept, slope = _intercept_and_slope(metric, c, r)
    bounds = (target.bound - intercept) / slope
    for segments, x, n, a in _batches_by_number_of_labels(r, is_evaluable):
        x, n = target.effective(segments, x, n)
        bound, tail = bounds[segments], target.tail[segments]
        row, powers = np.ones_like(n), list[ScorePower | ProportionPower]()
        if n.shape[1] == 1:
            bound = np.clip(bound, 0, 1)
            for right, rows, total in ((x, n, target.n[segments]), (x / n, row, row[:, 0])):
                powers.append(
                    ProportionPower(right[:, 0], rows[:, 0], bound, tail, total, target.min_support)
                )
        else:
            z, sampling = -special.ndtri(tail), target.random_rows(metric, c, segments, n)
            powers = [
                ScorePower.of(RecallDesign.of(right, rows, a), bound, z, random)
                for right, rows, random in ((x, n, sampling), (x / n, row, None))
            ]
        reliability = _reliability(_has_few_rows(x, n))
        if n.shape[1] == 1:
            reliability = np.full(len(n), EXACT)
        yield _make_batch(segments, powers, slope[segments], reliability, target)


def item_plan(metric: Metric, sample: Sample, trials: int | None) -> RowPlan:
    """Return the planned trials and items; without `trials`, those of items with enough trials."""
    clusters = sample.clusters
    assert clusters is not None
    n = clusters.pairs.counts.n
    used = np.ones(len(n), np.bool_)
    if trials is None:
        used = n >= metric.interval.trials_needed
    items = clusters.sum(used)
    rows = clusters.sum(np.where(used, n, 0)) if trials is None else items * trials
    return RowPlan(rows, items, np.full(len(items), np.nan), has_whole_clusters=True)


def item_batches(
    metric: Metric,
    sample: Sample,
    estimate: FloatArray,
    is_evaluable: BoolArray,
    target: PowerTarget,
    plan: RowPlan,
) -> Iterator[_SegmentBatch]:
    """Iterate over the evaluable segments of a rule on a mean over items, such as pass@k."""
    clusters = sample.clusters
    assert clusters is not None
    difficulty = Difficulty.of(clusters, metric.interval.trials_needed)
    used = np.flatnonzero(is_evaluable)
    for at in (used[block] for block in blocks(slice(0, len(used)), _BLOCK_SIZE)):
        trials = np.round(plan.n[at] / plan.clusters[at])
        items, correlation = plan.clusters[at], difficulty.at(at).correlation
        power = ItemPower.of(
            metric.interval, trials, items, estimate[at], correlation, target.bound, target.tail[at]
        )
        has_few = np.minimum(estimate[at], 1 - estimate[at]) * items < _MIN_ITEMS
        reliability = _reliability(np.asarray(has_few))
        yield _make_batch(at, [power, power], np.ones(len(at)), reliability, target)


def difference_batches(
    metric: Metric,
    baseline: Baseline,
    segments: Int64Array,
    is_evaluable: BoolArray,
    target: PowerTarget,
) -> Iterator[_SegmentBatch]:
    """Iterate over the evaluable segments of a rule on differences from a baseline."""
    if isinstance(baseline, PairedBaseline):
        yield from _paired_batches(metric, baseline, segments, is_evaluable, target)
        return
    now, before = restrict_to_shared_labels(*baseline.counts(segments))
    recalls, baseline_recalls = (_linear_recalls(metric, c) for c in (now, before))
    _, slope = _intercept_and_slope(metric, now, recalls)
    batches = (_batches_by_number_of_labels(r, is_evaluable) for r in (recalls, baseline_recalls))
    for (at, x, n, a), (_, y, m, _) in zip(*batches, strict=True):
        x, n, y, m = target.effective(at, x, n, y, m)
        z = -special.ndtri(target.tail[at])
        bound = (1 + target.bound / slope[at]) / 2
        row = np.ones_like(n)
        powers = [
            ScorePower.of(RecallDesign.of(*difference_as_mean_recall(*counts, a)), bound, z, random)
            for counts, random in (
                ((x, n, y, m), target.random_rows(metric, now, at, n)),
                ((x / n, row, y / m, row), None),
            )
        ]
        few = _has_few_rows(x, n) | _has_few_rows(y, m)
        yield _make_batch(at, powers, 2 * slope[at], _reliability(few), target)


def _paired_batches(
    metric: Metric,
    baseline: PairedBaseline,
    segments: Int64Array,
    is_evaluable: BoolArray,
    target: PowerTarget,
) -> Iterator[_SegmentBatch]:
    if not is_evaluable.any():
        return
    counts, _ = baseline.counts(segments)
    discordant = baseline.discordant_rows(metric, segments)
    assert discordant is not None
    _, slope = _intercept_and_slope(metric, counts, _linear_recalls(metric, counts))
    order = np.arange(len(discordant.segment))
    for at, entries in _in_blocks(
        group_by_label_count(discordant.segment, counts.n_segments, order), is_evaluable
    ):
        columns = (discordant.only_first, discordant.only_second, discordant.n, discordant.share)
        b, c, n, a = (values[entries] for values in columns)
        b, c, n = target.effective(at, b, c, n)
        sampling = target.random_rows(metric, counts, at, n)
        yield _paired_batch(at, b, c, n, a, slope[at], target, sampling)


def planned_model_batches(
    metric: Metric,
    c: ClassCounts,
    is_evaluable: BoolArray,
    target: PowerTarget,
    disagreement: float,
) -> Iterator[_SegmentBatch]:
    """Iterate over the evaluable segments of a comparison with a model without predictions yet.

    It gets as many rows right. On this share of the rows of each label, only one of the two does.
    """
    r = _linear_recalls(metric, c)
    _, slope = _intercept_and_slope(metric, c, r)
    for at, _, n, a in _batches_by_number_of_labels(r, is_evaluable):
        (n,) = target.effective(at, n)
        half = n * disagreement / 2
        sampling = target.random_rows(metric, c, at, n)
        yield _paired_batch(at, half, half, n, a, slope[at], target, sampling)


def _paired_batch(
    at: Int64Array,
    b: FloatArray,
    c: FloatArray,
    n: FloatArray,
    a: FloatArray,
    slope: FloatArray,
    target: PowerTarget,
    sampling: RandomRows | None,
) -> _SegmentBatch:
    z, bound = -special.ndtri(target.tail[at]), target.bound / slope
    powers = [
        ScorePower.of(PairedDesign(PairedCounts.of(*counts, a)), bound, z, random)
        for counts, random in (((b, c, n), sampling), ((b / n, c / n, np.ones_like(n)), None))
    ]
    few = np.asarray((b + c < _MIN_DISCORDANT_ROWS).any(axis=1))
    return _make_batch(at, powers, slope, _reliability(few), target)


def _make_batch(
    segments: Int64Array,
    powers: Sequence[ScorePower | ProportionPower | ItemPower],
    scale: FloatArray,
    reliability: Int64Array,
    target: PowerTarget,
) -> _SegmentBatch:
    observed, one_per_label = (
        power if target.is_lower_bound else power.mirrored for power in powers
    )
    return _SegmentBatch(segments, observed, one_per_label, scale, reliability)


def _has_few_rows(x: FloatArray, n: FloatArray) -> BoolArray:
    """Return whether a label of each segment has few right or few wrong rows."""
    return np.asarray((np.minimum(x, n - x) < _MIN_ROWS).any(axis=1))


def _reliability(few: BoolArray) -> Int64Array:
    return np.where(few, ROUGH, GOOD)


def _batches_by_number_of_labels(
    r: Recalls, is_evaluable: BoolArray
) -> Iterator[tuple[Int64Array, FloatArray, FloatArray, FloatArray]]:
    """Iterate over segments of equally many labels, with x, n and weights of their recalls."""
    entries = np.flatnonzero(is_evaluable[r.segment])
    selected = r.at(entries[np.lexsort((r.label[entries], r.segment[entries]))])
    x, n, weight = selected.effective_counts()
    groups = group_by_label_count(selected.segment, len(is_evaluable), np.arange(len(x)))
    for segments, label_entries in _in_blocks(groups, is_evaluable):
        yield segments, x[label_entries], n[label_entries], weight[label_entries]


def _in_blocks(
    groups: Iterable[tuple[Int64Array, Int64Array]], is_evaluable: BoolArray
) -> Iterator[tuple[Int64Array, Int64Array]]:
    """Iterate over blocks of evaluable segments, so that arrays of their samples stay small."""
    for segments, entries in groups:
        rows = np.flatnonzero(is_evaluable[segments])
        for block in blocks(slice(0, len(rows)), _BLOCK_SIZE):
            yield segments[rows[block]], entries[rows[block]]


def _linear_recalls(metric: Metric, c: ClassCounts) -> Recalls:
    r = metric.interval.linear_recalls(c)
    assert r is not None
    return r


def _intercept_and_slope(
    metric: Metric, c: ClassCounts, r: Recalls
) -> tuple[FloatArray, FloatArray]:
    """Return the metric if no row is right, and how much higher it is if all are.

    Both are NaN without rows.
    """
    weight = np.bincount(r.segment, weights=r.weight, minlength=c.n_segments)
    share = ratio(np.where(weight > 0, weight, np.nan), r.divisor)
    intercept = metric.interval.rescaled(c, np.zeros(c.n_segments))
    return intercept, metric.interval.rescaled(c, share) - intercept


def _can_plan_labels(metric: Metric, c: ClassCounts) -> bool:
    """Return whether the rows of each label can be planned, as they cannot for a share of all."""
    has_labels = metric.interval.least_count == "min_support"
    return has_labels and not _is_by_prevalence(metric, c)


def _is_by_prevalence(metric: Metric, c: ClassCounts) -> bool:
    """Return whether the weight of each label in a metric is its share of the rows."""
    return "class_weight" in metric.needs and is_by_prevalence(c)


def _round_up(rows: FloatArray) -> FloatArray:
    """Round up, except for excess that rounding errors explain."""
    return np.ceil(rows * (1 - 1e-12))
