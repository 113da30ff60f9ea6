"""Thresholds are rounded as far as they stay distinct, bounds are not, and dates have no time."""

import io
import re
from datetime import date

import pandas as pd
import polars as pl
import pytest

import balframe as bf
from balframe.cli.text_tables import print_table
from tests.support.constructors import each_constructor, plain
from tests.support.html_tables import MINUS, page
from tests.support.method_arguments import METHODS_WITH_COLUMNS, days, example_arguments

pytestmark = pytest.mark.filterwarnings("ignore::balframe.BalframeWarning")
LONG = re.compile(r"\d[.]\d{5,}")


def curve_of(scores):
    n = len(scores)
    return bf.curve(pl.DataFrame({"y": [0, 1] * (n // 2), "s": scores}), "y", "s")


def shown(result, **options):
    return [row[0].replace(MINUS, "-") for row in page(result, **options).texts[1:]]


def in_terminal(result):
    file = io.StringIO()
    print_table(result, file)
    return file.getvalue()


@pytest.mark.parametrize(
    ("scores", "decimals", "expected"),
    [
        ([0.1234567, 0.7654321], 3, ["0.123", "0.765", "∞"]),
        ([0.1234567, 0.7654321], 0, ["0.1", "0.8", "∞"]),
        ([0.1234567, 0.1231234], 3, ["0.1231", "0.1235", "∞"]),
        ([0.5, 0.25], 3, ["0.25", "0.5", "∞"]),
        ([0.00012345, 0.5], 3, ["0.0001", "0.5", "∞"]),
        ([-1234.56789, 1e22], 3, ["-1234.568", "1e+22", "∞"]),
        ([10.4, 20.6], 0, ["10", "21", "∞"]),
        ([0.5, 0.5 + 1e-14], 3, ["0.5", "0.5", "∞"]),
    ],
)
def test_thresholds_have_the_decimals_that_keep_them_distinct(scores, decimals, expected):
    assert shown(curve_of(scores), decimals=decimals) == expected


def test_bounds_have_all_digits_that_were_given():
    rows = pl.DataFrame({"y": [0, 1] * 20, "p": [0, 1] * 20})
    result = bf.check(rows, "y", "p", rules="accuracy >= 0.7812345678")

    assert page(result).text_of("Bound") == ["0.7812345678"]
    assert "0.7812345678" in in_terminal(result)


def rows_of_scores():
    """Return rows whose scores and days have many digits."""
    n = 240
    s = [((i * 89) % n + 1) / 241 for i in range(n)]
    y = [int(((i * 31) % 7) / 7 + value > 0.9) for i, value in enumerate(s)]
    columns = {"y": y, "p": [int(x > 0.5) for x in s], "q": [int(x > 0.4) for x in s], "s": s}
    t = [1 - value**2 for value in s]
    return pl.DataFrame(columns | {"t": t, "g": [*"abc"] * (n // 3), "day": days(n)})


@pytest.mark.parametrize("method", METHODS_WITH_COLUMNS)
def test_no_table_shows_unrounded_numbers(method):
    options = {"thresholds": 5} if method == "curve" else {}
    result = getattr(bf, method)(rows_of_scores(), **example_arguments(method, **options))

    texts = [text for row in page(result).texts for text in row]
    assert [text for text in texts if LONG.search(text)] == []
    assert LONG.search(in_terminal(result)) is None


def test_slices_of_scores_are_rounded_in_tables():
    result = bf.slices(
        rows_of_scores(), "y", "p", over=["s", "t"], metrics="accuracy", level=1e-9, min_support=5
    )
    texts = page(result).text_of("Slice")
    assert texts
    assert not any(map(LONG.search, texts))


@each_constructor
def test_periods_are_dates_in_every_library(constructor):
    frame = constructor(rows_of_scores().to_dict(as_series=False))
    report = bf.report(frame, "y", "p", by=["g", bf.period("day", "1mo")])
    monitor = bf.monitor(frame, **example_arguments("monitor", by=None, dispersion=None))
    for result in (report, monitor):
        column = page(result).text_of("period")
        assert {len(text) for text in column} == {10}
        assert {date.fromisoformat(text) for text in column}
        assert len(column) == len(plain(result)["period"])


def test_datetimes_within_a_day_keep_their_time():
    times = pd.to_datetime(["2024-01-01T00:00", "2024-01-01T06:00"] * 4)
    frame = pd.DataFrame({"y": [0, 1] * 4, "p": [0, 1] * 4, "at": times})

    result = page(bf.report(frame, "y", "p", by="at"))
    assert result.text_of("at") == ["2024-01-01 00:00:00", "2024-01-01 06:00:00"]
