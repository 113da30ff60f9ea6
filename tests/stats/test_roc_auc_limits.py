import math

import numpy as np
import pytest
from scipy import stats

from balframe.stats.proportions import wilson
from balframe.stats.roc_auc_limits import auc_limits, delong_variance
from tests.support.cases import cases
from tests.support.reference_values import reference

REFERENCE = reference("inference")["auc"]
LEVELS = (1e-9, 0.5, 0.8, 0.95, 0.999, 0.9999999)
SIZES = [(1, 1), (1, 40), (2, 2), (5, 5), (3, 100), (20.5, 7.25), (500, 500), (1e9, 1e9), (1, 1e9)]
AREAS = (0, 1e-18, 1e-6, 0.2, 0.5, 0.731, 0.99, 1 - 1e-9, 1)


def arrays(*numbers):
    return [np.array([number], float) for number in numbers]


def limits(auc, variance, positives, negatives, level=0.95):
    low, high = auc_limits(*arrays(auc, variance, positives, negatives), level)
    return low.item(), high.item()


def variance_at(t, positives, negatives):
    """Newcombe's method 5, as he writes it: Q1 = t / (2 - t), Q2 = 2 t^2 / (1 + t)."""
    m = (positives + negatives) / 2
    first, second = t / (2 - t) - t**2, 2 * t**2 / (1 + t) - t**2
    return (t * (1 - t) + (m - 1) * (first + second)) / (positives * negatives)


def shrunken_ratio(auc, variance, positives, negatives):
    inside = 0 < auc < 1
    r = variance / variance_at(auc, positives, negatives) if inside else 1
    m = min(positives, negatives) - 1
    return (m * r + 50 * max(r, 1)) / (m + 50)


@cases("case", REFERENCE)
def test_limits_equal_reference_values(case):
    data = (case[name] for name in ("auc", "delong_variance", "n_positive", "n_negative"))

    found = limits(*data, case["level"])

    assert found == pytest.approx((case["lower"], case["upper"]), abs=1e-12)


def test_limits_of_a_perfect_ranking_of_five_and_five_rows_are_exact():
    # t is the limit where 1 - t = z sqrt(V(t)); s is 1 as P = N = 5 and the area is 1
    low, high = limits(1, 0, 5, 5)

    assert (round(low, 3), high) == (0.643, 1)
    assert 1 - low == pytest.approx(1.959963984540054 * math.sqrt(variance_at(low, 5, 5)))


@cases("auc", [0, 0.5, 1])
@cases("level", LEVELS)
def test_one_positive_and_one_negative_have_wilson_limits_of_one_row(auc, level):
    # P = N = 1: V(t) = t (1 - t)
    expected = np.ravel(wilson(*arrays(auc, 1), level))

    assert limits(auc, 0, 1, 1, level) == pytest.approx(expected, rel=1e-7, abs=1e-9)


@cases("seed", range(200))
def test_limits_are_z_standard_errors_from_the_area(seed):
    rng = np.random.default_rng(seed)
    positives, negatives = 10 ** rng.uniform(0, 4, 2)
    auc, level = rng.uniform(0.01, 0.99), rng.uniform(0.1, 0.9999)
    variance = variance_at(auc, positives, negatives) * rng.uniform(0, 3)
    scale = shrunken_ratio(auc, variance, positives, negatives)
    z = stats.norm.ppf((1 + level) / 2)

    low, high = limits(auc, variance, positives, negatives, level)

    assert 0 < low < auc < high < 1
    for limit in (low, high):
        error = math.sqrt(scale * variance_at(limit, positives, negatives))
        assert abs(auc - limit) == pytest.approx(z * error, rel=1e-9)


@cases(("positives", "negatives"), SIZES)
@cases("auc", AREAS)
def test_limits_are_around_the_area_and_widen_with_the_level(auc, positives, negatives):
    variance = auc * (1 - auc) / min(positives, negatives)

    found = [limits(auc, variance, positives, negatives, level) for level in LEVELS]

    lower, upper = zip(*found, strict=True)
    assert all(0 <= low <= auc <= high <= 1 for low, high in found)
    assert list(lower) == sorted(lower, reverse=True)
    assert list(upper) == sorted(upper)
    assert (auc > 0) or set(lower) == {0}
    assert (auc < 1) or set(upper) == {1}
    assert found[-1][0] < found[-1][1]


