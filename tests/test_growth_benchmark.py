"""The benchmark of growing data: its ways have the same scores, and it notices if not."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

from benchmarks import growth
from benchmarks.from_files import IN_OTHER_PROCESSES, WAYS
from benchmarks.growth import CASES, Case, agree, checked, measured, takes
from benchmarks.page import growth_section

SMALL = Case(rows=2_000, segments=9, labels=3, columns=2)
PAGE = Path(__file__).parents[1] / "docs" / "pages" / "benchmarks.md"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Write a small case as two files."""
    monkeypatch.setattr(growth, "ROWS_OF_A_FILE", 1_500)
    SMALL.write(tmp_path)
    return tmp_path


def test_a_case_has_what_it_says(folder):
    rows = pl.read_parquet(folder / "*.parquet")
    assert len(list(folder.iterdir())) == 2
    assert rows.height == 2_000
    assert rows.columns == ["by0", "by1", "y", "yhat"]
    assert rows.select("by0", "by1").n_unique() == 9
    assert rows["y"].n_unique() == 3
    assert SMALL.cells(folder) == 9 * 3 * 3
    assert (rows["y"] == rows["yhat"]).mean() == pytest.approx(0.8, abs=0.04)


@pytest.mark.parametrize("way", [way for way in WAYS if way not in IN_OTHER_PROCESSES])
def test_a_way_scores_every_segment(way, folder):
    if "DuckDB" in way:
        pytest.importorskip("duckdb")
    rows = pl.read_parquet(folder / "*.parquet").with_columns(hit=pl.col("y") == pl.col("yhat"))
    recalls = rows.group_by("by0", "by1", "y").agg(pl.col("hit").mean())
    balanced = recalls.group_by("by0", "by1").agg(pl.col("hit").mean())
    accuracy = rows.group_by("by0", "by1").agg(pl.col("hit").mean())
    by_key = [(each["hit"] * each["by0"]).sum() for each in (accuracy, balanced)]
    expected = [9, 2_000, *by_key, accuracy["hit"].sum(), balanced["hit"].sum()]
    assert checked(WAYS[way](str(folder), SMALL.by), "by0") == pytest.approx(expected)


def test_answers_that_differ_are_found():
    answer = pd.DataFrame({"by0": [0, 1], "n": [1_000, 1_000]})
    scores = [answer.assign(accuracy=a, balanced_accuracy=0.5) for a in ([0.1, 0.2], [0.2, 0.1])]
    first, other = (checked(each, "by0") for each in scores)
    agree({"one": first, "other": first}, SMALL)
    with pytest.raises(ValueError, match="other has"):
        agree({"one": first, "other": other}, SMALL)
    with pytest.raises(ValueError, match="one has"):
        agree({"one": first}, replace(SMALL, rows=2_001))


def test_a_process_that_takes_too_long_is_not_done(folder, monkeypatch):
    monkeypatch.setattr(growth, "LONGEST", 0.01)
    assert measured("balframe, polars", str(folder), str(folder), SMALL.by) is None


def test_a_process_that_fails_is_an_error(folder):
    with pytest.raises(RuntimeError, match="by9"):
        measured("balframe, polars", str(folder), str(folder), ["by9"])


def test_cases_grow_in_one_thing_at_a_time():
    assert len(CASES) == len(set(CASES)) == 20
    assert all(
        sum(a != b for a, b in zip(vars(case).values(), vars(Case()).values(), strict=True)) < 2
        for case in CASES
    )
    assert Case().is_within(Case(labels=10))
    assert not Case().is_within(Case(rows=10**6, labels=10))
    assert takes("balframe, Spark", Case())
    assert not takes("balframe, Spark", Case(rows=10**5))


def test_the_page_has_the_section():
    assert growth_section() in PAGE.read_text(encoding="utf-8")
