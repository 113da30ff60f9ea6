"""Numeric columns of groups are cut into bins, in the same way whatever holds the rows."""

import random
import re
from dataclasses import replace

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import balframe as bf
from balframe.api.settings import settings_of_call
from balframe.audit_page.bins import cut_into_bins
from balframe.audit_page.queries import count_model
from balframe.errors import BalframeError, InvalidInputError, UnsupportedTypeError
from tests.support.audits.small_audits import make_request
from tests.support.cases import cases
from tests.support.programs import library

N = 600
RNG = random.Random(5)
AGES = [None, *range(18, 90)]
ROWS = {
    "age": [RNG.choice(AGES) for _ in range(N)],
    "income": [RNG.choice([None, RNG.random() * 1000]) for _ in range(N)],
    "children": [RNG.choice([0, 1, 2, 3]) for _ in range(N)],
    "sex": [RNG.choice("MF") for _ in range(N)],
    "y": [RNG.choice([0, 1, 1, 1, None]) for _ in range(N)],
    "p": [RNG.choice([0, 1, 0, 1, None]) for _ in range(N)],
    "s": [RNG.choice([0.25, 0.5, 0.75]) for _ in range(N)],
}
FRAME = pl.DataFrame(ROWS)
EDGES = {"age": [25, 45, 65]}
TEXTS = ["under 25", "25 to 45", "45 to 65", "65 or more"]
CALL = re.compile(r"```\n.*?\n```", re.DOTALL)


BINS = {**EDGES, "income": 3}


def by_of(names, bins):
    """Return by-columns, of which some are cut."""
    names = [names] if isinstance(names, str) else names
    return [bf.bins(name, bins[name]) if name in bins else name for name in names]


def page_of(frame, by=("age", "income"), bins=BINS, **options):
    return bf.audit(frame, "y", "p", by=by_of(by, bins), **{"missing": "drop"} | options)


def but_for_the_call(page):
    return CALL.sub("", page.markdown())


def request_of(option, **changes):
    bins = {name: bf.bins(name, number) for name, number in option.items()}
    return replace(make_request(**changes), bins=bins)


def cut_cells(frame, option, by=("age",), **changes):
    request = request_of(option, by=by, **changes)
    with settings_of_call():
        (cells,) = cut_into_bins([count_model(frame, request, request.models[0])])
    return cells


def text_of(age):
    """Return the bin of an age, by hand."""
    if age is None:
        return None
    return TEXTS[0] if age < 25 else TEXTS[1] if age < 45 else TEXTS[2] if age < 65 else TEXTS[3]


DROP = {"missing": "drop"}


def test_cells_are_summed_over_the_values_of_each_bin():
    cells = cut_cells(FRAME, EDGES, options=DROP)

    by_hand = {}
    for age, y, p in FRAME.select("age", "y", "p").rows():
        if None not in (y, p):
            by_hand[text_of(age), y, p] = by_hand.get((text_of(age), y, p), 0) + 1
    assert {tuple(row[:3]): row[3] for row in cells.frame.rows()} == by_hand
    assert cells.frame.height == len(by_hand)


def test_selections_and_left_out_rows_are_cut_at_the_same_edges():
    cells = cut_cells(FRAME, EDGES, options=DROP)

    selected, in_data = {}, {}
    for age, p in FRAME.select("age", "p").rows():
        in_data[text_of(age)] = in_data.get(text_of(age), 0) + 1
        if p is not None:
            selected[text_of(age), p] = selected.get((text_of(age), p), 0) + 1
    assert {tuple(row[:2]): row[2] for row in cells.selections.rows()} == selected
    assert {group.value: group.n for group in cells.row_counts.by_group("by0")} == in_data


def test_bins_are_in_the_order_of_their_values_and_null_is_last():
    edges = {"age": [8, 25, 100]}  # whose texts have another order
    frame = FRAME.with_columns(age=pl.when(pl.col("age") < 30).then(5).otherwise("age"))

    page = page_of(frame, by="age", bins=edges)

    for caption in ("Rows examined, by group", "Left out, by group"):
        (table,) = re.findall(rf"\*\*{caption}\*\*(.*?)\*\*All rows", page.markdown(), re.DOTALL)
        groups = re.findall(r"^\| \*?([^*|]+?)\*? \|", table, re.MULTILINE)
        assert groups == ["Group", "---", "under 8", "25 to 100", "(missing)"]


