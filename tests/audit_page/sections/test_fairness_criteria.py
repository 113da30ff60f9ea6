"""Named criteria: each sentence with both outcomes."""

from fractions import Fraction

import polars as pl
import pytest

import balframe as bf
from balframe.audit_page.groups import NOT_COMPARED
from balframe.audit_page.numbers import DISTANCE
from balframe.audit_page.results import LeftOut
from balframe.audit_page.sections import fairness_criteria
from balframe.audit_page.sections.fairness_criteria import precision_summary, section
from tests.support.audits.figures import (
    THREE,
    apart,
    audit,
    column,
    group,
    model,
    plain,
    with_request,
)
from tests.support.audits.small_audits import audit_of, eight_rows

GROUPS = [group("A"), group("B")]
DIFFER = apart(36, 47, 3, 19)
OPEN = apart(36, 40, 0, 9)
CANNOT = (
    "They cannot all be met: where the share re-arrested differs between groups (by race, from "
    "36% for A to 47% for B), equal precision and equal error rates of both kinds exclude each "
    "other, unless all of those called high risk, or none of them, were re-arrested. Which of "
    "them should be equal is not a question that data can answer."
)
STAYS_OPEN = (
    "In the share re-arrested, by race, no difference is established; it may be up to 9 points, "
    "so it is not decided whether the criteria exclude each other there. They do where groups "
    "differ in this share."
)


def exclusion(*prevalences):
    columns = [column(GROUPS, i, prevalence=one) for i, one in enumerate(prevalences)]
    return plain(fairness_criteria.exclusion(with_request(model(columns), by=["race", "sex"])))


def test_criteria_exclude_each_other_if_prevalence_differs_significantly():
    assert exclusion(DIFFER) == CANNOT


def test_exclusion_is_undecided_without_significant_prevalence_difference():
    assert exclusion(OPEN) == STAYS_OPEN


def test_exclusion_is_stated_for_each_column():
    assert exclusion(OPEN, DIFFER) == f"{CANNOT.replace('by race', 'by sex')} {STAYS_OPEN}"


def test_exclusion_states_that_too_few_groups_are_comparable():
    said = "Too few groups are large enough to compare in the share of outcomes."
    assert exclusion(NOT_COMPARED) == said
    assert exclusion(NOT_COMPARED, DIFFER) == CANNOT.replace("by race", "by sex")


def test_summary_states_the_precision_of_the_groups_of_each_column():
    far, near = apart(50, 62, 3, 20), apart(50, 62, 0, 20)
    columns = [column(GROUPS, i, precision=one) for i, one in enumerate([far, near, NOT_COMPARED])]
    made = with_request(model(columns), by=["race", "sex", "age"])
    (said,) = precision_summary(made)
    assert plain(said) == (
        "How far apart are groups in the share re-arrested, of those called high risk? By race, "
        "12 points (3 to 20), from 50% for A to 62% for B; by sex, no difference is established; "
        "it may be up to 20 points."
    )
    assert precision_summary(model([column(GROUPS, precision=NOT_COMPARED)])) == []


@pytest.mark.parametrize("prevalences", [(Fraction(1, 4), Fraction(1, 2))])
def test_criteria_are_met_together_only_if_precision_is_0_or_1(prevalences):
    """Chouldechova 2017: FPR = p / (1 - p) * (1 - PPV) / PPV * TPR."""
    grid = [Fraction(at, 10) for at in range(11)]
    for recall in grid:
        for false_positive_rate in grid:
            predicted = [p * recall + (1 - p) * false_positive_rate for p in prevalences]
            if not all(predicted):
                continue
            precisions = [p * recall / all_ for p, all_ in zip(prevalences, predicted, strict=True)]
            is_equal = precisions[0] == precisions[1]
            assert is_equal == (precisions[0] in (0, 1))


def rows(**extremes):
    """Return the rows of a column, by criterion."""
    races = model([column(GROUPS, prevalence=DIFFER, **extremes)])
    table = section(audit(races)).blocks[2]
    return {row.heading: row for row in table.groups[0].rows}


def texts(row):
    return [(plain(cell.text), cell.limits) for cell in row.cells]


FALSE_POSITIVES = apart(15, 45, 21, 38)
MISSES = apart(28, 68, 26, 52, "B", "A")


def test_criteria_compare_the_rates_that_they_ask_to_be_equal():
    by_name = rows(
        false_positive_rate=FALSE_POSITIVES,
        false_negative_rate=MISSES,
        precision=apart(50, 62, 0, 20),
        accuracy=apart(60, 66, 2, 9),
    )
    assert {name: (plain(row.note), texts(row)) for name, row in by_name.items()} == {
        "Equal opportunity": (
            "called high risk, of those re-arrested",
            [("40", "26 to 52"), ("32% A, 72% B", "")],
        ),
        "Equalized odds": (
            "both called high risk, of those re-arrested, and called high risk, of those not "
            "re-arrested",
            [("40", "26 to 52"), ("32% A, 72% B", "")],
        ),
        "Predictive parity": (
            "re-arrested, of those called high risk",
            [("12", "0 to 20"), ("50% A, 62% B", "")],
        ),
        "Accuracy equality": (
            "right predictions, of all",
            [("6", "2 to 9"), ("60% A, 66% B", "")],
        ),
    }


