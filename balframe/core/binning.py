"""Bins of a numeric column: the edges between them, and texts for bins and single values."""

from collections.abc import Iterable
from decimal import ROUND_FLOOR, Decimal
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from balframe._validate import is_number
from balframe.core.array_types import Int64Array, IntegerArray
from balframe.core.counting_strategy import FEW_LEVELS, sample

Values = npt.NDArray[Any]  # numbers without null

MOST_VALUES = 10  # which are levels of their own
_FEW_EDGES = 16
_MAX_DECIMALS = 20


def read_edges(edges: Iterable[Any]) -> Values | None:
    """Return edges in order, each once; None unless they are finite numbers, at least one."""
    numbers = list(edges)
    if not numbers or not all(map(is_number, numbers)) or not all(map(np.isfinite, numbers)):
        return None
    return np.unique(np.array(numbers) + 0)


def unique_values(values: Values) -> Values:
    """List the distinct values, ascending."""
    if not _are_codes(values):
        return np.unique(values)
    least = values.min()
    occurs = np.bincount((values - least).astype(np.int64))
    return np.asarray(np.flatnonzero(occurs).astype(values.dtype) + least)


def positions_among(levels: Values, values: Values) -> IntegerArray:
    """Find each value among the distinct ones."""
    if not _are_codes(values):
        return np.searchsorted(levels, values)
    size = int(values.max()) - int(values.min()) + 1
    table = np.zeros(size, np.min_scalar_type(len(levels)))
    table[levels - values.min()] = np.arange(len(levels))
    return np.asarray(table[values - values.min()])


def _are_codes(values: Values) -> bool:
    """Return whether values are integers of a small range."""
    return (
        values.dtype.kind in "iu"
        and len(values) > 0
        and int(values.max()) - int(values.min()) < np.iinfo(values.dtype).max
        and int(values.max()) - int(values.min()) < FEW_LEVELS
    )


def unique_values_if_few(values: Values) -> Values | None:
    """List the distinct values, ascending; None where they are many."""
    if len(np.unique(sample(values))) > MOST_VALUES:
        return None
    levels = unique_values(values)
    return levels if len(levels) <= MOST_VALUES else None


def quantiles(values: Values, n: Int64Array | None, bins: int) -> Values:
    """Find the edges of bins of about equally many rows: values of which each begins a bin.

    They are order statistics. Where the smallest value fills the first bins, it has one of its own.
    """
    if n is None:
        rank = np.unique([-(-len(values) * i // bins) - 1 for i in range(1, bins)])
        edges = np.partition(values, rank)[rank]
    else:
        order = np.argsort(values, kind="stable")
        reached = np.cumsum(n[order])
        reaching = [-(-int(reached[-1]) * i // bins) for i in range(1, bins)]
        edges = values[order][np.searchsorted(reached, reaching)]
    least = values.min()
    if (edges <= least).any() and (values > least).any():
        edges = np.maximum(edges, values[values > least].min())
    edges = np.unique(edges)
    return np.asarray(edges[edges > least])


def with_few_decimals(edges: Values, values: Values) -> Values:
    """Round edges down to the fewest decimals with which the same values are below each.

    Each edge is above some value.
    """
    if edges.dtype.kind != "f":
        return edges
    rounded = [
        _shortest_between(below, edge)
        for below, edge in zip(_values_below(edges, values), edges, strict=True)
    ]
    return np.array(rounded, np.float64)


def _values_below(edges: Values, values: Values) -> Values:
    """Return the largest value below each edge; there is one."""
    if len(edges) > _FEW_EDGES:
        ordered = np.sort(values)
        return np.asarray(ordered[np.searchsorted(ordered, edges) - 1])
    least = values.min()
    return np.array([values.max(where=values < edge, initial=least) for edge in edges])


def _shortest_between(below: Any, edge: Any) -> float:  # noqa: ANN401 (numbers of numpy)
    """Return the number with the fewest decimals above `below` and at most `edge`.

    It is above `below` in the precision of the values too, in which an engine may compare.
    """
    exact = Decimal(edge.item())
    for decimals in range(_MAX_DECIMALS if np.isfinite(edge) and edge != np.floor(edge) else 0):
        number = float(exact.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_FLOOR))
        if below < number <= edge and edge.dtype.type(number) > below:
            return number
    return float(edge)


class Median(NamedTuple):
    """The median of values, and the largest of them that is not above it."""

    median: float
    low: Any


def weighted_median(values: Values, n: Int64Array | None) -> Median:
    """Find the median of values that stand for n rows each; NaN where there are none."""
    if not len(values):
        return Median(np.nan, 0)
    if n is None:
        ranks = np.array([(len(values) - 1) // 2, len(values) // 2])
        low, high = np.partition(values, ranks)[ranks]
    else:
        order = np.argsort(values, kind="stable")
        reached = np.cumsum(n[order])
        total = int(reached[-1])
        places = np.searchsorted(reached, [(total - 1) // 2, total // 2], side="right")
        low, high = values[order][places]
    median = float(low) if low == high else float(low) / 2 + float(high) / 2
    return Median(median, low.item())


def format_number(value: Any) -> str:  # noqa: ANN401 (a number of numpy)
    """Write a number with all its digits, a whole one as an integer."""
    number = value.item() if isinstance(value, np.generic) else value
    is_whole = isinstance(number, int) or number.is_integer()
    return str(int(number)) if is_whole else str(value)  # 0.1 of 32 bits is no longer in 64


def format_bins(edges: Values) -> list[str]:
    """Describe bins: under 25, 25 to 45, 45 or more. An edge is in the bin above it."""
    written = [format_number(edge) for edge in edges]
    between = [f"{low} to {high}" for low, high in pairwise(written)]
    return [f"under {written[0]}", *between, f"{written[-1]} or more"]


def parse_bin(text: str) -> tuple[float | None, float | None, bool] | None:
    """Read the lower and the upper edge of a bin, or a single value; None where it is neither."""
    try:
        if text.startswith("under "):
            return None, parse_number(text.removeprefix("under ")), False
        if text.endswith(" or more"):
            return parse_number(text.removesuffix(" or more")), None, False
        low, between, high = text.partition(" to ")
        return (
            (parse_number(low), parse_number(high), False)
            if between
            else (parse_number(low), None, True)
        )
    except ValueError:
        return None


def parse_number(text: str) -> float:
    """Read a number that is written with all its digits."""
    try:
        return int(text)
    except ValueError:
        return float(text)
