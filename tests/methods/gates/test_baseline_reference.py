"""Limits of differences from a baseline against numbers computed by independent code."""

import numpy as np
import pytest
from scipy import stats

import balframe as bf
from balframe.stats.differences import difference_as_mean_recall, gate_difference, scas_difference
from balframe.stats.mean_recall import scas_limits, score_limits
from balframe.stats.paired_differences import paired_limits
from tests.support.cases import cases
from tests.support.constructors import pandas_numpy, plain, polars_eager
from tests.support.oracles.paired_recalls import gate_limits
from tests.support.reference_values import reference

CASES = reference("gates")
CLOSE = 1e-10
RULE_OF_MEANS = "balanced_accuracy >= baseline - 0.05"
RULE_OF_PROPORTIONS = "accuracy >= baseline - 0.05"

each_unpaired = cases("case", CASES["unpaired"])
each_paired = cases("case", CASES["paired"])
each_library = cases("make", [pandas_numpy, polars_eager])


def row(values):
    return np.array([values], float)


def evenly(case):
    return row([1 / len(case["support"])] * len(case["support"]))


def ends(case, suffix=""):
    return [case[f"{end}{suffix}"] for end in ("lower", "upper")]


def wider(case):
    """Take the lower of both lower limits, and the higher of both upper limits."""
    lower, upper = zip(ends(case), ends(case, "_without_skewness"), strict=True)
    return [min(lower), max(upper)]


def first_and_second_counts(case):
    names = ("correct", "support", "baseline_correct", "baseline_support")
    return *(row(case[name]) for name in names), evenly(case)


@each_unpaired
def test_limits_with_and_without_skewness_correction_equal_the_reference(case):
    sides = first_and_second_counts(case)

    *corrected, _ = scas_difference(*sides, case["level"])
    plain_score = score_limits(*difference_as_mean_recall(*sides), case["level"])

    assert np.ravel(corrected) == pytest.approx(ends(case), abs=CLOSE)
    expected = ends(case, "_without_skewness")
    assert 2 * np.ravel(plain_score) - 1 == pytest.approx(expected, abs=CLOSE)


@each_unpaired
def test_gate_difference_returns_the_wider_limits(case):
    result = gate_difference(*first_and_second_counts(case), case["level"])

    assert np.ravel(result) == pytest.approx(wider(case), abs=CLOSE)


@each_paired
def test_paired_limits_of_two_models_equal_the_reference(case):
    b, c, n = (row(case[name]) for name in ("only_new", "only_baseline", "support"))

    result = paired_limits(b, c, n, evenly(case), case["level"])

    assert np.ravel(result) == pytest.approx(ends(case), abs=CLOSE)


@pytest.mark.parametrize("case", CASES["one_sample"], ids=lambda case: str(case["correct"]))
def test_limits_of_a_single_segment_equal_the_reference(case):
    counts = row(case["correct"]), row(case["support"]), evenly(case), case["level"]

    assert np.ravel(scas_limits(*counts)) == pytest.approx(ends(case), abs=CLOSE)
    assert np.ravel(score_limits(*counts)) == pytest.approx(
        [case["score_lower"], case["score_upper"]], abs=CLOSE
    )


def case_rules(case):
    """Give the rules that the limits are of: with one label a mean is a proportion."""
    return [RULE_OF_MEANS, RULE_OF_PROPORTIONS] if len(case["support"]) == 1 else [RULE_OF_MEANS]


def right_and_wrong(correct, support):
    """Write one counted row for the correct rows of each label and one for the others."""
    n_labels = max(2, len(support))
    rows = [
        (label, predicted, k)
        for label, (x, n) in enumerate(zip(correct, support, strict=True))
        for predicted, k in ((label, x), ((label + 1) % n_labels, n - x))
    ]
    return dict(zip("ypk", map(list, zip(*rows, strict=True)), strict=True))


def two_model_rows(case):
    """Write counted rows that only the new, only the old, and both models get right."""
    n_labels = max(2, len(case["support"]))
    counts = zip(case["only_new"], case["only_baseline"], case["support"], strict=True)
    rows = [
        (label, new, old, k)
        for label, (b, c, n) in enumerate(counts)
        for wrong in [(label + 1) % n_labels]
        for new, old, k in ((label, wrong, b), (wrong, label, c), (label, label, n - b - c))
    ]
    names = ("y", "new", "old", "k")
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def assert_decided(out, case, limits):
    """Every rule has the difference of the case and these limits, and the status they give."""
    lower, upper = limits
    status = "pass" if lower >= -0.05 else "fail" if upper < -0.05 else "inconclusive"
    for i in range(len(case_rules(case))):
        assert out["estimate"][i] == pytest.approx(case["difference"], abs=CLOSE)
        assert [out["lower"][i], out["upper"][i]] == pytest.approx(limits, abs=CLOSE)
        assert out["status"][i] == status
        assert out["n_labels"][i] == len(case["support"])


def check_options(case):
    return {"counts": "k", "rules": case_rules(case), "level": case["level"], "min_support": 1}


@each_library
@each_unpaired
def test_check_against_cells_equals_the_reference(make, case):
    now = make(right_and_wrong(case["correct"], case["support"]))
    before = make(right_and_wrong(case["baseline_correct"], case["baseline_support"]))
    cells = bf.confusion(before, "y", "p", counts="k")

    out = plain(
        bf.check(now, "y", "p", baseline=cells, adjust=None, detail=True, **check_options(case))
    )

    assert_decided(out, case, wider(case))
    assert out["n"] == [sum(case["support"])] * len(out["rule"])
    assert out["baseline_n"] == [sum(case["baseline_support"])] * len(out["rule"])


@each_library
@each_paired
def test_check_against_another_model_equals_the_reference(make, case):
    frame = make(two_model_rows(case))
    counts = evenly(case), *(row(case[name]) for name in ("only_new", "only_baseline", "support"))
    lower, upper = np.ravel(gate_limits(counts, stats.norm.ppf((1 + case["level"]) / 2)))

    out = plain(
        bf.check(frame, "y", "new", baseline="old", adjust=None, detail=True, **check_options(case))
    )

    assert_decided(out, case, [lower, upper])
    assert lower <= case["lower"] + CLOSE  # the limits that Tango published, or wider
    assert upper >= case["upper"] - CLOSE
    assert out["n"] == out["baseline_n"] == [sum(case["support"])] * len(out["rule"])
