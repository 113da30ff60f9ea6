"""Confusion matrices: the cells of every segment, as they are or with those that hold no row."""

from dataclasses import dataclass, replace

import numpy as np

from balframe.core.array_types import Counts, FloatArray, Int64Array
from balframe.core.cells import LEFT_OUT, Cells
from balframe.core.row_sums import Measures
from balframe.core.safe_divide import ratio


@dataclass(frozen=True, slots=True)
class Shown:
    """Rows to show; `source` is a cell of the same segment, whose by-columns they have."""

    source: Int64Array
    segment: Int64Array
    actual: Int64Array
    outcome: Int64Array
    sums: Measures


def counted(cells: Cells) -> Shown:
    """Show the cells that hold rows."""
    segment, _ = cells.segments
    shown = np.flatnonzero(cells.actual != LEFT_OUT)
    actual, outcome = cells.actual[shown], cells.outcome[shown]
    return Shown(shown, segment[shown], actual, outcome, cells.sums.at(shown))


def completed(cells: Cells, n_labels: int) -> Shown:
    """Show every pair of labels in every segment, also in those that have no row left."""
    _, first = cells.segments
    present = counted(cells)
    size = n_labels * n_labels
    pair = np.arange(len(first) * size)
    at = present.segment * size + present.actual * n_labels + present.outcome

    def filled(values: Counts) -> Counts:
        out = np.zeros(len(pair), values.dtype)
        out[at] = values
        return out

    sums, within = present.sums, pair % max(size, 1)
    weight = None if sums.weight is None else filled(sums.weight)
    weight_sq = None if sums.weight_sq is None else filled(sums.weight_sq)
    return Shown(
        np.repeat(first, size),
        np.repeat(np.arange(len(first)), size),
        within // max(n_labels, 1),
        within % max(n_labels, 1),
        replace(
            sums,
            n=filled(cells.n[present.source]),
            missing=None,
            weight=weight,
            weight_sq=weight_sq,
        ),
    )


def share(rows: Shown, n_labels: int, normalize: str) -> FloatArray:
    """Divide cells by the rows of their true label, predicted label or segment."""
    within = {"true": rows.actual, "pred": rows.outcome, "all": np.zeros_like(rows.actual)}
    group = rows.segment * n_labels + within[normalize]
    part = np.asarray(rows.sums.n if rows.sums.weight is None else rows.sums.weight, np.float64)
    return ratio(part, np.bincount(group, weights=part)[group])
