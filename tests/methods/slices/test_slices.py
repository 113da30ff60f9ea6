"""The worst slices of a small table, of which loops and fractions have computed every figure."""

import math
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest

import balframe as bf
from balframe.methods.slices import result_rows
from balframe.methods.slices.excess_test import ExcessTest, log_tail
from tests.support.cases import cases
from tests.support.reference_values import reference
from tests.support.tested_slices import search

CASE = reference("slices")
CELLS = pl.DataFrame(CASE["cells"])
OPTIONS = {
    "over": CASE["over"],
    "depth": CASE["depth"],
    "min_support": CASE["floor"],
    "counts": "n",
    "top": 100,
}
CLOSE = 1e-9
pytestmark = pytest.mark.filterwarnings("ignore:no slice is listed")
each_metric = cases("metric", CASE["metrics"])


def close(values):
    return pytest.approx(list(values), rel=CLOSE, abs=CLOSE)


def expected(metric, name, slices=None):
    slices = CASE["metrics"][metric]["slices"] if slices is None else slices
    return [one[name] for one in slices]


def key(conditions):
    return frozenset(conditions.items())


def n_tests_of(metric, one):
    """Return the number by which the p-value of a slice is multiplied."""
    return one["tests_of_depth"] * len(CASE["metrics"][metric]["tests_by_depth"])


def exact_adjusted(metric, slices):
    return [min(1.0, one["p_exact"] * n_tests_of(metric, one)) for one in slices]


def listed_slices(metric):
    """Select the slices that are listed, by their exact p-value."""
    listed = [one for one in CASE["metrics"][metric]["slices"] if one["listed"]]
    assert all(p <= 0.05 for p in exact_adjusted(metric, listed))
    return sorted(listed, key=lambda one: one["p_exact"] * n_tests_of(metric, one))


def in_order_of_the_case(metric, seen):
    """Place the slices tested by the case's order."""
    place = {key(one): i for i, one in enumerate(seen.slices())}
    return np.array([place[key(one)] for one in expected(metric, "slice")])


@each_metric
def test_every_slice_is_tested_once(metric):
    _, seen = search(CELLS, metrics=metric, **OPTIONS)

    assert len(seen.slices()) == CASE["metrics"][metric]["n_tests"]
    assert {key(one) for one in seen.slices()} == {key(one) for one in expected(metric, "slice")}
    by_depth = {str(d): int((seen.tested.depth == d).sum()) for d in (1, 2, 3)}
    assert by_depth == CASE["metrics"][metric]["tests_by_depth"]


@each_metric
def test_rows_of_every_stratum_are_counted(metric):
    _, seen = search(CELLS, metrics=metric, **OPTIONS)
    at = in_order_of_the_case(metric, seen)
    n, wrong = seen.counts()
    strata, n_all = seen.population.strata, seen.population.all_counts

    assert n[at].tolist() == expected(metric, "n")
    assert wrong[at].tolist() == expected(metric, "wrong")
    totals = [
        {"n": a, "wrong": b}
        for a, b in zip(strata.count_rows(n_all), strata.count_wrong(n_all), strict=True)
    ]
    assert totals == CASE["metrics"][metric]["totals"]


@each_metric
def test_scores_and_p_values_of_every_slice_equal_the_reference(metric):
    _, seen = search(CELLS, metrics=metric, **OPTIONS)
    at, tested = in_order_of_the_case(metric, seen), seen.tested
    slices = CASE["metrics"][metric]["slices"]
    scores, sign = tested.scores, 1 if metric == "false_positive_rate" else -1

    assert scores.estimate[at] == close(expected(metric, "estimate"))
    assert scores.rest[at] == close(expected(metric, "rest"))
    assert sign * scores.worse[at] == close(expected(metric, "difference"))
    shares = np.exp(scores.log_p[at]) / expected(metric, "p_exact")
    assert shares.min() > 0.98  # exact, or corrected for continuity
    assert (np.abs(shares - 1) < CLOSE).any()
    log_adjusted = scores.log_p[at] + np.log([n_tests_of(metric, one) for one in slices])
    assert tested.log_adjusted[at] == close(log_adjusted)
    n_tests = np.exp(tested.log_factor[tested.depth[at] - 1]) / len(set(tested.depth))
    assert n_tests == close(map(float, expected(metric, "tests_of_depth")))


@each_metric
def test_moments_and_tail_of_every_slice_equal_the_reference(metric):
    slices = CASE["metrics"][metric]["slices"]
    n, wrong = (np.array([one[name] for one in slices], float) for name in ("n", "wrong"))
    totals = CASE["metrics"][metric]["totals"]
    n_all, wrong_of_all = (np.array([one[k] for one in totals], float) for k in ("n", "wrong"))
    factors = n_all / (n * (n_all - n)) / len(totals)

    test = ExcessTest(factors, n, wrong, n_all, wrong_of_all)
    z = test.excess / test.sd

    assert z == close(expected(metric, "z"))
    assert test.skewness == close(expected(metric, "skewness"))
    assert np.exp(log_tail(z, test.skewness)) == close(expected(metric, "p"))
    exact = test.exact_log_p(test.log_p())
    assert exact == close(map(math.log, expected(metric, "p_exact")))


