"""Baselines on the command line: a column, or a file with the cells of an earlier run."""

from xml.etree import ElementTree

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import balframe as bf
from tests.support.cases import cases

LABELS = ["--y-true", "y", "--y-pred", "p"]
NOT_WORSE = ["--rule", "accuracy >= baseline - 0.1"]
COUNTS = [  # of 100 rows of each site: 90 right at a and 60 at b, before them 80 and 90
    ("a", 1, 1, 90, 80),
    ("a", 1, 0, 10, 20),
    ("b", 1, 1, 60, 90),
    ("b", 1, 0, 40, 10),
]


@pytest.fixture
def sites():
    """Rows of two sites."""
    rows = [(site, y, p) for site, y, p, n, _ in COUNTS for _ in range(n)]
    return pl.DataFrame(rows, schema=["g", "y", "p"], orient="row")


@pytest.fixture
def cells():
    """Cells of an earlier run, which had a third site."""
    rows = [(site, y, p, n) for site, y, p, _, n in COUNTS] + [("c", 1, 1, 70)]
    return pl.DataFrame(rows, schema=["g", "y", "p", "n"], orient="row")


@pytest.fixture
def today(tmp_path, sites):
    """The rows in a file."""
    sites.write_csv(tmp_path / "today.csv")
    return tmp_path / "today.csv"


@cases("kind", ["parquet", "csv", "ndjson", "arrow"])
@cases("command", ["check", "power"])
def test_the_cells_of_an_earlier_run_come_from_a_file(
    run, tmp_path, sites, today, cells, kind, command
):
    path, out = tmp_path / f"last.{kind}", tmp_path / "out.parquet"
    getattr(cells, "write_ipc" if kind == "arrow" else f"write_{kind}")(path)

    done = run(command, today, *LABELS, "--by", "g", *NOT_WORSE, "--baseline", path, "--out", out)

    expected = getattr(bf, command)(
        sites, "y", "p", by="g", rules=NOT_WORSE[1], baseline=cells, detail=True
    )
    assert done.code == {"check": 1, "power": 0}[command]
    assert_frame_equal(pl.read_parquet(out), expected)


@cases("command", ["check", "power"])
def test_rows_of_an_earlier_run_are_as_good_as_their_cells(
    run, tmp_path, monkeypatch, today, command
):
    monkeypatch.chdir(tmp_path)
    rows = pl.read_csv(today)
    rows.with_columns(p=pl.when(pl.col("g") == "a").then("y").otherwise("p")).write_csv("old.csv")
    typed = [command, today, *LABELS, "--by", "g", *NOT_WORSE, "--format", "csv"]
    assert run("confusion", "old.csv", *LABELS, "--by", "g", "--out", "cells.parquet").code == 0

    of_rows, of_cells = (run(*typed, "--baseline", name) for name in ("old.csv", "cells.parquet"))

    assert of_rows.out == of_cells.out != ""
    assert of_rows.code == of_cells.code


def test_a_column_comes_before_a_file_of_its_name(run, tmp_path, monkeypatch, sites):
    monkeypatch.chdir(tmp_path)
    sites.with_columns(old=pl.col("p")).write_csv("today.csv")
    (tmp_path / "old").write_text("no cells")

    done = run("check", "today.csv", *LABELS, *NOT_WORSE, "--baseline", "old")

    assert (done.code, done.err) == (0, "1 pass, 0 fail, 0 inconclusive\n")


def test_require_states_the_difference_to_the_baseline(run, tmp_path, today, cells):
    cells.write_parquet(tmp_path / "last.parquet")

    done = run(
        "require", today, *LABELS, "--by", "g", *NOT_WORSE, "--baseline", tmp_path / "last.parquet"
    )

    first, *lines = done.err.splitlines()
    assert first == (
        "balframe: 1 of 3 verdicts fails and 1 is inconclusive (too few rows, or undefined):"
    )
    fails, unknown = (line.strip() for line in lines)
    rule = "accuracy >= baseline - 0.1"
    assert fails.startswith(f"fail: {rule}: accuracy 0.6, baseline 0.9, at least 0.1")
    assert fails.endswith(" worse where g is b")
    assert unknown == f"inconclusive: {rule}: no rows, baseline 1 where g is c"


def test_junit_states_the_difference_to_the_baseline(run, tmp_path, sites, today, cells):
    cells.write_parquet(tmp_path / "last.parquet")

    done = run(
        "check", today, *LABELS, "--by", "g", *NOT_WORSE,
        "--baseline", tmp_path / "last.parquet", "--format", "junit",
    )  # fmt: skip

    suite = ElementTree.fromstring(done.out)[0]
    (failure,) = suite.iter("failure")
    verdicts = bf.check(sites, "y", "p", by="g", rules=NOT_WORSE[1], baseline=cells, detail=True)
    upper = verdicts.filter(g="b").get_column("upper").item()
    assert failure.get("message") == (
        f"accuracy >= baseline - 0.1: accuracy 0.6, baseline 0.9, at least {-upper:.4g} worse"
    )


def test_threshold_applies_to_scores_of_the_baseline(run, tmp_path):
    rows = pl.DataFrame({"y": [1, 0] * 20, "s": [0.8, 0.3] * 20, "old": [0.6, 0.1] * 20})
    rows.write_csv(tmp_path / "scores.csv")

    done = run(
        "check", tmp_path / "scores.csv", "--y-true", "y", "--y-pred", "s", "--threshold", "0.5",
        "--baseline", "old", "--rule", "accuracy >= baseline - 0.2",
    )  # fmt: skip

    assert (done.code, done.err) == (0, "1 pass, 0 fail, 0 inconclusive\n")


def test_invalid_or_missing_baseline_is_refused(refused, tmp_path, today):
    text = tmp_path / "other.csv"
    text.write_text("g,p\na,1\n")

    line = refused("check", today, *LABELS, *NOT_WORSE, "--baseline", "olld")
    assert "--baseline 'olld' is neither a column nor a file" in line
    assert "Columns: g, y, p." in line
    line = refused("check", today, *LABELS, *NOT_WORSE, "--baseline", text)
    assert "the baseline has the columns g, p, which are not those of a result of" in line
    line = refused("check", today, *LABELS, *NOT_WORSE)
    assert "but --baseline is missing" in line
