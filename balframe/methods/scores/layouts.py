"""The two layouts of a report: one column per metric, or one row per metric."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.frames.adapter import Name
from balframe.frames.counted_frame import CountedFrame
from balframe.stats.proportions import Limits


def wide_columns(
    scores: Mapping[str, FloatArray], limits: Mapping[str, Limits]
) -> dict[Name, FloatArray]:
    """Return a column per metric, each followed by its limits if it has any."""
    columns: dict[Name, FloatArray] = {}
    for name, estimate in scores.items():
        columns[name] = estimate
        if name in limits:
            columns[f"{name}_lower"], columns[f"{name}_upper"] = limits[name]
    return columns


def long_columns(
    counted_frame: CountedFrame,
    counts: Mapping[str, Int64Array],
    scores: Mapping[str, FloatArray],
    metric_columns: Mapping[Name, Sequence[FloatArray | Int64Array]],
    methods: tuple[Sequence[str], Int64Array] | None,
) -> dict[Name, Any]:
    """Return the columns of one row per segment and metric.

    `metric_columns` have an array for each metric. `methods` are the names of interval methods and
    the position of each segment's and metric's method, None without intervals.
    """
    _, first_cells = counted_frame.cells.segments
    n_metrics = len(scores)
    metric = np.tile(np.arange(n_metrics), len(first_cells))
    columns = counted_frame.by_columns(np.repeat(first_cells, n_metrics))
    columns |= {name: np.repeat(values, n_metrics) for name, values in counts.items()}
    columns["metric"] = counted_frame.text_column(list(scores), metric)
    metric_columns = {"estimate": list(scores.values()), **metric_columns}
    columns |= {name: np.column_stack(values).ravel() for name, values in metric_columns.items()}
    if methods is not None:
        names, codes = methods
        columns["method"] = counted_frame.text_column(names, codes.ravel())
    return columns
