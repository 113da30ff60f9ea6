"""Tests at the same scores: beside dense matrices, statsmodels, and where undefined."""

import itertools
from collections import Counter

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import StratifiedTable

from balframe.core.probability_scores import ProbabilityScores
from balframe.methods.calibration import cmh_test
from balframe.methods.calibration.calibration_gaps import compare_at_same_scores
from balframe.methods.calibration.strata import ScoreStrata, score_strata
from tests.support.cases import cases
from tests.support.oracles.calibration import (
    agreeing,
    chi_square,
    equality_p_value,
    excess_mid_p,
    mantel_haenszel,
    moments,
    probabilities,
)

Z = stats.norm.ppf(0.975)


def drawn(n_segments, rows, n_scores, seed=1, spread=1.0):
    """Draw (segment, score, y) with scores that differ between segments."""
    rng = np.random.default_rng(seed)
    segment = rng.integers(0, n_segments, rows)
    where = rng.normal(0, spread, n_segments)[segment] + rng.normal(0, 1, rows)
    score = np.clip(np.floor(where * 2 + n_scores / 2), 0, n_scores - 1).astype(int)
    y = rng.random(rows) < (score + 1) / (n_scores + 1)
    return segment, score, y


def listed(rows):
    return list(zip(*(np.asarray(values).tolist() for values in rows), strict=True))


def asked(rows, n_segments=None, level=0.95):
    return compare_at_same_scores(probabilities(*rows, n_segments=n_segments), level)


def values(found):
    """List all that is found of all segments together."""
    return [found.all_equal.statistic, found.crossing.statistic], (
        found.all_equal.df,
        found.crossing.df,
    )


DESIGNS = {
    "two segments": (2, 150, 8),
    "three segments, few rows": (3, 25, 6),
    "as many segments as scores": (7, 300, 7),
    "more segments than scores": (40, 400, 5),
    "many segments of few rows": (150, 450, 9),
}


@cases("design", DESIGNS.values())
@cases("seed", range(3))
def test_statistics_are_those_of_dense_matrices(design, seed):
    rows = drawn(*design, seed=seed)
    n_segments = design[0]

    found, df = values(asked(rows, n_segments))

    scores = np.arange(design[2]) / 4
    expected = [
        chi_square(*moments(listed(rows), n_segments)),
        chi_square(*moments(listed(rows), n_segments, scores)),
    ]
    assert found == pytest.approx([statistic for statistic, _ in expected], rel=1e-9)
    assert df == tuple(rank for _, rank in expected)


@cases("design", DESIGNS.values())
def test_algorithms_for_few_and_many_segments_agree(design):
    segment, score, y = drawn(*design)
    strata = ScoreStrata.of(probabilities(segment, score, y))

    few = cmh_test.few_segment_tests(strata)
    many = cmh_test.many_segment_tests(strata)

    for one, other in zip(few, many, strict=True):
        assert one.statistic == pytest.approx(other.statistic, rel=1e-9)
        assert one.df == other.df
        assert one.scale == pytest.approx(other.scale, rel=1e-9)


def test_the_block_size_does_not_change_the_statistics(monkeypatch):
    rows = drawn(150, 450, 9)
    found = asked(rows)

    monkeypatch.setattr(cmh_test, "_BLOCK_SIZE", 20)
    monkeypatch.setattr(cmh_test, "_PRODUCT_SIZE", 30)
    for density in (0, 1):
        monkeypatch.setattr(cmh_test, "_MIN_DENSITY", density)
        again = asked(rows)
        for test, other in ((found.all_equal, again.all_equal), (found.crossing, again.crossing)):
            assert other.df == test.df
            assert [other.statistic, other.scale, other.p_value] == pytest.approx(
                [test.statistic, test.scale, test.p_value], rel=1e-11
            )


