"""`--detail`: tables have the columns that answer, or all of them; files for programs have all."""

import io
import json

import polars as pl
import pytest

import balframe as bf
from balframe.api.columns import Role
from balframe.cli.text_columns import table_columns
from balframe.methods import declarations
from balframe.tables.recognize import recognize_result
from tests.support.cases import cases
from tests.support.method_arguments import (
    MODEL_METHODS,
    days,
    example_arguments,
    layout_arguments,
    models,
)

FRAME = pl.DataFrame(
    {
        "g": list("aaabbb"),
        "h": list("uvuvuv"),
        "y": [1, 0, 1, 0, 1, 0],
        "p": [1, 0, 0, 1, 1, 0],
        "q": [1, 1, 1, 0, 1, 0],
        "r": [0, 1, 1, 0, 0, 0],
        "s": [0.9, 0.2, 0.6, 0.4, 0.7, 0.1],
        "t": [0.5, 0.3, 0.6, 0.1, 0.7, 0.2],
        "day": days(6),
    }
)
LEAN = [
    "g",
    "metric",
    "verdict",
    "estimate",
    "difference",
    "p_adjusted",
    "n",
]  # limits are in cells
DETAILS = [
    *["reference", "reference_estimate", "ratio", "n_labels", "min_support"],
    *["p_value", "n_tests"],
]
COMPARED = ["metric", "verdict", "estimate", "baseline_estimate", "difference", "p_adjusted"]


@pytest.fixture
def write(run, tmp_path):
    """Run a command about the frame, and return what it writes."""
    path = tmp_path / "rows.csv"
    FRAME.write_csv(path)

    def written(command, *options):
        done = run(command, path, *options)
        assert (done.code, done.err) == (0, "")
        return done.out

    return written


@pytest.fixture
def gaps(write):
    """Return what the command writes about gaps, in a format."""
    labels = ["--y-true", "y", "--y-pred", "p", "--by", "g", "--metric", "accuracy"]
    return lambda file_format, *options: write("gaps", *labels, "--format", file_format, *options)


def cells_of_markdown(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


@cases(("options", "expected"), [([], LEAN), (["--detail"], [*LEAN, *DETAILS])])
def test_tables_of_a_terminal_and_of_markdown_have_details_only_with_the_option(
    gaps, options, expected
):
    assert gaps("table", *options).splitlines()[0].split() == expected
    header, rule, first, *_ = map(cells_of_markdown, gaps("markdown", *options).splitlines())
    assert header == expected
    assert len(rule) == len(first) == len(expected)
    # 2 of 3 rows are right in each segment
    assert dict(zip(header, first, strict=True))["estimate"] == "0.667"


@cases("options", [[], ["--detail"]])
def test_csv_json_and_parquet_always_have_all_columns(gaps, tmp_path, options):
    expected = ["g", "metric", "estimate", "difference", "lower", "upper", "p_adjusted"]
    expected += ["verdict", "n", *DETAILS]

    lines = gaps("ndjson", *options).splitlines()
    gaps("parquet", "--out", tmp_path / "gaps.parquet", *options)

    assert pl.read_csv(io.StringIO(gaps("csv", *options))).columns == expected
    assert [list(row) for row in json.loads(gaps("json", *options))] == [expected] * 2
    assert [list(json.loads(line)) for line in lines] == [expected] * 2
    assert pl.read_parquet(tmp_path / "gaps.parquet").columns == expected


def test_help_says_which_formats_the_option_is_for(run):
    help_text = " ".join(run("gaps", "--help").out.replace("│", " ").split())

    assert "It is for tables and Markdown; other formats have all columns." in help_text


def test_a_table_names_models_and_tables_only_if_there_are_several(write):
    """They are in CSV always: the name of a column does not follow from the number of models."""

    def header(command, *options):
        return write(command, *options, "--format", "table").splitlines()[0].split()

    two = ["--y-true", "y", "--y-pred", "p", "--y-pred", "q"]
    people = ["--selected", "p", "--favourable", "selected", "--min-share", "0"]
    assert header("compare", *two) == ["model", "baseline", *COMPARED]
    assert write("compare", *two, "--format", "csv").startswith("model,baseline,metric,")
    assert "grouped_by" not in header("impact", *people, "--by", "g")
    assert "grouped_by" in header("impact", *people, "--by", "g", "--by", "h")
    assert "grouped_by" in header("impact", *people, "--by", "g", "--detail")


@pytest.mark.filterwarnings("ignore:no slice is listed")
@cases("has_models", [False, True])
@cases(
    ("name", "layout"),
    [(name, layout) for name, method in declarations().items() for layout in method.layouts],
)
def test_a_table_without_details_has_the_columns_of_the_lean_result(name, layout, has_models):
    method, function = declarations()[name], getattr(bf, name)
    arguments = example_arguments(name, **layout_arguments(layout))
    if has_models and layout != "strata":  # which has one model
        arguments |= models(name) | ({"y_pred": ["p", "q", "r"]} if name in MODEL_METHODS else {})
    lean = function(FRAME, **arguments)
    detail = {"detail": True} if "detail" in method.parameters else {}

    columns = table_columns(function(FRAME, **arguments, **detail), detail=False)

    declared = recognize_result(lean.columns).columns
    limits = {
        name
        for name, column in declared.items()
        if column.role is Role.LIMIT and column.about is not None
    }
    assert {column.name for column in columns} == {*lean.columns} - limits
    with_limits = {column.name for column in columns if column.limits_name}
    assert with_limits == {declared[name].about for name in limits}


def test_limits_that_are_details_are_in_cells_only_with_the_option(write):
    people = [
        "--selected",
        "p",
        "--favourable",
        "selected",
        "--min-share",
        "0",
        "--by",
        "g",
        "--format",
        "markdown",
    ]

    lean, detailed = (
        dict(zip(*(cells_of_markdown(out.splitlines()[line]) for line in (0, 2)), strict=True))
        for out in (write("impact", *people), write("impact", *people, "--detail"))
    )

    # 1 of 3 people is selected in a
    assert lean["rate"] == "0.333"
    assert detailed["rate"].startswith(r"0.33 \[")
