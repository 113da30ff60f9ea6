"""Tables of the result of `monitor`: the last periods, with statuses in colours and no details."""

import pandas as pd
import polars as pl
import pytest

import balframe as bf
from tests.support.frames.weekly_stream import ASKED, LAST, STREAM
from tests.support.html_tables import page

ALARM, OK, OPEN = "\N{BALLOT X} alarm", "\N{CHECK MARK} ok", "? inconclusive"


def asked(frame=STREAM, **options):
    return bf.monitor(frame, "y", "yhat", detail=True, **(ASKED | {"by": "site"} | options))


@pytest.fixture(scope="module")
def result():
    return asked()


@pytest.fixture(scope="module")
def parsed(result):
    return page(result)


def test_the_table_has_a_selection_of_columns(parsed):
    assert parsed.texts[0] == [
        *["site", "period", "Balanced accuracy", "Status", "Since", "n", "Labels"],
        *["Smallest support", "Baseline estimate", "Window difference"],
    ]


def test_statuses_have_signs(parsed, result):
    signs = {"alarm": ALARM, "ok": OK, "inconclusive": OPEN}

    assert parsed.text_of("Status") == [signs[one] for one in result["status"]]
    assert {"alarm", "ok", "inconclusive"} == set(result["status"])


def test_estimates_have_their_limits_and_differences_window_limits(parsed, result):
    (row,) = (
        number
        for number, one in enumerate(result.iter_rows(named=True))
        if (one["site"], one["period"]) == ("north", LAST)
    )
    one = result.row(row, named=True)
    assert parsed.text_of("Balanced accuracy")[row].startswith(
        f"0.750 [{one['lower']:.3f}, {one['upper']:.3f}]"
    )
    difference = parsed.text_of("Window difference")[row].replace("\N{MINUS SIGN}", "-")
    assert difference.startswith(f"-0.150 [{one['window_lower']:.3f}, {one['window_upper']:.3f}]")


def test_since_is_a_date_and_empty_where_nothing_is_compared(parsed, result):
    expected = ["" if day is None else str(day) for day in result["since"]]

    assert parsed.text_of("Since") == expected
    assert "" in expected


def test_no_period_is_marked_as_the_worst(parsed):
    assert not [text for text in parsed.alone if text.startswith("Worst")]


def test_max_rows_keeps_the_last_periods():
    stream = STREAM.with_columns(pl.col("when"))

    parsed = page(asked(stream, time=bf.period("when", "1d")), max_rows=10)

    periods = parsed.text_of("period")
    assert len(periods) == 10  # five days of two sites
    assert sorted(set(periods)) == [f"2025-11-{day}" for day in (16, 17, 18, 19, 20)]
    assert any(text.endswith("Shown: the last periods.") for text in parsed.alone)


def test_metrics_are_headings_above_their_periods():
    parsed = page(asked(by=None, metrics=["recall", "accuracy"]))

    assert parsed.alone[:2] == ["Recall", "Accuracy"]
    assert "Estimate" in parsed.texts[0]


def test_pandas_has_the_same_table(result):
    as_pandas = page(asked(pd.DataFrame(STREAM.to_dict(as_series=False))))

    for label in ("n", "Since", "Status", "Window difference"):
        assert as_pandas.text_of(label) == page(result).text_of(label)


def test_columns_may_be_dropped_and_own_ones_added(result):
    some = result.select(pl.exclude("n_labels", "cumulative_lower", "cumulative_upper"))

    parsed = page(some.with_columns(comment=pl.lit("x")))

    assert parsed.texts[0][-1] == "Comment"
    assert parsed.text_of("Status") == page(result).text_of("Status")
