"""Tables of the result of `impact`: one below the other, with notes on who is not in them."""

import pandas as pd
import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import each_constructor
from tests.support.frames.selected_people import ASKED, PEOPLE
from tests.support.html_tables import NASTY, page

DASH = "\N{EM DASH}"
NOTES = [
    "By sex: 7 rows are not in the table because the category is unknown; 3 of them favourable.",
    "By race: 15 rows are not in the table because the category is unknown; 2 of them favourable.",
    "By sex, race: 19 rows are not in the table because the category is unknown; 4 of them "
    "favourable.",
    "Italics: a smaller share of the rows than the minimum, so there is no ratio.",
    "Brackets: confidence interval.",
    "Bars run from 0 to 1. The vertical line is the bound, 0.8.",
    f"{DASH}: undefined.",
]


def asked(selected="s", frame=None, **options):
    frame = pl.DataFrame(PEOPLE) if frame is None else frame
    return bf.impact(frame, selected, detail=True, **(ASKED | options))


@pytest.fixture(scope="module")
def result():
    return asked()


def first_words(parsed, label):
    return [text.split(" ")[0] for text in parsed.text_of(label)]


def in_italics(row):
    return {"font-style: italic" in cell.style for cell in row}


@each_constructor
def test_each_margin_has_a_table_with_a_heading(constructor):
    parsed = page(asked(frame=constructor(PEOPLE)))

    assert parsed.texts[0] == [
        "sex",
        "race",
        "Rate",
        "Impact ratio",
        "Adjusted p",
        "n",
        "Share",
        "Favourable",
        "Short of parity",
        "Short of bound",
        "One more reverses",
        "Lowest with unknown",
        "Highest with unknown",
    ]
    assert parsed.alone == ["By sex", "By race", "By sex, race", *NOTES]
    places = [parsed.texts[0].index(name) for name in ("sex", "race", "n", "Share", "Favourable")]
    assert [[row[place] for place in places] for row in parsed.texts[1:]] == [
        ["F", "", "100", "0.455", "30"],  # of 220 people
        ["M", "", "120", "0.545", "60"],
        ["", "A", "134", "0.632", "62"],  # of 212
        ["", "B", "75", "0.354", "28"],
        ["", "C", "3", "0.014", "1"],
        ["F", "A", "60", "0.288", "20"],  # of 208
        ["F", "B", "30", "0.144", "8"],
        ["F", "C", "2", "0.010", "1"],
        ["M", "A", "70", "0.337", "40"],
        ["M", "B", "45", "0.216", "20"],
        ["M", "C", "1", "0.005", "0"],
    ]
    # 30/100 over 60/120; 28/75 over 62/134; 20/60, 8/30 and 20/45 over 40/70
    ratios = ["0.600", "1.000", "1.000", "0.807", DASH, "0.583", "0.467", DASH, "1.000", "0.778"]
    assert first_words(parsed, "Impact ratio") == [*ratios, DASH]
    # 30/100 + 20/100 is 60/120; 62/134 of 75 are 34.7; 40/70 of 60, 30 and 45 are 34.3, 17.1, 25.7
    assert parsed.text_of("Short of parity")[:4] == ["20", "0", "0", "7"]
    assert parsed.text_of("Short of parity")[5:10] == ["15", "10", DASH, "0", "6"]


def test_small_categories_are_in_italics_with_their_rate_and_without_a_ratio(result):
    parsed = page(result)

    small = [row for row in parsed.rows[1:] if in_italics(row) == {True}]
    others = [row for row in parsed.rows[1:] if row not in small]
    assert [[row[0].text, row[1].text] for row in small] == [["", "C"], ["F", "C"], ["M", "C"]]
    assert all(in_italics(row) == {False} for row in others)
    heads = parsed.texts[0]
    rate = heads.index("Rate")
    without = [
        place
        for place, name in enumerate(heads)
        if name not in ("sex", "race", "n", "Share", "Favourable", "Rate")
    ]
    assert [row[rate].text[:5] for row in small] == ["0.333", "0.500", "0.000"]
    assert len(without) == 7
    assert {row[place].text for row in small for place in without} == {DASH}
    assert not any(row[place].shapes for row in small for place in without)


