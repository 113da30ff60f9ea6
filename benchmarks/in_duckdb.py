"""What users of DuckDB write by hand, on a table that is in its memory already."""

import duckdb
import polars as pl

from benchmarks.cases import Case
from benchmarks.data import Data, positive


def load(data: Data) -> duckdb.DuckDBPyConnection:
    """Copy the frame into a table; categories become DuckDB's enums."""
    connection = duckdb.connect()
    connection.register("frame", data.frame)
    columns = []
    for name, dtype in pl.DataFrame(data.frame).schema.items():
        columns.append(name)
        if isinstance(dtype, pl.Categorical | pl.Enum):
            kind = f"kind_of_{name}"
            names = f"select distinct {name}::varchar from frame order by 1"
            connection.execute(f"create type {kind} as enum ({names})")
            columns[-1] = f"{name}::{kind} as {name}"
    connection.execute(f"create table data as select {', '.join(columns)} from frame")
    connection.unregister("frame")
    return connection


def filters(connection: duckdb.DuckDBPyConnection, case: Case) -> pl.DataFrame:
    """Score two labels from filtered counts."""
    by, counted = ", ".join(case.by_columns), "sum(weight)" if case.weighted else "count(*)"
    true, called = (
        name if case.label_type == "bool" else f"{name} = {positive(case)!r}"
        for name in ("y", "yhat")
    )
    scores: pl.DataFrame = connection.sql(f"""
        with cells as (
            select
                {by},
                {counted} as n,
                coalesce({counted} filter ({true}), 0) as positive,
                coalesce({counted} filter ({called}), 0) as called,
                coalesce({counted} filter ({true} and {called}), 0) as tp,
                n + tp - positive - called as tn
            from data
            group by {by}
        )
        select
            {by},
            (tp + tn) / n as accuracy,
            list_avg([tp / nullif(positive, 0), tn / nullif(n - positive, 0)]) as balanced_accuracy
        from cells
    """).pl()
    return scores


def three_keys_scored(connection: duckdb.DuckDBPyConnection, case: Case) -> pl.DataFrame:
    """Count, then score any number of labels from the counts."""
    by, counted = ", ".join(case.by_columns), "sum(weight)" if case.weighted else "count(*)"
    scores: pl.DataFrame = connection.sql(f"""
        with cells as (
            select {by}, y, yhat, {counted} as n from data group by {by}, y, yhat
        ), labels as (
            select {by}, y, sum(n) as support, coalesce(sum(n) filter (y = yhat), 0) as hits
            from cells
            group by {by}, y
        )
        select {by}, sum(hits) / sum(support) as accuracy, avg(hits / support) as balanced_accuracy
        from labels
        group by {by}
    """).pl()
    return scores
