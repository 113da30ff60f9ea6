"""Curves on ten million rows beside a report on the same frame and polars' own sort.

Run with `.venv/bin/python -m pytest benchmarks/test_curve.py -n 0 -s`, after installing the extra
`bench`; -s shows the peak memory of each way, in a process of its own.
"""

import multiprocessing
import resource
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import balframe  # noqa: F401 (registers .bal)

ROWS, SEGMENTS = 10_000_000, 100


def rows() -> pl.DataFrame:
    random = np.random.default_rng(1)
    y = random.integers(0, 2, ROWS)
    score = 0.7 * random.random(ROWS) + 0.3 * y * random.random(ROWS)
    group = random.integers(0, SEGMENTS, ROWS)
    return pl.DataFrame({"group": group, "y": y, "score": score, "yhat": (score > 0.5) + 0})


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    return rows()


WAYS: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    "balframe, report": lambda df: df.bal.report("y", "yhat", by="group"),
    "balframe, grid of 100": lambda df: df.bal.curve("y", "score", by="group", thresholds=100),
    "polars, sort of two columns": lambda df: df.select("group", "score").sort("group", "score"),
    "balframe, exact curve": lambda df: df.bal.curve("y", "score", by="group"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.benchmark(group="10 million rows, 100 int64 segments")
def test_curve(benchmark: Callable[..., pl.DataFrame], frame: pl.DataFrame, way: str) -> None:
    assert benchmark.pedantic(WAYS[way], (frame,), rounds=5, warmup_rounds=1).height >= SEGMENTS


@pytest.mark.parametrize("way", WAYS)
def test_peak_memory(way: str, frame: pl.DataFrame, tmp_path: Path) -> None:
    frame.write_parquet(tmp_path / "rows.parquet", compression="uncompressed")
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        before, after = pool.apply(_peaks, (way, tmp_path / "rows.parquet"))

    print(f"\n{way}: {after - before:,.0f} MB beyond the {before:,.0f} MB of reading the frame")
    assert after >= before


def _peaks(way: str, file: Path) -> tuple[float, float]:
    frame = pl.read_parquet(file)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    WAYS[way](frame)
    return before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
