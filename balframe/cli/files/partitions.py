"""Hive partitions: the columns that the folders of files name, as in day=2026-01-01."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import polars as pl

_NULL = "__HIVE_DEFAULT_PARTITION__"
_READERS: Sequence[Callable[[pl.Series], pl.Series]] = (
    lambda texts: texts.cast(pl.Int64),
    lambda texts: texts.cast(pl.Float64),
    lambda texts: texts.str.to_date("%Y-%m-%d"),
)


def partitions(paths: Sequence[Path]) -> tuple[list[dict[str, Any]], dict[str, pl.DataType]]:
    """Read the columns in the path of each file: their values there, and their types."""
    texts = [_texts(path) for path in paths]
    values: dict[str, dict[str | None, Any]] = {}
    types: dict[str, pl.DataType] = {}
    for name in dict.fromkeys(name for one in texts for name in one):
        distinct = list(dict.fromkeys(one[name] for one in texts if name in one))
        column = _typed(pl.Series(distinct, dtype=pl.String))
        values[name] = dict(zip(distinct, column.to_list(), strict=True))
        types[name] = column.dtype
    return [{name: values[name][text] for name, text in one.items()} for one in texts], types


def _texts(path: Path) -> dict[str, str | None]:
    """Take the parts of a path that name a column and its value."""
    parts = (part.partition("=") for part in path.parent.parts)
    return {
        unquote(name): None if value == _NULL else unquote(value)
        for name, mark, value in parts
        if name and mark
    }


def _typed(texts: pl.Series) -> pl.Series:
    """Read texts as whole numbers, numbers or dates where all of them are, and stay distinct."""
    if texts.null_count() == len(texts):
        return texts
    for read in _READERS:
        try:
            column = read(texts)
        except pl.exceptions.PolarsError:
            continue
        is_finite = not column.dtype.is_float() or column.is_finite().all()
        if is_finite and column.n_unique() == texts.n_unique():
            return column
    return texts
