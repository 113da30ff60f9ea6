"""Two models on the same rows: limits of differences from the rows that only one gets right."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from balframe.analyses.limits import kept
from balframe.analyses.scoring import Adjust, value_of
from balframe.core.arrays import BoolArray, FloatArray, Int64Array
from balframe.core.cells import LEFT_OUT, Cells
from balframe.core.class_counts import ClassCounts
from balframe.core.division import ratio
from balframe.core.entries import Entries
from balframe.core.measures import Measures
from balframe.core.parallel import on_all_cores
from balframe.core.ways import blocks
from balframe.frames.library import Name
from balframe.frames.read import Reading
from balframe.intervals.equal_segments import by_number_of_labels
from balframe.intervals.families import adjusted_within
from balframe.intervals.interval import Interval
from balframe.intervals.paired import effective_pairs, paired_limits, paired_p_value
from balframe.intervals.proportions import Limits
from balframe.intervals.recalls_of_counts import Recalls
from balframe.metrics.registry import Metric

_BLOCK = 16_384  # recalls at work at once, so that the arrays between stay in the cache


def cells_of_models(cells: Cells, n_labels: int) -> tuple[Cells, Cells]:
    """Take the cells of either model from those of both."""
    outcomes = np.divmod(cells.outcome, max(n_labels, 1))
    is_left_out = cells.actual == LEFT_OUT
    one, other = (
        replace(cells, outcome=np.where(is_left_out, LEFT_OUT, codes)) for codes in outcomes
    )
    return one, other


@dataclass(frozen=True, slots=True)
class Discordant:
    """Effective rows of recalls: those that only one model gets right, and all."""

    segment: Int64Array
    share: FloatArray
    only_one: FloatArray
    only_other: FloatArray
    n: FloatArray


def discordant(
    interval: Interval, one: Cells, other: Cells, like: ClassCounts
) -> Discordant | None:
    """Find the rows on which models differ, for a metric that is linear in recalls of true labels.

    None where it is not, as a precision: its denominator depends on the predictions.
    """
    if not interval.is_paired or not like.n_labels:
        return None
    counted = np.flatnonzero(one.actual != LEFT_OUT)
    r, r_other = (
        _each_alone(interval, c.actual[counted], c.outcome[counted], like) for c in (one, other)
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
    segment, label_weight = keys // n_labels, np.where(used, r.weight[first], 0)
    whole = np.bincount(segment, weights=label_weight, minlength=like.n_segments)
    share = ratio(label_weight, whole[segment])
    rows = effective_pairs(*sums, *squares)
    return Discordant(segment[used], share[used], *(of_kind[used] for of_kind in rows))


def _each_alone(
    interval: Interval, actual: Int64Array, outcome: Int64Array, like: ClassCounts
) -> Recalls:
    """Ask a metric which part of it each cell is, as if the cell were one row on its own."""
    cells = Cells((np.arange(len(actual)),), actual, outcome, Measures(np.ones_like(actual)))
    entries = Entries.of(cells, like.n_labels)
    c = ClassCounts.of(entries, pos_label=like.pos_label, class_weight=like.class_weight)
    recalls = interval.linear_recalls(c)
    assert recalls is not None
    return recalls.at(np.argsort(recalls.segment))


def limits_and_p(
    interval: Interval, found: Discordant | None, c: ClassCounts, level: float
) -> tuple[Limits, FloatArray]:
    """Find limits of the differences and p-values, undefined where the models are not paired."""
    low, high, p = np.full((3, c.n_segments), np.nan)
    if found is None:
        return (low, high), p

    def work(part: tuple[Int64Array, Int64Array]) -> None:
        segments, entries = part
        columns = (found.only_one, found.only_other, found.n, found.share)
        only_one, only_other, n, share = (values[entries] for values in columns)
        low[segments], high[segments] = paired_limits(only_one, only_other, n, share, level)
        p[segments] = paired_p_value(only_one, only_other, n, share)

    on_all_cores(work, _parts(found, c.n_segments))
    origin = interval.rescaled(c, np.zeros(c.n_segments))
    return (interval.rescaled(c, low) - origin, interval.rescaled(c, high) - origin), p


def _parts(found: Discordant, n_segments: int) -> Iterator[tuple[Int64Array, Int64Array]]:
    """Put segments of equally many labels together, and cut them up; those of unknown rows go."""
    everything = np.arange(len(found.segment))
    for segments, entries in by_number_of_labels(found.segment, n_segments, everything):
        known = np.flatnonzero(np.isfinite(found.n[entries]).all(axis=1))
        size = max(_BLOCK // entries.shape[1], 1)
        for block in blocks(slice(0, len(known)), size):
            yield segments[known[block]], entries[known[block]]


def compared_models(
    metric: Metric,
    one: ClassCounts,
    other: ClassCounts,
    pair: tuple[Cells, Cells],
    family: Int64Array,
    level: float,
    adjust: Adjust,
) -> dict[str, Any]:
    """Compare two models on a metric in every segment, whose tests are of these families."""
    estimate, reference = (value_of(metric, c) for c in (one, other))
    difference, width = estimate - reference, metric.range[1] - metric.range[0]
    differing = discordant(metric.interval, *pair, one)
    limits, p = limits_and_p(metric.interval, differing, one, level)
    p = np.where(np.isnan(difference), np.nan, p)
    lower, upper = kept(*limits, difference, (-width, width), around=True)
    p_adjusted, n_tests = adjusted_within(p, family, adjust)
    return {
        "estimate": estimate,
        "reference_estimate": reference,
        "difference": difference,
        "lower": lower,
        "upper": upper,
        "p_value": p,
        "p_adjusted": p_adjusted,
        "n_tests": n_tests,
    }


def models_in_rows(
    reading: Reading, c: ClassCounts, tables: Mapping[str, Mapping[str, Any]]
) -> dict[Name, Any]:
    """Put the metrics of each segment and pair of models one below the other."""
    _, first = reading.cells.segments
    size = len(tables)
    shown = np.repeat(first, size)
    names = [str(name) for name in reading.query.y_pred]
    pairs = np.array(list(combinations(range(len(names)), 2)))
    pair = pairs[reading.cells.by[-1][shown]]
    found = next(iter(tables.values()))
    return reading.by_columns(shown) | {
        "model": reading.text_column(names, pair[:, 0]),
        "reference": reading.text_column(names, pair[:, 1]),
        "n": np.repeat(c.n, size),
        "n_labels": np.repeat(c.n_present, size),
        "min_support": np.repeat(c.min_support, size),
        "metric": reading.text_column(list(tables), np.tile(np.arange(size), len(first))),
        **{n: np.column_stack([of[n] for of in tables.values()]).ravel() for n in found},
    }
