"""Whether differences are more than chance: each sentence with both outcomes."""

import pytest

from balframe.audit_page.results import LeftOut
from balframe.audit_page.sections.significance import (
    NOT_SHOWN,
    introduction,
    section,
    significant_groups,
    summary,
)
from tests.support.audits.figures import FPR, audit, column, difference, group, model, plain
from tests.support.cases import cases

MINUS = "\N{MINUS SIGN}"
MORE = difference(26, 22, 30, 0.0001)
LESS = difference(-24, -31, -7, 0.018)
NOT = difference(3, -4, 10, 0.4)
UNKNOWN = difference(None)


@cases(
    ("tested", "said"),
    [
        ([], "No group could be compared with the others of its column."),
        (
            [NOT, NOT],
            "Of 2 comparisons of a group with all others in an error rate, none is shown to differ "
            "by more than chance explains.",
        ),
        (
            [MORE, NOT],
            "Of 2 comparisons of a group with all others in an error rate, one differs by more "
            "than chance explains.",
        ),
        (
            [MORE, LESS, NOT],
            "Of 3 comparisons of a group with all others in an error rate, two differ by more than "
            "chance explains.",
        ),
    ],
)
def test_summary_counts_significant_comparisons(tested, said):
    assert summary(tested) == said


def test_introduction_counts_comparisons_and_names_the_adjustment():
    start = "Groups nearly always differ in a table. Here "
    assert introduction(0, 0) == f"{start}none could be compared with the others."
    each = f"{start}each group is compared with all others of its column, in every error rate: "
    page = (
        ", with p-values adjusted together with all others on this page (Benjamini and Hochberg). "
    )
    assert introduction(22, 13) == (
        f"{each}22 comparisons{page}In 13 of them the difference is more than chance explains."
    )
    assert introduction(1, 0) == (
        f"{each}one comparison{page}In none of them the difference is shown to be more than chance "
        "explains."
    )


def compared(value, found, negatives=100):
    return group(value, negatives, differences={"false_positive_rate": found})


def test_significant_groups_are_sorted_by_difference():
    groups = [compared("A", LESS), compared("B", NOT), compared("C", MORE)]
    assert plain(significant_groups(groups, FPR)) == (
        f"more often for C (+26, 22 to 30); less often for A ({MINUS}24, {MINUS}31 to {MINUS}7)"
    )
    some = compared("D", difference(5, 1, 9, 0.01))
    assert plain(significant_groups([some, *groups], FPR)).startswith(
        "more often for C (+26, 22 to 30) and D (+5, 1 to 9); less often for A ("
    )
    assert plain(significant_groups(groups[1:], FPR)) == "more often for C (+26, 22 to 30)"
    assert plain(significant_groups(groups[:2], FPR)) == (
        f"less often for A ({MINUS}24, {MINUS}31 to {MINUS}7)"
    )


def test_list_of_groups_states_that_none_is_significant():
    groups = [compared("A", NOT), compared("B", UNKNOWN)]
    assert significant_groups(groups, FPR) == "no group is shown to differ from the others"


@pytest.mark.parametrize(
    ("n", "last"), [(12, "30)"), (13, "one more group"), (14, "two more groups")]
)
def test_at_most_twelve_groups_are_listed(n, last):
    said = plain(significant_groups([compared("A", MORE)] * n, FPR))
    assert said.endswith(last)
    assert said.count("A (") == 12


def test_section_is_left_out_without_group_columns():
    assert isinstance(section(audit(model(), by=[])), LeftOut)


def test_table_marks_significant_and_small_groups():
    groups = [
        compared("A", MORE),
        compared("B", NOT),
        compared("C", LESS, 23),
        compared("D", UNKNOWN, 0),
    ]
    chance = section(audit(model([column(groups)])))
    assert NOT_SHOWN in [getattr(one, "text", "") for one in chance.blocks]
    rows = chance.blocks[-1].blocks[0].groups[0].rows
    assert [row.differs for row in rows] == [True, False, True, False]
    assert [row.is_small for row in rows] == [False, False, True, True]
    assert [[cell.text for cell in row.cells] for row in rows] == [
        ["100", "+26", "", "<.001"],
        ["100", "+3", "", ".400"],
        ["23", f"{MINUS}24", "", ".018"],
        ["0", "undefined", "", "\N{EN DASH}"],
    ]
    assert [row.cells[1].limits for row in rows[1:]] == [
        f"{MINUS}4 to 10",
        f"{MINUS}31 to {MINUS}7",
        "",
    ]


def test_comparisons_of_small_groups_count_and_undefined_ones_do_not():
    groups = [compared("A", MORE), compared("C", LESS, 23), compared("D", UNKNOWN, 0)]
    chance = section(audit(model([column(groups)])))
    # three groups in two errors, less the one that is undefined
    assert chance.brief[0].startswith("Of 5 comparisons of a group with all others")
    assert "two differ by" in chance.brief[0]
