"""Periods of time on engines, which truncate times to days themselves."""

from datetime import date, datetime, timedelta

import polars as pl
import pyarrow as pa
import pytest

import balframe as bf
from tests.support.constructors import plain, polars_eager

ROWS = {"y": [1, 0, 1, 0] * 3, "p": [1, 1, 0, 0] * 3}
WRONG = {"text": ["2024-01-01"] * 12, "integer": [20240101] * 12, "float": [0.5] * 12}
ZONED = [  # in UTC, before 1970 and around midnight
    datetime(1969, 12, 31, 23, 59, 59, 999_999) + timedelta(hours=i * 12, microseconds=i % 2)
    for i in range(12)
]


def in_dates(table):
    return table | {
        name: [one.date() if isinstance(one, datetime) else one for one in table[name]]
        for name in {"period", "since"} & table.keys()
    }


@pytest.mark.parametrize("values", WRONG.values(), ids=WRONG)
def test_a_time_column_of_another_type_is_refused(values, engine):
    frame = engine(ROWS | {"day": values})
    asked = {"time": "day", "every": "1w"}

    for ask in (
        lambda: bf.report(frame, "y", "p", **asked),
        lambda: bf.monitor(frame, "y", "p", reference={"until": "2024-01-01"}, **asked),
    ):
        with pytest.raises(bf.UnsupportedTypeError) as raised:
            ask()
        text = str(raised.value)
        assert text.startswith("column 'day' has the type ")
        assert text.endswith(", but time needs dates or datetimes. Cast it first.")


def test_utc_times_are_truncated_to_utc_days(engine, request):
    if request.node.callspec.params["engine"] == "sqlite":
        pytest.skip("SQLite has no time zones")
    zoned = pa.array(ZONED, pa.timestamp("us", "UTC"))

    for every in ("1d", "1w", "1mo"):
        out = bf.report(engine(ROWS | {"when": zoned}), "y", "p", time="when", every=every)
        days = [one.date() for one in ZONED]
        expected = bf.report(
            polars_eager(ROWS).with_columns(period=pl.Series(days).dt.truncate(every)),
            "y",
            "p",
            by="period",
        )
        assert in_dates(plain(out)) == plain(expected)


def test_monitor_takes_reference_cells_from_an_engine(engine):
    days = [date(2024, 2, 26) + timedelta(3 * i) for i in range(12)]
    rows = ROWS | {"day": days}
    live = polars_eager(rows).filter(pl.col("day") > days[4])
    cells = bf.confusion(polars_eager(rows)[:5], "y", "p", by="day")
    asked = {"time": "day", "every": "1w", "dispersion": None}
    expected = bf.monitor(polars_eager(rows), "y", "p", reference={"until": days[4]}, **asked)

    there = engine(cells.to_dict(as_series=False))
    out = bf.monitor(engine(live.to_dict(as_series=False)), "y", "p", reference=there, **asked)

    assert in_dates(plain(out)) == plain(expected)


def test_null_times_are_a_null_period_in_report_and_refused_by_monitor(engine):
    days = [None if i % 3 == 0 else date(2024, 2, 26 + i // 4) for i in range(12)]
    frame = engine(ROWS | {"day": days})
    reference = {"time": "day", "every": "1d", "reference": {"until": "2024-02-26"}}
    reference["dispersion"] = None

    out = in_dates(plain(bf.report(frame, "y", "p", time="day", every="1d")))

    assert (out["period"][-1], out["n"][-1]) == (None, 4)
    with pytest.raises(bf.InvalidInputError, match="column 'day' has 4 null values; fill them"):
        bf.monitor(frame, "y", "p", **reference)
    dropped = bf.monitor(frame, "y", "p", missing="drop", **reference)
    assert sum(plain(dropped)["n"]) == 8 - sum(one == date(2024, 2, 26) for one in days)
