"""The demo, and the commands that it says to type next."""

import os
import shlex
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import balframe as bf


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def commands_of(text):
    """Take the commands apart that are shown behind the table."""
    _, _, shown = text.partition("Try next:\n")
    return [shlex.split(line) for line in shown.splitlines()]


def test_the_demo_ends_with_commands_that_run(run):
    shown = run("demo", "--format", "table", "--sort", "fpr").out
    commands = commands_of(shown)

    assert "\nWhose fpr differs from that of all other people?\n\nrace" in shown
    assert [command[:2] for command in commands] == [
        ["balframe", "demo"],
        ["balframe", "report"],
        ["balframe", "gaps"],
        ["balframe", "check"],
        ["balframe", "audit"],
    ]
    for program, *arguments in commands:
        done = run(*arguments)
        assert program == "balframe"
        assert done.code in ((0, 1, 3) if arguments[0] == "check" else (0,)), done.err
        assert "balframe: " not in done.err
        assert done.out or arguments[-2:] == ["--out", "audit.html"]
    assert Path("audit.html").read_text("utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("name", "read"),
    [("a b.csv", pl.read_csv), ("a.parquet", pl.read_parquet), ("a.ndjson", pl.read_ndjson)],
)
def test_demo_writes_its_data_for_the_suggested_commands(run, name, read):
    done = run("demo", "--format", "table", "--data", name)

    first, *_ = commands = commands_of(done.out)
    assert_frame_equal(read(name), bf.datasets.compas(), check_dtypes=False)
    assert [command[1] for command in commands] == ["report", "gaps", "check", "audit"]
    assert first[2] == name
    assert run(*first[1:]).code == 0


@pytest.mark.parametrize("more", [[], ["--format", "json"], ["--out", "demo.md"]])
def test_machine_readable_demo_output_has_no_advice(run, more):
    done = run("demo", *more)

    assert (done.code, done.err) == (0, "")
    assert "Try next" not in done.out


@pytest.mark.parametrize(
    ("name", "part"),
    [
        (
            "data.md",
            "--data 'data.md' does not have a supported file extension; use one of: csv, nd",
        ),
        ("data", "--data 'data' does not have a supported file extension"),
        ("no/data.csv", "--data 'no/data.csv': the directory 'no' does not exist."),
    ],
)
def test_invalid_path_for_demo_data_is_refused(refused, name, part):
    assert part in refused("demo", "--data", name)
    assert os.listdir() == []
