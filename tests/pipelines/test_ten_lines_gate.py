"""The ten lines of the guide, and the workflow of the recipes, gate pull requests."""

import re
import subprocess
import sys
import tomllib

import polars as pl
import pytest
import yaml

import balframe as bf
from tests.pipelines.conftest import predictions
from tests.support.workflows.runner import PUSH_TO_MAIN, ROOT, Event, run_workflow

pytestmark = [
    pytest.mark.processes,
    pytest.mark.any_version,
    pytest.mark.skipif(sys.platform == "win32", reason="stand-ins are scripts of bash"),
]
PAGE = "docs/pages/how-to/gates.md"
WORKFLOW = ".github/workflows/gate.yml"


def files_of_page(page):
    """Return the text of every block with a title, by its title."""
    text = (ROOT / page).read_text("utf-8")
    blocks = re.findall(r'^```\w+ title="([^"]+)"\n(.*?)^```$', text, re.MULTILINE | re.DOTALL)
    return dict(blocks)


class Repository:
    """A repository of git, whose branches hold predictions."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *words):
        author = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "core.hooksPath="]
        subprocess.run(["git", *author, *words], cwd=self.folder, check=True, capture_output=True)

    def commit(self, files, subject):
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", subject)

    def branch(self, name, files):
        self.git("switch", "--quiet", "--create", name, "main")
        self.commit(files, f"change {', '.join(files)}")


@pytest.fixture
def repository(tmp_path):
    """Make an empty repository."""
    return Repository(tmp_path / "repository")


def csv_of(n_wrong):
    return {"predictions.csv": predictions(n_wrong).write_csv()}


def test_the_guide_adds_ten_lines():
    files = files_of_page(PAGE)

    assert {"balframe.toml", WORKFLOW} <= files.keys()
    assert sum(len(files[name].splitlines()) for name in ("balframe.toml", WORKFLOW)) == 10


def test_the_guide_says_how_to_try_the_rule(tmp_path):
    (tmp_path / "balframe.toml").write_text(files_of_page(PAGE)["balframe.toml"])
    commands = re.findall(r"`balframe (\w+ [^`]+cells\.parquet)`", (ROOT / PAGE).read_text("utf-8"))

    def run(command):
        words = [sys.executable, "-m", "balframe", *command.split()]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.returncode

    count, check = commands
    (tmp_path / "predictions.csv").write_text(predictions(100).write_csv())
    assert (run(count), run(check)) == (0, 0)
    (tmp_path / "predictions.csv").write_text(predictions(400).write_csv())
    assert run(check) == 1  # of b, 600 of 1,000 are right, and 900 were


def test_the_guide_says_how_many_rows_the_margin_needs():
    text = " ".join((ROOT / PAGE).read_text("utf-8").split())
    score, n, power = re.search(
        r"balanced accuracy of ([\d.]+), .* about (\d+) rows .* with a probability of ([\d.]+)\. ",
        text,
    ).groups()
    n_right = round(500 * float(score))
    counts = pl.DataFrame(
        {"y": [1, 1, 0, 0], "yhat": [1, 0, 0, 1], "n": [n_right, 500 - n_right] * 2}
    )
    rows = counts.join(pl.DataFrame({"group": ["a", "b"]}), how="cross")
    options = {"by": "group", "counts": "n"}
    cells = bf.confusion(rows, "y", "yhat", **options)
    rule = tomllib.loads(files_of_page(PAGE)["balframe.toml"])["check"]["rules"]

    plan = bf.power(rows, "y", "yhat", **options, baseline=cells, rules=rule, power=float(power))

    assert plan["rows_needed"].to_list() == [int(n)] * 2


def test_pull_requests_are_gated_after_the_lines_of_the_guide(repository, github):
    repository.commit(csv_of(100), "add predictions")
    repository.commit(files_of_page(PAGE), "gate pull requests")

    first = run_workflow(github, repository.folder, PUSH_TO_MAIN, WORKFLOW)

    assert first.conclusion == "success", first.log
    assert [row["name"] for row in github.artifacts] == ["balframe-verdicts", "cells"]
    assert github.comments == []

    repository.branch("worse", csv_of(400))
    event = Event("pull_request", "worse", number=1)
    assert run_workflow(github, repository.folder, Event("push", "worse"), WORKFLOW) is None
    worse = run_workflow(github, repository.folder, event, WORKFLOW)

    assert worse.conclusion == "failure"
    assert worse.codes["check"] == 1
    # of b, 600 of 1,000 are right, and 900 were
    ((command, title, message),) = worse.annotations
    assert (command, title) == ("error", "fail%3A group=b")
    assert "balanced_accuracy 0.6, baseline 0.9, at least 0.2" in message
    (comment,) = github.comments
    assert comment["issue"] == "1"
    assert "`balframe check`: fail\n\n1 pass, 1 fail, 0 inconclusive, " in comment["body"]
    assert "| b | balanced_accuracy &gt;= baseline - 0.05 | fail | -0.30" in comment["body"]
    assert "| b | balanced_accuracy &gt;= baseline - 0.05 | fail | -0.30" in worse.summary

    repository.commit(csv_of(95), "repair predictions")
    repaired = run_workflow(github, repository.folder, event, WORKFLOW)

    assert repaired.conclusion == "success", repaired.log
    assert repaired.annotations == []
    (comment,) = github.comments
    assert "`balframe check`: pass\n\n2 pass, 0 fail, 0 inconclusive, " in comment["body"]

    repository.branch("equal", {"notes.txt": "the same predictions"})
    event = Event("pull_request", "equal", number=2)
    equal = run_workflow(github, repository.folder, event, WORKFLOW)

    assert equal.conclusion == "success", equal.log
    assert [one["issue"] for one in github.comments] == ["1", "2"]
    # nothing but main is a baseline
    branches = {r["workflow_run"]["head_branch"] for r in github.artifacts if r["name"] == "cells"}
    assert branches == {"main"}


def test_main_follows_a_pull_request_that_is_merged(repository, github):
    repository.commit(csv_of(200) | files_of_page(PAGE), "gate pull requests")
    run_workflow(github, repository.folder, PUSH_TO_MAIN, WORKFLOW)
    repository.commit(csv_of(0), "predict better")
    better = run_workflow(github, repository.folder, PUSH_TO_MAIN, WORKFLOW)
    repository.branch("before", csv_of(200))
    before = run_workflow(github, repository.folder, Event("pull_request", "before", 3), WORKFLOW)

    assert (better.conclusion, before.conclusion) == ("success", "failure")


def test_a_pull_request_whose_few_rows_decide_nothing_fails(repository, github):
    repository.commit(csv_of(100) | files_of_page(PAGE), "gate pull requests")
    run_workflow(github, repository.folder, PUSH_TO_MAIN, WORKFLOW)
    few = predictions(100).gather_every(50).write_csv()
    repository.branch("few", {"predictions.csv": few})

    done = run_workflow(github, repository.folder, Event("pull_request", "few", 1), WORKFLOW)

    assert done.codes["check"] == 3
    assert done.conclusion == "failure"


PREDICT = """\
import os, sys
import polars as pl
rows = pl.read_csv("predictions.csv")
rows.write_parquet(sys.argv[sys.argv.index("--out") + 1])
"""


@pytest.mark.parametrize(("n_wrong", "conclusion"), [(100, "success"), (300, "failure")])
def test_the_workflow_of_the_recipes_makes_predictions_and_gates_them(
    repository, github, n_wrong, conclusion
):
    page = files_of_page("docs/pages/how-to/recipes-pipelines.md")
    files = {name: page[name] for name in ("balframe.toml", WORKFLOW)}
    repository.commit(csv_of(100) | files | {"predict.py": PREDICT}, "gate pull requests")
    # The stand-in for Python installs; predictions need the real one.
    path = repository.folder / WORKFLOW
    path.write_text(path.read_text().replace("python predict.py", "$REAL_PYTHON predict.py"))
    run_workflow(github, repository.folder, PUSH_TO_MAIN, WORKFLOW)
    repository.branch("change", csv_of(n_wrong))

    done = run_workflow(github, repository.folder, Event("pull_request", "change", 1), WORKFLOW)

    assert done.conclusion == conclusion, done.log


def test_permissions_of_the_guide_are_those_that_the_reference_lists():
    workflow = yaml.safe_load(files_of_page(PAGE)[WORKFLOW])
    text = (ROOT / "docs/pages/reference/pipelines.md").read_text("utf-8")

    listed = re.findall(r"^\| `([\w-]+): (\w+)` \|", text, re.MULTILINE)
    assert dict(listed) == workflow["permissions"]
