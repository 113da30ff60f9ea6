"""Ways from Parquet files to the accuracy and balanced accuracy of every segment."""

import os
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import polars as pl

import balframe as bf

METRICS = ["accuracy", "balanced_accuracy"]
CORES = os.cpu_count() or 1

Answer = Any  # a frame of polars or pandas with the by-columns, `n` and both metrics
Way = Callable[[str, Sequence[str]], Answer]


def balframe_on_polars(folder: str, by: Sequence[str], **options: object) -> Answer:
    """Stream the files through polars."""
    scan = pl.scan_parquet(f"{folder}/*.parquet")
    asked = bf.report(scan, "y", "yhat", by=by, metrics=METRICS, **options)  # type: ignore[arg-type]
    return asked.collect(engine="streaming")


def with_limits(folder: str, by: Sequence[str]) -> Answer:
    """Ask for confidence intervals too."""
    return balframe_on_polars(folder, by, interval=True)


def balframe_on_pandas(folder: str, by: Sequence[str]) -> Answer:
    """Read all rows into a frame of pandas first."""
    import pandas as pd

    return bf.report(pd.read_parquet(folder), "y", "yhat", by=by, metrics=METRICS)


def balframe_on_duckdb(folder: str, by: Sequence[str]) -> Answer:
    """Have DuckDB count the cells."""
    import duckdb

    rows = duckdb.read_parquet(f"{folder}/*.parquet")
    return bf.report(rows, "y", "yhat", by=by, metrics=METRICS)


def balframe_on_spark(folder: str, by: Sequence[str]) -> Answer:
    """Have Spark count the cells, which starts with the first report."""
    rows = _spark().read.parquet(folder)
    return bf.report(rows, "y", "yhat", by=by, metrics=METRICS)


def balframe_on_dask(folder: str, by: Sequence[str]) -> Answer:
    """Have processes of Dask count the cells, which start with the first report."""
    import dask.dataframe as dd

    _dask()
    return bf.report(dd.read_parquet(folder), "y", "yhat", by=by, metrics=METRICS)


def polars_by_hand(folder: str, by: Sequence[str]) -> Answer:
    """Count each label and its hits, then score, in one query of polars."""
    support, hits = pl.col("support"), pl.col("hits")
    return (
        pl.scan_parquet(f"{folder}/*.parquet")
        .group_by(*by, "y")
        .agg(support=pl.len(), hits=(pl.col("y") == pl.col("yhat")).sum())
        .group_by(by)
        .agg(
            n=support.sum(),
            accuracy=hits.sum() / support.sum(),
            balanced_accuracy=(hits / support).mean(),
        )
        .collect(engine="streaming")
    )


def duckdb_by_hand(folder: str, by: Sequence[str]) -> Answer:
    """Count each label and its hits, then score, in one query of DuckDB."""
    import duckdb

    keys = ", ".join(by)
    return duckdb.sql(f"""
        with labels as (
            select {keys}, y, count(*) as support, count(*) filter (y = yhat) as hits
            from read_parquet('{folder}/*.parquet')
            group by {keys}, y
        )
        select
            {keys},
            sum(support)::bigint as n,
            sum(hits) / sum(support) as accuracy,
            avg(hits / support) as balanced_accuracy
        from labels
        group by {keys}
    """).pl()


def scikit_learn(folder: str, by: Sequence[str]) -> Answer:
    """Score one group of pandas after another, as people do."""
    import pandas as pd
    from sklearn.metrics import accuracy_score, balanced_accuracy_score

    scores = [
        (
            *segment,
            len(rows),
            accuracy_score(rows["y"], rows["yhat"]),
            balanced_accuracy_score(rows["y"], rows["yhat"]),
        )
        for segment, rows in pd.read_parquet(folder).groupby(list(by))
    ]
    return pd.DataFrame(scores, columns=[*by, "n", *METRICS])


@cache
def _spark() -> Any:  # noqa: ANN401 (a session)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(f"local[{CORES}]")
    builder = builder.config("spark.ui.enabled", "false").config("spark.driver.memory", "4g")
    return builder.getOrCreate()


@cache
def _dask() -> Any:  # noqa: ANN401 (a client)
    from dask.distributed import Client

    return Client(
        n_workers=CORES, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
    )


IN_OTHER_PROCESSES = ("balframe, Spark", "balframe, Dask")
WAYS: dict[str, Way] = {
    "balframe, polars": balframe_on_polars,
    "balframe, polars, with limits": with_limits,
    "balframe, pandas": balframe_on_pandas,
    "balframe, DuckDB": balframe_on_duckdb,
    "balframe, Spark": balframe_on_spark,
    "balframe, Dask": balframe_on_dask,
    "polars by hand": polars_by_hand,
    "DuckDB by hand": duckdb_by_hand,
    "scikit-learn, a loop": scikit_learn,
}
