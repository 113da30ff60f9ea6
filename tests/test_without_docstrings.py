"""Declarations, methods and commands in `python -OO`, which removes docstrings and assertions."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.processes

CODE = """
import polars as pl
import balframe as bf
from balframe.api.method import Parameter
from balframe.methods import declarations
from balframe.metrics.lookup import all_metrics

df = pl.DataFrame(
    {"y": [1, 0, 1, 0], "p": [1, 1, 0, 0], "g": ["a", "a", "b", "b"], "s": [0.9, 0.6, 0.4, 0.2]}
)
assert_equal = lambda value, expected: value == expected or exit(f"{value!r} != {expected!r}")
assert_equal(bf.report.__doc__, None)
assert_equal(df.bal.report("y", "p", by="g")["accuracy"].to_list(), [0.5, 0.5])
assert_equal(df.bal.gaps("y", "p", by="g", metrics="accuracy")["difference"].to_list(), [0.0, 0.0])
verdicts = df.bal.check("y", "p", rules="accuracy >= 0.5", level=None)
assert_equal(verdicts["status"].to_list(), ["pass"])
assert_equal(df.bal.curve("y", "s").height, 5)
assert_equal(df.bal.audit("y", "p", by="g").markdown().splitlines()[0], "# Audit of p")
assert_equal({(one.meaning, one.formula) for one in all_metrics()}, {("", "")})
assert_equal(set(bf.list_metrics()["formula"]), {""})
assert_equal(repr(df.bal).splitlines()[0], "Bal")

parameters = declarations()["confusion"].parameters
described, shared = parameters["complete"], parameters["counts"]
assert_equal((described.default, described.type_text, described.text), (False, "", ""))
assert_equal((shared.default, shared.type_text), (None, "column name, optional"))
for declaration in declarations().values():
    for parameter in declaration.parameters.values():
        parameter.signature_parameter, parameter.docstring_entry, parameter.first_sentence
"""
FILES = ["people.csv", "--y-true", "y", "--y-pred", "p"]
COMMANDS = {
    "help": ["--help"],
    "help of a method": ["check", "--help"],
    "report": ["report", *FILES, "--by", "g"],
    "check": ["check", *FILES, "--rule", "accuracy >= 0.5", "--decide", "estimate"],
    "metrics": ["metrics"],
}


def run(*words, cwd):
    return subprocess.run(
        [sys.executable, "-OO", *words], cwd=cwd, capture_output=True, text=True, encoding="utf-8"
    )


def test_methods_work_without_docstrings(tmp_path):
    done = run("-c", CODE, cwd=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_commands_work_without_docstrings(words, tmp_path, table):
    table.write_csv(tmp_path / "people.csv")

    done = run("-m", "balframe", *words, cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) >= 2
