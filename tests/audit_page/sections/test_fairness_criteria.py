"""Named criteria: each sentence with both outcomes."""

from fractions import Fraction

import pytest

from balframe.audit_page.groups import NOT_COMPARED
from balframe.audit_page.results import LeftOut
from balframe.audit_page.sections import fairness_criteria
from balframe.audit_page.sections.fairness_criteria import ColumnCriteria, section
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
    "In the share re-arrested, by race no two groups are shown to differ; the data leave room for "
    "up to 9 points, so that it stays open whether the criteria exclude each other there."
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


@pytest.mark.parametrize("prevalences", [(Fraction(1, 4), Fraction(1, 2))])
def test_criteria_are_met_together_only_if_precision_is_0_or_1(prevalences):
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
    """Make a row of `fairness`, in percent."""
    numbers = (low, high, high - low, lower, upper)
    names = ("lowest", "highest", "estimate", "lower", "upper")
    shares = {name: number / 100 for name, number in zip(names, numbers, strict=True)}
    groups = {"lowest_by0": "A", "highest_by0": "B", "n_segments": 2}
    return {"criterion": name, "metric": metric, **shares, **groups}


def rows(*criteria):
    races = model([column(GROUPS, prevalence=DIFFER)])
    table = section(audit(races), [[ColumnCriteria(0, criteria)]]).blocks[2]
    return table.groups[0].rows


def test_criterion_row_states_the_compared_rate_and_its_gap():
    (row,) = rows(criterion("equal_opportunity", "recall", 32, 72, 26, 52))
    assert (row.heading, plain(row.note)) == (
        "Equal opportunity",
        "called high risk, of those re-arrested",
    )
    assert [(plain(cell.text), cell.limits) for cell in row.cells] == [
        ("40", "26 to 52"),
        ("32% A, 72% B", ""),
    ]


def test_equalized_odds_names_the_larger_of_its_two_gaps():
    (row,) = rows(criterion("equalized_odds", "false_positive_rate", 15, 45, 0.04, 38))
    assert plain(row.note) == (
        "the larger gap of two, here called high risk, of those not re-arrested"
    )
    assert row.cells[0].limits == "0.04 to 38"


def test_criterion_row_states_that_too_few_groups_are_comparable():
    unknown = dict.fromkeys(("estimate", "lower", "upper"))
    names = {"criterion": "accuracy_equality", "metric": "accuracy", "n_segments": 1}
    (row,) = rows({**names, **unknown})
    assert [cell.text for cell in row.cells] == ["too few groups to compare", ""]
    (row,) = rows()  # no group is large enough
    assert [row.heading, *(cell.text for cell in row.cells)] == [
        "All criteria",
        "too few groups to compare",
        "",
    ]


def test_section_is_left_out_without_groups_or_two_outcomes():
    assert isinstance(section(audit(model(), by=[]), [[]]), LeftOut)
    assert isinstance(section(audit(model(cells=THREE)), [[]]), LeftOut)


def test_criteria_of_compas_are_gaps_between_the_furthest_groups(compas_audit):
    """Selected of each race: 2,174 of 3,696 African-Americans and 79 of 377 others."""
    ((sex, race, _),) = compas_audit.of(fairness_criteria)
    by_name = {row["criterion"]: row for row in race.rows}
    parity, accuracy = by_name["demographic_parity"], by_name["accuracy_equality"]
    assert parity["estimate"] == pytest.approx(2174 / 3696 - 79 / 377)
    assert (parity["lowest_by1"], parity["lowest"]) == ("Other", pytest.approx(79 / 377))
    assert parity["highest_by1"] == "African-American"
    assert parity["highest"] == pytest.approx(2174 / 3696)
    groups = {accuracy["lowest_by1"], accuracy["highest_by1"]}
    assert groups == {"African-American", "Caucasian"}
    assert [row["criterion"] for row in sex.rows] == [
        "demographic_parity",
        "equal_opportunity",
        "equalized_odds",
        "predictive_parity",
        "accuracy_equality",
    ]


def test_small_groups_of_compas_are_never_lowest_or_highest(compas_audit):
    ((_, race, _),) = compas_audit.of(fairness_criteria)
    ends = {row[f"{end}_by1"] for row in race.rows for end in ("lowest", "highest")}
    assert not ends & {"Asian", "Native American"}
