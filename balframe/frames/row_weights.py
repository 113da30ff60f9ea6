"""Counts and weights of rows: what is allowed, and how they become measures to add up."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.row_sums import SPARE_EXPONENT, Measures
from balframe.errors import InvalidInputError, advised, parameter
from balframe.frames.adapter import Adapter, Frame
from balframe.frames.query import WEIGHT_SQ, Query

COUNTED_EXPONENT = SPARE_EXPONENT + 64  # rows that each stand for up to 2**63


def raise_null(name: object, how_many: int) -> None:
    """Refuse nulls in a column."""
    if how_many:
        raise InvalidInputError(
            f"column {name!r} has {how_many} null value{'s' * (how_many > 1)}; fill them, or give "
            f"{advised('missing', 'drop')} to drop those rows."
        )


def raise_invalid_counts(name: object, how_many: int) -> None:
    """Refuse counts that do not say how many rows a row stands for."""
    if how_many:
        raise InvalidInputError(
            f"column {name!r} has {how_many} value{'s' * (how_many > 1)} that cannot be counts; "
            "counts must be whole numbers from 0 to 2**63 - 1. Give weights as "
            f"{parameter('sample_weight')}."
        )


def raise_invalid_weights(name: object, how_many: int) -> None:
    """Refuse weights that are no weights."""
    if how_many:
        raise InvalidInputError(
            f"column {name!r} has {how_many} negative or infinite value{'s' * (how_many > 1)}; "
            "weights must be finite, non-negative numbers. Correct or drop these rows."
        )


def measures(frame: Frame, library: Adapter, query: Query) -> Measures:
    """Read the counts and weights of an eager frame's rows."""
    n: Int64Array | None = None
    weight: FloatArray | None = None
    weight_sq: FloatArray | None = None
    no_count: BoolArray | None = None
    no_weight: BoolArray | None = None
    if query.counts is not None:
        values, no_count = library.numbers(frame, query.counts)
        n = _as_counts(values, query.counts)
    if query.sample_weight is not None:
        values, no_weight = library.numbers(frame, query.sample_weight)
        weight = _as_weights(values, query.sample_weight)
    if query.cells and query.sample_weight is not None:
        values, no_square = library.numbers(frame, WEIGHT_SQ)
        weight_sq = values.astype(np.float64)
        if no_square is not None:
            weight_sq[no_square] = np.inf
        raise_invalid_weights(WEIGHT_SQ, int((weight_sq < 0).sum()))
    rows = Measures(n, None, weight, weight_sq)
    if weight_sq is None and weight is not None and n is not None:
        rows = _repeated(weight, n)
    if not query.squares:
        rows = replace(rows, weight_sq=None, keeps_squares=False)
    return _without_nulls(rows, query, no_count, no_weight)


def _repeated(weight: FloatArray, n: Int64Array) -> Measures:
    """Let each row stand for n rows of its weight."""
    weight = np.where(n > 0, weight, 0)
    with np.errstate(over="ignore", under="ignore"):
        weight_sq = weight * weight * n
        total = weight * n
        if np.isfinite(total).all():
            return Measures(n, None, total, weight_sq)
        scaled = np.multiply(np.ldexp(weight, -COUNTED_EXPONENT), n, dtype=np.float64)
    return Measures(n, None, scaled, weight_sq, COUNTED_EXPONENT)


def _without_nulls(
    rows: Measures, query: Query, no_count: BoolArray | None, no_weight: BoolArray | None
) -> Measures:
    """Move rows without a count or a weight from the rows to the missing ones."""
    if rows.n is not None and no_weight is not None:
        no_weight = no_weight & (rows.n > 0)  # a row that stands for none does not exist
    for name, is_null in ((query.counts, no_count), (query.sample_weight, no_weight)):
        if is_null is not None and not query.drops_missing:
            raise_null(name, int(is_null.sum()))
    nulls = [is_null for is_null in (no_count, no_weight) if is_null is not None]
    left_out = np.logical_or.reduce(nulls) if nulls else np.zeros(0, np.bool_)
    if not left_out.any():
        return rows
    n = np.ones(len(left_out), np.int64) if rows.n is None else rows.n
    missing = np.where(left_out, n if no_count is None else np.where(no_count, 1, n), 0)
    return rows.leaving_out(left_out, missing)


def _as_counts(values: npt.NDArray[Any], name: object) -> Int64Array:
    if values.dtype.kind == "f":
        invalid = (values < 0) | (values >= 2.0**63) | (values != np.floor(values))
        raise_invalid_counts(name, int(invalid.sum()))
    elif values.min(initial=0) < 0 or int(values.max(initial=0)) >= 2**63:
        raise_invalid_counts(name, int((values.astype(np.int64) < 0).sum()))
    return values.astype(np.int64, copy=False)


def _as_weights(values: npt.NDArray[Any], name: object) -> FloatArray:
    weights = values.astype(np.float64, copy=False)
    if weights.min(initial=0) < 0 or np.isinf(weights.max(initial=0)):
        raise_invalid_weights(name, int(((weights < 0) | np.isinf(weights)).sum()))
    return weights
