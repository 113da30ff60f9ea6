"""Whether differences are more than chance: each sentence with both outcomes."""

import pytest

from balframe.audit_page.results import Adjustment, LeftOut
from balframe.audit_page.sections.significance import (
    ESTABLISHED,
    harm_sentence,
    introduction,
    section,
    summary,
)
from tests.support.audits.figures import FPR, audit, column, difference, group, model, plain
from tests.support.audits.small_audits import COMPAS, audit_of, eight_rows
from tests.support.cases import cases

MINUS = "\N{MINUS SIGN}"
MORE = difference(26, 22, 30, 0.0001)
LESS = difference(-24, -31, -7, 0.018)
NOT = difference(3, -4, 10, 0.4)
UNKNOWN = difference(None)
TITLE = "Called high risk, but not re-arrested: "


def compared(*tests, **named):
    """Make a model with differences in the false positive rate, by value."""
    differences = {**{f"g{i:02}": test for i, test in enumerate(tests)}, **named}
    groups = [group(value) for value in differences]
    return model([column(groups, differences={FPR.metric: differences})])


@cases(
    ("tests", "said"),
    [
        ([], "No group could be compared with the others."),
        ([UNKNOWN], "No group could be compared with the others."),
        (
            [NOT, NOT],
            "Of 2 comparisons of a group with all others in an error rate, none establish a "
            "difference.",
        ),
        (
            [MORE, NOT],
            "Of 2 comparisons of a group with all others in an error rate, one establishes a "
            "difference.",
        ),
        (
            [MORE, LESS, NOT, UNKNOWN],
            "Of 3 comparisons of a group with all others in an error rate, two establish a "
            "difference.",
        ),
        (
            [MORE],
            "The only comparison of groups in an error rate establishes a difference.",
        ),
        (
            [NOT],
            "The only comparison of groups in an error rate does not establish a difference.",
        ),
    ],
)
def test_summary_counts_significant_comparisons(tests, said):
    assert summary(compared(*tests)) == [said]


def test_introduction_counts_comparisons_and_says_what_is_established():
    start = "Even if all groups had the same rates, their numbers would differ a little by chance. "
    assert introduction(Adjustment({}, 0, 0.05)) == f"{start}Here nothing could be compared."
    assert introduction(Adjustment({"models": 1}, 0, 0.01)) == (
        f"{start}This page makes a single comparison. It calls the difference established where "
        "its p-value is below 0.01."
    )
    kinds = {"rates of groups": 1190, "models": 0, "impact ratios": 10}
    assert introduction(Adjustment(kinds, 13, 0.05)) == (
        f"{start}This page calls a difference established where its p-value, adjusted for all "
        "1,200 comparisons on the page (1,190 of rates of groups, 10 of impact ratios), is below "
        "0.05. The confidence intervals of differences are widened for the same comparisons, so "
        "that they leave out zero exactly where the difference is established. Each group is "
        "compared with all other groups of the same kind that are large enough."
    )


def listed(*tests, **named):
    """Return the sentence on the false positive rate."""
    return plain(section(audit(compared(*tests, **named))).blocks[1].text)


def test_significant_groups_are_sorted_by_difference():
    more, less = "C (race), +26 points (22 to 30)", f"A (race), {MINUS}24 points ({MINUS}31 to "
    less = f"{less}{MINUS}7)"
    assert listed(A=LESS, B=NOT, C=MORE) == (
        f"{TITLE}more often for {more}; and less often for {less}."
    )
    assert listed(D=difference(5, 1, 9, 0.01), A=LESS, C=MORE) == (
        f"{TITLE}more often for {more} and D (race), +5 points (1 to 9); and less often for {less}."
    )
    assert listed(B=NOT, C=MORE) == f"{TITLE}more often for {more}."
    assert listed(A=LESS, B=NOT) == f"{TITLE}less often for {less}."


def test_list_of_groups_states_that_none_is_significant():
    assert listed(A=NOT, B=UNKNOWN) == (
        f"{TITLE}no difference of a group from all others is established."
    )


@pytest.mark.parametrize(
    ("n", "last"), [(12, "30)."), (13, "one more group."), (14, "two more groups.")]
)
def test_at_most_twelve_groups_are_listed(n, last):
    said = listed(*[MORE] * n)
    assert said.endswith(last)
    assert said.count("(race)") == 12


def test_harm_sentence_names_groups_that_fare_worse_and_better():
    assert plain(harm_sentence(compared(A=LESS, B=NOT, C=MORE), FPR)) == (
        "In “called high risk, but not re-arrested”, compared with all other groups together: "
        "worse for C (race), +26 points (22 to 30); and better for A (race), "
        f"{MINUS}24 points ({MINUS}31 to {MINUS}7)."
    )
    assert plain(harm_sentence(compared(B=NOT), FPR)) == (
        "In “called high risk, but not re-arrested”, no group is established to fare worse."
    )


HARM = "For whom is it worse? In “{}”, compared with all other groups together: worse for {}."


@pytest.mark.parametrize(
    ("favourable", "said"),
    [
        (None, []),
        (
            "not selected",
            [
                HARM.format(
                    "called high risk, but not re-arrested within two years",
                    "yes (group), +13 points (8 to 19)",
                )
            ],
        ),
        (
            "selected",
            [
                HARM.format(
                    "not called high risk, but re-arrested within two years",
                    "no (group), +18 points (5 to 30)",
                )
            ],
        ),
    ],
)
def test_favourable_decides_for_whom_it_is_worse(favourable, said):
    audited = audit_of(
        eight_rows(),
        by=["group"],
        y_pred=["yhat"],
        options={"counts": "n"},
        words=COMPAS,
        favourable=favourable,
    )
    brief = [plain(text) for text in section(audited.audit).brief]
    assert brief == [
        "Of 2 comparisons of a group with all others in an error rate, two establish a difference.",
        *said,
    ]


def test_section_is_left_out_without_group_columns():
    assert isinstance(section(audit(model(), by=[])), LeftOut)


def test_tables_mark_significant_and_small_groups():
    groups = [group("A"), group("B"), group("C", 23), group("E")]
    tests = {"A": MORE, "B": NOT, "E": LESS}
    chance = section(audit(model([column(groups, differences={FPR.metric: tests})])))
    assert ESTABLISHED in [getattr(block, "text", "") for block in chance.blocks]
    rows = chance.blocks[-1].blocks[0].groups[0].rows
    assert [row.differs for row in rows] == [True, False, False, True]
    assert [row.is_small for row in rows] == [False, False, True, False]
    assert [[cell.text for cell in row.cells] for row in rows] == [
        ["100", "+26", "", "<.001"],
        ["100", "+3", "", ".400"],
        ["23", "not compared", "", ""],
        ["100", f"{MINUS}24", "", ".018"],
    ]
    assert [row.cells[1].limits for row in rows] == [
        "22 to 30",
        f"{MINUS}4 to 10",
        "",
        f"{MINUS}31 to {MINUS}7",
    ]
