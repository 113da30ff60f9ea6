"""The action of GitHub, whose steps are run by bash as GitHub would."""

import json
import re
import sys
from pathlib import Path

import pytest
import yaml

import balframe as bf
from tests.pipelines.conftest import ALL_PERMISSIONS, predictions
from tests.support.workflows.expressions import is_met
from tests.support.workflows.runner import PUSH_TO_MAIN, ROOT, Event

pytestmark = [
    pytest.mark.processes,
    pytest.mark.any_version,
    pytest.mark.skipif(sys.platform == "win32", reason="stand-ins are scripts of bash"),
]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
PULL_REQUEST = Event("pull_request", "better", number=5)


@pytest.mark.parametrize(
    ("inputs", "code", "outputs"),
    [
        ({}, 0, ("pass", "2", "0", "0")),
        ({"run": "strict"}, 1, ("fail", "1", "1", "0")),
        ({"run": "unclear"}, 3, ("inconclusive", "1", "0", "1")),
        ({"run": "unclear", "inconclusive": "pass"}, 0, ("inconclusive", "1", "0", "1")),
        ({"run": "strict", "inconclusive": "pass"}, 1, ("fail", "1", "1", "0")),
        (
            {"rules": "recall >= 0.5\nn >= 10\n", "args": "--pos-label=1"},
            0,
            ("pass", "4", "0", "0"),
        ),
        ({"y-true": "absent"}, 2, ("", "", "", "")),
        ({"inconclusive": "maybe"}, 2, ("", "", "", "")),
    ],
)
def test_the_job_ends_as_the_gate_does(use, inputs, code, outputs):
    used = use(**inputs)

    assert used.codes["check"] == code, used.log
    assert used.conclusion == ("failure" if code else "success")
    names = ("verdict", "n-pass", "n-fail", "n-inconclusive")
    assert tuple(used.outputs[name] for name in names) == outputs


def test_a_failing_verdict_is_an_annotation_a_row_of_the_summary_and_in_the_document(use, github):
    used = use(run="strict")

    # 900 of 1,000, at a level of 1 - 0.05 / 2 for two segments
    ((command, title, message),) = used.annotations
    assert (command, title) == ("error", "fail%3A group=b")
    assert message.startswith("balanced_accuracy >= 0.95: 0.90 [0.8")
    assert "| b | balanced_accuracy &gt;= 0.95 | fail | 0.90" in used.summary
    document = json.loads(github.artifact_file("balframe-verdicts").read_text())
    assert document["schema"] == bf.verdicts_schema()["properties"]["schema"]["const"]
    assert document["summary"]["fail"] == 1
    assert json.loads(Path(used.outputs["verdicts"]).read_text()) == document


def test_inputs_replace_the_configuration(use, workspace, github):
    predictions(0).rename({"group": "site 1"}).write_parquet(workspace / "other rows.parquet")
    (workspace / "gate.toml").write_text('rules = ["balanced_accuracy >= 0.99"]')

    used = use(
        files="other rows.parquet\n", by="site 1\n", rules="gate.toml", level="0.9",
        y_true="y", y_pred="yhat",
    )  # fmt: skip

    assert used.conclusion == "success", used.log
    document = json.loads(github.artifact_file("balframe-verdicts").read_text())
    options = document["options"]
    assert (options["by"], options["level"], options["rules"]) == ("site 1", 0.9, ["gate.toml"])


def test_it_runs_in_another_folder_with_another_configuration(use, workspace):
    folder = workspace / "models" / "first one"
    folder.mkdir(parents=True)
    predictions(0).write_csv(folder / "rows.csv")
    (folder / "gate.toml").write_text(
        'files = "rows.csv"\ny_true = "y"\ny_pred = "yhat"\ncheck.rules = ["n >= 2000"]'
    )

    used = use(working_directory="models/first one", config="gate.toml")

    assert used.outputs["n-pass"] == "1", used.log


HOSTILE = [
    """$(touch harmed)`touch harmed`'; touch harmed; '"; touch harmed; "& touch harmed | * ~ \\""",
    "x y\ntouch harmed\n--out=harmed\r\n::error title=forged::harmed\n${{ github.token }}\n",
]


