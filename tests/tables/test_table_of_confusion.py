"""Tables of confusion matrices."""

import polars as pl
import pytest

import balframe as bf
from tests.support.constructors import each_constructor
from tests.support.html_tables import P, Page, Y, page

pytest.importorskip("great_tables")


COUNTS = {
    "g": ["a"] * 3 + [None],
    Y: ["x", "x", "z", "z"],
    P: ["x", "z", "z", "x"],
    "rows": [30, 10, 1205, 4],
}


@each_constructor
def test_confusion_is_a_table_for_each_segment(constructor):
    out = bf.confusion(
        constructor(COUNTS), Y, P, by="g", counts="rows", normalize="true", margins="overall"
    )

    parsed = page(out, decimals=2)

    assert parsed.texts == [
        ["Actual: y", "Predicted: p", "Total"],
        ["x", "z"],
        ["x", "30 0.75", "10 0.25", "40"],
        ["z", "0", "1,205 1.00", "1,205"],
        ["Total", "30", "1,215", "1,245"],
        ["x", "0", "0", "0"],
        ["z", "4 1.00", "0", "4"],
        ["Total", "4", "0", "4"],
        ["x", "30 0.75", "10 0.25", "40"],
        ["z", "4 0.00", "1,205 1.00", "1,209"],
        ["Total", "34", "1,215", "1,249"],
    ]
    assert parsed.alone == [
        "g: a",
        "g: (missing)",
        "g: (all)",
        "Numbers of rows; bold: correct predictions.",
        "In grey: share of the rows of the actual label.",
    ]


@pytest.mark.parametrize(
    ("normalize", "of"), [("pred", " of the predicted label"), ("all", " of the segment")]
)
def test_the_note_of_a_confusion_table_names_the_denominator_of_shares(normalize, of):
    df = pl.DataFrame(COUNTS).with_columns(w=pl.lit(0.5))

    rows = bf.confusion(df, Y, P, counts="rows", normalize=normalize)
    weight = bf.confusion(df, Y, P, counts="rows", sample_weight="w", normalize=normalize)

    assert page(rows).alone[-1] == f"In grey: share of the rows{of}."
    assert page(weight).alone[-1] == f"In grey: share of the weight{of}."
    assert page(rows.head(2)).alone[-1] == "In grey: share of the rows."
    assert page(weight.drop("share")).alone[-1] == "Weights are not shown."


@pytest.mark.filterwarnings("ignore::balframe.BalframeWarning")
def test_max_rows_keeps_the_first_confusion_tables_with_their_headings():
    df = pl.DataFrame(COUNTS).with_columns(q=pl.lit("x"), h=pl.Series([1, 1, 2, 2]))

    parsed = page(bf.confusion(df, Y, [P, "q"], by=["g", "h"], counts="rows"), max_rows=4)
    alone = page(bf.confusion(df, Y, P, counts="rows"))

    assert parsed.texts[0] == ["Actual: y", "Predicted", "Total"]
    assert parsed.alone[:3] == [
        "g: a · h: 1 · p",
        "g: a · h: 1 · q",
        "4 of 6 segments are not shown. Shown: the first.",
    ]
    assert len(parsed.rows) == 2 + 2 * 3
    assert alone.texts[2:] == [
        ["x", "30", "10", "40"],
        ["z", "4", "1,205", "1,209"],
        ["Total", "34", "1,215", "1,249"],
    ]


def test_labels_of_confusion_tables_are_in_the_order_of_the_result():
    df = pl.DataFrame({"g": ["a", "a", "b"], Y: [0, 10, 9], P: [0, 10, 9]})

    by_value = page(bf.confusion(df, Y, P, by="g"))
    as_given = page(bf.confusion(df, Y, P, labels=[9, 10, 0], complete=True))

    assert by_value.texts[1] == ["0", "9", "10"]
    assert as_given.texts[1] == ["9", "10", "0"]


def test_confusion_with_many_labels_or_extra_columns_lists_pairs():
    many = pl.DataFrame({Y: range(13), P: range(13)})
    out = bf.confusion(many, Y, P)

    assert page(out).texts[0] == page(out.head(3).with_columns(mine=1)).texts[0][:3] == [Y, P, "n"]
    assert page(pl.concat([out.head(2)] * 2)).text_of("n") == ["1"] * 4
    assert len(page(out.head(12)).texts[1]) == 12


def test_confusion_tables_can_be_restyled_by_their_numbers():
    from great_tables import loc, style

    table = bf.table(bf.confusion(pl.DataFrame(COUNTS), Y, P, counts="rows"))
    rows = pl.col("x_value") > 32

    parsed = Page(table.tab_style(style.fill("lightyellow"), loc.body(columns="z", rows=rows)))

    assert ["lightyellow" in row[2].style for row in parsed.rows[2:]] == [False, False, True]
