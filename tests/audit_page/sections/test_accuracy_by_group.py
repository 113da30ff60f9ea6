"""For whom calls are right more or less often: each sentence with both outcomes."""

import pytest

from audit_page.figures_by_hand import (
    BALANCED,
    asked,
    audited,
    column,
    difference,
    group,
    model,
    of,
    plain,
)
from balframe.audit_page.results import LeftOut
from balframe.audit_page.sections.accuracy_by_group import differing, ranking, small_groups, whom

MINUS = "\N{MINUS SIGN}"


def members(*groups):
    return [(column(groups), one) for one in groups]


def scored(value, rate, *, positives=100, gap=None):
    """Make a group with a balanced accuracy and its difference from all others."""
    gaps = {} if gap is None else {"balanced_accuracy": gap}
    return group(value, 100, positives, 50, {"balanced_accuracy": rate}, gaps)


LOW, HIGH = scored("A", of(59, 54, 63)), scored("B", of(65, 64, 66))
SMALL = scored("C", of(20, 1, 50), positives=29)


def test_the_lowest_and_the_highest_are_named_with_limits():
    assert plain(ranking(members(HIGH, LOW, SMALL), BALANCED, asked())) == (
        "Among the 2 groups large enough to rank, balanced accuracy lies between 59% (54 to 63), "
        "for A (race), and 65% (64 to 66), for B (race)."
    )


def test_fewer_than_two_groups_are_not_ranked():
    said = "Fewer than two groups are large enough to rank."
    assert ranking(members(LOW, SMALL), BALANCED, asked()) == said
    undefined = scored("D", of(None))
    assert ranking(members(LOW, undefined), BALANCED, asked()) == said


SHOWN = scored("A", of(59, 54, 63), gap=difference(-6, -11, -2, 0.004))
TOO = scored("B", of(65, 64, 66), gap=difference(1, 0.2, 3, 0.02))
NOT = scored("C", of(64, 60, 66), gap=difference(2, -4, 8, 0.4))


def test_one_group_is_shown_to_differ():
    assert plain(differing(members(SHOWN, NOT), BALANCED, asked())) == (
        f"One group is shown to differ from all others of the same column: A (race) by {MINUS}6 "
        f"points ({MINUS}11 to {MINUS}2). For the others no difference is shown, which is not to "
        "say that there is none: the limits reach up to 8 points."
    )


def test_all_groups_are_shown_to_differ():
    assert plain(differing(members(SHOWN, TOO), BALANCED, asked())) == (
        "Two groups are shown to differ from all others of the same column: A (race) by "
        f"{MINUS}6 points ({MINUS}11 to {MINUS}2) and B (race) by +1 point (0.2 to 3)."
    )


def test_no_group_is_shown_to_differ():
    assert plain(differing(members(NOT, NOT), BALANCED, asked())) == (
        "No group is shown to differ from all others of its column, which is not to say that none "
        "does: the limits reach up to 8 points."
    )


def test_no_room_is_said_where_no_limits_are_known():
    unknown = scored("D", of(None), gap=difference(None))
    assert differing(members(unknown), BALANCED, asked()).endswith("that none does.")


def test_a_difference_at_the_level_is_not_shown():
    at = scored("A", of(59, 54, 63), gap=difference(-6, -11, -2, 0.05))
    assert differing(members(at), BALANCED, asked()).startswith("No group is shown")


@pytest.mark.parametrize(
    ("n", "last"), [(8, " and B ("), (9, " and one more."), (10, " and two more.")]
)
def test_at_most_eight_groups_are_named(n, last):
    assert last in plain(differing(members(*[TOO] * n), BALANCED, asked()))


def test_small_groups_are_named():
    assert plain(small_groups(members(LOW, SMALL), BALANCED, asked())) == (
        "Of C (race) little can be said: fewer than 30 people with one of the outcomes, and limits "
        "to match."
    )
    one = asked(min_support=1)
    nobody = scored("C", of(20, 1, 50), positives=0)
    assert "fewer than 1 person with" in plain(small_groups(members(nobody), BALANCED, one))


def test_without_small_groups_nothing_is_said():
    assert small_groups(members(LOW, HIGH), BALANCED, asked()) == ""


@pytest.mark.parametrize(
    ("n", "last"), [(8, " and C (race)"), (9, " and one more group"), (10, " and two more groups")]
)
def test_at_most_eight_small_groups_are_named(n, last):
    said = plain(small_groups(members(*[SMALL] * n), BALANCED, asked()))
    assert f"{last} little can be said" in said


def test_the_section_needs_columns():
    found = whom(audited(model(), by=[]))
    assert found == LeftOut(found.question, "no columns of groups were given")


def test_the_table_shows_small_groups_hollow():
    section = whom(audited(model([column([LOW, HIGH, SMALL])])))
    table = section.blocks[-1]
    assert [row.is_small for row in table.groups[0].rows] == [False, False, True]
    assert [row.cells[1].text for row in table.groups[0].rows] == ["59%", "65%", "20%"]
    assert [row.cells[1].limits for row in table.groups[0].rows] == [
        "54 to 63",
        "64 to 66",
        "1 to 50",
    ]
    assert [row.cells[0].text for row in table.groups[0].rows] == ["100", "100", "29"]
    assert "C (race)" in plain(section.blocks[1].text)


def test_guessing_is_dashed_where_there_are_two_outcomes():
    table = whom(audited(model([column([LOW, HIGH])]))).blocks[-1]
    assert "Dashed: guessing." in table.under
    assert table.heads[3].axis.dashed is not None
