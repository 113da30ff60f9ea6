"""Tables of impact ratios: their columns, their rows, and what their notes state."""

from dataclasses import replace

import pytest

from balframe.audit_page.cover import Cover
from balframe.audit_page.sections import impact_tables
from balframe.audit_page.sections.impact_tables import TableWords, exclusion_reason
from tests.support.audits.figures import make_request, plain
from tests.support.audits.impact_tables import (
    ABOVE,
    FEW,
    LOW,
    OPEN,
    SMALL,
    TOP,
    category,
    model_of,
    table,
)
from tests.support.cases import cases

WORDS = TableWords("Rates", "Selected", "Selection rate", "Selection rate: share selected.")
DASH = "\N{EN DASH}"


def made(*categories, favourable="selected", **changes):
    """Make a table of the page."""
    own = model_of(favourable=favourable)
    return impact_tables.impact_table(own, table(*categories, **changes), WORDS)


def rows_of(made_table):
    (group,) = made_table.groups
    return {plain(row.heading): row for row in group.rows}


def test_columns_are_counts_rate_ratio_and_p():
    heads = [plain(head.text) for head in made(TOP, LOW).heads]

    assert heads == [
        "Race",
        "People",
        "Selected",
        "Selection rate (95% interval)",
        "Impact ratio (adjusted interval)",
        "Plot of the same numbers",
        "p",
    ]
    assert plain(made(TOP, LOW).caption) == "Rates by race"


def test_row_has_counts_the_rate_and_the_ratio_with_their_limits():
    rows = rows_of(made(TOP, LOW, OPEN))

    cells = [(cell.text, cell.limits) for cell in rows["Low"].cells]
    assert cells[:4] == [
        ("100", ""),
        ("30", ""),
        ("30%", "20 to 40"),
        ("0.36", "0.29 to 0.45"),
    ]
    assert cells[5] == ("<.001", "")
    assert [row.differs for row in rows.values()] == [False, True, False]
    assert rows["Top"].cells[3].limits == "0.90 to 1.00"
    assert rows["Top"].cells[5].text == DASH


def test_ratio_of_the_highest_without_doubt_has_no_limits():
    rows = rows_of(made(category("Top", (1.0, 1.0, 1.0)), LOW))

    assert (rows["Top"].cells[3].text, rows["Top"].cells[3].limits) == ("1.00", "")


def test_line_of_the_bound_is_drawn_only_where_a_side_is_favourable():
    assert made(TOP, LOW).heads[5].axis.dashed == pytest.approx(0.8)
    assert made(TOP, LOW, favourable="not selected").heads[5].axis.dashed == pytest.approx(0.8)
    assert made(TOP, LOW, favourable=None).heads[5].axis.dashed is None
    assert made(TOP, LOW, favourable=None).heads[5].axis.line == 1


def test_no_limit_is_rounded_onto_the_bound_where_it_is_drawn():
    near = category("Near", (0.75, 0.7, 0.7996), 0.001)

    assert rows_of(made(TOP, near))["Near"].cells[3].limits == "0.70 to 0.7996"
    neutral = rows_of(made(TOP, near, favourable=None))
    assert neutral["Near"].cells[3].limits == "0.70 to 0.80"


def test_excluded_category_has_count_and_rate_but_no_ratio():
    row = rows_of(made(TOP, LOW, SMALL))["Small"]

    assert [cell.text for cell in row.cells[:4]] == ["2", "1", "30%", DASH]
    assert row.cells[5].text == DASH
    assert row.cells[4].bar.at is None
    assert (row.is_small, row.note) == (True, "excluded: under 2%")


def test_note_says_why_categories_are_excluded():
    note = plain(made(TOP, LOW, SMALL).note)

    assert note == (
        "Selection rate: share selected. Confidence intervals of ratios allow for all comparisons "
        "on this page; p is adjusted. Excluded: groups with less than 2% of the people whose race "
        "is known have no ratio; 6 RCNY 5-301 (d) allows leaving them out."
    )
    assert "Excluded" not in made(TOP, LOW).note


@cases(
    ("facts", "reason"),
    [
        ({}, None),
        ({"auditor": "A"}, None),
        ({"excluded": "Too few to judge."}, "Too few to judge"),
        ({"excluded": ("Too few", "Not asked for")}, "Too few; Not asked for"),
    ],
)
def test_reason_of_an_exclusion_is_that_of_the_cover(facts, reason):
    assert exclusion_reason(make_request(cover=Cover(facts))) == reason


def test_note_states_the_reason_of_the_cover():
    own = model_of(cover=Cover({"excluded": "Too few to judge."}))
    note = plain(impact_tables.impact_table(own, table(TOP, LOW, SMALL), WORDS).note)

    assert note.endswith("is known have no ratio; reason: Too few to judge.")


def test_unknown_categories_have_a_row_and_a_column_of_possible_ratios():
    made_table = made(TOP, LOW, SMALL, n_unknown=40, n_measured_unknown=10, columns=(0, 1))
    rows = rows_of(made_table)

    assert [head.text for head in made_table.heads][-1] == "Ratio if the unknown were known"
    assert plain(made_table.heads[0].text) == "Race, Sex"
    assert rows["Low"].cells[-1].text.replace("\N{NO-BREAK SPACE}", " ") == "0.25 to 0.50"
    assert rows["Small"].cells[-1].text == DASH
    unknown = rows["(missing)"]
    assert [cell.text for cell in unknown.cells[:4]] == ["40", "10", "25%", DASH]
    assert (unknown.is_small, unknown.note) == (True, "excluded: unknown")
    assert {len(row.cells) for row in rows.values()} == {len(made_table.heads) - 1}
    assert (
        "ratio that are possible if each of the 40 people whose race or sex is unknown belonged to "
        "one of the groups compared. This does not allow for chance."
    ) in plain(made_table.note)


def test_category_of_an_intersection_has_its_values_side_by_side():
    joint = category(("a", None), (0.5, 0.4, 0.6), 0.001)
    rows = rows_of(made(category(("b", "c"), (1.0, 1.0, 1.0)), joint, columns=(0, 1)))

    assert [*rows] == ["b, c", "a, (missing)"]


def test_category_below_min_support_is_marked_and_noted():
    made_table = made(TOP, FEW)

    assert [row.is_small for row in rows_of(made_table).values()] == [False, True]
    assert plain(made_table.note).endswith("In italics also: fewer than 30 people.")


def test_all_compared_and_the_20_largest_excluded_categories_have_a_row():
    compared = [category(f"c{i}", (0.9, 0.8, 1.0), 0.5) for i in range(30)]
    excluded = [replace(SMALL, values=(f"s{i:02}",), n=i + 1, n_measured=1) for i in range(25)]

    rows = rows_of(made(TOP, *compared, *excluded, ABOVE))

    assert len(rows) == 1 + 30 + 20 + 1 + 1
    assert [name for name in rows if name[0] == "s"] == [f"s{i:02}" for i in range(5, 25)]
    last = rows["5 more groups"]
    assert [cell.text for cell in last.cells[:3]] == ["15", "5", "33%"]
    assert last.note == "excluded: under 2%"


def test_withheld_categories_have_a_row_without_figures():
    rows = rows_of(made(TOP, LOW, withheld=[("Rare",), ()]))

    assert [[cell.text for cell in rows[name].cells] for name in ("Rare", "(missing)")] == [
        ["withheld", "", "", "", "", ""]
    ] * 2
    assert rows["Rare"].is_small
