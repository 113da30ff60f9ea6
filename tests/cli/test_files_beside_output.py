"""What `check` writes beside its output, and the first run, which has no baseline."""

import json
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases

pytestmark = pytest.mark.any_version

LABELS = ["--y-true", "y", "--y-pred", "p"]
# 400 rows of a are right, 40 of 400 of b are wrong
ROWS = pl.DataFrame(
    {
        "g": ["a"] * 400 + ["b"] * 400,
        "y": [1, 0] * 400,
        "p": [1, 0] * 380 + [0, 1] * 20,
    }
)
RULES = ["--rule", "accuracy >= 0.85", "--rule", "accuracy >= baseline - 0.1"]
MAYBE = ["--baseline", "cells.parquet", "--allow-missing-baseline"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in a folder with data."""
    monkeypatch.chdir(tmp_path)
    ROWS.write_csv("rows.csv")
    return tmp_path


def outputs(path):
    return dict(line.split("=") for line in path.read_text().splitlines())


def test_verdicts_are_also_written_in_the_formats_of_other_files(run, folder):
    also = ["--also", "v.json", "--also", "v.xml", "--also", "v.md", "--also", "v.parquet"]

    done = run("check", "rows.csv", *LABELS, "--by", "g", "--rule", "accuracy >= 0.95", *also)

    assert done.code == 1
    assert done.out.startswith("g,rule,")
    document = json.loads((folder / "v.json").read_text())
    assert document["summary"]["pass"] == document["summary"]["fail"] == 1
    assert "--also" not in document["command"]
    assert ElementTree.parse("v.xml").getroot().get("failures") == "1"
    assert (folder / "v.md").read_text().startswith("| g | rule |")
    assert pl.read_parquet("v.parquet")["status"].to_list() == ["pass", "fail"]


def test_a_timestamp_is_for_a_further_file_of_junit_too(run, refused):
    timed = ["--timestamp", "2026-03-31T10:00:00Z", "--also"]
    command = ["check", "rows.csv", *LABELS, "--rule", "n >= 1"]

    assert run(*command, *timed, "v.xml").code == 0
    assert "but the output is csv, json" in refused(*command, *timed, "v.json")


@cases(
    ("option", "file", "message"),
    [
        ("--also", "v.pdf", "--also 'v.pdf' ends in '.pdf', which is not a supported format. Use"),
        ("--also", "verdicts", "--also 'verdicts' has no file extension. Use one of"),
        ("--cells-out", "c.md", "--cells-out 'c.md' ends in '.md', which is not a supported"),
        ("--also", "no/v.csv", "--also 'no/v.csv': the directory 'no' does not exist."),
    ],
)
def test_files_that_cannot_be_written_are_refused(refused, option, file, message):
    line = refused("check", "rows.csv", *LABELS, "--rule", "n >= 1", option, file)

    assert line.startswith(message)


@cases("name", ["cells.parquet", "cells.csv", "cells.json", "cells.ndjson"])
def test_cells_of_a_run_are_the_baseline_of_the_next(run, folder, name):
    by = ["--by", "g"]
    first = run("check", "rows.csv", *LABELS, *by, "--rule", "n >= 1", "--cells-out", name)

    second = run("check", "rows.csv", *LABELS, *by, "--rule", RULES[-1], "--baseline", name)

    assert (first.code, second.code) == (0, 0)
    assert run("report", name, *LABELS, "--cells", "--format", "json", *by).code == 0
    if name.endswith("parquet"):
        assert pl.read_parquet(name).equals(bf.confusion(ROWS, "y", "p", by="g"))


def test_cells_are_those_that_the_verdicts_are_computed_from(run, folder):
    scores = ROWS.with_columns(
        p=pl.when(pl.col("p") == 1).then(0.8).otherwise(0.3), w=pl.Series([1, 2] * 400)
    )
    scores.with_columns(p=pl.when(pl.int_range(800) > 1).then("p")).write_csv("scores.csv")
    options = ["--threshold", "0.5", "--counts", "w", "--missing", "drop", "--margins", "all"]

    done = run(
        "check", "scores.csv", *LABELS, "--by", "g", *options, "--rule", "n >= 1",
        "--cells-out", "cells.csv",
    )  # fmt: skip

    assert done.code == 0, done.err
    # of a, 199 pairs are left, of which zeros count twice; of b, 20 pairs are swapped
    assert pl.read_csv("cells.csv").rows() == [
        ("a", 0, 0, 398), ("a", 1, 1, 199),
        ("b", 0, 0, 360), ("b", 0, 1, 40), ("b", 1, 0, 20), ("b", 1, 1, 180),
    ]  # fmt: skip


def test_the_first_run_has_no_baseline_and_the_second_has(run, folder):
    command = ["check", "rows.csv", *LABELS, "--by", "g", *RULES, *MAYBE]

    first = run(*command, "--also", "v.json", "--cells-out", "cells.parquet")
    second = run(*command)

    assert (first.code, second.code) == (0, 0)
    assert first.err.splitlines() == [
        "balframe: warning: --baseline 'cells.parquet' does not exist, so rules that compare with "
        "it only warn, and are inconclusive.",
        "2 pass, 0 fail, 0 inconclusive; rules that only warn: 0 pass, 0 fail, 2 inconclusive",
    ]
    assert second.err == "4 pass, 0 fail, 0 inconclusive\n"
    document = json.loads((folder / "v.json").read_text())
    assert document["options"]["baseline"] == "cells.parquet"
    assert [file["path"] for file in document["inputs"]] == ["rows.csv"]


@cases(
    ("name", "near"),
    [
        ("cells.parqet", "cells.parquet"),
        ("cell.parquet", "cells.parquet"),
        ("below/cells.cvs", "below/cells.csv"),
        ("old_prediction", "old_predictions"),
        ("rns@last", "runs@last"),
        ("Cells_.parquet", "cells.parquet"),
    ],
)
def test_a_misspelled_baseline_is_not_a_missing_one(run, refused, folder, name, near):
    ROWS.with_columns(old_predictions="p").write_csv("rows.csv")
    (folder / "below").mkdir(exist_ok=True)
    (folder / "runs" / "_delta_log").mkdir(parents=True, exist_ok=True)
    for file in ("cells.parquet", "below/cells.csv"):
        (folder / file).write_text("")

    line = refused(
        "check", "rows.csv", *LABELS, *RULES, "--baseline", name, "--allow-missing-baseline"
    )

    near = str(Path(near))  # with the separator of the system
    assert line.startswith(f"--baseline {name!r} does not exist; did you mean {near!r}? --allow-")


@cases(
    "other",
    [
        *("cells-2026-02.parquet", "rows-2026-03.parquet", "cells-2026-03-new.parquet"),
        *("cells-2026-03.csv", "cells-a-2026-03.parquet", "2026-03.parquet"),
    ],
)
def test_a_file_of_another_name_is_not_taken_for_a_misspelled_one(run, folder, other):
    (folder / other).write_text("")
    maybe = ["--baseline", "cells-2026-03.parquet", "--allow-missing-baseline"]

    done = run("check", "rows.csv", *LABELS, *RULES, *maybe)

    assert done.code == 0, done.err
    assert "warning: --baseline 'cells-2026-03.parquet' does not exist" in done.err
    (folder / other).unlink()


def test_rules_of_every_source_warn_without_a_baseline(run, folder):
    (folder / "gate.toml").write_text(
        f'rules = ["{RULES[-1]}", {{rule = "accuracy >= baseline", where = {{g = "a"}}}}]'
    )
    (folder / "balframe.toml").write_text(
        'y_true = "y"\ny_pred = "p"\nby = "g"\nbaseline = "cells.parquet"\n'
        'allow_missing_baseline = true\ncheck.rules = ["gate.toml", "n >= 1"]\n'
    )

    done = run("check", "rows.csv")

    assert done.code == 0, done.err
    assert "2 pass, 0 fail, 0 inconclusive; rules that only warn: 0 pass, 0 fail, 3" in done.err


def test_a_failing_number_fails_without_a_baseline_too(run):
    rules = ["--rule", "accuracy >= 0.99", "--rule", RULES[-1], *MAYBE]

    assert run("check", "rows.csv", *LABELS, *rules).code == 1
    assert run("require", "rows.csv", *LABELS, *rules).code == 1
    assert run("require", "rows.csv", *LABELS, *RULES, *MAYBE).code == 0


def test_a_missing_baseline_is_an_error_without_the_option(refused):
    line = refused("check", "rows.csv", *LABELS, *RULES, "--baseline", "cells.parquet")

    assert line.startswith("--baseline 'cells.parquet' is neither a column nor a file.")


@cases(
    ("rules", "allowed", "code", "expected"),
    [
        (["accuracy >= 0.85"], [], 0, ("pass", 2, 0, 0)),
        (["accuracy >= 0.95"], [], 1, ("fail", 1, 1, 0)),
        (["accuracy >= 0.91"], [], 3, ("inconclusive", 1, 0, 1)),
        (["accuracy >= 0.91"], ["--allow-inconclusive"], 0, ("inconclusive", 1, 0, 1)),
        (["accuracy >= 0.91", "accuracy >= 0.95"], [], 1, ("fail", 2, 1, 1)),
    ],
)
def test_outputs_of_a_step_are_the_verdict_and_its_numbers(
    run, folder, monkeypatch, rules, allowed, code, expected
):
    monkeypatch.setenv("GITHUB_OUTPUT", "outputs.txt")
    typed = [word for rule in rules for word in ("--rule", rule)]

    done = run("check", "rows.csv", *LABELS, "--by", "g", *typed, *allowed, "--format", "github")

    names = ("verdict", "n-pass", "n-fail", "n-inconclusive")
    assert done.code == code
    assert outputs(folder / "outputs.txt") == dict(zip(names, map(str, expected), strict=True))


def test_outputs_do_not_count_rules_that_only_warn(run, folder, monkeypatch):
    monkeypatch.setenv("GITHUB_OUTPUT", "outputs.txt")
    (folder / "gate.toml").write_text(
        'rules = ["n >= 1", {rule = "accuracy >= 0.99", severity = "warn"}]'
    )

    done = run("check", "rows.csv", *LABELS, "--rules", "gate.toml", "--format", "github")

    assert done.code == 0
    assert outputs(folder / "outputs.txt")["verdict"] == "pass"
    assert outputs(folder / "outputs.txt")["n-fail"] == "0"


def test_outputs_without_rows_are_inconclusive(run, folder, monkeypatch):
    monkeypatch.setenv("GITHUB_OUTPUT", "outputs.txt")
    ROWS.head(0).write_csv("rows.csv")

    done = run(
        "check", "rows.csv", *LABELS, "--by", "g", "--rule", "n >= 1", "--format", "github",
        "--allow-inconclusive",
    )  # fmt: skip

    assert done.code == 3
    assert outputs(folder / "outputs.txt")["verdict"] == "inconclusive"


def test_outputs_of_a_step_that_cannot_be_written_are_an_error(run, monkeypatch):
    monkeypatch.setenv("GITHUB_OUTPUT", "no/outputs.txt")

    done = run("check", "rows.csv", *LABELS, "--rule", "n >= 1", "--format", "github")

    assert done.code == 2
    assert "'no/outputs.txt', which GITHUB_OUTPUT in the environment names" in done.err


def test_cells_keep_the_clusters_that_a_later_run_has_too(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = ["item,passed", *(f"{item},{int(item % 3 > 0)}" for item in range(30) for _ in "ab")]
    (tmp_path / "runs.csv").write_text("\n".join(rows))
    command = ["check", "runs.csv", "--outcome", "passed", "--cluster", "item", "--rule"]

    first = run(*command, "rate >= 0.2", "--cells-out", "cells.parquet")
    later = run(*command, "rate >= baseline - 0.5", "--baseline", "cells.parquet")

    assert (first.code, later.code) == (0, 0)
    assert later.err == "1 pass, 0 fail, 0 inconclusive\n"
