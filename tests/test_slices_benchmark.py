"""The ways that the benchmark of slices measures search the same slices."""

from dataclasses import replace
from itertools import combinations

import polars as pl
import pytest

import balframe as bf
from benchmarks import slices
from benchmarks.slices import ALL, CASES, PREPARE, Measured, table
from benchmarks.slices_data import ADULT, adult, census, million

COLUMNS = ["age", "race", "sex", "relationship"]
SMALL = replace(CASES[0], n_rows=3_000, depth=4, metric="accuracy")


@pytest.fixture(scope="module")
def frame():
    return adult(SMALL.n_rows).select(*COLUMNS, "y", "yhat")


@pytest.fixture(scope="module")
def worse(frame):
    """Make the predictions for one sex wrong."""
    is_worse = pl.col("sex") == "sex 01"
    return frame.with_columns(yhat=pl.when(is_worse).then(1 - pl.col("y")).otherwise("yhat"))


def frequent(frame, depth):
    """Count the combinations of levels that have enough rows."""
    least = SMALL.least(frame.height)
    return sum(
        frame.group_by(names).len().filter(pl.col("len") >= least).height
        for size in range(1, depth + 1)
        for names in combinations(COLUMNS, size)
    )


def test_balframe_tests_those_whose_rest_is_large_enough_too(frame):
    least = SMALL.least(frame.height)
    weighted = frame.with_columns(w=1.0)  # the list with weights is of all that are worse
    (n,) = set(
        bf.slices(
            weighted, "y", "yhat", metric="accuracy", depth=4, min_support=least, sample_weight="w"
        )["n_tests"]
    )

    most = frame.height - least
    too_large = [frame[name].value_counts(sort=True)["count"][0] > most for name in COLUMNS]
    assert not any(too_large)
    assert n == frequent(frame, 4)


@pytest.mark.filterwarnings("ignore")  # of plotly and mlxtend
def test_divexplorer_finds_all_and_the_whole(frame):
    pytest.importorskip("divexplorer")

    assert PREPARE["divexplorer"](frame, SMALL)() == frequent(frame, 4) + 1


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", ["sliceline", "sliceline, numba"])
def test_sliceline_lists_the_top(worse, way):
    pytest.importorskip("sliceline")

    assert PREPARE[way](worse, SMALL)() >= slices.TOP


@pytest.mark.parametrize("way", ["balframe, polars", "balframe, pandas"])
def test_balframe_lists_some(worse, way):
    assert PREPARE[way](worse, SMALL)() >= 1


def test_tables_have_the_columns_and_labels_that_the_cases_say():
    assert adult(500).columns == [*ADULT, "y", "yhat"]
    assert len(ADULT) == 14
    assert all(abs(sum(shares) - 1) < 0.02 for shares in ADULT.values())
    assert million(500).width == 12
    assert census(500).width == 70
    assert census(500)["y"].n_unique() == 4


def test_the_section_of_the_page():
    times = {way: Measured(1.0, 2e6) for way in ALL[:2]} | {ALL[2]: Measured(40.0, 5e7)}
    written = table({"a case": times | {ALL[4]: Measured(None, None)}})

    assert "| a case | balframe, polars | 1 s | 2 MB |" in written
    assert f"| a case | {ALL[2]} | 40 s (40x) | 50 MB (25x) |" in written
    assert "| a case | divexplorer | not done | not done |" in written
