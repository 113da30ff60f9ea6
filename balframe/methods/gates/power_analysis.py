"""What a gate can see in every segment: chances, differences that it detects, and rows needed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts
from balframe.core.safe_divide import ratio
from balframe.methods.comparisons.segments import on_shared_labels
from balframe.methods.gates.baseline_differences import Baseline, Paired
from balframe.methods.gates.power_designs import OfPairs, OfRecalls
from balframe.methods.gates.power_functions import Planned, PlannedProportion, uncorrected
from balframe.metrics.registry import Metric
from balframe.stats.batching import by_number_of_labels
from balframe.stats.constrained_mle_paired import Pairs
from balframe.stats.differences import stacked
from balframe.stats.lazy_scipy import special
from balframe.stats.mean_recall import Recalls

RELIABILITY = ("exact", "good", "rough")
_EXACT, _GOOD, _ROUGH = range(3)
_FEW = 30  # right or wrong rows of a label
_FEW_DISCORDANT = 40  # rows of a label that only one of two models gets right


@dataclass(frozen=True, slots=True)
class Goal:
    """The bound of a score, or of a difference, and the tails of the limits that decide.

    `is_least`: the score should not be below the bound; otherwise not above it.
    """

    bound: float
    is_least: bool
    tails: FloatArray


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a gate can see: one row for each segment, one column for each power."""

    probability_pass: FloatArray
    detectable: FloatArray
    n_needed: FloatArray
    n_needed_per_label: FloatArray
    reliability: Int64Array

    @classmethod
    def unknown(cls, n_segments: int, n_powers: int) -> "Forecast":
        """Know nothing yet."""
        detectable, n_needed, n_needed_per_label = np.full((3, n_segments, n_powers), np.nan)
        chance, reliability = np.full(n_segments, np.nan), np.full(n_segments, len(RELIABILITY))
        return cls(chance, detectable, n_needed, n_needed_per_label, reliability)


@dataclass(frozen=True, slots=True)
class Part:
    """Segments of equally many labels: the plan for their rows, and for one row of each label.

    `scale` is what a difference of plans is multiplied by to be one of the metric.
    """

    segments: Int64Array
    plan: Planned | PlannedProportion
    equal: Planned | PlannedProportion
    scale: FloatArray
    reliability: Int64Array


def forecast(
    metric: Metric, n: Int64Array, c: ClassCounts, parts: Sequence[Part], powers: Sequence[float]
) -> Forecast:
    """Put the plans of all segments together; `n` are their rows."""
    out = Forecast.unknown(len(n), len(powers))
    for part in parts:
        at = part.segments
        out.probability_pass[at] = part.plan.chance_to_pass()
        out.reliability[at] = part.reliability
        for number, power in enumerate(powers):
            out.detectable[at, number] = part.plan.detectable(power) * part.scale
            factor = part.plan.factor_needed(power)
            out.n_needed[at, number] = _whole(factor * n[at])
            if _has_label_of_its_own(metric, c):
                out.n_needed_per_label[at, number] = _whole(part.equal.factor_needed(power))
    return out


def alone(metric: Metric, c: ClassCounts, known: BoolArray, goal: Goal) -> Iterator[Part]:
    """Plan rules on scores, where they are known."""
    r = _recalls(metric, c)
    zero, slope = _line(metric, c, r)
    bounds = (goal.bound - zero) / slope
    for segments, x, n, a in _by_number_of_labels(r, known):
        bound, tail = bounds[segments], goal.tails[segments]
        one = np.ones_like(n)
        plans: list[Planned | PlannedProportion] = []
        for right, rows in ((x, n), (x / n, one)):
            if n.shape[1] == 1:
                plans.append(PlannedProportion(right[:, 0], rows[:, 0], np.clip(bound, 0, 1), tail))
            else:
                z = -special.ndtri(tail)
                plans.append(Planned.of(OfRecalls.of(right, rows, a), bound, z))
        reliability = _reliability(_are_few(x, n))
        if n.shape[1] == 1:
            reliability = np.full(len(n), _EXACT)
        yield _part(segments, plans, slope[segments], reliability, goal)


def beside(
    metric: Metric, baseline: Baseline, segments: Int64Array, known: BoolArray, goal: Goal
) -> Iterator[Part]:
    """Plan rules on differences from a baseline, where they are known."""
    if isinstance(baseline, Paired):
        yield from _paired(metric, baseline, segments, known, goal)
        return
    now, before = on_shared_labels(*baseline.counts(segments))
    one, other = (_recalls(metric, c) for c in (now, before))
    _, slope = _line(metric, now, one)
    of_sides = (_by_number_of_labels(r, known) for r in (one, other))
    for (at, x, n, a), (_, y, m, _) in zip(*of_sides, strict=True):
        z = -special.ndtri(goal.tails[at])
        bound = (1 + goal.bound / slope[at]) / 2
        row = np.ones_like(n)
        plans = [
            Planned.of(OfRecalls.of(*stacked(*counts, a)), bound, z)
            for counts in ((x, n, y, m), (x / n, row, y / m, row))
        ]
        few = _are_few(x, n) | _are_few(y, m)
        yield _part(at, plans, 2 * slope[at], _reliability(few), goal)


