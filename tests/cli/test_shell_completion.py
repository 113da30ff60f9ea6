"""Completion, asked for as shells ask: by environment variables, of the process."""

import os
import shutil
import subprocess
import sys

import pytest

from balframe.api.option_types import REFERENCE_KEYWORDS
from balframe.metrics.lookup import registered

BASH = shutil.which("bash")


@pytest.fixture
def offered(run, monkeypatch):
    """List what is offered behind a line whose last word is not finished."""

    def of_shell(line, shell="bash"):
        monkeypatch.setenv("_BALFRAME_COMPLETE", f"complete_{shell}")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
        monkeypatch.setenv("_TYPER_COMPLETE_ARGS", line)
        monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
        done = run()
        assert (done.code, done.err) == (0, "")
        return done.out.splitlines() if shell != "zsh" else done.out

    return of_shell


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A file in the working directory."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "data.csv"
    path.write_text("y,yhat,my group\n1,1,a\n0,1,b\n")
    return path


@pytest.mark.parametrize("option", ["--y-true", "--y-pred", "--by", "--counts", "--sample-weight"])
def test_columns_are_those_of_the_file(offered, data, option):
    assert offered(f"balframe report data.csv {option} ") == ["y", "yhat", "my\\ group"]


@pytest.mark.parametrize("option", ["--y-true", "--y-pred", "--by", "--counts", "--y-score"])
def test_columns_of_an_audit_are_those_of_the_file(offered, data, option):
    assert offered(f"balframe audit data.csv {option} ") == ["y", "yhat", "my\\ group"]


def test_nothing_is_said_of_files_that_a_folder_has_besides(offered, data):
    data.with_name("notes.md").write_text("no data")

    assert offered("balframe report . --y-true yh") == ["yhat"]


@pytest.mark.parametrize(
    "line",
    [
        "balframe report data.csv --y-true yh",
        "balframe report --y-true y data.csv --y-pred yh",
        "balframe curve --by y data.csv --y-true y --y-score yh",
        "balframe report data.csv absent.csv --y-pred yh",
        "balframe report - data.csv --y-pred yh",
    ],
)
def test_columns_begin_as_typed_wherever_the_file_stands(offered, data, line):
    assert offered(line) == ["yhat"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("absent.csv", None),
        ("broken.parquet", b"not parquet"),
        ("empty.csv", b""),
        ("odd.xyz", b"1"),
    ],
)
def test_nothing_is_offered_for_a_file_that_cannot_be_read(offered, data, name, content):
    if content is not None:
        (data.parent / name).write_bytes(content)

    assert offered(f"balframe report {name} --y-true ") in ([], [""])


def test_without_a_file_there_are_no_columns_and_standard_input_is_not_read(offered):
    assert offered("balframe report --y-true ") in ([], [""])
    assert offered("balframe report - --y-true ") in ([], [""])


def test_metrics_are_all_that_are_registered(offered):
    assert {one.name for one in registered()} | {"all"} <= set(
        offered("balframe report data.csv --metric ")
    )
    assert offered("balframe report data.csv --metric balanced_a") == ["balanced_accuracy"]
    assert offered("balframe best-threshold data.csv --metric you") == [
        one.name for one in registered() if one.name.startswith("you")
    ] or [""]


def test_references_and_choices_are_words(offered):
    assert offered("balframe gaps data.csv --reference ") == list(REFERENCE_KEYWORDS)
    assert offered("balframe report data.csv --missing ") == ["raise", "drop"]
    assert offered("balframe rep") == ["report"]


def test_files_are_left_to_the_shell(offered, data):
    assert offered("balframe report da") in ([], [""])
    assert offered("balframe report data.csv --out o") in ([], [""])


def test_fish_and_zsh_get_names_as_they_are_and_metrics_with_what_they_mean(offered, data):
    assert offered("balframe report data.csv --by ", "fish") == ["y", "yhat", "my group"]
    assert '"my group"' in offered("balframe report data.csv --by ", "zsh")
    (line,) = offered("balframe report data.csv --metric acc=balanced_a", "fish")
    name, meaning = line.split("\t")
    assert name == "acc=balanced_accuracy"
    assert meaning.startswith("Mean recall over the labels")


@pytest.mark.skipif(BASH is None, reason="has no bash")
def test_bash_completes_a_column(data, tmp_path):
    program = tmp_path / "balframe"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m balframe "$@"\n')
    program.chmod(0o755)
    environment = os.environ | {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    script = subprocess.run(
        [program, "--show-completion", "bash"], env=environment, capture_output=True, text=True
    ).stdout
    words = "(balframe report data.csv --y-pred yh)"

    done = subprocess.run(
        [BASH, "-c", f"{script}\nCOMP_WORDS={words}; COMP_CWORD=4\n_balframe_completion {program}\n"
         'printf "%s\\n" "${COMPREPLY[@]}"'],
        capture_output=True,
        text=True,
    )  # fmt: skip

    assert (done.stdout, done.stderr) == ("yhat\n", "")