@each_metric
def test_slices_are_listed_by_adjusted_p_value(metric):
    result, seen = search(CELLS, metrics=metric, **OPTIONS)
    at, tested = in_order_of_the_case(metric, seen), seen.tested
    listed = listed_slices(metric)

    is_significant = np.array(exact_adjusted(metric, CASE["metrics"][metric]["slices"])) <= 0.05
    assert ((tested.log_adjusted[at] <= np.log(0.05)) == is_significant).all()
    taken = result.select(CASE["over"]).rows(named=True)
    assert [{k: v for k, v in row.items() if v is not None} for row in taken] == [
        one["slice"] for one in listed
    ]


@each_metric
def test_columns_of_the_result_equal_the_reference(metric):
    result, _ = search(CELLS, metrics=metric, **OPTIONS)
    case = CASE["metrics"][metric]
    listed = listed_slices(metric)
    n_rows = [
        CELLS.filter(*(pl.col(name) == level for name, level in one["slice"].items()))["n"].sum()
        for one in listed
    ]
    wrong, wrong_of_all = (
        [sum(one["wrong"]) for one in listed],
        [one["wrong"] for one in case["totals"]],
    )
    excess = [
        sum(
            max(e - n * (all_["wrong"] - e) / (all_["n"] - n), 0)
            for n, e, all_ in zip(one["n"], one["wrong"], case["totals"], strict=True)
        )
        for one in listed
    ]

    assert result["rank"].to_list() == list(range(1, len(listed) + 1))
    assert result["slice"].to_list() == [
        " and ".join(f"{name} = {level}" for name, level in one["slice"].items()) for one in listed
    ]
    assert result["on"].to_list() == [", ".join(one["slice"]) for one in listed]
    assert result["depth"].to_list() == [len(one["slice"]) for one in listed]
    assert result["n"].to_list() == n_rows
    assert result["min_support"].to_list() == [min(one["n"]) for one in listed]
    assert result["wrong"].to_list() == wrong
    assert result["metric"].to_list() == [metric] * len(listed)
    for name in ("estimate", "rest", "difference"):
        assert result[name].to_list() == close(expected(metric, name, listed))
    assert result["p_value"].to_list() == close(expected(metric, "p_exact", listed))
    assert result["p_adjusted"].to_list() == close(exact_adjusted(metric, listed))
    assert result["n_tests"].to_list() == [case["n_tests"]] * len(listed)
    assert result["excess_errors"].to_list() == close(excess)
    assert result["share_of_errors"].to_list() == close(e / sum(wrong_of_all) for e in wrong)
    significant = sum(p <= 0.05 for p in exact_adjusted(metric, case["slices"]))
    assert result["n_explained"].sum() == significant - len(listed)


@each_metric
def test_cells_of_confusion_are_searched_as_their_rows(metric):
    options = {name: value for name, value in OPTIONS.items() if name != "counts"}
    rows = CELLS.select(pl.exclude("n").repeat_by("n").explode())
    expected_result, _ = search(CELLS, metrics=metric, **OPTIONS)

    assert search(rows, metrics=metric, **options)[0].equals(expected_result)
    assert search(CELLS, metrics=metric, **options)[0].equals(expected_result)


# Few errors, where the tail is exact


def two_levels(first, second):
    """Make cells of two levels, each with its numbers of wrong and of right rows."""
    return pl.DataFrame(
        {
            "g": ["a", "a", "b", "b"],
            "y": [1] * 4,
            "yhat": [0, 1] * 2,
            "n": [*first, *second],
        }
    )


def test_one_wrong_row_is_not_listed_and_its_p_value_is_exact():
    """It is in a slice of a tenth of the rows: p = 0.1, times two tests."""
    with pytest.warns(UserWarning, match=r"smallest adjusted p-value is 0\.2, of g = a\.$"):
        result = bf.slices(
            two_levels((1, 99), (0, 900)), "y", "yhat", counts="n", metrics="recall", detail=True
        )
    assert result.height == 0


@cases(("wrong", "p_value"), [(5, 1 / 32), (6, 1 / 64)])
def test_listed_p_values_of_few_errors_are_exact(wrong, p_value):
    """Half of a million rows, so that each wrong row is in either half with probability 1/2."""
    half = 500_000
    cells = two_levels((wrong, half - wrong), (0, half))
    options = {"counts": "n", "metrics": "recall", "level": 0.9}
    row = bf.slices(cells, "y", "yhat", detail=True, **options).row(0, named=True)

    assert row["slice"] == "g = a"
    assert row["p_value"] == pytest.approx(p_value, rel=1e-4)
    assert row["p_adjusted"] == pytest.approx(2 * p_value, rel=1e-4)


@cases(("metric", "bound"), [("recall", "upper"), ("false_negative_rate", "lower")])
def test_the_limit_that_faces_0_does_not_pass_it(metric, bound):
    """Where a test rejects 0 and the limits would not, the limit is 0."""
    wide = [np.array([value]) for value in (-0.01, 0.5)]

    def limits(positions, *_):
        return tuple(np.repeat(value, len(positions)) for value in wide)

    with patch.object(result_rows, "gap_limits", limits):
        result, _ = search(CELLS, metrics=metric, **OPTIONS)

    other = {"upper": "lower", "lower": "upper"}[bound]
    assert result.height
    assert (result[bound] == 0).all()
    assert (result[other].abs() == 0.5).all()
