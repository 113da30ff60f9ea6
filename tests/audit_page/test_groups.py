"""What an audit measures, beside published figures and independent formulas."""

from math import sqrt

import polars as pl
import pytest
from scipy.stats import norm

from audit_page.audited_frames import asked_of
from audit_page.figures_by_hand import counted as cells_of
from audit_page.figures_by_hand import plain
from balframe.audit_page.build import audited_of
from balframe.audit_page.counted import counted
from balframe.audit_page.groups import NOT_COMPARED
from balframe.audit_page.rates import rates_of


def group_of(answers, number, value):
    return next(one for one in answers.models[0].columns[number].groups if one.value == value)


def rate(answers, metric, number=None, value=None):
    (model,) = answers.models
    group = model.overall if number is None else group_of(answers, number, value)
    return group.rates[model.rates.named(metric)]


def wilson(k, n, level=0.95):
    """Return the limits of Wilson (1927)."""
    z = norm.ppf((1 + level) / 2)
    middle, half = (k + z * z / 2), z * sqrt(k * (n - k) / n + z * z / 4)
    return (middle - half) / (n + z * z), (middle + half) / (n + z * z)


def test_compas_has_the_published_rates(compas_audit):
    """Larson et al. (ProPublica 2016): accuracy, and false positive rates by race."""
    answers, _ = compas_audit
    assert rate(answers, "accuracy").value == pytest.approx(0.65, abs=0.005)
    black = rate(answers, "false_positive_rate", 1, "African-American")
    white = rate(answers, "false_positive_rate", 1, "Caucasian")
    assert black.value == pytest.approx(0.4485, abs=0.00005)
    assert white.value == pytest.approx(0.2345, abs=0.00005)
    assert (black.n, white.n) == (1795, 1488)


@pytest.mark.parametrize(
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
    found = rate(compas_audit[0], metric)
    assert (found.value, found.n) == (pytest.approx(k / n), n)
    assert (found.lower, found.upper) == pytest.approx(wilson(k, n))


def test_the_balanced_accuracy_is_the_mean_of_recall_and_specificity(compas_audit):
    found = rate(compas_audit[0], "balanced_accuracy")
    assert found.value == pytest.approx((2035 / 3251 + 2681 / 3963) / 2)
    assert found.n == 3251


def test_small_groups_of_compas_are_never_the_furthest(compas_audit):
    (model,) = compas_audit[0].models
    race = model.columns[1]
    small = {one.value for one in race.groups if one.n_rarest < 30}
    assert small == {"Asian", "Native American"}
    for found in race.extremes.values():
        assert not {race.groups[at].value for at in (found.lowest, found.highest)} & small
    for criterion in model.criteria[1]:
        assert not {criterion.lowest[0], criterion.highest[0]} & small


def frame(*cells):
    """Make rows of (group, truth, call, n)."""
    return pl.DataFrame(cells, schema=["g", "y", "p", "n"], orient="row")


def of_counts(data, **changes):
    return audited_of(data, asked_of(options={"counts": "n"}, **changes))


LARGE = [("a", 0, 0, 40), ("a", 0, 1, 10), ("a", 1, 1, 40), ("b", 0, 0, 45), ("b", 1, 0, 50)]


def test_a_group_without_an_outcome_has_no_row_of_its_rarest():
    answers = of_counts(frame(*LARGE, ("c", 0, 0, 90), ("c", 0, 1, 10)))
    found = rate(answers, "balanced_accuracy", 0, "c")
    assert found.n == 0
    only = group_of(answers, 0, "c")
    assert only.n_rarest == 0
    assert all(only.is_small(one, 1) for one in answers.models[0].rates.compared)
    assert rate(answers, "false_negative_rate", 0, "c").value is None
    assert rate(answers, "false_positive_rate", 0, "c").n == 100


def test_a_group_without_a_label_of_several_is_not_ranked():
    rows = [(g, y, y, 50) for g in "ab" for y in "xyz"] + [("c", "x", "x", 50), ("c", "y", "x", 50)]
    answers = of_counts(frame(*rows))
    (model,) = answers.models
    balanced = model.rates.named("balanced_accuracy")
    assert [one.rates[balanced].n for one in model.columns[0].groups] == [50, 50, 0]
    assert [one.is_small(balanced, 30) for one in model.columns[0].groups] == [False, False, True]


@pytest.mark.parametrize("min_support", [1, 30])
def test_a_column_of_small_groups_has_no_furthest(min_support):
    answers = of_counts(frame(("a", 0, 0, 20), ("b", 1, 1, 20)), min_support=min_support)
    (model,) = answers.models
    assert {*model.columns[0].extremes.values()} == {NOT_COMPARED}
    assert model.criteria == [[]]


def test_one_group_has_no_furthest_and_no_differences():
    answers = of_counts(frame(("a", 0, 0, 40), ("a", 1, 1, 40)))
    column = answers.models[0].columns[0]
    assert all(found.lowest is None for found in column.extremes.values())
    assert [one.p for one in column.groups[0].differences.values()] == [None] * 3


def test_differences_are_from_all_others():
    answers = of_counts(frame(*LARGE, ("c", 0, 0, 5), ("c", 0, 1, 15)))
    (model,) = answers.models
    false_positives = model.rates.named("false_positive_rate")
    found = {g.value: g.differences[false_positives].estimate for g in model.columns[0].groups}
    assert found["a"].value == pytest.approx(10 / 50 - 15 / 65)
    assert found["b"].value == pytest.approx(0 / 45 - 25 / 70)
    assert found["c"].value == pytest.approx(15 / 20 - 10 / 95)


def test_missing_rows_are_counted():
    data = pl.DataFrame(
        {"g": [*"ab", None, *"abab"], "y": [0, 1, 1, None, 0, 1, 0], "p": [0, 1, 0, 1, None, 1, 1]}
    )
    read = counted(data, asked_of(options={"missing": "drop"}), asked_of().models[0])
    assert read.n_missing == 2
    assert read.cells["n"].sum() == 5
    assert read.n_true == {0: 2, 1: 3}


@pytest.mark.parametrize(
    ("values", "labels", "positive"),
    [
        ([0, 0], (0, 1), 1),
        ([-1, -1], (-1, 1), 1),
        ([True, True], (False, True), True),
        ([False, True], (False, True), True),
        (["a", "b", "c"], ("a", "b", "c"), None),
        (["a", "a"], ("a",), None),
    ],
)
def test_labels_and_the_positive_one(values, labels, positive):
    data = pl.DataFrame({"g": ["a"] * len(values), "y": values, "p": values})
    read = counted(data, asked_of(), asked_of().models[0])
    assert [(type(one), one) for one in read.labels] == [(type(one), one) for one in labels]
    assert read.positive == positive
    assert type(read.positive) is type(positive)


def test_of_many_labels_the_most_frequent_are_the_errors():
    labels = tuple("abcdefghij")
    read = cells_of({(one, one): 10 + at for at, one in enumerate(labels)}, labels, None)
    errors = rates_of(read, asked_of().words).errors
    assert "".join(one.positive for one in errors) == "cdefghij"
    assert plain(errors[0].of) == "those labelled c"
