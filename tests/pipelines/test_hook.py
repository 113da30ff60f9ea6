"""The hook of pre-commit, whose entry is run as pre-commit does."""

import re
import shlex
import subprocess
import sys

import pytest
import yaml

from tests.pipelines.conftest import predictions
from tests.support.workflows.runner import ROOT

pytestmark = [pytest.mark.processes, pytest.mark.any_version]
(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))


def run_hook(folder, *arguments):
    """Run the entry in the root of a repository, with the arguments that a user gives."""
    program, *words = shlex.split(HOOK["entry"])
    assert program == "balframe"
    command = [sys.executable, "-m", "balframe", *words, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_hook_runs_the_check_of_the_configuration(workspace):
    assert run_hook(workspace).returncode == 0
    assert run_hook(workspace, "strict").returncode == 1
    assert run_hook(workspace, "unclear").returncode == 3

    predictions(500).write_csv(workspace / "predictions.csv")
    assert run_hook(workspace).returncode == 1


def test_the_hook_is_declared_as_pre_commit_needs_it():
    assert HOOK["language"] == "python"
    assert HOOK["pass_filenames"] is False  # the configuration names the files
    assert HOOK["require_serial"] is True
    assert HOOK["additional_dependencies"] == [".[cli]"]
    required = {"id", "name", "entry", "language"}
    optional = {
        *("description", "additional_dependencies", "pass_filenames", "require_serial"),
        *("minimum_pre_commit_version", "files", "types", "always_run", "args", "stages"),
    }
    assert required <= HOOK.keys() <= required | optional


@pytest.mark.parametrize(
    "page", ["docs/pages/reference/pipelines.md", "docs/pages/how-to/recipes-pipelines.md"]
)
def test_pages_name_the_hook_that_there_is(page):
    text = (ROOT / page).read_text("utf-8")

    assert re.search(rf"`{HOOK['id']}`|id: {HOOK['id']}\n", text)
