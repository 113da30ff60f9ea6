"""Concatenate the rows of frames of one library."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import polars as pl
import polars.selectors as cs

from balframe.errors import InvalidInputError, UnsupportedTypeError
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
from balframe.frames.polars_encoding import width
from balframe.frames.thresholds import float_type

_TEXTS = (pl.String, pl.Categorical, pl.Enum)


def concat(frames: Sequence[Any]) -> Any:  # noqa: ANN401
    """Concatenate the rows of all frames; the first frame decides the order of the columns."""
    engines = {find_engine(frame).name: find_engine(frame) for frame in frames}
    if len(engines) > 1:
        raise UnsupportedTypeError(
            f"the frames are of several kinds: {', '.join(engines)}. Convert all to one kind."
        )
    (engine,) = engines.values()
    try:
        if engine is PANDAS:
            return pandas.concat(_with_common_dtypes(frames), ignore_index=True)
        if engine is POLARS or engine is POLARS_LAZY:
            names = column_names(frames[0])
            frames = _with_common_types([frame.select(names) for frame in frames])
            return pl.concat(frames, how="vertical_relaxed")
        if engine is PYARROW:
            import pyarrow as pa

            if all(frame.schema == frames[0].schema for frame in frames):
                return pa.concat_tables(frames)
            return convert_result(concat([from_arrow(f) for f in frames]), "pyarrow")
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


def _with_common_dtypes(frames: Sequence[Any]) -> Sequence[Any]:
    """Unify categories of pandas, and cast short floats beside longer ones: 0.1 stays 0.1."""
    frames = [*frames]
    for name in frames[0].columns:
        types = [f.dtypes[name] for f in frames if [*f.columns].count(name) == 1]
        if len({*types}) < 2 or len(types) < len(frames):
            continue
        if all(isinstance(dtype, pandas.CategoricalDtype) for dtype in types):
            values = dict.fromkeys(value for dtype in types for value in dtype.categories)
            is_ordered = all(dtype.ordered for dtype in types)
            common = pandas.CategoricalDtype([*values], ordered=is_ordered)
            frames = [frame.astype({name: common}) for frame in frames]
        elif all(map(pandas.api.types.is_any_real_numeric_dtype, types)):
            for i, frame in enumerate(frames):
                short = float_type(types[i])
                if short.itemsize < 8:
                    texts = frame[name].to_numpy(short, na_value=np.nan).astype(str)
                    frames[i] = frames[i].copy(deep=False)
                    frames[i][name] = texts.astype(np.float64)
    return frames


def _with_common_types(frames: Sequence[Any]) -> Sequence[Any]:
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
                    casts[i].append(_as_common(column, dtype, different, name))
    return [
        frame.with_columns(exprs) if exprs else frame
        for frame, exprs in zip(frames, casts, strict=True)
    ]


def _as_common(
    column: pl.Expr, dtype: pl.DataType, dtypes: Sequence[pl.DataType], name: Name
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
        raise InvalidInputError(
            f"column {name!r} holds {dtypes[0]} in one frame and {dtypes[1]} in another, which "
            "never compare equal. Cast one to the type of the other."
        )
    if zones[0] is not None:
        return column.dt.convert_time_zone(zones[0])
    is_short = dtype.is_float() and any(
        other.is_integer() or (other.is_float() and width(other) > width(dtype)) for other in dtypes
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
