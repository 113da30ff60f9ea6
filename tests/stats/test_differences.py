from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats import proportion

from balframe.stats.differences import mover_difference, scas_difference
from balframe.stats.mean_recall import score_limits
from balframe.stats.proportions import wilson
from tests.support.cases import cases

ROUNDING = 1e-12


def row(*values):
    return np.array([values], dtype=float)


def compare(one, n_one, other, n_other, a=None, level=0.95):
    """Compare two segments, given by a value for each label: limits and p-value."""
    a = [1 / len(one)] * len(one) if a is None else a
    result = scas_difference(*(row(*v) for v in (one, n_one, other, n_other, a)), level)
    return [float(values[0]) for values in result]


@cases("table", [(40, 45, 2, 10), (3, 3, 0, 7), (9, 10, 199, 200), (5, 9, 4, 8), (0, 4, 0, 9)])
@cases("level", [0.8, 0.95])
def test_mover_of_proportions_has_newcombes_limits(table, level):
    x, n, y, m = (np.array([float(value)]) for value in table)
    first_limits, second_limits = wilson(x, n, level), wilson(y, m, level)

    result = mover_difference(x / n, first_limits, y / m, second_limits)

    expected = proportion.confint_proportions_2indep(*table, method="newcomb", alpha=1 - level)
    assert np.ravel(result) == pytest.approx(expected, abs=1e-12)


class TestPublished:
    """Figures of P. J. Laud: Pharmaceutical Statistics 2017, Table 2, and his package ratesci."""

    @pytest.mark.parametrize(
        ("table", "expected"),
        [(([12], [16], [1], [16]), (0.386, 0.878)), (([19], [29], [22], [30]), (-0.312, 0.160))],
    )
    def test_limits_equal_published_table_2(self, table, expected):
        lower, upper, _ = compare(*table)

        assert (round(lower, 3), round(upper, 3)) == expected

    def test_limits_and_p_value_equal_ratesci(self):
        lower, upper, p = compare([5], [56], [0], [29])

        assert (round(lower, 4), round(upper, 4)) == (-0.0186, 0.1867)
        assert p == pytest.approx(0.08199729, abs=5e-9)

    def test_limits_equal_those_of_a_published_trial(self):
        lower, upper, _ = compare([245], [356], [270], [370])

        assert (round(lower, 3), round(upper, 4)) == (-0.108, 0.0246)

    def test_limits_of_miettinen_and_nurminen_without_the_correction(self):
        low, high = score_limits(row(5, 29), row(56, 29), row(0.5, 0.5), 0.95)

        assert (round(2 * low[0] - 1, 4), round(2 * high[0] - 1, 4)) == (-0.0326, 0.1933)


@cases(("x", "y", "n"), [(7, 1, 34), (12, 1, 16), (90, 75, 100), (3, 9, 12)])
def test_p_value_of_equal_supports_equals_conditional_chi_square(x, y, n):
    q = stats.chi2_contingency([[x, n - x], [y, n - y]], correction=False).statistic

    expected = stats.chi2.sf(q * (2 * n - 1) / (2 * n), 1)
    assert compare([x], [n], [y], [n])[2] == pytest.approx(expected, rel=1e-10)


def test_limits_of_many_rows_equal_the_normal_approximation():
    x, n, y, m = (1e7 * np.array(v) for v in ([7, 8], [9, 10], [13, 21], [18, 25]))
    variance = sum(0.25 * r * (k - r) / k**3 for r, k in zip([*x, *y], [*n, *m], strict=True))
    difference = 0.5 * (x / n - y / m).sum()
    half = 1.959963984540054 * variance**0.5

    lower, upper, _ = compare(x, n, y, m)

    assert lower == pytest.approx(difference - half, rel=1e-4)
    assert upper == pytest.approx(difference + half, rel=1e-4)


def test_p_value_compares_means_of_recalls_and_not_each_recall():
    lower, upper, p = compare([18, 285], [30, 300], [285, 18], [300, 30])

    assert p == 1
    assert lower == pytest.approx(-upper, abs=1e-15)


@cases(("n", "m"), [([4], [7]), ([50], [80]), ([3, 40], [5, 90]), ([1.4], [2.2])])
@cases("share", [0, 1])
def test_where_nothing_varies_the_p_value_is_1(n, m, share):
    lower, upper, p = compare([share * v for v in n], n, [share * v for v in m], m)

    assert p == 1
    assert lower < 0 < upper


