"""The file of descriptions is current, and its commands say and complete what those that run do."""

import runpy
from pathlib import Path

import click
import pytest

from balframe.cli.app import make_program
from balframe.cli.command_descriptions import FILE, described_command
from balframe.cli.help_page import print_help
from tests.support.cases import cases

GENERATOR = Path(__file__).parents[2] / ".ci" / "command_descriptions.py"
PROGRAM = make_program()
CONTEXT = click.Context(PROGRAM, info_name="balframe")
NAMES = PROGRAM.list_commands(CONTEXT)


@pytest.mark.any_version
@pytest.mark.skipif(not GENERATOR.exists(), reason="in a source distribution")
def test_descriptions_equal_the_generated_descriptions():
    written = FILE.read_text("utf-8")

    assert written == runpy.run_path(str(GENERATOR))["descriptions"](), f"run .ci/{GENERATOR.name}"


@cases("name", NAMES)
def test_described_command_prints_the_help_of_the_command_that_runs(monkeypatch, capsys, name):
    monkeypatch.setenv("COLUMNS", "100")
    texts = []
    for command in (described_command(name), PROGRAM.get_command(CONTEXT, name)):
        print_help(click.Context(command, parent=CONTEXT, info_name=name))
        texts.append(capsys.readouterr().out)

    assert texts[0] == texts[1]
    assert f"Usage: balframe {name} " in texts[0]


@cases("name", NAMES)
def test_described_command_reads_and_completes_what_the_command_that_runs_does(name):
    described, runs = described_command(name), PROGRAM.get_command(CONTEXT, name)
    ctx = click.Context(runs, parent=CONTEXT, resilient_parsing=True)

    assert len(described.params) == len(runs.params)
    for one, other in zip(described.params, runs.params, strict=True):
        for attribute in ("name", "opts", "secondary_opts", "nargs", "multiple", "required"):
            assert getattr(one, attribute) == getattr(other, attribute), other.name
        assert getattr(one, "is_flag", None) == getattr(other, "is_flag", None), other.name
        for word in ("", "r", "acc", "b"):
            offers = [
                [(item.value, item.type, item.help) for item in param.shell_complete(ctx, word)]
                for param in (one, other)
            ]
            assert offers[0] == offers[1], (other.name, word)


def test_command_without_a_description_is_none():
    assert described_command("reprot") is None
