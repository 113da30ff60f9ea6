"""What an audit measures, beside published figures and independent formulas."""

from math import sqrt

import polars as pl
import pytest
from scipy.stats import norm

from balframe.audit_page.groups import NOT_COMPARED
from tests.support.audits.small_audits import audit_of
from tests.support.cases import cases


def group_of(audited, number, value):
    return next(one for one in audited.model.columns[number].groups if one.value == value)


def rate(audited, metric, number=None, value=None):
    model = audited.model
    group = model.overall if number is None else group_of(audited, number, value)
    return group.rates[model.rates.by_metric(metric)]


def wilson(k, n, level=0.95):
    """Return the limits of Wilson (1927)."""
    z = norm.ppf((1 + level) / 2)
    middle, half = (k + z * z / 2), z * sqrt(k * (n - k) / n + z * z / 4)
    return (middle - half) / (n + z * z), (middle + half) / (n + z * z)


def test_compas_has_the_published_rates(compas_audit):
    """Larson et al. (ProPublica 2016): accuracy, and false positive rates by race."""
    audited = compas_audit
    assert rate(audited, "accuracy").value == pytest.approx(0.65, abs=0.005)
    black = rate(audited, "false_positive_rate", 1, "African-American")
    white = rate(audited, "false_positive_rate", 1, "Caucasian")
    assert black.value == pytest.approx(0.4485, abs=0.00005)
    assert white.value == pytest.approx(0.2345, abs=0.00005)
    assert (black.n, white.n) == (1795, 1488)


@cases(
    ("metric", "k", "n"),
    [
        ("false_positive_rate", 1282, 3963),
        ("false_negative_rate", 1216, 3251),
        ("accuracy", 2681 + 2035, 7214),
        ("precision", 2035, 3317),
        ("prevalence", 3251, 7214),
        ("selection_rate", 3317, 7214),
    ],
)
def test_limits_are_those_of_wilson(compas_audit, metric, k, n):
    """The counts are those of the confusion matrix that ProPublica published."""
    found = rate(compas_audit, metric)
    assert (found.value, found.n) == (pytest.approx(k / n), n)
    assert (found.lower, found.upper) == pytest.approx(wilson(k, n))


def test_the_balanced_accuracy_is_the_mean_of_recall_and_specificity(compas_audit):
    found = rate(compas_audit, "balanced_accuracy")
    assert found.value == pytest.approx((2035 / 3251 + 2681 / 3963) / 2)
    assert found.n == 3251


def test_small_groups_of_compas_are_never_lowest_or_highest(compas_audit):
    model = compas_audit.model
    race = model.columns[1]
    small = {one.value for one in race.groups if one.n_rarest < 30}
    assert small == {"Asian", "Native American"}
    for found in race.extremes.values():
        assert not {found.lowest, found.highest} & small


def frame(*cells):
    """Make rows of (group, truth, call, n)."""
    return pl.DataFrame(cells, schema=["g", "y", "p", "n"], orient="row")


def of_counts(data, **changes):
    return audit_of(data, options={"counts": "n"}, **changes)


LARGE = [("a", 0, 0, 40), ("a", 0, 1, 10), ("a", 1, 1, 40), ("b", 0, 0, 45), ("b", 1, 0, 50)]


def test_group_without_one_of_the_outcomes_is_small():
    audited = of_counts(frame(*LARGE, ("c", 0, 0, 90), ("c", 0, 1, 10)))
    found = rate(audited, "balanced_accuracy", 0, "c")
    assert found.n == 0
    only = group_of(audited, 0, "c")
    assert only.n_rarest == 0
    assert all(only.is_small(one) for one in audited.model.rates.compared)
    assert rate(audited, "false_negative_rate", 0, "c").value is None
    assert rate(audited, "false_positive_rate", 0, "c").n == 100


def test_group_without_one_of_three_labels_is_small():
    rows = [(g, y, y, 50) for g in "ab" for y in "xyz"] + [("c", "x", "x", 50), ("c", "y", "x", 50)]
    audited = of_counts(frame(*rows))
    model = audited.model
    balanced = model.rates.by_metric("balanced_accuracy")
    assert [one.rates[balanced].n for one in model.columns[0].groups] == [50, 50, 0]
    assert [one.is_small(balanced) for one in model.columns[0].groups] == [False, False, True]


@pytest.mark.parametrize("min_support", [1, 30])
def test_column_of_small_groups_has_no_lowest_or_highest(min_support):
    audited = of_counts(frame(("a", 0, 0, 20), ("b", 1, 1, 20)), min_support=min_support)
    model = audited.model
    assert {*model.columns[0].extremes.values()} == {NOT_COMPARED}


def test_single_group_has_no_lowest_or_highest_and_no_p_value():
    audited = of_counts(frame(("a", 0, 0, 40), ("a", 1, 1, 40)))
    column = audited.model.columns[0]
    assert not any(found.is_compared for found in column.extremes.values())
    assert [one.p for one in column.groups[0].differences.values()] == [None] * 3


def test_differences_compare_a_group_with_all_other_groups():
    audited = of_counts(frame(*LARGE, ("c", 0, 0, 5), ("c", 0, 1, 15)))
    model = audited.model
    false_positives = model.rates.by_metric("false_positive_rate")
    found = {g.value: g.differences[false_positives].estimate for g in model.columns[0].groups}
    assert found["a"].value == pytest.approx(10 / 50 - 15 / 65)
    assert found["b"].value == pytest.approx(0 / 45 - 25 / 70)
    assert found["c"].value == pytest.approx(15 / 20 - 10 / 95)