def test_equalized_odds_has_the_larger_difference_of_two_and_of_each_limit():
    """One of two errors differs by more, and the limits of the other are wider."""
    by_name = rows(false_positive_rate=apart(15, 45, 10, 60), false_negative_rate=MISSES)
    assert texts(by_name["Equalized odds"])[0] == ("40", "26 to 60")
    by_name = rows(false_positive_rate=FALSE_POSITIVES, false_negative_rate=apart(28, 40, 0.04, 52))
    assert texts(by_name["Equalized odds"]) == [("30", "21 to 52"), ("15% A, 45% B", "")]
    by_name = rows(false_positive_rate=FALSE_POSITIVES)  # and not the other half
    assert texts(by_name["Equalized odds"])[0] == ("too few groups to compare", "")


def test_criterion_row_states_that_too_few_groups_are_comparable():
    assert [texts(row) for row in rows(accuracy=apart(60, 66, 2, 9)).values()] == [
        *[[("too few groups to compare", ""), ("", "")]] * 3,
        [("6", "2 to 9"), ("60% A, 66% B", "")],
    ]


def test_section_is_left_out_without_groups_or_two_outcomes():
    assert isinstance(section(audit(model(), by=[])), LeftOut)
    assert isinstance(section(audit(model(cells=THREE))), LeftOut)


def criteria_of(audited, number):
    """Return the texts of the rows of a column, by criterion."""
    table = section(audited.audit).blocks[-1]
    return {row.heading: texts(row) for row in table.groups[number].rows}


def test_criteria_of_compas_are_gaps_between_the_furthest_groups(compas_audit):
    """Recall is 1,369 of 1,901 African-Americans and 43 of 133 others."""
    people = bf.datasets.compas_by_age_and_sex()
    counts = {
        race: {
            predicted: cells.filter(pl.col("high_risk") == predicted)["n"].sum()
            for predicted in (0, 1)
        }
        for (race,), cells in people.filter(pl.col("reoffended") == 1).group_by("race")
    }
    recalls = {race: n[1] / (n[0] + n[1]) for race, n in counts.items() if n[0] + n[1] >= 30}
    low, high = min(recalls, key=recalls.get), max(recalls, key=recalls.get)
    (number, _), (between, _) = criteria_of(compas_audit, 1)["Equal opportunity"]
    assert number == f"{100 * (recalls[high] - recalls[low]):.0f}"
    assert between == f"{100 * recalls[low]:.0f}% {low}, {100 * recalls[high]:.0f}% {high}"
    assert (low, high) == ("Other", "African-American")


def test_criteria_have_the_limits_of_the_errors(compas_audit):
    """Equal opportunity is about recall, whose differences are those of the misses."""
    model = compas_audit.model
    misses = model.rates.by_metric("false_negative_rate")
    for compared in model.columns:
        distance = compared.extremes(misses).distance
        (_, limits), _ = criteria_of(compas_audit, compared.number)["Equal opportunity"]
        assert limits == DISTANCE.limits(distance)


def test_small_groups_of_compas_are_never_lowest_or_highest(compas_audit):
    names = " ".join(between for _, (between, _) in criteria_of(compas_audit, 1).values())
    assert "African-American" in names
    assert "Asian" not in names
    assert "Native American" not in names


def test_one_conclusion_about_an_error_is_in_all_sections():
    """The misses of two groups differ by 18 points, with the same limits in four sections."""
    audited = audit_of(eight_rows(), by=["group"], y_pred=["yhat"], options={"counts": "n"})
    by_key = {part.key: part for part in audited.document.sections}
    assert criteria_of(audited, 0)["Equal opportunity"][0] == ("18", "5 to 30")
    errors = " ".join(plain(text) for text in by_key["errors"].brief)
    assert "from 39% for yes to 57% for no had not been predicted 1, 18 points apart (5 to 30)" in (
        errors
    )
    paragraphs = [plain(getattr(block, "text", "")) for block in by_key["errors"].blocks]
    assert any("By group, 18 points (5 to 30), from 39%" in text for text in paragraphs)
    chance = [plain(getattr(block, "text", "")) for block in by_key["chance"].blocks]
    assert "Not predicted 1, but labelled 1: more often for no (group), +18 points (5 to 30)." in (
        chance
    )
    (row,) = by_key["chance"].blocks[-1].blocks[1].groups[0].rows
    assert plain(row.heading) == "no less yes"
    assert (row.cells[1].text, row.cells[1].limits, row.differs) == ("+18", "5 to 30", True)
