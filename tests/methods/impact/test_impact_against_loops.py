"""Every column of `impact` beside loops over rows in exact fractions, on random tables."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import assert_table, plain
from tests.support.oracles import impact as loops

pytestmark = pytest.mark.any_version

BY = ["sex", "race"]
COUNTS = ["n", "n_favourable", "short_of_parity", "short_of_bound", "n_unknown", "n_tests"]
OPTIONS = [
    {},
    {"min_share": 0, "adjust": "holm"},
    {"min_share": 0.1, "bound": 0.75, "level": 0.8, "adjust": None},
    {"bound": 1, "level": 0.99},
]


def drawn(seed, *, is_score=False):
    """Draw rows, each for a few people, a small category and some unknown ones."""
    random = np.random.default_rng(seed)
    n_unknown = int(random.integers(0, 3))
    rows = []
    for _ in range(int(random.integers(25, 50))):
        rows.append(
            {
                "sex": str(random.choice(["F", "M"])),
                "race": str(random.choice(["a", "b"], p=[0.7, 0.3])),
                "n": int(random.integers(0, 4)),
            }
        )
    rows += [{"sex": "F", "race": "a", "n": 5}, {"sex": "M", "race": "b", "n": 4}]
    rows += [{"sex": "M", "race": "small", "n": 1}]
    rows += [{"sex": None, "race": "b", "n": 1}] * n_unknown
    rows += [{"sex": str(random.choice(["F", "M"])), "race": None, "n": 1}] * n_unknown
    rows += [{"sex": None, "race": None, "n": 1}]
    for row in rows:
        for model in ("s", "t"):
            row[model] = int(random.integers(0, 8) if is_score else random.random() < 0.45)
    return rows


def frame_of(rows):
    return pl.DataFrame(rows, schema_overrides={"sex": pl.String, "race": pl.String})


def expected(result, rows, models, by=BY, **options):
    """Give the columns of the result, computed in loops."""
    table = loops.impact(rows, models, by, **options)
    return {name: [row[name] for row in table] for name in plain(result)}


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_impact_of_selections_equals_loops_over_rows(seed, options):
    rows = drawn(seed)
    result = bf.impact(
        frame_of(rows), "s", favourable="selected", by=BY, counts="n", detail=True, **options
    )

    assert_table(result, expected(result, rows, ["s"], **options), close=1e-9)
    assert all(result[name].dtype == pl.Int64 for name in COUNTS)


@cases("seed", range(6, 12))
def test_impact_of_scores_of_two_models_equals_loops_over_rows(seed):
    rows = drawn(seed, is_score=True)
    result = bf.impact(
        frame_of(rows),
        score=["s", "t"],
        favourable="selected",
        by=BY,
        counts="n",
        min_share=0.05,
        detail=True,
    )

    wanted = expected(result, rows, ["s", "t"], is_score=True, min_share=0.05)
    assert {"model", "threshold"} <= {*wanted}
    assert_table(result, wanted, close=1e-9)


def test_impact_of_repeated_pandas_rows_equals_loops_over_rows():
    rows = drawn(20)
    frame = pd.DataFrame(rows)
    repeated = frame.loc[frame.index.repeat(frame["n"])].reset_index(drop=True)
    result = bf.impact(repeated, ["t", "s"], favourable="selected", by="race", level=0.9)

    assert_table(result, expected(result, rows, ["t", "s"], ["race"], level=0.9), close=1e-9)


def test_impact_of_cells_equals_loops_over_rows():
    rows = drawn(21)
    cells = bf.confusion(frame_of(rows), "t", "s", by=BY, counts="n")
    result = bf.impact(cells, "s", favourable="selected", by=BY)

    assert_table(result, expected(result, rows, ["s"]), close=1e-9)


@pytest.mark.parametrize("n_small", [2, 7, 29])
def test_a_category_with_exactly_min_share_is_compared(n_small):
    rows = [
        {"sex": "F", "n": n_small, "s": 1},
        {"sex": "M", "n": 90 - n_small, "s": 1},
        {"sex": "M", "n": 10, "s": 0},
        {"sex": None, "n": 1, "s": 0},
    ]
    least = {"min_share": n_small / 100}
    result = bf.impact(
        pl.DataFrame(rows), "s", favourable="selected", by="sex", counts="n", **least
    )

    assert result["role"].to_list() == ["compared", "compared", "unknown"]
    assert_table(result, expected(result, rows, ["s"], ["sex"], **least), close=1e-9)


def test_random_tables_cover_small_categories_and_reversals():
    """Among the tables above are small categories, ties, and ratios that a selection reverses."""
    tables = [row for seed in range(6) for row in loops.impact(drawn(seed), ["s"], BY)]

    assert {row["role"] for row in tables} == {"compared", "small", "unknown"}
    assert {row["one_more_reverses"] for row in tables} == {True, False, None}
    assert any(row["short_of_bound"] for row in tables)
    assert any(row["upper"] is not None and row["upper"] < 1 for row in tables)
    assert len({row["n_unknown"] for row in tables}) > 2
