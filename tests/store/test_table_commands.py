"""Tables of runs on the command line: `balframe store`, and every command that reads cells."""

import io
import json
import shutil
from datetime import date, timedelta
from pathlib import Path

import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases

WEEKS = 20
LABELS = ["--y-true", "y", "--y-pred", "p"]
FIRST = date(2026, 1, 5)


def week(number):
    """Return the rows of a week, whose numbers of errors are known."""
    n_wrong = 3 + number % 4
    parts = [
        pl.DataFrame({"g": [g] * 80, "y": [1, 0] * 40}).with_columns(
            p=pl.when(pl.int_range(80) < n_wrong + shift).then(1 - pl.col("y")).otherwise("y"),
            day=pl.lit(FIRST + timedelta(weeks=number)),
        )
        for shift, g in enumerate(["a", "b"])
    ]
    return pl.concat(parts)


@pytest.fixture
def files(tmp_path):
    """Return a file of rows for each week."""
    folder = tmp_path / "weeks"
    folder.mkdir()
    paths = [folder / f"w{number:02}.parquet" for number in range(WEEKS)]
    for number, path in enumerate(paths):
        week(number).write_parquet(path)
    return paths


def add(run, table, file, name, *options):
    return run("store", file, *LABELS, "--by", "g", "--table", table, "--run", name, *options)


@pytest.fixture(scope="module")
def stored_once(tmp_path_factory):
    path = tmp_path_factory.mktemp("stored") / "runs"
    for number in range(WEEKS):
        rows = week(number)
        bf.store(rows, path, "y", "p", by="g", run=f"w{number}", time="day", model="v1")
    return path


@pytest.fixture
def table(tmp_path, stored_once):
    """Return a table with a run for each week; its paths are relative, so it can be copied."""
    return Path(shutil.copytree(stored_once, tmp_path / "runs"))


@pytest.fixture
def cells_file(tmp_path):
    """Write the cells of some weeks to a file, as `confusion` returns them."""

    def write(*numbers, by=("g",)):
        path = tmp_path / "cells.parquet"
        rows = pl.concat(map(week, numbers))
        bf.confusion(rows, "y", "p", by=list(by)).write_parquet(path)
        return path

    return write


def frame(done):
    return pl.read_csv(io.StringIO(done.out))


def test_the_command_stores_what_the_function_stores(run, table, files, tmp_path):
    own = tmp_path / "own"
    for number, file in enumerate(files[:3]):
        done = add(run, own, file, f"w{number}", "--time", "day", "--model", "v1")
        assert (done.code, done.out) == (0, "")
        assert done.err == f"run 'w{number}' added: 8 cells of 160 rows\n"

    def rows(path):
        frame = pl.read_delta(str(path)).filter(pl.col("run").is_in(["w0", "w1", "w2"]))
        return frame.drop("stored_at", "source").sort("date", "g", "y", "p")

    assert rows(own).equals(rows(table))
    sources = pl.read_delta(str(own))["source"].unique().sort().to_list()
    assert sources == [str(file) for file in files[:3]]


def test_a_run_that_is_there_is_unchanged_refused_or_replaced(run, table, files):
    asked = ["--time", "day", "--model", "v1"]

    same = add(run, table, files[3], "w3", *asked)
    assert (same.code, same.err) == (0, "run 'w3' unchanged: 8 cells of 160 rows\n")
    other = add(run, table, files[4], "w3", *asked)
    assert other.code == 2
    assert other.err == (
        f"balframe: table {str(table)!r} has run 'w3' with other cells, dates or models. Give "
        "--replace to replace them, or give another --run.\n"
    )
    replaced = add(run, table, files[4], "w3", *asked, "--replace")
    assert (replaced.code, replaced.err) == (0, "run 'w3' replaced: 8 cells of 160 rows\n")


RULE = ["--by", "g", "--rule", "accuracy >= baseline - 0.02"]


