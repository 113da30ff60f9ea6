"""`bf.table.report(df, ...)`: the table of a method's result, from the data."""

import inspect
import re

import pandas as pd
import polars as pl
import pytest

import balframe as bf
from balframe.accessor import Tables, groups
from balframe.frames.engines import registry as engines
from balframe.methods import declarations
from tests.support.cases import cases
from tests.support.method_arguments import METHODS_WITH_COLUMNS, days, example_arguments

TABLES = sorted(name for names in groups(Tables).values() for name in names)
ROWS = {
    "y": [1, 0, 1, 0, 1, 0, 0, 1] * 6,
    "p": [1, 1, 0, 0, 1, 0, 1, 1] * 5 + [0, 1, 1, 0, 0, 1, 1, 0],
    "q": [1, 0, 0, 0, 1, 1, 0, 1] * 6,
    "g": ["a", "b"] * 20 + ["c"] * 8,
}


@pytest.fixture
def df():
    df = pl.DataFrame(ROWS).with_columns(s=pl.col("p") / 2, t=pl.col("q") / 2)
    return df.with_columns(day=pl.Series(days(df.height)))


def arguments_of(method):
    return example_arguments(method, **({"level": 0.5} if method == "slices" else {}))


def html(table):
    """Return the HTML of a table without its id, which is another in each."""
    return re.sub(r"balframe_\w{10}", "", table.as_raw_html())


def body(table):
    return html(table).split("<tbody")[1]


def test_every_method_with_columns_has_a_table():
    assert sorted(METHODS_WITH_COLUMNS) == TABLES == dir(bf.table)
    with pytest.raises(AttributeError, match=r"'bf\.table' has no attribute 'require'"):
        _ = bf.table.require


@cases("method", METHODS_WITH_COLUMNS)
def test_table_of_a_method_is_the_table_of_its_result(df, method):
    arguments = arguments_of(method)
    detail = {"detail": True} if "detail" in declarations()[method].parameters else {}
    expected = bf.table(getattr(bf, method)(df, **arguments, **detail), method=method, decimals=2)

    for frame in (df, df.lazy(), df.to_pandas()):
        table = getattr(frame.bal.table, method)(**arguments, **detail, decimals=2)
        assert body(table) == body(expected)
    assert html(getattr(bf.table, method)(df, **arguments, **detail, decimals=2)) == html(expected)


@cases("method", [name for name in METHODS_WITH_COLUMNS if name != "confusion"])
def test_details_are_shown_only_with_detail(df, method):
    arguments = arguments_of(method)
    table = getattr(bf.table, method)(df, **arguments)

    result = getattr(bf, method)(df, **arguments)
    shown = {column.var for column in table._boxhead if column.visible}
    lean = {column.var for column in bf.table(result, method=method)._boxhead if column.visible}
    assert shown == lean


def test_segments_are_marked_by_supports_that_are_not_shown():
    rows = {"y": [1, 0] * 6, "p": [1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 1, 0], "g": ["a", "b"] * 6}
    df = pl.DataFrame(rows | {"n": [20, 20, 20, 20, 1, 1] * 2})

    table = bf.table.compare(
        df.with_columns(q="y"), "y", ["p", "q"], by="g", counts="n", metrics="accuracy"
    )

    assert "min_support" not in {column.var for column in table._boxhead if column.visible}
    assert "min_support_value" in {column.var for column in table._boxhead}


def test_options_of_tables_go_to_the_table_and_those_of_the_method_to_the_method(df):
    table = bf.table.report(df, "y", "p", by="g", metrics="recall", title="Found", bars=False)

    assert "Found" in table.as_raw_html()
    assert "Bars run" not in table.as_raw_html()
    with pytest.raises(bf.UnknownNameError, match="metric 'recal' not found"):
        bf.table.report(df, "y", "p", metrics="recal")


def test_an_option_of_both_is_the_methods(df):
    excluded = bf.table.disparity(df, "y", "p", by="g", metrics="recall", min_support=1000)

    assert "—" in body(excluded)
    signature = inspect.signature(bf.table.disparity).parameters
    assert (
        signature["min_support"].default
        == inspect.signature(bf.disparity).parameters["min_support"].default
    )


@cases("name", TABLES)
def test_tables_have_signature_and_docstring(name):
    function = getattr(bf.table, name)
    parameters = inspect.signature(function).parameters

    assert function is getattr(bf.table, name) is getattr(Tables, name)
    assert [*parameters] == [
        *inspect.signature(getattr(bf, name)).parameters,
        *(
            option
            for option in inspect.signature(bf.table).parameters
            if option not in ("frame", "method")
            and option not in inspect.signature(getattr(bf, name)).parameters
        ),
    ]
    for parameter in parameters:
        assert re.search(rf"^{parameter} : ", function.__doc__, re.MULTILINE), parameter
    bound = inspect.signature(getattr(pd.DataFrame().bal.table, name)).parameters
    assert [*bound] == [*parameters][1:]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda df: bf.table.report(df, "y", "p", titel="a"), "option 'titel' .*mean 'title'"),
        (lambda df: bf.table.report(df, "y"), r"bf\.table\.report needs y_pred"),
        (lambda df: bf.table.report(df, "y", "p", "g"), r"bf\.table\.report takes .* by position"),
        (lambda df: bf.table.report(df, "y", "p", decimals=-1), "decimals=-1 must be"),
        (lambda df: bf.table.report(df, "y", "pp"), "column 'pp' not found"),
    ],
)
def test_wrong_arguments_are_refused(df, call, message):
    with pytest.raises(bf.BalframeError, match=message):
        call(df)


def test_the_missing_extra_is_named_before_anything_is_computed(df, monkeypatch):
    monkeypatch.setattr(engines, "find_spec", lambda name: None)

    with pytest.raises(bf.MissingExtraError, match=r"tables need great_tables"):
        bf.table.report(df, "y", "no such column")
