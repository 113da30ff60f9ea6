"""Concatenate the rows of frames of one library."""

from collections.abc import Sequence
from typing import Any

import polars as pl
import polars.selectors as cs

from balframe.errors import InvalidInputError, UnsupportedTypeError
from balframe.frames.adapter import Name
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
            return pandas.concat(frames, ignore_index=True)
        if engine is POLARS or engine is POLARS_LAZY:
            names = column_names(frames[0])
            frames = _with_common_enums([frame.select(names) for frame in frames])
            return pl.concat(frames, how="vertical_relaxed")
        if engine is PYARROW:
            import pyarrow as pa

            return pa.concat_tables(frames, promote_options="permissive")
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        raise InvalidInputError(
            f"the frames cannot be concatenated: {error}. Cast the columns that differ."
        ) from error
    raise UnsupportedTypeError(
        f"frames of {engine.name} cannot be concatenated here; collect them first, or concatenate "
        f"them with {engine.name}."
    )


def _with_common_enums(frames: Sequence[Any]) -> Sequence[Any]:
    """Cast Enums that differ to one of all their categories; polars does not do so."""
    schemas = [frame.collect_schema() for frame in frames]
    common = []
    for name in schemas[0]:
        dtypes = {schema[name] for schema in schemas}
        if len(dtypes) > 1 and all(isinstance(dtype, pl.Enum) for dtype in dtypes):
            parts = [schema[name].categories for schema in schemas]
            categories = pl.concat(parts).unique(maintain_order=True)
            common.append(cs.by_name(name).cast(pl.String).cast(pl.Enum(categories)))
    return [frame.with_columns(common) for frame in frames] if common else frames


def column_names(frame: object) -> list[Name]:
    """Return the names of the columns of any frame; no row is read."""
    if find_engine(frame) in STREAMS:
        raise UnsupportedTypeError(
            "streams, readers and datasets cannot be concatenated here; read each into a table "
            "first."
        )
    return InputFrame.open(frame).column_names
