"""What users wait for: pages, commands, small tables, charts, and calls on very many segments.

    python -m benchmarks.waits            # writes its section of docs/pages/benchmarks.md
    python -m benchmarks.waits --quick    # 20 times fewer rows, printed instead of written

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
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl

import balframe as bf
from benchmarks.cases import MILLION
from benchmarks.simulated import put

PAGE = Path(__file__).parents[1] / "docs" / "pages" / "benchmarks.md"
BEGIN, END = "<!-- waits: begin -->", "<!-- waits: end -->"
QUICK = 20  # times fewer rows and segments of cases that take seconds
PACKAGE = str(Path(bf.__file__).parent)

Run = Callable[[], object]


@dataclass(frozen=True)
class Wait:
    """A case: what is run, its target, and what it is compared with.

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


def _audit(n: int, columns: int, decimals: int | None, *, with_scores: bool = True) -> Run:
    frame = _people(n, columns, decimals)
    by = [f"by{i}" for i in range(columns)]
    y_score = "score" if with_scores else None
    return lambda: bf.audit(frame, "y", "yhat", by=by, y_score=y_score).html()


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
    frame, by = _rows(1_000, 5), {"by": "segment"}
    pandas, names = frame.to_pandas(), ("y", "yhat")
    result = bf.report(frame, *names, interval=True, **by)
    chart = _folder() / "chart.svg"
    everything: dict[str, Any] = {"metrics": "all", "interval": True, **by}
    audit = _audit(300, 1, None, with_scores=False)
    of_file = ("report", _file(), "--y-true", "y", "--y-pred", "yhat")
    yield Wait("audit of 300 rows: calls inside the package", audit, 5_000, counts_calls=True)
    yield Wait("audit of 300 rows", audit, 60)
    yield Wait(
        "report of 1,000 rows, all metrics with limits",
        lambda: bf.report(frame, *names, **everything),
        3,
    )
    yield Wait("gaps of 1,000 rows", lambda: bf.gaps(frame, *names, **by), 2)
    yield Wait("report of 1,000 rows, pandas", lambda: bf.report(pandas, *names, **by), 0.8)
    yield Wait("report of 1,000 rows, polars", lambda: bf.report(frame, *names, **by), 0.6)
    yield Wait("plot.report of 5 segments", lambda: bf.plot.report(frame, *names, **by), 26)
    yield Wait(
        "plot.report of 5 segments, as SVG",
        lambda: bf.plot.report(frame, *names, **by).save(chart),
        84,
    )
    yield Wait("table of a report, as HTML", lambda: bf.table(result).as_raw_html(), 12)
    yield Wait("`balframe --help`", _command("--help"), 350)
    yield Wait("`balframe report --help`", _command("report", "--help"), 350)
    yield Wait("`balframe report` of a small file", _command(*of_file), 350)


def medium() -> Iterator[Wait]:
    """Yield cases of many rows that take few milliseconds, without targets."""
    names, by = ("y", "yhat"), {"by": "segment"}
    frame, texts = _rows(MILLION, 1_000), _rows(MILLION, 1_000, text="s")
    scored = _scores(300_000, 100)
    for title, rows in (("polars", frame), ("pandas", frame.to_pandas()), ("strings", texts)):
        yield Wait(
            f"report of a million rows, {title}",
            lambda rows=rows: bf.report(rows, *names, **by),  # type: ignore[misc]
            np.inf,
        )
    yield Wait("ranking of 300,000 scores", lambda: bf.ranking(scored, "y", "score", **by), np.inf)


