"""Counts in frames of polars: add them up, join them, and cut numeric by-columns into bins."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import cast

import polars as pl

from balframe.core.array_types import BoolArray, Int64Array
from balframe.core.binning import Values
from balframe.frames.by_entries import Bins
from balframe.frames.engines.registry import POLARS_ADAPTER
from balframe.frames.query import WEIGHT_MAX


def sum_counts(cells: pl.DataFrame, keys: Sequence[str], sums: Sequence[str]) -> pl.DataFrame:
    """Return a row for each combination of the keys, with the sums of counts, ascending."""
    if not keys:
        return cells.select(pl.col(sums).sum())
    totals = [pl.col(name).max() if name == WEIGHT_MAX else pl.col(name).sum() for name in sums]
    return cells.group_by(keys).agg(totals).sort(keys, nulls_last=True)


def join_counts(parts: Iterable[pl.DataFrame], keys: Sequence[str]) -> pl.DataFrame:
    """Return the counts of several frames side by side, by their common keys; 0 where absent.

    Counts of the same name are added up.
    """
    parts = list(parts)
    sums = list(dict.fromkeys(name for part in parts for name in part.columns if name not in keys))
    return sum_counts(pl.concat(parts, how="diagonal_relaxed"), keys, sums)


def is_numeric(cells: pl.DataFrame, name: str) -> bool:
    """Return whether a column holds integers, floats or decimals."""
    return POLARS_ADAPTER.is_numeric(cells, name)


def values_with_counts(cells: pl.DataFrame, name: str, n: str) -> tuple[Values, Int64Array]:
    """Return the values of a numeric column without null, and the number of rows of each."""
    sums = sum_counts(cells.select(name, n), [name], [n]).filter(pl.col(n) > 0)
    values, is_null = POLARS_ADAPTER.numbers(sums, name)
    has_value: slice | BoolArray = slice(None) if is_null is None else ~is_null
    return values[has_value], sums[n].to_numpy()[has_value]


def cut_column(cells: pl.DataFrame, name: str, entry: Bins, sums: Sequence[str]) -> pl.DataFrame:
    """Replace the values of a numeric column by the texts of bins, which are ordered by value.

    `sums` are names of counts, as far as the cells have them. Texts of bins stay.
    """
    own = replace(entry, column=name)
    bins = (
        cast(pl.Series, own.column_of(cells, POLARS_ADAPTER))
        if is_numeric(cells, name)
        else cells[name].cast(pl.String).cast(pl.Enum(own.texts))
    )
    keys = [column for column in cells.columns if column not in sums]
    sums = [column for column in cells.columns if column in sums]
    return sum_counts(cells.with_columns(bins.alias(name)), keys, sums).select(cells.columns)
