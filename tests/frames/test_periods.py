"""Periods are by-columns: the same segments from every kind of date and datetime."""

import random
from datetime import date, datetime, timedelta, timezone

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import CONSTRUCTORS, plain, polars_lazy

RNG = random.Random(28)
DATES = [  # leap days, both ends of years and weeks, and before 1970
    *("1900-02-28", "1900-03-01", "1968-02-29", "1969-12-28", "1969-12-29", "1969-12-31"),
    *("1970-01-01", "1970-01-04", "1970-01-05", "2000-02-29", "2023-12-31", "2024-01-01"),
    *("2024-02-29", "2024-03-31", "2024-10-27", "2024-12-29", "2024-12-30", "2026-03-31"),
]
DAYS = [date.fromisoformat(RNG.choice(DATES)) for _ in range(300)]
LATE = [
    datetime.combine(day, datetime.min.time())
    + RNG.choice([timedelta(), timedelta(hours=9), timedelta(days=1, microseconds=-1)])
    for day in DAYS
]
LABELS = {
    "g": [RNG.choice(["a", "b", None]) for _ in DAYS],
    "y": [RNG.choice([0, 1]) for _ in DAYS],
    "p": [RNG.choice([0, 1]) for _ in DAYS],
    "q": [RNG.choice([0, 1]) for _ in DAYS],
    "w": [RNG.choice([0.25, 1.0, 8.0]) for _ in DAYS],
    "k": [RNG.choice([0, 1, 5]) for _ in DAYS],
    "c": [RNG.choice("uvwxyz") for _ in DAYS],
}
LENGTHS = ["1d", "3d", "1w", "2w", "1mo", "2mo", "1q", "1y"]


def of_pandas(series):
    return pd.DataFrame(LABELS | {"day": series})


def of_polars(series):
    return pl.DataFrame(LABELS).with_columns(day=series)


def of_arrow(values, dtype):
    return pa.table(LABELS | {"day": pa.array(values, dtype)})


def in_berlin_of_arrow():
    """Cast numbers, as pyspark has pyarrow ignore time zones of datetimes once it is loaded."""
    return pa.array(IN_BERLIN.to_physical().to_list()).cast(pa.timestamp("us", "Europe/Berlin"))


NAIVE = pl.Series(LATE)
IN_BERLIN = NAIVE.dt.replace_time_zone("Europe/Berlin", ambiguous="earliest")
KINDS = {
    "polars Date": lambda: of_polars(pl.Series(DAYS)),
    "polars Datetime": lambda: of_polars(NAIVE),
    "polars Datetime ms": lambda: of_polars(NAIVE.dt.cast_time_unit("ms")),
    "polars Datetime ns": lambda: of_polars(NAIVE.dt.cast_time_unit("ns")),
    "polars Datetime with zone": lambda: of_polars(IN_BERLIN),
    "polars lazy Date": lambda: of_polars(pl.Series(DAYS)).lazy(),
    "polars lazy Datetime": lambda: of_polars(NAIVE).lazy(),
    "polars lazy with zone": lambda: of_polars(IN_BERLIN).lazy(),
    "polars in chunks": lambda: pl.concat(
        [of_polars(NAIVE)[:100], of_polars(NAIVE)[100:]], rechunk=False
    ),
    "pandas s": lambda: of_pandas(pd.Series(LATE).astype("datetime64[s]")),
    "pandas ms": lambda: of_pandas(pd.Series(LATE).astype("datetime64[ms]")),
    "pandas us": lambda: of_pandas(pd.Series(LATE).astype("datetime64[us]")),
    "pandas ns": lambda: of_pandas(pd.Series(LATE).astype("datetime64[ns]")),
    "pandas with zone": lambda: of_pandas(pd.Series(IN_BERLIN.to_list())),
    "pandas objects of dates": lambda: of_pandas(pd.Series(DAYS, dtype=object)),
    "pandas objects of datetimes": lambda: of_pandas(pd.Series(LATE, dtype=object)),
    "pandas objects of Timestamps": lambda: of_pandas(
        pd.Series([pd.Timestamp(one) for one in LATE], dtype=object)
    ),
    "pandas objects of datetime64": lambda: of_pandas(
        pd.Series([np.datetime64(one, "us") for one in LATE], dtype=object)
    ),
    "pandas objects with zones": lambda: of_pandas(
        pd.Series(
            [
                one.replace(tzinfo=timezone(timedelta(hours=i % 24 - 12)))
                for i, one in enumerate(LATE)
            ],
            dtype=object,
        )
    ),
    "pandas Arrow date32": lambda: of_pandas(pd.Series(DAYS, dtype=pd.ArrowDtype(pa.date32()))),
    "pandas Arrow date64": lambda: of_pandas(pd.Series(DAYS, dtype=pd.ArrowDtype(pa.date64()))),
    "pandas Arrow timestamp": lambda: of_pandas(
        pd.Series(LATE, dtype=pd.ArrowDtype(pa.timestamp("us")))
    ),
    "pandas Arrow timestamp with zone": lambda: of_pandas(
        pd.Series(pd.arrays.ArrowExtensionArray(in_berlin_of_arrow()))
    ),
    "pyarrow date32": lambda: of_arrow(DAYS, pa.date32()),
    "pyarrow date64": lambda: of_arrow(DAYS, pa.date64()),
    "pyarrow timestamp": lambda: of_arrow(LATE, pa.timestamp("us")),
    "pyarrow timestamp with zone": lambda: of_arrow(in_berlin_of_arrow(), None),
    "stream of Arrow": lambda: of_arrow(LATE, pa.timestamp("us")).to_reader(max_chunksize=70),
    "dataset of Arrow": lambda: pyarrow.dataset.dataset(of_arrow(DAYS, pa.date32())),
    "narwhals": lambda: nw.from_native(of_polars(NAIVE)),
    "narwhals over pandas": lambda: nw.from_native(of_pandas(pd.Series(LATE))),
}
each_kind = pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)