OF_CHECK = ("files", "config", "run", "y-true", "y-pred", "by", "rules", "level", "baseline")


@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize(
    "names",
    [OF_CHECK, ["inconclusive"], ["extras"], ["name"], ["baseline-artifact"]],
    ids=lambda names: names[-1],
)
def test_hostile_inputs_do_no_harm(use, workspace, github, names, value):
    before = {path: path.read_bytes() for path in workspace.iterdir()}

    used = use(PULL_REQUEST, comment="true", **dict.fromkeys(names, value))

    if names[-1] not in ("name", "baseline-artifact"):
        assert used.conclusion == "failure", used.log
    assert not [row for row in used.annotations if "forged" in row[1]], used.log
    assert "of-the-job" not in used.log
    assert {path: path.read_bytes() for path in workspace.iterdir()} == before
    assert not [*workspace.parent.rglob("harmed")]
    for comment in github.comments:
        assert comment["body"].count("\n### ") == 1
        assert "\n::error" not in comment["body"]


def test_the_checkout_of_the_action_is_installed(use, github):
    use(extras="excel,history")

    (installed,) = (words for words in github.python_calls if "pip" in words)
    assert installed[:3] == ["-m", "pip", "install"]
    assert installed[-1] == f"{ROOT}[cli,excel,history]"


def test_nothing_but_extras_reaches_pip(use, github):
    used = use(extras="cli] @ https://elsewhere/balframe.whl #")

    assert used.codes == {"python": 0, "install": 2}
    assert [message.startswith("The input ") for _, _, message in used.annotations] == [True]
    assert github.python_calls == []


@pytest.mark.parametrize("name", ["comment", "require-baseline"])
@pytest.mark.parametrize("value", ["yes", "True", "1", "", "no"])
def test_switches_are_true_or_false(use, github, name, value):
    used = use(PULL_REQUEST, **{name: value})

    assert used.codes == {"python": 0, "install": 2}
    ((command, _, message),) = used.annotations
    assert (command, message) == ("error", f"The input {name} has to be true or false.")
    assert github.python_calls == []


def test_one_comment_is_made_and_then_updated(use, github):
    use(PULL_REQUEST, run="strict", comment="true")
    use(PULL_REQUEST, comment="true")

    (comment,) = github.comments
    assert comment["issue"] == "5"
    lines = comment["body"].splitlines()
    assert re.fullmatch(r"<!-- balframe [\d-]+ -->", lines[0])
    assert lines[1] == "### `balframe check`: pass"
    assert lines[3].startswith("2 pass, 0 fail, 0 inconclusive, at commit ffffffffffff. [The run](")
    assert "| b | balanced_accuracy &gt;= 0.8 | pass |" in comment["body"]
    methods = [call[call.index("--method") + 1] for call in github.calls if "--method" in call]
    assert methods == ["POST", "PATCH"]


def test_each_gate_and_each_pull_request_has_a_comment(use, github):
    use(PULL_REQUEST, comment="true")
    use(PULL_REQUEST, comment="true", name="strict", run="strict")
    use(Event("pull_request", "other", number=6), comment="true")

    titles = [(one["issue"], one["body"].splitlines()[1]) for one in github.comments]
    assert titles == [
        ("5", "### `balframe check`: pass"),
        ("5", "### `strict`: fail"),
        ("6", "### `balframe check`: pass"),
    ]


def test_a_comment_of_somebody_else_is_not_changed(use, github):
    use(PULL_REQUEST, comment="true")
    (own,) = github.comments
    forged = own | {"user": {"login": "mallory", "type": "User"}}
    github.comments = [forged]

    use(PULL_REQUEST, comment="true")

    assert [one["user"]["type"] for one in github.comments] == ["User", "Bot"]
    assert github.comments[0] == forged


def test_a_check_that_cannot_be_made_is_commented_without_old_verdicts(use, github):
    use(PULL_REQUEST, comment="true")
    use(PULL_REQUEST, comment="true", y_true="absent")

    (comment,) = github.comments
    assert "### `balframe check`: no verdict\n" in comment["body"]
    assert "|" not in comment["body"]


