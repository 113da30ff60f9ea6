"""Named criteria: each sentence with both outcomes."""

from fractions import Fraction

import pytest

from audit_page.figures_by_hand import RATES, apart, audited, column, counted, group, model, plain
from balframe.audit_page.groups import NOT_COMPARED
from balframe.audit_page.measured_criteria import CriterionOf
from balframe.audit_page.numbers import Estimate
from balframe.audit_page.results import LeftOut
from balframe.audit_page.sections.fairness_criteria import criteria

GROUPS = [group("A"), group("B")]
DIFFER = apart(36, 47, 3, 19)
OPEN = apart(36, 40, 0, 9)
CANNOT = (
    "They cannot all be met: where the share re-arrested differs between groups (by race from 36% "
    "for A to 47% for B), equal precision and equal error rates of both kinds exclude each other, "
    "unless all of those called high risk, or none of them, were re-arrested. Which of them should "
    "be equal is not a question that data answer."
)
STAYS_OPEN = (
    "In the share re-arrested, by race no difference is shown; the data leave room for up to 9 "
    "points, so that it stays open whether the criteria exclude each other there."
)


def exclusion(*found, by=("race", "sex")):
    columns = [column(GROUPS, at, prevalence=one) for at, one in enumerate(found)]
    made = model(columns, criteria=[[] for _ in found])
    return plain(criteria(audited(made, by=by)).blocks[1].text)


def test_criteria_exclude_each_other_where_prevalences_are_shown_to_differ():
    assert exclusion(DIFFER) == CANNOT


def test_it_stays_open_where_prevalences_are_not_shown_to_differ():
    assert exclusion(OPEN) == STAYS_OPEN


def test_columns_may_differ_in_this():
    assert exclusion(OPEN, DIFFER) == f"{CANNOT.replace('by race', 'by sex')} {STAYS_OPEN}"


def test_too_few_groups_to_compare_prevalences():
    said = "Too few groups are large enough to compare in the share of outcomes."
    assert exclusion(NOT_COMPARED) == said
    assert exclusion(NOT_COMPARED, DIFFER) == CANNOT.replace("by race", "by sex")


@pytest.mark.parametrize("prevalences", [(Fraction(1, 4), Fraction(1, 2))])
def test_criteria_can_be_met_together_only_if_all_or_none_of_those_called_are_positive(prevalences):
    """Chouldechova 2017: FPR = p / (1 - p) * (1 - PPV) / PPV * TPR."""
    grid = [Fraction(at, 10) for at in range(11)]
    for recall in grid:
        for false_positive_rate in grid:
            called = [p * recall + (1 - p) * false_positive_rate for p in prevalences]
            if not all(called):
                continue
            precisions = [p * recall / all_ for p, all_ in zip(prevalences, called, strict=True)]
            is_equal = precisions[0] == precisions[1]
            assert is_equal == (precisions[0] in (0, 1))


def criterion(name, metric, low, high, lower, upper):
    found = Estimate((high - low) / 100, lower / 100, upper / 100, 2)
    ends = ("A", low / 100), ("B", high / 100)
    return CriterionOf(name, RATES.named(metric), found, *ends)


def rows(*found):
    made = model([column(GROUPS, prevalence=DIFFER)], criteria=[list(found)])
    return criteria(audited(made)).blocks[2].groups[0].rows


def test_each_criterion_says_what_would_be_equal_and_how_far_it_is():
    (row,) = rows(criterion("equal_opportunity", "recall", 32, 72, 26, 52))
    assert (row.heading, plain(row.under)) == (
        "Equal opportunity",
        "called high risk, of those re-arrested",
    )
    assert [(plain(cell.text), cell.limits) for cell in row.cells] == [
        ("40", "26 to 52"),
        ("32% A, 72% B", ""),
    ]


def test_equalized_odds_say_which_gap_is_the_larger():
    (row,) = rows(criterion("equalized_odds", "false_positive_rate", 15, 45, 0.04, 38))
    assert plain(row.under) == (
        "the larger gap of two, here called high risk, of those not re-arrested"
    )
    assert row.cells[0].limits == "0.04 to 38"


def test_a_criterion_of_too_few_groups_says_so():
    missing = CriterionOf(
        "accuracy_equality",
        RATES.named("accuracy"),
        Estimate(None, None, None),
        (None,) * 2,
        (None,) * 2,
    )
    (row,) = rows(missing)
    assert [cell.text for cell in row.cells] == ["too few groups to compare", ""]
    (row,) = rows()  # no group is large enough
    assert [row.heading, *(cell.text for cell in row.cells)] == [
        "All criteria",
        "too few groups to compare",
        "",
    ]


def test_the_section_needs_columns_and_two_outcomes():
    assert isinstance(criteria(audited(model(), by=[])), LeftOut)
    many = counted({(one, one): 5 for one in "abc"}, tuple("abc"), None)
    assert isinstance(criteria(audited(model(read=many))), LeftOut)
