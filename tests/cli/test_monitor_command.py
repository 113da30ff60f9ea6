"""`balframe monitor`: its exit codes, dates in files of text, and baselines of both kinds."""

import io
from datetime import date, timedelta

import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import assert_table, plain
from tests.support.frames.weekly_stream import ASKED, LAST, STREAM, UNTIL, WORSE

COLUMNS = ["--y-true", "y", "--y-pred", "yhat", "--counts", "n"]
WEEKS = [*COLUMNS, "--time", "when", "--every", "1w"]
HELD = [*WEEKS, "--baseline", UNTIL]
BEFORE = STREAM.filter(pl.col("when") < WORSE)


@pytest.fixture
def file(tmp_path):
    """Write a frame, as csv unless the name says otherwise."""

    def written(frame, name="stream.csv"):
        path = tmp_path / name
        getattr(frame, f"write_{path.suffix[1:]}")(path)
        return path

    return written


def result(done):
    return pl.read_csv(io.StringIO(done.out), try_parse_dates=True)


@cases("ending", ["csv", "parquet", "ndjson", "json"])
def test_the_command_writes_the_result_of_the_function(run, file, tmp_path, ending):
    out = tmp_path / "out.parquet"

    done = run("monitor", file(STREAM, f"s.{ending}"), *HELD, "--by", "site", "--out", out)

    expected = bf.monitor(STREAM, "y", "yhat", by="site", detail=True, **ASKED)
    assert_table(pl.read_parquet(out), plain(expected))
    assert (done.code, done.out) == (1, "")


def test_alarm_of_a_segment_in_the_last_period_exits_with_1(run, file):
    done = run("monitor", file(STREAM), *HELD, "--by", "site")

    found = result(done)
    last = found.filter(pl.col("period") == LAST)
    assert dict(last.select("site", "status").rows()) == {"north": "alarm", "south": "ok"}
    assert done.code == 1
    n = {one: found["status"].to_list().count(one) for one in ("ok", "alarm", "inconclusive")}
    assert sum(n.values()) == 2 * 20
    assert done.err == (
        f"last period {LAST}: 1 ok, 1 alarm, 0 inconclusive; all periods: {n['ok']} ok, "
        f"{n['alarm']} alarm, {n['inconclusive']} inconclusive\n"
    )


def test_without_an_alarm_the_exit_code_is_0(run, file):
    done = run("monitor", file(BEFORE), *HELD, "--by", "site")

    assert done.code == 0
    assert set(result(done)["status"]) == {"ok", "inconclusive"}  # no rows in one week


def test_alarm_before_the_last_period_exits_with_0(run, file):
    first_good = WORSE + timedelta(7)
    some = STREAM.filter((pl.col("when") < first_good) | (pl.col("site") == "south"))
    good = STREAM.filter(pl.col("site") == "south").with_columns(
        pl.col("when") + pl.duration(weeks=13), site=pl.lit("north")
    )
    healed = pl.concat([some, good.filter(pl.col("when") >= first_good)])
    healed = healed.filter(pl.col("when") < LAST + timedelta(7))

    done = run("monitor", file(healed), *HELD, "--by", "site")

    found = result(done).filter(pl.col("site") == "north")
    assert "alarm" in found["status"].to_list()
    assert found["status"][-1] != "alarm"
    assert done.code == 0


@cases(("allowed", "code"), [([], 3), (["--allow-inconclusive"], 0)])
def test_a_segment_without_rows_in_the_last_period_exits_with_3(run, file, allowed, code):
    few = STREAM.filter((pl.col("when") < WORSE) | (pl.col("site") == "south"))

    done = run("monitor", file(few), *HELD, "--by", "site", *allowed)

    assert result(done).filter(pl.col("site") == "north")["status"][-1] == "inconclusive"
    assert done.code == code
    assert done.err.startswith(f"last period {LAST}: 1 ok, 0 alarm, 1 inconclusive; ")


def test_an_inconclusive_last_period_with_rows_exits_with_0(run, file):
    is_north = pl.col("site") == "north"
    few = STREAM.filter(is_north).head(4).with_columns(when=LAST, n=pl.lit(1, pl.Int64))
    few = pl.concat([STREAM.filter(~is_north | (pl.col("when") < WORSE)), few])

    done = run("monitor", file(few), *HELD, "--by", "site")

    north = result(done).filter(pl.col("site") == "north")
    assert (north["n"][-1], north["status"][-1]) == (4, "inconclusive")
    assert done.code == 0


