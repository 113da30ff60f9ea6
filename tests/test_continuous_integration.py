"""The versions that are declared are those that are tested, and what CI runs is there."""

import ast
import re
import shlex
import tomllib
from itertools import takewhile
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))
SCRIPT = (ROOT / ".ci" / "run").read_text("utf-8")
NOXFILE = ast.parse((ROOT / ".ci" / "noxfile.py").read_text("utf-8"))
SESSIONS = {
    node.name for node in NOXFILE.body if isinstance(node, ast.FunctionDef) and node.decorator_list
}
(PYTHONS,) = (
    ast.literal_eval(node.value)
    for node in NOXFILE.body
    if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "PYTHONS"
)


def lower_bounds(requirements):
    """Map names to the versions that `>=` gives."""
    for requirement in map(Requirement, requirements):
        bounds = [one.version for one in requirement.specifier if one.operator == ">="]
        if requirement.name != "balframe":
            assert len(bounds) == 1, requirement
            yield requirement.name, Version(bounds[0])


def test_the_oldest_versions_are_the_lower_bounds():
    extras = PROJECT["optional-dependencies"]
    (everything,) = map(Requirement, extras["all"])
    asked = [PROJECT["dependencies"], *(extras[name] for name in everything.extras)]
    bounds = {pair for requirements in asked for pair in lower_bounds(requirements)}
    lines = (ROOT / ".ci" / "oldest.txt").read_text("utf-8").splitlines()
    pins = {name: Version(version) for name, version in (line.split("==") for line in lines)}

    assert pins.pop("distributed") == pins["dask"]  # as Dask asks for
    assert lines == sorted(lines)
    assert set(pins.items()) == bounds


def test_the_declared_pythons_are_those_of_ci_and_no_others():
    named = re.findall(
        r"^Programming Language :: Python :: (3\.\d+)$", "\n".join(PROJECT["classifiers"]), re.M
    )
    matrix = WORKFLOW["jobs"]["newest"]["strategy"]["matrix"]

    assert matrix["python"] == named == list(PYTHONS)
    assert matrix["os"] == ["ubuntu-latest", "macos-latest", "windows-latest"]
    allowed = SpecifierSet(PROJECT["requires-python"])
    oldest = int(named[0].removeprefix("3."))
    assert f"3.{oldest}" in allowed
    assert f"3.{oldest - 1}" not in allowed


def commands(job):
    """List the commands of a job, one for each entry of its matrix."""
    matrix = job.get("strategy", {}).get("matrix", {})
    for step in job["steps"]:
        for line in step.get("run", "").splitlines():
            for python in matrix.get("python", [None]):
                yield line.replace("${{ matrix.python }}", str(python))


def sessions_of(command):
    """List the sessions that a command line of nox names."""
    words = shlex.split(command)
    after = takewhile(lambda word: word != "--", words[words.index("-s") + 1 :])
    return [word for word in after if not word.startswith("-") and word != "&"]


@pytest.mark.parametrize("name", WORKFLOW["jobs"])
def test_a_job_runs_what_is_there(name):
    job = WORKFLOW["jobs"][name]
    found = list(commands(job))
    assert found
    for command in found:
        words = shlex.split(command)
        for word in words:
            assert not word.startswith(".ci") or (ROOT / word).is_file(), command
        if words[0] == "nox":
            (session,) = sessions_of(command)
            base, _, python = session.partition("-")
            assert base in SESSIONS, command
            assert python in (*PYTHONS, ""), command
    assert 0 < job["timeout-minutes"] <= 90


def test_jobs_may_only_read():
    assert WORKFLOW["permissions"] == {"contents": "read"}
    for job in WORKFLOW["jobs"].values():
        assert "permissions" not in job
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False


def test_the_script_runs_sessions_that_are_there():
    calls = [line for line in SCRIPT.splitlines() if "bin/nox -f .ci/noxfile.py -s" in line]

    assert {name for line in calls for name in sessions_of(line)} >= {"lint", "mutation", "oldest"}
    assert {name for line in calls for name in sessions_of(line)} <= SESSIONS
    assert "bash .ci/run" in list(commands(WORKFLOW["jobs"]["everything"]))