def in_dates(table):
    """Pandas has no dates but midnights."""
    return table | {
        name: [one.date() if isinstance(one, datetime) else one for one in table[name]]
        for name in {"period", "since"} & table.keys()
    }


def truncated(length):
    """Give rows that hold their period, as polars finds it."""
    return of_polars(pl.Series(DAYS).dt.truncate(length)).rename({"day": "period"})


@each_kind
@cases("length", ["1d", "1w", "2mo"])
def test_periods_equal_segments_of_truncated_local_days(make, length):
    found = in_dates(plain(bf.report(make(), "y", "p", by=["g", bf.period("day", length)])))

    assert found == plain(bf.report(truncated(length), "y", "p", by=["g", "period"]))


@cases("length", LENGTHS)
@cases("kind", ["polars Date", "polars lazy with zone", "pandas ns"])
def test_periods_of_every_length_equal_truncated_days(kind, length):
    found = in_dates(plain(bf.report(KINDS[kind](), "y", "p", by=bf.period("day", length))))

    assert found == plain(bf.report(truncated(length), "y", "p", by="period"))


@each_kind
def test_monitor_has_the_same_periods_for_every_kind_of_date(make):
    options = {"by": "g", "baseline": {"until": "2000-02-28"}, "looks": 300, "dispersion": None}
    options["time"] = bf.period("day", "1q")

    found = in_dates(plain(bf.monitor(make(), "y", "p", **options)))

    frame = of_polars(pl.Series(DAYS))
    assert found == plain(bf.monitor(frame, "y", "p", **options))
    assert found["period"][0] == date(2000, 1, 1)


def test_periods_are_dates():
    for make, dtype in ((of_polars, pl.Date), (of_pandas, "datetime64[s]")):
        series = pl.Series(LATE) if make is of_polars else pd.Series(LATE)
        out = bf.report(make(series), "y", "p", by=bf.period("day", "1w"))
        assert out["period"].dtype == dtype


OPTIONS = {
    "margins": {"by": "g", "margins": "all"},
    "the roll-up of all": {"margins": "overall"},
    "counts": {"by": "g", "counts": "k"},
    "weights": {"by": "g", "sample_weight": "w", "interval": True},
    "weights and counts": {"sample_weight": "w", "counts": "k"},
    "clusters": {"by": "g", "cluster": "c", "interval": True},
    "long": {"by": "g", "layout": "long", "interval": True},
}