@cases("design", {**DESIGNS, "some sparse segments": (12, 90, 4)}.values())
@cases("seed", range(2))
def test_p_values_of_all_segments_are_those_of_loops_over_outcomes(design, seed):
    """Segments of a variance below 1 are merged, and the larger p-value is taken."""
    rows = drawn(*design, seed=seed)

    found = asked(rows, design[0])

    scores = np.arange(design[2]) / 4
    expected = [equality_p_value(listed(rows), design[0], by) for by in (None, scores)]
    assert [found.all_equal.p_value, found.crossing.p_value] == pytest.approx(expected, rel=1e-8)


def test_merged_sparse_segments_are_tested_against_the_others():
    """7 of 40 rows of ten segments are positive, and 80 of 800 of the two others."""
    n, k = [400, 400] + [4] * 10, [40, 40] + [1] * 7 + [0] * 3
    segment = np.repeat(np.arange(12), n)
    y = np.concatenate([np.arange(rows) < positive for rows, positive in zip(n, k, strict=True)])

    found = asked((segment, np.zeros(len(segment)), y)).all_equal

    merged = asked((np.minimum(segment, 2), np.zeros(len(segment)), y)).all_equal
    assert found.pooled_p_value == pytest.approx(merged.p_value, rel=1e-9)
    assert found.p_value == max(found.own_p_value, found.pooled_p_value)


@cases(
    ("n", "positive"),
    [
        ([5000, 5000, 1], 10),
        ([5000, 5000, 1], 3),
        ([1, 100_000], 10),
        ([3, 2000, 2000], 6),
        ([1, 2, 5000], 5),
    ],
)
def test_a_tiny_segment_does_not_make_equal_segments_significant(n, positive):
    """Tables with these margins have a probability of at most 0.05 that p-values are below it."""
    segment, score, significant = np.arange(len(n)), np.full(len(n), 0.5), 0.0
    for k in itertools.product(*(range(min(rows, positive) + 1) for rows in n[1:])):
        k = (positive - sum(k), *k)
        if not 0 <= k[0] <= n[0]:
            continue
        p = ProbabilityScores(segment, score, np.array(n), np.array(k), len(n))
        test = cmh_test.cmh_tests(ScoreStrata.of(p))[0]
        if test.p_value < 0.05:
            significant += stats.multivariate_hypergeom.pmf(k, n, positive)

    assert significant <= 0.05


def test_p_values_against_the_rest_are_near_those_of_statsmodels_in_many_rows():
    segment, score, y = rows = drawn(4, 30_000, 8)
    found = asked(rows)

    for g in range(4):
        tables = [
            [[((segment == g) & (score == s) & (y == o)).sum() for o in (1, 0)],
             [((segment != g) & (score == s) & (y == o)).sum() for o in (1, 0)]]
            for s in np.unique(score)
        ]  # fmt: skip
        tables = [table for table in np.array(tables) if table.sum() > 1]
        test = StratifiedTable(np.stack(tables, axis=2)).test_null_odds()
        assert found.p_value[g] == pytest.approx(test.pvalue, rel=0.02)


@cases("design", DESIGNS.values())
def test_p_values_are_near_exact_mid_p_values(design):
    rows = drawn(*design)
    found = asked(rows, design[0])

    compared = np.flatnonzero(~np.isnan(found.p_value))
    assert len(compared) > design[0] / 2
    for g in compared:
        assert found.p_value[g] == pytest.approx(excess_mid_p(listed(rows), g), rel=0.02)


def test_both_segments_of_two_have_the_same_p_value():
    found = asked(drawn(2, 200, 8))

    assert found.p_value[0] == pytest.approx(found.p_value[1], rel=1e-9)
    assert found.all_equal.df == 1
    assert found.difference[0] == pytest.approx(-found.difference[1], abs=1e-12)
    assert found.lower[0] == pytest.approx(-found.upper[1], abs=1e-12)