@pytest.mark.parametrize(
    ("event", "inputs"),
    [(PULL_REQUEST, {}), (PUSH_TO_MAIN, {"comment": "true"})],
)
def test_there_is_no_comment_unless_one_is_wanted_on_a_pull_request(use, github, event, inputs):
    use(event, **inputs)

    assert github.comments == []


def test_a_comment_that_is_forbidden_is_a_warning(use):
    used = use(PULL_REQUEST, {"contents": "read"}, comment="true")

    assert used.conclusion == "success"
    ((command, _, message),) = used.annotations
    assert command == "warning"
    assert "pull-requests: write" in message


def test_a_comment_fits_the_limit_of_github(use, workspace, github):
    rows = predictions(0)
    many = rows.with_columns(group=rows["y"].cum_count().cast(str) + "x" * 40)
    many.write_csv(workspace / "predictions.csv")

    used = use(PULL_REQUEST, comment="true", args="--absent=skip", inconclusive="pass")

    (comment,) = github.comments
    assert used.outputs["verdict"] == "inconclusive"
    assert 50_000 < len(comment["body"]) < 65_536
    assert "Verdicts that pass are left out here." in comment["body"]
    assert re.search(r"\n\d+ more lines are left out here\.\n", comment["body"])


NO_BASELINE = "No baseline was found: rules that compare with it were not judged."
BASELINE = {"rules": "balanced_accuracy >= baseline - 0.05", "baseline-artifact": "cells"}


def test_the_first_run_of_the_default_branch_stores_the_baseline(use, github):
    used = use(**BASELINE)

    assert used.conclusion == "success", used.log
    assert [row["name"] for row in github.artifacts] == ["balframe-verdicts", "cells"]
    assert [row[0] for row in used.annotations] == ["notice", "warning", "warning"]
    assert used.outputs["verdict"] == "inconclusive"  # nothing was judged
    assert used.outputs["n-pass"] == "0"
    assert used.summary.startswith(f"{NO_BASELINE}\n\n| ")


def test_rules_without_a_baseline_decide_the_first_run(use):
    used = use(**BASELINE | {"rules": f"{BASELINE['rules']}\nn >= 10"})

    assert (used.outputs["verdict"], used.outputs["n-pass"]) == ("pass", "2")
    assert NO_BASELINE in used.summary


def test_the_comment_says_that_no_baseline_was_found(use, github):
    use(PULL_REQUEST, **BASELINE, comment="true")

    (comment,) = github.comments
    lines = comment["body"].splitlines()
    assert lines[1] == "### `balframe check`: inconclusive"
    assert lines[5] == NO_BASELINE


@pytest.mark.parametrize(("n_wrong", "code"), [(100, 0), (400, 1)])
def test_later_runs_compare_with_the_baseline(use, workspace, n_wrong, code):
    use(**BASELINE)
    predictions(n_wrong).write_csv(workspace / "predictions.csv")

    used = use(PULL_REQUEST, **BASELINE)

    assert used.codes["check"] == code, used.log
    assert used.outputs["n-inconclusive"] == "0"


@pytest.mark.parametrize(
    ("event", "is_stored"),
    [
        (PUSH_TO_MAIN, True),
        (Event("workflow_dispatch", "main"), True),
        (Event("schedule", "main"), True),
        (Event("push", "other"), False),
        (Event("workflow_dispatch", "other"), False),
        (Event("pull_request", "main", number=5), False),
        (Event("pull_request_target", "main"), False),
    ],
)
def test_only_runs_of_the_default_branch_store_the_baseline(event, is_stored):
    (step,) = (one for one in ACTION["runs"]["steps"] if one.get("name") == "Store the baseline")
    contexts = {"github": event.context, "inputs": {"baseline-artifact": "cells"}}

    assert is_met(step["if"], contexts, {"success": lambda: True}) == is_stored
    assert not is_met(step["if"], contexts, {"success": lambda: False})
    assert not is_met(step["if"], contexts | {"inputs": {}}, {"success": lambda: True})


