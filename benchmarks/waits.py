"""What users wait for: pages, commands, small tables, charts, and calls on very many segments.

    python -m benchmarks.waits            # writes its section of docs/pages/benchmarks.md
    python -m benchmarks.waits --quick    # small cases, printed instead of written

Needs the extra `bench`. A case is timed beside a peer where there is one: the best way that we know
to do the same, or the counting that it cannot do without. `python -m benchmarks compare` times the
small cases of two versions.
"""

import argparse
import cProfile
import pstats
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl

import balframe as bf

MILLION = 1_000_000
QUICK = 20  # times fewer rows and segments of cases that take seconds
PACKAGE = str(Path(bf.__file__).parent)

Run = Callable[[], object]


@dataclass(frozen=True)
class Wait:
    """A case: what it is called, what is run, its target, and what it is compared with.

    The target is in milliseconds, or a ratio to the time of the peer, or a number of calls.
    """

    name: str
    run: Run
    target: float
    peer: Run | None = None
    peer_name: str = ""
    counts_calls: bool = False


def _rows(n: int, segments: int, *, labels: int = 2, text: str = "", seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, labels, n)
    other = (y + rng.integers(1, max(labels, 2), n)) % labels
    return pl.DataFrame(
        {
            "segment": rng.integers(0, segments, n),
            "y": y,
            "yhat": np.where(rng.random(n) < 0.8, y, other),
        }
    ).with_columns(pl.format(f"{text}{{}}", "segment").alias("segment") if text else "segment")


