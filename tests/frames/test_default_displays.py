"""Lean results fit the displays of polars and pandas: with one by-column, no column is hidden.

pandas hides columns that are wider than the terminal in the interpreter of Python, and wraps rows
in IPython and notebooks, where `display.max_columns` is 20. In the interpreter, a terminal of 120
characters is wide enough for every method but `compare`; one of 80 is not for each.

`compare` and `gaps` have more than the eight columns that polars shows unless asked for all.
"""

import pandas as pd
import polars as pl
import pytest

import balframe as bf
from balframe.methods import declarations
from tests.support.cases import cases
from tests.support.method_arguments import days, example_arguments, layout_arguments

LAYOUTS = [
    (name, layout_arguments(layout))
    for name, method in declarations().items()
    for layout in method.layouts
]
ALL_COLUMNS = {"compare": 11, "gaps": 9}  # of polars, which shows 8 by default
TERMINAL = {"compare": "140"}
N = 300
FRAME = pl.DataFrame(
    {
        "g": [("north", "south", "west")[i % 3] for i in range(N)],
        "y": [i * 7 % 11 % 2 for i in range(N)],
        "p": [(i * 7 % 11 + (i % 4 == 0 or i % 6 == 5)) % 2 for i in range(N)],
        "q": [(i * 7 % 11 + (i % 9 == 1)) % 2 for i in range(N)],
        "s": [0.4 * (i * 7 % 11 % 2) + 0.6 * (i * 13 % 17) / 17 for i in range(N)],
        "day": days(N),
    }
)


def lean_result(name, options, frame=FRAME):
    return getattr(bf, name)(frame, **example_arguments(name, **options))


@pytest.mark.filterwarnings("ignore:no slice is listed")
@cases("width", [80, 120])
@cases(("name", "options"), LAYOUTS)
def test_polars_shows_every_column(name, options, width):
    result = lean_result(name, options)

    if name in ALL_COLUMNS:
        assert result.width == ALL_COLUMNS[name]
    with pl.Config(tbl_width_chars=width, tbl_cols=ALL_COLUMNS.get(name, 8)):
        text = str(result)

    assert max(map(len, text.splitlines())) <= width
    assert headings_of_polars(text) == result.columns


def headings_of_polars(text):
    """Read the names of columns, which may take several lines each."""
    above, _, _ = text.partition("╞")
    lines = [line[1:-1].split("┆") for line in above.splitlines() if line.startswith("│")]
    columns = ([cell.strip() for cell in column] for column in zip(*lines, strict=True))
    return ["".join(column[: column.index("---")]) for column in columns]


@pytest.mark.filterwarnings("ignore:no slice is listed")
@cases(("name", "options"), LAYOUTS)
def test_pandas_shows_every_column_in_a_line(name, options, monkeypatch):
    monkeypatch.setenv("COLUMNS", TERMINAL.get(name, "120"))  # of the terminal
    result = lean_result(name, options, FRAME.to_pandas()).head(3)

    with pd.option_context("display.max_columns", 0):  # as in the interpreter
        head = repr(result).splitlines()[0]

    assert head.split() == list(result)


@pytest.mark.filterwarnings("ignore:no slice is listed")
@cases(("name", "options"), LAYOUTS)
def test_pandas_wraps_rows_of_80_characters_and_shows_every_column(name, options):
    result = lean_result(name, options, FRAME.to_pandas()).head(3)

    with pd.option_context("display.max_columns", 20, "display.width", 80):  # as in IPython
        blocks = repr(result).split("\n\n")

    heads = [block.splitlines()[0].rstrip("\\").split() for block in blocks]
    assert [name for head in heads for name in head] == list(result)
    assert len(blocks) <= 2