def test_page_of_bins_is_the_page_of_a_column_that_was_cut_before():
    before = FRAME.with_columns(
        age=pl.col("age").map_elements(text_of, pl.String).cast(pl.Enum(TEXTS))
    )

    page = page_of(FRAME, by=["age", "sex"], bins=EDGES, y_score="s")

    sentence = " Age is cut into bins; “25 to 45” includes 25 and excludes 45."
    assert sentence in page.markdown()
    assert but_for_the_call(page).replace(sentence, "") == but_for_the_call(
        page_of(before, by=["age", "sex"], bins={}, y_score="s")
    )


@pytest.mark.any_version
def test_every_library_gives_the_same_page():
    expected = page_of(FRAME).markdown()
    for frame in (
        FRAME.to_pandas(),
        pd.DataFrame(ROWS).convert_dtypes(),
        FRAME.to_arrow(),
        FRAME.lazy(),
        FRAME.with_columns(pl.col("age").cast(pl.Float64)),
        FRAME.sample(fraction=1, shuffle=True, seed=1),
    ):
        assert page_of(frame).markdown() == expected


def test_duckdb_gives_the_same_page():
    with library("duckdb").connect() as connection:
        page = page_of(connection.from_arrow(pa.table(ROWS)))

    assert page.markdown() == page_of(FRAME).markdown()


def test_number_of_bins_is_that_of_bins_of_equally_many_rows():
    frame = pl.DataFrame({"age": list(range(40)), "y": [0, 1] * 20, "p": [0, 1, 1, 0] * 10})

    cells = cut_cells(frame, {"age": 4})

    sizes = cells.frame.group_by("by0").agg(pl.col("n").sum()).sort("by0").rows()
    assert [n for _, n in sizes] == [9, 10, 10, 11]
    assert [text for text, _ in sizes] == ["under 9", "9 to 19", "19 to 29", "29 or more"]


def test_bins_have_equally_many_rows_of_the_data_whatever_is_missing():
    # 20 rows of each of 12 values; above 5 nobody has an outcome
    ages = [age for age in range(12) for _ in range(20)]
    data = {"age": ages, "y": [i % 2 if age < 6 else None for i, age in enumerate(ages)]}
    frame = pl.DataFrame({**data, "p": [i % 2 for i in range(240)]})

    cells = cut_cells(frame, {"age": 2}, options=DROP)

    assert [(group.value, group.n) for group in cells.row_counts.by_group("by0")] == [
        ("under 5", 100),
        ("5 or more", 140),
    ]


def test_models_have_the_same_bins_although_other_rows_are_missing():
    frame = FRAME.with_columns(q=pl.when(pl.col("age") > 40).then(None).otherwise("p"))
    request = request_of({"age": 3}, by=("age",), y_pred=("p", "q"), options=DROP)

    with settings_of_call():
        models = [count_model(frame, request, model) for model in request.models]
        first, second = cut_into_bins(models)

    assert first.bins == second.bins
    assert first.row_counts.frame["in_data"].to_list() == (
        second.row_counts.frame["in_data"].to_list()
    )


