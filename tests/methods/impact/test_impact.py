"""`impact` at the edges: what counts as selected, categories of every type, nulls, no ratio."""

import math
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import assert_table, each_constructor, plain
from tests.support.frames.selected_people import ASKED, BY, PEOPLE, SELECTED

LIBRARIES = [pd.DataFrame, pl.DataFrame, pl.LazyFrame]
RATIOS = ["impact_ratio", "lower", "upper", "p_value", "p_adjusted", "short_of_parity",
          "short_of_bound", "one_more_reverses", "unknown_lower", "unknown_upper"]  # fmt: skip


def answered(data, *selected, **options):
    """Ask of a frame of columns, and give the columns of the result as lists."""
    frame = pl.DataFrame(data) if isinstance(data, dict) else data
    return plain(bf.impact(frame, *selected, detail=True, **{"favourable": "selected"} | options))


def repeated(data):
    """Repeat rows as often as they count."""
    names = [name for name in data if name != "n"]
    return {
        name: [one for one, n in zip(data[name], data["n"], strict=True) for _ in range(n)]
        for name in names
    }


SAME = {  # selections, which options say what is selected
    "booleans": ([False, True], {}),
    "minus one and one": ([-1, 1], {}),
    "whole floats": ([0.0, 1.0], {}),
    "text": (["no", "yes"], {"pos_label": "yes"}),
    "text in order": (["no", "yes"], {"pos_label": "yes", "labels": ["yes", "no", "maybe"]}),
    "the other number": ([1, 0], {"pos_label": 0}),
    "dates": ([date(2024, 1, 1), date(2024, 1, 2)], {"pos_label": date(2024, 1, 2)}),
}


@cases(("labels", "options"), SAME.values())
@cases("library", LIBRARIES[:2])
def test_selections_of_every_dtype_return_the_same_result(library, labels, options):
    expected = answered(PEOPLE, "s", **ASKED)
    data = PEOPLE | {"s": [labels[s] for s in PEOPLE["s"]]}

    assert plain(bf.impact(library(data), "s", detail=True, **ASKED, **options)) == expected


def test_pos_label_sets_the_selected_label_among_several():
    steps = {"g": [*"aaabbb"], "s": ["out", "call", "offer", "out", "offer", "offer"]}

    found = answered(steps, "s", by="g", pos_label="offer")

    assert found["n_favourable"] == [1, 2]
    assert found["impact_ratio"] == [pytest.approx(0.5), 1]


@each_constructor
def test_repeated_rows_return_the_result_of_counts(constructor):
    by_person = constructor(repeated(PEOPLE))

    assert plain(bf.impact(by_person, "s", favourable="selected", by=BY, detail=True)) == answered(
        PEOPLE, "s", **ASKED
    )


def test_concatenated_cells_return_the_result_of_their_rows():
    frame = pl.DataFrame(PEOPLE).with_columns(y=pl.Series([0, 1] * len(SELECTED)))
    parts = [
        bf.confusion(one, "y", "s", by=BY, counts="n") for one in (frame[:9], frame[9:])
    ]  # the rows of a category are in both

    assert_table(
        bf.impact(pl.concat(parts), "s", favourable="selected", by=BY, detail=True),
        answered(PEOPLE, "s", **ASKED),
    )


def test_the_namespace_and_all_forms_of_by_return_the_same_result():
    expected = answered(PEOPLE, "s", **ASKED)

    assert plain(pl.DataFrame(PEOPLE).bal.impact("s", detail=True, **ASKED)) == expected
    assert plain(pd.DataFrame(PEOPLE).bal.impact(selected="s", detail=True, **ASKED)) == expected
    assert answered(PEOPLE, "s", **(ASKED | {"by": tuple(BY)})) == expected
    assert answered(PEOPLE, "s", by="sex", counts="n") == answered(
        PEOPLE, "s", by=["sex"], counts="n"
    )


def test_a_lazy_frame_returns_a_lazy_frame():
    lazy = bf.impact(pl.LazyFrame(PEOPLE), "s", detail=True, **ASKED)

    assert isinstance(lazy, pl.LazyFrame)
    assert plain(lazy) == answered(PEOPLE, "s", **ASKED)


