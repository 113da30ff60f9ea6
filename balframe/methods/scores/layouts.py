"""The two layouts of a report: a column for each metric, or a row for each."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from balframe.api.interval_estimates import Design
from balframe.core.array_types import FloatArray, Int64Array
from balframe.frames.adapter import Name
from balframe.frames.counted_frame import CountedFrame
from balframe.stats.proportions import Limits


def wide_columns(
    scores: Mapping[str, FloatArray], found: Mapping[str, Limits]
) -> dict[Name, FloatArray]:
    """Put the limits of each metric behind it."""
    columns: dict[Name, FloatArray] = {}
    for name, estimate in scores.items():
        columns[name] = estimate
        if name in found:
            columns[f"{name}_lower"], columns[f"{name}_upper"] = found[name]
    return columns


def long_columns(
    reading: CountedFrame,
    first: Int64Array,
    counted: Mapping[str, Int64Array],
    scores: Mapping[str, FloatArray],
) -> dict[Name, Any]:
    """Put the metrics of each segment one below the other."""
    metric = np.tile(np.arange(len(scores)), len(first))
    columns = reading.by_columns(np.repeat(first, len(scores)))
    columns |= {name: np.repeat(values, len(scores)) for name, values in counted.items()}
    columns["metric"] = reading.text_column(list(scores), metric)
    columns["estimate"] = _interleave(scores.values())
    return columns


def long_limit_columns(
    reading: CountedFrame, found: Mapping[str, Limits], methods: tuple[Sequence[str], Int64Array]
) -> dict[Name, Any]:
    """Put the limits of the metrics one below the other, and name their methods."""
    lower, upper = map(_interleave, zip(*found.values(), strict=True))
    names, codes = methods
    return {"lower": lower, "upper": upper, "method": reading.text_column(names, codes.ravel())}


def long_design_columns(designs: Sequence[Design]) -> dict[Name, FloatArray]:
    """Put the effective clusters and the design effects of the metrics one below the other."""
    effective, effect = map(_interleave, zip(*designs, strict=True))
    return {"effective_clusters": effective, "design_effect": effect}


def _interleave(columns: Iterable[FloatArray]) -> FloatArray:
    return np.column_stack(list(columns)).ravel()