@cases("name", ["last", "w19", (FIRST + timedelta(weeks=19)).isoformat()])
def test_check_reads_a_stored_run_as_it_reads_the_file_of_its_cells(
    run, table, files, cells_file, name
):
    of_file = run("check", files[5], *LABELS, *RULE, "--baseline", cells_file(19))

    done = run("check", files[5], *LABELS, *RULE, "--baseline", f"{table}@{name}")

    assert (done.code, done.out, done.err) == (of_file.code, of_file.out, of_file.err)
    assert frame(done)["baseline_score"].to_list() == [1 - 6 / 80, 1 - 7 / 80]


def test_check_adds_a_stored_run_up_to_the_segments_asked_for(run, table, files, cells_file):
    rule = ["--rule", "accuracy >= baseline - 0.02"]
    of_file = run("check", files[5], *LABELS, *rule, "--baseline", cells_file(19, by=()))

    done = run("check", files[5], *LABELS, *rule, "--baseline", f"{table}@last")

    assert (done.code, done.out) == (of_file.code, of_file.out)
    assert frame(done)["baseline_score"].to_list() == [1 - 13 / 160]


@cases("given", [[*LABELS, "--cells", "--time", "date"], []])
def test_monitor_reads_a_table_as_it_reads_its_cells(run, table, cells_file, given):
    cells = cells_file(*range(WEEKS), by=("g", "day"))
    asked = ["--by", "g", "--every", "1w", "--baseline", "2026-03-08", "--dispersion", "none"]
    of_file = run("monitor", cells, *LABELS, "--cells", "--time", "day", *asked)

    done = run("monitor", table, *given, *asked)

    assert (done.code, done.out, done.err) == (of_file.code, of_file.out, of_file.err)
    assert frame(done).height == 2 * (WEEKS - 9)


def test_monitor_reads_a_stored_run_as_its_baseline(run, table, files, cells_file):
    asked = [*LABELS, "--by", "g", "--time", "day", "--every", "1w", "--dispersion", "none"]
    baseline = cells_file(0, by=("g", "day"))
    of_file = run("monitor", *files[1:], *asked, "--baseline", baseline)

    done = run("monitor", *files[1:], *asked, "--baseline", f"{table}@w0")

    assert (done.code, done.out, done.err) == (of_file.code, of_file.out, of_file.err)
    assert frame(done)["baseline_estimate"].round(4).unique().sort().to_list() == [
        round(1 - 4 / 80, 4),
        round(((1 - 2 / 40) + (1 - 1 / 40)) / 2, 4),
    ]


def test_report_of_a_table_needs_no_more_than_the_period(run, table):
    done = run("report", table, "--every", "1w", "--metric", "accuracy")

    assert (done.code, done.err) == (0, "")
    wrong = [2 * (3 + number % 4) + 1 for number in range(WEEKS)]
    assert frame(done)["accuracy"].to_list() == [1 - n / 160 for n in wrong]


def test_columns_of_runs_are_by_columns(run, table):
    done = run("report", table, "--by", "model", "--by", "run", "--metric", "accuracy")

    found = frame(done)
    assert found.select("model", "n").unique().rows() == [("v1", 160)]
    assert {*found["run"]} == {f"w{number}" for number in range(WEEKS)}


def test_options_that_are_given_win_over_those_of_the_table(run, table):
    swapped = run("report", table, "--y-true", "p", "--y-pred", "y", "--metric", "recall")
    plain = run("report", table, "--metric", "precision")

    assert frame(swapped)["recall"].to_list() == frame(plain)["precision"].to_list()


def test_audit_reads_a_table_and_a_stored_run(run, table, tmp_path):
    page = tmp_path / "page.md"

    done = run("audit", table, "--by", "g", "--baseline", f"{table}@w0", "--out", page)

    assert done.code == 0
    assert "3,200 rows" in page.read_text()


def test_a_replaced_run_counts_once(run, table, files):
    add(run, table, files[4], "w3", "--time", "day", "--model", "v1", "--replace")

    done = run("report", table, "--by", "run", "--metric", "accuracy")

    found = frame(done)
    assert found["n"].to_list() == [160] * WEEKS
    assert found.filter(run="w3")["accuracy"].to_list() == [1 - 7 / 160]


