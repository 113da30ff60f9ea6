"""Names of columns that mean the same in every engine."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import narwhals as nw

from balframe.errors import InvalidInputError
from balframe.frames.adapter import Name
from balframe.frames.engines.names_in_sqlframe import check_names
from balframe.frames.query import Query

Rows = nw.LazyFrame[Any]


def with_plain_names(rows: Rows, query: Query) -> tuple[Rows, Query]:
    """Rename columns whose names an engine might read as more: "*", "^y.*$", "a.b", 0."""
    if rows.implementation.is_sqlframe():
        check_names(query.columns)
    if rows.implementation.is_ibis() and "" in query.columns:
        raise InvalidInputError(
            "a column has an empty name, which SQL does not allow; rename it first."
        )
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
        cluster=plain.get(query.cluster, query.cluster),
        time=plain.get(query.time, query.time),
        counts=plain.get(query.counts, query.counts),
        sample_weight=plain.get(query.sample_weight, query.sample_weight),
        baseline=plain.get(query.baseline, query.baseline),
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


def _quoted(name: Name) -> str:
    return '"' + str(name).replace('"', '""') + '"'