def _people(n: int, columns: int, decimals: int | None, seed: int = 2) -> pl.DataFrame:
    """Draw rows for an audit, with groups in so many columns, and scores."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    score = np.clip(0.3 + 0.4 * y + rng.normal(0, 0.25, n), 0, 1)
    by = {f"by{i}": rng.choice(["a", "b", "c", "d"][: 2 + i % 3], n) for i in range(columns)}
    score = score if decimals is None else score.round(decimals)
    return pl.DataFrame({**by, "y": y, "yhat": (score >= 0.5) * 1, "score": score})


def _audit(n: int, columns: int, decimals: int | None) -> Run:
    frame = _people(n, columns, decimals)
    by = [f"by{i}" for i in range(columns)]
    return lambda: bf.audit(frame, "y", "yhat", by=by, y_score="score").html()


def _small_audit() -> Run:
    frame = _people(300, 1, None)
    return lambda: bf.audit(frame, "y", "yhat", by="by0").html()


def _command(*words: str) -> Run:
    program = [sys.executable, "-m", "balframe", *words]
    return lambda: subprocess.run(program, check=True, stdout=subprocess.DEVNULL)


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="balframe-waits-"))


def _file() -> str:
    path = _folder() / "rows.csv"
    _rows(1_000, 5).write_csv(path)
    return str(path)


def _counted(frame: pl.DataFrame, *keys: str) -> Run:
    return lambda: frame.lazy().group_by(keys).agg(n=pl.len()).collect(engine="streaming")


def _sums(frame: pl.DataFrame, *by: str) -> Run:
    """Score two known labels by three sums of booleans, the fastest way by hand."""
    true, predicted = pl.col("y") == 1, pl.col("yhat") == 1
    both, positive, selected = pl.col("both"), pl.col("positive"), pl.col("selected")
    neither = pl.col("n") + both - positive - selected
    recalls = (both / positive).fill_nan(None), (neither / (pl.col("n") - positive)).fill_nan(None)
    query = (
        frame.lazy()
        .group_by(by)
        .agg(
            n=pl.len(),
            both=(true & predicted).sum(),
            positive=true.sum(),
            selected=predicted.sum(),
        )
        .select(
            *by,
            accuracy=(both + neither) / pl.col("n"),
            balanced_accuracy=pl.mean_horizontal(*recalls),
        )
    )
    return lambda: query.collect(engine="streaming")


def _packed(frame: pl.DataFrame, labels: int) -> Run:
    key = (pl.col("segment") * labels + pl.col("y")) * labels + pl.col("yhat")
    return lambda: frame.lazy().group_by(key).agg(n=pl.len()).collect(engine="streaming")


def _scores(n: int, segments: int) -> pl.DataFrame:
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, n)
    score = 0.7 * rng.random(n) + 0.3 * y
    return pl.DataFrame({"segment": rng.integers(0, segments, n), "y": y, "score": score})


def small() -> Iterator[Wait]:
    """Yield the cases that take milliseconds."""
    frame = _rows(1_000, 5)
    pandas = frame.to_pandas()
    by = {"by": "segment"}
    yield Wait(
        "audit of 300 rows, calls inside the package", _small_audit(), 5_000, counts_calls=True
    )
    yield Wait("audit of 300 rows", _small_audit(), 60)
    yield Wait(
        "report of 1,000 rows, all metrics with limits",
        lambda: bf.report(frame, "y", "yhat", metrics="all", interval=True, **by),
        3,
    )
    yield Wait("gaps of 1,000 rows", lambda: bf.gaps(frame, "y", "yhat", **by), 2)
    yield Wait("report of 1,000 rows, pandas", lambda: bf.report(pandas, "y", "yhat", **by), 0.8)
    yield Wait("report of 1,000 rows, polars", lambda: bf.report(frame, "y", "yhat", **by), 0.6)
    yield Wait("plot.report of 5 segments", lambda: bf.plot.report(frame, "y", "yhat", **by), 26)
    yield Wait(
        "plot.report of 5 segments, SVG",
        lambda: bf.plot.report(frame, "y", "yhat", **by).save(_folder() / "chart.svg"),
        84,
    )
    result = bf.report(frame, "y", "yhat", interval=True, **by)
    yield Wait("table of a report", lambda: bf.table(result).as_raw_html(), 12)
    yield Wait("`balframe --help`", _command("--help"), 350)
    yield Wait("`balframe report --help`", _command("report", "--help"), 350)
    yield Wait(
        "`balframe report` of a small file",
        _command("report", _file(), "--y-true", "y", "--y-pred", "yhat"),
        350,
    )


def large(divisor: int = 1) -> Iterator[Wait]:
    """Yield the cases of many rows, segments or labels."""
    n = MILLION // divisor
    yield Wait(f"audit of {n:,} rows, 3 by-columns, scores of two decimals", _audit(n, 3, 2), 400)
    yield Wait(f"audit of {n:,} rows, 6 by-columns, continuous scores", _audit(n, 6, None), 1_500)
    n = 10 * MILLION // divisor
    frame = _rows(n, 1_000, text="s")
    by_hand = "sums of booleans in polars"
    yield Wait(
        f"report of {n:,} rows by strings",
        lambda: bf.report(frame, "y", "yhat", by="segment"),
        1.0,
        _sums(frame, "segment"),
        by_hand,
    )
    two = frame.with_columns(store=pl.int_range(pl.len()) % 5)
    keys = ["segment", "store"]
    yield Wait(
        f"report of {n:,} rows by strings and integers",
        lambda: bf.report(two, "y", "yhat", by=keys),
        1.05,
        _sums(two, *keys),
        by_hand,
    )
    many = _rows(n, 1_000, labels=1_000)
    yield Wait(
        f"report of {n:,} rows, 1,000 labels",
        lambda: bf.report(many, "y", "yhat", by="segment", max_cells=10**8),
        1.1,
        _packed(many, 1_000),
        "one packed key, counts only",
    )
    scored = _scores(n // 2, 1_000)
    counted = _counted(scored, "segment", "y", "score")
    plain = "count by segment, label and score"
    for method, target in ((bf.ranking, 2.5), (bf.calibration, 3.0)):
        yield Wait(
            f"{method.__name__} of {n // 2:,} continuous scores, 1,000 segments",
            lambda m=method: m(scored, "y", "score", by="segment", max_cells=10**8),
            target,
            counted,
            plain,
        )
    segments = MILLION // divisor
    sparse = _rows(5 * segments, segments)
    plain = "count by segment, label and prediction"
    options: dict[str, Any] = {"by": "segment", "max_cells": 10**8}
    yield Wait(
        f"gaps of {segments:,} segments of 5 rows",
        lambda: bf.gaps(sparse, "y", "yhat", **options),
        3.0,
        _counted(sparse, "segment", "y", "yhat"),
        plain,
    )
    path = _folder() / "rows.parquet"
    _rows(n, segments).write_parquet(path)

    def in_duckdb(call: Callable[[Any], object]) -> object:
        with duckdb.connect() as connection:
            return call(connection.read_parquet(str(path)))

    def plain_in_duckdb() -> object:
        query = f"SELECT segment, y, yhat, count(*) AS n FROM '{path}' GROUP BY ALL"
        return in_duckdb(lambda _: duckdb.sql(query).pl())

    for name, call, target in (
        ("report", lambda rows: bf.report(rows, "y", "yhat", **options), 1.5),
        (
            "report with limits",
            lambda rows: bf.report(rows, "y", "yhat", interval=True, **options),
            2.0,
        ),
        ("gaps", lambda rows: bf.gaps(rows, "y", "yhat", **options), 2.5),
    ):
        yield Wait(
            f"{name} of {segments:,} segments, DuckDB",
            lambda c=call: in_duckdb(c),
            target,
            plain_in_duckdb,
            plain,
        )
    n_labels = 10_000 // divisor
    wide = _rows(10 * MILLION // divisor, 1_000, labels=n_labels, seed=5)
    yield Wait(
        f"limits of {n_labels:,} labels x 1,000 segments",
        lambda: bf.report(wide, "y", "yhat", interval=True, **options),
        10_000,
    )


def calls_of(run: Run) -> int:
    """Count the calls of functions of the package."""
    profile = cProfile.Profile()
    profile.runcall(run)
    stats: Any = pstats.Stats(profile)
    return sum(n for (file, *_), (_, n, *_) in stats.stats.items() if file.startswith(PACKAGE))


def seconds(runs: list[Run], budget: float = 3.0) -> list[float]:
    """Return the median time of each run, in turns, after one that is not counted."""
    times: list[list[float]] = [[] for _ in runs]
    for run in runs:
        run()
    start = time.perf_counter()
    while len(times[0]) < 3 or (time.perf_counter() - start < budget and len(times[0]) < 100):
        for run, taken in zip(runs, times, strict=True):
            begin = time.perf_counter()
            run()
            taken.append(time.perf_counter() - begin)
    return [*map(statistics.median, times)]


def measured(wait: Wait) -> tuple[str, str, str, str]:
    """Return what was measured, the peer, the target, and whether it holds, as text."""
    if wait.counts_calls:
        wait.run()
        n = calls_of(wait.run)
        return f"{n:,}", "", f"{wait.target:,.0f}", _holds(n, wait.target)
    if wait.peer is None:
        (own,) = seconds([wait.run])
        return f"{own * 1e3:,.3g} ms", "", f"{wait.target:g} ms", _holds(own * 1e3, wait.target)
    own, theirs = seconds([wait.run, wait.peer])
    ratio = own / theirs
    return f"{ratio:.2f}", wait.peer_name, f"{wait.target:g}", _holds(ratio, wait.target)


def _holds(value: float, target: float) -> str:
    return "yes" if value <= target else "**no**"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    for wait in (*small(), *large(QUICK if asked.quick else 1)):
        if asked.only in wait.name:
            print(" | ".join((wait.name, *measured(wait))), flush=True)


if __name__ == "__main__":
    main()
