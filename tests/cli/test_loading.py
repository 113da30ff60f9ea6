"""What a command loads: only what it needs, because loading takes most of its time."""

import os
import re
import subprocess
import sys

import pytest

from balframe import accessor, methods

pytestmark = pytest.mark.processes

HEAVY = {"altair", "great_tables", "jinja2", "pandas", "pydantic", "rich", "scipy"}
LIBRARIES = {"narwhals", "numpy", "pandas", "polars", "pyarrow", "scipy"}
HELP_OF_ALL = f"""
import sys
import click
from balframe.cli.app import make_program
program = make_program()
for name in program.list_commands(click.Context(program)):
    program.main([name, "--help"], prog_name="balframe", standalone_mode=False)
    loaded = sorted({LIBRARIES!r} & sys.modules.keys())
    print(name, loaded, file=sys.stderr)
"""
OF_OTHERS = ("balframe.audit_page", "balframe.charts", "balframe.methods.gates.power")
STATES = """
import gc, sys
{before}
import balframe
states = [gc.isenabled()]
from balframe.cli import process
from balframe.cli.main import main
resume = process.resume_collection
def resume_and_note():
    states.append(gc.isenabled())
    resume()
    states.append(gc.isenabled())
process.resume_collection = resume_and_note
sys.argv = ["balframe", "metrics"]
try:
    main()
finally:
    print(*states, file=sys.stderr)
"""


@pytest.fixture
def loaded(people):
    """List the modules that the program loads; FILE stands for a file."""

    def by(text, **variables):
        words = [str(people) if word == "FILE" else word for word in text.split()]
        told = subprocess.run(
            [sys.executable, "-v", "-m", "balframe", *words],
            env=os.environ | variables,
            capture_output=True,
            text=True,
        ).stderr
        return {*re.findall(r"^import '([\w.]+)' #", told, re.M)}

    return by


def methods_among(modules):
    return {
        name
        for families in methods.METHODS.values()
        for name, family in families.items()
        if f"balframe.methods.{family}.{name}" in modules
    }


@pytest.mark.parametrize(
    ("text", "methods"),
    [
        ("report FILE --y-true y --y-pred p --by g", {"report"}),
        ("report FILE --y-true y", {"report"}),
        ("curve FILE --y-true y --y-score s --pos-label yes --by g", {"curve"}),
        ("gaps FILE --y-true y --y-pred p --by g", {"gaps"}),
        ("metrics", set()),
        ("reprot", set()),
        ("--version", set()),
    ],
)
def test_a_command_loads_its_method_alone(loaded, text, methods):
    modules = loaded(text)

    assert "balframe.cli.main" in modules
    assert methods_among(modules) == methods


@pytest.mark.parametrize(
    "text", ["report FILE --y-true y --y-pred p --by g", "metrics", "--version"]
)
def test_a_command_loads_no_library_that_it_does_not_need(loaded, text):
    modules = loaded(text)

    assert HEAVY & modules == set()
    assert [name for name in modules if name.startswith(OF_OTHERS)] == []


@pytest.mark.parametrize(
    ("line", "number"),
    [("balframe report --y", 2), ("balframe report --missing ", 3), ("balframe rep", 1)],
)
def test_completion_without_a_file_loads_no_method_and_no_library(loaded, line, number):
    modules = loaded(
        "", _BALFRAME_COMPLETE="bash_complete", COMP_WORDS=line, COMP_CWORD=str(number)
    )

    assert "balframe.cli.command_descriptions" in modules
    assert methods_among(modules) == set()
    assert LIBRARIES & modules == set()


@pytest.mark.parametrize("text", ["--help", "", "report --help", "audit --help"])
def test_help_loads_no_method_and_no_library_of_numbers(loaded, text):
    modules = loaded(text)

    assert "rich" in modules  # the help was drawn
    assert methods_among(modules) == set()
    assert LIBRARIES & modules == set()


def test_help_of_no_command_loads_a_library_of_numbers():
    done = subprocess.run([sys.executable, "-c", HELP_OF_ALL], capture_output=True, text=True)

    names = [name.replace("_", "-") for name in accessor.public_functions()]
    assert done.stderr.splitlines() == [f"{name} []" for name in [*names, "metrics", "demo"]]
    assert done.stdout.count("Usage: balframe ") == len(names) + 2


@pytest.mark.parametrize(
    ("before", "states"),
    [("", "True False True True True"), ("import polars", "True True True True True")],
    ids=["the program", "a program that calls it"],
)
def test_garbage_collection_is_off_only_while_the_program_loads(before, states):
    code = STATES.format(before=before)

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, f"{states}\n")
