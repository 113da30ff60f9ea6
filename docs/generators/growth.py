"""What `python -m benchmarks.growth` has measured: curves, and costs that add up."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
from scipy.optimize import nnls

AXES = ("rows", "segments", "labels", "columns")
ENGINES = ("balframe, polars", "balframe, DuckDB", "balframe, Dask", "balframe, Spark")
ELSEWHERE = ("balframe, Dask", "balframe, Spark")  # count in processes that are not measured
CLUSTER = "balframe, Spark"
PLANNED_ROWS, PLANNED_CELLS, PLANNED_CORES = (10**9, 10**12), (4_000, 4_000_000), (16, 64, 1_024)

_TABLE = Path(__file__).parents[1] / "growth.csv"
_UNITS = {"days": 86_400, "hours": 3_600, "minutes": 60}
_WORDS = {10**6: "million", 10**9: "billion", 10**12: "trillion"}


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds to start, of one core for a row, and for a cell; bytes for a cell."""

    start: float
    of_a_row: float
    of_a_cell: float
    bytes_of_a_cell: float

    @classmethod
    def of(cls, measured: pl.DataFrame) -> "Cost":
        """Fit seconds with small relative errors; memory is that of the most cells."""
        rows, cells, cores, seconds = (
            measured[name].to_numpy() for name in ("rows", "cells", "cores", "seconds")
        )
        terms = np.column_stack([np.ones(len(rows)), rows / cores, cells])
        fitted, _ = nnls(terms / seconds[:, None], np.ones(len(rows)))
        most = measured.sort("cells").row(-1, named=True)
        return cls(*map(float, fitted), most["bytes"] / most["cells"])

    def seconds(self, rows: int, cells: int, cores: int) -> float:
        """Estimate a report, whose rows the cores share."""
        return self.start + self.of_a_row * rows / cores + self.of_a_cell * cells


@cache
def measured() -> pl.DataFrame:
    """Read all measurements that were done."""
    return pl.read_csv(_TABLE, infer_schema_length=None).drop_nulls("seconds")


def along(axis: str) -> pl.DataFrame:
    """Take the measurements that differ in one thing, where the others are as most often."""
    found = measured()
    others = [pl.col(name) == found[name].mode()[0] for name in AXES if name != axis]
    megabytes = pl.when(~pl.col("way").is_in(ELSEWHERE)).then(pl.col("bytes") / 1e6)
    curves = found.filter(*others).filter(pl.len().over("way") > 1)
    return curves.select(axis, "way", "seconds", megabytes=megabytes.clip(1).round(1))


def cost(way: str) -> Cost:
    """Fit the cost of a way, with two labels and one by-column."""
    return Cost.of(measured().filter(pl.col("way") == way, labels=2, columns=1))


def costs() -> str:
    """Give a table of what rows and cells cost on each engine."""
    rows = []
    for way in ENGINES:
        found = cost(way)
        seconds = (round(found.start, 3), 1e6 * found.of_a_row, 1e6 * found.of_a_cell)
        memory = f"{_rounded(found.bytes_of_a_cell)} MB"
        rows.append((way.partition(", ")[2], *(f"{_rounded(each)} s" for each in seconds), memory))
    head = ("engine", "start", "a million rows, on one core", "a million cells", "their memory")
    return _table(head, rows)


def plan() -> str:
    """Give a table of the time that many rows take on a cluster."""
    found = cost(CLUSTER)
    rows = [
        (_number(n), _number(cells), *(_time(found.seconds(n, cells, k)) for k in PLANNED_CORES))
        for n in PLANNED_ROWS
        for cells in PLANNED_CELLS
    ]
    return _table(("rows", "cells", *(f"{k:,} cores" for k in PLANNED_CORES)), rows)


def _number(n: int) -> str:
    for size, word in sorted(_WORDS.items(), reverse=True):
        if n >= size:
            return f"{n / size:g} {word}"
    return f"{n:,}"


def _time(seconds: float) -> str:
    for unit, size in _UNITS.items():
        if seconds >= 2 * size:
            return f"{_rounded(seconds / size)} {unit}"
    number = _rounded(seconds)
    return f"{number} second{'s' * (number != '1')}"


def _rounded(value: float) -> str:
    return f"{float(f'{value:.2g}'):,g}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    aligned = ["---", *(["---:"] * (len(head) - 1))]
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, aligned, *rows))