@cases("design", DESIGNS.values())
def test_differences_and_limits_equal_a_loop_over_strata(design):
    rows = drawn(*design)
    found = asked(rows, design[0])

    compared = np.flatnonzero(~np.isnan(found.lower))
    assert len(compared) > design[0] / 2
    for g in compared:
        p_value = excess_mid_p(listed(rows), g)
        expected = agreeing(*mantel_haenszel(listed(rows), g, Z), p_value < 0.05)
        assert [found.difference[g], found.lower[g], found.upper[g]] == pytest.approx(
            expected, abs=1e-7
        )
        assert found.lower[g] <= found.difference[g] <= found.upper[g]


def few_positives(rng):
    """Draw p-values of up to seven segments, with few rows in each stratum or few positive ones."""
    shape = rng.integers(2, 8), rng.integers(1, 6)
    n = rng.integers(0, rng.choice([3, 10, 60, 1000]), shape)
    share = rng.beta(1, rng.choice([1, 5, 30]), shape[1])
    share = share * np.exp(rng.normal(0, rng.choice([0, 0.5, 2]), (shape[0], 1)))
    k = rng.binomial(n, np.clip(share, 0, 1))
    segment, score = np.indices(shape)
    y = np.repeat([1, 0], n.size)
    return probabilities(
        np.tile(segment.ravel(), 2),
        np.tile(score.ravel(), 2),
        y,
        np.append(k, n - k),
        n_segments=shape[0],
    )


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 0.99, 0.999])
def test_limits_exclude_0_exactly_where_the_p_value_is_significant(level):
    rng, counts = np.random.default_rng(11), Counter()
    for _ in range(150):
        found = compare_at_same_scores(few_positives(rng), level)
        is_significant = found.p_value < 1 - level
        excludes_0 = (found.lower > 0) | (found.upper < 0)
        assert excludes_0.tolist() == is_significant.tolist()
        assert (
            np.isnan(found.p_value)
            | ((found.lower <= found.difference) & (found.difference <= found.upper))
        ).all()
        counts.update(is_significant.tolist())

    assert min(counts.values()) > 20


@pytest.mark.parametrize("level", [0.01, 0.05, 0.5])
def test_a_difference_of_0_is_significant_at_no_level(level):
    """1 of 5 rows and 4 of 20: the mid-p-value of a skewed count is below 1 at its mean."""
    p = ProbabilityScores(
        np.arange(2), np.zeros(2), np.array([5, 20]), np.array([1, 4]), n_segments=2
    )

    found = compare_at_same_scores(p, level)

    assert found.difference.tolist() == [0, 0]
    assert ((found.lower <= 0) & (found.upper >= 0)).all()
    assert (found.p_value >= 1 - level).all()


def test_expected_shares_and_differences_are_weighted_by_score():
    """Score 1: 6 of 12, and 2 of 4 of the segment. Score 2: 4 of 8, and all 2 of the segment."""
    cells = [(0, 1, 1, 2), (0, 1, 0, 2), (1, 1, 1, 4), (1, 1, 0, 4)]
    cells += [(0, 2, 1, 2), (1, 2, 1, 2), (1, 2, 0, 4)]
    segment, score, y, n = zip(*cells, strict=True)

    found = compare_at_same_scores(probabilities(segment, score, y, n), 0.95)

    assert found.observed.tolist() == pytest.approx([4 / 6, 6 / 14])
    assert found.expected.tolist() == pytest.approx([0.5, 0.5])
    assert found.ratio.tolist() == pytest.approx([4 / 3, 6 / 7])
    # weights 4 * 8 / 12 and 2 * 6 / 8, differences 0 and 1 - 1/3
    assert found.difference[0] == pytest.approx(1.5 * (2 / 3) / (8 / 3 + 1.5))


def test_counts_equal_repeated_rows():
    segment, score, y = rows = drawn(5, 80, 6)
    n = np.arange(80) % 4
    repeated = tuple(np.repeat(one, n) for one in rows)

    counted = compare_at_same_scores(probabilities(segment, score, y, n), 0.95)

    assert values(counted) == values(asked(repeated))
    assert counted.lower.tolist() == asked(repeated).lower.tolist()


