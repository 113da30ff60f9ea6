"""Limits and tests against numbers computed by independent code, as inference.json says."""

from dataclasses import replace

import numpy as np
import pytest

from balframe.core.class_counts import ClassCounts
from balframe.core.sample import Sample
from balframe.metrics.lookup import find_metric
from balframe.stats.base import GATE, IntervalRequest
from balframe.stats.constrained_mle import WeightedBinomials, score_statistic
from balframe.stats.differences import scas_difference
from balframe.stats.homogeneity_tests import score_homogeneity_test
from balframe.stats.lazy_scipy import special
from balframe.stats.mean_recall import (
    gate_limits,
    scas_limits,
    scas_proportion_limits,
    score_limits,
)
from balframe.stats.proportions import clopper_pearson, wilson
from tests.support.cases import cases
from tests.support.reference_values import reference

CASES = reference("inference")
CLOSE = 1e-10


def row(*values):
    return np.array([values], dtype=float)


def equal_weights(case):
    return row(*[1 / len(case["support"])] * len(case["support"]))


def simultaneous_level(case):
    return IntervalRequest(GATE, case["level"]).bonferroni(case["segments"]).level


def case_id(case):
    right, rows = case.get("correct", ""), case.get("support", "")
    return f"{right} of {rows}" if right else None


def ends(case, prefix="", suffix=""):
    return [case[f"{prefix}{end}{suffix}"] for end in ("lower", "upper")]


@cases(("method", "limits"), [("score", score_limits), ("scas", scas_limits)])
@cases("case", CASES["one_sample"])
def test_limits_of_one_segment_equal_reference_values(case, method, limits):
    counts = (row(*case[name]) for name in ("correct", "support", "weight"))

    result = limits(*counts, case["level"])

    assert np.ravel(result) == pytest.approx(ends(case, f"{method}_"), abs=CLOSE)


@pytest.mark.parametrize("case", [c for c in CASES["one_sample"] if len(c["support"]) == 1])
def test_limits_of_a_proportion_equal_reference_values(case):
    counts = np.array(case["correct"], float), np.array(case["support"], float), case["level"]

    assert np.ravel(wilson(*counts)) == pytest.approx(ends(case, "score_"), abs=CLOSE)
    assert np.ravel(scas_proportion_limits(*counts)) == pytest.approx(
        ends(case, "scas_"), abs=CLOSE
    )


@cases("case", CASES["gate"])
def test_gate_limits_equal_reference_values(case):
    right, rows = row(*case["correct"]), row(*case["support"])

    found = gate_limits(right, rows, equal_weights(case), simultaneous_level(case))

    assert np.ravel(found) == pytest.approx(ends(case), abs=CLOSE)
    if len(case["support"]) == 1:
        proportion = clopper_pearson(right[0], rows[0], simultaneous_level(case))
        assert np.ravel(proportion) == pytest.approx(ends(case), abs=CLOSE)


def two_segments(case):
    names = ("correct", "support", "reference_correct", "reference_support")
    return *(row(*case[name]) for name in names), equal_weights(case)


@cases("case", CASES["difference"])
def test_limits_and_p_values_of_differences_equal_reference_values(case):
    lower, upper, p = scas_difference(*two_segments(case), case["level"])

    assert [lower[0], upper[0]] == pytest.approx(ends(case), abs=CLOSE)
    assert p[0] == pytest.approx(case["p_value"], rel=CLOSE)


@cases("case", CASES["difference"])
def test_differences_without_skewness_correction_equal_references(case):
    x, n, y, m, a = two_segments(case)
    both = np.hstack([x, m - y]), np.hstack([n, m]), np.hstack([a, a]) / 2

    found = score_limits(*both, case["level"])

    expected = ends(case, suffix="_without_skewness")
    assert 2 * np.ravel(found) - 1 == pytest.approx(expected, abs=CLOSE)
    segments = WeightedBinomials.of(*both)
    (z,) = score_statistic(segments, *segments.constrained_mle(np.array([0.5])))
    p = 2 * special.ndtr(-abs(z))
    assert p == pytest.approx(case["p_value_without_skewness"], rel=CLOSE)


def has_pools(case):
    """Tell whether segments of one label expect less than one error, and so share a pool."""
    (rows, *others), error = zip(*case["support"], strict=True), 1 - case["theta"]
    return not others and min(rows) * min(error, 1 - error) < 1


@cases("case", CASES["homogeneity"])
def test_homogeneity_test_equals_reference_values(case):
    x, n = (np.array(case[name], float) for name in ("correct", "support"))

    statistic, p_value = score_homogeneity_test(x, n, np.full(n.shape, 1 / n.shape[1]))

    assert statistic == pytest.approx(case["statistic"], abs=CLOSE)
    if has_pools(case):
        assert p_value > case["p_value"]
    else:
        assert p_value == pytest.approx(case["p_value"], abs=CLOSE)


@pytest.mark.parametrize("case", CASES["f1_gate"], ids=lambda case: str(case["tp"]))
def test_gate_limits_of_f1_equal_reference_values(case):
    # the true negatives make no difference
    matrix = np.array([[7, case["fp"]], [case["fn"], case["tp"]]])
    counts = replace(ClassCounts.from_matrix(matrix), pos_label=1)
    f1 = find_metric("f1")

    found = f1.interval.limits(
        Sample(counts, lambda: pytest.fail("no cells are needed")),
        f1(counts),
        IntervalRequest(GATE, case["level"]).bonferroni(case["segments"]),
    )

    assert np.ravel(found) == pytest.approx(ends(case), abs=CLOSE)
