"""Slices, criteria, ratios, rules and models of an audit, beside arithmetic on the counts."""

import polars as pl
import pytest
from scipy.stats import binomtest

from audit_page.audited_frames import answered, asked_of, random_rows
from balframe.audit_page.build import audited_of
from balframe.audit_page.measured_rules import check_rules
from balframe.errors import BalframeError, InvalidInputError
from balframe.methods.gates.rules import read_rules


def test_the_first_slice_of_compas_is_a_group_with_its_published_rate(compas_audit):
    (model,) = compas_audit[0].models
    first = model.searches[0].found[0]
    assert first.conditions == [(1, "African-American")]
    assert (first.n, first.rate) == (1795, pytest.approx(805 / 1795))
    rest = (1282 - 805) / (3963 - 1795)
    assert first.rest == pytest.approx(rest)
    assert first.difference.value == pytest.approx(805 / 1795 - rest)
    assert first.difference.lower > 0
    assert first.p < 0.001


def test_a_search_of_few_rows_says_so():
    data = pl.DataFrame({"g": ["a", "b"] * 3, "y": [0, 0, 1, 1, 0, 1], "p": [0, 1, 0, 1, 1, 1]})
    (model,) = audited_of(data, asked_of()).models
    assert [one.found for one in model.searches] == [[], []]


def criterion(model, number, name):
    return next(one for one in model.criteria[number] if one.name == name)


def test_criteria_of_compas_are_gaps_between_the_furthest_groups(compas_audit):
    """Selected of each race: 2,174 of 3,696 African-Americans and 79 of 377 others."""
    (model,) = compas_audit[0].models
    parity = criterion(model, 1, "demographic_parity")
    assert parity.apart.value == pytest.approx(2174 / 3696 - 79 / 377)
    assert parity.lowest == ("Other", pytest.approx(79 / 377))
    assert parity.highest == ("African-American", pytest.approx(2174 / 3696))
    accuracy = criterion(model, 1, "accuracy_equality")
    assert {accuracy.lowest[0], accuracy.highest[0]} == {"African-American", "Caucasian"}
    assert [one.name for one in model.criteria[0]] == [
        "demographic_parity",
        "equal_opportunity",
        "equalized_odds",
        "predictive_parity",
        "accuracy_equality",
    ]


def test_ratios_of_compas_are_to_the_group_called_most_often(compas_audit):
    (model,) = compas_audit[0].models
    race = model.selections[1]
    assert (race.highest, race.bound) == ("African-American", 0.8)
    by_value = {one.value: one for one in race.categories}
    assert by_value["Other"].ratio.value == pytest.approx((79 / 377) / (2174 / 3696))
    assert by_value["Other"].n_selected == 79
    assert {one.value for one in race.categories if one.role == "small"} == {
        "Asian",
        "Native American",
    }
    assert by_value["Native American"].ratio.value is None


def test_nobody_called_has_no_ratios():
    data = pl.DataFrame({"g": ["a", "b"] * 40, "y": [0, 0, 1, 1] * 20, "p": [0] * 80})
    (model,) = audited_of(data, asked_of()).models
    assert model.selections == [None]


def statuses(answers, text):
    return {(*one.where,): one.status for one in answers.models[0].verdicts if one.rule == text}


def test_rules_are_met_not_met_and_undecided(compas_audit):
    answers, _ = compas_audit
    n = statuses(answers, "n >= 20")
    assert n[((1, "Native American"),)] == "not met"  # 18 people
    assert n[((1, "Asian"),)] == "met"  # 32 people
    assert len(n) == 2 + 6 + 3
    gaps = statuses(answers, "difference(false_positive_rate) <= 0.1")
    assert gaps == {((0, None),): "met", ((1, None),): "not met", ((2, None),): "not met"}
    precision = statuses(answers, "precision >= 0.6")
    assert precision[((1, "Native American"),)] == "undecided"  # 9 of 12


def test_rules_judge_by_exact_limits_together():
    """1,000 of 1,000 in both groups: the lower limit of Clopper and Pearson at 1 - 0.05 / 2."""
    data = pl.DataFrame({"g": ["a", "b"], "y": [1, 1], "p": [1, 1], "n": [1000, 1000]})
    rule = "recall >= 0.99"
    (model,) = audited_of(data, asked_of(rules=[rule], options={"counts": "n"})).models
    lower = binomtest(1000, 1000).proportion_ci(1 - 0.05 / 2).low
    assert [one.found.lower for one in model.verdicts] == pytest.approx([lower, lower])
    assert [one.status for one in model.verdicts] == ["met", "met"]


def test_a_rule_on_some_groups_is_judged_there():
    rule = {"rule": "recall >= 0.1", "where": {"g": "a"}, "reason": "agreed"}
    frame = random_rows(12)
    wanted = asked_of(by=["h", "g"], rules=[rule])
    (model,) = audited_of(frame, wanted).models
    assert {one.where[0] for one in model.verdicts} == {(1, "a")}
    assert {one.reason for one in model.verdicts} == {"agreed"}


def test_rules_without_columns_are_about_all_rows():
    (model,) = audited_of(random_rows(12), asked_of(by=[], rules=["n >= 1"])).models
    assert [(one.where, one.status) for one in model.verdicts] == [([], "met")]


def test_rules_that_an_audit_cannot_judge_are_refused():
    check_rules(read_rules("recall >= 0.5"), ["g"])
    with pytest.raises(BalframeError, match="is about values of 'h', which is not in by"):
        check_rules(read_rules([{"rule": "recall >= 0.5", "where": {"h": "a"}}]), ["g"])
    with pytest.raises(InvalidInputError, match="compares with a baseline"):
        check_rules(read_rules("recall >= baseline - 0.01"), ["g"])


def test_models_differ_by_what_one_calls_rightly_and_the_other_does_not():
    frame = random_rows(12)
    answers, _ = answered(frame, asked_of(y_pred=("p", "q"), by=[]))
    (pair,) = answers.pairs
    y, p, q = (frame[name] for name in ("y", "p", "q"))
    expected = ((p == y).mean() - (q == y).mean()) * (1 if pair.first == "p" else -1)
    assert {pair.first, pair.second} == {"p", "q"}
    assert pair.differences[0].estimate.value == pytest.approx(expected)


def test_cells_cannot_be_compared_row_by_row():
    cells = random_rows(12).group_by("y", "p", "q").len("n")
    counts = {"cells": True}
    assert audited_of(cells, asked_of(y_pred=("p", "q"), by=[], options=counts)).pairs == []
    assert audited_of(random_rows(12), asked_of(by=[])).pairs == []
