"""Verbs beside the plain count of the same engine: what an answer costs beyond counting its rows.

    python -m benchmarks.plain_counts            # writes its section of docs/pages/benchmarks.md
    python -m benchmarks.plain_counts --quick    # 20 times fewer rows, printed instead of written

Needs the extra `bench`. The rows are in Parquet files, which polars and DuckDB read as streams.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
from polars.testing import assert_frame_equal

import balframe as bf
from benchmarks.cases import MILLION, in_words
from benchmarks.simulated import put

PAGE = Path(__file__).parents[1] / "docs" / "pages" / "benchmarks.md"
BEGIN, END = "<!-- plain counts: begin -->", "<!-- plain counts: end -->"
QUICK, ROUNDS, ROWS_OF_A_FILE = 20, 5, 10 * MILLION
AGREEMENT, STEPS = 0.8, 100
ENGINES = ("polars", "DuckDB")
MOST_CELLS = 10**8

Answer = Callable[[Any], Any]


@dataclass(frozen=True)
class Case:
    """Rows, the keys of their plain count in SQL, and the calls with the largest ratio allowed.

    The keys of scores are the scores, or their steps on a grid.
    """

    rows: int
    segments: int
    keys: str
    calls: Mapping[str, tuple[Answer, float]]

    @property
    def title(self) -> str:
        """The rows in words."""
        return f"{in_words(self.rows)} rows, {in_words(self.segments)} segments"


def report(rows: object) -> object:
    """Compute the default metrics."""
    return bf.report(rows, "y", "yhat", by="segment", max_cells=MOST_CELLS)


def limits(rows: object) -> object:
    """Compute the same with confidence limits."""
    return bf.report(rows, "y", "yhat", by="segment", interval=True, max_cells=MOST_CELLS)


def gaps(rows: object) -> object:
    """Compare every segment with the rest: differences, limits and p-values."""
    return bf.gaps(rows, "y", "yhat", by="segment", max_cells=MOST_CELLS)


def curve(rows: object) -> object:
    """Score 101 thresholds."""
    return bf.curve(rows, "y", "score", by="segment", thresholds=STEPS + 1)


def ranking(rows: object) -> object:
    """Rank the rows by scores of which hardly any two are equal."""
    return bf.ranking(rows, "y", "score", by="segment", max_cells=MOST_CELLS)


LABELS = "segment, y, yhat"
CASES = [
    Case(100 * MILLION, 1_000, LABELS, {"report": (report, 1.5), "report, limits": (limits, 1.5)}),
    Case(
        10 * MILLION,
        MILLION,
        LABELS,
        {"report": (report, 1.5), "report, limits": (limits, 2.0), "gaps": (gaps, 3.0)},
    ),
    Case(10 * MILLION, 100_000, LABELS, {"gaps": (gaps, 3.0)}),
    Case(
        20 * MILLION,
        4,
        f"segment, y, CAST(floor(score * {STEPS}) AS INTEGER) AS step",
        {"curve, 101 thresholds": (curve, 2.0)},
    ),
    Case(5 * MILLION, 4, "segment, y, score", {"ranking": (ranking, 2.0)}),
]


def generate(folder: Path, case: Case, divisor: int) -> int:
    """Write the rows as files, and say how many there are."""
    rows, segments = case.rows // divisor, min(case.segments, case.rows // divisor // 10)
    for number, start in enumerate(range(0, rows, ROWS_OF_A_FILE)):
        random, n = np.random.default_rng(number), min(ROWS_OF_A_FILE, rows - start)
        y = random.random(n) < 0.5
        columns = {"segment": random.integers(0, segments, n, np.int32), "y": y}
        if "score" in case.keys:
            columns["score"] = 0.7 * random.random(n) + 0.3 * y
        else:
            columns["yhat"] = np.where(random.random(n) < AGREEMENT, y, ~y)
        pl.DataFrame(columns).write_parquet(folder / f"{number:03}.parquet")
    return rows


def plain_count(engine: str, files: str, keys: str) -> pl.DataFrame:
    """Count rows by their keys, in the engine's own way."""
    if engine == "DuckDB":
        with duckdb.connect() as connection:
            query = f"SELECT {keys}, count(*) AS n FROM '{files}' GROUP BY ALL"
            return connection.sql(query).pl()
    scan = pl.scan_parquet(files)
    by = [pl.sql_expr(key) for key in keys.split(", ")]
    return scan.group_by(by).agg(n=pl.len()).collect(engine="streaming")


def answered(engine: str, files: str, call: Answer) -> pl.DataFrame:
    """Ask balframe on the engine."""
    if engine == "DuckDB":
        with duckdb.connect() as connection:
            answer: pl.DataFrame = call(connection.read_parquet(files))
            return answer
    lazy: pl.LazyFrame = call(pl.scan_parquet(files))
    return lazy.collect(engine="streaming")


def measure(case: Case, divisor: int) -> dict[tuple[str, str], tuple[float, float]]:
    """Time the calls on each engine, and its plain count beside each, in turns."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        rows = generate(Path(folder), case, divisor)
        files = f"{folder}/*.parquet"
        for name, (call, _) in case.calls.items():
            answers = []
            for engine in ENGINES:
                ways: list[Callable[[], pl.DataFrame]] = [
                    partial(plain_count, engine, files, case.keys),
                    partial(answered, engine, files, call),
                ]
                counted, answer = (way() for way in ways)
                assert counted["n"].sum() == rows
                answers.append(answer)
                times: list[list[float]] = [[], []]
                for _ in range(ROUNDS):
                    for way, taken in zip(ways, times, strict=True):
                        start = time.perf_counter()
                        way()
                        taken.append(time.perf_counter() - start)
                plain, own = map(statistics.median, times)
                found[name, engine] = own, plain
                print(f"{case.title}, {name}, {engine}: {own:.2f} s, {plain:.2f} s", flush=True)
            assert_frame_equal(*answers, rel_tol=1e-9)
    return found


def section(divisor: int) -> str:
    """Measure everything and write it."""
    lines = [
        "| rows | call | engine | balframe | plain count | ratio | target, at most | holds |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: | --- |",
    ]
    for case in CASES:
        for (name, engine), (own, plain) in measure(case, divisor).items():
            most, ratio = case.calls[name][1], own / plain
            holds = "yes" if ratio <= most else "**no**"
            cells = (case.title, name, engine, f"{own:.2f} s", f"{plain:.2f} s", f"{ratio:.2f}")
            lines.append(f"| {' | '.join((*cells, f'{most:.1f}', holds))} |")
    table = "\n".join(lines)
    return f"""\
## Beside a plain count

What a result costs beyond counting its rows, in one run of `python -m benchmarks.plain_counts`.
The rows are in Parquet files. The plain count is the engine's own: rows by segment, label and
prediction; for `curve` by segment, label and step of the score; for `ranking` by segment, label and
score. Times are medians of {ROUNDS} rounds, in turns. Both engines give the same results.

{table}
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help=f"divide the rows by {QUICK}")
    given = parser.parse_args()
    written = section(QUICK if given.quick else 1)
    if given.quick:
        print(f"\n{written}")
    else:
        put(written.strip(), PAGE, BEGIN, END)


if __name__ == "__main__":
    main()
