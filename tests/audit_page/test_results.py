"""One adjustment of all p-values of a page, by the method of Benjamini and Hochberg."""

import pytest
from scipy.stats import false_discovery_control

from audit_page.audited_frames import PLAIN, answered, asked_of, random_rows
from audit_page.figures_by_hand import difference
from balframe.audit_page.results import adjust


def family(answers):
    """List all p-values of differences, walking the answers as a reader walks the page."""
    found = []
    for model in answers.models:
        for column in model.columns:
            for group in column.groups:
                found += group.differences.values()
        for selections in model.selections:
            if selections is not None:
                found += [one.difference for one in selections.categories]
        if model.score is not None:
            found += model.score.differences
    for pair in answers.pairs:
        found += pair.differences
    return found


@pytest.mark.slow
def test_the_family_is_all_p_values_of_the_page(compas_audit, random_audits):
    n_checked = 0
    for answers, _ in (compas_audit, *random_audits):
        tested = [one for one in family(answers) if one.p is not None]
        expected = false_discovery_control([one.p for one in tested]) if tested else []
        assert [one.adjusted for one in tested] == pytest.approx(list(expected))
        assert all(one.adjusted is None for one in family(answers) if one.p is None)
        n_checked += len(tested)
    assert n_checked > 300


def test_p_values_of_small_groups_are_in_the_family(compas_audit):
    (model,) = compas_audit[0].models
    small = [one for one in model.columns[1].groups if one.n_rarest < 30]
    assert {one.value for one in small} == {"Asian", "Native American"}
    for group in small:
        assert all(one.adjusted is not None for one in group.differences.values())


def test_compas_counts_33_differences_of_groups_and_6_of_selections(compas_audit):
    """Eleven groups in three rates; the highest of three columns and small groups have no ratio."""
    tested = [one for one in family(compas_audit[0]) if one.p is not None]
    assert len(tested) == 11 * 3 + (2 - 1) + (4 - 1) + (3 - 1)


def test_models_and_their_differences_are_in_one_family():
    wanted = asked_of(y_pred=("p", "q"), by=["h"], words=PLAIN)
    answers, _ = answered(random_rows(12), wanted)
    assert len(answers.pairs) == 1
    both = [len(list(model.differences)) for model in answers.models]
    assert len(family(answers)) == sum(both) + 2


def test_a_difference_without_a_p_value_is_left_out():
    found = [difference(5, adjusted=p) for p in (0.01, None, 0.04)]
    adjust(found)
    assert [one.adjusted for one in found] == [pytest.approx(0.02), None, pytest.approx(0.04)]
    adjust([])


@pytest.mark.parametrize(("p", "is_shown"), [(0.0499, True), (0.05, False), (None, False)])
def test_a_difference_is_shown_below_the_level(p, is_shown):
    wanted = asked_of()
    assert wanted.alpha == 0.05
    assert difference(5, adjusted=p).is_shown(wanted.alpha) == is_shown
