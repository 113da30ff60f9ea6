"""Scores that floats hardly tell apart, and the areas under their curves by counting pairs."""

import math
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases

pytestmark = pytest.mark.any_version
EDGES = [5e-324, 1e-323, -5e-324, 0.0, -0.0, 1e308, -1e308, 1.0, math.nextafter(1, 2)]
EDGES += [math.nextafter(1, 0), 2.2250738585072014e-308]
MAKE = [pl.DataFrame, pd.DataFrame, lambda columns: pl.DataFrame(columns).lazy()]


def table():
    rng = np.random.default_rng(4)
    return {"y": rng.integers(0, 2, 60).tolist(), "s": rng.choice(EDGES, 60).tolist()}


def rows(frame):
    frame = frame.collect() if isinstance(frame, pl.LazyFrame) else frame
    frame = pl.from_pandas(frame) if isinstance(frame, pd.DataFrame) else frame
    return frame.to_dicts()


@pytest.mark.parametrize("make", MAKE, ids=["polars", "pandas", "lazy"])
def test_every_score_is_a_threshold_and_both_zeros_are_equal(make):
    columns = table()
    pairs = list(zip(columns["y"], columns["s"], strict=True))

    result = rows(bf.curve(make(columns), "y", "s", metrics=["recall", "specificity"]))

    assert [row["threshold"] for row in result] == [*sorted({*columns["s"]}), math.inf]
    positives = sum(columns["y"])
    for row in result:
        hits = sum(y == 1 and s >= row["threshold"] for y, s in pairs)
        quiet = sum(y == 0 and s < row["threshold"] for y, s in pairs)
        assert row["recall"] == hits / positives
        assert row["specificity"] == quiet / (len(pairs) - positives)


@pytest.mark.parametrize("make", MAKE, ids=["polars", "pandas", "lazy"])
def test_roc_auc_and_limits_with_ties_equal_all_pairs(make):
    columns = table()
    sides = [[s for y, s in zip(columns["y"], columns["s"], strict=True) if y == k] for k in (1, 0)]
    wins = np.array([[(p > q) + (p == q) / 2 for q in sides[1]] for p in sides[0]])
    auc = wins.mean()
    variance = sum(wins.mean(axis=i).var(ddof=1) / wins.shape[1 - i] for i in (0, 1))

    (result,) = rows(bf.ranking(make(columns), "y", "s"))

    assert result["roc_auc"] == pytest.approx(auc, abs=1e-14)
    fewer = min(wins.shape) - 1
    r = variance / newcombe(auc, *wins.shape)
    scale = (fewer * r + 50 * max(r, 1)) / (fewer + 50)
    for limit, sign in ((result["roc_auc_lower"], 1), (result["roc_auc_upper"], -1)):
        error = math.sqrt(scale * newcombe(limit, *wins.shape))
        assert sign * (auc - limit) == pytest.approx(1.959963984540054 * error, abs=1e-12)


def newcombe(t, positives, negatives):
    """Give the variance of Newcombe's method 5, of which DeLong's is a multiple."""
    spread = (1 - t) / (2 - t) + t / (1 + t)
    return t * (1 - t) * (1 + ((positives + negatives) / 2 - 1) * spread) / positives / negatives


@cases(("score", "above"), list(product(EDGES, repeat=2)))
def test_roc_auc_of_one_positive_and_one_negative_has_wilson_limits(score, above):
    frame = pl.DataFrame({"y": [0, 1], "s": [score, above]})

    (result,) = rows(bf.ranking(frame, "y", "s"))

    assert result["roc_auc"] == (above > score) + (above == score) / 2
    # one row of either side: Wilson's limits of one row, (2 p + z^2 -+ ...) / (2 (1 + z^2))
    z = 1.959963984540054
    p = result["roc_auc"]
    half = z * math.sqrt(z * z + 4 * p * (1 - p))
    expected = [(2 * p + z * z - half) / (2 + 2 * z * z), (2 * p + z * z + half) / (2 + 2 * z * z)]
    limits = [result["roc_auc_lower"], result["roc_auc_upper"]]
    assert limits == pytest.approx(expected, abs=1e-12)
