"""The figures on thresholds, beside the rows that they come from and arithmetic on them."""

from bisect import bisect_left
from math import inf, log, sqrt

import polars as pl
import pytest
from scipy.stats import kstwobign, norm

from balframe.audit_page.rates import BALANCED
from balframe.audit_page.scores import NEVER, ScoreCounts
from balframe.audit_page.sections import calibration, thresholds
from balframe.audit_page.sections.threshold_figures import InUse, threshold_in_use
from tests.support.audits.scored_audits import audit_of_compas, audit_scores, compas, probabilities
from tests.support.cases import cases

PEOPLE = compas()
RANDOM = probabilities(2000, decimals=2)


@pytest.fixture(scope="module")
def deciles():
    return audit_of_compas()


@pytest.fixture(scope="module")
def drawn():
    return audit_scores(RANDOM)


def thresholds_of(audited):
    (figures,) = audited.of(thresholds)
    return figures


def calibration_of(audited):
    (figures,) = audited.of(calibration)
    return figures


def wilson(k, n):
    z = norm.ppf(0.975)
    middle, half = k + z * z / 2, z * sqrt(k * (n - k) / n + z * z / 4)
    return (middle - half) / (n + z * z), (middle + half) / (n + z * z)


def counts_at(rows, threshold, y="reoffended", score="decile"):
    """Count false positives, negatives, false negatives and positives at a threshold."""
    negatives, positives = rows.filter(pl.col(y) == 0), rows.filter(pl.col(y) == 1)
    return (
        int((negatives[score] >= threshold).sum()),
        negatives.height,
        int((positives[score] < threshold).sum()),
        positives.height,
    )


def test_area_equals_the_published_area_and_the_share_of_pairs(deciles):
    """Larson et al. (ProPublica 2016) give .71; ties count half."""
    area = thresholds_of(deciles).area
    assert area.value == pytest.approx(0.71, abs=0.005)
    low = PEOPLE.filter(pl.col("reoffended") == 0)["decile"].sort().to_list()
    high = PEOPLE.filter(pl.col("reoffended") == 1)["decile"].to_list()
    above = sum(bisect_left(low, one) + bisect_left(low, one + 1) for one in high) / 2
    assert area.value == pytest.approx(above / (len(low) * len(high)))
    assert area.lower < area.value < area.upper
    assert area.n == 6172


def test_every_decile_is_an_operating_point_and_5_is_in_use(deciles):
    found = thresholds_of(deciles)
    assert found.in_use == InUse(5.0, "score")
    assert [one.threshold.value for one in found.points] == [*range(1, 11), inf]


def test_operating_points_have_the_rates_of_rows(deciles):
    model = deciles.model
    for point in thresholds_of(deciles).points:
        fp, negatives, fn, positives = counts_at(PEOPLE, point.threshold.value)
        first, second = (point.rates[rate] for rate in model.rates.errors)
        assert (first.value, first.n) == (pytest.approx(fp / negatives), 3363)
        assert (second.value, second.n) == (pytest.approx(fn / positives), 2809)
        assert point.n_predicted == fp + positives - fn
        balanced = point.rates[model.rates.by_metric(BALANCED)]
        assert balanced.value == pytest.approx(1 - (fp / negatives + fn / positives) / 2)
        if point.threshold.value == NEVER:
            assert not first.has_limits
            assert not balanced.has_limits
        else:
            assert (first.lower, first.upper) == pytest.approx(wilson(fp, negatives))


def test_the_best_threshold_has_limits_for_all_thresholds(deciles):
    """The band of Kolmogorov and Smirnov, and the 95% quantile of its one-sided statistic."""
    balanced = {}
    for threshold in range(1, 11):
        fp, negatives, fn, positives = counts_at(PEOPLE, threshold)
        balanced[threshold] = 1 - (fp / negatives + fn / positives) / 2
    best = thresholds_of(deciles).best
    assert best.threshold.value == max(balanced, key=balanced.get) == 5
    spread = sqrt(1 / 3363 + 1 / 2809)
    half = kstwobign.ppf(0.95) * spread / 2
    limits = balanced[5] - half, balanced[5] + half
    assert (best.balanced.lower, best.balanced.upper) == pytest.approx(limits)
    assert best.by_chance == pytest.approx(0.5 + sqrt(log(20) / 2) * spread / 2)


