"""Tables of the result of `slices`: its text takes the place of the columns searched."""

import polars as pl
import pytest

import balframe as bf
from balframe.cli.text_columns import markdown
from balframe.cli.text_tables import table_text
from balframe.tables.recognize import recognize_result

SITES = pl.DataFrame(  # recall .9 at a; at c .35 of the young and .85 of the old
    {
        "site": ["a", "a", "a", "a", "c", "c", "c", "c"],
        "age": [20, 20, 70, 70] * 2,
        "y": [1] * 8,
        "yhat": [1, 0] * 4,
        "n": [90, 10, 270, 30, 35, 65, 85, 15],
    }
)


@pytest.fixture
def answer():
    bins = {"age": [30]}
    return bf.slices(
        SITES,
        "y",
        "yhat",
        over=["site", "age"],
        metrics="recall",
        counts="n",
        bins=bins,
        detail=True,
    )


def test_the_result_is_recognized_with_the_columns_searched(answer):
    result = recognize_result(answer.columns)

    assert result.method == "slices"
    assert {"site", "age"} <= result.columns.keys()


def test_a_searched_column_may_have_the_name_of_a_result_column(answer):
    renamed = answer.rename({"site": "grouped_by", "age": "reference"})

    assert recognize_result(renamed.columns).method == "slices"


def test_the_table_has_the_slice_text_without_searched_columns(answer):
    html = bf.table(answer).as_raw_html()

    assert "site = c and age under 30" in html
    assert "Slices explained" in html
    for left_out in (">Site<", ">Age<", ">ON<", ">Depth<"):
        assert left_out.lower() not in html.lower()


def test_terminal_and_markdown_have_the_slice_text(answer):
    for text in (table_text(answer, detail=False).decode(), markdown(answer, detail=False)):
        assert "site = c and age under 30" in text
        assert " depth " not in text
        assert " site " not in text.replace("site = c", "")
    for text in (table_text(answer, detail=True).decode(), markdown(answer, detail=True)):
        assert " depth " in text
        assert " site " in text.replace("site = c", "")


def test_a_result_without_slices_has_a_table(answer):
    assert "Slice" in bf.table(answer.clear()).as_raw_html()
