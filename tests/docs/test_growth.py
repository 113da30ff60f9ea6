"""Curves and costs of growing data: what is fitted, and what the pages say of the measurements."""

import numpy as np
import polars as pl
import pytest

from docs.generators import growth
from docs.generators.growth import Cost

pytestmark = pytest.mark.any_version

STREAMING = ("balframe, polars", "balframe, DuckDB", "polars by hand", "DuckDB by hand")


def curve(axis, way, column="seconds"):
    """Give a curve by the values on its axis."""
    found = growth.along(axis).filter(pl.col("way") == way)
    return dict(found.select(axis, column).drop_nulls().iter_rows())


def test_cost_fit_recovers_known_costs():
    rows, cells = np.array([10**6, 10**7, 10**8, 10**7]), np.array([10**3, 10**3, 10**3, 10**6])
    seconds = 2 + rows / 4 * 1e-7 + cells * 3e-6
    facts = {"rows": rows, "cells": cells, "cores": 4, "seconds": seconds, "bytes": 50 * cells}
    found = Cost.of(pl.DataFrame(facts))
    assert (found.start, found.of_a_row, found.of_a_cell) == pytest.approx((2, 1e-7, 3e-6))
    assert found.bytes_of_a_cell == 50


def test_cost_of_rows_is_divided_by_cores():
    found = Cost(start=1, of_a_row=1e-6, of_a_cell=1e-3, bytes_of_a_cell=0)
    assert found.seconds(rows=10**6, cells=1_000, cores=2) == pytest.approx(1 + 0.5 + 1)


def test_tables_have_a_row_for_each_engine_and_each_plan(monkeypatch):
    monkeypatch.setattr(growth, "cost", lambda way: Cost(1, 2e-7, 3e-6, 254))
    lines = growth.costs().splitlines()
    assert lines[2] == "| polars | 1 s | 0.2 s | 3 s | 250 MB |"
    assert len(lines) == 2 + 4
    # 1 + 2e-7 * 1e9 / 16 + 3e-6 * 4e6 = 1 + 12.5 + 12 seconds, and 1 + 2e-7 * 1e12 / 16 = 12,501
    lines = growth.plan().splitlines()
    assert len(lines) == 2 + 4
    assert lines[3].startswith("| 1 billion | 4 million | 26 seconds |")
    assert lines[4].startswith("| 1 trillion | 4,000 | 3.5 hours |")


def test_time_is_in_the_largest_unit_with_at_least_two():
    seconds = {
        0.25: "0.25 seconds",
        1.04: "1 second",
        119: "120 seconds",
        120: "2 minutes",
        1e6: "12 days",
    }
    assert [growth._time(each) for each in seconds] == list(seconds.values())


def test_every_axis_has_balframe_beside_others():
    for axis in growth.AXES:
        ways = set(growth.along(axis)["way"])
        assert {*STREAMING, "balframe, pandas", "scikit-learn, a loop"} <= ways
    assert set(growth.ENGINES) <= set(growth.along("rows")["way"])
    assert set(growth.ENGINES) <= set(growth.along("segments")["way"])


def test_memory_of_streaming_engines_levels_off():
    for way in STREAMING:
        megabytes = curve("rows", way, "megabytes")
        assert megabytes[200_000_000] < 2.5 * megabytes[10_000_000]
    megabytes = curve("rows", "balframe, pandas", "megabytes")
    assert megabytes[200_000_000] > 10 * megabytes[10_000_000]


def test_time_grows_in_proportion_to_many_rows():
    for way in {*STREAMING, *growth.ENGINES}:
        seconds = curve("rows", way)
        few, more, most = (seconds[millions * 10**6] for millions in (10, 50, 200))
        of_first, of_later = (more - few) / (50 - 10), (most - more) / (200 - 50)
        assert 0.4 < of_later / of_first < 2.3
    seconds = curve("rows", "balframe, pandas")
    assert seconds[200_000_000] / seconds[10_000_000] > 25


def test_up_to_a_thousand_segments_cost_little_except_in_a_loop():
    for way in STREAMING:
        seconds = curve("segments", way)
        assert seconds[1_000] < 3 * seconds[1]
        assert seconds[10_000_000] > 5 * seconds[1]
    seconds = curve("segments", "scikit-learn, a loop")
    assert seconds[10_000] > 3 * seconds[1]


def test_handwritten_queries_are_faster_for_10000_labels():
    for library in ("polars", "DuckDB"):
        assert (
            curve("labels", f"{library} by hand")[10_000]
            < (curve("labels", f"balframe, {library}")[10_000])
        )
