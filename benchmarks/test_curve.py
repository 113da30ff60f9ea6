"""Curves on ten million rows beside a report on the same frame and polars' own sort.

Run with `.venv/bin/python -m pytest benchmarks/test_curve.py -n 0 -s`, after installing the extra
`bench`; -s shows the peak memory of each way, in a process of its own.
"""

import multiprocessing
import resource
import threading
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
    "balframe, exact curve": lambda df: df.bal.curve("y", "score", by="group", thresholds="all"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.benchmark(group="10 million rows, 100 int64 segments")
def test_curve(benchmark: Callable[..., pl.DataFrame], frame: pl.DataFrame, way: str) -> None:
    assert benchmark.pedantic(WAYS[way], (frame,), rounds=5, warmup_rounds=1).height >= SEGMENTS


@pytest.mark.parametrize("way", WAYS)
def test_peak_memory(way: str, frame: pl.DataFrame, tmp_path: Path) -> None:
    frame.write_parquet(tmp_path / "rows.parquet", compression="uncompressed")
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        before, peak = pool.apply(_resident, (way, tmp_path / "rows.parquet"))

    print(f"\n{way}: up to {peak - before:,.0f} MB beyond the {before:,.0f} MB with the frame")
    assert peak >= before


def _resident(way: str, file: Path) -> tuple[float, float]:
    """Look at the resident memory of this process every few milliseconds (Linux)."""
    frame = pl.read_parquet(file)
    seen = [_megabytes()]
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.005):
            seen.append(_megabytes())

    watcher = threading.Thread(target=watch)
    watcher.start()
    WAYS[way](frame)
    done.set()
    watcher.join()
    return seen[0], max(seen)


def _megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6
