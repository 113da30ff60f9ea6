"""Concatenate the rows of frames of one library."""

from collections.abc import Mapping, Sequence, Set
from datetime import datetime
from decimal import Decimal
from typing import Any, cast

import numpy as np
import polars as pl
import polars.selectors as cs

from balframe._text import midnights_as_dates
from balframe.errors import CAST, InvalidInputError, UnsupportedTypeError
from balframe.frames.adapter import Name
from balframe.frames.convert_result import convert_result
from balframe.frames.engines.arrow import from_arrow
from balframe.frames.engines.inputs import InputFrame
from balframe.frames.engines.registry import (
    PANDAS,
    POLARS,
    POLARS_LAZY,
    PYARROW,
    STREAMS,
    find_engine,
)
from balframe.frames.lazy_pandas import pandas
from balframe.frames.pandas_polars import value_texts
from balframe.frames.polars_encoding import width
from balframe.frames.thresholds import float_type

Places = tuple[str, str]
RUNS: Places = ("the data", "the baseline")
_TEXTS = (pl.String, pl.Categorical, pl.Enum)
# Kinds of values that pandas names so, and that polars has only as texts.
_LEFT_AS_TEXTS = ("interval", "period", "mixed", "mixed-integer")


def concat(frames: Sequence[Any], places: Places = ("one frame", "another")) -> Any:  # noqa: ANN401
    """Concatenate the rows of all frames; the first frame decides the order of the columns.

    `places` are where messages say that the values of the first and of the second frame are.
    """
    engines = {find_engine(frame).name: find_engine(frame) for frame in frames}
    if len(engines) > 1:
        raise UnsupportedTypeError(
            f"the frames are of several kinds: {', '.join(engines)}. Convert all to one kind."
        )
    (engine,) = engines.values()
    try:
        if engine is PANDAS:
            return pandas.concat(_with_common_dtypes(frames, places), ignore_index=True)
        if engine is POLARS or engine is POLARS_LAZY:
            names = column_names(frames[0])
            frames = _with_common_types([frame.select(names) for frame in frames], places)
            return pl.concat(frames, how="vertical_relaxed")
        if engine is PYARROW:
            import pyarrow as pa

            if all(frame.schema == frames[0].schema for frame in frames):
                return pa.concat_tables(frames)
            return convert_result(concat([from_arrow(f) for f in frames], places), "pyarrow")
    except InvalidInputError:
        raise
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        raise InvalidInputError(
            f"the frames cannot be concatenated: {error}. Cast the columns that differ."
        ) from error
    raise UnsupportedTypeError(
        f"frames of {engine.name} cannot be concatenated here; collect them first, or concatenate "
        f"them with {engine.name}."
    )


def _with_common_dtypes(frames: Sequence[Any], places: Places) -> Sequence[Any]:
    """Write columns of pandas whose types differ so that equal values are equal in all frames."""
    frames = [*frames]
    for name in frames[0].columns:
        columns = [f[name] for f in frames if [*f.columns].count(name) == 1]
        dtypes = {column.dtype for column in columns}
        if len(columns) == len(frames) and (len(dtypes) > 1 or np.dtype(object) in dtypes):
            for i, column in enumerate(_common_columns(columns, name, places)):
                frames[i] = frames[i].copy(deep=False)
                frames[i][name] = column
    return frames


def _common_columns(columns: Sequence[Any], name: Name, places: Places) -> Sequence[Any]:
    """Unify the categories or the values of columns of pandas; raise if none are ever equal."""
    kinds = [_kind(column) for column in columns]
    if all(isinstance(column.dtype, pandas.CategoricalDtype) for column in columns):
        values = dict.fromkeys(value for column in columns for value in column.dtype.categories)
        is_ordered = all(column.dtype.ordered for column in columns)
        common = pandas.CategoricalDtype([*values], ordered=is_ordered)
        columns = [column.astype(common) for column in columns]
    else:
        lacking = [c for c, kind in zip(columns, kinds, strict=True) if kind in _LEFT_AS_TEXTS]
        levels = [*dict.fromkeys(value for column in lacking for value in column.dropna())]
        texts = dict(zip(value_texts(levels), levels, strict=True))
        columns = [
            _as_common_kind(column, kind, {*kinds}, texts)
            for column, kind in zip(columns, kinds, strict=True)
        ]
    of_columns = [*filter(None, map(_value_kinds, columns))]
    if of_columns and not set.intersection(*of_columns):
        raise _never_equal_error(name, [*map(min, of_columns)], places)
    return columns


def _kind(column: Any) -> str:  # noqa: ANN401 (a column of pandas)
    """Return the kind of the values of a column, as pandas names it."""
    if isinstance(column.dtype, pandas.CategoricalDtype):
        column = pandas.Series(column.dtype.categories)
    if pandas.api.types.is_unsigned_integer_dtype(column.dtype):
        return "unsigned"
    return pandas.api.types.infer_dtype(column, skipna=True)


