"""`balframe diff OLD NEW`, and diff-slices: two files, a table of runs, Markdown and exit codes."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import balframe as bf

LABELS = ["--y-true", "y", "--y-pred", "p", "--by", "g", "--metric", "accuracy"]
SEARCH = ["--y-true", "y", "--y-pred", "p", "--over", "g"]
SUMMARY = "1 better, 1 worse, 1 not decided"
RIGHT = {"a": (95, 80), "b": (60, 90), "c": (85, 84)}  # of 100 rows now, and before


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Files of both runs: in group a the new one is better, in b worse, in c nearly as before."""
    monkeypatch.chdir(tmp_path)
    frames = []
    for i, name in enumerate(("new", "old")):
        rows = [(g, 1, int(k < n[i])) for g, n in RIGHT.items() for k in range(100)]
        frame = pl.DataFrame(rows, schema=["g", "y", "p"], orient="row").with_row_index("id")
        frame.write_csv(f"{name}.csv")
        frames.append(frame)
    return frames


def test_the_first_file_is_the_old_run(run, runs):
    done = run("diff", "old.csv", "new.csv", *LABELS, "--out", "out.parquet")

    new, old = runs
    expected = bf.diff(new, "y", "p", baseline=old, by="g", metrics="accuracy", detail=True)
    assert (done.code, done.err) == (0, f"new.csv against old.csv: {SUMMARY}\n")
    assert_frame_equal(pl.read_parquet("out.parquet"), expected)
    option = run("diff", "new.csv", "--baseline", "old.csv", *LABELS)
    assert option.out == run("diff", "old.csv", "new.csv", *LABELS).out


def test_a_key_pairs_the_rows(run, runs):
    new, old = runs
    old.reverse().write_parquet("old.parquet")

    run("diff", "old.parquet", "new.csv", *LABELS, "--key", "id", "--out", "out.parquet")

    expected = bf.diff(
        new.with_columns(q=old["p"]), "y", "p", baseline="q", by="g", metrics="accuracy",
        detail=True,
    )  # fmt: skip
    assert_frame_equal(pl.read_parquet("out.parquet").select(expected.columns), expected)


def test_markdown_begins_with_a_summary_and_what_is_worse(run, runs):
    done = run("diff", "old.csv", "new.csv", *LABELS, "--format", "markdown")

    lines = done.out.splitlines()
    assert lines[:2] == [f"new.csv against old.csv: {SUMMARY}", ""]
    assert lines[2].startswith("| g | metric | verdict | estimate | baseline\\_estimate |") or (
        lines[2].startswith("| g | metric | verdict | estimate | baseline_estimate |")
    )
    assert [line.split(" | ")[:3] for line in lines[4:7]] == [
        ["| b", "accuracy", "worse"],
        ["| a", "accuracy", "better"],
        ["| c", "accuracy", "not decided"],
    ]
    sorted_lines = run("diff", "old.csv", "new.csv", *LABELS, "--format", "markdown", "--sort", "g")
    assert [line[:3] for line in sorted_lines.out.splitlines()[4:7]] == ["| a", "| b", "| c"]


@pytest.mark.parametrize(("files", "code"), [(["old.csv", "new.csv"], 1), (["new.csv"] * 2, 0)])
def test_only_the_option_makes_a_worse_score_fail(run, runs, files, code):
    assert run("diff", *files, *LABELS).code == 0
    assert run("diff", *files, *LABELS, "--fail-on-worse").code == code


def test_cells_and_stored_runs_are_old_runs(run, runs):
    pytest.importorskip("deltalake")
    run("confusion", "old.csv", *LABELS[:-2], "--out", "cells.parquet")
    stored = run("store", "old.csv", "--table", "runs", "--run", "v1", "--date", "2026-11-01",
                 *LABELS[:-2])  # fmt: skip
    assert stored.code == 0
    expected = run("diff", "old.csv", "new.csv", *LABELS).out

    assert run("diff", "cells.parquet", "new.csv", *LABELS).out == expected
    assert run("diff", "runs@last", "new.csv", *LABELS).out == expected
    assert run("diff", "runs@v1", "new.csv", *LABELS).out == expected


def test_a_threshold_is_that_of_both_runs(run, runs):
    for frame, name in zip(runs, ("new", "old"), strict=True):
        frame.with_columns(p=pl.col("p") * 0.5 + 0.2).write_csv(f"{name}_scores.csv")
    expected = run("diff", "old.csv", "new.csv", *LABELS, "--label", "0", "--label", "1")

    done = run(
        "diff", "old_scores.csv", "new_scores.csv", *LABELS, "--threshold", "0.5", "--label", "0",
        "--label", "1",
    )  # fmt: skip

    assert (done.code, done.out) == (0, expected.out)


