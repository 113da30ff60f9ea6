"""The template of GitLab, whose script is run by a shell as in a job."""

import json
import os
import re
import shutil
import subprocess
import sys
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
import yaml

import balframe as bf
from tests.pipelines.conftest import predictions
from tests.support.workflows.runner import ROOT

pytestmark = [
    pytest.mark.processes,
    pytest.mark.any_version,
    pytest.mark.skipif(sys.platform == "win32", reason="stand-ins are scripts of a shell"),
]
PACKAGE = "balframe[cli] @ git+https://gitlab.example.org/balframe"
JOB = yaml.safe_load((ROOT / ".gitlab" / "balframe.yml").read_text("utf-8"))[".balframe"]

PYTHON = f"""\
#!/bin/sh
set -eu
if [ "$2" = venv ]; then
    mkdir -p "$3/bin"
    cp "$0" "$3/bin/python"
    printf '#!/bin/sh\\nexec "{sys.executable}" -m balframe "$@"\\n' > "$3/bin/balframe"
    chmod +x "$3/bin/balframe"
elif [ "$2" = pip ]; then
    printf '%s\\n' "$@" > "$STATE/pip.txt"
else
    exec "{sys.executable}" "$@"
fi
"""
CURL = f"""\
#!{sys.executable}
import json, os, shutil, sys
words, state = sys.argv[1:], os.environ["STATE"]
json.dump(words, open(os.path.join(state, "curl.json"), "w"))
code = os.environ["HTTP_STATUS"]
if code == "200":
    shutil.copy(os.path.join(state, "cells.parquet"), words[words.index("--output") + 1])
else:
    open(words[words.index("--output") + 1], "w").write(os.environ["HTTP_BODY"])
print(code, end="")
"""


@pytest.fixture
def job(tmp_path, workspace):
    """Run the job with variables: its exit code, and what it wrote."""
    state, programs = tmp_path / "state", tmp_path / "programs"
    for folder in (state, programs):
        folder.mkdir()
    for name, text in (("python", PYTHON), ("curl", CURL)):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)

    def started(shell="bash", http=("404", '{"message":"404 Not found"}'), **variables):
        shutil.rmtree(workspace / ".balframe", ignore_errors=True)
        predefined = {
            "CI_JOB_TOKEN": "of-the-job",
            "CI_JOB_NAME": "gate: all",
            "CI_DEFAULT_BRANCH": "release/1",
            "CI_API_V4_URL": "https://gitlab.example.org/api/v4",
            "CI_PROJECT_ID": "7",
        }
        done = subprocess.run(
            [shell, "-c", "\n".join(JOB["script"])],
            cwd=workspace,
            env={
                "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
                "PYTHONPATH": str(ROOT),
                "STATE": str(state),
                "HTTP_STATUS": http[0],
                "HTTP_BODY": http[1],
                **predefined,
                **JOB["variables"],
                "BALFRAME_PACKAGE": PACKAGE,
                **variables,
            },
            capture_output=True,
            text=True,
            check=False,
        )
        log = done.stdout + done.stderr
        return SimpleNamespace(
            code=done.returncode, log=log, files=workspace / ".balframe", state=state
        )

    return started


@pytest.mark.parametrize(
    ("variables", "code"),
    [
        ({}, 0),
        ({"BALFRAME_RUN": "strict"}, 1),
        ({"BALFRAME_RUN": "unclear"}, 3),
        ({"BALFRAME_RUN": "unclear", "BALFRAME_INCONCLUSIVE": "pass"}, 0),
        ({"BALFRAME_ARGUMENTS": "--rule=n >= 5000\n--no-config\n"}, 2),
        ({"BALFRAME_ARGUMENTS": "--rule=n >= 5000\npredictions.csv"}, 1),
    ],
)
def test_the_job_ends_as_the_gate_does(job, variables, code):
    done = job(**variables)

    assert done.code == code, done.log


