"""`impact` of scores: people count as selected if their score is above the median."""

import math

import pandas as pd
import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import plain

INF = math.inf
LIBRARIES = [pd.DataFrame, pl.DataFrame, pl.LazyFrame]


def scored(scores, *, library=pl.DataFrame, counts=None, **options):
    """Ask of scores, of which every second one is of category a, the others of b."""
    data = {"g": ["a" if i % 2 == 0 else "b" for i in range(len(scores))], "x": scores}
    frame = library(data | ({} if counts is None else {"n": counts}))
    options |= {} if counts is None else {"counts": "n"}
    return plain(bf.impact(frame, score="x", favourable="selected", by="g", detail=True, **options))


@cases("library", LIBRARIES)
@cases(
    ("scores", "median", "n_selected"),
    [
        ([1.0, 2.0, 3.0, 10.0], 2.5, [1, 1]),
        ([1.0, 2.0, 2.0, 3.0, 4.0], 2, [1, 1]),  # 4 is of a
        ([3.0, 1.0, 2.0, 2.0, 2.0, 2.0], 2, [1, 0]),  # ties
        ([-0.0, 0.0, 1.0, -1.0], 0, [1, 0]),
        ([0.3, 0.3, math.nextafter(0.3, 1), math.nextafter(0.3, 1)], 0.3, [1, 1]),
        ([1.7e308, 1.7e308, 1.6e308, 1.6e308], 1.65e308, [1, 1]),
        ([5e-324, 5e-324, 0.0, 0.0], 0, [1, 1]),
        ([2**53, 2**53, 2**53 + 1, 2**53 + 1], 2**53, [1, 1]),
        ([2**53, 2**53 + 1, 2**53 + 2, 2**53 + 3], 2**53 + 1, [1, 1]),
        ([-(2**63), 2**63 - 1, 2**63 - 2, -(2**63)], -1, [1, 1]),
    ],
)
def test_selected_is_strictly_above_the_median(library, scores, median, n_selected):
    found = scored(scores, library=library)

    assert found["n_favourable"] == n_selected
    rounding = 1e-15 * max(map(abs, scores))
    assert found["threshold"] == pytest.approx([median, median], rel=0, abs=rounding)


def test_the_median_weighs_rows_by_their_counts():
    # 1 1 1 2 3 | 4 4 4 4 5
    found = scored([1, 2, 3, 4, 5], counts=[3, 1, 1, 4, 1])

    assert (found["threshold"], found["n_favourable"], found["n"]) == ([3.5, 3.5], [1, 4], [5, 5])


@pytest.mark.parametrize("library", LIBRARIES)
def test_scores_with_a_count_of_zero_are_ignored(library):
    found = scored([1.0, 2.0, 3.0, INF, 9.0], library=library, counts=[1, 1, 1, 0, 0])

    assert (found["threshold"], found["n_favourable"], found["n"]) == ([2, 2], [1, 0], [2, 1])


def test_the_median_includes_rows_of_unknown_category():
    data = {"g": ["a", "b", "a", "b", None, None, None], "x": [1, 2, 3, 4, 7, 8, 9]}

    found = plain(
        bf.impact(pl.DataFrame(data), score="x", favourable="selected", by="g", detail=True)
    )

    assert found["threshold"] == [4] * 3
    assert found["n_favourable"] == [0, 0, 3]
    assert found["impact_ratio"] == [None] * 3


@pytest.mark.parametrize("library", LIBRARIES)
def test_dropped_scores_are_not_in_the_median(library):
    nan = math.nan if library is pd.DataFrame else None

    found = scored([1.0, nan, 3.0, 4.0, nan, 8.0], library=library, missing="drop")

    assert (found["threshold"], found["n"]) == ([3.5, 3.5], [2, 2])
    assert found["n_favourable"] == [0, 2]
