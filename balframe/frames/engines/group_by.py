"""The group-by of lazy and distributed engines: one query that returns cells."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any, cast

import narwhals as nw
import numpy as np

from balframe.errors import UnsupportedTypeError
from balframe.frames.adapter import PERIOD_ENTRY, Name, not_time_error
from balframe.frames.by_entries import Computed, Period
from balframe.frames.engines.column_names import Rows, ibis_backend, quoted, with_plain_names
from balframe.frames.engines.weighted_sums import column_expr, has_value, is_nan, summed_columns
from balframe.frames.lazy_pandas import pandas
from balframe.frames.query import PERIOD, WEIGHT_MAX, Query
from balframe.frames.thresholds import Thresholds, as_stored, float_type

# Local times of a column with a time zone, in engines where narwhals would use another zone.
#
# DuckDB and most databases store a moment without a zone: they show it in the zone of the session,
# which may be that of the machine. Then the local time is that of UTC.


_UTC = "UTC"
_OFFSET = re.compile(r"([+-])(\d\d):?(\d\d)")
_HAVE_TIMEZONE = ("duckdb", "postgres")  # the function `timezone` of SQL


def with_local_time(rows: Rows, query: Query) -> tuple[Rows, Query]:
    """Add a column of local times without a zone, if periods have a zone that narwhals misreads."""
    add = _ADD_BY_ENGINE.get(rows.implementation)
    if query.period is None or add is None:
        return rows, query
    native: Any = rows.to_native()
    local = "local".ljust(max(len(str(name)) for name in native.columns) + 1, "_")
    added = add(native, query.period.column, local)
    if added is None:
        return rows, query
    return cast(Rows, nw.from_native(added)), replace(
        query, computed={**query.computed, PERIOD: replace(query.period, column=local)}
    )


def _add_in_duckdb(native: Any, name: Name, local: str) -> Any:  # noqa: ANN401
    dtype = str(native.types[native.columns.index(name)])
    if dtype not in ("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS"):
        return None
    return native.project(f"*, timezone('{_UTC}', {quoted(name)}) AS {quoted(local)}")


def _add_in_ibis(native: Any, name: Name, local: str) -> Any:  # noqa: ANN401
    ibis: Any = import_module("ibis")

    def timezone(zone, moment): ...  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202

    dtype = native.schema()[name]
    zone = dtype.timezone if dtype.is_timestamp() else None
    if zone is None:
        return None
    backend = ibis_backend(nw.from_native(native))
    if backend not in _HAVE_TIMEZONE:
        raise UnsupportedTypeError(
            "column {!r} has the type {}, whose local days are not known on Ibis's backend {!r}. "
            "Give {} a column of dates, or of datetimes without a time zone.",
            name,
            dtype,
            backend,
            PERIOD_ENTRY,
        )
    timezone.__annotations__ = {"return": ibis.expr.datatypes.timestamp}
    in_zone = ibis.udf.scalar.builtin(timezone)
    offset = _OFFSET.fullmatch(zone)
    if offset is None:
        return native.mutate(**{local: in_zone(zone, native[name])})
    minutes = int(f"{offset[1]}{int(offset[2]) * 60 + int(offset[3])}")
    shift = ibis.interval(minutes=minutes)
    return native.mutate(**{local: in_zone(_UTC, native[name]) + shift})


def _add_in_sqlframe(native: Any, name: Name, local: str) -> Any:  # noqa: ANN401
    package = type(native).__module__.rpartition(".")[0]
    dtype = nw.from_native(native).collect_schema()[str(name)]
    if not package.endswith(_HAVE_TIMEZONE) or getattr(dtype, "time_zone", None) is None:
        return None
    functions = import_module(f"{package}.functions")
    in_zone = functions.call_function("timezone", functions.lit(_UTC), functions.col(name))
    return native.withColumn(local, in_zone)


def _add_in_dask(native: Any, name: Name, local: str) -> Any:  # noqa: ANN401
    if not isinstance(native._meta[name].dtype, pandas.DatetimeTZDtype):
        return None
    return native.assign(**{local: native[name].dt.tz_localize(None)})


_ADD_BY_ENGINE: Mapping[nw.Implementation, Callable[[Any, Name, str], Any]] = {
    nw.Implementation.DUCKDB: _add_in_duckdb,
    nw.Implementation.IBIS: _add_in_ibis,
    nw.Implementation.SQLFRAME: _add_in_sqlframe,
    nw.Implementation.DASK: _add_in_dask,
}


ACTUAL, OUTCOME, MODEL_INDEX, BATCH = "actual", "outcome", "model", "batch"
_SCORE = "score"
INFINITE, OUTSIDE = -1, -2  # in place of the number of thresholds reached
_ALL_WHOLE = 2.0**53  # floats from there on; and Ibis rounds to integers of 64 bits
_MAX_PREDICTIONS = 4  # of one group-by: more would have too many combinations


def by_key(position: int) -> str:
    """Name a by-column in the reduced frame."""
    return f"by{position}"


def outcome_key(model: int) -> str:
    """Name the predictions of a model in the reduced frame."""
    return f"{OUTCOME}{model}"


def model_batches(query: Query) -> list[list[int]]:
    """Divide the models, or pairs of them, among group-bys of few predictions each."""
    batches: list[list[int]] = []
    batch_names: set[Name] = set()
    for position, names in enumerate(query.outcomes):
        if not batches or len(batch_names | {*names}) > _MAX_PREDICTIONS:
            batches.append([])
            batch_names = set()
        batches[-1].append(position)
        batch_names |= {*names}
    return batches


def reduce(rows: Rows, query: Query) -> Rows:
    """Reduce rows to the cells of all models, by one group-by for each batch of models.

    Cells of several batches have a column that numbers them.
    """
    rows, query = with_local_time(*with_plain_names(rows, query))
    keys, sums_by_name = _key_exprs(rows, query), summed_columns(rows, query)
    predictions = {outcome_key(i): _label_expr(rows, name) for i, name in enumerate(query.y_pred)}
    selected = rows.select(**keys, **predictions, **sums_by_name)
    all_batches = model_batches(query)
    if len(all_batches) == 1:
        return _group(selected, [*keys, *predictions], sums_by_name)
    parts = []
    for number, batch in enumerate(all_batches):
        names = {name for position in batch for name in query.outcomes[position]}
        absent = [outcome_key(i) for i, name in enumerate(query.y_pred) if name not in names]
        rows_of_batch = selected.with_columns(*map(_null_like, absent)) if absent else selected
        cells = _group(rows_of_batch, [*keys, *predictions], sums_by_name)
        parts.append(cells.with_columns(nw.lit(number, nw.Int64).alias(BATCH)))
    return nw.concat(parts, how="vertical")


def _null_like(key: str) -> nw.Expr:
    """Write nulls of the type of a column, whatever its name in the engine."""
    column = nw.col(key)
    return nw.when(column.is_null() & ~column.is_null()).then(column).alias(key)


def reduce_scores(rows: Rows, query: Query, thresholds: Thresholds) -> Rows:
    """Reduce rows by score, or by the number of thresholds that it reaches, in one group-by."""
    rows, query = with_local_time(*with_plain_names(rows, query))
    keys, sums_by_name = _key_exprs(rows, query), summed_columns(rows, query)
    scores = {
        outcome_key(i): column_expr(name).cast(nw.Float64) for i, name in enumerate(query.y_pred)
    }
    schema = rows.collect_schema()
    of_type: dict[Any, list[str]] = {}
    for key, name in zip(scores, query.y_pred, strict=True):
        of_type.setdefault(float_type(schema[cast(str, name)]), []).append(key)
    if thresholds.values is None:
        of_type = {np.dtype(np.float64): list(scores)}
    selected = rows.select(**keys, **scores, **sums_by_name)
    parts = [
        _add_outcome(
            _unpivot_scores(selected, names, [*keys, *sums_by_name]), thresholds.for_scores(dtype)
        )
        for dtype, names in of_type.items()
    ]
    order = [*keys, *sums_by_name, MODEL_INDEX, OUTCOME]
    models = parts[0] if len(parts) == 1 else nw.concat([part.select(order) for part in parts])
    if len(scores) > 1:
        return _group(models, [*keys, MODEL_INDEX, OUTCOME], sums_by_name)
    cells = _group(models, [*keys, OUTCOME], sums_by_name)  # one key less
    return cells.with_columns(nw.lit(0, nw.Int64).alias(MODEL_INDEX))


def reduce_score_pairs(rows: Rows, query: Query) -> Rows:
    """Reduce rows by the two scores of each pair of models, in one group-by."""
    rows, query = with_local_time(*with_plain_names(rows, query))
    keys, sums_by_name = _key_exprs(rows, query), summed_columns(rows, query)
    parts = []
    for pair, names in enumerate(query.outcomes):
        raw = {f"{_SCORE}{i}": column_expr(name).cast(nw.Float64) for i, name in enumerate(names)}
        part = rows.select(**keys, **raw, **sums_by_name)
        outcomes = {}
        for i, name in enumerate(raw):
            score = nw.col(name)
            is_number = ~(score.is_null() | is_nan(score, part))
            outcomes[outcome_key(i)] = nw.when(is_number).then(score)
        parts.append(part.with_columns(**outcomes, **{MODEL_INDEX: nw.lit(pair, nw.Int64)}))
    models = parts[0] if len(parts) == 1 else nw.concat(parts, how="vertical")
    group_keys = [*keys, MODEL_INDEX, outcome_key(0), outcome_key(1)]
    return _group(models, group_keys, sums_by_name)


def reduce_values(rows: Rows, query: Query, name: Name) -> Rows:
    """Reduce rows by the values of one column, in one group-by."""
    sums_by_name = summed_columns(rows, query)
    key = by_key(0)
    return _group(rows.select(column_expr(name).alias(key), **sums_by_name), [key], sums_by_name)


def lowest_key(position: int) -> str:
    """Name the smallest values of a column in the ranges by predicted label."""
    return f"lowest{position}"


def highest_key(position: int) -> str:
    """Name the largest values of a column in the ranges by predicted label."""
    return f"highest{position}"


def reduce_ranges(rows: Rows, query: Query, names: Sequence[Name]) -> Rows:
    """Reduce rows to the smallest and largest value of columns, by the first predicted label."""
    if query.counts is not None:
        rows = rows.filter(column_expr(query.counts) > 0)
    schema = rows.collect_schema()
    columns = {
        f"value{i}": nw.when(has_value(name, schema, rows)).then(column_expr(name))
        for i, name in enumerate(names)
    }
    selected = rows.select(_label_expr(rows, query.y_pred[0]).alias(outcome_key(0)), **columns)
    ends = [
        end
        for i, key in enumerate(columns)
        for end in (nw.col(key).min().alias(lowest_key(i)), nw.col(key).max().alias(highest_key(i)))
    ]
    return selected.group_by(outcome_key(0)).agg(*ends)


def _add_outcome(rows: Rows, thresholds: Thresholds) -> Rows:
    """Add a column with the number of thresholds that a score reaches, step by step.

    Each step is a column, because some engines would repeat its expression at every use. Each has a
    name of its own, because old releases of Dask fail if a column is replaced.
    """
    score, inside, finite, guess = (nw.col(n) for n in (_SCORE, "inside", "finite", "guess"))
    is_number = ~(score.is_null() | is_nan(score, rows))
    if thresholds.is_exact:
        reached = score if thresholds.resolution is None else thresholds.step_expr(score)
        return rows.with_columns(nw.when(is_number).then(reached).alias(OUTCOME))
    is_finite = (score > float("-inf")) & (score < float("inf"))
    is_allowed = (score >= 0) & (score <= 1) if thresholds.is_even else is_finite
    rows = rows.with_columns(inside=is_number & is_allowed)
    rows = rows.with_columns(finite=nw.when(inside).then(score).otherwise(0.0))
    if thresholds.is_even:
        rows = rows.with_columns(guess=thresholds.guess_expr(finite))
        count_reached = thresholds.corrected_expr(finite, guess)
    else:
        count_reached = thresholds.count_expr(finite)
    # computed only for the few other rows, in engines that can
    other = nw.when(is_finite).then(nw.lit(OUTSIDE)).otherwise(nw.lit(INFINITE))
    reached = nw.when(inside).then(count_reached).otherwise(nw.when(is_number).then(other))
    return rows.with_columns(reached.alias(OUTCOME))


def _unpivot_scores(rows: Rows, scores: list[str], others: list[str]) -> Rows:
    """Repeat each row for every model, with the model's position and score."""
    implementation = rows.implementation
    if len(scores) > 1 and not (implementation.is_duckdb() or implementation.is_ibis()):
        models = rows.unpivot(scores, index=others, variable_name=MODEL_INDEX, value_name=_SCORE)
        number = nw.col(MODEL_INDEX).str.slice(len(OUTCOME)).cast(nw.Int64)
        return models.with_columns(number.alias(MODEL_INDEX))
    # narwhals runs the unpivot of DuckDB on its default connection, which may lack the rows. Ibis
    # has none on some backends, and on Postgres it goes through JSON, which has no NaN
    parts = [
        rows.select(
            *others,
            nw.col(name).alias(_SCORE),
            nw.lit(int(name.removeprefix(OUTCOME)), nw.Int64).alias(MODEL_INDEX),
        )
        for name in scores
    ]
    return parts[0] if len(parts) == 1 else nw.concat(parts, how="vertical")


