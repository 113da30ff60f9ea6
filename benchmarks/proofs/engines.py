"""How many values of any engine differ from a loop over rows and exact fractions."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import balframe as bf
from benchmarks.proofs.table import Figures
from tests.support import engine_frames
from tests.support.constructors import plain
from tests.support.oracles.metrics_in_fractions import scores

Rows = dict[str, list[Any]]

SEGMENTS = ("north", "south", "it's", "", None)
N_FRAMES = 21
COUNTS = ("n", "n_labels", "min_support")
FRAMES: Mapping[str, Callable[[], AbstractContextManager[engine_frames.MakeFrame]]] = {
    "pandas, NumPy types": partial(nullcontext, pd.DataFrame),
    "pandas, Arrow types": partial(
        nullcontext, lambda rows: pd.DataFrame(rows).convert_dtypes(dtype_backend="pyarrow")
    ),
    "polars": partial(nullcontext, pl.DataFrame),
    "polars, lazy": partial(nullcontext, pl.LazyFrame),
    "PyArrow": partial(nullcontext, pa.table),
    "PyArrow data set": engine_frames.dataset,
    "DuckDB": engine_frames.duckdb,
    "DataFusion": engine_frames.datafusion,
    "Ibis over DuckDB": engine_frames.ibis,
    "Ibis over SQLite": engine_frames.sqlite,
    "Ibis over PostgreSQL": engine_frames.postgres,
    "SQLFrame": engine_frames.sqlframe,
    "Dask": engine_frames.dask,
    "Spark": engine_frames.spark,
}


def draw_rows(seed: int) -> Rows:
    """Draw rows with two to four labels, of which small segments lack some, and null groups."""
    rng = np.random.default_rng(seed)
    labels = 2 + seed % 3
    n = int(rng.choice([9, 40, 300]))
    skewed = rng.dirichlet(np.ones(labels))
    y = rng.choice(labels, n, p=skewed)
    guess = rng.choice(labels, n)
    return {
        "g": [SEGMENTS[k] for k in rng.integers(0, len(SEGMENTS), n)],
        "y": y.tolist(),
        "yhat": np.where(rng.random(n) < 0.6, y, guess).tolist(),
    }


def expected(rows: Rows, weights: Mapping[int, float]) -> dict[str | None, dict[str, Any]]:
    """Count in a loop, and divide fractions."""
    labels = sorted({*rows["y"], *rows["yhat"]})
    matrices: dict[str | None, list[list[int]]] = {}
    for group, actual, predicted in zip(rows["g"], rows["y"], rows["yhat"], strict=True):
        matrix = matrices.setdefault(group, [[0] * len(labels) for _ in labels])
        matrix[labels.index(actual)][labels.index(predicted)] += 1
    return {
        group: {
            "n": sum(map(sum, matrix)),
            "n_labels": sum(map(any, matrix)),
            "min_support": min(sum(row) for row in matrix if any(row)),
        }
        | scores(matrix, labels.index(1), [weights[label] for label in labels])
        for group, matrix in matrices.items()
    }


def is_same(value: float | None, exact: Any) -> bool:  # noqa: ANN401 (a fraction, or of mpmath)
    """Return whether a value is the exact one, to 12 digits; counts to the last."""
    if exact is None or value is None:
        return exact is None and value is None
    if isinstance(exact, int) and isinstance(value, int):
        return exact == value
    return abs(value - float(exact)) <= 1e-12 * max(1.0, abs(float(exact)))


def compare(make: engine_frames.MakeFrame, seed: int) -> Iterator[bool]:
    """Compare every value of a report; a segment too many or missing differs."""
    rows = draw_rows(seed)
    labels = {*rows["y"], *rows["yhat"]}
    if 1 not in labels:
        return
    weights = {label: 1.0 + label for label in sorted(labels)}
    exact = expected(rows, weights)
    metrics = [name for name in next(iter(exact.values())) if name not in COUNTS]
    options = {"pos_label": 1, "class_weight": weights, "detail": True}
    result = bf.report(make(rows), "y", "yhat", by="g", metrics=metrics, **options)
    columns = plain(result)
    yield set(columns["g"]) == set(exact) and len(columns["g"]) == len(exact)
    for position, group in enumerate(columns["g"]):
        for name, value in exact.get(group, {}).items():
            yield is_same(columns[name][position], value)


def measure() -> Figures:
    """Return how many values were compared, on how many kinds of frames, and how many differ."""
    n_values = n_different = 0
    for name, start in FRAMES.items():
        with start() as make:
            same = [value for seed in range(N_FRAMES) for value in compare(make, seed)]
        print(f"{name}: {len(same):,} values, {same.count(False)} different")
        n_values += len(same)
        n_different += same.count(False)
    return Figures(
        f"{n_values:,} counts and scores on {len(FRAMES)} kinds of frames and engines, compared "
        f"with a slow loop over rows and exact fractions: {n_different or 'none'} different"
    )
