"""What an audit measures of scores, beside the rows that they come from and arithmetic on them."""

from bisect import bisect_left
from math import inf, log, sqrt

import polars as pl
import pytest
from scipy.stats import kstwobign, norm

import balframe as bf
from audit_page.scored_frames import audit_of, audit_of_compas, compas, probabilities
from balframe.audit_page.measured_scores import are_probabilities
from balframe.audit_page.measured_thresholds import NEVER, InUse, Spread, in_use
from balframe.audit_page.rates import BALANCED

PEOPLE = compas()
RANDOM = probabilities(2000, decimals=2)


@pytest.fixture(scope="module")
def deciles():
    return audit_of_compas()


@pytest.fixture(scope="module")
def drawn():
    return audit_of(RANDOM)


def score_of(answers):
    return answers.models[0].score


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


def test_the_area_is_the_published_one_and_counts_pairs(deciles):
    """Larson et al. (ProPublica 2016) give .71; ties count half."""
    area = score_of(deciles).thresholds.area
    assert area.value == pytest.approx(0.71, abs=0.005)
    low = PEOPLE.filter(pl.col("reoffended") == 0)["decile"].sort().to_list()
    high = PEOPLE.filter(pl.col("reoffended") == 1)["decile"].to_list()
    above = sum(bisect_left(low, one) + bisect_left(low, one + 1) for one in high) / 2
    assert area.value == pytest.approx(above / (len(low) * len(high)))
    assert area.lower < area.value < area.upper
    assert area.n == 6172


def test_every_decile_is_a_point_and_one_is_in_use(deciles):
    found = score_of(deciles).thresholds
    assert found.in_use == InUse(5.0, "found")
    assert [one.threshold.value for one in found.points] == [*range(1, 11), inf]


def test_points_have_the_rates_of_rows_at_their_thresholds(deciles):
    (model,) = deciles.models
    for point in score_of(deciles).thresholds.points:
        fp, negatives, fn, positives = counts_at(PEOPLE, point.threshold.value)
        first, second = (point.rates[rate] for rate in model.rates.errors)
        assert (first.value, first.n) == (pytest.approx(fp / negatives), 3363)
        assert (second.value, second.n) == (pytest.approx(fn / positives), 2809)
        assert point.n_called == fp + positives - fn
        balanced = point.rates[model.rates.named(BALANCED)]
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
    best = score_of(deciles).thresholds.best
    assert best.threshold.value == max(balanced, key=balanced.get) == 5
    spread = sqrt(1 / 3363 + 1 / 2809)
    half = kstwobign.ppf(0.95) * spread / 2
    limits = balanced[5] - half, balanced[5] + half
    assert (best.balanced.lower, best.balanced.upper) == pytest.approx(limits)
    assert best.by_chance == pytest.approx(0.5 + sqrt(log(20) / 2) * spread / 2)