@cases("options", OPTIONS.values())
@cases("kind", ["polars Datetime", "polars lazy Date", "pandas us"])
def test_options_treat_the_period_as_a_by_column(kind, options):
    by = [options["by"]] if "by" in options else []
    years = options | {"by": [*by, bf.period("day", "1y")]}

    found = in_dates(plain(bf.report(KINDS[kind](), "y", "p", **years)))

    expected = bf.report(truncated("1y"), "y", "p", **options | {"by": [*by, "period"]})
    assert found == plain(expected)


@cases("y_pred", ["p", ["q", "p"]])
@cases("reference", ["rest", "overall", "worst"])
def test_gaps_between_periods_equal_those_of_a_period_column(y_pred, reference):
    options = {"metrics": ["uar", "accuracy"], "reference": reference}
    for make in (KINDS["polars Datetime"], KINDS["polars lazy with zone"], KINDS["pandas ms"]):
        found = bf.gaps(
            make(), "y", y_pred, by=["g", bf.period("day", "1y")], detail=True, **options
        )
        expected = bf.gaps(truncated("1y"), "y", y_pred, by=["g", "period"], detail=True, **options)
        found = in_dates(plain(found))
        found["reference"] = [one.replace(" 00:00:00", "") for one in found["reference"]]
        assert found == plain(expected)


def test_gaps_compare_periods_without_by():
    found = bf.gaps(KINDS["polars Date"](), "y", "p", by=bf.period("day", "1y"))

    assert found.equals(bf.gaps(truncated("1y"), "y", "p", by="period"))


def test_confusion_by_periods_has_the_cells_of_a_period_column():
    rows = pl.DataFrame(LABELS | {"day": DAYS})
    in_column = rows.with_columns(period=pl.col("day").dt.truncate("1mo"))
    for options in ({"by": "g"}, {"by": "g", "cluster": "c"}, {"sample_weight": "w"}):
        by = [options["by"]] if "by" in options else []
        months = options | {"by": [*by, bf.period("day", "1mo")]}
        expected = bf.confusion(in_column, "y", "p", **options | {"by": [*by, "period"]})
        assert bf.confusion(rows, "y", "p", **months).equals(expected)
    of_months = bf.confusion(rows, "y", "p", by=bf.period("day", "1mo"))
    scores = bf.report(of_months, "y", "p", by="period", interval=True)
    assert scores.equals(bf.report(rows, "y", "p", by=bf.period("day", "1mo"), interval=True))


def test_cells_by_day_are_grouped_into_periods():
    cells = bf.confusion(KINDS["polars Date"](), "y", "p", by=["day", "g"])

    for length in LENGTHS:
        found = bf.report(cells, "y", "p", by=["g", bf.period("day", length)])
        assert found.equals(bf.report(truncated(length), "y", "p", by=["g", "period"]))


# Time zones


