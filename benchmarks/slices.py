"""Time and peak memory of `slices` beside sliceline and divexplorer, in one run.

    python -m benchmarks.slices            # writes its section of docs/pages/benchmarks.md
    python -m benchmarks.slices --quick    # 20 times fewer rows, printed instead of written

Needs the extra `bench`. Every measurement is a process of its own, which reads the rows from a file
and prepares them for the way that is measured. The clock starts after a search of few rows.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl

from benchmarks.memory import ALLOCATORS, reset_peak, status, trim
from benchmarks.simulated import put
from benchmarks.slices_data import adult, census, million

PAGE = Path(__file__).parents[1] / "docs" / "pages" / "benchmarks.md"
BEGIN, END = "<!-- slices: begin -->", "<!-- slices: end -->"
QUICK, FEW_ROWS, TOP = 20, 2_000, 10
ALPHA = 0.95  # of sliceline: by its default, only large slices have a score
PACKAGES = ("balframe", "numpy", "pandas", "polars", "scikit-learn", "sliceline", "divexplorer")

Codes = npt.NDArray[np.int64]
Call = Callable[[], int]  # which gives the number of slices that were found, or listed


@dataclass(frozen=True)
class Case:
    """A table, how many rows a slice must have, and of how many conditions it is."""

    title: str
    draw: Callable[[int], pl.DataFrame]
    n_rows: int
    floor: float
    depth: int
    ways: Sequence[str]
    rounds: int = 3
    metric: str = "accuracy"
    options: Mapping[str, Any] | None = None

    def least(self, n_rows: int) -> int:
        """Give the smallest number of rows of a slice, for each label that the metric counts."""
        n_strata = 4 if self.metric == "balanced_accuracy" else 1
        return max(int(self.floor * n_rows / n_strata), 1)


ALONE = ("balframe, polars", "balframe, pandas")
ALL = (*ALONE, "sliceline, numba", "sliceline", "divexplorer")
MILLION = 1_000_000
CASES = (
    Case("like Adult, 5%, depth 3", adult, 48_842, 0.05, 3, ALL, 5),
    Case("like Adult, 1%, depth 3", adult, 48_842, 0.01, 3, ALL, 1),
    Case("1 million rows x 10 columns, 1%, depth 2", million, MILLION, 0.01, 2, ALL, 1),
    Case("1 million rows x 10 columns, 1%, depth 3", million, MILLION, 0.01, 3, ALL, 1),
    *(
        Case(
            f"2.46 million rows x 68 columns, 4 labels, 1%, depth {depth}",
            *(census, 2_458_285, 0.01, depth, ALONE, 1),
            metrics="balanced_accuracy",
            options={"bins": None},
        )
        for depth in (2, 3)
    ),
)


def with_balframe(frame: pl.DataFrame | pd.DataFrame, case: Case) -> Call:
    """Search with balframe; what is given is what users have."""
    import balframe as bf

    options = {"min_support": case.least(len(frame)), **(case.options or {})}

    def call() -> int:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = bf.slices(
                frame, "y", "yhat", metrics=case.metric, depth=case.depth, top=TOP, **options
            )
        return len(found)

    return call


def with_sliceline(frame: pl.DataFrame, case: Case, numba: bool) -> Call:
    """Search with sliceline, which takes codes from 1 and errors; numba is its option."""
    from sliceline import slicefinder

    slicefinder.NUMBA_AVAILABLE = numba
    columns = [name for name in frame.columns if name not in ("y", "yhat")]
    codes = frame.select(pl.col(columns).rank("dense").cast(pl.Int64)).to_numpy()
    wrong = (frame["y"] != frame["yhat"]).cast(pl.Int64).to_numpy()

    def call() -> int:
        finder = slicefinder.Slicefinder(
            alpha=ALPHA, k=TOP, max_l=case.depth, min_sup=case.least(frame.height), verbose=False
        )
        finder.fit(codes, wrong)
        return len(finder.top_slices_)

    return call


def with_divexplorer(frame: pl.DataFrame, case: Case) -> Call:
    """Search with divexplorer, which has no limit of depth."""
    from divexplorer import DivergenceExplorer

    rows = frame.drop("y", "yhat").to_pandas()
    rows["wrong"] = (frame["y"] != frame["yhat"]).cast(pl.Int64).to_numpy()

    def call() -> int:
        explorer = DivergenceExplorer(rows)
        support = case.least(frame.height) / frame.height
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = explorer.get_pattern_divergence(support, boolean_outcomes=["wrong"])
        return len(found)

    return call


PREPARE: Mapping[str, Callable[[pl.DataFrame, Case], Call]] = {
    "balframe, polars": with_balframe,
    "balframe, pandas": lambda frame, case: with_balframe(frame.to_pandas(), case),
    "sliceline, numba": partial(with_sliceline, numba=True),
    "sliceline": partial(with_sliceline, numba=False),
    "divexplorer": with_divexplorer,
}


def child(file: str, number: str, way: str, what: str) -> dict[str, float]:
    """Measure time or memory in this process."""
    case, frame = CASES[int(number)], pl.read_parquet(file).rechunk()
    PREPARE[way](frame.head(FEW_ROWS), case)()  # loads what is loaded at first use
    call = PREPARE[way](frame, case)
    if way != "balframe, polars":
        del frame
    trim()
    if what == "memory":
        if not reset_peak():
            return {}
        before = status("VmRSS")
        call()
        return {"peak": status("VmHWM") - before}
    seconds = []
    for _ in range(case.rounds):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return {"seconds": float(np.median(seconds))}


@dataclass(frozen=True)
class Measured:
    """Seconds and bytes of a way on a case; None where it ended before it was done."""

    seconds: float | None
    peak: float | None


def measure(number: int, divisor: int, longest: float) -> dict[str, Measured]:
    """Measure all ways on one case."""
    case, found = CASES[number], {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.parquet"
        case.draw(max(case.n_rows // divisor, 2 * FEW_ROWS)).write_parquet(file)
        for way in case.ways:
            said: dict[str, float] = {}
            for what, more in (("time", {}), ("memory", ALLOCATORS)):
                command = [sys.executable, "-m", "benchmarks.slices", "--child", str(file)]
                command += [str(number), way, what]
                try:
                    done = subprocess.run(
                        command,
                        check=True,
                        stdout=subprocess.PIPE,
                        text=True,
                        timeout=longest,
                        env=os.environ | more,
                    )
                except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
                    print(f"{case.title}, {way}: {type(error).__name__}", flush=True)
                    break
                said |= json.loads(done.stdout.splitlines()[-1])
            found[way] = Measured(said.get("seconds"), said.get("peak"))
            print(f"{case.title}, {way}: {found[way]}", flush=True)
    return found


def table(measured: Mapping[str, Mapping[str, Measured]]) -> str:
    """Write a row for each case and way, with ratios to balframe on polars."""
    lines = ["| case | with | time | peak memory |", "| --- | --- | ---: | ---: |"]
    for title, ways in measured.items():
        base = ways[ALONE[0]]
        for way, one in ways.items():
            seconds = _cell(one.seconds, base.seconds, "s", 1.0, way not in ALONE)
            peak = _cell(one.peak, base.peak, "MB", 1e-6, way not in ALONE)
            lines.append(f"| {title} | {way} | {seconds} | {peak} |")
    return "\n".join(lines)


def _cell(value: float | None, base: float | None, unit: str, scale: float, ratio: bool) -> str:
    if value is None:
        return "not done"
    beside = f" ({value / base:,.0f}x)" if ratio and base else ""
    return f"{float(f'{value * scale:.3g}'):,.10g} {unit}{beside}"


def section(measured: Mapping[str, Mapping[str, Measured]], longest: float) -> str:
    """Write the section of the page."""
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    said = f"""\
## Slices

