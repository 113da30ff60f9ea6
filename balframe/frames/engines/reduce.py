"""Lazy and distributed engines: the group-by, pushed down as one query that returns cells."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import narwhals as nw
import numpy as np

from balframe.core.arrays import Int64Array
from balframe.core.measures import SPARE_EXPONENT, Measures
from balframe.errors import InvalidInputError
from balframe.frames.library import Frame, Library, Name
from balframe.frames.query import WEIGHT_SQ, Query
from balframe.frames.row_weights import (
    COUNTED_EXPONENT,
    raise_invalid_counts,
    raise_invalid_weights,
    raise_null,
)
from balframe.frames.thresholds import Thresholds

Rows = nw.LazyFrame[Any]

ACTUAL, OUTCOME, MODEL_INDEX, BATCH = "actual", "outcome", "model", "batch"
INFINITE, OUTSIDE = -1, -2  # in the place of thresholds reached
_HALF = 2**31
_BEYOND_INT64 = (nw.UInt64, nw.Int128, nw.UInt128)
_TOGETHER = 4  # predictions that one group-by takes: with more, their combinations grow too many


def by_key(position: int) -> str:
    """Name a by-column in the reduced frame."""
    return f"by{position}"


def outcome_key(model: int) -> str:
    """Name the predictions of a model in the reduced frame."""
    return f"{OUTCOME}{model}"


def batches(query: Query) -> list[list[int]]:
    """Share out the models, or pairs of them, among group-bys of few predictions each."""
    found: list[list[int]] = []
    taken: set[Name] = set()
    for position, names in enumerate(query.outcomes):
        if not found or len(taken | {*names}) > _TOGETHER:
            found.append([])
            taken = set()
        found[-1].append(position)
        taken |= {*names}
    return found


def reduce(rows: Rows, query: Query) -> Rows:
    """Ask for the cells of all models: one group-by, or as many as there are batches of them."""
    rows, query = _with_plain_names(rows, query)
    keys, carried = _keys(query), _measures(query, rows.collect_schema())
    predictions = {outcome_key(i): _column(name) for i, name in enumerate(query.y_pred)}
    selected = rows.select(**keys, **predictions, **carried)
    parts = []
    for number, batch in enumerate(batches(query)):
        names = {name for position in batch for name in query.outcomes[position]}
        absent = [outcome_key(i) for i, name in enumerate(query.y_pred) if name not in names]
        rows_of_batch = selected.with_columns(*map(_nothing, absent)) if absent else selected
        cells = _grouped(rows_of_batch, [*keys, *predictions], carried)
        parts.append(cells.with_columns(nw.lit(number, nw.Int64).alias(BATCH)))
    return parts[0] if len(parts) == 1 else nw.concat(parts, how="vertical")


def _nothing(key: str) -> nw.Expr:
    """Make a column null and keep its type, whatever that is called in the engine."""
    column = nw.col(key)
    return nw.when(column.is_null() & ~column.is_null()).then(column).alias(key)


def reduce_scores(rows: Rows, query: Query, thresholds: Thresholds) -> Rows:
    """Ask for rows by score, or by the number of thresholds it reaches: one group-by."""
    rows, query = _with_plain_names(rows, query)
    keys, carried = _keys(query), _measures(query, rows.collect_schema())
    scores = {outcome_key(i): _column(name).cast(nw.Float64) for i, name in enumerate(query.y_pred)}
    selected = rows.select(**keys, **scores, **carried)
    models = _below_each_other(selected, list(scores), [*keys, *carried])
    return _grouped(_reached(models, thresholds), [*keys, MODEL_INDEX, OUTCOME], carried)


def _reached(rows: Rows, thresholds: Thresholds) -> Rows:
    """Put the number of thresholds reached in the place of scores, step by step.

    Each step is a column, for engines that would write the expression before it out every time.
    """
    score, finite, guess = (nw.col(name) for name in (OUTCOME, "finite", "guess"))
    rows = rows.with_columns(nw.when(~_is_nan(score)).then(score).alias(OUTCOME))
    if thresholds.is_exact:
        return rows
    is_finite = (score > float("-inf")) & (score < float("inf"))
    rows = rows.with_columns(finite=nw.when(is_finite).then(score).otherwise(0.0))
    if thresholds.is_even:
        rows = rows.with_columns(guess=thresholds.guessed(finite))
        is_outside = (finite < 0) | (finite > 1)
        corrected = thresholds.corrected(finite, guess)
        rows = rows.with_columns(
            guess=nw.when(is_outside).then(nw.lit(OUTSIDE)).otherwise(corrected)
        )
    else:
        rows = rows.with_columns(guess=thresholds.counted(finite))
    reached = nw.when(is_finite).then(guess).otherwise(nw.lit(INFINITE))
    return rows.with_columns(nw.when(~score.is_null()).then(reached).alias(OUTCOME))


def _below_each_other(rows: Rows, scores: list[str], others: list[str]) -> Rows:
    """Give each row once for every model, the position of the model beside its score."""
    if len(scores) > 1 and not rows.implementation.is_duckdb():
        models = rows.unpivot(scores, index=others, variable_name=MODEL_INDEX, value_name=OUTCOME)
        number = nw.col(MODEL_INDEX).str.slice(len(OUTCOME)).cast(nw.Int64)
        return models.with_columns(number.alias(MODEL_INDEX))
    # narwhals has DuckDB unpivot on its default connection, where the rows may not be
    parts = [
        rows.select(*others, nw.col(name).alias(OUTCOME), nw.lit(i, nw.Int64).alias(MODEL_INDEX))
        for i, name in enumerate(scores)
    ]
    return parts[0] if len(parts) == 1 else nw.concat(parts, how="vertical")


def _with_plain_names(rows: Rows, query: Query) -> tuple[Rows, Query]:
    """Rename columns whose names an engine might read as more: "*", "^y.*$", "a.b", 0."""
    known = rows.collect_schema().names()
    odd = [name for name in query.columns if not (isinstance(name, str) and name.isidentifier())]
    longest = max((len(str(name)) for name in known), default=0)
    plain = {name: f"c{i}".ljust(longest + 3, "_") for i, name in enumerate(odd)}
    if not plain:
        return rows, query
    return _renamed(rows, plain, query.columns), replace(
        query,
        y_true=plain.get(query.y_true, query.y_true),
        y_pred=tuple(plain.get(name, name) for name in query.y_pred),
        by=tuple(plain.get(name, name) for name in query.by),
        counts=plain.get(query.counts, query.counts),
        sample_weight=plain.get(query.sample_weight, query.sample_weight),
    )


def _renamed(rows: Rows, plain: dict[Name, str], names: Sequence[Name]) -> Rows:
    holder: nw.Implementation = rows.implementation
    native: Any = rows.to_native()
    if holder.is_spark_like():  # its columns are looked up by parts of "a.b"
        native = native.toDF(*(plain.get(name, name) for name in native.columns))
    elif holder.is_duckdb():  # narwhals has it read "*" as all columns
        renamed = (f"{_quoted(name)} AS {_quoted(plain.get(name, name))}" for name in names)
        native = native.project(", ".join(renamed))
    else:
        return rows.rename(cast("dict[str, str]", plain))  # names of Dask may be anything
    result: Rows = nw.from_native(native)
    return result


def _column(name: Name) -> nw.Expr:
    return nw.col(_text(name))


def _text(name: Name) -> str:
    """Take a name as text, which each is once columns are renamed."""
    return cast(str, name)


def _quoted(name: Name) -> str:
    return '"' + str(name).replace('"', '""') + '"'


def _keys(query: Query) -> dict[str, nw.Expr]:
    keys = {by_key(i): _column(name) for i, name in enumerate(query.by)}
    return {**keys, ACTUAL: _column(query.y_true)}


def _grouped(rows: Rows, keys: Sequence[str], carried: Mapping[str, nw.Expr]) -> Rows:
    """Sum what the rows carry, or count them; engines may sum integers as decimals."""
    sums = [nw.col(name).sum() for name in carried] or [nw.len().alias("n_low")]
    cells = rows.group_by(*keys).agg(*sums)
    integers = [name for name in carried if not name.startswith("weight")] or ["n_low"]
    return cells.with_columns(*(nw.col(name).cast(nw.Int64) for name in integers))


def summed(cells: Rows) -> Rows:
    """Add up the cells of several groups of rows; all but the keys are sums."""
    names = cells.collect_schema().names()
    is_key = (*(by_key(i) for i in range(len(names))), ACTUAL, OUTCOME, MODEL_INDEX, BATCH)
    keys = [name for name in names if name in is_key or name.startswith(OUTCOME)]
    sums = [nw.col(name).sum() for name in names if name not in keys]
    return cells.group_by(*keys).agg(*sums).select(*names)


def _measures(query: Query, schema: nw.Schema) -> dict[str, nw.Expr]:
    """Write what each row carries as columns to be summed; sums skip nulls, so count them."""
    one = nw.lit(1, nw.Int64)
    if query.counts is None and query.sample_weight is None:
        return {}
    carried: dict[str, nw.Expr] = {}
    n, has_count = one, nw.lit(True)
    if query.counts is not None:
        count = _column(query.counts)
        has_count = _is_known(query.counts, schema)
        is_valid = has_count & (count >= 0)
        if schema[_text(query.counts)].is_float():
            is_valid = is_valid & (count < float(2**63)) & (count % 1 == 0)
        elif schema[_text(query.counts)] in _BEYOND_INT64:
            is_valid = is_valid & (count <= 2**63 - 1)
        n = nw.when(is_valid).then(count).otherwise(0).cast(nw.Int64)
        carried["null_counts"] = (~has_count).cast(nw.Int64)
        carried["bad_counts"] = (has_count & ~is_valid).cast(nw.Int64)
    has_both = has_count
    if query.sample_weight is not None:
        given = _column(query.sample_weight).cast(nw.Float64)
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
        }
        if query.squares:
            carried["weight_sq"] = square * times
    counted = nw.when(has_both).then(n).otherwise(0)
    stands_for = nw.when(has_count).then(n).otherwise(1)
    low = counted % _HALF
    halves = {"n_high": (counted - low) // _HALF, "n_low": low}  # // may be of floats
    return carried | {
        **({"n_low": counted} if query.counts is None else halves),
        "missing": nw.when(has_both).then(0).otherwise(stands_for),
    }


def _spare_exponent(query: Query) -> int:
    return SPARE_EXPONENT if query.counts is None or query.cells else COUNTED_EXPONENT


def _is_known(name: Name, schema: nw.Schema) -> nw.Expr:
    column = _column(name)
    known = ~column.is_null()
    return known & ~_is_nan(column).fill_null(False) if schema[_text(name)].is_float() else known


def _is_nan(column: nw.Expr) -> nw.Expr:
    """Ask it of the remainder: DuckDB takes Parquet's statistics for true, which leave NaN out.

    Of the column itself it would say no without a look at the values.
    """
    is_infinite = (column == float("inf")) | (column == float("-inf"))
    return (column % 1).is_nan() & ~is_infinite


def measures_of(cells: Frame, library: Library, query: Query) -> Measures:
    """Read the sums of a reduced frame, and raise what only the values could tell."""
    known = library.names(cells)

    def array(name: str) -> Any:  # noqa: ANN401 (None only where no such column was asked for)
        return library.numbers(cells, name)[0] if name in known else None

    def total(name: str) -> int:
        return int(array(name).sum()) if name in known else 0

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
    return Measures(n, array("missing"), weight, array("weight_sq"), exponent, query.squares)


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