def test_it_leaves_the_artifacts_that_the_job_declares(job, workspace):
    done = job(BALFRAME_RUN="strict")

    declared = [*JOB["artifacts"]["paths"], JOB["artifacts"]["reports"]["junit"]]
    assert all((workspace / name).is_file() for name in declared)
    assert JOB["artifacts"]["when"] == "always"
    suite = ElementTree.parse(done.files / "verdicts.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    document = json.loads((done.files / "verdicts.json").read_text())
    assert document["summary"]["fail"] == 1


@pytest.mark.parametrize("shell", ["bash", "dash", "sh"])
def test_it_runs_in_every_shell_of_posix(job, shell):
    if shutil.which(shell) is None:
        pytest.skip(f"needs {shell}")

    done = job(shell, BALFRAME_ARGUMENTS="--level=0.9", BALFRAME_BASELINE="false")

    assert done.code == 0, done.log


def test_pip_installs_the_package_that_the_job_names(job):
    installed, unnamed = job(), job(**JOB["variables"])

    assert (installed.state / "pip.txt").read_text().splitlines()[-1] == PACKAGE
    assert (unnamed.code, unnamed.log[:20]) == (2, "Set BALFRAME_PACKAGE")


RULE = "--rule=balanced_accuracy >= baseline - 0.05"
WITH_BASELINE = {"BALFRAME_BASELINE": "true", "BALFRAME_ARGUMENTS": RULE}


def test_the_first_pipeline_has_no_baseline(job):
    done = job(**WITH_BASELINE)

    assert done.code == 0, done.log
    assert "rules that only warn: 0 pass, 0 fail, 2 inconclusive" in done.log
    assert (done.files / "cells.parquet").is_file()


@pytest.mark.parametrize(("n_wrong", "code"), [(100, 0), (0, 1)])
def test_cells_of_the_default_branch_are_the_baseline(job, tmp_path, n_wrong, code):
    cells = bf.confusion(predictions(n_wrong), "y", "yhat", by="group")
    cells.write_parquet(tmp_path / "state" / "cells.parquet")

    done = job(http=("200", ""), **WITH_BASELINE)

    assert done.code == code, done.log
    words = json.loads((done.state / "curl.json").read_text())
    assert words[-1] == (
        "https://gitlab.example.org/api/v4/projects/7/jobs/artifacts/release%2F1/raw/"
        ".balframe/cells.parquet"
    )
    assert words[words.index("--data-urlencode") + 1] == "job=gate: all"
    assert words[words.index("--header") + 1] == "JOB-TOKEN: of-the-job"


def test_an_access_token_is_used_if_there_is_one(job):
    done = job(**WITH_BASELINE, BALFRAME_TOKEN="own")

    words = json.loads((done.state / "curl.json").read_text())
    assert words[words.index("--header") + 1] == "PRIVATE-TOKEN: own"


@pytest.mark.parametrize(
    "http",
    [("404", '{"message":"404 Project Not Found"}'), ("401", "{}"), ("500", ""), ("000", "")],
)
def test_a_baseline_that_cannot_be_read_is_an_error_and_not_missing(job, http):
    done = job(http=http, **WITH_BASELINE)

    assert done.code == 2
    assert f"HTTP status {http[0]}" in done.log
    assert not (done.files / "verdicts.json").exists()


HOSTILE = [
    "$(touch harmed)`touch harmed`",
    "\"; touch harmed; '\n; touch harmed",
    "END\ntouch harmed",
]


@pytest.mark.parametrize("value", HOSTILE)
def test_hostile_variables_do_no_harm(job, workspace, value):
    names = ["BALFRAME_ARGUMENTS", "BALFRAME_RUN", "CI_JOB_NAME", "CI_DEFAULT_BRANCH"]

    job(**WITH_BASELINE | dict.fromkeys(names, value))

    assert not [*workspace.parent.rglob("harmed")]


def test_the_reference_lists_the_variables():
    text = (ROOT / "docs/pages/reference/pipelines.md").read_text("utf-8")
    source = (ROOT / ".gitlab" / "balframe.yml").read_text("utf-8")

    rows = re.findall(r"^\| `(BALFRAME_\w+)` \| .* \| (?:`(.*)` )?\|$", text, re.MULTILINE)
    assert dict(rows) == JOB["variables"]
    assert {*re.findall(r"\$(BALFRAME_\w+)", source)} == JOB["variables"].keys()