@cases(("positives", "negatives"), SIZES)
@pytest.mark.parametrize("auc", [0, 0.25, 0.5, 0.875, 1 - 2**-40])
@cases("level", LEVELS)
def test_reversed_scores_or_swapped_classes_mirror_the_limits(auc, positives, negatives, level):
    variance = auc * (1 - auc) / max(positives, negatives)
    low, high = limits(auc, variance, positives, negatives, level)

    assert limits(auc, variance, negatives, positives, level) == pytest.approx((low, high))
    mirrored = limits(1 - auc, variance, positives, negatives, level)
    assert mirrored == pytest.approx((1 - high, 1 - low), rel=1e-12, abs=1e-15)


def test_delong_variance_narrows_limits_only_with_many_rows_of_a_class():
    # r = 1/4 where a side has one row: s = max(r, 1) = 1; where it has a million: s = r and little
    for n, scale in ((1, 1), (10**6, (999_999 / 4 + 50) / 1_000_049)):
        variance = variance_at(0.8, n, 10**6) / 4
        low, _ = limits(0.8, variance, n, 10**6)
        error = math.sqrt(scale * variance_at(low, n, 10**6))
        assert 0.8 - low == pytest.approx(1.959963984540054 * error, rel=1e-9)
    assert 0.8 - low == pytest.approx(1.959963984540054 * math.sqrt(variance), rel=0.01)


def test_limits_of_tiny_areas_are_precise():
    # P = N = 1: (AUC - t)^2 = z^2 t (1 - t), so t is next to AUC^2 / z^2 where both are small
    z = 1.959963984540054

    low, _ = limits(1e-18, 0, 1, 1)

    assert low == pytest.approx(1e-36 / z**2, rel=1e-12)


def test_levels_next_to_0_and_1_have_limits():
    assert limits(0.5, 0.01, 10, 10, 5e-324) == pytest.approx((0.5, 0.5), abs=1e-30)
    assert limits(0.5, 0.01, 10, 10, 1 - 2**-53) == pytest.approx((0, 1), abs=1e-12)


@cases("unknown", range(4))
def test_undefined_inputs_have_no_limits(unknown):
    data = [0.75, 0.01, 10, 10]
    data[unknown] = math.nan
    defined = arrays(0.75, 0.01, 10, 10)
    both = [np.append(one, two) for one, two in zip(arrays(*data), defined, strict=True)]

    low, high = auc_limits(*both, 0.95)

    assert np.isnan([low[0], high[0]]).all()
    assert (low[1], high[1]) == limits(0.75, 0.01, 10, 10)


def test_limits_of_no_segments_are_empty():
    low, high = auc_limits(*[np.zeros(0)] * 4, 0.95)

    assert (len(low), len(high)) == (0, 0)


def test_delong_variance_is_the_sum_of_sample_variances():
    # positives .9 and .4, negatives .1, .2 and .5: shares of the other side on the right side
    positives, negatives = np.array([1, 2 / 3]), np.array([1, 1, 1 / 2])
    spreads = positives.var(), negatives.var()

    found = delong_variance(*arrays(*spreads, 2, 3))

    assert found == pytest.approx([(1 / 18) / 2 + (1 / 12) / 3])  # sample variances


@pytest.mark.parametrize("n", [1, 1 + 1e-15])
def test_a_class_with_one_row_adds_nothing_to_the_delong_variance(n):
    assert delong_variance(*arrays(1e-17, 0.2, n, 5)) == pytest.approx([0.2 / 4])
    assert delong_variance(*arrays(0.2, 1e-17, 5, n)) == pytest.approx([0.2 / 4])
    assert delong_variance(*arrays(0, 0, n, n)) == [0]