def rows_at(times, zone):
    local = pl.Series(times).dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
    return pl.DataFrame({"when": local, "y": 1, "p": [1, 0] * (len(times) // 2)})


@cases(
    ("zone", "utc", "local"),
    [  # summer time begins on 2024-03-31 at 01:00 UTC, and ends on 2024-10-27
        ("Europe/Berlin", datetime(2024, 3, 30, 22, 59), date(2024, 3, 30)),
        ("Europe/Berlin", datetime(2024, 3, 30, 23, 0), date(2024, 3, 31)),
        ("Europe/Berlin", datetime(2024, 3, 31, 21, 59), date(2024, 3, 31)),
        ("Europe/Berlin", datetime(2024, 3, 31, 22, 0), date(2024, 4, 1)),
        ("Europe/Berlin", datetime(2024, 10, 26, 22, 0), date(2024, 10, 27)),
        ("Europe/Berlin", datetime(2024, 10, 27, 22, 59), date(2024, 10, 27)),
        ("Europe/Berlin", datetime(2024, 10, 27, 23, 0), date(2024, 10, 28)),
        ("America/New_York", datetime(2024, 1, 1, 4, 59), date(2023, 12, 31)),
        ("Pacific/Kiritimati", datetime(2024, 2, 28, 10, 0), date(2024, 2, 29)),
        ("Asia/Kathmandu", datetime(1969, 12, 31, 18, 30), date(1970, 1, 1)),
        # where midnight does not exist
        ("America/Sao_Paulo", datetime(2018, 11, 4, 3, 0), date(2018, 11, 4)),
        ("America/Sao_Paulo", datetime(2018, 11, 4, 2, 59), date(2018, 11, 3)),
    ],
)
def test_days_are_those_of_the_local_time_zone(zone, utc, local):
    frame = rows_at([utc, utc], zone)

    forms = [frame, frame.lazy(), frame.to_pandas(), frame.to_arrow()]
    forms += [frame.to_pandas(use_pyarrow_extension_array=True)]
    objects = frame.to_pandas().astype({"when": object})
    for form in (*forms, objects):
        out = in_dates(plain(bf.report(form, "y", "p", by=bf.period("when", "1d"))))
        assert (out["period"], out["n"]) == ([local], [2])


def test_a_week_with_a_daylight_saving_change_has_seven_days():
    hours = [datetime(2024, 3, 24, 22) + timedelta(hours=i) for i in range(24 * 16)]

    out = bf.report(rows_at(hours, "Europe/Berlin"), "y", "p", by=bf.period("when", "1w"))

    rows = dict(zip(out["period"], out["n"], strict=True))
    assert rows == {
        date(2024, 3, 18): 1,
        date(2024, 3, 25): 7 * 24 - 1,
        date(2024, 4, 1): 7 * 24,
        date(2024, 4, 8): 24 * 16 - 1 - (7 * 24 - 1) - 7 * 24,
    }


def test_the_baseline_ends_with_a_local_day():
    hours = [datetime(2024, 3, 20) + timedelta(hours=i) for i in range(24 * 20)]
    frame = rows_at(hours, "Europe/Berlin")

    options = {"baseline": {"until": "2024-03-31"}, "dispersion": None}
    out = bf.monitor(frame, "y", "p", time=bf.period("when", "1w"), detail=True, **options)

    assert out["n"].sum() == 24 * 20 - (11 * 24 + 24 - 2)  # until 22:00 UTC
    assert out["period"][0] == date(2024, 4, 1)


# Nulls, and what is refused


@cases("kind", ["numpy", "objects", "arrow", "polars", "lazy", "pyarrow"])
def test_rows_without_a_time_are_a_segment_with_a_null_period(kind):
    holes = [None if i % 3 == 0 else one for i, one in enumerate(LATE)]
    make = {
        "numpy": lambda: of_pandas(pd.to_datetime(pd.Series(holes))),
        "objects": lambda: of_pandas(pd.Series(holes, dtype=object)),
        "arrow": lambda: of_pandas(pd.Series(holes, dtype=pd.ArrowDtype(pa.timestamp("us")))),
        "polars": lambda: of_polars(pl.Series(holes)),
        "lazy": lambda: of_polars(pl.Series(holes)).lazy(),
        "pyarrow": lambda: of_arrow(holes, pa.timestamp("us")),
    }[kind]
    days = pl.Series([None if one is None else one.date() for one in holes])
    expected = of_polars(days.dt.truncate("1y")).rename({"day": "period"})

    found = in_dates(plain(bf.report(make(), "y", "p", by=bf.period("day", "1y"))))

    assert found["period"][-1] is None
    assert found["n"][-1] == 100
    assert found == plain(bf.report(expected, "y", "p", by="period"))
    options = {"time": bf.period("day", "1y"), "baseline": {"until": "2000-01-01"}}
    options["dispersion"] = None
    with pytest.raises(bf.InvalidInputError, match="column 'day' has 100 null values; fill them"):
        plain(bf.monitor(make(), "y", "p", **options))
    dropped = in_dates(plain(bf.monitor(make(), "y", "p", missing="drop", **options)))
    whole = of_polars(days).drop_nulls("day")
    assert dropped == plain(bf.monitor(whole, "y", "p", **options))


@pytest.mark.parametrize("length", ["1d", "1mo"])
def test_a_frame_without_any_time_has_one_segment(length):
    for frame in (
        of_polars(pl.Series([None] * 300, dtype=pl.Date)),
        of_polars(pl.Series([None] * 300)),
        of_polars(pl.Series([None] * 300)).lazy(),
        of_pandas(pd.Series([pd.NaT] * 300)),
        of_pandas(pd.Series([None] * 300, dtype=object)),
        of_pandas(pd.Series([np.nan] * 300)),
        of_arrow([None] * 300, pa.date32()),
        of_arrow([None] * 300, pa.null()),
    ):
        out = plain(bf.report(frame, "y", "p", by=bf.period("day", length)))
        assert (out["period"], out["n"]) == ([None], [300])


WRONG = {
    "text": [f"2024-01-{1 + i % 28:02}" for i in range(300)],
    "integer": [20240101] * 300,
    "float": [1.5] * 300,
    "boolean": [True, False] * 150,
}


@cases("make", CONSTRUCTORS)
@cases("values", WRONG.values())
def test_a_time_column_of_another_type_is_refused(values, make):
    frame = make(LABELS | {"day": values})

    for ask in (
        lambda: bf.report(frame, "y", "p", by=bf.period("day", "1w")),
        lambda: bf.gaps(frame, "y", "p", by=["g", bf.period("day", "1w")]),
        lambda: bf.monitor(
            frame, "y", "p", time=bf.period("day", "1w"), baseline={"until": "2024-01-09"}
        ),
    ):
        with pytest.raises(bf.UnsupportedTypeError) as raised:
            ask()  # at once, lazy or not
        text = str(raised.value)
        assert text.startswith("column 'day' has the type ")
        assert text.endswith(", but bf.period needs dates or datetimes. Cast it first.")


def test_a_period_of_an_unknown_column_or_a_second_period_is_refused():
    frame, weeks = KINDS["polars Date"](), bf.period("day", "1w")

    for method, by in ((bf.report, []), (bf.gaps, ["g"])):
        with pytest.raises(bf.UnknownNameError, match="did you mean 'day'"):
            method(frame, "y", "p", by=[*by, bf.period("dya", "1w")])
        with pytest.raises(bf.InvalidInputError) as raised:
            method(frame, "y", "p", by=[weeks, *by, bf.period("day", "1mo")])
        assert str(raised.value) == (
            "by has bf.period('day', '1w'), bf.period('day', '1mo'), which would both be the "
            "column 'period' of the result. Give one period in a call."
        )


def test_a_period_has_its_place_among_the_by_columns():
    frame, month = KINDS["polars Date"](), bf.period("day", "1mo")

    out = bf.report(frame, "y", "p", by=[month, "g"])

    assert out.columns[:2] == ["period", "g"]
    last = bf.report(frame, "y", "p", by=["g", month])
    assert out.sort("g", "period", nulls_last=True).select(last.columns).equals(last)


def test_a_column_named_period_is_refused_only_where_it_is_ambiguous():
    frame = KINDS["polars Date"]().rename({"g": "period"})

    asked = {"y_true": "y", "y_pred": "p", "by": bf.period("day", "1w")}
    for role in ("y_true", "y_pred", "cluster"):
        with pytest.raises(bf.InvalidInputError, match=f"{role} names a column 'period', but that"):
            bf.report(frame, **asked | {role: "period"})
    with pytest.raises(bf.InvalidInputError, match="by names a column 'period', but that"):
        bf.report(frame, "y", "p", by=["period", bf.period("day", "1w")])
    assert bf.report(frame, "y", "p", by="period")["period"].to_list() == ["a", "b", None]
    expected = bf.report(frame.drop("period"), "y", "p", by=bf.period("day", "1w"))
    assert bf.report(frame, "y", "p", by=bf.period("day", "1w")).equals(expected)
    renamed = frame.drop("period").rename({"day": "period"})
    assert bf.report(renamed, "y", "p", by=bf.period("period", "1w")).equals(expected)
    lazy = bf.report(renamed.lazy(), "y", "p", by=bf.period("period", "1w")).collect()
    assert lazy.equals(expected)


def test_the_lazy_schema_of_periods_equals_the_collected_schema():
    lazy = bf.report(polars_lazy(LABELS | {"day": DAYS}), "y", "p", by=bf.period("day", "1w"))

    assert lazy.collect_schema()["period"] == pl.Date
    assert lazy.collect().schema == lazy.collect_schema()
