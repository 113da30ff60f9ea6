"""Slices of many rows: tables too large to be dense, counts past floats, tiny p-values."""

import math
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

import balframe as bf
from balframe.methods.slices import conjunctions
from tests.methods.slices.test_slices_against_loops import METRICS, check, drawn
from tests.methods.slices.test_slices_against_loops import both as asked
from tests.support.tested_slices import search


@pytest.mark.thorough
@pytest.mark.parametrize("largest", [0, 100])
@pytest.mark.parametrize("metric", METRICS)
def test_tables_too_large_to_be_dense_equal_loops(monkeypatch, metric, largest):
    monkeypatch.setattr(conjunctions, "LARGEST_TABLE", largest)

    assert check(*asked(drawn(1), metric, options=METRICS[metric]))


@pytest.mark.parametrize("metric", ["recall", "f1", "balanced_accuracy"])
def test_weighted_result_is_the_same_in_tables_too_large_to_be_dense(monkeypatch, metric):
    rows = pl.DataFrame(drawn(2), infer_schema_length=None).drop("n")
    rows = rows.with_columns(w=pl.int_range(pl.len()) % 7 / 4)
    options = {"metrics": metric, "sample_weight": "w", "over": ["a", "b", "c", "x"]}
    expected = bf.slices(rows, "y", "yhat", detail=True, **options)

    monkeypatch.setattr(conjunctions, "LARGEST_TABLE", 0)

    assert expected.height
    assert bf.slices(rows, "y", "yhat", detail=True, **options).equals(expected)


CELLS = [  # g, h, y, yhat, n
    ("a", "u", 1, 1, 5 * 10**15 + 1), ("a", "u", 1, 0, 5 * 10**15 + 2),
    ("a", "v", 1, 1, 6 * 10**15 + 1), ("a", "v", 1, 0, 4 * 10**15),
    ("b", "u", 1, 1, 9 * 10**15), ("b", "u", 1, 0, 10**15 + 1),
    ("b", "v", 1, 1, 9 * 10**15 + 4), ("b", "v", 1, 0, 10**15),
]  # fmt: skip


def test_counts_above_2_to_the_53_are_exact():
    cells = pl.DataFrame(CELLS, schema=["g", "h", "y", "yhat", "n"], orient="row")
    first, *_ = bf.slices(
        cells, "y", "yhat", metrics="recall", min_difference=0.1, depth=1, detail=True
    ).to_dicts()

    n = sum(row[4] for row in CELLS if row[0] == "a")
    assert float(n) != n or n > 2**53
    assert first["slice"] == "g = a"
    assert first["n"] == first["min_support"] == n == 2 * 10**16 + 4
    assert first["wrong"] == 9 * 10**15 + 2


def test_p_values_that_are_too_small_for_floats_keep_their_order():
    """Of levels with 1000 rows each, the wrong rows fall by 20 from one level to the next."""
    levels = [f"level {i}" for i in range(20)]
    rows = []
    for i, level in enumerate(levels):
        wrong = 980 - 20 * i if i < 8 else 20
        rows += [(level, 1, 0, 1000 * wrong), (level, 1, 1, 1000 * (1000 - wrong))]
    cells = pl.DataFrame(rows, schema=["g", "y", "yhat", "n"], orient="row")

    result, seen = search(cells[np.random.default_rng(1).permutation(40)],
                          metrics="recall", top=20)  # fmt: skip

    assert result["g"].to_list() == levels[:8]
    assert result["p_value"].to_list() == result["p_adjusted"].to_list() == [0.0] * 8
    log_p = dict(zip((one["g"] for one in seen.slices()), seen.tested.scores.log_p, strict=True))
    assert all(math.isfinite(log_p[level]) for level in levels)
    assert all(log_p[a] < log_p[b] < -1000 for a, b in pairwise(levels[:8]))


def test_result_on_several_cores_equals_that_of_a_single_core(monkeypatch):
    rows = pl.DataFrame(drawn(3), infer_schema_length=None).drop("n")
    expected = bf.slices(rows, "y", "yhat", over=["a", "b", "c", "x"], min_support=10, detail=True)
    asked_of = []

    def are_many(n):
        asked_of.append(n)
        return True

    monkeypatch.setattr(conjunctions, "should_share", are_many)

    found = bf.slices(rows, "y", "yhat", over=["a", "b", "c", "x"], min_support=10, detail=True)
    assert asked_of
    assert found.equals(expected)
