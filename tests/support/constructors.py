"""Frames of every library from plain lists, and plain lists from every frame."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa

from tests.support.cases import cases

Table = dict[Any, list[Any]]


def pandas_numpy(data: Mapping[Any, Sequence[Any]]) -> pd.DataFrame:
    return pd.DataFrame(dict(data))


def pandas_nullable(data: Mapping[Any, Sequence[Any]]) -> pd.DataFrame:
    return pd.DataFrame(dict(data)).convert_dtypes()


def pandas_pyarrow(data: Mapping[Any, Sequence[Any]]) -> pd.DataFrame:
    return pd.DataFrame(dict(data)).convert_dtypes(dtype_backend="pyarrow")


def polars_eager(data: Mapping[Any, Sequence[Any]]) -> pl.DataFrame:
    return pl.DataFrame(dict(data))


def polars_lazy(data: Mapping[Any, Sequence[Any]]) -> pl.LazyFrame:
    return pl.LazyFrame(dict(data))


def pyarrow_table(data: Mapping[Any, Sequence[Any]]) -> pa.Table:
    return pa.table(dict(data))


CONSTRUCTORS: list[Callable[[Mapping[Any, Sequence[Any]]], Any]] = [
    pandas_numpy,
    pandas_nullable,
    pandas_pyarrow,
    polars_eager,
    polars_lazy,
    pyarrow_table,
]


each_constructor = cases("constructor", CONSTRUCTORS)


def head(frame: Any, n: int) -> Any:
    """Take the first rows."""
    return frame.head(n) if hasattr(frame, "head") else frame.slice(0, n)


def plain(frame: Any) -> Table:
    """Turn a frame, collected if lazy, into lists with None for null.

    A NaN of polars stays one: results have nulls there, and NaN equals nothing.
    """
    frame = nw.to_native(frame, pass_through=True)
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, pl.DataFrame):
        return frame.to_dict(as_series=False)
    if isinstance(frame, pa.Table):
        return frame.to_pydict()
    assert isinstance(frame, pd.DataFrame)
    assert frame.index.equals(pd.RangeIndex(len(frame)))
    return {
        name: [None if pd.isna(value) else value for value in frame.iloc[:, position].tolist()]
        for position, name in enumerate(frame.columns)
    }


def assert_table(
    frame: Any, expected: Mapping[Any, Sequence[Any]], *, close: float = 1e-12
) -> None:
    """Compare columns and rows, in their order; only floats may be off, by `close`."""
    result = plain(frame)
    assert list(result) == list(expected)
    for name, values in expected.items():
        pairs = list(zip(result[name], values, strict=True))
        assert [want if _is_close(got, want, close) else got for got, want in pairs] == list(values)


def _is_close(got: Any, want: Any, close: float) -> bool:
    if not isinstance(got, float) or not isinstance(want, float):
        return False
    return math.isclose(got, want, rel_tol=close, abs_tol=close)
