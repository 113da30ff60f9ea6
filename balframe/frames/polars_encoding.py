"""Columns of polars encoded as codes and levels."""

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from balframe.core.counting_strategy import (
    most_categories,
    most_levels,
    sample,
    sample_step,
    should_hash,
)
from balframe.core.integer_codes import Codes, min_max
from balframe.frames.adapter import EncodedColumn, unsortable_type_error

_FEW_TEXTS = 4  # so few that comparing rows with each of them is quicker than a hash table


def unnamed(frame: pl.DataFrame, name: str) -> pl.Series:
    """Take a column under a plain name; polars reads a name such as "^y.*$" as a pattern."""
    return frame.get_column(name).alias("column")


def width(dtype: pl.DataType) -> int:
    """Return the number of bits of a numeric type."""
    return int(str(dtype).lstrip("UIntFloa"))


def can_sort(dtype: pl.DataType) -> bool:
    """Return whether values of a type can be sorted."""
    is_extension = hasattr(pl, "BaseExtension") and isinstance(dtype, pl.BaseExtension)
    return not (dtype.is_nested() or dtype == pl.Object or is_extension)


def has_direct_codes(frame: pl.DataFrame, name: str) -> bool:
    """Return whether the type of a column allows values to be codes themselves."""
    dtype = frame.get_column(name).dtype
    if dtype.is_integer():
        return width(dtype) <= 64
    if dtype == pl.String:
        return should_hash(frame.height) and bool(_few_texts(unnamed(frame, name)))
    return dtype in (pl.Boolean, pl.Date, pl.Categorical, pl.Enum)


def encode_direct(frame: pl.DataFrame, name: str, *, guess: bool) -> EncodedColumn | None:
    """Take codes from the values themselves; None where that needs a hash table."""
    series = unnamed(frame, name)
    if series.dtype == pl.Boolean:
        return _encode_integers(series.cast(pl.UInt8), 0, 1, series.dtype)
    if series.dtype == pl.String:
        return _encode_few_texts(series)
    if isinstance(series.dtype, pl.Enum):
        last = len(series.dtype.categories) - 1
        physical = series.to_physical()
        return _encode_integers(physical, 0, last, series.dtype) if last >= 0 else None
    physical = (series if series.dtype.is_integer() else series.to_physical()).rechunk()
    low: Any
    high: Any
    if len(physical) and not physical.null_count():
        values = physical.to_numpy()
        low, high = min_max(sample(values) if guess else values)
    else:
        guess, low, high = False, physical.min(), physical.max()
    if low is None:
        return None
    encode = _encode_categorical if series.dtype == pl.Categorical else _encode_integers
    column = encode(physical, low, high, series.dtype)
    if column is None or not guess:
        return column
    return replace(column, codes=replace(column.codes, is_guess=True))


def _encode_integers(
    physical: pl.Series, low: int, high: int, dtype: pl.DataType
) -> EncodedColumn | None:
    size = high - low + 1
    if size > most_levels(len(physical)):
        return None
    has_null = physical.null_count() > 0
    if has_null and high >= 2**63 - 1:
        return None
    if has_null and high == physical.upper_bound()[0]:
        physical = physical.cast(pl.Int64)
    values = (physical.fill_null(high + 1) if has_null else physical).to_numpy()
    if isinstance(dtype, pl.Enum):
        levels = dtype.categories
    else:
        levels = pl.Series(np.arange(size).astype(values.dtype) + values.dtype.type(low))
    if levels.dtype != dtype:
        levels = levels.cast(dtype)
    return EncodedColumn(Codes(values, low, size + has_null), levels)


def _encode_categorical(
    physical: pl.Series, low: int, high: int, dtype: pl.DataType
) -> EncodedColumn | None:
    """Take the physical codes, whose order is that of first use, and rank their categories."""
    if high - low + 1 > most_categories(len(physical)):
        return None
    column = _encode_integers(physical, low, high, physical.dtype)
    if column is None:
        return None
    codes = pl.Series(np.arange(low, high + 1), dtype=physical.dtype)
    levels = codes.cat.to(dtype) if hasattr(codes.cat, "to") else codes.cast(dtype)
    order = levels.cast(pl.String).arg_sort().to_numpy()
    rank = np.full(column.codes.size, len(levels))
    rank[order] = np.arange(len(levels))
    return EncodedColumn(column.codes, levels[order], rank)


def _few_texts(series: pl.Series) -> list[str]:
    """List the texts in a sample of the rows, if these are few."""
    some = series.gather_every(sample_step(len(series)))
    texts = some.drop_nulls().unique().sort().to_list()
    return texts if len(texts) <= _FEW_TEXTS else []


def _encode_few_texts(series: pl.Series) -> EncodedColumn | None:
    """Compare every row with each of a few texts; None where a row has another text."""
    levels = _few_texts(series)
    code = pl.lit(len(levels), pl.UInt8)
    for position, text in enumerate(levels):
        is_text = pl.col("column") == text
        code = pl.when(is_text).then(pl.lit(position, pl.UInt8)).otherwise(code)
    codes = series.to_frame().lazy().select(code).collect(engine="streaming").to_series()
    if (codes == len(levels)).sum() > series.null_count():
        return None
    return EncodedColumn(
        Codes(codes.to_numpy(), 0, len(levels) + 1), pl.Series(levels, dtype=pl.String)
    )


def encode_hashed(frame: pl.DataFrame, name: str) -> EncodedColumn:
    """Look values up in a hash table of the distinct ones."""
    series = unnamed(frame, name)
    if not can_sort(series.dtype):
        raise unsortable_type_error(name, series.dtype)
    if not len(series):
        return EncodedColumn(Codes(np.zeros(0, np.int64), 0, 1), series)
    if series.dtype.is_float():
        series = series.fill_nan(None)
    levels = series.drop_nulls().unique()
    if series.dtype.is_float():
        levels = levels.set(levels == 0, 0.0)  # of -0.0, to which polars adds 0.0 in vain
    order = levels.cast(pl.String) if isinstance(series.dtype, pl.Categorical) else levels
    levels = levels.gather(order.arg_sort())
    if series.dtype == pl.String and len(levels):
        physical = series.cast(pl.Enum(levels)).to_physical()
        return EncodedColumn(
            Codes(physical.fill_null(len(levels)).to_numpy(), 0, len(levels) + 1), levels
        )
    by_text = series.dtype.is_decimal()  # which older versions of polars cannot join
    keys, rows = (s.cast(pl.String) if by_text else s for s in (levels, series))
    table = pl.DataFrame({"level": keys, "code": np.arange(len(levels))})
    joined = pl.DataFrame({"level": rows}).join(
        table, on="level", how="left", maintain_order="left"
    )
    codes = joined.get_column("code").fill_null(len(levels)).to_numpy()
    return EncodedColumn(Codes(codes, 0, len(levels) + 1), levels)
