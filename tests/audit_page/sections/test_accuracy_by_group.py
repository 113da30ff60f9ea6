"""For whom calls are right more or less often: each sentence with both outcomes."""

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


def scored(value, rate, *, positives=100, gap=None):
    """Make a group with a balanced accuracy and its difference from all others."""
    gaps = {} if gap is None else {"balanced_accuracy": gap}
    return group(value, 100, positives, 50, {"balanced_accuracy": rate}, gaps)


LOW, HIGH = scored("A", percent(59, 54, 63)), scored("B", percent(65, 64, 66))
SMALL = scored("C", percent(20, 1, 50), positives=29)


def test_ranking_names_lowest_and_highest_group_with_limits():
    assert plain(ranking([HIGH, LOW, SMALL], BALANCED, make_request())) == (
        "Among the 2 groups large enough to rank, balanced accuracy lies between 59% (54 to 63), "
        "for A (race), and 65% (64 to 66), for B (race)."
    )


def test_fewer_than_two_groups_are_not_ranked():
    said = "Fewer than two groups are large enough to rank."
    assert ranking([LOW, SMALL], BALANCED, make_request()) == said
    undefined = scored("D", percent(None))
    assert ranking([LOW, undefined], BALANCED, make_request()) == said


SHOWN = scored("A", percent(59, 54, 63), gap=difference(-6, -11, -2, 0.004))
TOO = scored("B", percent(65, 64, 66), gap=difference(1, 0.2, 3, 0.02))
NOT = scored("C", percent(64, 60, 66), gap=difference(2, -4, 8, 0.4))


def test_single_significant_group_is_named_with_its_difference():
    assert plain(differing([SHOWN, NOT], BALANCED, make_request())) == (
        f"One group is shown to differ from all others of the same column: A (race) by {MINUS}6 "
        f"points ({MINUS}11 to {MINUS}2). For the others no difference is shown, which is not to "
        "say that there is none: the limits reach up to 8 points."
    )


def test_all_groups_are_named_if_all_are_significant():
    assert plain(differing([SHOWN, TOO], BALANCED, make_request())) == (
        "Two groups are shown to differ from all others of the same column: A (race) by "
        f"{MINUS}6 points ({MINUS}11 to {MINUS}2) and B (race) by +1 point (0.2 to 3)."
    )


def test_without_significant_groups_the_furthest_limit_is_stated():
    assert plain(differing([NOT, NOT], BALANCED, make_request())) == (
        "No group is shown to differ from all others of its column, which is not to say that none "
        "does: the limits reach up to 8 points."
    )


def test_undefined_difference_states_no_limit():
    unknown = scored("D", percent(None), gap=difference(None))
    assert differing([unknown], BALANCED, make_request()).endswith("that none does.")


def test_p_value_equal_to_alpha_is_not_significant():
    at = scored("A", percent(59, 54, 63), gap=difference(-6, -11, -2, 0.05))
    assert differing([at], BALANCED, make_request()).startswith("No group is shown")


@pytest.mark.parametrize(
    ("n", "last"), [(8, " and B ("), (9, " and one more."), (10, " and two more.")]
)
def test_at_most_eight_significant_groups_are_named(n, last):
    assert last in plain(differing([TOO] * n, BALANCED, make_request()))


def test_small_groups_are_named():
    assert plain(small_groups([LOW, SMALL], BALANCED, make_request())) == (
        "Of C (race) little can be said: fewer than 30 people with one of the outcomes, and limits "
        "to match."
    )
    nobody = scored("C", percent(20, 1, 50), positives=0)
    said = plain(small_groups([nobody], BALANCED, make_request(min_support=1)))
    assert "fewer than 1 person with" in said


def test_small_groups_sentence_is_empty_without_small_groups():
    assert small_groups([LOW, HIGH], BALANCED, make_request()) == ""


@pytest.mark.parametrize(
    ("n", "last"), [(8, " and C (race)"), (9, " and one more group"), (10, " and two more groups")]
)
def test_at_most_eight_small_groups_are_named(n, last):
    said = plain(small_groups([SMALL] * n, BALANCED, make_request()))
    assert f"{last} little can be said" in said


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
    assert "C (race)" in plain(whom.blocks[1].text)


def test_table_of_two_outcomes_marks_guessing_with_a_dashed_line():
    table = section(audit(model([column([LOW, HIGH])]))).blocks[-1]
    assert "Dashed: guessing." in table.note
    assert table.heads[3].axis.dashed is not None