@pytest.mark.parametrize("scale", [1e-300, 1e300, -1e300])
def test_the_scale_of_scores_does_not_change_the_statistics(scale):
    segment, score, y = rows = drawn(3, 90, 8)

    found, df = values(asked((segment, score * scale, y)))

    expected, df_expected = values(asked(rows))
    assert found == pytest.approx(expected, rel=1e-9)
    assert df == df_expected


class TestUndefined:
    """Segments without rows or without others at their scores, and outcomes that do not vary."""

    def test_a_segment_without_rows_is_nan_and_changes_no_statistic(self):
        rows = drawn(3, 100, 5)

        with_nothing = asked((rows[0] * 2, *rows[1:]), 6)

        assert values(with_nothing)[0] == pytest.approx(values(asked(rows))[0], rel=1e-9)
        assert values(with_nothing)[1] == (2, 4)
        for of_segments in (with_nothing.observed, with_nothing.ratio, with_nothing.p_value):
            assert np.isnan(of_segments).tolist() == [False, True] * 3

    def test_a_segment_that_shares_no_score_has_no_difference_from_the_rest(self):
        segment, score, y = drawn(3, 100, 5)
        rows = [np.append(a, b) for a, b in ((segment, [3] * 4), (score, [9] * 4), (y, [0, 1] * 2))]

        found = asked(rows)

        assert values(found)[1] == (2, 4)
        assert (found.observed[3], found.expected[3], found.ratio[3]) == (0.5, 0.5, 1)
        of_rest = (found.difference, found.lower, found.upper, found.p_value)
        assert [bool(np.isnan(one[3])) for one in of_rest] == [True] * 4

    def test_all_results_are_nan_if_no_segment_shares_a_score(self):
        found = asked(([0, 0, 1, 1], [1, 1, 2, 2], [0, 1, 0, 1]))

        assert values(found)[1] == (0, 0)
        together = [*values(found)[0], found.all_equal.p_value, found.crossing.p_value]
        assert np.isnan([*together, *found.p_value, *found.difference]).all()

    def test_statistics_of_separate_pairs_of_segments_add_up(self):
        """Two and two segments: in each pair one can differ."""
        segment, score, y = drawn(2, 100, 4)
        rows = [np.append(a, b) for a, b in ((segment, segment + 2), (score, score + 20), (y, y))]

        found = asked(rows)

        apart = asked((segment, score, y))
        assert values(found)[0] == pytest.approx(np.multiply(2, values(apart)[0]), rel=1e-9)
        assert values(found)[1] == (2, 4)

    @pytest.mark.parametrize("y", [0, 1])
    def test_equal_outcomes_have_no_limits_or_p_values(self, y):
        segment, score, _ = drawn(3, 60, 4)

        found = asked((segment, score, np.full(60, y)))

        assert values(found)[1] == (0, 0)
        assert found.observed.tolist() == [y] * 3
        assert found.difference.tolist() == [0] * 3
        assert np.isnan([found.lower, found.upper, found.p_value]).all()
        assert np.isnan(found.ratio).tolist() == [y == 0] * 3

    def test_tests_at_a_single_score_equal_the_chi_square_of_a_table(self):
        """No score can change a difference: both tests are that of a table."""
        found = asked(([0, 0, 0, 1, 1, 1, 2], [5] * 7, [0, 1, 1, 0, 0, 0, 1]))

        assert values(found)[1] == (2, 2)
        assert values(found)[0][0] == pytest.approx(values(found)[0][1])
        # (N - 1) / N times Pearson's statistic
        table = [[2, 0, 1], [1, 3, 0]]
        pearson = stats.chi2_contingency(table, correction=False).statistic
        assert values(found)[0][0] == pytest.approx(pearson * 6 / 7, rel=1e-12)

    def test_fewer_than_two_segments_have_no_p_values(self):
        for rows, n_segments in (([0, 0], [1, 1], [0, 1]), 1), (([], [], []), 0):
            found = asked(rows, n_segments)

            assert len(found.p_value) == n_segments
            assert values(found)[1] == (0, 0)
            assert np.isnan(found.p_value).all()

    def test_a_difference_of_1_has_an_upper_limit_of_1_and_a_lower_below(self):
        found = asked(([0] * 5 + [1] * 5, [1] * 10, [1] * 5 + [0] * 5))

        assert (found.difference[0], found.upper[0]) == (1, 1)
        assert 0 < found.lower[0] < 1