def test_tables_follow_the_order_of_by_with_the_intersection_last():
    frame = pl.DataFrame(PEOPLE).with_columns(site=pl.lit("x"))

    found = answered(frame, "s", by=["race", "site", "sex"], counts="n")

    names = ["race", "site", "sex", "grouped_by"]
    assert list(found)[:4] == names
    assert list(dict.fromkeys(found["grouped_by"])) == ["race", "site", "sex", "race, site, sex"]
    of_site = found["grouped_by"].index("site")
    assert [found[name][of_site] for name in names] == [None, "x", None, "site"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_missing_values_are_dropped_separately_for_each_model(library):
    nan = math.nan if library is pd.DataFrame else None
    data = {
        "g": ["a", "a", "b", "b", "c", "c"],
        "s": [1, 0, 1, 1, 0, 1],
        "t": [1.0, 0.0, 1.0, nan, nan, nan],
    }

    found = plain(
        bf.impact(
            library(data),
            ["s", "t"],
            favourable="selected",
            by="g",
            missing="drop",
            min_share=0,
            detail=True,
        )
    )

    assert found["model"] == ["s", "t"] * 3
    assert found["n"] == [2, 2, 2, 1, 2, 0]
    assert found["n_favourable"] == [1, 1, 2, 1, 1, 0]
    assert found["role"] == ["compared"] * 5 + ["small"]
    assert found["impact_ratio"] == [0.5, 0.5, 1, 1, 0.5, None]
    assert found["highest_g"] == ["b"] * 6
    assert found["rate"][-1] is None


CATEGORIES = {  # values in the order of the answer, and their type
    "categories": (["y", "z", "x"], pl.Enum(["y", "z", "x"])),
    "dates": ([date(2020, 1, 1), date(2020, 2, 1), date(2021, 1, 1)], pl.Date),
    "integers": ([-5, 2, 10], pl.Int8),
    "booleans": ([False, True], pl.Boolean),
    "floats": ([-1.5, 0.0, 2.25], pl.Float32),
    "texts": (["", "(missing)", "unknown"], pl.String),
}


@cases(("values", "dtype"), CATEGORIES.values())
def test_categories_of_every_dtype_are_sorted_and_keep_their_dtype(values, dtype):
    given = pl.Series("g", [*values[::-1], None], dtype)
    frame = pl.DataFrame([given, pl.Series("s", [1] + [0] * (len(values) - 1) + [1])])

    out = bf.impact(frame, "s", favourable="selected", by="g", detail=True)

    assert out["g"].to_list() == [*values, None]
    assert (out["g"].dtype, out["highest_g"].dtype) == (dtype, dtype)
    assert set(out["highest_g"]) == {values[-1]}
    assert out["role"].to_list() == ["compared"] * len(values) + ["unknown"]
    assert out["impact_ratio"].to_list() == [0] * (len(values) - 1) + [1, None]


def test_categories_of_pandas_keep_their_order_and_unused_ones_have_no_row():
    given = pd.Categorical(["x", "y", None, "x"], ["w", "y", "x"], ordered=True)

    out = bf.impact(
        pd.DataFrame({"g": given, "s": [1, 1, 0, 0]}),
        "s",
        favourable="selected",
        by="g",
        detail=True,
    )

    assert out["g"].tolist()[:2] == ["y", "x"]
    assert out["role"].tolist() == ["compared", "compared", "unknown"]
    assert list(out["highest_g"].cat.categories) == ["w", "y", "x"]


@cases(
    "name", ["threshold", "model", "estimate", "metric", "segment", "weight", "highest_", "s2", 0]
)
def test_the_name_of_a_by_column_does_not_change_the_result(name):
    data = {name: PEOPLE["sex"]} | {key: one for key, one in PEOPLE.items() if key != "sex"}

    found = plain(
        bf.impact(
            pd.DataFrame(data),
            "s",
            favourable="selected",
            by=[name, "race"],
            counts="n",
            detail=True,
        )
    )

    expected = answered(PEOPLE, "s", **ASKED)
    assert found[name] == expected["sex"]
    assert found[f"highest_{name}"] == expected["highest_sex"]
    assert found["impact_ratio"] == expected["impact_ratio"]


def test_other_columns_of_the_frame_do_not_matter():
    frame = pl.DataFrame(PEOPLE).with_columns(
        grouped_by=pl.lit("sex"), model=1, role=pl.lit("small")
    )

    assert answered(frame, "s", **ASKED) == answered(PEOPLE, "s", **ASKED)


@pytest.mark.parametrize("options", [{"selected": "s"}, {"score": "s"}])
def test_a_frame_without_rows_has_a_result_without_rows(options):
    whole = bf.impact(pl.DataFrame(PEOPLE), detail=True, **options, **ASKED)

    for empty in (pl.DataFrame(PEOPLE).clear(), pl.DataFrame(PEOPLE).with_columns(n=0)):
        assert bf.impact(empty, detail=True, **options, **ASKED).equals(whole.clear())
        assert bf.impact(empty, detail=True, **options, **ASKED).schema == whole.schema
        assert len(bf.impact(empty.to_pandas(), detail=True, **options, **ASKED)) == 0
        assert (
            bf.impact(empty.lazy(), detail=True, **options, **ASKED).collect().equals(whole.clear())
        )


def test_a_category_with_counts_of_zero_is_left_out():
    assert answered(PEOPLE | {"n": [0, 0, *PEOPLE["n"][2:]]}, "s", **ASKED) == answered(
        {name: one[2:] for name, one in PEOPLE.items()}, "s", **ASKED
    )


def test_a_table_with_a_single_known_category_has_no_ratios():
    data = {"sex": ["F"] * 4 + [None], "race": [*"aabb", "b"], "s": [1, 0, 1, 1, 0]}

    found = answered(data, "s", by=["sex", "race"])

    of_sex = {name: one[:2] for name, one in found.items()}
    assert of_sex["role"] == ["compared", "unknown"]
    assert (of_sex["highest_sex"], of_sex["highest"]) == (["F", "F"], [0.75, 0.75])
    assert [of_sex[name] for name in RATIOS] == [[None] * 2] * len(RATIOS)
    assert (of_sex["n_tests"], of_sex["n_unknown"]) == ([0, 0], [1, 1])
    assert found["impact_ratio"][2:4] == [0.75, 1]  # 1 of 2 and 2 of 3


def test_ratios_are_null_if_no_compared_rows_are_selected():
    # x is too small, and the only one with people selected
    data = {"g": ["x", "y", "z"], "s": [1, 0, 0], "n": [1, 100, 100]}

    found = answered(data, "s", by="g", counts="n")

    assert found["role"] == ["small", "compared", "compared"]
    assert (found["rate"], found["highest"]) == ([1, 0, 0], [0, 0, 0])
    assert [found[name] for name in RATIOS] == [[None] * 3] * len(RATIOS)
    assert answered(data, "s", by="g", counts="n", min_share=0)["impact_ratio"] == [1, 0, 0]


def test_ratios_are_1_if_all_rows_are_selected():
    data = {"g": ["a", "b", "c"], "s": [1, 1, 1], "n": [10, 30, 30]}

    found = answered(data, "s", by="g", counts="n")

    assert found["impact_ratio"] == found["upper"] == [1, 1, 1]
    assert found["highest_g"] == ["b"] * 3  # the first of those with the most rows
    assert found["p_value"] == [1, None, 1]
    assert found["short_of_parity"] == found["short_of_bound"] == [0, 0, 0]
    assert found["one_more_reverses"] == [False, None, False]


@cases("level", [0.9, 0.95])
@cases("rate", [0.02, 0.1, 0.3, 0.8])
def test_p_values_and_upper_limits_agree_on_which_rates_are_lower(rate, level):
    random = np.random.default_rng(round(rate * 100))
    n_lower = 0
    for _ in range(12):
        n = random.choice([60, 300, 1400], 7)
        x = random.binomial(n, rate * random.choice([0.6, 1], 7))
        data = {"g": [*range(7)] * 2, "s": [1] * 7 + [0] * 7, "n": [*x, *(n - x)]}
        found = answered(data, "s", by="g", counts="n", min_share=0, level=level, adjust=None)

        top = found["impact_ratio"].index(1)
        for p, upper in zip(found["p_value"], found["upper"], strict=True):
            assert (p is not None and p <= 1 - level) == (upper < 1)
            n_lower += upper < 1
        assert (found["p_value"][top], found["upper"][top]) == (None, 1)
    assert n_lower


@pytest.mark.parametrize("bound", [0.8, np.float64(0.8), np.float32(0.8)])
def test_the_bound_is_compared_as_an_exact_decimal(bound):
    # 0.8 of 25/50 of 50 people are 20
    data = {"g": ["a", "a", "b", "b"], "s": [1, 0, 1, 0], "n": [20, 30, 25, 25]}

    found = answered(data, "s", by="g", counts="n", bound=bound)

    assert found["short_of_bound"] == [0, 0]
    assert found["short_of_parity"] == [5, 0]


MORTGAGES = {"g": [*"aabb"], "refused": [1, 0, 1, 0], "n": [32, 8, 12, 28]}


@each_constructor
def test_rates_and_ratios_are_those_of_the_favourable_side(constructor):
    """Refused are 32 of 40 of a, and 12 of 40 of b: 8 and 28 have the favourable result."""
    options = {"by": "g", "counts": "n", "detail": True}
    frame = constructor(MORTGAGES)

    good = plain(bf.impact(frame, "refused", favourable="not selected", **options))
    as_if = plain(bf.impact(frame, "refused", favourable="selected", **options))
    approved = plain(bf.impact(frame, "refused", favourable="selected", pos_label=0, **options))

    assert (good["rate"], good["n_favourable"]) == ([8 / 40, 28 / 40], [8, 28])
    assert good["impact_ratio"] == pytest.approx([(8 / 40) / (28 / 40), 1])
    assert good["highest_g"] == ["b", "b"]
    assert good["short_of_parity"] == [20, 0]
    assert good["short_of_bound"] == [15, 0]  # 23 of 40 are above .8 of .7, and 22 are not
    assert as_if["impact_ratio"] == pytest.approx([1, 12 / 32])
    assert as_if["highest_g"] == ["a", "a"]
    for name, values in approved.items():
        same = good[name] == values if name.startswith(("g", "role", "highest_")) else None
        assert same or good[name] == pytest.approx(values, abs=1e-12, nan_ok=True), name


def test_the_side_has_to_be_stated():
    frame = pl.DataFrame(MORTGAGES)
    message = "impact needs favourable: 'selected' if it is good for a person .* 'not selected'"
    with pytest.raises(bf.InvalidInputError, match=message):
        bf.impact(frame, "refused", by="g", counts="n")


DECLARED = {  # the label of all people, and options
    "number": (0, {}),
    "boolean": (False, {}),
    "word": ("No", {}),
    "positive word": ("no", {"pos_label": "yes"}),
    "labels of the call": ("out", {"labels": ["out", "in"], "pos_label": "in"}),
    "all refused": (1, {"favourable": "not selected"}),
    "all refused, by labels": ("in", {"labels": ["out", "in"], "pos_label": "in"}
                               | {"favourable": "not selected"}),
}  # fmt: skip
CATEGORIES = {
    "Enum": lambda frame: frame.cast({"s": pl.Enum(["out", "in"])}),
    "lazy Enum": lambda frame: frame.cast({"s": pl.Enum(["out", "in"])}).lazy(),
    "category": lambda frame: frame.to_pandas().astype({"s": pd.CategoricalDtype(["out", "in"])}),
}


def assert_nobody_is_favoured(found):
    assert found["rate"] == found["rate_lower"] == found["highest"] == [0, 0]
    z2 = 1.959963984540054**2
    assert found["rate_upper"] == pytest.approx([z2 / (40 + z2), z2 / (60 + z2)])  # of Wilson
    for name in RATIOS:
        assert found[name] == [None, None], name
    assert found["n_tests"] == [0, 0]


@each_constructor
@cases("kind", DECLARED)
def test_where_nobody_has_the_favourable_result_rates_are_0_and_ratios_null(constructor, kind):
    label, options = DECLARED[kind]
    frame = constructor({"g": ["a", "b"], "s": [label] * 2, "n": [40, 60]})

    assert_nobody_is_favoured(answered(frame, "s", by="g", counts="n", **options))


@cases("make", CATEGORIES.values())
@cases(("label", "favourable"), [("out", "selected"), ("in", "not selected")])
def test_a_category_without_people_is_a_label(make, label, favourable):
    frame = make(pl.DataFrame({"g": ["a", "b"], "s": [label] * 2, "n": [40, 60]}))
    options = {"pos_label": "in", "favourable": favourable}

    assert_nobody_is_favoured(answered(frame, "s", by="g", counts="n", **options))


def test_a_model_that_selects_nobody_stands_beside_another():
    data = {"g": [*"aabb"], "s": [0, 1, 0, 1], "z": [0] * 4, "n": [30, 10, 20, 20]}
    found = answered(data, ["s", "z"], by="g", counts="n")

    assert found["model"] == [*"szsz"]
    assert found["rate"] == [10 / 40, 0, 20 / 40, 0]
    assert found["impact_ratio"] == [pytest.approx(10 / 20), None, 1, None]
