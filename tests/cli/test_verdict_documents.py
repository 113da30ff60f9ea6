"""`--format json` of `check` and `monitor`: verdicts with what they were computed from."""

import json
import os
import shlex
from hashlib import sha256

import jsonschema
import polars as pl
import pytest

import balframe as bf
from balframe.api.method import function_parameters
from tests.support.cases import cases
from tests.support.frames.weekly_stream import STREAM, UNTIL

LABELS = ["--y-true", "y", "--y-pred", "p"]
ACCURATE = ["--rule", "accuracy >= 0.7"]
ROWS = "g,y,p\n" + "a,1,0\n" * 40 + "b,1,1\n" * 400 + "c,1,1\n" * 4 + "c,1,0\n"
WEEKS = ["--y-true", "y", "--y-pred", "yhat", "--counts", "n", "--time", "when", "--every", "1w"]


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """Write the rows beside the working directory, as a file that has a folder."""
    folder = tmp_path / "below"
    folder.mkdir()
    monkeypatch.chdir(tmp_path)
    path = folder / "rows.csv"
    path.write_text(ROWS)
    return path


@pytest.fixture
def document(run):
    """Run a command that writes a document, which the schema has to allow."""

    def written(*arguments):
        done = run(*arguments, "--format", "json")
        content = json.loads(done.out)
        jsonschema.Draft202012Validator(bf.verdicts_schema()).validate(content)
        return content

    return written


def file_sum(path):
    return sha256(path.read_bytes()).hexdigest()


def test_the_document_is_that_of_python_with_its_origin(document, rows):
    found = document("check", rows, *LABELS, "--by", "g", *ACCURATE, "--level", "0.9")

    verdicts = bf.check(
        pl.read_csv(rows), "y", "p", by="g", rules="accuracy >= 0.7", level=0.9, detail=True
    )
    assert found.keys() == bf.verdicts_schema()["properties"].keys()
    assert found["inputs"] == [
        {"path": "rows.csv", "sha256": file_sum(rows), "rows": 445, "option": None}
    ]
    assert found["command"] == (
        "balframe check rows.csv --y-true y --y-pred p --by g --rule 'accuracy >= 0.7' "
        "--level 0.9 --format json"
    )
    asked = {"y_true": "y", "y_pred": "p", "by": "g", "rules": ["accuracy >= 0.7"], "level": 0.9}
    of_python = bf.verdicts_document(verdicts, options=asked)
    assert found["options"].items() >= of_python["options"].items()
    for name in ("schema", "version", "method", "summary", "verdicts"):
        assert found[name] == of_python[name]


def test_options_of_the_program_are_those_that_its_command_declares(document, rows):
    found = document("check", rows, *LABELS, *ACCURATE, "--threshold", "0.5", "--pos-label", "1")

    others = {name: found["options"][name] for name in ("threshold", "pos_label", "min_support")}
    assert others == {"threshold": 0.5, "pos_label": 1, "min_support": 1}
    declared = {*function_parameters(bf.check)} - {"frame", "backend", "detail"}
    assert found["options"].keys() - declared == {
        *("allow_inconclusive", "allow_missing_baseline"),
        *("threshold", "input_format", "separator", "null", "type", "eval"),
    }
    assert declared <= found["options"].keys()


@cases(
    "more",
    [
        [],
        ["--by", "g", "--level", "0.99", "--adjust", "none", "--sort", "-estimate", "--detail"],
        ["--by", "g", "--expect", "g=a,'d, e'", "--absent-segments", "fail"],
        ["--threshold", "0.5", "--pos-label", "1", "--null", "it's", "--separator", ","],
        ["--decide", "estimate", "--allow-inconclusive", "--margins", "all", "--by", "g"],
    ],
)
def test_the_command_gives_the_same_document_again(run, rows, monkeypatch, more):
    first = run("check", rows, *LABELS, *ACCURATE, *more, "--format", "json")

    monkeypatch.chdir(rows.parent)  # names have no folders
    words = shlex.split(json.loads(first.out)["command"])

    assert words[0] == "balframe"
    assert run(*words[1:]).out == first.out
    monkeypatch.chdir(rows.parents[1])


