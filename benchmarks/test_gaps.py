"""Gaps of 100,000 segments from the rest, with few and with many rows in each.

Run with `.venv/bin/python -m pytest benchmarks/test_gaps.py -n 0`, after installing the extra
`bench`.
"""

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

import balframe  # noqa: F401 (registers .bal)

SEGMENTS = 100_000


@pytest.mark.parametrize("rows", [1_000_000, 4_000_000, 10_000_000])
@pytest.mark.parametrize("verb", ["report", "gaps", "disparity"])
@pytest.mark.benchmark(group="100,000 int64 segments, 2 labels")
def test_gaps(benchmark: Callable[..., pl.DataFrame], verb: str, rows: int) -> None:
    random = np.random.default_rng(1)
    group, y = random.integers(0, SEGMENTS, rows), random.integers(0, 2, rows)
    yhat = np.where(random.random(rows) < 0.8, y, 1 - y)
    frame = pl.DataFrame({"group": group, "y": y, "yhat": yhat})

    out = benchmark.pedantic(getattr(frame.bal, verb), ("y", "yhat"), {"by": "group"}, rounds=3)

    assert out.height >= 2
