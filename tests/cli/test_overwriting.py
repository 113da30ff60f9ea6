"""No file that a command reads is overwritten by its --out."""

import os
import subprocess
import sys

import click
import polars as pl
import pytest

import balframe as bf
from balframe.cli.app import make_program
from tests.support.cases import cases

pytestmark = pytest.mark.any_version

LABELS = ["--y-true", "y", "--y-pred", "p"]
COUNTED = [*LABELS, "--counts", "n"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in a folder with data, in a folder below too, cells of an earlier run, and rules."""
    monkeypatch.chdir(tmp_path)
    rows = pl.DataFrame({"y": [1, 0] * 20, "p": [1, 1] * 20, "d": ["2026-01-01"] * 40})
    (tmp_path / "below" / "more").mkdir(parents=True)
    for name in ("data.csv", "below/a.csv", "below/more/b.csv"):
        rows.write_csv(name)
    bf.confusion(rows, "y", "p").write_csv("earlier.csv")
    (tmp_path / "below" / "notes.txt").write_text("no input")
    (tmp_path / "gate.toml").write_text('rules = ["n >= 1"]')
    os.symlink("data.csv", "link.csv")
    os.link("data.csv", "hard.csv")
    os.symlink("below", "beside")
    return tmp_path


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


BASELINE = ["--rule", "accuracy >= baseline - 0.1", "--baseline", "earlier.csv"]
STREAM = ["--time", "d", "--every", "1d", "--baseline", "earlier.csv"]
AUDIT = ["audit", "data.csv", *LABELS]
OVERWRITING = [
    ["report", "data.csv", *LABELS, "--out", "data.csv"],
    ["report", "data.csv", *LABELS, "--out", "below/../data.csv"],
    ["report", "data.csv", *LABELS, "--out", "link.csv"],
    ["report", "data.csv", *LABELS, "--out", "hard.csv"],
    ["report", "link.csv", *LABELS, "--out", "data.csv"],
    ["report", "below/a.csv", *LABELS, "--out", "beside/a.csv"],
    ["report", "below/*.csv", *LABELS, "--out", "below/a.csv"],
    ["report", "b*w", *LABELS, "--out", "below/a.csv"],
    ["report", "below", *LABELS, "--out", "below/more/b.csv"],
    ["report", "below/a.csv", "data.csv", *LABELS, "--out", "data.csv", "--format", "json"],
    ["confusion", "earlier.csv", *COUNTED, "--out", "earlier.csv"],
    [*AUDIT, "--out", "data.csv", "--format", "html"],
    ["check", "data.csv", *LABELS, *BASELINE, "--out", "earlier.csv"],
    ["monitor", "data.csv", *LABELS, *STREAM, "--out", "earlier.csv"],
    ["check", "data.csv", *LABELS, "--rules", "gate.toml", "--out", "gate.toml", "--format", "csv"],
    [*AUDIT, "--cover", "gate.toml", "--out", "gate.toml", "--format", "html"],
    ["report", "absent.csv", "data.csv", *LABELS, "--out", "data.csv"],
]
RULE = ["--rule", "n >= 1"]


@cases("arguments", OVERWRITING)
def test_an_input_is_never_overwritten(refused, folder, arguments):
    before = contents(folder)

    line = refused(*arguments)

    if "absent.csv" in arguments:
        assert "'absent.csv' is not a file" in line
    else:
        out = arguments[arguments.index("--out") + 1]
        assert line.startswith(f"--out {out!r} is a file that this command reads, ")
    assert contents(folder) == before


@cases("option", ["--also", "--cells-out"])
@cases("file", ["data.csv", "link.csv", "hard.csv", "below/../data.csv", "earlier.csv"])
def test_an_input_is_never_overwritten_by_files_beside_the_output(refused, folder, option, file):
    before = contents(folder)

    line = refused("check", "data.csv", *LABELS, *BASELINE, option, file)

    assert line.startswith(f"{option} {file!r} is a file that this command reads, ")
    assert contents(folder) == before


@pytest.mark.parametrize("variable", ["GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"])
@cases("file", ["data.csv", "link.csv", "hard.csv", "below/../data.csv", "gate.toml"])
def test_files_of_a_workflow_are_no_files_that_are_read(
    refused, run, folder, monkeypatch, variable, file
):
    before = contents(folder)
    command = ["check", "data.csv", *LABELS, "--rules", "gate.toml", "--format"]
    monkeypatch.setenv(variable, file)

    line = refused(*command, "github")

    assert line.startswith(f"{variable} {file!r} is a file that this command reads, ")
    assert contents(folder) == before
    assert run(*command, "csv").code == 0  # no other format writes there


@cases(
    "arguments",
    [
        ["--out", "new.csv", "--also", "new.csv"],
        ["--also", "new.csv", "--also", "./new.csv"],
        ["--also", "new.csv", "--cells-out", "new.csv"],
        ["--out", "link_to_new.csv", "--cells-out", "new.csv"],
    ],
)
def test_a_file_is_written_once(refused, folder, arguments):
    if not os.path.islink("link_to_new.csv"):
        os.symlink("new.csv", "link_to_new.csv")

    line = refused("check", "data.csv", *LABELS, *RULE, *arguments)

    assert "are the same file" in line
    assert not (folder / "new.csv").exists()


def test_outputs_of_a_step_are_not_a_file_that_is_written(refused, folder, monkeypatch):
    monkeypatch.setenv("GITHUB_OUTPUT", "new.csv")

    line = refused("check", "data.csv", *LABELS, *RULE, "--format", "github", "--also", "new.csv")

    assert line == "--also and GITHUB_OUTPUT are the same file, 'new.csv'. Give two paths."


EVIDENCE = [*AUDIT, "--out", "new.html", "--evidence"]


@cases("evidence", ["data.csv", "link.csv", "hard.csv", "below/../data.csv"])
def test_an_input_is_never_overwritten_by_evidence(refused, folder, evidence):
    before = contents(folder)

    line = refused(*EVIDENCE, evidence)

    assert line.startswith(f"--evidence {evidence!r} is a file that this command reads, ")
    assert contents(folder) == before


def test_a_file_of_the_cover_or_of_rules_is_not_overwritten_by_evidence(refused, folder):
    before = contents(folder)

    of_rules = refused(*EVIDENCE, "gate.toml", "--rules", "gate.toml")
    of_cover = refused(*EVIDENCE, "below/notes.txt", "--note", "files=below/notes.txt")

    assert of_rules.startswith("--evidence 'gate.toml' is a file that this command reads, ")
    assert of_cover.startswith("--evidence 'below/notes.txt' is a file that the cover names, ")
    assert contents(folder) == before


@cases("evidence", ["new.html", "./new.html", "link_to_new.html"])
def test_the_page_and_its_evidence_are_two_files(refused, folder, evidence):
    if evidence.startswith("link") and not os.path.islink(evidence):
        os.symlink("new.html", evidence)

    line = refused(*EVIDENCE, evidence)

    assert line == "--evidence and --out are the same file, 'new.html'. Give two paths."
    assert not (folder / "new.html").exists()


def test_overwriting_is_refused_before_anything_is_read(refused, folder, monkeypatch):
    def fail(*arguments, **options):
        raise AssertionError("read")

    monkeypatch.setattr("balframe.cli.files.open_files.open_sources", fail)

    assert "reads" in refused("report", "data.csv", *LABELS, "--out", "data.csv")


def test_standard_input_is_not_overwritten(folder):
    before = contents(folder)
    with open("data.csv") as data:
        done = subprocess.run(
            [sys.executable, "-m", "balframe", "report", "-", *LABELS, "--out", "data.csv"],
            stdin=data, capture_output=True, text=True,
        )  # fmt: skip

    assert done.returncode == 2
    assert done.stderr.startswith("balframe: --out 'data.csv' is a file that this command reads, ")
    assert contents(folder) == before


@cases(
    "arguments",
    [
        ["report", "data.csv", *LABELS, "--out", "earlier.csv"],
        ["report", "below", *LABELS, "--out", "below/notes.txt"],
        ["report", "below/a.csv", *LABELS, "--out", "below/more/b.csv"],
        ["report", "below/a*", *LABELS, "--out", "below/new.csv"],
        ["audit", "data.csv", *LABELS, "--out", "gate.toml", "--format", "html"],
    ],
)
def test_other_files_are_replaced(run, arguments):
    done = run(*arguments)

    assert done.code == 0, done.err


def test_a_name_of_other_case_is_the_same_file_where_the_system_says_so(run, folder):
    is_same = (folder / "DATA.CSV").exists()

    done = run("report", "data.csv", *LABELS, "--out", "DATA.CSV")

    assert done.code == (2 if is_same else 0)
    assert pl.read_csv("data.csv").columns == ["y", "p", "d"]


def test_every_option_that_names_a_file_to_read_says_so():
    """Else its file would not be kept."""
    program = make_program()
    context = click.Context(program)
    for name in program.list_commands(context):
        parameters = program.get_command(context, name).params
        options = [option for option in parameters if option.panel]
        for option in options[1:]:
            is_file = "FILE" in str(option.metavar).split("|") and option.panel != "Output"
            assert getattr(option, "reads_file", False) == is_file, (name, option.name)


def test_demo_data_do_not_replace_a_file(run, refused, folder):
    before = contents(folder)

    line = refused("demo", "--data", "data.csv")

    assert line == "--data 'data.csv' exists already. Give another path, or --force to replace it."
    assert contents(folder) == before
    assert run("demo", "--data", "data.csv", "--force").code == 0
    assert pl.read_csv("data.csv").columns == ["race", "reoffended", "high_risk", "n"]


@pytest.mark.parametrize("out", ["new.csv", "./new.csv", "link_to_new.csv"])
def test_demo_writes_its_data_and_its_table_to_two_files(refused, folder, out):
    os.symlink("new.csv", "link_to_new.csv")

    line = refused("demo", "--data", "new.csv", "--out", out)

    assert "--data and --out are the same file" in line
    assert not (folder / "new.csv").exists()