@cases("allowed", [[], ["--allow-inconclusive"]])
def test_a_segment_that_alarmed_and_fell_silent_exits_with_1(run, file, allowed):
    silent = STREAM.filter((pl.col("when") < date(2025, 11, 10)) | (pl.col("site") == "south"))

    done = run("monitor", file(silent), *HELD, "--by", "site", *allowed)

    north = result(done).filter(pl.col("site") == "north")
    assert north["n"].to_list()[-3:] == [400, 0, 0]
    assert north["status"].to_list()[-3:] == ["alarm"] * 3
    assert done.code == 1


@cases(
    "text",
    [
        "%Y-%m-%d",
        "%Y-%m-%d 10:00",
        "%Y-%m-%dT23:59:59.999",
        "%Y-%m-%d 23:30:00+02:00",  # the local day, whatever the day elsewhere
        "%Y-%m-%dT00:10Z",
        " %Y-%m-%d",
    ],
)
def test_iso_8601_dates_in_csv_are_read_as_local_days(run, file, text):
    written = STREAM.with_columns(pl.col("when").dt.to_string("%Y-%m-%d"))
    shown = STREAM.with_columns(
        pl.col("when").cast(pl.Datetime).dt.strftime(text.replace("23:59:59.999", "23:59:59"))
    )

    plain_dates = run("monitor", file(written, "dates.csv"), *HELD, "--by", "site")
    done = run("monitor", file(shown, "times.csv"), *HELD, "--by", "site")

    assert (done.code, done.out) == (1, plain_dates.out)


@cases("ending", ["csv", "ndjson", "parquet"])
def test_days_are_those_of_utc_where_offsets_differ(run, file, ending):
    times = [
        "2026-01-31T23:30:00-05:00",  # 04:30 on 1 February in UTC
        "2026-02-01T04:30:00Z",
        "2026-02-01 05:29:00.5+0530",  # 23:59 on 31 January
        "2026-01-31 22:59 -01",
        "2026-02-01",
        "2026-02-01T00:00",
    ]
    frame = pl.DataFrame({"when": times, "y": [1] * 6, "yhat": [1] * 6})

    done = run(
        "report", file(frame, f"t.{ending}"), "--y-true", "y", "--y-pred", "yhat",
        "--time", "when", "--every", "1mo", "--format", "csv",
    )  # fmt: skip

    n_by_month = [(str(row["period"]), row["n"]) for row in result(done).iter_rows(named=True)]
    assert n_by_month == [("2026-01-01", 2), ("2026-02-01", 4)]
    assert "column 'when' holds times with several offsets from UTC, so each day is" in done.err


@pytest.mark.parametrize("command", ["report", "gaps"])
def test_periods_of_csv_are_those_of_parquet(run, file, command):
    asked = [*WEEKS, "--by", "site", "--metric", "accuracy"]

    of_csv = run(command, file(STREAM), *asked)
    of_parquet = run(command, file(STREAM, "s.parquet"), *asked)

    assert (of_csv.code, of_csv.err) == (0, "")
    assert of_csv.out == of_parquet.out
    n = result(of_csv).group_by("period").agg(pl.col("n").sum())["n"]
    assert (len(n), set(n)) == (45, {800})


@cases(
    "value", ["31.03.2026", "03/31/2026", "2026-3-1", "2026-02-30", "20260331", "2026-W14", "soon"]
)
def test_dates_not_in_iso_8601_are_refused_with_their_value(refused, file, value):
    text = pl.col("when").dt.to_string("%Y-%m-%d")
    is_last = pl.int_range(pl.len()) == pl.len() - 1
    frame = STREAM.with_columns(pl.when(is_last).then(pl.lit(value)).otherwise(text).alias("when"))

    line = refused("monitor", file(frame), *HELD)

    assert line == (
        f"column 'when' holds {value!r}, which is not a date; write dates as in 2026-03-31 or "
        "2026-03-31 10:00 (ISO 8601)."
    )


def test_empty_date_is_read_as_null(refused, run, file):
    is_first = pl.int_range(pl.len()) == 0
    frame = STREAM.with_columns(pl.when(~is_first).then(pl.col("when")).alias("when"))
    path = file(frame)

    assert "null" in refused("monitor", path, *HELD)
    assert run("monitor", path, *HELD, "--missing", "drop").code == 1


