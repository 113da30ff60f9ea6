"""Round scores with very many distinct values down, so that few are left to count."""

import math
import re
from typing import Any

import narwhals as nw

from balframe.frames.adapter import Name
from balframe.frames.engines.inputs import unwrap
from balframe.frames.engines.registry import find_engine
from balframe.frames.engines.weighted_sums import column_expr
from balframe.frames.indicators import indicator
from balframe.frames.thresholds import float_type

_MANY_SCORES = 1_000  # distinct scores
_DIGITS = 3  # so that 100 to 1,000 are left
_ALL_WHOLE = 2.0**52  # floats from there on
_LARGEST_POWER = 300  # of ten, that is a float as its inverse is
_PLAIN = re.compile(r"\w[\w ()%/\-]*")  # names that every engine reads as they are


def round_down_scores(frame: Any, name: Name) -> tuple[Any, float | None]:  # noqa: ANN401
    """Round very many distinct scores down to multiples of a power of ten, which is returned.

    A score that is a multiple stays as it is, so that predictions at such a threshold do not
    change. Missing scores stay missing; infinite scores raise later, where they are counted.
    """
    native, wrap = unwrap(frame)
    find_engine(native)  # raises if it is not a frame
    rows = nw.from_native(native)
    schema = rows.collect_schema()
    if not isinstance(name, str) or _PLAIN.fullmatch(name) is None or name not in schema:
        return frame, None
    dtype = schema[name]
    is_long = dtype.is_float() and float_type(dtype).itemsize > 2  # Arrow cannot compare others
    rounding = _rounding_exponent(rows, name) if is_long else None
    if rounding is None:
        return frame, None
    exponent, highest = rounding
    score = nw.col(name)
    has_score = score <= highest  # false for NaN
    number = nw.when(has_score).then(score).otherwise(nw.lit(0.0))
    down = nw.when(has_score).then(_round_down(number, exponent, dtype)).otherwise(score)
    return wrap(rows.with_columns(down.alias(name)).to_native()), 10.0**-exponent


def select_scores(frame: Any, name: Name, lowest: float, end: float) -> Any:  # noqa: ANN401
    """Return the rows whose scores are at least `lowest` and below `end`."""
    native, wrap = unwrap(frame)
    score = column_expr(name)
    return wrap(nw.from_native(native).filter((score >= lowest) & (score < end)).to_native())


def _rounding_exponent(rows: Any, name: str) -> tuple[int, float] | None:  # noqa: ANN401
    """Return the exponent of ten to round with, and the highest score; None to keep all."""
    column = nw.col(name)
    statistics = (
        column.n_unique().alias("n"),
        column.min().alias("low"),
        column.max().alias("high"),
    )
    n, low, high = rows.lazy().select(*statistics).collect("polars").to_native().row(0)
    if n is None or n <= _MANY_SCORES or not math.isfinite(high - low):
        return None
    exponent = _DIGITS - math.ceil(math.log10(high - low))
    if abs(exponent) > _LARGEST_POWER or max(abs(low), abs(high)) * 10.0**exponent >= _ALL_WHOLE:
        return None
    return exponent, high


def _round_down(score: nw.Expr, exponent: int, dtype: Any) -> nw.Expr:  # noqa: ANN401
    """Round down: to the nearest whole number of steps, corrected by comparison."""
    size = 10.0 ** abs(exponent)
    exact = score.cast(nw.Float64)
    sizes = exact * 0.0 + size  # a column: polars multiplies by the inverse of a constant

    def value(whole: nw.Expr) -> nw.Expr:
        """Convert steps to the type of the column: 0.7 in 32 bits differs from 0.7 in 64."""
        return (whole / sizes if exponent >= 0 else whole * sizes).cast(dtype)

    whole = (exact * sizes if exponent >= 0 else exact / sizes).round(0)
    for _ in range(2):  # one off by the rounding, and one by the product
        whole = whole - indicator(value(whole) > score)
    return value(whole + indicator(value(whole + 1.0) <= score))