def _key_exprs(rows: Rows, query: Query) -> dict[str, nw.Expr]:
    keys = {
        by_key(i): _computed_expr(query.computed[name], rows)
        if name in query.computed
        else column_expr(name)
        for i, name in enumerate(query.keys)
    }
    return keys | {ACTUAL: _label_expr(rows, query.y_true)} if query.has_truth else keys


def _computed_expr(entry: Computed, rows: Rows) -> nw.Expr:
    """Write the local day of a time, or the number of the bin of a number, from 0."""
    if isinstance(entry, Period):
        return _local_day(entry.column, rows)
    edges, name = np.array(entry.edges or np.zeros(0)), entry.column
    schema = rows.collect_schema()
    column = column_expr(name)
    if not schema[cast(str, name)].is_integer():
        column = column.cast(nw.Float64)  # engines may compare with an edge in 32 bits
        edges = as_stored(edges, schema[cast(str, name)])
    bin_number = Thresholds(edges).count_expr(column)
    return nw.when(has_value(name, schema, rows)).then(bin_number)


def _local_day(name: Name | None, rows: Rows) -> nw.Expr:
    """Write the local day of a date or datetime."""
    column = column_expr(name)
    dtype = rows.collect_schema()[cast(str, name)]
    if isinstance(dtype, nw.Datetime):
        local = column if dtype.time_zone is None else column.dt.replace_time_zone(None)
        return local.dt.truncate("1d")
    if dtype == nw.Unknown and rows.implementation.is_polars():  # all nulls
        return column.cast(nw.Date)
    if dtype != nw.Date:
        raise not_time_error(name, dtype)
    return column


