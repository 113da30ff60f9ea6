"""Periods of time are those of polars, which truncates dates itself."""

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

import balframe as bf
from balframe.core.periods import PeriodLength
from tests.support.cases import cases
from tests.support.reference_values import reference

PERIODS = reference("monitor")["periods"]
EPOCH = date(1970, 1, 1)
LENGTHS = ["1d", "3d", "1w", "2w", "1mo", "2mo", "1q", "1y"]
DAYS = np.random.default_rng(20).integers(
    (date(1900, 1, 1) - EPOCH).days, (date(2101, 1, 1) - EPOCH).days, 20_000
)


def day(text):
    return (date.fromisoformat(text) - EPOCH).days


def truncated(days, length):
    dates = pl.Series(days.astype(np.int32)).cast(pl.Date)
    return dates.dt.truncate(length).to_physical().to_numpy()


@cases("length", [*LENGTHS, "5d", "7mo", "3q", "10y", "40000d"])
def test_periods_are_those_of_polars(length):
    starts = PeriodLength.of(length).starts(DAYS)

    assert starts.dtype == np.int64
    assert np.array_equal(starts, truncated(DAYS, length))


@cases("length", LENGTHS)
@cases("row", PERIODS)
def test_period_starts_equal_the_reference_table(row, length):
    (found,) = PeriodLength.of(length).starts(np.array([day(row["day"])])).tolist()

    assert EPOCH + timedelta(found) == date.fromisoformat(row[length])


@cases("length", LENGTHS)
def test_every_day_is_in_the_latest_period_that_has_begun(length):
    """Days of 1,000 days in a row, over two leap days and the first of 1970."""
    days = np.arange(day("1967-12-31"), day("1972-03-02"))

    starts = PeriodLength.of(length).starts(days)

    changes = days[1:][np.diff(starts) > 0]
    assert np.array_equal(starts[1:][np.diff(starts) > 0], changes)  # a period begins on its start
    assert (np.diff(starts) >= 0).all()
    assert (starts <= days).all()
    assert np.array_equal(PeriodLength.of(length).starts(starts), starts)


@cases("length", LENGTHS)
def test_between_lists_every_period(length):
    every = PeriodLength.of(length)
    days = np.arange(day("1960-02-29"), day("1980-03-01"))
    expected = np.unique(every.starts(days))

    assert np.array_equal(every.between(int(expected[0]), int(expected[-1])), expected)
    assert every.between(int(expected[3]), int(expected[3])).tolist() == [expected[3]]
    assert every.between(int(expected[3]), int(expected[2])).tolist() == []


@cases(("same", "as_"), [("7d", "7d"), ("3mo", "1q"), ("12mo", "1y"), ("4q", "1y"), ("01w", "1w")])
def test_equivalent_period_lengths_have_equal_starts(same, as_):
    assert np.array_equal(PeriodLength.of(same).starts(DAYS), PeriodLength.of(as_).starts(DAYS))


def test_7d_periods_start_on_thursday_and_weeks_on_monday():
    starts = {one: PeriodLength.of(one).starts(np.arange(7)).tolist() for one in ("7d", "1w")}

    assert starts == {"7d": [0] * 7, "1w": [-3] * 4 + [4] * 3}


REFUSED = [
    *("0d", "-1w", "1h", "1d12h", "w", "1", "", " ", "1 w", " 1w", "1w ", "1W", "1.5d", "1m", "1M"),
    *("+1d", "1D", "1week", "1d\n", "9" * 5_000 + "d"),
    *(7, 7.0, True, None, b"1w", ["1w"], timedelta(7)),
]


@cases("given", REFUSED)
def test_invalid_period_lengths_are_refused(given):
    with pytest.raises(bf.InvalidInputError) as raised:
        PeriodLength.of(given)

    assert str(raised.value) == (
        f"every={given!r} is not the length of a period; give a positive number and one unit: d "
        "(days), w (weeks from Monday), mo (months), q (quarters) or y (years), such as '1d', '2w' "
        "or '1mo'."
    )


@cases("given", ["100001d", "14286w", "3334mo", "1099q", "274y", "999999999y"])
def test_a_period_of_centuries_is_refused(given):
    with pytest.raises(bf.InvalidInputError) as raised:
        PeriodLength.of(given)

    assert str(raised.value) == (
        f"every={given!r} is longer than 100,000 days; give a shorter period, such as '1y'."
    )


def test_the_longest_periods_are_those_of_polars_too():
    for length in ("100000d", "14285w", "3333mo", "1098q", "273y"):
        assert np.array_equal(PeriodLength.of(length).starts(DAYS), truncated(DAYS, length))