def test_of_many_scores_a_few_quantiles_are_points_with_the_one_in_use_and_the_best(drawn):
    found = score_of(drawn).thresholds
    values = [one.threshold.value for one in found.points]
    assert score_of(drawn).n_scores == RANDOM["score"].n_unique()
    assert 10 <= len(values) <= 14
    assert values[0] == RANDOM["score"].min()
    assert found.in_use.threshold == 0.5
    assert {0.5, found.best.threshold.value, inf} <= {*values}
    ranked = RANDOM["score"].sort()
    quantiles = {ranked[i * 1999 // 10] for i in range(11)}
    assert {*values} == quantiles | {0.5, found.best.threshold.value, inf}


@pytest.mark.parametrize(
    ("called", "n", "step", "found"),
    [
        ([0, 0, 4], [5, 6, 4], None, InUse(3.0, "found")),
        ([0, 6, 4], [5, 6, 4], None, InUse(2.0, "found")),
        ([5, 6, 4], [5, 6, 4], None, InUse(1.0, "everybody")),
        ([0, 0, 0], [5, 6, 4], None, InUse(None, "nobody")),
        ([0, 1, 4], [5, 6, 4], None, InUse(None, "no threshold")),
        ([0, 1, 4], [5, 6, 4], 1.0, InUse(None, "rounded", (2.0, 3.0))),
        ([1, 6, 4], [5, 6, 4], 1.0, InUse(None, "rounded", (1.0, 2.0))),
        ([1, 6, 3], [5, 6, 4], 1.0, InUse(None, "no threshold")),
        ([5, 0, 0], [5, 6, 4], None, InUse(None, "no threshold")),
    ],
)
def test_the_threshold_in_use_is_found_if_calls_follow_from_one(called, n, step, found):
    assert in_use(Spread([1.0, 2.0, 3.0], called, n, step)) == found


def test_steps_end_at_decimals():
    spread = Spread([0.2, 0.3], [1, 2], [2, 2], 0.1)
    assert in_use(spread).between == (0.2, 0.3)


def test_numbers_beside_a_threshold_give_the_same_calls():
    spread = Spread([0.1, 0.48, 0.503, 0.9], [0, 0, 1, 1], [1, 1, 1, 1], None)
    at = spread.threshold(0.503)
    assert at.value == 0.503
    assert at.above == pytest.approx(0.495)  # a hundredth of the range below
    assert spread.threshold(0.48).above == pytest.approx(0.472)
    close = Spread([0.1, 0.5029, 0.503, 0.9], [0, 0, 1, 1], [1, 1, 1, 1], None)
    assert close.threshold(0.503).above == 0.5029
    rounded = Spread([0.1, 0.2], [0, 1], [1, 1], 0.1)
    assert rounded.threshold(0.2).above == 0.2


def test_curves_are_those_of_the_groups_that_are_large_enough(deciles):
    (model,) = deciles.models
    curves = score_of(deciles).thresholds.curves
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


def test_curves_are_of_the_column_whose_groups_are_furthest_apart_and_of_six_groups():
    rows = probabilities(4000, seed=3, decimals=2)
    g = pl.Series([f"g{i % 8}" for i in range(rows.height)])
    # The calls of x are wrong the more often the less their half: those of g do not depend on it.
    rows = rows.with_columns(g=g, x=(rows["score"] > 0.4).cast(pl.String))
    rows = rows.filter((g != "g7") | (pl.int_range(4000) < 3000))
    answers = audit_of(rows, by=("g", "x"))
    assert score_of(answers).thresholds.curves.column == 1
    of_g = score_of(audit_of(rows, by=("g",))).thresholds.curves
    assert [one.value for one in of_g.groups] == ["g0", "g1", "g2", "g3", "g4", "g5"]


def test_without_two_groups_there_are_no_curves():
    alone = RANDOM.with_columns(g=pl.lit("all"))
    assert score_of(audit_of(alone)).thresholds.curves is None
    assert score_of(audit_of(RANDOM, by=())).thresholds.curves is None


def test_curves_have_at_most_some_thresholds():
    rows = probabilities(1500, decimals=3)
    answers = audit_of(rows)
    curves = score_of(answers).thresholds.curves
    assert len(curves.thresholds) <= 103
    assert curves.thresholds[-1].value == inf
    assert all(len(some) == len(curves.thresholds) for some in curves.groups[0].rates.values())


def test_groups_at_the_same_scores_are_those_of_the_verb_on_rows(deciles):
    (found,) = score_of(deciles).same
    rows = bf.calibration_gaps(PEOPLE, "reoffended", "decile", by="race", adjust=None)
    assert [*found.groups] == rows["race"].to_list()
    for row in rows.to_dicts():
        one = found.groups[row["race"]]
        assert one.observed == pytest.approx(row["observed"])
        assert one.expected == pytest.approx(row["expected_at_same_scores"])
        assert one.difference.estimate == pytest.approx(
            (row["difference"], row["lower"], row["upper"], row["n"])
        )
        assert one.difference.p == pytest.approx(row["p_value"])
    assert found.crossing.p == pytest.approx(rows["p_value_crossing"][0])


def test_what_is_expected_is_the_mean_of_the_shares_at_each_decile(deciles):
    (found,) = score_of(deciles).same
    share = dict(PEOPLE.group_by("decile").agg(pl.col("reoffended").mean()).rows())
    black = PEOPLE.filter(pl.col("race") == "African-American")
    expected = sum(share[one] for one in black["decile"]) / black.height
    assert found.groups["African-American"].expected == pytest.approx(expected)


def test_all_differences_join_the_adjustment_of_the_page(deciles):
    own = list(score_of(deciles).differences)
    assert len(own) == 6 + 1
    assert all(one in list(deciles.models[0].differences) for one in own)
    assert all(one.adjusted is not None and one.adjusted >= one.p for one in own)


def test_probabilities_are_those_of_the_verb_on_rows(drawn):
    found = score_of(drawn).probabilities
    everyone = bf.calibration(RANDOM, "y", "score").to_dicts()[0]
    by_group = bf.calibration(RANDOM, "y", "score", by="g").to_dicts()
    pairs = [(found.overall, everyone)]
    pairs += [(found.columns[0][row["g"]], row) for row in by_group]
    for one, row in pairs:
        names = ("oe_ratio", "oe_ratio_lower", "oe_ratio_upper", "n")
        assert one.ratio == pytest.approx(tuple(row[name] for name in names))
        assert one.slope[:3] == pytest.approx(
            (row["slope"], row["slope_lower"], row["slope_upper"])
        )
        assert (one.mean_score, one.observed) == pytest.approx((row["mean_score"], row["observed"]))
        assert one.p == pytest.approx(row["p_value"])
    total = RANDOM["y"].sum() / RANDOM["score"].sum()
    assert found.overall.ratio.value == pytest.approx(total)


def test_rounded_scores_keep_their_mean():
    """Scores are rounded down by half a step on average, and moved up by it again."""
    rows = probabilities(3000)
    answers = audit_of(rows)
    (model,) = answers.models
    assert model.counted.step == pytest.approx(0.001)
    assert score_of(answers).thresholds.in_use == InUse(0.5, "found")
    found = score_of(answers).probabilities.overall
    # The mean of 3,000 rounding errors within half a step: 5 standard errors are 0.00003.
    assert found.mean_score == pytest.approx(rows["score"].mean(), abs=0.00003)
    cells = model.counted.cells
    cut = (cells["score"] * cells["n"]).sum() / cells["n"].sum()
    assert found.mean_score == pytest.approx(cut + 0.0005)


def test_scores_of_one_stay_one():
    rows = probabilities(3000)
    one = pl.lit(1, pl.Int64)
    sure = rows.head(300).with_columns(score=pl.lit(1.0), y=one, p=one)
    answers = audit_of(pl.concat([rows, sure]))
    assert answers.models[0].counted.step is not None
    mean = (rows["score"].sum() + 300) / 3300
    assert score_of(answers).probabilities.overall.mean_score == pytest.approx(mean, abs=0.00003)


@pytest.mark.parametrize(
    ("scores", "are"),
    [
        ([0.0, 0.5, 1.0], True),
        ([0.3], True),
        ([0.0, 1.0], False),
        ([1.0], False),
        ([-0.1, 0.5], False),
        ([0.5, 1.1], False),
        ([1.0, 2.0, 10.0], False),
    ],
)
def test_scores_within_0_and_1_may_be_probabilities(scores, are):
    assert are_probabilities(scores) is are


def test_deciles_are_no_probabilities(deciles):
    assert score_of(deciles).probabilities is None


def test_without_one_of_the_outcomes_rates_are_unknown():
    answers = audit_of(RANDOM.filter(pl.col("y") == 0))
    (model,) = answers.models
    found = score_of(answers).thresholds
    assert found.area.value is None
    assert found.best is None
    first, second = model.rates.errors
    for point in found.points:
        assert point.rates[first].value is not None
        assert point.rates[second].value is None
        assert point.rates[model.rates.named(BALANCED)].value is None
    (same,) = score_of(answers).same
    assert all(one.difference.p is None for one in same.groups.values())


def test_of_a_single_score_no_threshold_is_best():
    answers = audit_of(RANDOM.with_columns(score=pl.lit(7), p=pl.lit(1)))
    found = score_of(answers).thresholds
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
    expected = score_of(audit_of(RANDOM)).thresholds
    for frame, options in ((words, {"pos_label": "yes"}), (logical, {})):
        found = score_of(audit_of(frame, options=options)).thresholds
        assert (found.area, found.in_use) == (expected.area, expected.in_use)


def test_a_group_of_missing_values_is_a_group():
    g = pl.Series([None if i % 3 else "a" for i in range(RANDOM.height)])
    answers = audit_of(RANDOM.with_columns(g=g))
    assert [*score_of(answers).same[0].groups] == ["a", None]
    assert [one.value for one in score_of(answers).thresholds.curves.groups] == ["a", None]


def test_only_the_first_columns_are_compared_at_the_same_scores():
    names = [f"g{i}" for i in range(8)]
    rows = RANDOM.with_columns([pl.col("g").alias(name) for name in names])
    same = score_of(audit_of(rows, by=names)).same
    assert [one.column for one in same] == [0, 1, 2, 3, 4, 5]
