import math

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from balframe.stats.base import IntervalRequest
from balframe.stats.multiple_testing import adjust_p_values, adjust_within_families, extreme_ratio
from tests.support.cases import cases

METHODS = {"bh": "fdr_bh", "holm": "holm"}
NAN = math.nan
P_VALUES = [
    [0.01, 0.04, 0.03, 0.005, 0.2],
    [0.04, 0.04, 0.04, 0.5, 0.9, 1.0],
    [0.3],
    [0.0, 1.0, 0.0],
    np.random.default_rng(0).random(200) ** 3,
]


def column(*values):
    return np.array(values, dtype=float)


@pytest.mark.any_version
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("p", P_VALUES, ids=len)
class TestAdjusted:
    def test_adjusted_p_values_equal_statsmodels(self, method, p):
        _, expected, _, _ = multipletests(p, method=METHODS[method])

        assert adjust_p_values(column(*p), method) == pytest.approx(expected, abs=1e-15)

    def test_undefined_p_values_are_left_out_of_the_adjustment(self, method, p):
        with_gaps = np.repeat(p, 2)
        with_gaps[::2] = NAN
        _, expected, _, _ = multipletests(p, method=METHODS[method])

        result = adjust_p_values(with_gaps, method)

        assert np.isnan(result[::2]).all()
        assert result[1::2] == pytest.approx(expected, abs=1e-15)

    def test_input_p_values_are_not_modified(self, method, p):
        given = column(*p)

        adjust_p_values(given, method)

        assert given.tolist() == list(p)


def test_holm_and_bh_of_three_p_values_equal_hand_computed_values():
    p = column(0.01, NAN, 0.03, 0.04)

    # of three: 3 * 0.01, then 0.03 * 3 / 2 and 0.04 * 3 / 3, of which the later is the smaller
    assert adjust_p_values(p, "bh") == pytest.approx([0.03, NAN, 0.04, 0.04], nan_ok=True)
    # 3 * 0.01, 2 * 0.03, and 1 * 0.04, no smaller than the one before
    assert adjust_p_values(p, "holm") == pytest.approx([0.03, NAN, 0.06, 0.06], nan_ok=True)
    assert adjust_p_values(p, None) == pytest.approx(p, abs=0, nan_ok=True)


def test_each_family_is_adjusted_separately_with_its_size():
    p = column(0.01, 0.2, 0.03, NAN, 0.04, NAN)
    family = np.array([7, 2, 7, 7, 2, 5])

    result, sizes = adjust_within_families(p, family, "holm")

    # 2 * 0.01 and 0.03 of one family, 2 * 0.04 and 0.2 of another; of the third nothing is known
    assert result == pytest.approx([0.02, 0.2, 0.03, NAN, 0.08, NAN], nan_ok=True)
    assert sizes.tolist() == [2, 2, 2, 2, 2, 0]
    assert sizes.dtype == np.int64


@pytest.mark.parametrize("method", ["bh", "holm", None])
def test_a_single_family_equals_adjustment_without_families(method):
    p = column(0.3, NAN, 0.001, 0.04, 0.02)

    result, sizes = adjust_within_families(p, np.zeros(5, np.int64), method)

    assert result == pytest.approx(adjust_p_values(p, method), abs=0, nan_ok=True)
    assert sizes.tolist() == [4] * 5


@pytest.mark.parametrize("method", ["bh", "holm", None])
def test_adjustment_of_empty_or_undefined_p_values_is_empty_or_nan(method):
    assert [v.shape for v in adjust_within_families(column(), np.zeros(0, int), method)] == [
        (0,),
        (0,),
    ]
    assert adjust_p_values(column(), method).shape == (0,)
    assert np.isnan(adjust_p_values(column(NAN, NAN), method)).all()


class TestAdjustedWithin:
    p = column(0.01, 0.01, NAN, 0.03, 0.04, 0.02)
    family = np.array([3, 0, 3, 3, 3, 0])

    def test_family_sizes_count_defined_p_values(self):
        result, sizes = adjust_within_families(self.p, self.family, "holm")

        # of three: 3 * .01, 2 * .03, no smaller; of two: 2 * .01, .02, no smaller
        assert result == pytest.approx([0.03, 0.02, NAN, 0.06, 0.06, 0.02], nan_ok=True)
        assert sizes.tolist() == [3, 2, 3, 3, 3, 2]

    @pytest.mark.parametrize("method", ["bh", "holm", None])
    def test_each_family_equals_its_adjustment_alone(self, method):
        result, _ = adjust_within_families(self.p, self.family, method)

        for one in (0, 3):
            alone = adjust_p_values(self.p[self.family == one], method)
            assert result[self.family == one] == pytest.approx(alone, abs=0, nan_ok=True)

    def test_input_p_values_are_not_modified(self):
        given = self.p.copy()

        adjust_within_families(given, self.family, "bh")

        assert given == pytest.approx(self.p, abs=0, nan_ok=True)

    def test_a_family_without_a_test_has_size_0(self):
        result, sizes = adjust_within_families(column(NAN, 0.2), np.array([0, 1]), "holm")

        assert result == pytest.approx([NAN, 0.2], nan_ok=True)
        assert sizes.tolist() == [0, 1]

    def test_families_without_p_values_are_empty(self):
        result, sizes = adjust_within_families(column(), np.zeros(0, np.int64), "bh")

        assert result.shape == sizes.shape == (0,)


@cases(
    ("level", "comparisons", "expected"),
    [(0.95, 1, 0.95), (0.95, 5, 0.99), (0.9, 100, 0.999), (0.95, 0, 0.95)],
)
def test_bonferroni_splits_the_error_over_comparisons(level, comparisons, expected):
    request = IntervalRequest(None, level).bonferroni(comparisons)

    assert request.level == pytest.approx(expected, abs=1e-15)


@cases(
    ("lower", "upper", "ratio"),
    [
        # apart
        ([0.1, 0.6, 0.4], [0.3, 0.8, 0.7], (0.125, 0.5)),
        # overlapping: all may be the same
        ([0.1, 0.2], [0.5, 0.4], (0.2, 1)),
        ([0.25, 0.25], [0.5, 0.5], (0.5, 1)),
        # the lowest may be 0, and all may be
        ([0, 0.5], [0.25, 1], (0, 0.5)),
        ([0, 0], [0.25, 0.5], (0, 1)),
        ([0, 0.5], [0, 1], (0, 0)),
        # no ratio of what may be negative, or is nothing but 0
        ([-0.5, 0.5], [0.25, 1], (NAN, NAN)),
        ([-0.75, -0.5], [-0.25, 0], (NAN, NAN)),
        ([0, 0], [0, 0], (NAN, NAN)),
        # unknown limits of one segment leave nothing known of the extremes
        ([NAN, 0.2], [NAN, 0.4], (NAN, NAN)),
        ([NAN, NAN], [NAN, NAN], (NAN, NAN)),
    ],
)
def test_limits_of_extreme_ratios_equal_hand_computed(lower, upper, ratio):
    limits = column(*lower), column(*upper)

    assert extreme_ratio(*limits) == pytest.approx(ratio, abs=1e-15, nan_ok=True)
