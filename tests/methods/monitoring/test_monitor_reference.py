"""`monitor` on a stream whose numbers were computed by independent code."""

from datetime import date, timedelta

import pandas as pd
import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import plain
from tests.support.reference_values import reference

CASE = reference("monitor")["monitor"]
MONDAY = date(2024, 1, 29)  # so that a leap day is in the stream
CLOSE = 1e-6


def cells_of(supports, correct, days):
    """Write cells of two labels."""
    rows = [
        {"day": day, "y": label, "yhat": label if hit else 1 - label, "n": k if hit else n - k}
        for day, sizes, hits in zip(days, supports, correct, strict=True)
        for label, n, k in zip((0, 1), sizes, hits, strict=True)
        for hit in (True, False)
    ]
    return [row for row in rows if row["n"]]


DAYS = [MONDAY + timedelta(7 * i + i % 7) for i in range(20)]
LIVE = cells_of(CASE["support"], CASE["correct"], DAYS)
BASELINE = [
    {key: value for key, value in row.items() if key != "day"}
    for row in cells_of([CASE["baseline_support"]], [CASE["baseline_correct"]], DAYS[:1])
]


@cases("make", [pd.DataFrame, pl.DataFrame, pl.LazyFrame])
@cases("is_counted", [False, True])
def test_a_stream_of_twenty_weeks_equals_the_reference(make, is_counted):
    options = {"counts": "n"} if is_counted else {}
    baseline = pl.DataFrame(BASELINE) if make is pl.LazyFrame else make(BASELINE)

    options |= {"baseline": baseline, "dispersion": None}
    out = plain(
        make(LIVE).bal.monitor("y", "yhat", time=bf.period("day", "1w"), detail=True, **options)
    )

    assert [pd.Timestamp(one).date() for one in out["period"]] == [
        MONDAY + timedelta(7 * i) for i in range(20)
    ]
    for i, row in enumerate(CASE["rows"]):
        assert out["n"][i] == row["n"]
        if row["n"]:
            assert out["estimate"][i] == pytest.approx(row["balanced_accuracy"], abs=CLOSE)
        else:
            assert (out["estimate"][i], out["status"][i]) == (None, "inconclusive")


@pytest.mark.parametrize("i", [2, 5, 9], ids=str)
def test_a_period_turns_ok_at_the_margin_computed_from_the_reference(i):
    """Move the tolerance to either side of the number that decides."""
    row = CASE["rows"][i]
    decides = -min(row["lower_of_13_at_95"], row["difference_of_4"])
    assert decides > 0

    statuses = [
        plain(
            pl.DataFrame(LIVE).bal.monitor(
                "y",
                "yhat",
                time=bf.period("day", "1w"),
                baseline=pl.DataFrame(BASELINE),
                tolerance=decides + by,
                dispersion=None,
            )
        )["status"][i]
        for by in (-1e-6, 1e-6)
    ]

    assert statuses == ["inconclusive", "ok"]
