import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats import proportion
from statsmodels.stats.contingency_tables import mcnemar as mcnemar_of_statsmodels

from balframe.intervals.differences import mcnemar, mover_difference, p_value, paired_limits
from balframe.intervals.mid_p import mid_p_value
from balframe.intervals.proportions import wilson

Z = 1.959963984540054


def row(*values):
    return np.array([values], dtype=float)


def p_of_one(one, n_one, other, n_other, *a):
    """Test one pair of segments, given by a value for each label; labels weigh alike by default."""
    (weights,) = a or ([1 / len(one)] * len(one),)
    (p,) = p_value(row(*one), row(*n_one), row(*other), row(*n_other), row(*weights))
    return p


def by_enumeration(one, n_one, other, n_other, a):
    """Go through all outcomes in exact arithmetic; ties with what was observed count half."""
    n = (*n_one, *n_other)
    pooled = [Fraction(x + y, m + k) for x, y, m, k in zip(one, other, n_one, n_other, strict=True)]
    weights = [*a, *(-weight for weight in a)]

    def difference(outcome):
        return sum(w * Fraction(x, m) for w, x, m in zip(weights, outcome, n, strict=True))

    observed, lower, upper = difference((*one, *other)), Fraction(0), Fraction(0)
    for outcome in product(*(range(m + 1) for m in n)):
        mass = math.prod(
            math.comb(m, x) * p**x * (1 - p) ** (m - x)
            for x, m, p in zip(outcome, n, pooled * 2, strict=True)
        )
        found = difference(outcome)
        lower += mass * (found < observed) + mass * Fraction(found == observed, 2)
        upper += mass * (found > observed) + mass * Fraction(found == observed, 2)
    return float(min(1, 2 * min(lower, upper)))


@pytest.mark.parametrize(
    "table", [(40, 45, 2, 10), (3, 3, 0, 7), (9, 10, 199, 200), (5, 9, 4, 8), (0, 4, 0, 9)]
)
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_differences_of_proportions_have_newcombes_limits(table, level):
    x, n, y, m = (np.array([float(value)]) for value in table)
    of_one, of_other = wilson(x, n, level), wilson(y, m, level)

    found = mover_difference(x / n, of_one, y / m, of_other)

    expected = proportion.confint_proportions_2indep(*table, method="newcomb", alpha=1 - level)
    assert np.ravel(found) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("table", [(40, 45, 30, 50), (99, 100, 180, 200), (30, 30, 28, 30)])
def test_one_label_of_many_rows_is_the_pooled_z_test(table):
    x, n, y, m = table
    _, expected = proportion.proportions_ztest([x, y], [n, m])

    assert p_of_one([x], [n], [y], [m]) == pytest.approx(expected, rel=1e-10)


def test_several_labels_of_many_rows_are_the_normal_test_of_pooled_recalls():
    one, n_one, other, n_other = [30, 80, 45], [40, 100, 50], [60, 70, 90], [100, 100, 120]
    a = [0.5, 0.3, 0.2]
    pooled = [90 / 140, 150 / 200, 135 / 170]
    difference = 0.5 * (0.75 - 0.6) + 0.3 * (0.8 - 0.7) + 0.2 * (0.9 - 0.75)
    variance = (
        0.25 * pooled[0] * (1 - pooled[0]) * (1 / 40 + 1 / 100)
        + 0.09 * pooled[1] * (1 - pooled[1]) * (1 / 100 + 1 / 100)
        + 0.04 * pooled[2] * (1 - pooled[2]) * (1 / 50 + 1 / 120)
    )
    expected = math.erfc(difference / math.sqrt(2 * variance))

    assert p_of_one(one, n_one, other, n_other, a) == pytest.approx(expected, rel=1e-12)
    two = (one[:2], n_one[:2], other[:2], n_other[:2])
    assert p_of_one(*two, [1, 0]) == pytest.approx(p_of_one([30], [40], [60], [100]), rel=1e-12)


@pytest.mark.parametrize(
    ("table", "a"),
    [
        (([3], [3], [1], [4]), [1]),
        (([0], [2], [3], [7]), [1]),
        (([2], [5], [2], [5]), [1]),
        (([9], [9], [9], [12]), [1]),
        (([12], [20], [3], [6]), [1]),
        (([1, 3], [2, 3], [1, 1], [3, 2]), [Fraction(1, 2)] * 2),
        (([0, 4], [3, 4], [3, 2], [3, 4]), [Fraction(1, 2)] * 2),
        (([2, 2], [2, 2], [2, 0], [3, 5]), [Fraction(1, 4), Fraction(3, 4)]),
        (([5, 3], [5, 5], [2, 3], [5, 5]), [Fraction(1, 2)] * 2),
        (([1, 2, 0], [1, 2, 1], [1, 0, 1], [2, 2, 1]), [Fraction(1, 3)] * 3),
    ],
)
def test_few_rows_have_the_mid_p_value_of_all_outcomes(table, a):
    expected = by_enumeration(*table, a)

    assert p_of_one(*table, [float(w) for w in a]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("x", "y"), [(9, 700), (3, 700), (8, 700), (6, 950), (10, 500)])
