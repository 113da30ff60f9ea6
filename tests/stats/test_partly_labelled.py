"""Limits of all rows, of which only some have a true label."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import optimize

from balframe.core.strata import Strata
from balframe.stats.partly_labelled import Completions, share_gate_limits, share_limits
from balframe.stats.partly_labelled_recalls import MeanRecall, Recall
from balframe.stats.proportions import normal_quantile, wilson
from tests.support.cases import cases
from tests.support.reference_values import reference

REFERENCE = reference("partly_labelled")["partly_labelled"]


CLOSE = {"rel": 0, "abs": 1e-9}


def strata_of(given, *, of_positives=False):
    right, labelled, rows = (
        np.array([given[name]], float) for name in ("right", "labelled", "rows")
    )
    if of_positives:  # whose second stratum has positive rows in place of right ones
        right[:, 1] = labelled[:, 1] - right[:, 1]
    return Strata(rows, labelled, right, np.array([[1, 0]]))


@cases("case", REFERENCE)
def test_limits_of_a_share_are_those_of_the_reference(case):
    s, level, expected = strata_of(case["input"]), case["input"]["level"], case["expected"]
    for prefix, limits in (
        ("", share_limits(s, level)),
        ("scas_", share_limits(s, level, skewness=True)),
        ("gamma2_", share_limits(replace(s, doubt=2), level)),
        ("bounds_", Completions.of_share(s).limits(level, None)),
    ):
        found = [limit[0] for limit in limits]
        names = (f"{prefix}lower", f"{prefix}upper")
        assert found == pytest.approx([expected[name] for name in names], **CLOSE)


@cases("case", [case for case in REFERENCE if "recall" in case["expected"]])
def test_limits_of_recalls_are_those_of_the_reference(case):
    s, level, expected = (
        strata_of(case["input"], of_positives=True),
        case["input"]["level"],
        case["expected"],
    )
    predicted = np.array([[True, False]])
    recall, specificity = Recall(s, predicted), Recall(s, ~predicted)
    z = normal_quantile(level)
    of_mean = MeanRecall(recall, specificity).limits(z)

    found = [recall.lowest[0], *(limit[0] for limit in recall.limits(z))]
    names = ("recall", "recall_lower", "recall_upper")
    assert found == pytest.approx([expected[name] for name in names], **CLOSE)
    found = [limit[0] for limit in of_mean]
    assert found == pytest.approx([expected["ba_lower"], expected["ba_upper"]], **CLOSE)


@cases("rows", [(30, 70), (5, 5), (100, 1)])
def test_limits_are_wilsons_if_all_rows_have_a_label(rows):
    n = np.array([rows], float)
    right = np.round(n * [[0.8, 0.4]])
    s = Strata(n, n, right, np.array([[1, 0]]))
    expected = wilson(right.sum(axis=1), n.sum(axis=1), 0.95)

    for found, limit in zip(share_limits(s, 0.95), expected, strict=True):
        assert found == pytest.approx(limit, abs=1e-9)
    lower, upper = share_gate_limits(s, 0.95)
    assert lower <= expected[0] + 1e-9
    assert upper >= expected[1] - 1e-9


def test_bounds_are_those_of_all_completions_of_a_small_table():
    right, labelled, rows = np.array([[2.0, 1.0]]), np.array([[3.0, 2.0]]), np.array([[5.0, 4.0]])
    s = Strata(rows, labelled, right, np.array([[1, 0]]))
    limits = []
    for first, second in product(range(3), range(3)):
        x = np.array([3.0 + first + second])
        limits.append([limit[0] for limit in wilson(x, np.array([9.0]), 0.95)])
    lowers, uppers = zip(*limits, strict=True)

    assert [limit[0] for limit in Completions.of_share(s).limits(0.95, None)] == pytest.approx(
        [min(lowers), max(uppers)]
    )


@cases("doubt", [1.5, 3, 20])
def test_doubt_widens_up_to_the_bounds(doubt):
    for case in REFERENCE:
        s = strata_of(case["input"])
        inner, outer, bounds = (
            share_limits(s, 0.95),
            share_limits(replace(s, doubt=doubt), 0.95),
            share_limits(replace(s, doubt=1e12), 0.95),
        )
        assert bounds[0] <= outer[0] <= inner[0] <= inner[1] <= outer[1] <= bounds[1]


def test_limits_never_narrow_with_doubt_where_labels_are_few():
    s = Strata(
        np.array([[70.0, 30.0]]), np.array([[4.0, 3.0]]), np.array([[3.0, 1.0]]), np.zeros((1, 2))
    )
    widths = []
    for doubt in (1, 1.001, 1.5, 4, 50):
        lower, upper = share_gate_limits(replace(s, doubt=doubt), 0.95)
        widths.append(upper[0] - lower[0])
    assert widths == sorted(widths)


def constrained_recall(rows, labelled, right, recall):
    """Return the shares of largest likelihood at a recall, and the score statistic, in a search."""
    total = sum(rows)
    w = [each / total for each in rows]

    def shares(p):  # of the first stratum, where right rows are positive
        return p, 1 - w[0] * p * (1 - recall) / (w[1] * recall)

    def minus_log_likelihood(p):
        return -sum(
            x * np.log(q) + (n - x) * np.log(1 - q)
            for x, n, q in zip(right, labelled, shares(p), strict=True)
        )

    most = min(1, w[1] * recall / (w[0] * (1 - recall)))
    fit = optimize.minimize_scalar(
        minus_log_likelihood, bounds=(1e-9, most - 1e-9), method="bounded",
        options={"xatol": 1e-12},
    )  # fmt: skip
    p = shares(fit.x)
    weights = (w[0] * (1 - recall), w[1] * recall)
    contrast = weights[0] * right[0] / labelled[0] - weights[1] * (1 - right[1] / labelled[1])
    variance = sum(a * a * q * (1 - q) / n for a, q, n in zip(weights, p, labelled, strict=True))
    of_rows = ((1 - recall) * p[0], -recall * (1 - p[1]))
    variance += sum(v * d * d for v, d in zip(w, of_rows, strict=True)) / total
    return p, contrast / np.sqrt(variance)


def test_doubt_about_a_recall_shifts_the_shares_at_its_limits():
    rows, labelled, right = (760, 240), (60, 40), (52, 22)
    s = Strata(*(np.array([each], float) for each in (rows, labelled, right)), np.array([[1, 0]]))
    z, limits = normal_quantile(0.95), {}
    for doubt in (1, 2):
        limits[doubt] = Recall(replace(s, doubt=doubt), s.prediction == 1).limits(z)
    for side, sign, factor in ((0, 1, 1 / 2), (1, -1, 2)):

        def excess(recall, sign=sign):
            return constrained_recall(rows, labelled, right, recall)[1] - sign * z

        limit = optimize.brentq(excess, 0.3, 0.99, xtol=1e-12)
        p, _ = constrained_recall(rows, labelled, right, limit)
        shifted = []
        for q, n, k in zip(p, rows, labelled, strict=True):
            odds = factor * q / (1 - q)
            shifted.append(k / n * q + (1 - k / n) * odds / (1 + odds))
        detected, missed = rows[0] * shifted[0], rows[1] * (1 - shifted[1])
        assert limits[1][side][0] == pytest.approx(limit, abs=1e-6)
        assert limits[2][side][0] == pytest.approx(detected / (detected + missed), abs=1e-6)
