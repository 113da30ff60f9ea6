"""A report on ten million rows beside the group-by that a user would write by hand.

Run with `.venv/bin/python -m pytest benchmarks -n 0`, after installing the extra `bench`.
"""

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

import balframe  # noqa: F401 (registers .bal)

ROWS, SEGMENTS = 10_000_000, 1_000


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    random = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "group": random.integers(0, SEGMENTS, ROWS),
            "y": random.integers(0, 2, ROWS),
            "yhat": random.integers(0, 2, ROWS),
        }
    )


WAYS: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    "balframe, report": lambda df: df.bal.report("y", "yhat", by="group"),
    "polars in-memory, counts alone": lambda df: df.group_by("group", "y", "yhat").len(),
    "polars streaming, counts alone": lambda df: (
        df.lazy().group_by("group", "y", "yhat").len().collect(engine="streaming")
    ),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.benchmark(group="10 million rows, 1,000 int64 segments, 2 labels")
def test_report(benchmark: Callable[..., pl.DataFrame], frame: pl.DataFrame, way: str) -> None:
    assert benchmark.pedantic(WAYS[way], (frame,), rounds=5, warmup_rounds=1).height >= SEGMENTS
