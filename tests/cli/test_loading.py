"""What a command loads: only what it needs, because loading takes most of its time."""

import os
import re
import subprocess
import sys

import pytest

from balframe import accessor, methods

pytestmark = pytest.mark.processes

HEAVY = {"altair", "great_tables", "jinja2", "pandas", "pydantic", "rich", "scipy"}
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
    ("line", "methods"),
    [("balframe report --y", {"report"}), ("balframe rep", {"report"}), ("balframe met", set())],
)
def test_completion_loads_only_the_completed_command(loaded, line, methods):
    number = str(len(line.split()) - 1)
    modules = loaded("", _BALFRAME_COMPLETE="bash_complete", COMP_WORDS=line, COMP_CWORD=number)

    assert methods_among(modules) == methods
    assert HEAVY & modules == set()


def test_the_help_of_the_program_loads_all_methods(loaded):
    assert methods_among(loaded("--help")) == {*accessor.methods()}


@pytest.mark.parametrize(
    ("before", "states"),
    [("", "True False True True True"), ("import polars", "True True True True True")],
    ids=["the program", "a program that calls it"],
)
def test_garbage_collection_is_off_only_while_the_program_loads(before, states):
    code = STATES.format(before=before)

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, f"{states}\n")