def test_a_folder_of_files_is_read_as_before(run, files, refused):
    asked = [*LABELS, "--time", "day", "--every", "1w", "--metric", "accuracy"]

    done = run("report", files[0].parent, *asked)

    assert frame(done).height == WEEKS
    message = refused(
        "store", files[0], *LABELS, "--table", files[0].parent, "--run", "x", "--date", "2026-01-01"
    )
    assert "is a folder of other files, such as 'w00.parquet'" in message


def test_a_table_among_files_is_not_read_as_files(refused, table):
    message = refused("report", table.parent, *LABELS)

    assert message == (
        f"the folder '{table.parent}' has a Delta table in it, '{table}', whose files are not read "
        "one by one. Give the table, or move it elsewhere."
    )


BASELINES = {
    "the table": ("{}", "is a table of runs. Give one of them: {}@last, or its id or date"),
    "no run": ("{}@x", "table '{}' has no run 'x', neither by its id nor by its date. Its runs"),
    "no table": ("{}x@last", "--baseline '{}x@last' is neither a column nor a file. Give a"),
}


@cases("case", BASELINES)
def test_baselines_that_are_no_run_are_refused(refused, table, files, case):
    text, message = (part.replace("{}", str(table)) for part in BASELINES[case])

    assert message in refused("check", files[5], *LABELS, *RULE, "--baseline", text)


def test_by_columns_that_a_run_lacks_are_refused(refused, table, files):
    rule = ["--by", "day", "--rule", "accuracy >= baseline"]

    message = refused("check", files[5], *LABELS, *rule, "--baseline", f"{table}@w1")

    assert message == (
        f"run 'w1' of table {str(table)!r} has no column 'day'; its by-columns are 'g'. Give --by "
        "of these, or store runs by more columns in another table."
    )


def test_a_table_without_a_commit_is_refused(refused, tmp_path):
    (tmp_path / "runs" / "_delta_log").mkdir(parents=True)

    message = refused("report", tmp_path / "runs", *LABELS)

    path = str(tmp_path / "runs")
    assert message == f"{path!r} is not a Delta table. Give one that `store` has written."


def test_a_file_with_an_at_sign_is_a_file(run, files, cells_file, tmp_path):
    path = cells_file(19).rename(tmp_path / "cells@last.parquet")

    done = run("check", files[5], *LABELS, *RULE, "--baseline", path)

    assert frame(done)["baseline_score"].to_list() == [1 - 6 / 80, 1 - 7 / 80]


def test_segments_of_a_stored_run_are_expected(run, refused, table, tmp_path):
    only_a = tmp_path / "a.parquet"
    week(1).filter(g="a").write_parquet(only_a)
    asked = ["check", only_a, *LABELS, "--by", "g", "--rule", "n >= 1", "--format", "csv"]

    done = run(*asked, "--expect", f"{table}@last")

    assert done.code == 1, done.err  # 0 rows violate the rule
    verdicts = pl.read_csv(done.out.encode())
    assert verdicts.select("g", "status", "note").rows() == [
        ("a", "pass", None),
        ("b", "fail", "expected, but without rows"),
    ]
    assert run(*asked, "--expect", "g=a").code == 0
    line = refused(*asked, "--expect", table)
    assert line.startswith(f"--expect '{table}' is a table of runs. Give one of them: {table}@last")
    line = refused(*asked, "--expect", f"{table}@last", "--expect", "g=a")
    assert "nor a single file with segments, nor a run of a Delta table" in line


def test_documents_of_verdicts_name_tables_and_runs(run, files, table):
    rule = ["--rule", "accuracy >= baseline - 0.5", "--baseline", f"{table}@w1"]
    expect = ["--expect", f"{table}@last", "--format", "json"]

    of_rows = run("check", files[2], *LABELS, "--by", "g", *rule, *expect)
    of_table = run("check", table, "--by", "g", "--rule", "n >= 1", "--format", "json")

    def inputs(done):
        assert done.code == 0, done.err
        files = json.loads(done.out)["inputs"]
        return [(file["path"], file["sha256"] is None, file["option"]) for file in files]

    assert inputs(of_rows) == [
        (files[2].name, False, None),
        ("runs@w1", True, "baseline"),
        ("runs@last", True, "expect"),
    ]
    assert inputs(of_table) == [("runs", True, None)]
