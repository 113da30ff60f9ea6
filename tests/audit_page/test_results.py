"""One adjustment of all p-values of a page, by the method of Benjamini and Hochberg."""

import pytest
from scipy.stats import false_discovery_control

from balframe.audit_page.results import adjust_differences
from balframe.audit_page.sections import calibration, models, selection_rates
from tests.support.audits.figures import difference
from tests.support.audits.small_audits import audit_of, random_rows


def family(audited):
    """Return all differences that the page shows, of groups and of the sections."""
    models_and_sections = [model.differences for model in audited.audit.models]
    for module in (calibration, selection_rates, models):
        models_and_sections.append(module.differences(audited.of(module)))
    return [difference for some in models_and_sections for difference in some]


@pytest.mark.any_version
def test_the_family_is_all_p_values_of_the_page(compas_audit, random_audits):
    n_checked = 0
    for audited in (compas_audit, *random_audits):
        tested = [one for one in family(audited) if one.p is not None]
        expected = false_discovery_control([one.p for one in tested]) if tested else []
        assert [one.p_adjusted for one in tested] == pytest.approx(list(expected))
        assert all(one.p_adjusted is None for one in family(audited) if one.p is None)
        n_checked += len(tested)
    assert n_checked > 300


def test_p_values_of_small_groups_are_in_the_family(compas_audit):
    model = compas_audit.model
    small = [one for one in model.columns[1].groups if one.n_rarest < 30]
    assert {one.value for one in small} == {"Asian", "Native American"}
    for group in small:
        assert all(one.p_adjusted is not None for one in group.differences.values())


def test_compas_page_adjusts_33_differences_and_6_selection_ratios(compas_audit):
    """Eleven groups in three rates; the highest of three columns and small groups have no ratio."""
    tested = [one for one in family(compas_audit) if one.p is not None]
    assert len(tested) == 11 * 3 + (2 - 1) + (4 - 1) + (3 - 1)


def test_models_and_their_differences_are_in_one_family():
    audited = audit_of(random_rows(12), y_pred=("p", "q"), by=["h"])
    assert len(audited.of(models)) == 1
    of_groups = [len(list(model.differences)) for model in audited.audit.models]
    of_ratios = list(selection_rates.differences(audited.of(selection_rates)))
    assert len(family(audited)) == sum(of_groups) + len(of_ratios) + 2


def test_difference_without_a_p_value_is_not_adjusted():
    found = [difference(5, p_adjusted=p) for p in (0.01, None, 0.04)]
    adjust_differences(found, 0.05)
    assert [one.p_adjusted for one in found] == [pytest.approx(0.02), None, pytest.approx(0.04)]
    adjust_differences([], 0.05)


@pytest.mark.parametrize(("p", "is_shown"), [(0.0499, True), (0.05, False), (None, False)])
def test_difference_is_significant_only_below_alpha(p, is_shown):
    assert difference(5, p_adjusted=p).is_significant == is_shown