def test_many_scores_are_reduced_to_quantiles_in_use_and_best_threshold(drawn):
    found = thresholds_of(drawn)
    values = [one.threshold.value for one in found.points]
    assert len(drawn.model.scores.scores) == RANDOM["score"].n_unique()
    assert 10 <= len(values) <= 14
    assert values[0] == RANDOM["score"].min()
    assert found.in_use.threshold == 0.5
    assert {0.5, found.best.threshold.value, inf} <= {*values}
    ranked = RANDOM["score"].sort()
    quantiles = {ranked[i * 1999 // 10] for i in range(11)}
    assert {*values} == quantiles | {0.5, found.best.threshold.value, inf}


@cases(
    ("predicted", "n", "step", "in_use"),
    [
        ([0, 0, 4], [5, 6, 4], None, InUse(3.0, "score")),
        ([0, 6, 4], [5, 6, 4], None, InUse(2.0, "score")),
        ([5, 6, 4], [5, 6, 4], None, InUse(1.0, "everybody")),
        ([0, 0, 0], [5, 6, 4], None, InUse(None, "nobody")),
        ([0, 1, 4], [5, 6, 4], None, InUse(None, "no threshold")),
        ([0, 1, 4], [5, 6, 4], 1.0, InUse(None, "rounded", (2.0, 3.0))),
        ([1, 6, 4], [5, 6, 4], 1.0, InUse(None, "rounded", (1.0, 2.0))),
        ([1, 6, 3], [5, 6, 4], 1.0, InUse(None, "no threshold")),
        ([5, 0, 0], [5, 6, 4], None, InUse(None, "no threshold")),
    ],
)
def test_threshold_in_use_is_derived_from_predictions(predicted, n, step, in_use):
    assert threshold_in_use(ScoreCounts([1.0, 2.0, 3.0], predicted, n, step)) == in_use


def test_interval_of_a_rounded_threshold_ends_at_decimals():
    spread = ScoreCounts([0.2, 0.3], [1, 2], [2, 2], 0.1)
    assert threshold_in_use(spread).between == (0.2, 0.3)


def test_curves_include_only_groups_that_are_large_enough(deciles):
    model = deciles.model
    curves = thresholds_of(deciles).curves
    assert [one.value for one in curves.groups] == [
        "African-American",
        "Caucasian",
        "Hispanic",
        "Other",
    ]
    assert [one.value for one in curves.thresholds] == [*range(1, 11), inf]
    for group in curves.groups:
        rows = PEOPLE.filter(pl.col("race") == group.value)
        for at, threshold in enumerate(curves.thresholds):
            fp, negatives, fn, positives = counts_at(rows, threshold.value)
            first, second = (group.rates[rate][at] for rate in model.rates.errors)
            assert (first.value, second.value) == pytest.approx((fp / negatives, fn / positives))


def test_curves_include_six_groups_of_the_column_with_the_largest_gap():
    rows = probabilities(4000, seed=3, decimals=2)
    g = pl.Series([f"g{i % 8}" for i in range(rows.height)])
    # Errors depend on x, the half of the score, and not on g.
    rows = rows.with_columns(g=g, x=(rows["score"] > 0.4).cast(pl.String))
    rows = rows.filter((g != "g7") | (pl.int_range(4000) < 3000))
    audited = audit_scores(rows, by=("g", "x"))
    assert thresholds_of(audited).curves.column.number == 1
    of_g = thresholds_of(audit_scores(rows, by=("g",))).curves
    assert [one.value for one in of_g.groups] == ["g0", "g1", "g2", "g3", "g4", "g5"]


def test_without_two_groups_there_are_no_curves():
    alone = RANDOM.with_columns(g=pl.lit("all"))
    assert thresholds_of(audit_scores(alone)).curves is None
    assert thresholds_of(audit_scores(RANDOM, by=())).curves is None


def test_curves_have_at_most_103_thresholds():
    rows = probabilities(1500, decimals=3)
    audited = audit_scores(rows)
    curves = thresholds_of(audited).curves
    assert len(curves.thresholds) <= 103
    assert curves.thresholds[-1].value == inf
    assert all(len(some) == len(curves.thresholds) for some in curves.groups[0].rates.values())


def test_rates_of_an_absent_outcome_are_null():
    audited = audit_scores(RANDOM.filter(pl.col("y") == 0))
    model = audited.model
    found = thresholds_of(audited)
    assert found.area.value is None
    assert found.best is None
    first, second = model.rates.errors
    for point in found.points:
        assert point.rates[first].value is not None
        assert point.rates[second].value is None
        assert point.rates[model.rates.by_metric(BALANCED)].value is None
    (same,) = calibration_of(audited).columns
    assert all(one.difference.p is None for one in same.groups.values())


def test_single_score_has_no_best_threshold():
    audited = audit_scores(RANDOM.with_columns(score=pl.lit(7), p=pl.lit(1)))
    found = thresholds_of(audited)
    assert found.in_use == InUse(7.0, "everybody")
    assert [one.threshold.value for one in found.points] == [7, inf]
    assert found.best is None
    assert found.curves is None
    assert found.area.value == 0.5


def test_labels_may_be_words_or_booleans():
    named = {0: "no", 1: "yes"}
    words = RANDOM.with_columns(
        y=pl.Series([named[one] for one in RANDOM["y"]]),
        p=pl.Series([named[one] for one in RANDOM["p"]]),
    )
    logical = RANDOM.with_columns(pl.col("y") == 1, pl.col("p") == 1)
    expected = thresholds_of(audit_scores(RANDOM))
    for frame, options in ((words, {"pos_label": "yes"}), (logical, {})):
        found = thresholds_of(audit_scores(frame, options=options))
        assert (found.area, found.in_use) == (expected.area, expected.in_use)


def test_null_group_is_included_in_groups_and_curves():
    g = pl.Series([None if i % 3 else "a" for i in range(RANDOM.height)])
    audited = audit_scores(RANDOM.with_columns(g=g))
    (group,) = calibration_of(audited).columns[0].groups.values()  # of two, one
    assert group.row["n"] == g.count() if group.value == "a" else g.null_count()
    assert [one.value for one in thresholds_of(audited).curves.groups] == ["a", None]
