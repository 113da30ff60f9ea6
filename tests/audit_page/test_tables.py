"""Axes of forest plots: they hold the numbers and have few round ticks."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from balframe.audit_page.forest_marks import Range, around, around_zero
from balframe.audit_page.numbers import PERCENT, POINTS, RATIO, Estimate

UNIT = st.floats(0, 1)
LIMITS = st.tuples(UNIT, UNIT, UNIT).map(sorted).map(lambda x: Estimate(x[1], x[0], x[2]))
GAPS = st.tuples(*[st.floats(-1, 1)] * 3).map(sorted).map(lambda x: Estimate(x[1], x[0], x[2]))
NONE = Estimate(None, None, None)


@pytest.mark.parametrize(
    ("lower", "upper", "ticks"),
    [
        (0.15, 0.58, ["0%", "20%", "40%", "60%"]),
        (0.541, 0.662, ["50%", "55%", "60%", "65%", "70%"]),
        (0.98, 1.0, ["98%", "99%", "100%"]),
        (0.0, 0.0, ["0%", "1%"]),
        (1.0, 1.0, ["99%", "100%"]),
        (0.0, 1.0, ["0%", "50%", "100%"]),
    ],
)
def test_ticks_are_round(lower, upper, ticks):
    axis = around([Estimate(lower, lower, upper)]).axis(PERCENT)
    assert [text for _, text in axis.ticks] == ticks


def test_without_numbers_the_axis_is_that_of_shares():
    assert around([NONE]) == around([]) == Range(0.0, 1.0, 0.5)


@given(st.lists(LIMITS, min_size=1, max_size=5), st.none() | UNIT)
def test_the_axis_holds_all_numbers(estimates, other):
    span = around(estimates, other)
    for one in estimates:
        bar = span.bar(one)
        assert -1e-6 <= bar.lower <= bar.at <= bar.upper <= 1 + 1e-6
    axis = span.axis(PERCENT, other)
    assert 2 <= len(axis.ticks) <= 7
    assert all(text.rstrip("%").isdigit() for _, text in axis.ticks)
    assert other is None or -1e-6 <= axis.line <= 1 + 1e-6


@given(st.lists(GAPS, max_size=5))
def test_the_axis_of_differences_has_0_in_its_middle(estimates):
    span = around_zero(estimates)
    assert span.place(0.0) == 0.5
    for one in estimates:
        bar = span.bar(one)
        assert 0 <= bar.lower <= bar.upper <= 1
    ticks = span.axis(POINTS, 0.0).ticks
    assert [text for _, text in ticks][2] == "0"
    assert len(ticks) == 5


def test_what_is_undefined_has_no_place():
    bar = around([Estimate(0.5, 0.4, 0.6)]).bar(Estimate(0.5, None, None))
    assert math.isclose(bar.at, 0.5)
    assert (bar.lower, bar.upper) == (None, None)
    assert Range(0, 1, 0.5).place(None) is None


def test_the_axis_of_ratios_has_its_lines():
    axis = Range(0.0, 1.2, 0.2).axis(RATIO, 1.0, 0.8)
    assert [text for _, text in axis.ticks][::5] == ["0.00", "1.00"]
    assert axis.line == pytest.approx(1 / 1.2)
    assert axis.dashed == pytest.approx(0.8 / 1.2)