@cases(
    ("words", "command"),
    [
        ([], "balframe check"),
        (["nightly"], "balframe check nightly"),
        (["nightly", "--level", "0.95"], "balframe check nightly --level 0.95"),
        (["rows.csv", "--rule", "n >= 1"], "balframe check rows.csv --rule 'n >= 1'"),
    ],
)
def test_the_command_names_the_configuration_and_its_run(run, rows, monkeypatch, words, command):
    monkeypatch.chdir(rows.parent)
    (rows.parent / "trial.toml").write_text(
        'files = "rows.csv"\ny_true = "y"\ny_pred = "p"\nlevel = 0.9\n'
        '[check]\nrules = ["accuracy >= 0.7"]\n'
        '[check.nightly]\nrules = [{rule = "accuracy >= 0.5", severity = "warn"}]\n'
    )
    first = run("check", *words, "--config", "trial.toml", "--format", "json")

    document = json.loads(first.out)
    assert document["command"] == f"{command} --config trial.toml --format json"
    assert document["options"]["level"] == (0.95 if "--level" in words else 0.9)
    assert run(*shlex.split(document["command"])[1:]).out == first.out
    monkeypatch.chdir(rows.parents[1])


def test_the_document_does_not_depend_on_the_file_it_is_written_to(run, rows, tmp_path):
    asked = ["check", rows, *LABELS, *ACCURATE]

    piped = run(*asked, "--format", "json").out
    run(*asked, "--out", tmp_path / "verdicts.json")

    assert (tmp_path / "verdicts.json").read_text() == piped
    assert str(tmp_path) not in piped


def test_every_file_is_an_input_with_its_own_rows(document, rows):
    more = rows.with_name("more.csv")
    more.write_text('g,y,p\n"two\nlines",1,1\n')

    found = document("check", rows.parent, *LABELS, "--by", "g", *ACCURATE)

    assert found["inputs"] == [
        {"path": "more.csv", "sha256": file_sum(more), "rows": 1, "option": None},
        {"path": "rows.csv", "sha256": file_sum(rows), "rows": 445, "option": None},
    ]
    assert sum(row["rule"] == "accuracy >= 0.7" for row in found["verdicts"]) == 4


def test_files_of_json_without_a_line_have_no_rows(document, rows):
    folder = rows.parent / "lines"
    folder.mkdir()
    (folder / "a.ndjson").write_text("")
    (folder / "b.ndjson").write_text('{"y": 1, "p": 1}\n' * 3)

    found = document("check", folder, *LABELS, *ACCURATE)

    assert [(file["path"], file["rows"]) for file in found["inputs"]] == [
        ("a.ndjson", 0), ("b.ndjson", 3),
    ]  # fmt: skip


def test_files_that_options_read_are_inputs(document, rows):
    frame = pl.read_csv(rows)
    cells, segments = rows.with_name("cells.parquet"), rows.with_name("segments.csv")
    bf.confusion(frame, "y", "p", by="g").write_parquet(cells)
    segments.write_text("g\na\nb\n")
    rules = rows.with_name("gate.toml")
    rules.write_text('rules = ["accuracy >= baseline - 0.1", {rule = "n >= 1", reason = "all"}]')

    found = document(
        "check", rows, *LABELS, "--by", "g", "--rules", rules, "--baseline", cells,
        "--expect", segments,
    )  # fmt: skip

    assert {file["path"]: (file["option"], file["sha256"]) for file in found["inputs"]} == {
        "rows.csv": (None, file_sum(rows)),
        "gate.toml": ("rules", file_sum(rules)),
        "cells.parquet": ("baseline", file_sum(cells)),
        "segments.csv": ("expect", file_sum(segments)),
    }
    options = {name: found["options"][name] for name in ("rules", "baseline", "expect")}
    assert options == {
        "rules": ["gate.toml"], "baseline": "cells.parquet", "expect": "segments.csv",
    }  # fmt: skip
    assert found["summary"]["expected_segments"] == 2
    assert found["verdicts"][1]["reason"] == "all"


def test_a_baseline_that_is_a_column_is_no_input(document, rows):
    pl.read_csv(rows).with_columns(q=1).write_csv(rows)
    (rows.parents[1] / "q").write_text("a file with the name of the column")

    found = document(
        "check", rows, *LABELS, "--baseline", "q", "--rule", "accuracy >= baseline - 0.5"
    )

    assert [file["path"] for file in found["inputs"]] == ["rows.csv"]
    assert found["options"]["baseline"] == "q"


