"""Tables show the largest groups and count the others; axes hold the numbers on round ticks."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from balframe.audit_page.document import Cell, TableRow
from balframe.audit_page.numbers import PERCENT, POINTS, RATIO, Estimate
from balframe.audit_page.tables import (
    Range,
    columns_not_shown,
    difference_range,
    difference_table,
    group_rows,
    ratio_range,
    share_range,
)
from tests.support.audits.figures import (
    FPR,
    column,
    difference,
    group,
    make_request,
    model,
    plain,
    with_request,
)
from tests.support.cases import cases

UNIT = st.floats(0, 1)
LIMITS = st.tuples(UNIT, UNIT, UNIT).map(sorted).map(lambda x: Estimate(x[1], x[0], x[2]))
GAPS = st.tuples(*[st.floats(-1, 1)] * 3).map(sorted).map(lambda x: Estimate(x[1], x[0], x[2]))
NONE = Estimate(None, None, None)


@cases(
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
def test_axis_ticks_are_round_numbers(lower, upper, ticks):
    axis = share_range([Estimate(lower, lower, upper)]).axis(PERCENT)
    assert [text for _, text in axis.ticks] == ticks


def test_axis_without_estimates_is_from_0_to_100_percent():
    assert share_range([NONE]) == share_range([]) == Range(0.0, 1.0, 0.5)


@given(st.lists(LIMITS, min_size=1, max_size=5), st.none() | UNIT)
def test_axis_of_shares_includes_all_estimates_and_limits(estimates, other):
    span = share_range(estimates, other)
    for one in estimates:
        bar = span.bar(one)
        assert -1e-6 <= bar.lower <= bar.at <= bar.upper <= 1 + 1e-6
    axis = span.axis(PERCENT, other)
    assert 2 <= len(axis.ticks) <= 7
    assert all(text.rstrip("%").isdigit() for _, text in axis.ticks)
    assert other is None or -1e-6 <= axis.line <= 1 + 1e-6


@given(st.lists(GAPS, max_size=5))
def test_axis_of_differences_is_centred_on_0(estimates):
    span = difference_range(estimates)
    assert span.place(0.0) == 0.5
    for one in estimates:
        bar = span.bar(one)
        assert 0 <= bar.lower <= bar.upper <= 1
    ticks = span.axis(POINTS, 0.0).ticks
    assert [text for _, text in ticks][2] == "0"
    assert len(ticks) == 5


def test_undefined_estimates_and_limits_have_no_position():
    bar = share_range([Estimate(0.5, 0.4, 0.6)]).bar(Estimate(0.5, None, None))
    assert math.isclose(bar.at, 0.5)
    assert (bar.lower, bar.upper) == (None, None)
    assert Range(0, 1, 0.5).place(None) is None


def test_axis_of_ratios_has_lines_at_1_and_at_the_bound():
    axis = Range(0.0, 1.2, 0.2).axis(RATIO, 1.0, 0.8)
    assert [text for _, text in axis.ticks][::5] == ["0.00", "1.00"]
    assert axis.line == pytest.approx(1 / 1.2)
    assert axis.dashed == pytest.approx(0.8 / 1.2)


@cases(
    ("ratios", "low", "high"),
    [
        ([Estimate(1.02, 0.95, 1.09)], 0.9, 1.1),
        ([Estimate(1.3, 1.2, 1.45)], 0.5, 1.5),
        ([Estimate(1.3, 1.2, 1.9), Estimate(0.4, 0.1, 0.7)], 0.0, 2.0),
        ([Estimate(1.3, 1.2, 2.6)], 0.0, 3.0),
        ([Estimate(9.0, 7.0, 12.0)], 0.0, 4.0),
        ([Estimate(None, None, None)], 0.9, 1.1),
    ],
)
def test_axis_of_ratios_includes_1(ratios, low, high):
    axis = ratio_range(ratios)
    assert (axis.low, axis.high) == pytest.approx((low, high))
    assert axis.low < 1 < axis.high
    assert (1 - axis.low) / axis.step == pytest.approx(round((1 - axis.low) / axis.step))


def rows_of(n):
    """Make the rows of a column of which the page shows the 20 largest groups."""
    groups = [group(f"g{i:03}", 10 + i, 0) for i in range(n)]
    shown = replace(column(groups), largest_groups=groups[-20:])
    return group_rows(with_request(model([shown]), by=["c0"]), [], lambda _: [Cell("x")])


def test_table_has_all_of_20_groups():
    (only,) = rows_of(20)
    assert [plain(row.heading) for row in only.rows] == [f"g{at:03}" for at in range(20)]
    assert only.heading.endswith("\u2069")
    assert plain(only.heading) == "C0"


@pytest.mark.parametrize(
    ("n", "said"),
    [(21, "1 more group, 10 people"), (22, "2 more groups, 21 people")],
)
def test_table_has_the_groups_that_are_shown_and_counts_the_rest(n, said):
    (only,) = rows_of(n)
    assert [plain(row.heading) for row in only.rows[:-1]] == [
        f"g{at:03}" for at in range(n - 20, n)
    ]
    assert only.rows[-1] == TableRow(said, [Cell()], is_small=True)


MORE = difference(26, 22, 30, 0.0001)
LESS = difference(-26, -30, -22, 0.0001)
NOT = difference(3, -4, 10, 0.4)


def difference_rows(groups, differences, **changes):
    compared = replace(column(groups, differences={FPR.metric: differences}), **changes)
    (only,) = difference_table(model([compared]), FPR, "Caption", "Note").groups
    return [(plain(row.heading), [cell.text for cell in row.cells]) for row in only.rows]


def test_each_of_three_groups_has_its_difference_and_small_ones_have_none():
    groups = [group("A"), group("B"), group("C"), group("D", 23)]
    assert difference_rows(groups, {"A": MORE, "B": LESS, "C": NOT}) == [
        ("A", ["100", "+26", "", "<.001"]),
        ("B", ["100", "\N{MINUS SIGN}26", "", "<.001"]),
        ("C", ["100", "+3", "", ".400"]),
        ("D", ["23", "not compared", "", ""]),
    ]


def test_two_groups_have_one_row_which_names_both():
    groups = [group("A"), group("B"), group("D", 23)]
    assert difference_rows(groups, {"B": MORE}) == [
        ("B less A", ["100", "+26", "", "<.001"]),
        ("D", ["23", "not compared", "", ""]),
    ]


def test_table_of_differences_counts_groups_that_are_not_shown():
    groups = [group("A"), group("B"), group("C"), group("D", 12, 3)]
    rows = difference_rows(
        groups, {"A": MORE, "B": LESS, "C": NOT}, largest_groups=column(groups[:3]).groups
    )
    assert rows[-1] == ("1 more group, 15 people", ["", "", "", ""])


@cases(
    ("n", "said"),
    [
        (6, ""),
        (
            7,
            "1 more column is only searched for combinations of groups, and not shown on its own: "
            "c6.",
        ),
        (
            8,
            "2 more columns are only searched for combinations of groups, and not shown on their "
            "own: c6, c7.",
        ),
        (
            14,
            "8 more columns are only searched for combinations of groups, and not shown on their "
            "own: c6, c7, c8, c9, c10, c11 and 2 more.",
        ),
    ],
)
def test_columns_that_are_not_shown_are_named(n, said):
    assert plain(columns_not_shown(make_request([f"c{i}" for i in range(n)]))) == said
