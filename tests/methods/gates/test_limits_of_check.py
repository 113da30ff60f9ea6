"""Limits by which rules are decided, against exact ones and roots that are searched one by one."""

import itertools
import math

import numpy as np
import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.frames.segment_counts import FOUR, JUDGED, LETTERS, check, letters, table
from tests.support.oracles.extremes import extreme_limits
from tests.support.oracles.mean_recalls import by_side, clopper_pearson, effective, gate

FEW = {"a": (2, 1, 0, 30), "b": (4, 0, 3, 1), "c": (3, 4, 1, 7), "d": (1, 0, 0, 1)}
OF_COUNTS = {  # x, n and weights of the recalls out of tp, fn, fp, tn, and the metric out of limits
    "accuracy": (lambda tp, fn, fp, tn: ([tp + tn], [tp + fn + fp + tn], [1]), lambda p: p),
    "false_positive_rate": (lambda tp, fn, fp, tn: ([fp], [fp + tn], [1]), lambda p: p),
    "precision": (lambda tp, fn, fp, tn: ([tp], [tp + fp], [1]), lambda p: p),
    "f1": (lambda tp, fn, fp, tn: ([tp], [tp + fp + fn], [1]), lambda p: 2 * p / (1 + p)),
    "balanced_accuracy": (
        lambda tp, fn, fp, tn: ([tp, tn], [tp + fn, fp + tn], [0.5, 0.5]),
        lambda p: p,
    ),
    "weighted_balanced_accuracy": (
        lambda tp, fn, fp, tn: ([tp, tn], [tp + fn, fp + tn], [0.2, 0.8]),
        lambda p: p,
    ),
    "adjusted_balanced_accuracy": (
        lambda tp, fn, fp, tn: ([tp, tn], [tp + fn, fp + tn], [0.5, 0.5]),
        lambda p: 2 * p - 1,
    ),
    "informedness": (
        lambda tp, fn, fp, tn: ([tp, tn], [tp + fn, fp + tn], [0.5, 0.5]),
        lambda p: 2 * p - 1,
    ),
}

# recalls of 0.1, 0.5 and 0.9 of 40 rows; one of no rows and one of 3 rows
SEGMENTS = {"a": (4, 36), "b": (20, 20), "c": (36, 4), "d": (0, 0, 9, 9), "e": (3, 0, 2, 2)}
RECALLS = {"a": (30, 70), "b": (60, 40), "c": (90, 10)}


def check_status(row):
    wanted = "P" if row["lower"] >= row["bound"] else "F" if row["upper"] < row["bound"] else "-"
    assert LETTERS[row["status"]] == wanted


@cases("segments", [FOUR, FEW])
@cases("metric", OF_COUNTS)
def test_limits_are_simultaneous_over_all_segments(metric, segments):
    of_counts, transform = OF_COUNTS[metric]
    options = {"class_weight": {1: 1, 0: 4}} if metric.startswith("weighted") else {}
    out = check(segments, f"{metric} >= 0.6", level=0.9, **options)
    for row in out.to_dicts():
        limits = gate(*of_counts(*segments[row["g"]]), 1 - 0.1 / 4)
        found = [row["lower"], row["upper"]]
        assert found == pytest.approx([transform(limit) for limit in limits], abs=1e-9)
        check_status(row)


def test_geometric_means_are_decided_by_products_of_exact_limits():
    out = check(FOUR, "geometric_mean >= 0.6", level=0.9)
    for row in out.to_dicts():
        tp, fn, fp, tn = FOUR[row["g"]]
        of_sides = [
            clopper_pearson(x, n, 1 - 0.1 / 4 / 2) for x, n in ((tp, tp + fn), (tn, tn + fp))
        ]
        expected = [math.sqrt(one * other) for one, other in zip(*of_sides, strict=True)]
        assert [row["lower"], row["upper"]] == pytest.approx(expected, abs=1e-9)
        check_status(row)


@pytest.mark.parametrize("metric", ["mcc", "cohen_kappa"])
def test_kappa_and_mcc_are_decided_by_limits_wider_than_those_of_report(metric):
    rule = f"{metric} >= 0.1"
    options = {"by": "g", "counts": "n", "metrics": metric, "interval": True, "level": 1 - 0.05 / 4}

    out = check(FOUR, rule).to_dicts()

    known = bf.report(pl.DataFrame(table(**FOUR)), "y", "p", **options)
    for row, of_report in zip(out, known.to_dicts(), strict=True):
        # exact limits with the same effective rows are wider than Wilson's
        assert row["lower"] < of_report[f"{metric}_lower"] < of_report[metric]
        assert of_report[metric] < of_report[f"{metric}_upper"] < row["upper"]
        check_status(row)


@pytest.mark.parametrize("metric", ["mcc", "cohen_kappa"])
def test_kappa_and_mcc_of_a_label_rarely_predicted_are_inconclusive(metric):
    # tp, fn, fp, tn: of 1,100 rows six are predicted positive
    out = check({"a": (5, 95, 1, 999)}, f"{metric} >= 0.5")

    assert out.select("lower", "upper").row(0) == (None, None)
    assert LETTERS[out["status"][0]] == "-"


def test_so_few_rows_do_not_decide_kappa():
    # Wilson's limits of kappa, the only ones, would let them
    assert check({"a": (4, 1, 5, 50)}, "cohen_kappa >= 0.1")["lower"].to_list() == [None]


def test_kappa_of_a_single_true_label_is_inconclusive():
    out = check({"a": (0, 0, 10, 45)}, "cohen_kappa >= 0.4", labels=[0, 1])
    assert out.select("estimate", "lower", "upper").row(0) == (0, None, None)
    assert LETTERS[out["status"][0]] == "-"


