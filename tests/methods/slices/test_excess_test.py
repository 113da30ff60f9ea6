"""The test that a slice is worse than the rest, beside scipy, mpmath and exact counts."""

from fractions import Fraction
from math import comb

import mpmath
import numpy as np
import pytest
from scipy import stats

from balframe.methods.slices.excess_test import ExcessTest, log_tail
from tests.support.cases import cases
from tests.support.oracles.slices import exact_tail, p_value, pearson_tail
from tests.support.reference_values import reference

REFERENCE = reference("slice_tails")["p_values"]


def one(n, wrong, n_all, wrong_of_all):
    """Make the test of a slice in a single stratum."""
    return several([n], [wrong], [n_all], [wrong_of_all])


def several(n, wrong, n_all, wrong_of_all, weights=None):
    """Make the test of a slice in several strata."""
    arrays = [np.array([values], float) for values in (n, wrong, n_all, wrong_of_all)]
    weights = np.array(weights or [1 / len(n)] * len(n))
    return ExcessTest(weights * arrays[2] / (arrays[0] * (arrays[2] - arrays[0])), *arrays)


@cases("skewness", [-1.0, -0.01, 0.0, 5e-4, 1e-3])
def test_the_tail_without_positive_skewness_is_normal(skewness):
    z = np.array([-3.0, 0.0, 1.5, 8.0, 30.0])

    assert log_tail(z, np.full(5, skewness)) == pytest.approx(stats.norm.logsf(z), rel=1e-12)


@cases("skewness", [0.0011, 0.05, 0.4, 1.0, 3.0])
def test_the_tail_is_that_of_pearson_iii(skewness):
    z = np.array([-0.5, 0.0, 1.0, 3.0, 6.0, 10.0])

    found = np.exp(log_tail(z, np.full(6, skewness)))

    assert found == pytest.approx(stats.pearson3.sf(z, skewness), rel=1e-8)


@pytest.mark.thorough
@cases("skewness", [0.02, 0.1, 0.5, 1.5])
@cases("z", [60.0, 200.0, 3000.0])
def test_a_tail_that_is_too_small_for_floats_keeps_its_logarithm(z, skewness):
    shape = mpmath.mpf(4) / mpmath.mpf(skewness) ** 2
    at = shape + z * mpmath.sqrt(shape)
    with mpmath.workdps(60):
        expected = float(mpmath.log(mpmath.gammainc(shape, at, regularized=True)))

    (found,) = log_tail(np.array([z]), np.array([skewness]))

    assert found == pytest.approx(expected, rel=1e-4)


def test_tails_decrease_strictly_with_the_statistic():
    z = np.linspace(0, 400, 4001)

    for skewness in (0.05, 0.3, 1.0):
        log_p = log_tail(z, np.full(len(z), skewness))
        assert np.isfinite(log_p).all()
        assert (np.diff(log_p) < 0).all()


@cases(("n", "n_all", "wrong_of_all"), [(10, 40, 9), (30, 100, 5), (5, 1000, 300), (999, 1000, 7)])
def test_moments_are_those_of_the_hypergeometric_distribution(n, n_all, wrong_of_all):
    support = range(max(0, n - (n_all - wrong_of_all)), min(n, wrong_of_all) + 1)
    mass = [
        Fraction(comb(wrong_of_all, e) * comb(n_all - wrong_of_all, n - e), comb(n_all, n))
        for e in support
    ]
    mean = sum(p * e for p, e in zip(mass, support, strict=True))
    variance = sum(p * (e - mean) ** 2 for p, e in zip(mass, support, strict=True))
    third = sum(p * (e - mean) ** 3 for p, e in zip(mass, support, strict=True))

    for e in support:
        test = one(n, e, n_all, wrong_of_all)
        z = float(e - mean) / float(variance) ** 0.5
        assert test.excess / test.sd == pytest.approx([z], abs=1e-12)
        assert test.skewness == pytest.approx([float(third) / float(variance) ** 1.5], abs=1e-12)
        assert test.variance[0] == pytest.approx([float(variance)], rel=1e-12)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_stratum_without_rows_does_not_change_the_p_value(place):
    """In the walk, a pattern may have no row of a label."""
    values = [[30.0, 10.0], [25.0, 5.0], [100.0, 50.0], [30.0, 10.0]]
    factors = np.array([0.02, 0.05])
    full = ExcessTest(factors, *(np.array([value]) for value in values))
    empty = ExcessTest(
        np.insert(factors, place, 0.03),
        *(np.insert(np.array([value]), place, 0.0, axis=1) for value in values),
    )

    assert full.log_p()[0] < -5
    assert empty.log_p() == pytest.approx(full.log_p())
    assert empty.exact_log_p(empty.log_p()) == pytest.approx(full.exact_log_p(full.log_p()))


