"""Tables of plain text."""

import polars as pl
from rich.cells import cell_len

import balframe as bf
from balframe.cli.text_columns import display_width, markdown, plain_text, table_columns
from tests.support.cases import cases

VERDICTS = pl.DataFrame(
    {
        "group": ["東京", "Ko\u0308ln", None],
        "rule": ["recall >= 0.6", "recall >= 0.6", "n >= 1"],
        "estimate": [0.25, 0.5, 3.0],
        "lower": [0.125, 0.5, 3.0],
        "upper": [0.5, 0.5, 3.0],
        "bound": [0.6, 0.6, 1.0],
        "status": ["fail", "inconclusive", "pass"],
    }
)


def test_cells_are_aligned_as_a_terminal_shows_them():
    text = plain_text(table_columns(VERDICTS), 80)

    assert text.splitlines() == [
        "group      rule           status                 estimate  bound",
        "東京       recall >= 0.6  fail          0.25 [0.12, 0.50]    0.6",
        "Ko\u0308ln       recall >= 0.6  inconclusive  0.50 [0.50, 0.50]    0.6",
        "(missing)  n >= 1         pass                          3      1",
        "",
        "Brackets: decision limits.",
    ]


def test_a_table_that_is_too_wide_is_split_into_blocks_that_fit():
    text = plain_text(table_columns(VERDICTS), 44)

    blocks = text.split("\n\n")[:-1]
    assert [block.split("\n")[0].split() for block in blocks] == [
        ["group", "rule", "status"],
        ["group", "rule", "estimate"],
        ["group", "rule", "bound"],
    ]
    assert max(display_width(line) for line in text.splitlines()) <= 44


def test_control_characters_are_written_out():
    text = plain_text(table_columns(VERDICTS.with_columns(group=pl.lit("a\x1b[31m\n"))), 80)

    assert r"a\x1b[31m\n  recall" in text
    assert "\x1b" not in text


@cases(
    "text", ["", "abc", "東京", "Ko\u0308ln", "\uff26\uff35", "한국", "\U0001f600", "a\u200bb", "é"]
)
def test_texts_are_as_wide_as_a_terminal_shows_them(text):
    assert display_width(text) == cell_len(text)


@cases(("rule", "has_note"), [("accuracy >= baseline - 0.1", True), ("accuracy >= 0.1", False)])
def test_markdown_says_that_estimates_are_differences_from_a_baseline(rule, has_note):
    rows = pl.DataFrame({"y": [1, 0] * 500, "p": [1, 0] * 500})
    cells = bf.confusion(rows, "y", "p")

    options = {"baseline": cells} if has_note else {}
    lines = markdown(bf.check(rows, "y", "p", rules=[rule, "n >= 2"], **options)).splitlines()

    note = " Under a rule with a baseline, estimate and bound are differences from the baseline."
    assert lines[-1] == f"Brackets: decision limits.{note if has_note else ''}"


def test_markdown_of_no_verdict_has_no_note():
    rows = pl.DataFrame({"y": [1], "p": [1]})
    cells = bf.confusion(rows, "y", "p")
    rule = "accuracy >= baseline"

    out = bf.check(rows.head(0), "y", "p", by=None, rules=rule, baseline=cells.head(0))

    assert len(markdown(out).splitlines()) == 2
