"""Lazy engines: the group-by, pushed down as one query that returns cells."""

from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from balframe.core.aggregate import SPARE_EXPONENT, Measures
from balframe.core.arrays import Int64Array
from balframe.errors import InvalidInputError
from balframe.frames.measures import (
    COUNTED_EXPONENT,
    raise_invalid_counts,
    raise_invalid_weights,
    raise_null,
)
from balframe.frames.query import WEIGHT_SQ, Query
from balframe.frames.thresholds import Thresholds

ACTUAL, MODEL_INDEX = "actual", "model"
INFINITE, OUTSIDE = -1, -2  # in the place of thresholds reached
_HALF = 2**31


def by_key(position: int) -> str:
    """Name a by-column in the reduced frame."""
    return f"by{position}"


def outcome_key(model: int) -> str:
    """Name the predictions of a model in the reduced frame."""
    return f"outcome{model}"


def outcome_keys(query: Query, model: int) -> list[str]:
    """Name the predictions of a model, or of a pair of them, in the reduced frame."""
    return [outcome_key(query.y_pred.index(name)) for name in query.outcomes[model]]


def reduce(frame: pl.LazyFrame, query: Query, thresholds: Thresholds | None = None) -> pl.LazyFrame:
    """Ask for the cells of all models, one group-by each, one below the other.

    With thresholds the predictions are scores: as they are, or the number of thresholds reached.
    """
    frame, query = _without_patterns(frame, query)
    rows = nw.from_native(frame)
    models = [
        _cells_of_model(rows, query, model, thresholds) for model in range(len(query.outcomes))
    ]
    cells = models[0] if len(models) == 1 else nw.concat(models, how="diagonal")
    query_of_engine: pl.LazyFrame = cells.to_native()
    return query_of_engine


def _without_patterns(frame: pl.LazyFrame, query: Query) -> tuple[pl.LazyFrame, Query]:
    """Rename columns whose names the engine would read as patterns: "*" and "^...$"."""
    known = frame.collect_schema().names()
    patterns = [name for name in query.columns if name == "*" or name.startswith("^")]
    longest = max(map(len, known), default=0)
    plain = {name: f"{i}".rjust(longest + 1, "_") for i, name in enumerate(patterns)}
    if not plain:
        return frame, query
    return frame.rename(plain), replace(
        query,
        y_true=plain.get(query.y_true, query.y_true),
        y_pred=tuple(plain.get(name, name) for name in query.y_pred),
        by=tuple(plain.get(name, name) for name in query.by),
        counts=plain.get(query.counts, query.counts),
        sample_weight=plain.get(query.sample_weight, query.sample_weight),
    )


def _cells_of_model(
    rows: nw.LazyFrame[Any], query: Query, model: int, thresholds: Thresholds | None
) -> nw.LazyFrame[Any]:
    keys = {by_key(i): name for i, name in enumerate(query.by)}
    keys[ACTUAL] = query.y_true
    outcomes = dict(zip(outcome_keys(query, model), query.outcomes[model], strict=True))
    carried = _measures(query, rows.collect_schema())
    selected = rows.select(
        *(nw.col(str(name)).alias(key) for key, name in keys.items()),
        *(_outcome(str(name), thresholds).alias(key) for key, name in outcomes.items()),
        *(expression.alias(name) for name, expression in carried.items()),
    )
    cells = selected.group_by(*keys, *outcomes).agg(*(nw.col(name).sum() for name in carried))
    return cells.with_columns(nw.lit(model, nw.Int64).alias(MODEL_INDEX))


def _outcome(name: str, thresholds: Thresholds | None) -> nw.Expr:
    """Take a prediction, or the score, or how many thresholds it reaches."""
    if thresholds is None:
        return nw.col(name)
    score = nw.col(name).cast(nw.Float64)
    score = nw.when(~score.is_nan()).then(score)
    if thresholds.is_exact:
        return score
    is_infinite = (score == float("inf")) | (score == float("-inf"))
    reached = thresholds.expression(nw.when(~is_infinite).then(score).otherwise(0.0))
    if thresholds.is_even:
        is_outside = (score < 0) | (score > 1)
        reached = nw.when(is_outside).then(nw.lit(OUTSIDE)).otherwise(reached)
    reached = nw.when(is_infinite).then(nw.lit(INFINITE)).otherwise(reached)
    return nw.when(~score.is_null()).then(reached)


