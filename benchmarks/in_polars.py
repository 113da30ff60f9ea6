"""What users of polars write by hand, each the best way we know."""

import polars as pl
from polars._typing import EngineType

from benchmarks.cases import Case
from benchmarks.data import positive


def sums(frame: pl.DataFrame, case: Case, engine: EngineType) -> pl.DataFrame:
    """Score two labels from three sums of booleans, which give all four cells."""
    true, called = (
        pl.col(name) if case.label_type == "bool" else pl.col(name) == positive(case)
        for name in ("y", "yhat")
    )
    chosen = {"positive": true, "called": called, "both": true & called}
    if case.weighted:
        weight = pl.col("weight")
        totals = {name: (rows * weight).sum() for name, rows in chosen.items()}
        n = weight.sum()
    else:
        totals = {name: rows.sum() for name, rows in chosen.items()}
        n = pl.len()
    neither = pl.col("n") + pl.col("both") - pl.col("positive") - pl.col("called")
    # A label that a segment lacks gives 0 / 0, and the mean is over the other one.
    recalls = [
        (pl.col("both") / pl.col("positive")).fill_nan(None),
        (neither / (pl.col("n") - pl.col("positive"))).fill_nan(None),
    ]
    return (
        frame.lazy()
        .group_by(case.by_columns)
        .agg(n=n, **totals)
        .select(
            *case.by_columns,
            accuracy=(pl.col("both") + neither) / pl.col("n"),
            balanced_accuracy=pl.mean_horizontal(recalls),
        )
        .collect(engine=engine)
    )


def sums_of_pairs(frame: pl.DataFrame, case: Case, engine: EngineType) -> pl.DataFrame:
    """Score two labels from a sum of booleans for each pair of labels."""
    true, called = (
        pl.col(name) if case.label_type == "bool" else pl.col(name) == positive(case)
        for name in ("y", "yhat")
    )
    tp, fn, fp, tn = (pl.col(name) for name in ("tp", "fn", "fp", "tn"))
    recalls = [(tp / (tp + fn)).fill_nan(None), (tn / (tn + fp)).fill_nan(None)]
    return (
        frame.lazy()
        .group_by(case.by_columns)
        .agg(
            tp=(true & called).sum(),
            fn=(true & ~called).sum(),
            fp=(~true & called).sum(),
            tn=(~true & ~called).sum(),
        )
        .select(
            *case.by_columns,
            accuracy=(tp + tn) / (tp + fn + fp + tn),
            balanced_accuracy=pl.mean_horizontal(recalls),
        )
        .collect(engine=engine)
    )


def three_keys(frame: pl.DataFrame, case: Case, engine: EngineType) -> pl.DataFrame:
    """Count alone."""
    return cells(frame, case).collect(engine=engine)


def three_keys_scored(frame: pl.DataFrame, case: Case, engine: EngineType) -> pl.DataFrame:
    """Count, then score any number of labels from the counts."""
    n = pl.col("n")
    return (
        cells(frame, case)
        .group_by(*case.by_columns, "y")
        .agg(support=n.sum(), hits=n.filter(pl.col("y") == pl.col("yhat")).sum())
        .group_by(case.by_columns)
        .agg(
            accuracy=pl.col("hits").sum() / pl.col("support").sum(),
            balanced_accuracy=(pl.col("hits") / pl.col("support")).mean(),
        )
        .collect(engine=engine)
    )


def cells(frame: pl.DataFrame, case: Case) -> pl.LazyFrame:
    """Group by the segment, the cluster if there is one, and both labels."""
    n = pl.col("weight").sum() if case.weighted else pl.len()
    return frame.lazy().group_by(*case.keys, "y", "yhat").agg(n=n)


def packed_key(frame: pl.DataFrame, case: Case, engine: EngineType) -> pl.DataFrame:
    """Count alone, by one number made of a segment and labels that are small numbers."""
    n = pl.col("weight").sum() if case.weighted else pl.len()
    key = (pl.col("segment") * case.labels + pl.col("y")) * case.labels + pl.col("yhat")
    packed = pl.col("key")
    return (
        frame.lazy()
        .group_by(key=key)
        .agg(n=n)
        .select(
            "n",
            segment=packed // case.labels**2,
            y=packed // case.labels % case.labels,
            yhat=packed % case.labels,
        )
        .collect(engine=engine)
    )


def polarbearings(frame: pl.DataFrame, case: Case, engine: EngineType) -> pl.DataFrame:
    """Score 0 and 1 by the expressions of polarbearings."""
    import polarbearings as pb

    return (
        frame.lazy()
        .group_by(case.by_columns)
        .agg(
            accuracy=pb.accuracy("y", "yhat"),
            balanced_accuracy=pb.balanced_accuracy("y", "yhat"),
        )
        .collect(engine=engine)
    )