def test_a_binomial_of_many_trials_enters_as_a_normal(x, y):
    n, m, p = 10, 1000, (x + y) / 1010
    observed = x / n - y / m
    both = np.subtract.outer(np.arange(n + 1) / n, np.arange(m + 1) / m)
    mass = np.outer(stats.binom.pmf(np.arange(n + 1), n, p), stats.binom.pmf(range(m + 1), m, p))
    tie = np.isclose(both, observed, atol=1e-9)
    lower = mass[(both < observed) & ~tie].sum() + mass[tie].sum() / 2

    # a mid-distribution of binomials is off the normal one by |1 - 2p| phi(0) / 6 sd at most,
    # to the order of 1 / m, and a p-value is twice a tail
    off = 2 * abs(1 - 2 * p) / math.sqrt(2 * math.pi) / (6 * math.sqrt(m * p * (1 - p))) + 1 / m
    assert p_of_one([x], [n], [y], [m]) == pytest.approx(2 * min(lower, 1 - lower), abs=off)


@pytest.mark.parametrize("right", [([5, 4, 5], [2, 4, 3]), ([1, 2, 3], [3, 3, 4])])
def test_three_labels_of_five_rows(right):
    table = (right[0], [5] * 3, right[1], [5] * 3)
    x = np.stack(np.meshgrid(*[np.arange(6)] * 6, indexing="ij"), axis=-1).reshape(-1, 6)
    pooled = np.add(*right) / 10
    mass = stats.binom.pmf(x, 5, np.tile(pooled, 2)).prod(axis=1)
    sums = x[:, :3].sum(axis=1) - x[:, 3:].sum(axis=1)
    observed = sum(right[0]) - sum(right[1])
    lower = mass[sums < observed].sum() + mass[sums == observed].sum() / 2

    # five of the six binomials are exact; the normal in place of the sixth smears the ties
    assert p_of_one(*table) == pytest.approx(2 * min(lower, 1 - lower), abs=0.01)


def test_five_labels_against_simulation():
    rng = np.random.default_rng(8)
    one, other = [9, 7, 8, 10, 5], [70, 65, 62, 80, 55]
    n, m = np.full(5, 10), np.full(5, 100)
    pooled, rows = np.add(one, other) / 110, 200_000
    found = (rng.binomial(n, pooled, (rows, 5)) / n - rng.binomial(m, pooled, (rows, 5)) / m).sum(1)
    observed = np.sum(one / n - other / m)
    lower = np.mean(found < observed - 1e-9) + np.mean(abs(found - observed) < 1e-9) / 2

    # the simulated share has a standard error of 0.0007 here, and a p-value is twice that
    p = p_of_one(one, n, other, m)
    assert 0.01 < p < 0.2
    assert p == pytest.approx(2 * min(lower, 1 - lower), abs=0.006)


def random_pairs(rows, labels, most, seed=0):
    rng = np.random.default_rng(seed)
    n, m = np.rint(np.exp(rng.uniform(0, np.log(most), (2, rows, labels))))
    x, y = rng.binomial(n.astype(int), 0.7), rng.binomial(m.astype(int), 0.8)
    a = rng.uniform(0.2, 1, (rows, labels))
    return x.astype(float), n, y.astype(float), m, a / a.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(("labels", "most"), [(1, 3000), (2, 12), (2, 3000), (4, 50)])
class TestManyPairsAtOnce:
    def test_give_what_each_gives_alone(self, labels, most):
        pairs = random_pairs(120, labels, most)

        alone = [p_value(*(v[i : i + 1] for v in pairs))[0] for i in range(120)]

        assert p_value(*pairs) == pytest.approx(np.array(alone), abs=1e-12)

    def test_are_probabilities(self, labels, most):
        p = p_value(*random_pairs(120, labels, most, seed=1))

        assert (p >= 0).all()
        assert (p <= 1).all()
        assert len(np.unique(p.round(9))) > 20

    def test_do_not_depend_on_which_side_is_first(self, labels, most):
        x, n, y, m, a = random_pairs(120, labels, most, seed=2)

        assert p_value(x, n, y, m, a) == pytest.approx(p_value(y, m, x, n, a), abs=1e-12)

    def test_do_not_depend_on_the_order_of_labels(self, labels, most):
        pairs = random_pairs(120, labels, most, seed=3)
        turned = [v[:, ::-1] for v in pairs]

        # where supports of two labels are equal, another one may be the one taken as normal
        assert p_value(*pairs) == pytest.approx(p_value(*turned), abs=1e-12 if labels < 4 else 0.01)


