"""Tests that all segments have the same score, or the same recalls."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

import balframe as bf
from tests.support.cases import cases
from tests.support.frames.segment_counts import FOUR, PARTS, disparity, table, values_of
from tests.support.oracles.mean_recalls import difference, equal_scores

TESTS = ["statistic", "df", "p_value_all", "p_value_recalls"]


@cases("metric", PARTS)
def test_equality_of_proportions_is_tested_by_pearsons_chi_square(metric):
    parts = np.array([PARTS[metric](*counts) for counts in FOUR.values()])
    hits, rows = parts.T
    pearson = stats.chi2_contingency(np.array([hits, rows - hits]), correction=False)
    # of the score test, with the common recall fitted to the rows
    statistic = pearson.statistic * (rows.sum() - 1) / rows.sum()
    (row,) = disparity(metric, FOUR)
    assert row["statistic"] == pytest.approx(statistic, rel=1e-12)
    assert (row["df"], row["p_value_all"]) == (
        3,
        pytest.approx(stats.chi2.sf(statistic, 3), rel=1e-9),
    )
    assert row["p_value_recalls"] == pytest.approx(pearson.pvalue, rel=1e-9)


MEANS = pytest.mark.parametrize(
    ("metric", "class_weight", "shares"),
    [
        ("balanced_accuracy", None, (1 / 2, 1 / 2)), ("informedness", None, (1 / 2, 1 / 2)),
        ("weighted_balanced_accuracy", {1: 1, 0: 3}, (1 / 4, 3 / 4)),
    ],
)  # fmt: skip


@MEANS
@cases(
    "segments",
    [
        FOUR,
        {"a": (4, 0, 1, 7), "b": (2, 1, 0, 3), "c": (9, 1, 2, 30)},
        {"a": (9, 1, 3, 270), "b": (28, 2, 0, 90), "c": (5, 0, 1, 40), "d": (60, 1, 5, 800)},
    ],
)
def test_equality_of_means_of_recalls_is_tested_by_the_score_test(
    metric, class_weight, shares, segments
):
    counts = [((tp, tn), (tp + fn, tn + fp), shares) for tp, fn, fp, tn in segments.values()]
    expected = equal_scores(counts)
    (row,) = disparity(metric, segments, class_weight=class_weight)
    assert values_of(row, ["statistic", "p_value_all"]) == pytest.approx(expected, rel=1e-9)


@MEANS
def test_p_value_recalls_of_means_equals_a_weighted_chi_square(metric, class_weight, shares):
    counts, shares = np.array([*FOUR.values()]), np.array(shares)
    hits = counts[:, [0, 3]]
    rows = hits + counts[:, [1, 2]]
    pooled = hits.sum(axis=0) / rows.sum(axis=0)
    weight = 1 / (shares**2 * pooled * (1 - pooled) / rows).sum(axis=1)
    means = (shares * hits / rows).sum(axis=1)
    statistic = (weight * (means - np.average(means, weights=weight)) ** 2).sum()
    (row,) = disparity(metric, FOUR, class_weight=class_weight)
    assert row["p_value_recalls"] == pytest.approx(stats.chi2.sf(statistic, 3), rel=1e-12)


def test_equal_means_of_swapped_recalls_are_not_significant():
    # recalls 18/30 and 285/300, or 285/300 and 18/30; of two segments and of four
    pair = {"a": (18, 12, 15, 285), "b": (285, 15, 12, 18)}
    for segments in (pair, pair | {"c": pair["a"], "d": pair["b"]}):
        (row,) = disparity("balanced_accuracy", segments)
        assert values_of(row, ["statistic", "p_value_all"]) == pytest.approx([0, 1], abs=1e-9)
        (row,) = disparity("recall", segments)
        assert max(values_of(row, ["p_value_all", "p_value_recalls"])) < 1e-5


def test_unequal_recalls_with_similar_means_are_not_significant_in_the_mean():
    # recalls 15/30 and 285/300, or 285/300 and 21/30
    (row,) = disparity("balanced_accuracy", {"a": (15, 15, 15, 285), "b": (285, 15, 9, 21)})
    _, _, p = difference(([15, 285], [30, 300]), ([285, 21], [300, 30]), [0.5, 0.5], 0.95)
    assert values_of(row, ["p_value", "p_value_all"]) == pytest.approx([p, p], rel=1e-9)
    assert row["p_value_recalls"] < 0.01 < 0.1 < row["p_value"]


@cases("metric", ["accuracy", "recall", "balanced_accuracy", "informedness"])
def test_p_value_of_two_segments_equals_that_of_gaps(metric):
    two = {"a": (8, 2, 9, 30), "b": (75, 15, 33, 47)}
    (row,) = disparity(metric, two)
    options = {"by": "g", "counts": "n", "metrics": metric, "reference": "b"}
    gap = bf.gaps(pl.DataFrame(table(**two)), "y", "p", detail=True, **options)["p_value"][0]
    assert 0.001 < gap < 0.9
    assert values_of(row, ["p_value", "p_value_all"]) == pytest.approx([gap, gap], rel=1e-9)


def test_segments_without_variance_are_not_significant():
    # recalls of 1 and 0, or of 0 and 1: their score is certain to be 1/2, the common one
    segments = {f"s{k}": (1, 0, 1, 0) if k % 2 else (0, 1, 0, 1) for k in range(8)}
    (row,) = disparity("balanced_accuracy", segments)
    assert values_of(row, ["statistic", "p_value_all"]) == [0, 1]
    more = {"a": (3, 1, 1, 3), "b": (1, 2, 2, 1), "c": (2, 1, 2, 1)}
    (row,) = disparity("balanced_accuracy", segments | more)
    assert 0 < row["statistic"] < 4
    assert row["p_value_all"] > 0.5


def test_the_p_value_of_recalls_needs_10_rows_of_every_label():
    for support, is_null in ((9, True), (10, False)):
        few = {**FOUR, "d": (support - 2, 2, 31, 50)}
        rows = disparity(["recall", "uar", "false_positive_rate"], few)
        assert [row["p_value_recalls"] is None for row in rows] == [is_null, is_null, False]
        assert all(row["statistic"] > 0 and 0 < row["p_value_all"] < 1 for row in rows)
    (row,) = disparity("recall", {"a": (10, 0, 1, 1), "b": (12, 0, 1, 1)})
    assert values_of(row, ["statistic", "df", "p_value_all", "p_value_recalls"]) == [0, 1, 1, 1]


def test_metrics_that_are_not_linear_in_recalls_have_no_statistic():
    for row in disparity(["f1", "kappa", "mcc", "geometric_mean", "f1_macro"], FOUR):
        assert values_of(row, TESTS) == [None, 3, None, None]
        assert row["difference"] > 0