`slices` beside sliceline and divexplorer, in one run of `python -m benchmarks.slices`. All search
the same columns for slices with the same minimum number of rows. Ratios to balframe on polars are
in parentheses.

- balframe is given strings, in the first four cases, and computes what it always does: p-values,
  limits, and which slices explain others.
- sliceline is given codes. It lists {TOP} slices, and has no test. Its extra adds numba.
  `alpha` is {ALPHA}: by the default, .6, it lists no slice of these data.
- divexplorer is given strings. It has no limit of depth, so it searches deeper slices too.
- The last two cases are balframe's alone: the others were not run on a table of this size.
- Each measurement is a process of its own. Times are medians of 5 rounds in the first case, and one
  round in the others, after a search of few rows. Memory is the peak beyond the input.
- "Not done" means that a process took longer than {longest / 60:.0f} minutes or ran out of memory.

The machine has {os.cpu_count()} cores. Python {platform.python_version()}, {versions}.

"""
    return f"{said}{table(measured)}\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help=f"the same as --shrink {QUICK}")
    parser.add_argument("--shrink", type=int, default=1, help="divide the numbers of rows by this")
    parser.add_argument("--cases", type=int, nargs="*", help="measure these only, from 0; print")
    parser.add_argument("--longest", type=float, default=900, help="seconds of a process")
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        print(json.dumps(child(*given.child)))
        return
    divisor = QUICK if given.quick else given.shrink
    numbers = range(len(CASES)) if given.cases is None else given.cases
    found = {CASES[i].title: measure(i, divisor, given.longest) for i in numbers}
    written = section(found, given.longest)
    if divisor > 1 or given.cases is not None:
        print(f"\n{written}")
        return
    put(written.strip(), PAGE, BEGIN, END)


if __name__ == "__main__":
    main()