@pytest.mark.skipif(not os.path.exists("/dev/stdin"), reason="has no /dev/stdin")
def test_a_stream_has_the_sum_of_its_bytes(document, rows, monkeypatch):
    with open(rows) as stream:
        monkeypatch.setattr("sys.stdin", stream)
        found = document("check", "-", *LABELS, *ACCURATE)

    assert found["inputs"] == [{"path": "-", "sha256": file_sum(rows), "rows": 445, "option": None}]
    assert found["command"].startswith("balframe check - --y-true y")


def test_verdicts_without_rows_to_judge_are_a_document_too(run, rows):
    rows.write_text("g,y,p\n")

    done = run("check", rows, *LABELS, "--by", "g", *ACCURATE, "--format", "json")

    found = json.loads(done.out)
    assert done.code == 3
    assert (found["verdicts"], found["inputs"][0]["rows"]) == ([], 0)


@cases(
    ("options", "n_verdicts"),
    [
        (["--baseline", UNTIL], 20),
        (["--baseline", UNTIL, "--by", "site", "--metric", "recall", "--metric", "acc"], 80),
        (["--baseline", UNTIL, "--exclude", "2025-12-25", "--dispersion", "none"], 20),
    ],
)
def test_monitor_has_the_same_envelope(document, tmp_path, options, n_verdicts):
    path = tmp_path / "stream.parquet"
    STREAM.write_parquet(path)

    found = document("monitor", path, *WEEKS, *options)

    assert found["method"] == "monitor"
    assert found["command"].startswith("balframe monitor stream.parquet --y-true y")
    assert found["options"]["baseline"] == UNTIL
    assert found["inputs"] == [
        {"path": "stream.parquet", "sha256": file_sum(path), "rows": len(STREAM), "option": None}
    ]
    counts = [found["summary"][name] for name in ("ok", "alarm", "inconclusive")]
    assert sum(counts) == len(found["verdicts"]) == n_verdicts
    assert found["summary"]["last_period"]["alarm"] > 0


def test_a_baseline_of_monitor_that_is_a_file_is_an_input(document, tmp_path):
    path, launch = tmp_path / "stream.parquet", tmp_path / "launch.csv"
    STREAM.filter(pl.col("when") > pl.lit(UNTIL).str.to_date()).write_parquet(path)
    before = STREAM.filter(pl.col("when") <= pl.lit(UNTIL).str.to_date())
    bf.confusion(before, "y", "yhat", by="when", counts="n").write_csv(launch)

    found = document("monitor", path, *WEEKS, "--baseline", launch)

    assert found["options"]["baseline"] == "launch.csv"
    assert [(file["path"], file["option"]) for file in found["inputs"]] == [
        ("stream.parquet", None), ("launch.csv", "baseline"),
    ]  # fmt: skip


def test_a_document_says_which_segments_are_expected_next_time(run, rows, tmp_path):
    last = tmp_path / "last.json"
    run("check", rows, *LABELS, "--by", "g", "--rule", "n >= 1", "--out", last)
    rows.write_text("g,y,p\na,1,1\nb,1,1\n")

    done = run(
        "check", rows, *LABELS, "--by", "g", "--rule", "n >= 1", "--expect", last,
        "--format", "ndjson",
    )  # fmt: skip

    found = [json.loads(line) for line in done.out.splitlines()]
    assert [(row["g"], row["status"]) for row in found] == [
        ("a", "pass"), ("b", "pass"), ("c", "fail"),
    ]  # fmt: skip


def test_a_damaged_document_is_refused(refused, rows, tmp_path):
    last = tmp_path / "last.json"
    last.write_text('{"schema": "balframe.verdicts/1", "verdicts": [')

    line = refused("check", rows, *LABELS, "--by", "g", "--rule", "n >= 1", "--expect", last)

    assert "last.json" in line
    assert "damaged" in line


@cases("command", [["report", "--by", "g"], ["gaps", "--by", "g", "--metric", "accuracy"]])
def test_results_without_verdicts_stay_arrays_of_rows(run, rows, command):
    name, *options = command

    found = json.loads(run(name, rows, *LABELS, *options, "--format", "json").out)

    assert isinstance(found, list)
    assert [row["g"] for row in found] == ["a", "b", "c"]


def test_other_formats_of_verdicts_are_rows(run, rows):
    asked = ["check", rows, *LABELS, "--by", "g", *ACCURATE]

    lines = run(*asked, "--format", "ndjson").out.splitlines()

    found = json.loads(run(*asked, "--format", "json").out)
    assert [json.loads(line) for line in lines] == found["verdicts"]
