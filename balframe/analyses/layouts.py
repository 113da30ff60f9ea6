"""The two layouts of a report: a column for each metric, or a row for each."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from balframe.core.arrays import FloatArray, Int64Array
from balframe.frames.library import Name
from balframe.frames.read import Reading
from balframe.intervals.proportions import Limits

_LONG, _LIMITS, _METHOD = ("metric", "estimate"), ("lower", "upper"), "method"


def _named_limits(name: Name) -> tuple[str, str]:
    return f"{name}_lower", f"{name}_upper"


def wide(scores: Mapping[str, FloatArray], found: Mapping[str, Limits]) -> dict[Name, FloatArray]:
    """Put the limits of each metric behind it."""
    columns: dict[Name, FloatArray] = {}
    for name, estimate in scores.items():
        columns[name] = estimate
        if name in found:
            columns |= dict(zip(_named_limits(name), found[name], strict=True))
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
    values = reading.text_column(list(scores), metric), _interleaved(list(scores.values()))
    return columns | dict(zip(_LONG, values, strict=True))


def long_limits(
    reading: Reading, found: Mapping[str, Limits], methods: Sequence[str]
) -> dict[Name, Any]:
    """Put the limits of the metrics one below the other, and name their methods."""
    lower, upper = (_interleaved([limit[side] for limit in found.values()]) for side in (0, 1))
    known = sorted(set(methods) - {""})
    codes = [known.index(method) if method else len(known) for method in methods]
    method = reading.text_column(known, np.tile(codes, len(lower) // len(codes)))
    return dict(zip((*_LIMITS, _METHOD), (lower, upper, method), strict=True))


def _interleaved(columns: Sequence[FloatArray]) -> FloatArray:
    return np.column_stack(list(columns)).ravel()
