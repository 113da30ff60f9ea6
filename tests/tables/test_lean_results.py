"""Tables of the results that methods return by default: all that they have, without details."""

import polars as pl
import pytest

import balframe as bf
from balframe.api.columns import NOTE, Naming, Role
from balframe.cli.text_columns import markdown
from balframe.methods import declarations
from balframe.tables.recognize import recognize_result
from tests.support.cases import cases
from tests.support.html_tables import page
from tests.support.method_arguments import days, example_arguments, layout_arguments, models

pytest.importorskip("great_tables")

FRAME = pl.DataFrame(
    {
        "g": ["a", "b"] * 30,
        "y": [1, 0, 0, 1, 1, 0] * 10,
        "p": [1, 1, 0, 1, 1, 1] * 10,
        "q": [0, 0, 0, 1, 1, 1] * 10,
        "s": [0.9, 0.6, 0.3, 0.8, 0.7, 0.4] * 10,
        "t": [0.5, 0.1, 0.2, 0.8, 0.7, 0.9] * 10,
        "day": days(60),
    }
)
LAYOUTS = [(name, layout) for name, method in declarations().items() for layout in method.layouts]


@cases("has_models", [False, True])
@cases(("name", "layout"), LAYOUTS)
def test_every_column_of_a_lean_result_is_in_its_table(name, layout, has_models):
    options = layout_arguments(layout)
    options |= models(name) if has_models and layout != "strata" else {}
    result = getattr(bf, name)(FRAME, **example_arguments(name, **options))

    parsed = page(result, max_rows=None)

    recognized = recognize_result(result.columns)
    columns = recognized.columns
    assert (recognized.method, recognized.layout) == (name, layout)
    assert {*recognized.by, *columns} == {*result.columns}
    assert result.height > 0
    if name == "confusion":  # which has a table of its own
        return
    assert len(parsed.rows) - 1 == result.height
    elsewhere = {  # in the cells of estimates, above rows, or as a style of theirs
        column
        for column, declared in columns.items()
        if (declared.role is Role.LIMIT and declared.about is not None)
        or declared.naming is Naming.ROLE
        or (declared.heading and column not in parsed.texts[0])
        or (column == NOTE and result[column].null_count() == result.height)
    }
    assert len(parsed.texts[0]) == len(result.columns) - len(elsewhere)
    assert not [column for column in columns.values() if column.detail or column.hidden]


@pytest.mark.thorough
@cases("library", ["polars", "pandas"])
@cases(("name", "layout"), LAYOUTS)
def test_the_table_of_a_lean_result_is_that_of_details_without_the_others(name, layout, library):
    method, function = declarations()[name], getattr(bf, name)
    arguments = example_arguments(name, **layout_arguments(layout))
    frame = FRAME if library == "polars" else FRAME.to_pandas()
    lean = page(function(frame, **arguments), max_rows=None)
    if "detail" not in method.parameters:
        return

    whole = page(function(frame, **arguments, detail=True), max_rows=None)

    for heading in lean.texts[0]:
        pairs = zip(lean.text_of(heading), whole.text_of(heading), strict=True)
        for text, text_with_details in pairs:  # which may have limits and be marked by support
            assert text_with_details.strip("▼▲ ").startswith(text.strip("▼▲ ")), heading


@cases("method", ["disparity", "fairness"])
def test_a_null_segment_is_missing_and_no_segment_is_undefined(method):
    data = {"g": ["a", "a", None, None] * 10, "y": [1, 0] * 20, "p": [1, 0, 0, 0] * 10}
    few = pl.DataFrame(data)

    parsed, undefined = (
        page(getattr(bf, method)(few, "y", "p", by="g", min_support=least)) for least in (1, 1000)
    )

    assert {parsed.text_of("Lowest g")[0], parsed.text_of("Highest g")[0]} == {"(missing)", "a"}
    assert {*undefined.text_of("Lowest g"), *undefined.text_of("Highest g")} == {"—"}
    for has_details in (False, True):
        result = getattr(bf, method)(few, "y", "p", by="g", min_support=1, detail=has_details)
        assert "| (missing) |" in markdown(result)
