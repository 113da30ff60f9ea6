"""Column names that have the same meaning in every engine."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, cast

import narwhals as nw

from balframe.errors import InvalidInputError, first_line, listed
from balframe.frames.adapter import Name
from balframe.frames.engines.error_translation import is_closed_connection
from balframe.frames.engines.registry import find_engine
from balframe.frames.query import Query

_CASE_SENSITIVE_BACKENDS = (  # of Ibis, which quotes all names
    *("clickhouse", "datafusion", "druid", "flink", "oracle", "polars", "postgres", "risingwave"),
    "snowflake",
)
_ADVICE = "Rename it where the frame is created, before SQLFrame reads it."


def check_columns(frame: Any) -> None:  # noqa: ANN401 (of a library that need not be there)
    """Raise if SQLFrame confuses or loses columns of its frame."""
    names, n_columns = frame.columns, len(frame.expression.expressions)
    if len(names) != n_columns:
        raise InvalidInputError(
            f"the SQLFrame frame has {n_columns} columns, but SQLFrame has lost the name of one: "
            f"it knows {listed(map(repr, names))}. It loses names that are SQL keywords, such as "
            f"current_date, or contain a quotation mark. {_ADVICE}"
        )
    try:
        _ = frame.schema
    except Exception as error:  # raised by its parser, or by the database
        if is_closed_connection(error):
            raise
        reason = first_line(error.__cause__ or error).rstrip(".!")
        odd = [name for name in names if not (name.isascii() and name.isidentifier())]
        advice = "Drop or cast that column where the frame is created."
        if odd:
            advice = (
                "It may have misread the name of a column. Names with characters other than A to "
                f"Z, digits and _ are {listed(map(repr, odd))}. {_ADVICE}"
            )
        raise InvalidInputError(
            f"SQLFrame cannot describe its frame: {reason}. {advice}"
        ) from error


def check_names(names: Iterable[Name]) -> None:
    """Raise for names that SQLFrame reads as a number, a string or null."""
    from sqlframe.base.functions import col

    for name in map(str, names):
        try:
            kind = col(name).expression.key
        except Exception:  # raised by its parser: it is not SQL, so only a name
            continue
        if kind in ("literal", "null"):
            raise InvalidInputError(
                f"SQLFrame reads the column name {name!r} as a constant. A name must not be a "
                f"number, a quoted string or null. {_ADVICE}"
            )


Rows = nw.LazyFrame[Any]


def ibis_backend(rows: Rows) -> str:
    """Return the name of the database behind an Ibis table; empty for other engines."""
    if not rows.implementation.is_ibis():
        return ""
    native: Any = rows.to_native()
    name: str = native.get_backend().name
    return name


def check_case(rows: Rows, names: Iterable[Name]) -> None:
    """Raise if another column has one of the names in other letters, and the engine mixes them."""
    if not ignores_case(rows):
        return
    columns: dict[str, list[str]] = {}
    for column in rows.collect_schema().names():
        columns.setdefault(column.lower(), []).append(column)
    for name in names:
        same = columns.get(str(name).lower(), [])  # SQLFrame may quote a name
        if len(same) > 1:
            engine = find_engine(rows.to_native()).name
            backend = f"'s backend {ibis_backend(rows)!r}" if ibis_backend(rows) else ""
            raise InvalidInputError(
                f"{engine}{backend} does not distinguish upper and lower case in names of columns, "
                f"and the frame has {listed(map(repr, same))}. Rename all but one of them where "
                "the frame is created."
            )


def ignores_case(rows: Rows) -> bool:
    """Return whether the engine of a lazy frame mixes names that differ in case only."""
    implementation: nw.Implementation = rows.implementation
    native: Any = rows.to_native()
    if implementation.is_pyspark() or implementation.is_pyspark_connect():
        return str(native.sparkSession.conf.get("spark.sql.caseSensitive")).lower() != "true"
    if implementation.is_ibis():
        return ibis_backend(rows) not in _CASE_SENSITIVE_BACKENDS
    return implementation.is_duckdb() or implementation.is_sqlframe()


def with_plain_names(rows: Rows, query: Query) -> tuple[Rows, Query]:
    """Rename columns whose names an engine may interpret: "*", "^y.*$", "a.b", 0."""
    check_case(rows, query.columns)
    if rows.implementation.is_sqlframe():
        check_names(query.columns)
    if rows.implementation.is_ibis() and "" in query.columns:
        raise InvalidInputError(
            "a column has an empty name, which SQL does not allow; rename it first."
        )
    longest = max((len(str(name)) for name in rows.collect_schema().names()), default=0)
    odd = [name for name in query.columns if not (isinstance(name, str) and name.isidentifier())]
    plain = {name: f"c{i}".ljust(longest + 3, "_") for i, name in enumerate(odd)}
    if not plain:
        return rows, query
    return _rename(rows, plain, query.columns), replace(
        query,
        y_true=plain.get(query.y_true, query.y_true),
        y_pred=tuple(plain.get(name, name) for name in query.y_pred),
        by=tuple(name if name in query.computed else plain.get(name, name) for name in query.by),
        cluster=plain.get(query.cluster, query.cluster),
        computed={
            name: replace(entry, column=plain.get(entry.column, entry.column))
            for name, entry in query.computed.items()
        },
        counts=plain.get(query.counts, query.counts),
        sample_weight=plain.get(query.sample_weight, query.sample_weight),
        baseline=plain.get(query.baseline, query.baseline),
    )


def _rename(rows: Rows, plain: dict[Name, str], names: Sequence[Name]) -> Rows:
    implementation: nw.Implementation = rows.implementation
    native: Any = rows.to_native()
    if implementation.is_spark_like():  # it reads "a.b" as a field of a column
        native = native.toDF(*(plain.get(name, name) for name in native.columns))
    elif implementation.is_duckdb():  # through narwhals it reads "*" as all columns
        renamed = (f"{quoted(name)} AS {quoted(plain.get(name, name))}" for name in names)
        native = native.project(", ".join(renamed))
    else:
        return rows.rename(cast("dict[str, str]", plain))  # names in Dask may be of any type
    result: Rows = nw.from_native(native)
    return result


def quoted(name: Name) -> str:
    """Write a name as SQL does."""
    return '"' + str(name).replace('"', '""') + '"'