@pytest.mark.parametrize("test", [one(5, 0, 20, 0), one(5, 5, 20, 20)], ids=["none", "all"])
def test_the_p_value_is_1_without_variance(test):
    assert test.log_p() == [0.0]
    assert test.decisive_log_p(np.log(0.05)) == [0.0]
    assert test.exact_log_p(test.log_p()) == [0.0]


@cases("case", REFERENCE)
def test_p_values_equal_the_reference(case):
    test = several(case["n"], case["e"], case["N"], case["M"], case["weights"])
    n_summed = {"exact": 1, "two": 2}.get(case["method"], 0)

    assert test.n_summed.tolist() == [n_summed]
    assert test.exact_log_p(test.log_p()) == pytest.approx([case["log_p"]], rel=1e-9)


def parts_of(n, wrong, n_all, wrong_of_all):
    return [*zip(range(len(n)), n, wrong, n_all, wrong_of_all, strict=True)]


def factors_of(n, n_all):
    """Return b_k with equal weights."""
    return {
        k: Fraction(big, len(n) * small * (big - small))
        for k, (small, big) in enumerate(zip(n, n_all, strict=True))
    }


DESIGNS = [  # n, N, M of each stratum
    ([10], [40], [9]),
    ([3], [40], [1]),
    ([300], [600], [4]),
    ([30], [60], [50]),
    ([20, 150], [80, 400], [12, 90]),
    ([150, 20], [400, 80], [90, 12]),
    ([30, 30], [90, 90], [1, 40]),
    ([30, 30], [90, 90], [0, 40]),
    ([12, 15, 20], [60, 50, 40], [10, 9, 8]),
]


@cases("design", DESIGNS)
def test_p_values_of_every_number_of_wrong_rows_equal_sums_over_outcomes(design):
    n, n_all, wrong_of_all = design
    factors = factors_of(n, n_all)
    span = [
        np.unique(np.linspace(max(0, a + m - b), min(a, m), 12).astype(int)).tolist()
        for a, b, m in zip(n, n_all, wrong_of_all, strict=True)
    ]
    differing = []
    for wrong in zip(*(np.resize(values, 12).tolist() for values in span), strict=True):
        test, parts = (
            several(n, wrong, n_all, wrong_of_all),
            parts_of(n, wrong, n_all, wrong_of_all),
        )
        corrected = pearson_tail(factors, parts)
        expected = exact_tail(factors, parts) or corrected
        decisive = p_value(factors, parts, 0.01)
        values = (
            (np.exp(test.log_p()[0]), corrected),
            (np.exp(test.exact_log_p(test.log_p())[0]), expected),
            (np.exp(test.decisive_log_p(np.log(0.01))[0]), decisive),
        )
        differing += [(wrong, v) for v in values if v[0] != pytest.approx(v[1], rel=1e-9)]
    assert not differing


@cases("level", [0.05, 0.05 / 40, 0.05 / 3000])
def test_decisions_are_those_of_the_exact_test(level):
    """No corrected p-value rejects where the exact one does not: one and two strata that vary."""
    random = np.random.default_rng(5)
    n_all = random.integers(4, [60, 400], (600, 2))
    n = random.integers(1, n_all)
    wrong_of_all = random.integers(1, np.maximum(n_all // 3, 2))
    spread = np.sqrt(n * wrong_of_all / n_all)
    wrong = np.ceil(n * wrong_of_all / n_all + spread * random.uniform(0, 4, (600, 2)))
    wrong = np.minimum(wrong, np.minimum(n, wrong_of_all)).astype(int)
    wrong = np.maximum(wrong, np.maximum(0, n + wrong_of_all - n_all))
    for columns in (slice(0, 1), slice(0, 2)):
        chosen = [x[:, columns] for x in (n, wrong, n_all, wrong_of_all)]
        small, _, big, _ = (x.astype(float) for x in chosen)
        factors = big / (small * (big - small)) / small.shape[1]
        test = ExcessTest(factors, *(x.astype(float) for x in chosen))
        assert (test.n_summed > 0).mean() > 0.9
        decisive = test.decisive_log_p(np.log(level))
        exact = test.exact_log_p(test.log_p())
        rejected = decisive <= np.log(level)
        assert 10 < rejected.sum() < 500
        assert (exact[rejected] <= np.log(level) + 1e-12).all()


def test_the_order_of_strata_does_not_change_an_exact_tail():
    forward = several([33, 900], [3, 110], [65, 2000], [3, 200])
    backward = several([900, 33], [110, 3], [2000, 65], [200, 3])

    assert forward.exact_log_p(forward.log_p()) == pytest.approx(
        backward.exact_log_p(backward.log_p()), rel=1e-12
    )


def test_tails_beyond_the_range_of_floats_keep_their_order():
    """An exact tail of 0 is replaced by the corrected one, of which the logarithm is known."""
    tests = [several([700, 700], [e, e], [1400, 1400], [700, 700]) for e in (600, 690, 700)]
    log_p = [float(test.exact_log_p(test.log_p())[0]) for test in tests]

    assert np.isfinite(log_p).all()
    assert log_p[0] > log_p[1] > log_p[2]