# where no score differs the statistic may be anything up to 1, by skewness alone: level .683
LEVELS = (0.7, 0.8, 0.9, 0.95, 0.99, 0.999, 0.9999)
ROWS = st.one_of(st.integers(1, 12), st.integers(13, 3000))
SIDE = ROWS.flatmap(lambda n: st.tuples(st.sampled_from([0, 1, n // 2, n - 1, n]), st.just(n)))
PAIR = st.lists(st.tuples(SIDE, SIDE), min_size=1, max_size=4).map(
    lambda labels: [[label[side][i] for label in labels] for i in (0, 1) for side in (0, 1)]
)


@given(PAIR, st.sampled_from(LEVELS))
def test_limits_contain_the_difference_and_agree_with_the_p_value(pair, level):
    x, y, n, m = pair
    difference = (np.divide(x, n) - np.divide(y, m)).mean()

    lower, upper, p = compare(x, n, y, m, level=level)

    assert -1 <= lower <= difference + ROUNDING
    assert difference - ROUNDING <= upper <= 1
    assert 0 <= p <= 1
    # not where rounding decides
    if abs(p - (1 - level)) > 1e-9:
        assert (p < 1 - level) == (lower > 0 or upper < 0)


@given(PAIR)
def test_swapping_segments_or_outcomes_mirrors_the_limits(pair):
    x, y, n, m = pair
    lower, upper, p = compare(x, n, y, m)

    swapped = compare(y, m, x, n)
    wrong = compare(np.subtract(n, x), n, np.subtract(m, y), m)

    for result in swapped, wrong:
        assert result == pytest.approx([-upper, -lower, p], rel=1e-9, abs=1e-11)


@given(PAIR, st.randoms())
def test_the_order_of_labels_does_not_matter(pair, random):
    order = random.sample(range(len(pair[0])), len(pair[0]))
    x, y, n, m = ([values[i] for i in order] for values in pair)

    expected = compare(pair[0], pair[2], pair[1], pair[3])
    assert compare(x, n, y, m) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(PAIR)
def test_limits_widen_with_the_level(pair):
    x, y, n, m = pair
    result = np.array([compare(x, n, y, m, level=level) for level in LEVELS])

    assert (np.diff(result[:, 0]) <= ROUNDING).all()
    assert (np.diff(result[:, 1]) >= -ROUNDING).all()
    assert len(set(result[:, 2])) == 1


def random_pairs(rows, labels, most):
    rng = np.random.default_rng(labels)
    n, m = np.rint(np.exp(rng.uniform(0, np.log(most), (2, rows, labels))))
    x, y = (rng.binomial(size.astype(int), rng.uniform(0.5, 1, size.shape)) for size in (n, m))
    a = np.full((rows, labels), 1 / labels)
    return x.astype(float), n, y.astype(float), m, a


@pytest.mark.parametrize(("labels", "most"), [(1, 3000), (2, 12), (2, 3000), (7, 50)])
class TestManyPairsAtOnce:
    def test_many_pairs_at_once_equal_each_pair_alone(self, labels, most):
        pairs = random_pairs(30, labels, most)

        alone = [np.ravel(scas_difference(*(v[i : i + 1] for v in pairs), 0.95)) for i in range(30)]

        result = np.transpose(scas_difference(*pairs, 0.95))
        assert result == pytest.approx(np.array(alone), rel=1e-9, abs=1e-12)

    def test_many_pairs_are_significant_where_limits_exclude_0(self, labels, most):
        pairs = random_pairs(2000, labels, most)
        for level in LEVELS:
            lower, upper, p = scas_difference(*pairs, level)

            excludes = (lower > 0) | (upper < 0)
            by_rounding = np.abs(p - (1 - level)) < 1e-9
            assert ((p < 1 - level) == excludes)[~by_rounding].all()
            assert by_rounding.mean() < 0.01
            assert excludes.any() or level >= 0.999
            assert not excludes.all()


EDGES = {
    "one row of each": ([1], [1], [0], [1]),
    "one row, all right": ([1, 1], [1, 1], [1, 1], [1, 1]),
    "all wrong": ([0, 0], [4, 9], [0, 0], [2, 7]),
    "all right against all wrong": ([4, 9], [4, 9], [0, 0], [2, 7]),
    "very many rows": ([10**9 - 3, 5 * 10**8], [10**9] * 2, [10**9, 5 * 10**8], [10**9] * 2),
    "one row beside very many": ([1], [1], [10**9 - 1], [10**9]),
    "few effective rows": ([1.02, 0.3], [1.02, 1.1], [0, 1.7], [1.3, 1.7]),
    "a hundred labels": ([1, 0] * 50, [1, 2] * 50, [3, 2] * 50, [3] * 100),
}


@cases("table", EDGES.values())
def test_limits_of_extreme_counts_contain_the_difference(table):
    shares = [0.5, 0.5], [0.999, 0.001], [0.001, 0.999]
    for weights, level in product(shares, (0.5, 0.95, 0.99999)):
        a = weights if len(table[0]) == 2 else None
        x, n, y, m = table
        difference = np.average(np.divide(x, n) - np.divide(y, m), weights=a)

        lower, upper, p = compare(*table, a, level)

        assert -1 <= lower <= difference + ROUNDING
        assert difference - ROUNDING <= upper <= 1
        assert 0 < p <= 1


ROWS_BY_SIDE = st.tuples(PAIR, st.floats(0.3, 3), st.floats(0.3, 3))


@given(ROWS_BY_SIDE, st.sampled_from([0.8, 0.95, 0.999]))
def test_limits_of_weighted_rows_take_the_rows_of_each_side(rows, level):
    pair, factor, other_factor = rows
    x, y, n, m = (row(*values) for values in pair)
    a = np.full(x.shape, 1 / x.shape[1])
    upper = (x * factor, n * factor, y * other_factor, m * other_factor)

    low, high, p = (values.item() for values in scas_difference(x, n, y, m, a, level, upper))

    below, above = (scas_difference(*one, a, level) for one in ((x, n, y, m), upper))
    difference = (a * (x / n - y / m)).sum()
    assert (low, high) == (below[0].item(), above[1].item())
    expected = 1.0 if abs(difference) < 1e-12 else (below if difference > 0 else above)[2].item()
    assert p == pytest.approx(expected, rel=1e-9)
    assert (p < 1 - level) == (low > 0 or high < 0) or abs(p - (1 - level)) < 1e-6
