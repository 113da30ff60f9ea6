"""How numeric columns are cut for `slices`, by hand: bins, order statistics, single values."""

import polars as pl
import pytest

import balframe as bf
from tests.support.constructors import each_constructor, plain
from tests.support.tested_slices import search

NAN = float("nan")
pytestmark = pytest.mark.filterwarnings("ignore:(no slice is listed|columns were barely searched)")


def levels(values, bins=4, *, counts=None, make=pl.DataFrame, least=1):
    """List the levels of the column `x` that are tested, each with its rows."""
    n = len(values)
    data = {"x": values, "y": [1] * n, "yhat": [1] * (n - 1) + [0]}
    data |= {} if counts is None else {"k": counts}
    _, seen = search(
        make(data),
        over="x",
        metrics="accuracy",
        bins=bins,
        min_support=least,
        counts=None if counts is None else "k",
    )
    rows, _ = seen.counts()
    return {one["x"]: int(n) for one, n in zip(seen.slices(), rows[:, 0], strict=True)}


AGES = [18, 24, 25, 30, 44, 45, 45, 60, 80, 90, 91, 92]


def test_bins_include_their_lower_edge():
    expected = {"under 25": 2, "25 to 45": 3, "45 or more": 7}

    assert levels(AGES, {"x": [25, 45]}) == expected
    assert levels(AGES, {"x": [45, 25, 45.0]}) == expected


def test_an_edge_below_all_values_makes_an_empty_bin_that_is_not_tested():
    assert levels(AGES, {"x": [10, 25]}) == {"10 to 25": 2, "25 or more": 10}


@pytest.mark.parametrize(
    ("bins", "expected"),
    [
        (2, {"under 6": 5, "6 or more": 7}),
        (3, {"under 4": 3, "4 to 8": 4, "8 or more": 5}),
        (4, {"under 3": 2, "3 to 6": 3, "6 to 9": 3, "9 or more": 4}),
    ],
)
def test_quantiles_are_order_statistics(bins, expected):
    """Of the values 1 to 12, the i-th of b quantiles is the ceil(12 i / b)-th in order."""
    assert levels([7, 12, 1, 9, 2, 11, 5, 3, 10, 4, 8, 6], bins) == expected
    assert levels([7, 12, 1, 9, 2, 11, 5, 3, 10, 4, 8, 6], {"x": bins}) == expected


def test_tied_values_stay_in_the_same_bin():
    """20 of 31 values are 5, so that two of three quartiles are."""
    values = [1, 2, 3, 4, *[5] * 20, 6, 7, 8, 9, 10, 11, 12]

    assert levels(values) == {"under 5": 4, "5 or more": 27}


def test_a_value_that_fills_the_first_quantiles_has_its_own_bin():
    """70 of 100 values are 0: quantiles 1 and 2 are moved to the next value, 1."""
    values = [0] * 70 + list(range(1, 31))

    assert levels(values) == {"under 1": 70, "1 to 5": 4, "5 or more": 26}


def test_up_to_ten_distinct_values_are_not_binned():
    assert levels(list(range(10)) * 2) == {str(i): 2 for i in range(10)}
    assert levels(list(range(11)) * 4) == {
        "under 2": 8, "2 to 5": 12, "5 to 8": 12, "8 or more": 12
    }  # fmt: skip


def test_few_distinct_values_are_binned_at_explicit_edges_only():
    assert levels([1, 2, 3, 4] * 2, {"x": [3]}) == {"under 3": 4, "3 or more": 4}
    assert levels([1, 2, 3, 4] * 2, {"x": 2}) == {"1": 2, "2": 2, "3": 2, "4": 2}


def test_bins_none_makes_each_value_a_level():
    values = list(range(40)) * 2

    assert levels(values, None) == levels(values, {"x": None}) == {str(i): 2 for i in range(40)}


def test_a_mapping_of_bins_leaves_other_columns_at_the_default():
    frame = pl.DataFrame({"x": range(40), "z": range(40), "y": [1] * 40, "yhat": [1] * 40})
    _, seen = search(frame, metrics="accuracy", bins={"x": [20]}, depth=1, min_support=1)

    assert [next(iter(one.items())) for one in seen.slices()] == [
        ("x", "under 20"), ("x", "20 or more"),
        ("z", "under 9"), ("z", "9 to 19"), ("z", "19 to 29"), ("z", "29 or more"),
    ]  # fmt: skip


@pytest.mark.parametrize("null", [None, NAN])
def test_null_is_a_level_and_does_not_change_bin_edges(null):
    values = list(range(1, 13))
    floats = [*map(float, values), null, null]

    expected = {"under 3": 2, "3 to 6": 3, "6 to 9": 3, "9 or more": 4, None: 2}
    assert levels(floats) == expected
    assert levels([1.0, 2.0, null] * 3) == {"1": 3, "2": 3, None: 3}
    assert levels(floats, {"x": [2.5]}) == {"under 2.5": 2, "2.5 or more": 10, None: 2}


def test_numbers_in_level_names_have_all_their_digits():
    values = [0.1, 0.30000000000000004, 1e-7, 2.0, -3.5, 1e22]

    assert list(levels(values * 2)) == ["-3.5", "1e-07", "0.1", "0.30000000000000004", "2",
                                        "10000000000000000000000"]  # fmt: skip
    assert list(levels([*range(20)], {"x": [0.1, 7]})) == ["under 0.1", "0.1 to 7", "7 or more"]


def test_infinite_values_are_in_the_outer_bins():
    values = [-float("inf"), *map(float, range(11)), float("inf")]

    assert levels(values, {"x": [5]}) == {"under 5": 6, "5 or more": 7}


def test_quantiles_of_counts_equal_those_of_repeated_rows():
    values, counts = [3, 1, 2, *range(4, 14)], [5, 40, 2, 1, 0, 7, 3, 3, 1, 9, 0, 2, 4]
    repeated = [value for value, n in zip(values, counts, strict=True) for _ in range(n)]

    assert levels(values, 3, counts=counts) == levels(repeated, 3)
    few = [0 if value > 9 else n for value, n in zip(values, counts, strict=True)]
    assert all(not one.startswith("under") for one in levels(values, 3, counts=few))


@each_constructor
def test_bins_are_the_same_in_every_library(constructor):
    values = [None, *[0.5 * i for i in range(60)], *[2.0] * 20]
    data = {"x": values, "y": [1] * 81, "yhat": [1] * 41 + [0] * 20 + [1] * 20}
    options = {"over": "x", "metrics": "accuracy", "min_support": 5, "depth": 1}
    expected = bf.slices(pl.DataFrame(data), "y", "yhat", **options)

    assert expected.height
    assert plain(bf.slices(constructor(data), "y", "yhat", **options)) == plain(expected)


def test_boolean_levels_keep_their_type():
    data = pl.DataFrame({"x": [True, False, None] * 20, "y": [1] * 60, "yhat": [1, 0, 1] * 20})

    (row,) = bf.slices(data, "y", "yhat", metrics="accuracy", min_support=5, detail=True).to_dicts()

    assert (row["slice"], row["x"], row["on"]) == ("x = False", False, "x")