def _label_expr(rows: Rows, name: Name) -> nw.Expr:
    """Replace all fractions by one number: they are not labels, and may be too many to group by."""
    column = column_expr(name)
    if not rows.collect_schema()[cast(str, name)].is_float():
        return column
    is_near = (column > -_ALL_WHOLE) & (column < _ALL_WHOLE)
    near = nw.when(is_near).then(column).otherwise(0.0)
    whole = near.round(0)
    is_fraction = (near < whole) | (near > whole)
    return nw.when(is_fraction).then(whole * 0 + 0.5).otherwise(column)


def _group(rows: Rows, keys: Sequence[str], sums_by_name: Mapping[str, nw.Expr]) -> Rows:
    """Group rows and sum their columns, or count them; engines may sum integers as decimals."""
    sums = list(map(_total, sums_by_name)) or [nw.len().alias("n_low")]
    cells = rows.group_by(*keys).agg(*sums)
    integers = [name for name in sums_by_name if not name.startswith("weight")] or ["n_low"]
    return cells.with_columns(*(nw.col(name).cast(nw.Int64) for name in integers))


def _total(name: str) -> nw.Expr:
    """Write the sum of a column, or the largest of the largest weights."""
    return nw.col(name).max() if name == WEIGHT_MAX else nw.col(name).sum()


def add_cells(cells: Rows) -> Rows:
    """Add up the cells of several parts of the rows; all columns but the keys are totals."""
    names = cells.collect_schema().names()
    key_names = (*(by_key(i) for i in range(len(names))), ACTUAL, OUTCOME, MODEL_INDEX, BATCH)
    keys = [name for name in names if name in key_names or name.startswith(OUTCOME)]
    sums = [_total(name) for name in names if name not in keys]
    return cells.group_by(*keys).agg(*sums).select(*names)