def test_a_mean_weighted_by_prevalence_has_the_verdict_of_accuracy():
    rules = ["weighted_balanced_accuracy >= 0.6", "accuracy >= 0.6"]
    out = check(FOUR, rules, class_weight="prevalence")
    mean, accuracy = (out.filter(rule=rule).select("lower", "upper", "status") for rule in rules)
    assert mean["status"].to_list() == accuracy["status"].to_list()
    limits = accuracy.select("lower", "upper").to_numpy()
    assert mean.select("lower", "upper").to_numpy() == pytest.approx(limits, abs=1e-12)


def test_a_single_wrong_row_is_inconclusive_by_default():
    out = check({"a": (0, 1)}, "recall >= 0.8", labels=[0, 1])
    assert out.select("lower", "upper").row(0) == pytest.approx((0, 0.975), abs=1e-12)
    assert letters(out) == "-"


@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
def test_limits_of_proportions_are_simultaneous_over_judged_segments(level):
    options = {"min_support": 5}
    out = check(SEGMENTS, "recall >= 0.5", level=level, **options)
    assert out.columns == ["g", "rule", *JUDGED, "undecided"]
    assert out["g"].to_list() == [*"abcde"]
    assert out["estimate"].to_list() == [0.1, 0.5, 0.9, None, 1]
    assert out["bound"].to_list() == [0.5] * 5
    for adjust, each in (("bonferroni", 1 - (1 - level) / 3), (None, level)):
        out = check(SEGMENTS, "recall >= 0.5", adjust=adjust, level=level, **options)
        expected = [clopper_pearson(hits, 40, each) for hits in (4, 20, 36)]
        found = out.select("lower", "upper").rows()
        assert found[:3] == [pytest.approx(pair, abs=1e-12) for pair in expected]
        assert found[3:] == [(None, None)] * 2
    out = check(SEGMENTS, "recall >= 0.5", level=None, **options)
    assert out.select("lower", "upper").rows() == [(None, None)] * 5
    assert out["estimate"].to_list() == [0.1, 0.5, 0.9, None, 1]


def test_counts_ignore_weights_and_scores_use_them():
    frame = pl.DataFrame({"y": [1, 1, 1], "p": [1, 1, 0], "w": [0.5, 0.5, 3.0]})
    options = {"sample_weight": "w", "level": None}
    out = bf.check(frame, "y", "p", rules=["n == 3", "recall <= 0.25"], detail=True, **options)
    assert out.columns == ["rule", *JUDGED, "undecided"]
    assert out["estimate"].to_list() == [3, 0.25]
    assert letters(out) == "PP"
    n_eff = 16 / 9.5  # Kish: (sum w)^2 / sum w^2
    out = bf.check(frame, "y", "p", rules="recall <= 0.25", sample_weight="w", detail=True)
    limits = (out["lower"].item(), out["upper"].item())
    lower, upper = effective([0.5, 0.5], [3])
    assert lower == pytest.approx((n_eff / 4, n_eff))
    expected = by_side(lambda x, n: clopper_pearson(x, n, 0.95), lower, upper)
    assert limits == pytest.approx(expected, abs=1e-12)


def test_differences_and_ratios_use_simultaneous_limits():
    segments = [([hits], [100]) for hits in (30, 60, 90)]
    difference, quotient, _ = extreme_limits(segments, [1], 0.95)
    expected = {"difference": (0.6, *difference), "ratio": (1 / 3, *quotient)}
    for over, numbers in expected.items():
        between = [repr(float(np.mean(pair))) for pair in itertools.pairwise(sorted(numbers))]
        bounds = ["0.0001", *between, "0.9999"]
        for operator, wanted in (("<=", "F--P"), (">=", "P--F"), ("<", "F--P"), (">", "P--F")):
            out = check(RECALLS, [f"{over}(recall) {operator} {bound}" for bound in bounds])
            assert letters(out) == wanted
            assert out["g"].to_list() == [None] * 4
            for row in out.select(JUDGED[:3]).rows():
                assert row == pytest.approx(numbers, abs=1e-5)  # as SciPy's quantile is
        rule, options = f"{over}(recall) == {numbers[0]!r}", {"level": None}
        out = check(RECALLS, rule)
        assert (out["status"].item(), out.columns) == (
            "inconclusive",
            ["g", "rule", *JUDGED, "undecided"],
        )
        out = check(RECALLS, f"{over}(recall) <= 0.5", **options)
        assert out["lower"].to_list() == out["upper"].to_list() == [None]
        assert letters(out) == {"difference": "F", "ratio": "P"}[over]


@cases("metric", ["recall", "balanced_accuracy", "kappa"])
def test_differences_and_ratios_have_the_limits_of_disparity(metric):
    options = {"by": "g", "counts": "n"}
    extremes = bf.disparity(
        pl.DataFrame(table(**FOUR)), "y", "p", metrics=metric, detail=True, **options
    )
    for over in ("difference", "ratio"):
        row = check(FOUR, f"{over}({metric}) >= 0.5").row(0, named=True)
        prefix = "ratio_" if over == "ratio" else ""
        expected = extremes.select(over, f"{prefix}lower", f"{prefix}upper").row(0)
        assert (row["estimate"], row["lower"], row["upper"]) == expected


def test_similar_segments_have_a_lower_difference_of_0_and_an_upper_ratio_of_1():
    out = check({"a": (50, 50), "b": (52, 48)}, ["difference(recall) >= 0", "ratio(recall) <= 1"])
    (_, most), (least, _), _ = extreme_limits([([50], [100]), ([52], [100])], [1], 0.95)
    limits = [pytest.approx((0, most), abs=1e-5), pytest.approx((least, 1), abs=1e-5)]
    assert out.select("lower", "upper").rows() == limits
    assert letters(out) == "PP"