def test_column_of_few_values_is_cut_too():
    few = cut_cells(FRAME, {"children": 2}, by=("children",), options=DROP)
    cut = cut_cells(FRAME, {"children": [1]}, by=("children",), options=DROP)

    median = sorted(ROWS["children"])[N // 2 - 1]
    assert few.frame["by0"].unique().sort().to_list() == [f"under {median}", f"{median} or more"]
    assert cut.frame["by0"].unique().sort().to_list() == ["under 1", "1 or more"]


def raised(kind=InvalidInputError, frame=FRAME, **options):
    with pytest.raises(kind) as error:
        page_of(frame, **options)
    assert isinstance(error.value, BalframeError)
    return str(error.value)


def test_column_of_more_than_50_numbers_is_refused_with_an_example():
    assert raised(by="age", bins={}) == (
        "column 'age' in by has 72 different numbers, each of which is a group. Cut it into bins "
        "of about equally many rows with bf.bins('age', 4), or at edges of yours with "
        f"bf.bins('age', [{', '.join(map(str, quartiles('age')))}])."
    )
    assert raised(by=["age", "sex"], bins={}).startswith("column 'age' in by has 72 different")
    assert raised(by=["age", "income"], bins=EDGES).startswith("column 'income' in by has ")


def quartiles(name):
    """Return the values that begin the second to the fourth bin of about equally many rows."""
    values = sorted(value for value in ROWS[name] if value is not None)
    return [values[-(-len(values) * i // 4) - 1] for i in (1, 2, 3)]


def numbers(n, kind=int):
    """Make four rows of each of n numbers."""
    return pl.DataFrame(
        {
            "g": [kind(number) for number in range(n) for _ in range(4)],
            "y": [0, 0, 1, 1] * n,
            "p": [0, 1, 0, 1] * n,
        }
    )


@pytest.mark.parametrize("kind", [int, float])
def test_column_of_50_numbers_is_taken_as_it_is(kind):
    assert "Groups **g**" in bf.audit(numbers(50, kind), "y", "p", by="g").markdown()
    with pytest.raises(InvalidInputError, match="'g' in by has 51 different numbers"):
        bf.audit(numbers(51, kind), "y", "p", by="g")


def test_text_column_of_many_groups_is_taken_as_it_is():
    assert bf.audit(numbers(60, str), "y", "p", by="g").markdown()


def test_bins_of_text_are_refused():
    assert raised(UnsupportedTypeError, by="sex", bins={"sex": 2}) == (
        "column 'sex' has the type String, but bf.bins needs numbers. Cast it first, or name the "
        "column itself in by."
    )


def test_rules_name_a_bin_by_its_text():
    where = {"age": ["25 to 45", "65 or more"]}

    page = page_of(FRAME, by="age", bins=EDGES, rules=[{"rule": "n >= 1", "where": where}])

    rows = re.findall(r"^\| (Age: [^|]+?) \| \d+ \| (\w+) \|", page.markdown(), re.MULTILINE)
    assert rows == [("Age: 25 to 45", "met"), ("Age: 65 or more", "met")]


@cases("value", [30, 25.0, "25 to 46", True])
def test_rule_about_a_value_that_is_no_bin_is_refused(value):
    message = raised(by="age", bins=EDGES, rules=[{"rule": "n >= 1", "where": {"age": value}}])
    assert message == (
        f"rule 'n >= 1' is about age {value!r}, but bf.bins cuts this column. Name one of its "
        "bins: 'under 25', '25 to 45', '45 to 65', '65 or more'."
    )


def test_expected_segments_name_a_bin_by_its_text():
    def rules(value):
        return {"rules": ["n >= 1"], "expect": {"age": [value]}, "absent_segments": "fail"}

    page = page_of(FRAME, by="age", bins=EDGES, rules=rules("25 to 45"))

    assert "The one rule, “`n >= 1`”, is met everywhere" in page.markdown()
    assert raised(by="age", bins=EDGES, rules=rules(30)).startswith(
        "an expected segment of the rules is about age 30, but bf.bins cuts this column. Name one"
    )


def test_stored_cells_give_the_same_page():
    rows = FRAME.drop_nulls(["y", "p"])
    cells = bf.confusion(rows, "y", "p", by=["age", "income", "s"])
    options = {"by": by_of(["age", "income"], BINS), "y_score": "s"}

    page = bf.audit(rows, "y", "p", **options)

    for frame in (cells, cells.to_pandas()):
        from_cells = bf.audit(frame, "y", "p", **options)
        assert but_for_the_call(from_cells) == but_for_the_call(page)


def test_call_on_the_page_has_the_bins_and_reproduces_the_page():
    page = page_of(FRAME)
    (call,) = re.findall(r"### To repeat it\n\n```\n(.*?)\n```", page.markdown(), re.DOTALL)
    assert "    by=[bf.bins('age', [25, 45, 65]), bf.bins('income', 3)],\n" in call

    namespace = {"frame": FRAME}
    exec(call, namespace)

    assert namespace["page"].markdown() == page.markdown()
