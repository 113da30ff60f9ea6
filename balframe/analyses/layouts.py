"""The two layouts of a report: a column for each metric, or a row for each."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from balframe.core.arrays import FloatArray, Int64Array
from balframe.frames.library import Name
from balframe.frames.read import Reading
from balframe.intervals.proportions import Limits


def wide(scores: Mapping[str, FloatArray], found: Mapping[str, Limits]) -> dict[Name, FloatArray]:
    """Put the limits of each metric behind it."""
    columns: dict[Name, FloatArray] = {}
    for name, estimate in scores.items():
        columns[name] = estimate
        if name in found:
            columns[f"{name}_lower"], columns[f"{name}_upper"] = found[name]
    return columns


def long(
    reading: Reading,
    first: Int64Array,
    counted: Mapping[str, Int64Array],
    scores: Mapping[str, FloatArray],
) -> dict[Name, Any]:
    """Put the metrics of each segment one below the other."""
    metric = np.tile(np.arange(len(scores)), len(first))
    columns = reading.by_columns(np.repeat(first, len(scores)))
    columns |= {name: np.repeat(values, len(scores)) for name, values in counted.items()}
    columns["metric"] = reading.text_column(list(scores), metric)
    columns["estimate"] = _interleaved(scores.values())
    return columns


def long_limits(
    reading: Reading, found: Mapping[str, Limits], methods: Sequence[str]
) -> dict[Name, Any]:
    """Put the limits of the metrics one below the other, and name their methods."""
    lower, upper = map(_interleaved, zip(*found.values(), strict=True))
    known = sorted(set(methods) - {""})
    codes = [known.index(method) if method else len(known) for method in methods]
    method = reading.text_column(known, np.tile(codes, len(lower) // len(codes)))
    return {"lower": lower, "upper": upper, "method": method}


def _interleaved(columns: Iterable[FloatArray]) -> FloatArray:
    return np.column_stack(list(columns)).ravel()
