"""Scores with very many different values, rounded down so that few are left to count."""

import math
import re
from typing import Any

import narwhals as nw

from balframe.frames.adapter import Name
from balframe.frames.engines.inputs import unwrapped
from balframe.frames.engines.registry import engine_of
from balframe.frames.indicators import indicator

_MANY = 1_000  # different scores
_DIGITS = 3  # so that 100 to 1,000 are left
_ALL_WHOLE = 2.0**52  # floats from there on
_LARGEST_POWER = 300  # of ten, that is a float as its inverse is
_PLAIN = re.compile(r"\w[\w ()%/\-]*")  # names that every engine reads as they are


def coarser(frame: Any, name: Name) -> tuple[Any, float | None]:  # noqa: ANN401 (a frame of any kind)
    """Round scores down to multiples of a power of ten, which is returned, if they are very many.

    A score that is a multiple stays as it is, so that calls at such a threshold are still those of
    a threshold. Missing scores stay missing; where some are infinite, others refuse them.
    """
    native, wrapped = unwrapped(frame)
    engine_of(native)  # which refuses what is no frame
    rows = nw.from_native(native)
    schema = rows.collect_schema()
    if not isinstance(name, str) or _PLAIN.fullmatch(name) is None or name not in schema:
        return frame, None
    dtype = schema[name]
    found = _exponent(rows, name) if dtype.is_float() else None
    if found is None:
        return frame, None
    exponent, highest = found
    score = nw.col(name)
    is_there = score <= highest  # which NaN is not
    number = nw.when(is_there).then(score).otherwise(nw.lit(0.0))
    down = nw.when(is_there).then(_down(number, exponent, dtype)).otherwise(score)
    return wrapped(rows.with_columns(down.alias(name)).to_native()), 10.0**-exponent


def _exponent(rows: Any, name: str) -> tuple[int, float] | None:  # noqa: ANN401
    """Find the power of ten whose multiples are counted, and the highest score."""
    column = nw.col(name)
    asked = (column.n_unique().alias("n"), column.min().alias("low"), column.max().alias("high"))
    found = rows.lazy().select(*asked).collect("polars").to_native()
    n, low, high = found.row(0)
    if n is None or n <= _MANY or not math.isfinite(high - low):
        return None
    exponent = _DIGITS - math.ceil(math.log10(high - low))
    if abs(exponent) > _LARGEST_POWER or max(abs(low), abs(high)) * 10.0**exponent >= _ALL_WHOLE:
        return None
    return exponent, high


def _down(score: nw.Expr, exponent: int, dtype: Any) -> nw.Expr:  # noqa: ANN401 (a class or one of it)
    """Round down: to the nearest whole number of steps, corrected by comparison."""
    size = 10.0 ** abs(exponent)
    exact = score.cast(nw.Float64)
    sizes = exact * 0.0 + size  # a column, since polars multiplies by the inverse of a number

    def value(whole: nw.Expr) -> nw.Expr:
        """Write so many steps as the column does: 0.7 of 32 bits is not that of 64."""
        return (whole / sizes if exponent >= 0 else whole * sizes).cast(dtype)

    whole = (exact * sizes if exponent >= 0 else exact / sizes).round(0)
    for _ in range(2):  # one off by the rounding, and one by the product
        whole = whole - indicator(value(whole) > score)
    return value(whole + indicator(value(whole + 1.0) <= score))
