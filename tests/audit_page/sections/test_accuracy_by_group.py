"""For whom predictions are right more or less often: each sentence with both outcomes."""

from dataclasses import replace

import pytest

from balframe.audit_page.results import LeftOut
from balframe.audit_page.sections.accuracy_by_group import differing, ranking, section, small_groups
from tests.support.audits.figures import (
    BALANCED,
    audit,
    column,
    difference,
    group,
    make_request,
    model,
    percent,
    plain,
)

MINUS = "\N{MINUS SIGN}"


def scored(value, rate, *, positives=100):
    """Make a group with a balanced accuracy."""
    return group(value, 100, positives, 50, {"balanced_accuracy": rate})


def compared(**differences):
    """Make a model of groups with their differences from all others, by value."""
    groups = [group(value) for value in differences]
    return model([column(groups, differences={"balanced_accuracy": differences})])


LOW, HIGH = scored("A", percent(59, 54, 63)), scored("B", percent(65, 64, 66))
SMALL = scored("C", percent(20, 1, 50), positives=29)


def test_ranking_names_lowest_and_highest_group_with_limits():
    assert plain(ranking([HIGH, LOW], BALANCED, make_request())) == (
        "Among the 2 groups large enough to compare, balanced accuracy lies between 59% (54 to 63) "
        "for A (race) and 65% (64 to 66) for B (race)."
    )


def test_a_small_group_is_not_ranked():
    first = section(audit(model([column([LOW, HIGH, SMALL])]))).blocks[0].text
    assert plain(first).startswith("Among the 2 groups large enough to compare, ")
    assert " C " not in plain(first)


def test_fewer_than_two_groups_are_not_ranked():
    said = "Fewer than two groups are large enough to compare."
    assert ranking([LOW], BALANCED, make_request()) == said
    first = section(audit(model([column([LOW, SMALL])]))).blocks[0].text
    assert first == said


LESS, MORE = difference(-6, -11, -2, 0.004), difference(1, 0.2, 3, 0.02)
NOT = difference(2, -4, 8, 0.4)


def test_single_significant_group_is_named_with_its_difference():
    assert plain(differing(compared(A=LESS, C=NOT), BALANCED)) == (
        "A difference from all other groups together is established for one group: A (race) by "
        f"{MINUS}6 points ({MINUS}11 to {MINUS}2). For the others no difference is established; it "
        "may be up to 8 points."
    )


def test_all_groups_are_named_if_all_are_significant():
    assert plain(differing(compared(A=LESS, B=MORE), BALANCED)) == (
        "A difference from all other groups together is established for two groups: A (race) "
        f"by {MINUS}6 points ({MINUS}11 to {MINUS}2) and B (race) by +1 point (0.2 to 3)."
    )


def test_without_significant_groups_the_furthest_limit_is_stated():
    assert plain(differing(compared(A=NOT, B=NOT), BALANCED)) == (
        "No difference of a group from all other groups together is established; it may be up to 8 "
        "points."
    )


def test_groups_without_a_difference_have_no_sentence():
    assert differing(compared(D=difference(None)), BALANCED) == ""
    assert differing(model([column([LOW])]), BALANCED) == ""


def test_p_value_equal_to_alpha_is_not_significant():
    at = difference(-6, -11, 0, 0.05)
    assert differing(compared(A=at), BALANCED).startswith("No difference of a group")


@pytest.mark.parametrize(
    ("n", "last"), [(8, " and g7 ("), (9, " and one more."), (10, " and two more.")]
)
def test_at_most_eight_significant_groups_are_named(n, last):
    groups = {f"g{i}": MORE for i in range(n)}
    assert last in plain(differing(compared(**groups), BALANCED))


def test_small_groups_are_counted_and_not_named():
    one = model([column([LOW, SMALL])])
    assert small_groups(one, BALANCED) == (
        "One group has fewer than 30 people with one of the outcomes. The tables show the "
        "figures; it is in no comparison and in no sentence."
    )
    several = model([column([LOW, SMALL, SMALL]), column([SMALL], 1)])
    assert small_groups(several, BALANCED) == (
        "Three groups have fewer than 30 people with one of the outcomes. The tables show the "
        "figures; they are in no comparison and in no sentence."
    )


def test_small_groups_sentence_is_empty_without_small_groups():
    assert small_groups(model([column([LOW, HIGH])]), BALANCED) == ""
    withheld = replace(SMALL, is_withheld=True)
    assert small_groups(model([column([LOW, HIGH, withheld])]), BALANCED) == ""


def test_section_is_left_out_without_group_columns():
    left_out = section(audit(model(), by=[]))
    assert left_out == LeftOut(left_out.question, "no columns of groups were given")


def test_table_marks_small_groups():
    whom = section(audit(model([column([LOW, HIGH, SMALL])])))
    table = whom.blocks[-1]
    assert [row.is_small for row in table.groups[0].rows] == [False, False, True]
    assert [row.cells[1].text for row in table.groups[0].rows] == ["59%", "65%", "20%"]
    assert [row.cells[1].limits for row in table.groups[0].rows] == [
        "54 to 63",
        "64 to 66",
        "1 to 50",
    ]
    assert [row.cells[0].text for row in table.groups[0].rows] == ["100", "100", "29"]
    assert "One group has fewer than" in whom.blocks[1].text


def test_table_of_two_outcomes_marks_guessing_with_a_dashed_line():
    table = section(audit(model([column([LOW, HIGH])]))).blocks[-1]
    assert "Dashed: guessing." in table.note
    assert table.heads[3].axis.dashed is not None