def test_wrong_numbers_of_files_are_refused(run, runs):
    for files in (["new.csv"], ["old.csv", "new.csv", "new.csv"]):
        done = run("diff", *files, *LABELS)
        assert done.code == 2
        assert "diff compares two files, OLD and NEW, but the files are: " in done.err
    done = run("diff", "gone.csv", "new.csv", *LABELS)
    assert done.code == 2
    assert "the old run 'gone.csv' is neither a file nor a column" in done.err


def test_no_input_is_overwritten(run, runs):
    done = run("diff", "old.csv", "new.csv", *LABELS, "--out", "old.csv")

    assert done.code == 2
    assert pl.read_csv("old.csv").height == 300


@pytest.mark.parametrize("key", [None, "id"])
def test_diff_slices_reads_the_old_run_first(run, runs, key):
    words = SEARCH if key is None else [*SEARCH, "--key", key]

    done = run("diff-slices", "old.csv", "new.csv", *words, "--out", "out.parquet")

    new, old = runs
    expected = bf.diff_slices(new, "y", "p", baseline=old, over="g", key=key, detail=True)
    assert (done.code, done.err) == (0, "new.csv against old.csv: 1 slice listed\n")
    assert_frame_equal(pl.read_parquet("out.parquet"), expected)
    assert expected.select("slice", "n", "wrong", "baseline_wrong").rows() == [
        ("g = b", 100, 40, 10)
    ]
    option = run("diff-slices", "new.csv", "--baseline", "old.csv", *words, "--format", "markdown")
    assert option.out.startswith("new.csv against old.csv: 1 slice listed\n\n| slice |")


@pytest.mark.parametrize("command", [["diff", *LABELS], ["diff-slices", *SEARCH]])
def test_two_files_and_a_baseline_are_refused(refused, runs, command):
    line = refused(*command, "old.csv", "new.csv", "--baseline", "old.csv")

    assert "--baseline 'old.csv' names the old one, and the files are: old.csv, new.csv." in line
    assert "Give two files, OLD and NEW, without --baseline, or one with it." in line


def test_diff_slices_refuses_cells_and_stored_runs(run, refused, runs):
    pytest.importorskip("deltalake")
    run("confusion", "old.csv", *LABELS[:-2], "--out", "cells.parquet")
    run("store", "old.csv", "--table", "runs", "--run", "v1", "--date", "2026-11-01", *LABELS[:-2])

    for old in ("cells.parquet", "runs@last"):
        line = refused("diff-slices", old, "new.csv", *SEARCH)
        assert line.startswith(f"in {old}: these are cells, with the columns 'y', 'p' and 'n'")
        line = refused("diff-slices", "new.csv", "--baseline", old, *SEARCH)
        assert line.startswith("in --baseline: these are cells")


@pytest.mark.parametrize(
    ("command", "advice"),
    [(["diff", *LABELS], ", or --cells if it is the new run."), (["diff-slices", *SEARCH], ".")],
)
def test_swapped_files_are_named(run, refused, runs, command, advice):
    run("confusion", "old.csv", *LABELS[:-2], "--out", "cells.parquet")

    line = refused(*command, "new.csv", "cells.parquet")

    assert line.startswith("'cells.parquet', the second file, has cells")
    assert line.endswith(f"Give the old run first, as in cells.parquet new.csv{advice}")


def test_cells_of_a_new_run_are_read_if_an_option_says_so(run, runs):
    run("confusion", "new.csv", *LABELS[:-2], "--out", "cells.parquet")

    done = run("diff", "old.csv", "cells.parquet", *LABELS, "--cells")

    assert done.err == f"cells.parquet against old.csv: {SUMMARY}\n"


@pytest.mark.parametrize("command", [["diff", *LABELS], ["diff-slices", *SEARCH]])
def test_a_file_without_the_key_is_named(refused, runs, command):
    runs[0].drop("id").write_csv("keyless.csv")

    for files in (["old.csv", "keyless.csv"], ["keyless.csv", "old.csv"]):
        line = refused(*command, *files, "--key", "id")
        assert line == "in keyless.csv: column 'id' not found. Columns: g, y, p."
    line = refused(*command, "old.csv", "--baseline", "keyless.csv", "--key", "id")
    assert line.startswith("in --baseline: column 'id' not found")


def test_columns_of_predictions_are_named(run, runs):
    runs[0].with_columns(q=runs[1]["p"]).write_csv("both.csv")

    done = run("diff", "both.csv", "--baseline", "q", *LABELS)

    assert done.err == f"p against q: {SUMMARY}\n"
