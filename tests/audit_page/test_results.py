"""One adjustment of all p-values of a page, and limits of differences that agree with it."""

from itertools import chain

import numpy as np
import polars as pl
import pytest
from scipy.stats import false_discovery_control

from balframe.audit_page.results import Adjustment, adjust_differences
from balframe.audit_page.sections import calibration, impact_figures, models, selection_rates
from tests.support.audits.figures import difference
from tests.support.audits.scored_audits import audit_scores, probabilities
from tests.support.audits.small_audits import audit_of, eight_rows, random_rows

EIGHT = audit_of(eight_rows(), by=["group"], y_pred=["yhat"], options={"counts": "n"})
WITH_DIFFERENCES = (  # of the section of a module
    (calibration, calibration.differences),
    (selection_rates, impact_figures.differences),
    (models, models.differences),
)


def family(audited):
    """Return all tests of a page, of groups and of the sections."""
    of_groups = [model.tests for model in audited.audit.models]
    of_sections = [differences(audited.of(module)) for module, differences in WITH_DIFFERENCES]
    return list(chain(*of_groups, *of_sections))


@pytest.fixture(scope="module")
def scored_audits():
    """Audit probabilities that are equally right in all groups, and some that are not."""
    audits = []
    for seed in range(4):
        rows = probabilities(1200, seed, decimals=2)
        shift = pl.Series(np.random.default_rng(seed).random(1200) < 0.15 * seed)
        y = rows["y"].zip_with((rows["g"] != "b") | ~shift, pl.Series([1] * 1200))
        audits.append(audit_scores(rows.with_columns(y=y)))
    return audits


@pytest.mark.any_version
def test_the_family_is_all_p_values_of_the_page(compas_audit, random_audits, scored_audits):
    n_checked = 0
    for audited in (compas_audit, *random_audits, *scored_audits):
        tested = [test for test in family(audited) if test.p is not None]
        expected = false_discovery_control([test.p for test in tested]) if tested else []
        assert [test.p_adjusted for test in tested] == pytest.approx(list(expected))
        assert all(test.p_adjusted is None for test in family(audited) if test.p is None)
        adjustment = audited.audit.adjustment
        assert adjustment.n_tests == len(tested)
        assert adjustment.n_significant == sum(p < 0.05 for p in expected)
        n_checked += len(tested)
    assert n_checked > 300


@pytest.mark.any_version
def test_limits_exclude_no_difference_exactly_where_a_difference_is_established(
    compas_audit, random_audits, scored_audits
):
    """Limits of one level, 1 less the largest p-value that is established, decide as BH does."""
    n_established = n_others = 0
    for audited in (compas_audit, *random_audits, *scored_audits):
        ratios = {id(test) for test in impact_figures.differences(audited.of(selection_rates))}
        threshold = 1 - audited.audit.adjustment.level
        for test in family(audited):
            if test.p is None or not test.estimate.has_limits:
                continue
            same = 1.0 if id(test) in ratios else 0.0
            is_excluded = test.estimate.lower > same or test.estimate.upper < same
            assert is_excluded == test.is_significant == (test.p < threshold), test
            n_established += is_excluded
            n_others += not is_excluded
    assert n_established > 40
    assert n_others > 200


def test_level_of_limits_counts_the_tests_that_are_significant():
    """Two of four p-values are below their threshold, so limits are at 1 - 2 * 0.05 / 4."""
    tests = [difference(5, p_adjusted=p) for p in (0.001, 0.02, 0.3, 0.9)]
    adjustment = adjust_differences({"models": tests[:1], "periods": tests[1:]}, 0.05)
    assert adjustment == Adjustment({"models": 1, "periods": 3}, 2, 0.05)
    assert adjustment.kinds == "1 of models, 3 of periods"
    assert adjustment.level == pytest.approx(0.975)
    assert Adjustment({"models": 4}, 0, 0.05).level == pytest.approx(1 - 0.05 / 4)
    assert Adjustment({}, 0, 0.05).level == pytest.approx(0.95)


def test_small_groups_are_not_tested(compas_audit):
    model = compas_audit.model
    _, race, _ = model.columns
    small = {group.value for group in race.groups if group.n_rarest < 30}
    assert small == {"Asian", "Native American"}
    for rate in model.rates.compared:
        assert {*race.comparisons[rate].differences} == {
            group.value for group in race.groups if group.value not in small
        }


def test_compas_page_adjusts_45_tests(compas_audit):
    """Two sexes are one test of each of six rates; four races and three ages are compared.

    Each race and age is compared with all others in three rates, and any two of them in the five
    rates but balanced accuracy. The highest of three columns and small groups have no ratio.
    """
    n_ratios = (2 - 1) + (4 - 1) + (3 - 1)
    tested = [test for test in family(compas_audit) if test.p is not None]
    assert len(tested) == 6 + (4 * 3 + 5) + (3 * 3 + 5) + n_ratios


def test_two_groups_are_one_test_of_each_rate():
    """Of three rates in which each is compared, and of accuracy, precision and prevalence."""
    column = EIGHT.model.columns[0]
    for rate, comparison in column.comparisons.items():
        (test,) = comparison.tests
        distance = comparison.extremes.distance
        if rate.is_compared:
            assert comparison.spread is None
            (value,) = comparison.differences
            others = [group.rates[rate].value for group in column.groups if group.value != value]
            own = next(group.rates[rate].value for group in column.groups if group.value == value)
            assert test.estimate.value == pytest.approx(own - others[0])
            assert own >= others[0]
        else:
            assert test is comparison.spread
            assert test.estimate.value == pytest.approx(distance.value)
    assert len(column.comparisons) == 6


def test_models_and_their_differences_are_in_one_family():
    audited = audit_of(random_rows(12), y_pred=("p", "q"), by=["h"])
    assert len(audited.of(models)) == 1
    of_groups = [len(list(model.tests)) for model in audited.audit.models]
    of_ratios = list(impact_figures.differences(audited.of(selection_rates)))
    assert len(family(audited)) == sum(of_groups) + len(of_ratios) + 2


def test_difference_without_a_p_value_is_not_adjusted():
    tests = [difference(5, p_adjusted=p) for p in (0.01, None, 0.04)]
    adjust_differences({"models": tests}, 0.05)
    assert [test.p_adjusted for test in tests] == [pytest.approx(0.02), None, pytest.approx(0.04)]
    adjust_differences({}, 0.05)


@pytest.mark.parametrize(("p", "is_established"), [(0.0499, True), (0.05, False), (None, False)])
def test_difference_is_significant_only_below_alpha(p, is_established):
    assert difference(5, p_adjusted=p).is_significant == is_established