@cases("ending", ["csv", "parquet"])
@cases("by", [["site"], ["site", "when"]])
def test_baseline_file_of_cells_may_omit_days(run, file, tmp_path, ending, by):
    is_before = pl.col("when") <= date.fromisoformat(UNTIL)
    cells = bf.confusion(STREAM.filter(is_before), "y", "yhat", by=by, counts="n")
    launch = file(cells, f"launch.{ending}")
    live = file(STREAM.filter(~is_before))

    asked = ["--by", "site", "--dispersion", "none"]
    done = run("monitor", live, *WEEKS, *asked, "--baseline", launch)
    whole = run("monitor", file(STREAM, "all.csv"), *HELD, *asked)

    asked = result(whole)
    found = result(done)
    assert (done.code, done.err) == (1, whole.err)
    shown = pl.all().exclude("dispersion_p_value", "autocorrelation_p_value")
    assert found.select(shown).equals(asked.select(shown))
    assert found["dispersion_p_value"].is_null().all() == ("when" not in by)


def test_a_baseline_without_days_warns_that_periods_may_vary(run, file):
    is_before = pl.col("when") <= date.fromisoformat(UNTIL)
    launch = file(bf.confusion(STREAM.filter(is_before), "y", "yhat", counts="n"), "launch.csv")

    done = run("monitor", file(STREAM.filter(~is_before)), *WEEKS, "--baseline", launch)

    assert "fewer than 13 periods" in done.err
    assert "give --dispersion none if you know that scores of periods differ" in done.err


def test_excluded_days_are_inconclusive(run, file):
    done = run("monitor", file(STREAM), *HELD, "--exclude", LAST, "--exclude", "2030-12-25")

    found = result(done)
    assert dict(found.select("period", "status").rows())[LAST] == "inconclusive"
    assert found["n"][-1] == 800
    assert done.code == 0


def test_stored_cells_are_monitored_like_rows(run, file):
    cells = bf.confusion(STREAM, "y", "yhat", by=["site", "when"], counts="n")
    asked = ["--y-true", "y", "--y-pred", "yhat", "--time", "when", "--every", "1w"]

    done = run("monitor", file(cells), "--cells", *asked, "--by", "site", "--baseline", UNTIL)

    assert done.out == run("monitor", file(STREAM, "s.csv"), *HELD, "--by", "site").out


@cases(
    ("typed", "said"),
    [
        ([], "Missing --baseline DATE|FILE."),
        (
            ["--baseline", "soon"],
            "--baseline 'soon' is neither a date nor a file. Give the last day of the rows that "
            "are the baseline, as in 2026-03-31, a file with the cells of an earlier run, as "
            "balframe confusion writes them, or a run of a Delta table, as in runs@last.",
        ),
        (["--baseline", "2026-02-30"], "--baseline '2026-02-30' is neither a date nor a file."),
        (["--baseline", UNTIL, "--tolerance", "0"], "--tolerance 0.0 is not a tolerance; give a"),
        (["--baseline", UNTIL, "--level", ".5"], "--level 0.5 is too low: alarms would be false"),
        (["--baseline", UNTIL, "--alpha", ".1"], "--alpha. Did you mean --level? It is 1 - alpha."),
        (["--baseline", UNTIL, "--every", "1h"], "--every '1h' is not the length of a period"),
        (
            ["--baseline", UNTIL, "--exclude", "soon"],
            "--exclude 'soon' has 'soon', which is",
        ),
        (["--baseline", UNTIL, "--metric", "f1"], "metric 'f1' cannot be monitored"),
        (
            ["--baseline", "2030-01-01"],
            "there are no rows after --baseline to monitor; give an earlier date.",
        ),
    ],
)
def test_usage_errors_name_command_line_options(refused, file, typed, said):
    columns = WEEKS[: WEEKS.index("--every")] if "--every" in typed else WEEKS
    line = refused("monitor", file(STREAM), *columns, *typed)

    assert said in line


def test_table_has_the_status_after_the_period_and_omits_details(run, file):
    done = run("monitor", file(STREAM), *HELD, "--by", "site", "--format", "table")

    head, *lines, empty, note = done.out.splitlines()
    assert (empty, note) == ("", "Brackets: confidence interval.")
    assert head.split() == ["site", "period", "metric", "status", "estimate", "since"]
    assert len(lines) == 2 * 20
    worse = lines[19].split()
    assert worse[:5] == ["north", str(LAST), "balanced_accuracy", "alarm", "0.75"]
    assert worse[-1] == str(WORSE)
