"""How time and memory grow with the data: writes docs/growth.csv, which the docs draw.

    python -m benchmarks.growth            # 20 minutes and 1 GB of disk
    python -m benchmarks.growth --quick    # a minute: a few small cases, printed

Needs the extra `bench`, and Java for Spark. Every measurement is a process of its own. Where one
takes longer than a minute, or more memory than there is, time and memory are missing in the file,
and larger cases are not tried.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from benchmarks.from_files import CORES, IN_OTHER_PROCESSES, METRICS, WAYS, Answer, Way
from benchmarks.memory import reset_peak, status, trim

TABLE = Path(__file__).parents[1] / "docs" / "growth.csv"
AGREEMENT, TOLERANCE = 0.8, 1e-9
ROWS_OF_A_FILE, ROWS_OF_THE_FIRST_REPORT = 2_500_000, 1_000
LONGEST = 60  # seconds of a process
ENOUGH, MOST_ROUNDS = 1.0, 9  # seconds of all rounds together, and how many there may be
OUT_OF_MEMORY = re.compile(r"MemoryError|OutOfMemory")


@dataclass(frozen=True)
class Case:
    """The rows, and how many segments, labels and by-columns they have."""

    rows: int = 10_000_000
    segments: int = 1_000
    labels: int = 2
    columns: int = 1

    @property
    def by(self) -> list[str]:
        """The by-columns, whose levels together make the segments."""
        return [f"by{i}" for i in range(self.columns)]

    def write(self, folder: Path) -> None:
        """Write the rows as Parquet files."""
        levels = round(self.segments ** (1 / self.columns))
        for number, start in enumerate(range(0, self.rows, ROWS_OF_A_FILE)):
            n, random = min(ROWS_OF_A_FILE, self.rows - start), np.random.default_rng(number)
            by = {name: random.integers(0, levels, n, dtype=np.int32) for name in self.by}
            y = random.integers(0, self.labels, n, dtype=np.int32)
            other = (y + random.integers(1, self.labels, n, dtype=np.int32)) % self.labels
            yhat = np.where(random.random(n) < AGREEMENT, y, other)
            rows = pl.DataFrame(by | {"y": y, "yhat": yhat})
            rows.write_parquet(folder / f"{number:03}.parquet")

    def cells(self, folder: Path) -> int:
        """Count the combinations of a segment and both labels that occur."""
        keys = pl.scan_parquet(folder / "*.parquet").select(*self.by, "y", "yhat")
        found = keys.unique().select(pl.len()).collect(engine="streaming")
        return int(found.item())

    def is_within(self, other: "Case") -> bool:
        """Tell whether the other case has as many of everything."""
        return all(mine <= its for mine, its in zip(astuple(self), astuple(other), strict=True))


AXES: dict[str, Sequence[int]] = {
    "rows": [10**3, 10**4, 10**5, 10**6, 10**7, 5 * 10**7, 2 * 10**8],
    "segments": [1, 10**2, 10**3, 10**4, 10**5, 10**6, 10**7],
    "labels": [2, 10, 10**2, 10**3, 10**4],
    "columns": [1, 2, 5, 10],
}
CASES = list(dict.fromkeys(Case(**{axis: n}) for axis, steps in AXES.items() for n in steps))
QUICK = [Case(10**3, 10), Case(10**4, 27, 3, 3), Case(10**6)]


def takes(way: str, case: Case) -> bool:
    """Leave out small cases for ways that start slowly, and the number of labels and columns."""
    of_engines = (
        case.rows >= 10**6 and case.segments >= 10**3 and (case.labels, case.columns) == (2, 1)
    )
    return of_engines or way not in IN_OTHER_PROCESSES


def child(way: str, folder: str, few: str, by: Sequence[str]) -> dict[str, Any]:
    """Give the peak of the first round, the median time of all, and what tells the answer."""
    run = WAYS[way]
    run(few, by)
    trim()
    can_reset = reset_peak()
    before = status("VmRSS") if can_reset else 0
    answer, taken = _timed(run, folder, by)
    peak = status("VmHWM") - before if can_reset else None
    facts = checked(answer, by[0])
    del answer
    rounds = [taken]
    while sum(rounds) < ENOUGH and len(rounds) < MOST_ROUNDS:
        rounds.append(_timed(run, folder, by)[1])
    return {"seconds": float(np.median(rounds)), "bytes": peak, "answer": facts}


def _timed(run: Way, folder: str, by: Sequence[str]) -> tuple[Answer, float]:
    start = time.perf_counter()
    answer = run(folder, by)
    return answer, time.perf_counter() - start


def checked(answer: Answer, key: str) -> list[float]:
    """Sum up an answer: segments, rows, and scores beside the values of a by-column."""
    frame = pl.from_pandas(answer) if isinstance(answer, pd.DataFrame) else pl.DataFrame(answer)
    scores = pl.col(METRICS)
    sums = [(scores * pl.col(key)).sum().name.suffix("_by_key"), scores.sum()]
    (facts,) = frame.select(pl.len().alias("segments"), pl.col("n").sum(), *sums).rows()
    return [float(fact) for fact in facts]


def measured(way: str, folder: str, few: str, by: Sequence[str]) -> dict[str, Any] | None:
    """Measure in a process of its own; None where it takes too long or too much."""
    command = [sys.executable, "-m", "benchmarks.growth", "--child", way, folder, few, *by]
    started = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        said, errors = started.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        os.killpg(started.pid, signal.SIGKILL)  # with the processes that it has started
        started.communicate()
        return None
    if started.returncode != 0:
        if started.returncode == -signal.SIGKILL or OUT_OF_MEMORY.search(errors):
            return None
        raise RuntimeError(f"{way}: {errors}")
    found: dict[str, Any] = json.loads(said.splitlines()[-1])
    return found


def measure(cases: Sequence[Case]) -> Iterator[dict[str, Any]]:
    """Measure all ways on all cases, but none on a larger case than one that it has not done."""
    not_done: list[tuple[str, Case]] = []
    for case in cases:
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as few:
            case.write(Path(folder))
            first = pl.read_parquet(f"{folder}/000.parquet", n_rows=ROWS_OF_THE_FIRST_REPORT)
            first.write_parquet(f"{few}/000.parquet")
            facts = asdict(case) | {"cells": case.cells(Path(folder)), "cores": CORES}
            answers = {}
            for way in WAYS:
                is_too_large = any(
                    way == other and least.is_within(case) for other, least in not_done
                )
                if is_too_large or not takes(way, case):
                    continue
                found = measured(way, folder, few, case.by)
                if found is None:
                    not_done.append((way, case))
                    yield facts | {"way": way, "seconds": None, "bytes": None}
                else:
                    answers[way] = found.pop("answer")
                    yield facts | {"way": way, **found}
        agree(answers, case)


def agree(answers: dict[str, list[float]], case: Case) -> None:
    """Raise unless all ways have counted all rows and have the same scores."""
    first, expected = next(iter(answers.items()))
    for way, answer in answers.items():
        if answer[1] != case.rows or not np.allclose(answer, expected, rtol=TOLERANCE, atol=0):
            raise ValueError(f"{way} has {answer}, {first} has {expected}; {case}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a few small cases, printed")
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        way, folder, few, *by = asked.child
        print(json.dumps(child(way, folder, few, by)))
        return
    start, found = time.perf_counter(), []
    for row in measure(QUICK if asked.quick else CASES):
        found.append(row)
        print(f"{time.perf_counter() - start:5.0f} s  {row}", flush=True)
    if not asked.quick:
        seconds = pl.col("seconds").round_sig_figs(4)
        pl.DataFrame(found, infer_schema_length=None).with_columns(seconds).write_csv(TABLE)


if __name__ == "__main__":
    main()