def test_batches_of_many_states_lose_no_row():
    n, p, weight = row(29, 40, 55), row(0.7, 0.8, 0.6), row(0.3, 0.3, -0.5)
    observed = np.linspace(-0.4, 0.4, 101)
    repeated = (np.tile(v, (101, 1)) for v in (n, p, weight))

    found = mid_p_value(observed, *repeated)

    expected = [mid_p_value(observed[[i]], n, p, weight)[0] for i in range(101)]
    assert found == pytest.approx(np.array(expected), abs=1e-12)


@pytest.mark.parametrize(("n", "m"), [([4], [7]), ([50], [80]), ([3, 40], [5, 90]), ([0.4], [2.2])])
def test_where_nothing_varies_the_p_value_is_1(n, m):
    nothing, zeros = [1 / len(n)] * len(n), [0] * len(n)

    assert p_of_one(n, n, m, m, nothing) == p_of_one(zeros, n, zeros, m, nothing) == 1


def test_labels_that_do_not_vary_change_nothing():
    alone = p_of_one([3], [6], [8], [9])

    found = p_of_one([3, 7], [6, 7], [8, 4], [9, 4], [0.5, 0.5])

    assert found == pytest.approx(alone, abs=1e-12)


def test_trials_that_are_not_whole_are_rounded():
    p, weight, observed = row(0.6, 0.6), row(1, -1), np.array([0.35])

    for n, whole in (((5.4, 7.6), (5, 8)), ((0.3, 3.2), (1, 3)), ((59.6, 60.4), (60, 60))):
        found, expected = (mid_p_value(observed, row(*m), p, weight) for m in (n, whole))
        assert found == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(("only_one", "only_other", "n"), [(12, 3, 100), (0, 0, 8), (5, 0, 9)])
def test_paired_proportions_have_the_limits_of_bonett_and_price(only_one, only_other, n):
    p, q = (only_one + 1) / (n + 2), (only_other + 1) / (n + 2)
    half = Z * math.sqrt((p + q - (p - q) ** 2) / (n + 2))

    found = paired_limits(row(only_one), row(only_other), row(n), row(1), 0.95)

    assert np.ravel(found) == pytest.approx([p - q - half, p - q + half], abs=1e-12)


def test_paired_limits_of_two_labels_by_hand():
    # limits of 4 and 1 of 20 rows, and of 2 and 0 of 11: 1 is added to each, 2 to the rows
    below, above = Fraction(0), Fraction(0)
    difference = Fraction(3, 4) * Fraction(3, 20) + Fraction(1, 4) * Fraction(2, 11)
    for weight, (one, other, n) in ((Fraction(3, 4), (4, 1, 20)), (Fraction(1, 4), (2, 0, 11))):
        centre, rows = Fraction(one - other, n + 2), n + 2
        half = 1.6448536269514722 * math.sqrt((Fraction(one + other + 2, rows) - centre**2) / rows)
        below += weight**2 * (Fraction(one - other, n) - centre + Fraction(half)) ** 2
        above += weight**2 * (centre + Fraction(half) - Fraction(one - other, n)) ** 2

    found = paired_limits(row(4, 2), row(1, 0), row(20, 11), row(0.75, 0.25), 0.9)

    expected = [float(difference) - math.sqrt(below), float(difference) + math.sqrt(above)]
    assert np.ravel(found) == pytest.approx(expected, abs=1e-12)


def test_paired_limits_mirror_when_the_models_change_places():
    counts = row(4, 2, 0), row(1, 0, 3), row(20, 11, 7), row(0.5, 0.3, 0.2)

    low, high = paired_limits(*counts, 0.95)
    other_low, other_high = paired_limits(counts[1], counts[0], *counts[2:], 0.95)

    assert low == pytest.approx(-other_high, abs=1e-15)
    assert high == pytest.approx(-other_low, abs=1e-15)


@pytest.mark.parametrize("only_one", [0, 1, 3, 12, 40])
@pytest.mark.parametrize("only_other", [0, 1, 3, 40, 200])
def test_mcnemar_equals_statsmodels(only_one, only_other):
    (found,) = mcnemar(np.array([float(only_one)]), np.array([float(only_other)]))

    expected = mcnemar_of_statsmodels([[7, only_one], [only_other, 5]], exact=True).pvalue
    assert found == pytest.approx(1 if only_one == only_other else expected, rel=1e-9)
