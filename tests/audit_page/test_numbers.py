"""Numbers in sentences: rounded, but never onto or past what decides."""

import math
import re

from hypothesis import given
from hypothesis import strategies as st

from balframe.audit_page.numbers import (
    DISTANCE,
    PERCENT,
    POINTS,
    RATIO,
    Estimate,
    Scale,
    comparison_scale,
    count,
    p_value,
    percent,
    points,
    points_more,
    share,
)
from tests.support.cases import cases

MINUS = "\N{MINUS SIGN}"
UNIT = st.floats(0, 1)
SIGNED = st.floats(-1, 1)


def number(text):
    return float(text.replace(MINUS, "-").replace(",", "").replace("%", ""))


def side(value, of):
    return 0 if math.isclose(value, of, abs_tol=1e-10) else math.copysign(1, value - of)


@cases(
    ("value", "text"),
    [
        (0.0, "0%"),
        (1.0, "100%"),
        (0.454, "45%"),
        (0.0044, "0.4%"),
        (0.0004, "0.04%"),
        (0.9997, "99.97%"),
        (0.996, "99.6%"),
        (0.994, "99%"),
        (1e-9, "0.00001%"),
        (1 - 1e-9, "99.99999%"),
        (1 - 1e-16, "100%"),
        (3e-17, "0%"),
        (None, "undefined"),
    ],
)
def test_share_is_rounded_but_not_onto_0_or_100_percent(value, text):
    assert percent(value) == text


def test_share_of_zero_rows_is_undefined():
    assert share(0, 0) == "undefined"
    assert share(3, 4) == "75%"


@cases(
    ("value", "text"),
    [(0.26, "+26"), (-0.12, f"{MINUS}12"), (0.0, "0"), (0.004, "+0.4"), (-0.004, f"{MINUS}0.4")],
)
def test_a_difference_has_its_sign(value, text):
    assert POINTS.number(value) == text


def test_an_estimate_may_be_0_only_if_its_limits_include_0():
    assert POINTS.estimate(Estimate(0.004, -0.04, 0.03)) == "0"
    assert POINTS.estimate(Estimate(0.004, 0.001, 0.03)) == "+0.4"
    assert POINTS.estimate(Estimate(0.004, None, None)) == "+0.4"
    assert POINTS.estimate(Estimate(None, None, None)) == "undefined"


def test_positive_share_is_not_rounded_to_0_whatever_its_limits():
    assert PERCENT.with_limits(Estimate(0.004, 0.0, 0.03)) == "0.4% (0 to 3)"


def test_an_estimate_is_written_with_its_limits():
    assert PERCENT.with_limits(Estimate(0.65, 0.64, 0.66)) == "65% (64 to 66)"
    assert PERCENT.with_limits(Estimate(0.65, None, None)) == "65% (no limits)"
    assert PERCENT.with_limits(Estimate(None, None, None)) == "undefined"
    assert RATIO.with_limits(Estimate(0.36, 0.29, 0.997)) == "0.36 (0.29 to 0.997)"
    assert RATIO.with_limits(Estimate(0.998, 0.9, 1.2)) == "1.00 (0.90 to 1.20)"


def test_number_near_a_bound_has_more_decimals():
    rule = Scale(1.0, 2, (0.0, 1.0, 0.746))
    assert rule.number(0.7455) == "0.7455"  # not 0.75, which is above the bound
    assert rule.number(0.747) == "0.75"
    assert rule.number(0.74) == "0.74"
    assert rule.number(0.746) == "0.746"


def test_number_next_to_a_bound_has_at_most_five_decimals():
    rule = Scale(1.0, 2, (0.0, 1.0, 0.75))
    assert rule.number(0.7500000003) == "0.75001"
    assert rule.number(0.7499999997) == "0.74999"
    assert rule.number(0.75) == "0.75"
    assert POINTS.limits(Estimate(0.03, 0.00000003, 0.05)) == "0.00001 to 5"
    assert POINTS.number(-0.00000003) == f"{MINUS}0.00001"
    assert p_value(0.0499999999, 0.05) == ".04999"


@cases(
    ("value", "text"),
    [
        (0.07, "7 points"),
        (0.01, "1 point"),
        (0.0, "0 points"),
        (0.004, "0.4 points"),
        (1.0, "100 points"),
        (None, "an unknown number of points"),
    ],
)
def test_points_are_singular_only_for_1(value, text):
    assert points(value) == text


def test_signed_points_are_followed_by_their_limits():
    assert points_more(Estimate(0.26, 0.22, 0.3)) == "+26 points (22 to 30)"
    assert points_more(Estimate(0.01, 0.002, 0.03)) == "+1 point (0.2 to 3)"
    assert points_more(Estimate(-0.01, -0.03, -0.002)) == f"{MINUS}1 point ({MINUS}3 to {MINUS}0.2)"
    assert points_more(Estimate(0.26, None, None)) == "+26 points"


def test_counts_have_thousands_separators():
    assert count(1_234_567) == "1,234,567"


@cases(
    ("p", "alpha", "text"),
    [
        (0.0004, 0.05, "<.001"),
        (0.909, 0.05, ".909"),
        (0.0496, 0.05, ".0496"),
        (0.0504, 0.05, ".0504"),
        (0.05, 0.05, ".050"),
        (1.0, 0.05, "1.000"),
        (0.0004, 0.0005, "<.0005"),
        (0.0007, 0.0005, ".001"),
        (0.05045, 0.0504, ".0505"),
        (None, 0.05, "\N{EN DASH}"),
    ],
)
def test_p_value_is_not_rounded_onto_alpha(p, alpha, text):
    assert p_value(p, alpha) == text


@given(UNIT, st.sampled_from([0.05, 0.01, 0.1, 0.0005, 0.0125, 0.0504, 0.00001]))
def test_random_p_values_keep_their_side_of_alpha(p, alpha):
    text = p_value(p, alpha)
    if text.startswith("<"):
        assert p < number(text[1:]) <= alpha
    elif abs(p - alpha) > 1e-10:
        assert (number(text) < alpha) == (p < alpha)


@given(UNIT)
def test_random_shares_are_not_rounded_onto_0_or_100_percent(value):
    shown = number(percent(value))
    assert [side(shown, one) for one in (0, 100)] == [side(100 * value, one) for one in (0, 100)]
    assert abs(shown - 100 * value) <= 0.5000001


@given(SIGNED)
def test_random_differences_keep_their_sign_when_rounded(value):
    for scale in (POINTS, DISTANCE):
        text = scale.number(value)
        assert side(number(text), 0) == side(100 * value, 0)
        assert text.count("+") == (scale is POINTS and number(text) > 0)
        assert "-" not in text
        assert re.fullmatch(rf"[+{MINUS}]?[\d,]+(\.\d+)?", text)


@given(st.floats(0, 2), st.decimals(0, 1, places=4).map(float))
def test_random_numbers_keep_their_side_of_a_bound(value, bound):
    scale = Scale(1.0, 2, (0.0, 1.0, bound))
    shown = number(scale.number(value))
    for one in (0.0, 1.0, bound):
        assert side(shown, one) == side(value, one)


@given(st.tuples(UNIT, UNIT, UNIT).map(sorted), UNIT)
def test_random_limits_keep_their_side_of_a_compared_share(numbers, other):
    lower, value, upper = numbers
    scale = comparison_scale(Estimate(value, lower, upper), other)
    shown = number(scale.number(other))
    for one in (lower, upper):
        if abs(one - other) > 1e-9:
            assert (number(scale.number(one)) > shown) == (one > other)
