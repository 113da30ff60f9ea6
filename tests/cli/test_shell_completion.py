"""Completion, asked for as shells ask: by environment variables, of the process."""

import shutil
import subprocess
import sys

import pytest

from balframe.api.option_types import REFERENCE_KEYWORDS
from balframe.metrics.lookup import registered_metrics
from tests.support.cases import cases

pytestmark = pytest.mark.processes

BASH = shutil.which("bash")


@pytest.fixture
def offered(run, monkeypatch):
    """List what is offered for the last word of a line: its type and its value, and its meaning."""

    def of_shell(line, shell="bash"):
        *words, last = line.split(" ")
        monkeypatch.setenv("_BALFRAME_COMPLETE", f"{shell}_complete")
        monkeypatch.setenv("COMP_WORDS", line)
        is_fish = shell == "fish"
        monkeypatch.setenv("COMP_CWORD", last if is_fish else str(len(words)))
        done = run()
        assert (done.code, done.err) == (0, "")
        return done.out.splitlines()

    return of_shell


def plain(names):
    """List names as a shell gets them that are no files."""
    return [f"plain,{name}" for name in names]


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A file in the working directory."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "data.csv"
    path.write_text("y,yhat,my group\n1,1,a\n0,1,b\n")
    return path


@cases("option", ["--y-true", "--y-pred", "--by", "--counts", "--sample-weight"])
def test_report_completes_columns_of_the_file(offered, data, option):
    assert offered(f"balframe report data.csv {option} ") == plain(["y", "yhat", "my\\\\ group"])


@cases("option", ["--y-true", "--y-pred", "--by", "--counts", "--y-score"])
def test_audit_completes_columns_of_the_file(offered, data, option):
    assert offered(f"balframe audit data.csv {option} ") == plain(["y", "yhat", "my\\\\ group"])


def test_completion_ignores_other_files_of_a_folder(offered, data):
    data.with_name("notes.md").write_text("no data")

    assert offered("balframe report . --y-true yh") == plain(["yhat"])


@cases(
    "line",
    [
        "balframe report data.csv --y-true yh",
        "balframe report --y-true y data.csv --y-pred yh",
        "balframe curve --by y data.csv --y-true y --y-score yh",
        "balframe report data.csv absent.csv --y-pred yh",
        "balframe report - data.csv --y-pred yh",
    ],
)
def test_columns_are_completed_wherever_the_file_is_on_the_line(offered, data, line):
    assert offered(line) == plain(["yhat"])


@cases(
    ("name", "content"),
    [
        ("absent.csv", None),
        ("broken.parquet", b"not parquet"),
        ("empty.csv", b""),
        ("odd.xyz", b"1"),
    ],
)
def test_unreadable_file_completes_no_columns(offered, data, name, content):
    if content is not None:
        (data.parent / name).write_bytes(content)

    assert offered(f"balframe report {name} --y-true ") in ([], [""])


def test_completion_without_a_file_is_empty(offered):
    assert offered("balframe report --y-true ") in ([], [""])
    assert offered("balframe report - --y-true ") in ([], [""])


def test_metric_option_completes_registered_metrics(offered):
    names = [metric.name for metric in registered_metrics()]
    assert {*plain(names), "plain,all"} <= {*offered("balframe report data.csv --metric ")}
    assert offered("balframe report data.csv --metric balanced_a") == plain(["balanced_accuracy"])
    youden = [name for name in names if name.startswith("you")]
    assert offered("balframe best-threshold data.csv --metric you") == (plain(youden) or [""])


def test_references_choices_and_commands_are_completed(offered):
    assert offered("balframe gaps data.csv --reference ") == plain(REFERENCE_KEYWORDS)
    assert offered("balframe gaps data.csv --missing ") == plain(
        ["raise", "drop", "correct", "bounds"]
    )
    assert offered("balframe rep") == plain(["report"])


def test_files_are_left_to_the_shell(offered, data):
    assert offered("balframe report da") == ["file,da"]
    assert offered("balframe report data.csv --out o") == ["file,o"]


def test_fish_and_zsh_get_unescaped_names_and_metric_descriptions(offered, data):
    in_fish = offered("balframe report data.csv --by ", "fish")
    assert [line.partition("\t")[0] for line in in_fish] == plain(["y", "yhat", "my group"])
    assert "my group" in offered("balframe report data.csv --by ", "zsh")
    (line,) = offered("balframe report data.csv --metric acc=balanced_a", "fish")
    name, meaning = line.split("\t")
    assert name == "plain,acc=balanced_accuracy"
    assert meaning.startswith("Mean recall over the labels")


@pytest.mark.skipif(BASH is None, reason="has no bash")
@pytest.mark.parametrize(("typed", "name"), [("yh", "yhat"), ("m", "my\\ group")])
def test_bash_completes_a_column(data, tmp_path, typed, name):
    program = tmp_path / "balframe"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m balframe "$@"\n')
    program.chmod(0o755)
    show = [BASH, "-c", '"$@"; exit $?', "bash", program, "--show-completion"]
    script = subprocess.run(show, capture_output=True, text=True).stdout
    words = f"(balframe report data.csv --y-pred {typed})"

    done = subprocess.run(
        [BASH, "-c", f"{script}\nCOMP_WORDS={words}; COMP_CWORD=4\n_balframe_completion {program}\n"
         'printf "%s\\n" "${COMPREPLY[@]}"'],
        capture_output=True,
        text=True,
    )  # fmt: skip

    assert (done.stdout, done.stderr) == (f"{name}\n", "")