class TestStrata:
    @pytest.mark.parametrize("n_scores", [1, 2, 30])
    def test_each_of_few_scores_is_a_separate_stratum(self, n_scores):
        score = np.random.default_rng(1).permutation(np.repeat(np.arange(n_scores), 40)) / 8

        found = score_strata(score, np.ones(len(score), np.int64))

        assert found.tolist() == (score * 8).astype(int).tolist()

    @pytest.mark.parametrize("rows", [100, 3_000, 200_000])
    def test_many_scores_are_cut_into_quantiles(self, rows):
        score = np.random.default_rng(2).random(rows)

        found = score_strata(score, np.ones(rows, np.int64))

        assert found.max() + 1 == np.ceil(2 * rows**0.4)
        sizes = np.bincount(found)
        assert sizes.max() - sizes.min() <= 2
        highest, lowest = np.full(len(sizes), -1.0), np.full(len(sizes), 2.0)
        np.maximum.at(highest, found, score)
        np.minimum.at(lowest, found, score)
        assert (highest[:-1] < lowest[1:]).all()

    def test_tied_scores_are_in_the_same_stratum(self):
        rng = np.random.default_rng(3)
        score = np.concatenate([rng.random(900), np.full(700, 0.5)])

        found = score_strata(score, np.ones(1600, np.int64))

        assert len(np.unique(found[score == 0.5])) == 1
        assert len(np.unique(found)) > 20

    def test_strata_of_counted_rows_equal_those_of_repeated_rows(self):
        rng = np.random.default_rng(4)
        score, n = rng.random(300), rng.integers(1, 9, 300)

        counted = score_strata(score, n)

        repeated = score_strata(np.repeat(score, n), np.ones(n.sum(), np.int64))
        assert np.repeat(counted, n).tolist() == repeated.tolist()

    def test_strata_have_the_mean_score_and_the_counts_of_their_rows(self):
        rng = np.random.default_rng(5)
        segment, score, y = np.sort(rng.integers(0, 4, 500)), rng.random(500), rng.random(500) < 0.4
        strata = ScoreStrata.of(probabilities(segment, score, y))

        position = score_strata(score, np.ones(500, np.int64))
        for s in range(position.max() + 1):
            own = position == s
            assert strata.score[s] == pytest.approx(score[own].mean(), rel=1e-12)  # 2**0 is above 1
            assert (strata.n_all[s], strata.k_all[s]) == (own.sum(), y[own].sum())
            assert strata.n_segments[s] == len(np.unique(segment[own]))


def test_crossing_segments_are_significant_in_the_crossing_test_only():
    """One segment is above the other at low scores, and as much below at high ones."""
    score = np.tile(np.repeat(np.arange(10), 40), 2)
    segment = np.repeat([0, 1], 400)
    more = np.where(segment == 0, 1, -1) * np.where(score < 5, 1, -1)
    y = np.tile(np.arange(40), 20) < 20 + 4 * more

    found = asked((segment, score, y))

    assert found.all_equal.statistic == pytest.approx(0, abs=1e-9)
    assert found.crossing.p_value < 1e-4


def test_ten_thousand_segments_are_tested_without_a_dense_matrix():
    """Ten thousand segments, whose covariances would fill 800 MB."""
    rng = np.random.default_rng(9)
    n_segments, rows = 10_000, 60_000
    segment, score = rng.integers(0, n_segments, rows), rng.random(rows)

    found = asked((segment, score, rng.random(rows) < score), n_segments)

    assert found.all_equal.df == n_segments - 1 - np.isnan(found.observed).sum()
    # 5 standard deviations of chi-square
    assert abs(found.all_equal.statistic / found.all_equal.df - 1) < 5 * (2 / n_segments) ** 0.5