def test_no_note_without_small_categories_or_unknown_rows():
    known = pl.DataFrame(PEOPLE).drop_nulls()

    parsed = page(asked(frame=known, by="sex", min_share=0))

    assert parsed.alone == [*NOTES[4:]]
    assert not any(True in in_italics(row) for row in parsed.rows)


def test_the_note_on_a_single_unknown_row_is_singular():
    rows = pl.DataFrame({"sex": ["F", "F", "M", "M", None], "s": [1, 0, 1, 1, 0]})

    assert page(asked(frame=rows, by="sex", counts=None)).alone[0] == (
        "1 row is not in the table because the category is unknown; 0 of them favourable."
    )


@pytest.mark.parametrize("bound", [0.8, 0.75, 1])
def test_the_bound_is_a_line_on_the_bars_of_ratios(bound):
    parsed = page(asked(by="sex", bound=bound))

    assert f"Bars run from 0 to 1. The vertical line is the bound, {bound}." in parsed.alone
    for ratio, rate in zip(*map(parsed.column, ("Impact ratio", "Rate")), strict=True):
        upright = [
            (one["x1"] == one["x2"], at)
            for one, at in zip(ratio.drawn("line"), ratio.at("line", "x1"), strict=True)
        ]
        assert (True, pytest.approx(bound, abs=0.01)) in upright
        assert ratio.at("rect", "x") == pytest.approx([0], abs=0.01)
        assert len(rate.drawn("line")) == len(ratio.drawn("line")) - 1


def test_limits_are_in_the_cells_of_their_estimates(result):
    parsed = page(result, decimals=4)

    for label, name, limits in (
        ("Rate", "rate", ["rate_lower", "rate_upper"]),
        ("Impact ratio", "impact_ratio", ["lower", "upper"]),
    ):
        rows = result.filter(pl.col("role") != "unknown").select(name, *limits).rows()
        assert parsed.text_of(label) == [
            DASH if one is None else f"{one:.4f} [{low:.4f}, {high:.4f}]" for one, low, high in rows
        ]


def test_redundant_columns_are_hidden_but_kept_in_the_table_data(result):
    table = bf.table(result)

    assert {"Highest sex", "Highest", "Bound", "p", "Tests"}.isdisjoint(page(result).texts[0])
    assert table._tbl_data["bound_value"].to_list() == [0.8] * 11
    assert table._tbl_data["p_value_value"].null_count() == 6  # three most selected, three small


@cases(
    ("dropped", "gone", "added", "notes"),
    [
        (["lower"], [], ["Upper"], NOTES),
        (["lower", "upper"], [], [], NOTES),
        (["rate_lower", "rate_upper", "lower"], [], ["Upper"], [*NOTES[:4], *NOTES[5:]]),
        (["bound"], [], [], [*NOTES[:5], "Bars run from 0 to 1.", NOTES[6]]),
        (["share", "p_adjusted"], ["Share", "Adjusted p"], [], NOTES),
        (
            ["n", "n_unknown"],
            ["n"],
            [],
            [
                "By sex: Rows are not in the table because the category is unknown; 3 of them "
                "favourable.",
                "By race: Rows are not in the table because the category is unknown; 2 of them "
                "favourable.",
                "By sex, race: Rows are not in the table because the category is unknown; 4 of "
                "them favourable.",
                *NOTES[3:],
            ],
        ),
    ],
)
def test_dropped_columns_and_their_notes_are_absent_from_the_table(
    result, dropped, gone, added, notes
):
    whole, parsed = page(result), page(result.drop(dropped))

    assert set(whole.texts[0]) - set(parsed.texts[0]) == set(gone)
    assert set(parsed.texts[0]) - set(whole.texts[0]) == set(added)
    assert parsed.alone[3:] == notes
    has_limits = {"lower", "upper"} <= set(result.columns) - set(dropped)
    assert any("[" in text for text in parsed.text_of("Impact ratio")) == has_limits


