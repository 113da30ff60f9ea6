"""The two layouts of a report: one column per metric, or one row per metric."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from balframe.api.interval_estimates import DesignEffects
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
    first_cells: Int64Array,
    counts: Mapping[str, Int64Array],
    scores: Mapping[str, FloatArray],
) -> dict[Name, Any]:
    """Return the columns of one row per segment and metric, without those of intervals."""
    metric = np.tile(np.arange(len(scores)), len(first_cells))
    columns = counted_frame.by_columns(np.repeat(first_cells, len(scores)))
    columns |= {name: np.repeat(values, len(scores)) for name, values in counts.items()}
    columns["metric"] = counted_frame.text_column(list(scores), metric)
    columns["estimate"] = _interleave(scores.values())
    return columns


def long_limit_columns(
    counted_frame: CountedFrame,
    limits: Mapping[str, Limits],
    methods: tuple[Sequence[str], Int64Array],
) -> dict[Name, Any]:
    """Return the limits and the interval methods of one row per segment and metric."""
    lower, upper = map(_interleave, zip(*limits.values(), strict=True))
    names, codes = methods
    return {
        "lower": lower,
        "upper": upper,
        "method": counted_frame.text_column(names, codes.ravel()),
    }


def long_design_columns(designs: Sequence[DesignEffects]) -> dict[Name, FloatArray]:
    """Return effective clusters and design effects of one row per segment and metric."""
    effective, effect = map(_interleave, zip(*designs, strict=True))
    return {"effective_clusters": effective, "design_effect": effect}


def _interleave(columns: Iterable[FloatArray]) -> FloatArray:
    return np.column_stack(list(columns)).ravel()