def _as_common_kind(
    column: Any,  # noqa: ANN401 (a column of pandas)
    kind: str,
    kinds: Set[str],
    texts: Mapping[str, Any],
) -> Any:  # noqa: ANN401
    """Write a column of pandas as values that those of the other kinds may equal."""
    objects = column.astype(object)
    if kind == "string" and texts:  # as polars and tables of runs have such values
        return objects.map(lambda text: texts.get(text, text), na_action="ignore")
    is_arrow = isinstance(column.dtype, pandas.ArrowDtype)
    if kind in ("datetime64", "datetime") and "date" in kinds and not is_arrow:
        days = midnights_as_dates(objects.where(column.notna(), None).tolist())
        return pandas.Series(days, column.index, dtype=object)
    if kind in ("integer", "unsigned") and {"integer", "unsigned"} <= kinds:  # no floats of these
        try:
            return objects.astype("Int64")
        except OverflowError:
            return objects
    if kind == "decimal" and "floating" in kinds:
        return objects.astype(np.float64)
    if kind in ("integer", "unsigned") and "decimal" in kinds:
        return objects.map(Decimal, na_action="ignore")
    if kind == "floating" and (short := float_type(column.dtype)).itemsize < 8:  # 0.1 stays 0.1
        return pandas.Series(
            column.to_numpy(short, na_value=np.nan).astype(str).astype(np.float64), column.index
        )
    return column


def _value_kinds(column: Any) -> set[str]:  # noqa: ANN401 (a column of pandas)
    """Return the kinds of the values of a column."""
    values = column.dropna()
    return {*map(value_kind, values if _kind(values).startswith("mixed") else values.iloc[:1])}


def _never_equal_error(name: Name, kinds: Sequence[str], places: Places) -> InvalidInputError:
    first, second, *_ = dict.fromkeys(kinds)
    parts = f"{first} in {places[0]} and {second} in {places[1]}"
    return InvalidInputError(
        "column {!r} holds {}, which never compare equal. {}", name, parts, CAST
    )


def value_kind(value: object) -> str:
    """Describe the kind of a value; values of different kinds never compare equal."""
    return _kind_of_type(type(value), getattr(value, "tzinfo", None))


def _kind_of_type(kind: type[object], zone: object) -> str:
    if issubclass(kind, (bool, int, float, Decimal, np.number, np.bool_)):
        return "numbers"
    if issubclass(kind, datetime):
        return f"values of type datetime{'' if zone is None else ' with a zone'}"
    return "strings" if issubclass(kind, str) else f"values of type {kind.__name__}"


def _with_common_types(frames: Sequence[Any], places: Places) -> Sequence[Any]:
    """Cast columns of polars whose types differ, so that equal values are equal in all frames."""
    schemas = [frame.collect_schema() for frame in frames]
    casts: list[list[pl.Expr]] = [[] for _ in frames]
    for name in schemas[0]:
        dtypes = [schema[name] for schema in schemas if name in schema]
        different = [dtype for dtype in dict.fromkeys(dtypes) if dtype != pl.Null]
        if len(different) > 1:
            column = cs.by_name(name)
            for i, dtype in enumerate(dtypes):
                if dtype != pl.Null:
                    casts[i].append(_as_common(column, dtype, different, name, places))
    return [
        frame.with_columns(exprs) if exprs else frame
        for frame, exprs in zip(frames, casts, strict=True)
    ]


def _as_common(
    column: pl.Expr,
    dtype: pl.DataType,
    dtypes: Sequence[pl.DataType],
    name: Name,
    places: Places,
) -> pl.Expr:
    """Write a column of one of these types as values that those of the others may equal."""
    if all(isinstance(other, pl.Enum) for other in dtypes):
        categories = pl.concat([cast(pl.Enum, other).categories for other in dtypes])
        return column.cast(pl.String).cast(pl.Enum(categories.unique(maintain_order=True)))
    if all(isinstance(other, _TEXTS) for other in dtypes):
        return column.cast(pl.String)
    zones = [getattr(other, "time_zone", None) for other in dtypes]
    is_text = {isinstance(other, _TEXTS) for other in dtypes}
    times = {type(other) if other.is_temporal() else None for other in dtypes}
    if len(is_text) + len(times) > 2 or (None in zones and any(zones)):
        kinds = map(_kind_of_type, [other.to_python() for other in dtypes], zones)
        raise _never_equal_error(name, [*kinds], places)
    if zones[0] is not None:
        return column.dt.convert_time_zone(zones[0])
    is_short = dtype.is_float() and any(
        other.is_integer()
        or other.is_decimal()
        or (other.is_float() and width(other) > width(dtype))
        for other in dtypes
    )
    return as_longer_float(column, dtype) if is_short else column


def as_longer_float(column: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Write floats in 64 bits, as the numbers that their own type shows: 0.1 stays 0.1."""
    is_short = dtype.is_float() and width(dtype) < 64
    return column.cast(pl.String).cast(pl.Float64) if is_short else column


def column_names(frame: object) -> list[Name]:
    """Return the names of the columns of any frame; no row is read."""
    if find_engine(frame) in STREAMS:
        raise UnsupportedTypeError(
            "streams, readers and datasets cannot be concatenated here; read each into a table "
            "first."
        )
    return InputFrame.open(frame).column_names