def test_an_unknown_category_is_a_row_without_the_column_role(result):
    parsed = page(result.filter(grouped_by="sex").drop("role"))

    assert [row[0] for row in parsed.texts[1:]] == ["F", "M", "(missing)"]
    assert parsed.alone == [*NOTES[4:]]


@pytest.mark.parametrize(
    ("name", "start"),
    [("grouped_by", "A result of impact with several by-columns"), ("impact_ratio", ".*")],
)
def test_a_missing_required_column_is_refused_by_name(result, name, start):
    with pytest.raises(bf.InvalidInputError, match=f"{start} also has '{name}'"):
        bf.table(result.drop(name, "rate"))  # which a report of outcomes has too


def test_a_lean_result_says_how_many_rows_are_of_unknown_category():
    parsed = page(bf.impact(pl.DataFrame(PEOPLE), "s", **ASKED))

    assert parsed.alone[3:6] == [note.partition(";")[0] + "." for note in NOTES[:3]]


def test_extra_columns_come_last(result):
    mine = pl.Series("remark", ["few" if one == "small" else None for one in result["role"]])

    parsed = page(result.with_columns(mine))

    assert parsed.texts[0][-1] == "Remark"
    assert parsed.text_of("Remark") == [""] * 4 + ["few", "", "", "few", "", "", "few"]


@cases(
    ("margin", "label", "first"),
    [
        ("sex", ["sex"], [["F"], ["M"]]),
        ("race", ["race"], [["A"], ["B"], ["C"]]),
        ("sex, race", ["sex", "race"], [["F", "A"], ["F", "B"]]),
    ],
)
@cases("is_filtered", [True, False])
def test_a_single_margin_has_no_heading_and_only_its_own_columns(
    result, is_filtered, margin, label, first
):
    kept = result.filter(grouped_by=margin)
    if not is_filtered and len(label) == 1:
        kept = asked(by=label)

    parsed = page(kept)

    assert parsed.texts[0][: len(label) + 1] == [*label, "Rate"]
    assert [row[: len(label)] for row in parsed.texts[1 : 1 + len(first)]] == first
    assert parsed.alone[0].endswith("are not in the table because the category is unknown; "
        f"{ {'sex': 3, 'race': 2}.get(margin, 4) } of them favourable.")  # fmt: skip
    assert parsed.alone[0][0].isdigit()


def test_each_model_has_tables_of_its_own():
    # of t, the row of people of unknown sex and race A who are selected is dropped
    other = [None if one == ("A", 1) else s for one, s in zip(_keys(), PEOPLE["s"], strict=True)]
    frame = pl.DataFrame(PEOPLE | {"t": other})

    parsed = page(asked(["s", "t"], frame, missing="drop", by="sex"))
    both = page(asked(["s", "t"], frame, missing="drop"))

    assert parsed.alone[:4] == [
        "s",
        "t",
        "s: 7 rows are not in the table because the category is unknown; 3 of them favourable.",
        "t: 5 rows are not in the table because the category is unknown; 1 of them favourable.",
    ]
    assert parsed.texts[0][0] == "sex"
    assert parsed.text_of("sex") == ["F", "M"] * 2
    assert parsed.text_of("n") == ["100", "120"] * 2
    assert both.alone[:6] == [
        f"By {by} · {model}" for by in ("sex", "race", "sex, race") for model in ("s", "t")
    ]
    assert len([one for one in both.alone if "because the category is unknown" in one]) == 6


def _keys():
    """List the race of the people of unknown sex, and whether they are selected."""
    rows = zip(PEOPLE["sex"], PEOPLE["race"], PEOPLE["s"], strict=True)
    return [(race, s) if sex is None else None for sex, race, s in rows]