def _paired(
    metric: Metric, baseline: Paired, segments: Int64Array, known: BoolArray, goal: Goal
) -> Iterator[Part]:
    if not known.any():
        return
    like, _ = baseline.counts(segments)
    found = baseline.discordant(metric, segments)
    assert found is not None
    _, slope = _line(metric, like, _recalls(metric, like))
    order = np.arange(len(found.segment))
    for at, entries in by_number_of_labels(found.segment, like.n_segments, order):
        is_known = known[at]
        at, entries = at[is_known], entries[is_known]
        columns = (found.only_one, found.only_other, found.n, found.share)
        b, c, n, a = (values[entries] for values in columns)
        yield _of_pairs(at, b, c, n, a, slope[at], goal)


def without_predictions(
    metric: Metric, c: ClassCounts, known: BoolArray, goal: Goal, disagreement: float
) -> Iterator[Part]:
    """Plan a comparison with a model whose predictions are not known yet.

    It gets as many rows right; on this share of the rows of each label, only one of the two does.
    """
    r = _recalls(metric, c)
    _, slope = _line(metric, c, r)
    for at, _, n, a in _by_number_of_labels(r, known):
        half = n * disagreement / 2
        yield _of_pairs(at, half, half, n, a, slope[at], goal)


def _of_pairs(
    at: Int64Array,
    b: FloatArray,
    c: FloatArray,
    n: FloatArray,
    a: FloatArray,
    slope: FloatArray,
    goal: Goal,
) -> Part:
    z, bound = -special.ndtri(goal.tails[at]), goal.bound / slope
    plans = [
        Planned.of(OfPairs(Pairs.of(*counts, a)), bound, z, uncorrected)
        for counts in ((b, c, n), (b / n, c / n, np.ones_like(n)))
    ]
    few = np.asarray((b + c < _FEW_DISCORDANT).any(axis=1))
    return _part(at, plans, slope, _reliability(few), goal)


def _part(
    segments: Int64Array,
    plans: Sequence[Planned | PlannedProportion],
    scale: FloatArray,
    reliability: Int64Array,
    goal: Goal,
) -> Part:
    plan, equal = (one if goal.is_least else one.turned for one in plans)
    return Part(segments, plan, equal, scale, reliability)


def _are_few(x: FloatArray, n: FloatArray) -> BoolArray:
    """Tell whether a label of a segment has few right or few wrong rows."""
    return np.asarray((np.minimum(x, n - x) < _FEW).any(axis=1))


def _reliability(few: BoolArray) -> Int64Array:
    return np.where(few, _ROUGH, _GOOD)


def _by_number_of_labels(
    r: Recalls, known: BoolArray
) -> Iterator[tuple[Int64Array, FloatArray, FloatArray, FloatArray]]:
    """Put segments of equally many labels together, with x, n and weights of their recalls."""
    entries = np.flatnonzero(known[r.segment])
    own = r.at(entries[np.lexsort((r.label[entries], r.segment[entries]))])
    x, n, weight = own.in_effective_rows()
    for segments, of_labels in by_number_of_labels(own.segment, len(known), np.arange(len(x))):
        yield segments, x[of_labels], n[of_labels], weight[of_labels]


def _recalls(metric: Metric, c: ClassCounts) -> Recalls:
    r = metric.interval.linear_recalls(c)
    assert r is not None
    return r


def _line(metric: Metric, c: ClassCounts, r: Recalls) -> tuple[FloatArray, FloatArray]:
    """Find what the metric is where no row is right, and how much more where all are.

    NaN where there are no rows.
    """
    weight = np.bincount(r.segment, weights=r.weight, minlength=c.n_segments)
    part = ratio(np.where(weight > 0, weight, np.nan), r.whole)
    zero = metric.interval.rescaled(c, np.zeros(c.n_segments))
    return zero, metric.interval.rescaled(c, part) - zero


def _has_label_of_its_own(metric: Metric, c: ClassCounts) -> bool:
    """Tell whether the rows of each label can be planned: not for a share of all rows."""
    is_by_prevalence = isinstance(c.class_weight, str) and c.class_weight == "prevalence"
    by_labels = metric.interval.least_count == "min_support"
    return by_labels and not (is_by_prevalence and "class_weight" in metric.needs)


def _whole(rows: FloatArray) -> FloatArray:
    """Round up, but not for what rounding has added."""
    return np.ceil(rows * (1 - 1e-12))
