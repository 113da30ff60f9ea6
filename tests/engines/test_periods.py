"""Periods of time on engines, which truncate times to days themselves."""

from datetime import date, datetime, timedelta

import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import balframe as bf
from tests.engines.conftest import on_engines
from tests.support.constructors import plain, polars_eager
from tests.support.programs import library

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
    asked = {"time": bf.period("day", "1w")}

    for ask in (
        lambda: bf.report(frame, "y", "p", by=asked["time"]),
        lambda: bf.monitor(frame, "y", "p", baseline={"until": "2024-01-01"}, **asked),
    ):
        with pytest.raises(bf.UnsupportedTypeError) as raised:
            ask()
        text = str(raised.value)
        assert text.startswith("column 'day' has the type ")
        assert text.endswith(", but bf.period needs dates or datetimes. Cast it first.")


def test_utc_times_are_truncated_to_utc_days(engine, request):
    if request.node.callspec.params["engine"] == "sqlite":
        pytest.skip("SQLite has no time zones")
    zoned = pa.array(ZONED, pa.timestamp("us", "UTC"))

    for every in ("1d", "1w", "1mo"):
        out = bf.report(engine(ROWS | {"when": zoned}), "y", "p", by=bf.period("when", every))
        days = [one.date() for one in ZONED]
        expected = bf.report(
            polars_eager(ROWS).with_columns(period=pl.Series(days).dt.truncate(every)),
            "y",
            "p",
            by="period",
        )
        assert in_dates(plain(out)) == plain(expected)


NEW_YORK = [datetime(2024, 1, 1, 2), datetime(2024, 1, 1, 5), datetime(2024, 2, 1, 4, 59)]
LOCAL = ([date(2023, 12, 1), date(2024, 1, 1)], [1, 2])
IN_UTC = ([date(2024, 1, 1), date(2024, 2, 1)], [2, 1])


def in_zone(zone="America/New_York", unit="us"):
    moments = pa.array(NEW_YORK, pa.timestamp(unit)).cast(pa.int64())
    return {"y": [1, 0, 1], "p": [1, 1, 0], "when": moments.cast(pa.timestamp(unit, zone))}


def months(frame):
    out = in_dates(plain(bf.report(frame, "y", "p", by=bf.period("when", "1mo"), backend="polars")))
    return out["period"], out["n"]


@pytest.mark.parametrize("name", on_engines(["dask", "ibis", "postgres", "datafusion", "dataset"]))
def test_days_are_those_of_the_zone_of_the_column(name, request):
    assert months(request.getfixturevalue(name)(in_zone())) == LOCAL


@pytest.mark.parametrize("unit", ["s", "ms", "ns"])
@pytest.mark.parametrize("name", on_engines(["dask"]))
def test_days_of_a_zone_are_the_same_in_every_unit(name, unit, request):
    assert months(request.getfixturevalue(name)(in_zone(unit=unit))) == LOCAL


@pytest.mark.parametrize("zone", ["-05:00", "America/Lima"])
def test_zones_of_a_fixed_offset_are_those_of_the_column_in_ibis(ibis, zone):
    assert months(ibis(in_zone(zone))) == LOCAL


def test_days_are_those_of_utc_where_postgres_has_lost_the_zone(postgres):
    table = postgres(in_zone())
    stored = table.get_backend().table(table.get_name())

    assert months(stored) == IN_UTC


@pytest.fixture(params=["UTC", "America/New_York", "Asia/Tokyo"])
def in_session(request, tmp_path):
    """Open a file in a session of DuckDB that has a time zone."""
    path = str(tmp_path / "rows.parquet")
    pyarrow.parquet.write_table(pa.table(in_zone()), path)
    with library("duckdb").connect() as connection:
        connection.execute(f"SET TimeZone = '{request.param}'")
        yield connection, path


@pytest.mark.any_version
def test_days_are_those_of_utc_where_duckdb_has_lost_the_zone(in_session):
    connection, path = in_session

    assert months(connection.read_parquet(path)) == IN_UTC


def test_days_of_nanoseconds_are_those_of_utc_on_duckdb(in_session):
    connection, path = in_session
    try:
        rows = connection.read_parquet(path).project('y, p, "when"::TIMESTAMPTZ_NS AS "when"')
    except library("duckdb").CatalogException:
        pytest.skip("DuckDB has no such type yet")

    assert months(rows) == IN_UTC


@pytest.mark.engines
def test_days_are_those_of_utc_where_a_table_of_ibis_has_lost_the_zone(in_session):
    connection, path = in_session
    table = library("ibis").duckdb.from_connection(connection).read_parquet(path)

    assert months(table) == IN_UTC


@pytest.mark.engines
@pytest.mark.xdist_group("sqlframe")
def test_days_are_those_of_utc_where_sqlframe_has_lost_the_zone(in_session, sqlframe_session):
    _, path = in_session
    before = sqlframe_session._conn.sql("SELECT current_setting('TimeZone')").fetchall()[0][0]
    zone = in_session[0].sql("SELECT current_setting('TimeZone')").fetchall()[0][0]
    try:
        sqlframe_session._conn.execute(f"SET TimeZone = '{zone}'")
        assert months(sqlframe_session.read.parquet(path)) == IN_UTC
    finally:
        sqlframe_session._conn.execute(f"SET TimeZone = '{before}'")


def test_the_time_may_also_be_a_by_column_of_moments(in_session):
    connection, path = in_session

    out = plain(
        bf.report(connection.read_parquet(path), "y", "p", by=["when", bf.period("when", "1mo")])
    )

    assert out["n"] == [1, 1, 1]
    assert in_dates(out)["period"] == [IN_UTC[0][0]] * 2 + [IN_UTC[0][1]]


def test_monitor_takes_baseline_cells_from_an_engine(engine):
    days = [date(2024, 2, 26) + timedelta(3 * i) for i in range(12)]
    rows = ROWS | {"day": days}
    live = polars_eager(rows).filter(pl.col("day") > days[4])
    cells = bf.confusion(polars_eager(rows)[:5], "y", "p", by="day")
    asked = {"time": bf.period("day", "1w"), "dispersion": None}
    expected = bf.monitor(polars_eager(rows), "y", "p", baseline={"until": days[4]}, **asked)

    there = engine(cells.to_dict(as_series=False))
    out = bf.monitor(engine(live.to_dict(as_series=False)), "y", "p", baseline=there, **asked)

    assert in_dates(plain(out)) == plain(expected)


def test_null_times_are_a_null_period_in_report_and_refused_by_monitor(engine):
    days = [None if i % 3 == 0 else date(2024, 2, 26 + i // 4) for i in range(12)]
    frame = engine(ROWS | {"day": days})
    options = {"time": bf.period("day", "1d"), "baseline": {"until": "2024-02-26"}}
    options["dispersion"] = None

    out = in_dates(plain(bf.report(frame, "y", "p", by=bf.period("day", "1d"))))

    assert (out["period"][-1], out["n"][-1]) == (None, 4)
    with pytest.raises(bf.InvalidInputError, match="column 'day' has 4 null values; fill them"):
        bf.monitor(frame, "y", "p", detail=True, **options)
    dropped = bf.monitor(frame, "y", "p", missing="drop", detail=True, **options)
    assert sum(plain(dropped)["n"]) == 8 - sum(one == date(2024, 2, 26) for one in days)