def test_impact_of_scores_has_the_median_as_threshold():
    frame = pl.DataFrame({"g": ["a", "b"] * 4, "x": [1.0, 1.0, 2.0, 2.0, 2.5, 4.0, 4.0, 4.0]})

    parsed = page(bf.impact(frame, score="x", favourable="selected", by="g", detail=True))

    assert parsed.text_of("Threshold") == ["2.25", "2.25"]  # between 2 and 2.5, not rounded
    assert parsed.text_of("Favourable") == ["2", "2"]


@cases("library", [pd.DataFrame, pl.DataFrame])
@cases("column", [NASTY[0], NASTY[3], "^y.*$", ""])
def test_names_and_values_of_the_data_are_escaped(library, column):
    data = {column: NASTY * 2, "h": ["x", "y"] * 8, "s": [1] * 8 + [0] * 8}

    parsed = page(
        bf.impact(library(data), "s", favourable="selected", by=[column, "h"], detail=True)
    )
    models = page(
        bf.impact(
            library(data | {NASTY[2]: data["s"]}),
            ["s", NASTY[2]],
            favourable="selected",
            by="h",
            detail=True,
        )
    )

    as_shown = [text.replace("\n", "\\n").replace("\x1b", "\\x1b") for text in NASTY]
    assert sorted(row[0] for row in parsed.texts[1:9]) == sorted(as_shown)
    assert parsed.texts[0][:2] == [column, "h"]
    assert parsed.alone[:3] == [f"By {column}", "By h", f"By {column}, h"]
    assert models.alone[:2] == ["s", NASTY[2]]
    assert {"script", "img", "em", "b", "code", "sup"}.isdisjoint(parsed.tags | models.tags)


@pytest.mark.parametrize("name", ["model", "metric", "threshold"])
def test_a_by_column_may_have_the_name_of_another_methods_column(name):
    parsed = page(asked(frame=pl.DataFrame(PEOPLE).rename({"sex": name}), by=[name, "race"]))

    assert parsed.texts[0][:3] == [name, "race", "Rate"]
    assert parsed.alone[:3] == [f"By {name}", "By race", f"By {name}, race"]


def test_an_explicit_method_overrides_recognition(result):
    assert page(result, method="impact").texts == page(result).texts
    with pytest.raises(bf.InvalidInputError, match="A result of gaps also has 'metric'"):
        bf.table(result, method="gaps")


def test_max_rows_keeps_the_extreme_categories_of_each_table(result):
    parsed = page(result, max_rows=6)

    assert [row[:2] for row in parsed.texts[1:]] == [
        ["F", ""],
        ["M", ""],
        ["", "B"],
        ["", "A"],
        ["F", "B"],
        ["M", "A"],
    ]
    # of 11 rows; the unknown ones are not among them
    assert parsed.alone[3:7] == [
        "5 of 11 rows are not shown. Shown: the worst and the best of each group by impact ratio, "
        "worst first.",
        *NOTES[:3],
    ]
    assert NOTES[3] not in parsed.alone  # no row is in italics
    assert len(page(result, max_rows=11).rows) == len(page(result, max_rows=None).rows) == 12


def test_a_result_without_rows_has_a_header():
    parsed = page(asked(frame=pl.DataFrame(PEOPLE).clear()))

    assert parsed.texts[0][:3] == ["sex", "race", "Rate"]
    assert len(parsed.rows) == 1


def test_an_undefined_impact_ratio_is_a_dash():
    # y and z have nobody selected; x is too small
    rows = {"g": ["x", "y", "z"], "s": [1, 0, 0], "n": [1, 100, 100]}

    parsed = page(
        bf.impact(pl.DataFrame(rows), "s", favourable="selected", by="g", counts="n", detail=True)
    )

    assert parsed.text_of("Impact ratio") == [DASH] * 3
    assert [in_italics(row) for row in parsed.rows[1:]] == [{True}, {False}, {False}]
