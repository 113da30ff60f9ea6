"""Lazy and distributed engines: the group-by, pushed down as one query that returns cells."""

from collections.abc import Mapping, Sequence
from typing import cast

import narwhals as nw

from balframe.frames.adapter import Name, not_time
from balframe.frames.engines.column_names import Rows, with_plain_names
from balframe.frames.engines.weighted_sums import carried_by, column_of, is_nan
from balframe.frames.query import Query
from balframe.frames.thresholds import Thresholds

ACTUAL, OUTCOME, MODEL_INDEX, BATCH = "actual", "outcome", "model", "batch"
_SCORE = "score"
INFINITE, OUTSIDE = -1, -2  # in the place of thresholds reached
_ALL_WHOLE = 2.0**53  # floats from there on; and Ibis rounds to integers of 64 bits
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
    """Ask for the cells of all models: one group-by, or as many as there are batches of them.

    Cells of several batches have a column that numbers them.
    """
    rows, query = with_plain_names(rows, query)
    keys, carried = _keys(rows, query), carried_by(rows, query)
    predictions = {outcome_key(i): _labels(rows, name) for i, name in enumerate(query.y_pred)}
    selected = rows.select(**keys, **predictions, **carried)
    all_batches = batches(query)
    if len(all_batches) == 1:
        return _grouped(selected, [*keys, *predictions], carried)
    parts = []
    for number, batch in enumerate(all_batches):
        names = {name for position in batch for name in query.outcomes[position]}
        absent = [outcome_key(i) for i, name in enumerate(query.y_pred) if name not in names]
        rows_of_batch = selected.with_columns(*map(_nothing, absent)) if absent else selected
        cells = _grouped(rows_of_batch, [*keys, *predictions], carried)
        parts.append(cells.with_columns(nw.lit(number, nw.Int64).alias(BATCH)))
    return nw.concat(parts, how="vertical")


def _nothing(key: str) -> nw.Expr:
    """Make a column null and keep its type, whatever that is called in the engine."""
    column = nw.col(key)
    return nw.when(column.is_null() & ~column.is_null()).then(column).alias(key)


def reduce_scores(rows: Rows, query: Query, thresholds: Thresholds) -> Rows:
    """Ask for rows by score, or by the number of thresholds it reaches: one group-by."""
    rows, query = with_plain_names(rows, query)
    keys, carried = _keys(rows, query), carried_by(rows, query)
    scores = {
        outcome_key(i): column_of(name).cast(nw.Float64) for i, name in enumerate(query.y_pred)
    }
    selected = rows.select(**keys, **scores, **carried)
    models = _reached(_below_each_other(selected, list(scores), [*keys, *carried]), thresholds)
    if len(scores) > 1:
        return _grouped(models, [*keys, MODEL_INDEX, OUTCOME], carried)
    cells = _grouped(models, [*keys, OUTCOME], carried)  # by one column less
    return cells.with_columns(nw.lit(0, nw.Int64).alias(MODEL_INDEX))


def reduce_values(rows: Rows, query: Query, name: Name) -> Rows:
    """Ask for rows by the values of one column: one group-by."""
    carried = carried_by(rows, query)
    key = by_key(0)
    return _grouped(rows.select(column_of(name).alias(key), **carried), [key], carried)


def _reached(rows: Rows, thresholds: Thresholds) -> Rows:
    """Put the number of thresholds that scores reach beside them, step by step.

    Each step is a column, for engines that would write the expression before it out every time, and
    has a name of its own: old releases of Dask lose their way where a column is replaced.
    """
    score, inside, finite, guess = (nw.col(n) for n in (_SCORE, "inside", "finite", "guess"))
    is_number = ~(score.is_null() | is_nan(score, rows))
    if thresholds.is_exact:
        reached = score if thresholds.resolution is None else thresholds.step_of(score)
        return rows.with_columns(nw.when(is_number).then(reached).alias(OUTCOME))
    is_finite = (score > float("-inf")) & (score < float("inf"))
    is_allowed = (score >= 0) & (score <= 1) if thresholds.is_even else is_finite
    rows = rows.with_columns(inside=is_number & is_allowed)
    rows = rows.with_columns(finite=nw.when(inside).then(score).otherwise(0.0))
    if thresholds.is_even:
        rows = rows.with_columns(guess=thresholds.guessed(finite))
        counted = thresholds.corrected(finite, guess)
    else:
        counted = thresholds.counted(finite)
    # of few rows, which is what some engines compute it of
    other = nw.when(is_finite).then(nw.lit(OUTSIDE)).otherwise(nw.lit(INFINITE))
    reached = nw.when(inside).then(counted).otherwise(nw.when(is_number).then(other))
    return rows.with_columns(reached.alias(OUTCOME))


def _below_each_other(rows: Rows, scores: list[str], others: list[str]) -> Rows:
    """Give each row once for every model, the position of the model beside its score."""
    holder = rows.implementation
    if len(scores) > 1 and not (holder.is_duckdb() or holder.is_ibis()):
        models = rows.unpivot(scores, index=others, variable_name=MODEL_INDEX, value_name=_SCORE)
        number = nw.col(MODEL_INDEX).str.slice(len(OUTCOME)).cast(nw.Int64)
        return models.with_columns(number.alias(MODEL_INDEX))
    # narwhals has DuckDB unpivot on its default connection, where the rows may not be; Ibis lacks
    # it on some backends, and on Postgres it goes through JSON, which has no NaN
    parts = [
        rows.select(*others, nw.col(name).alias(_SCORE), nw.lit(i, nw.Int64).alias(MODEL_INDEX))
        for i, name in enumerate(scores)
    ]
    return parts[0] if len(parts) == 1 else nw.concat(parts, how="vertical")


def _keys(rows: Rows, query: Query) -> dict[str, nw.Expr]:
    keys = {
        by_key(i): _day(query.time, rows) if query.is_period(name) else column_of(name)
        for i, name in enumerate(query.keys)
    }
    return keys | {ACTUAL: _labels(rows, query.y_true)} if query.has_truth else keys


def _day(name: Name | None, rows: Rows) -> nw.Expr:
    """Take the local day of a date or datetime."""
    column = column_of(name)
    dtype = rows.collect_schema()[cast(str, name)]
    if isinstance(dtype, nw.Datetime):
        local = column if dtype.time_zone is None else column.dt.replace_time_zone(None)
        return local.dt.truncate("1d")
    if dtype == nw.Unknown and rows.implementation.is_polars():  # of nothing but nulls
        return column.cast(nw.Date)
    if dtype != nw.Date:
        raise not_time(name, dtype)
    return column


def _labels(rows: Rows, name: Name) -> nw.Expr:
    """Make one number of all that are not whole: no labels, and maybe too many to group by."""
    column = column_of(name)
    if not rows.collect_schema()[cast(str, name)].is_float():
        return column
    is_near = (column > -_ALL_WHOLE) & (column < _ALL_WHOLE)
    near = nw.when(is_near).then(column).otherwise(0.0)
    whole = near.round(0)
    is_fraction = (near < whole) | (near > whole)
    return nw.when(is_fraction).then(whole * 0 + 0.5).otherwise(column)


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
