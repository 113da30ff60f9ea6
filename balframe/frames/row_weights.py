"""Counts and weights of rows: what is valid, and what each row adds to sums."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.row_sums import SPARE_EXPONENT, RowSums
from balframe.errors import OPTION, Advice, InvalidInputError, Message
from balframe.frames.adapter import Adapter, Frame, Name
from balframe.frames.query import WEIGHT_SQ, Query

COUNTS_SPARE_EXPONENT = SPARE_EXPONENT + 64  # rows that each stand for up to 2**63


class InverseProbability(str):
    """The name of a column of weights, which are 1 over a probability, null if that is none."""

    def __new__(cls, probability: Name) -> "InverseProbability":
        """Name the weights by the column of the probability."""
        name = super().__new__(cls, f"1 / {probability}")
        name.probability = probability
        return name

    probability: Name


def raise_null(name: object, how_many: int, *, can_correct: bool = False) -> None:
    """Raise if a column has nulls, which may be those of true labels that can be corrected for."""
    if not how_many:
        return
    plural = "s" * (how_many > 1)
    if isinstance(name, InverseProbability):
        raise InvalidInputError(
            "column {!r} has {} value{} that cannot be the probability with which a row was chosen "
            "to be labelled; give numbers above 0 and up to 1 for the rows with a true label.",
            name.probability,
            how_many,
            plural,
        )
    correction: str | Message = ""
    if can_correct:
        correction = Message(
            " If the others may stand for them, give {missing}.", missing=Advice("correct")
        )
    raise InvalidInputError(
        "column {!r} has {} null value{}; fill them, or give {missing} to drop those rows.{}",
        name,
        how_many,
        plural,
        correction,
        missing=Advice("drop"),
    )


def raise_invalid_counts(query: Query, how_many: int) -> None:
    """Raise if counts are not whole numbers of rows."""
    if not how_many:
        return
    advice = Message("Give weights as {sample_weight}.", sample_weight=OPTION)
    if query.cells:
        advice = Message(
            "The rows were read as cells, as {!r} stands right after the labels in results of "
            "`confusion`; if each is a row of the data, rename the column or move it.",
            query.counts,
        )
    raise InvalidInputError(
        "column {!r} has {} value{} that cannot be counts; counts must be whole numbers from 0 "
        "to 2**63 - 1. {}",
        query.counts,
        how_many,
        "s" * (how_many > 1),
        advice,
    )


def raise_invalid_weights(name: object, how_many: int) -> None:
    """Raise if weights are negative or infinite."""
    if how_many:
        raise InvalidInputError(
            f"column {name!r} has {how_many} negative or infinite value{'s' * (how_many > 1)}; "
            "weights must be finite, non-negative numbers. Correct or drop these rows."
        )


def read_row_sums(frame: Frame, adapter: Adapter, query: Query) -> RowSums:
    """Read the counts and weights of an eager frame's rows."""
    n: Int64Array | None = None
    weight: FloatArray | None = None
    weight_sq: FloatArray | None = None
    weight_max: FloatArray | None = None
    no_count: BoolArray | None = None
    no_weight: BoolArray | None = None
    if query.counts is not None:
        values, no_count = adapter.numbers(frame, query.counts)
        n = _as_counts(values, query)
    if query.sample_weight is not None:
        values, no_weight = adapter.numbers(frame, query.sample_weight)
        weight = _as_weights(values, query.sample_weight)
    if query.cells and query.sample_weight is not None:
        weight_sq = _read_stored(frame, adapter, WEIGHT_SQ)
        if query.largest_weight is not None:
            weight_max = _read_stored(frame, adapter, query.largest_weight)
        else:
            assert n is not None
            assert weight is not None
            weight_max = largest_possible_weight(n, weight, weight_sq)
    rows = RowSums(n, None, weight, weight_sq, weight_max)
    if weight_sq is None and weight is not None and n is not None:
        rows = _repeat_weights(weight, n)
    if not query.squares:
        rows = replace(rows, weight_sq=None, weight_max=None, keeps_squares=False)
    return _nulls_to_missing(rows, query, no_count, no_weight)


def _repeat_weights(weight: FloatArray, n: Int64Array) -> RowSums:
    """Return the sums of rows that each stand for n rows of their weight."""
    weight = np.where(n > 0, weight, 0)
    with np.errstate(over="ignore", under="ignore"):
        weight_sq = weight * weight * n
        total = weight * n
        if np.isfinite(total).all():
            return RowSums(n, None, total, weight_sq, weight)
        weight = np.ldexp(weight, -COUNTS_SPARE_EXPONENT)
        scaled = np.multiply(weight, n, dtype=np.float64)
    return RowSums(n, None, scaled, weight_sq, weight, COUNTS_SPARE_EXPONENT)


def largest_possible_weight(n: Int64Array, weight: FloatArray, weight_sq: FloatArray) -> FloatArray:
    """Return the largest weight that one of n rows may have, from sums of weights and squares.

    With the mean m and the mean square s it is m + sqrt((n - 1)(s - m^2)), which is exact for one
    row and for equal weights. Infinite where a sum is.

    References
    ----------
    P. A. Samuelson, "How deviant can you be?", JASA 1968.
    """
    rows = np.maximum(n, 1)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        mean = weight / rows
        spread = np.maximum(weight_sq / rows - mean * mean, 0)
        largest = np.minimum(mean + np.sqrt((rows - 1) * spread), weight)
    return np.where(np.isnan(largest), np.inf, largest)


def _read_stored(frame: Frame, adapter: Adapter, name: Name) -> FloatArray:
    """Read squares or largest weights of stored cells; null is a number beyond the float range."""
    values, is_null = adapter.numbers(frame, name)
    stored = values.astype(np.float64)
    if is_null is not None:
        stored[is_null] = np.inf
    raise_invalid_weights(name, int((stored < 0).sum()))
    return stored


def _nulls_to_missing(
    rows: RowSums, query: Query, no_count: BoolArray | None, no_weight: BoolArray | None
) -> RowSums:
    """Count rows without a count or a weight as missing."""
    if rows.n is not None and no_weight is not None:
        no_weight = no_weight & (rows.n > 0)  # a row that stands for none does not exist
    for name, is_null in ((query.counts, no_count), (query.sample_weight, no_weight)):
        if is_null is not None and not query.drops_missing:
            raise_null(name, int(is_null.sum()))
    nulls = [is_null for is_null in (no_count, no_weight) if is_null is not None]
    is_missing = np.logical_or.reduce(nulls) if nulls else np.zeros(0, np.bool_)
    if not is_missing.any():
        return rows
    n = np.ones(len(is_missing), np.int64) if rows.n is None else rows.n
    missing = np.where(is_missing, n if no_count is None else np.where(no_count, 1, n), 0)
    return rows.leaving_out(is_missing, missing)


def _as_counts(values: npt.NDArray[Any], query: Query) -> Int64Array:
    if values.dtype.kind == "f":
        invalid = (values < 0) | (values >= 2.0**63) | (values != np.floor(values))
        raise_invalid_counts(query, int(invalid.sum()))
    elif values.min(initial=0) < 0 or int(values.max(initial=0)) >= 2**63:
        raise_invalid_counts(query, int((values.astype(np.int64) < 0).sum()))
    return values.astype(np.int64, copy=False)


def _as_weights(values: npt.NDArray[Any], name: object) -> FloatArray:
    weights = values.astype(np.float64, copy=False)
    if weights.min(initial=0) < 0 or np.isinf(weights.max(initial=0)):
        raise_invalid_weights(name, int(((weights < 0) | np.isinf(weights)).sum()))
    return weights