def test_a_gate_that_fails_stores_no_baseline(use, github):
    use(**BASELINE | {"rules": f"{BASELINE['rules']}\nbalanced_accuracy >= 0.99"})

    assert [row["name"] for row in github.artifacts] == ["balframe-verdicts"]


def test_a_file_without_rows_fails_and_is_no_baseline(use, github, workspace):
    use(**BASELINE)
    (stored,) = (row for row in github.artifacts if row["name"] == "cells")
    predictions(0).head(0).write_csv(workspace / "predictions.csv")

    used = use(**BASELINE, inconclusive="pass")

    assert used.codes["check"] == 3, used.log
    assert used.conclusion == "failure"
    assert used.outputs["verdict"] == "inconclusive"
    assert [row for row in github.artifacts if row["name"] == "cells"] == [stored]


@pytest.mark.parametrize(
    "artifact",
    [
        {"branch": "other"},
        {"branch": "main", "repository_id": 8},  # of a fork
        {"branch": "main", "expired": True},
    ],
)
def test_other_artifacts_of_the_name_are_no_baseline(use, github, workspace, artifact):
    cells = workspace / "cells.parquet"
    bf.confusion(predictions(0), "y", "yhat", by="group").write_parquet(cells)
    github.store_artifact("cells", cells, **artifact)

    used = use(PULL_REQUEST, **BASELINE)

    assert used.annotations[0][0] == "notice"
    assert "no baseline" in used.annotations[1][2]


def test_a_missing_baseline_is_an_error_on_request(use):
    used = use(PULL_REQUEST, **BASELINE, require_baseline="true")

    assert used.codes == {"python": 0, "install": 0, "baseline": 2}
    assert used.conclusion == "failure"


def test_a_baseline_that_may_not_be_read_is_an_error_and_not_missing(use):
    used = use(PULL_REQUEST, ALL_PERMISSIONS | {"actions": "none"}, **BASELINE)

    assert used.conclusion == "failure"
    assert "check" not in used.codes
    assert "HTTP 403" in used.log


def test_two_baselines_are_refused(use):
    used = use(**BASELINE, baseline="yhat")

    assert used.codes["check"] == 2
    assert used.annotations[-1][2] == "Give either the input baseline or baseline-artifact."


def test_every_input_of_the_action_is_read_and_described():
    text = (ROOT / "action.yml").read_text("utf-8")

    assert ACTION["runs"]["using"] == "composite"
    for name, value in ACTION["inputs"].items():
        assert f"inputs.{name} " in text, name
        assert value["description"].endswith((".", "`.")), name
        assert isinstance(value["default"], str), name
    assert {*re.findall(r"inputs\.([\w-]+)", text)} == ACTION["inputs"].keys()


def test_steps_of_others_are_pinned_to_a_commit_and_have_only_inputs_of_theirs():
    used = [step["uses"] for step in ACTION["runs"]["steps"] if "uses" in step]

    assert len(used) == 3
    for action in used:
        assert re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", action)


def test_no_script_has_an_expression():
    """Else a value would be run as code: values come in variables of the environment."""
    scripts = [step["run"] for step in ACTION["runs"]["steps"] if "run" in step]
    files = [path.read_text("utf-8") for path in (ROOT / ".github" / "action").iterdir()]

    assert len(scripts) == len(files) == 4
    assert not [text for text in [*scripts, *files] if "${{" in text]
    assert not [text for text in files if re.search(r"\beval\b", text)]


def test_the_reference_lists_inputs_and_outputs():
    lines = (ROOT / "docs/pages/reference/pipelines.md").read_text("utf-8").splitlines()
    inputs = [
        f"| `{name}` | {one['description']} | `{one['default']}` |".replace(" `` |", " |")
        for name, one in ACTION["inputs"].items()
    ]
    outputs = [f"| `{name}` | {one['description']} |" for name, one in ACTION["outputs"].items()]

    assert [line for line in lines if line in [*inputs, *outputs]] == [*inputs, *outputs]