def _measures(query: Query, schema: nw.Schema) -> dict[str, nw.Expr]:
    """Write what each row carries as columns to be summed; sums skip nulls, so count them."""
    one = nw.lit(1, nw.Int64)
    if query.counts is None and query.sample_weight is None:
        return {"n_low": one}
    carried: dict[str, nw.Expr] = {}
    n, has_count = one, nw.lit(True)
    if query.counts is not None:
        count = nw.col(str(query.counts))
        has_count = _is_known(query.counts, schema)
        is_valid = has_count & (count >= 0)
        if schema[str(query.counts)].is_float():
            is_valid = is_valid & (count < float(2**63)) & (count % 1 == 0)
        elif schema[str(query.counts)].is_unsigned_integer():
            is_valid = is_valid & (count <= 2**63 - 1)
        n = nw.when(is_valid).then(count).otherwise(0).cast(nw.Int64)
        carried["null_counts"] = (~has_count).cast(nw.Int64)
        carried["bad_counts"] = (has_count & ~is_valid).cast(nw.Int64)
    has_both = has_count
    if query.sample_weight is not None:
        given = nw.col(str(query.sample_weight)).cast(nw.Float64)
        has_weight = _is_known(query.sample_weight, schema)
        has_both = has_count & has_weight
        is_valid = has_weight & (given >= 0) & (given < float("inf"))
        weight = nw.when(has_both & is_valid).then(given).otherwise(0.0)
        square = weight * weight
        if query.cells:
            square = nw.when(has_both).then(nw.col(WEIGHT_SQ).cast(nw.Float64)).otherwise(0.0)
            square = square.fill_null(float("inf"))
            carried["bad_weight_sq"] = (square < 0).cast(nw.Int64)
        scale = 2.0 ** -_spare_exponent(query)
        times = one if query.cells else n
        carried |= {
            "null_weight": (~has_weight & (n > 0)).cast(nw.Int64),
            "bad_weight": (has_weight & ~is_valid).cast(nw.Int64),
            "weight": weight * times,
            "weight_scaled": weight * scale * times,
            "weight_sq": square * times,
        }
    counted = nw.when(has_both).then(n).otherwise(0)
    stands_for = nw.when(has_count).then(n).otherwise(1)
    halves = {"n_high": counted // _HALF, "n_low": counted % _HALF}
    return carried | {
        **({"n_low": counted} if query.counts is None else halves),
        "missing": nw.when(has_both).then(0).otherwise(stands_for),
    }


def _spare_exponent(query: Query) -> int:
    return SPARE_EXPONENT if query.counts is None or query.cells else COUNTED_EXPONENT


def _is_known(name: object, schema: nw.Schema) -> nw.Expr:
    column = nw.col(str(name))
    known = ~column.is_null()
    return known & ~column.is_nan().fill_null(False) if schema[str(name)].is_float() else known


def measures_of(cells: pl.DataFrame, query: Query) -> Measures:
    """Read the sums of a reduced frame, and raise what only the values could tell."""

    def total(name: str) -> int:
        return int(cells.get_column(name).sum()) if name in cells.columns else 0

    def array(name: str) -> Any:  # noqa: ANN401
        return cells.get_column(name).to_numpy() if name in cells.columns else None

    raise_invalid_counts(query.counts, total("bad_counts"))
    raise_invalid_weights(query.sample_weight, total("bad_weight"))
    raise_invalid_weights(WEIGHT_SQ, total("bad_weight_sq"))
    if not query.drops_missing:
        raise_null(query.counts, total("null_counts"))
        raise_null(query.sample_weight, total("null_weight"))
    weight, exponent = array("weight"), 0
    if weight is not None and not np.isfinite(weight).all():
        weight, exponent = array("weight_scaled"), _spare_exponent(query)
    n = _joined(array("n_high"), array("n_low"))
    return Measures(n, array("missing"), weight, array("weight_sq"), exponent)


def _joined(high: Int64Array | None, low: Int64Array) -> Int64Array:
    """Put the halves of sums together, which apart cannot overflow."""
    if high is None:
        return low
    high, low = high + (low >> 31), low & (_HALF - 1)
    if len(high) and int(high.max()) >= 2**32:
        raise InvalidInputError(
            f"the counts of a cell add up to more than {2**63 - 1}, which a 64-bit integer "
            "holds; report on parts of the data, or scale the counts down."
        )
    return (high << 31) | low