def large(divisor: int = 1) -> Iterator[Wait]:
    """Yield the cases of many rows, segments or labels."""
    n, of_million = 10 * MILLION // divisor, MILLION // divisor
    yield Wait(
        f"audit of {of_million:,} rows, 3 by-columns, scores of two decimals",
        _audit(of_million, 3, 2),
        400,
    )
    yield Wait(
        f"audit of {of_million:,} rows, 6 by-columns, continuous scores",
        _audit(of_million, 6, None),
        1_500,
    )
    yield from _by_strings(n)
    yield from _of_scores(n // 2)
    yield from _of_segments(n, of_million)
    yield from _of_labels(n, 10_000 // divisor)


def _by_strings(n: int) -> Iterator[Wait]:
    frame = _rows(n, 1_000, text="s").with_columns(store=pl.int_range(pl.len()) % 5)
    for title, by, target in (
        ("strings", ["segment"], 1.0),
        ("strings and integers", ["segment", "store"], 1.05),
    ):
        yield Wait(
            f"report of {n:,} rows by {title}",
            lambda by=by: bf.report(frame, "y", "yhat", by=by),  # type: ignore[misc]
            target,
            _sums(frame, *by),
            "sums of booleans in polars",
        )


def _of_scores(n: int) -> Iterator[Wait]:
    scored = _scores(n, 1_000)
    options: dict[str, Any] = {"by": "segment", "max_cells": 10**8}
    for method, target in ((bf.ranking, 2.5), (bf.calibration, 3.0)):
        yield Wait(
            f"{method.__name__} of {n:,} continuous scores, 1,000 segments",
            lambda method=method: method(scored, "y", "score", **options),  # type: ignore[misc]
            target,
            _counted(scored, "segment", "y", "score"),
            "count by segment, label and score",
        )


def _of_segments(n: int, segments: int) -> Iterator[Wait]:
    plain = "count by segment, label and prediction"
    options: dict[str, Any] = {"by": "segment", "max_cells": 10**8}
    sparse = _rows(5 * segments, segments)
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

    def count() -> object:
        with duckdb.connect() as connection:
            query = f"SELECT segment, y, yhat, count(*) AS n FROM '{path}' GROUP BY ALL"
            return connection.sql(query).pl()

    for title, method, own, target in (
        ("report", bf.report, {}, 1.5),
        ("report with limits", bf.report, {"interval": True}, 2.0),
        ("gaps", bf.gaps, {}, 2.5),
    ):
        call = partial(method, y_true="y", y_pred="yhat", **options, **own)
        title = f"{title} of {segments:,} segments, DuckDB"
        yield Wait(title, partial(in_duckdb, call), target, count, plain)


def _of_labels(n: int, most_labels: int) -> Iterator[Wait]:
    options: dict[str, Any] = {"by": "segment", "max_cells": 10**8}
    many = _rows(n, 1_000, labels=1_000)
    yield Wait(
        f"report of {n:,} rows, 1,000 labels",
        lambda: bf.report(many, "y", "yhat", **options),
        1.1,
        _packed(many, 1_000),
        "one packed key, counts only, in polars",
    )
    more = _rows(n, 1_000, labels=most_labels, seed=5)
    yield Wait(
        f"limits of {most_labels:,} labels x 1,000 segments",
        lambda: bf.report(more, "y", "yhat", interval=True, **options),
        10_000,
    )


def calls_of(run: Run) -> int:
    """Count the calls of functions of the package."""
    profile = cProfile.Profile()
    profile.runcall(run)
    stats: Any = pstats.Stats(profile)
    return sum(n for (file, *_), (_, n, *_) in stats.stats.items() if file.startswith(PACKAGE))


def timed(runs: list[Run], budget: float = 3.0) -> list[list[float]]:
    """Return the seconds of each run, at least three times and in turns, after one not counted."""
    times: list[list[float]] = [[] for _ in runs]
    for run in runs:
        run()
    start = time.perf_counter()
    while len(times[0]) < 3 or (time.perf_counter() - start < budget and len(times[0]) < 100):
        for run, taken in zip(runs, times, strict=True):
            begin = time.perf_counter()
            run()
            taken.append(time.perf_counter() - begin)
    return times


def seconds(runs: list[Run]) -> list[float]:
    """Return the median time of each run."""
    return [*map(statistics.median, timed(runs))]


def rows_of_table(waits: Iterator[Wait]) -> Iterator[str]:
    """Measure cases, and yield the rows of a table."""
    for wait in waits:
        peer = ""
        if wait.counts_calls:
            wait.run()
            value = float(calls_of(wait.run))
            written, target = f"{value:,.0f}", f"{wait.target:,.0f}"
        elif wait.peer is None:
            value = seconds([wait.run])[0] * 1e3
            written, target = _time(value), _time(wait.target)
        else:
            own, theirs = seconds([wait.run, wait.peer])
            value = own / theirs
            written, target = f"{value:.2f}", f"{wait.target:.2f}"
            peer = f"{wait.peer_name}: {_time(theirs * 1e3)}"
        holds = "yes" if value <= wait.target else "**no**"
        row = f"| {wait.name} | {peer} | {written} | {target} | {holds} |"
        print(row, flush=True)
        yield row


def _time(milliseconds: float) -> str:
    if milliseconds >= 1_000:
        return f"{milliseconds / 1e3:.3g} s"
    return f"{milliseconds:.3g} ms"


def imports() -> str:
    """Return what is loaded by a program that imports the package and polars, as a sentence."""
    modules, megabytes = (
        statistics.median(values) for values in zip(*(_loaded() for _ in range(5)), strict=True)
    )
    return (
        f"`import balframe, polars` loads {modules:.0f} modules of the package, and the process "
        f"takes {megabytes:.0f} MB in all. The wheel has {_wheel_size():.0f} kB."
    )


def _loaded() -> tuple[int, float]:
    code = (
        "import balframe, polars, sys; from pathlib import Path; "
        "peak = Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0]; "
        "print(sum(name.startswith('balframe') for name in sys.modules), int(peak) / 1e3)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, text=True
    )
    modules, megabytes = done.stdout.split()
    return int(modules), float(megabytes)


def _wheel_size() -> float:
    """Return about how many kB a wheel has: those of the files of the package, compressed."""
    out = _folder() / "package.zip"
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in Path(PACKAGE).rglob("*"):
            if path.is_file() and path.suffix != ".pyc":
                archive.write(path, path.relative_to(PACKAGE))
    return out.stat().st_size / 1e3


def section(divisor: int) -> str:
    """Measure everything and write it."""
    table = "\n".join(rows_of_table(chain(small(), large(divisor))))
    return f"""\
## What is felt {{ #felt }}

What users wait for, in one run of `python -m benchmarks.waits`: times, or ratios to the time of the
best other way that we know, or of the counting that the call cannot do without. Each is the median
of as many rounds as fit into three seconds, of at least three; peers are timed in turns.

| case | compared with | measured | target, at most | holds |
| --- | --- | ---: | ---: | --- |
{table}

{imports()}
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help=f"divide the rows by {QUICK}")
    parser.add_argument("--only", help="time the cases whose names have this text, and print them")
    asked = parser.parse_args()
    divisor = QUICK if asked.quick else 1
    if asked.only is not None:
        waits = (wait for wait in chain(small(), large(divisor)) if asked.only in wait.name)
        list(rows_of_table(waits))
        return
    written = section(divisor)
    if asked.quick:
        print(f"\n{written}")
    else:
        put(written.strip(), PAGE, BEGIN, END)


if __name__ == "__main__":
    main()
