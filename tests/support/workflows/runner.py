"""Workflows and composite actions of GitHub, run without GitHub as far as no network is needed.

Steps with `run` are run by bash. Of steps with `uses`, this repository's action runs, and those of
GitHub have stand-ins. Artifacts and comments are in a folder, which the stand-in for gh reads.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from tests.support.workflows.expressions import interpolate, is_met

ROOT = Path(__file__).parents[3]
REPOSITORY, REPOSITORY_ID, DEFAULT_BRANCH = "someone/model", 7, "main"
_FAKE_GH = Path(__file__).with_name("fake_gh.py")
_HEREDOC = re.compile(r"([^=\n]+)<<(.+)")
_UPLOAD_INPUTS = {"name", "path", "if-no-files-found", "retention-days", "overwrite"}
_SETUP_INPUTS = {"python-version", "update-environment"}
_FORBIDDEN_IN_NAMES = re.compile(r'["\:<>|*?\r\n/\\]')

# A stand-in for Python that makes no environment and installs nothing, but records what it should.
_PYTHON = """\
#!/usr/bin/env bash
set -eu
printf '%s\\n' "$@" > "$(mktemp "$FAKE_GITHUB/python.XXXXXX")"
if [[ $1 == -m && $2 == venv ]]; then
    mkdir -p "$3/bin"
    cp "$0" "$3/bin/python"
    printf '#!/usr/bin/env bash\\nexec "%s" -m balframe "$@"\\n' "$REAL_PYTHON" > "$3/bin/balframe"
    chmod +x "$3/bin/balframe"
fi
"""


@dataclass
class Outcome:
    """What a workflow or an action came to: the steps by id, and what they wrote."""

    conclusion: str = "success"
    outputs: dict = field(default_factory=dict)
    steps: dict = field(default_factory=dict)
    codes: dict = field(default_factory=dict)
    log: str = ""
    summary: str = ""

    @property
    def annotations(self):
        """List the annotations: the command, the title and the message."""
        return re.findall(r"^::(error|warning|notice) title=(.*?)::(.*)$", self.log, re.MULTILINE)


@dataclass
class GitHub:
    """What GitHub keeps of a repository, in a folder."""

    folder: Path
    run_id: int = 100

    def __post_init__(self):
        self.state = self.folder / "github"
        self.bin = self.folder / "bin"
        for path in (self.state / "artifacts", self.bin):
            path.mkdir(parents=True)
        gh = self.bin / "gh"
        gh.write_text(f'#!/usr/bin/env bash\nexec "{sys.executable}" "{_FAKE_GH}" "$@"\n')
        (self.bin / "python").write_text(_PYTHON)
        for program in self.bin.iterdir():
            program.chmod(0o755)

    def _rows(self, name):
        path = self.state / f"{name}.json"
        return json.loads(path.read_text("utf-8")) if path.exists() else []

    @property
    def artifacts(self):
        """List the artifacts that runs have uploaded."""
        return self._rows("artifacts")

    @property
    def comments(self):
        """List the comments of pull requests."""
        return self._rows("comments")

    @comments.setter
    def comments(self, rows):
        (self.state / "comments.json").write_text(json.dumps(rows), "utf-8")

    @property
    def calls(self):
        """List the calls of gh."""
        path = self.state / "calls.ndjson"
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()]

    @property
    def python_calls(self):
        """List the words of the calls of Python."""
        return [path.read_text("utf-8").splitlines() for path in self.state.glob("python.*")]

    def artifact_file(self, name):
        """Return the only file of the last artifact of a name."""
        row = [row for row in self.artifacts if row["name"] == name][-1]
        (path,) = (self.state / "artifacts" / str(row["id"])).iterdir()
        return path

    def store_artifact(self, name, file, *, branch, repository_id=REPOSITORY_ID, expired=False):
        """Keep a file as an artifact of the run that is running."""
        rows = self.artifacts
        number = len(rows) + 1
        folder = self.state / "artifacts" / str(number)
        folder.mkdir()
        shutil.copy(file, folder)
        run = {
            "id": self.run_id,
            "head_branch": branch,
            "repository_id": REPOSITORY_ID,
            "head_repository_id": repository_id,
        }
        created_at = f"2026-11-01T00:00:{number:02}Z"
        row = {"id": number, "name": name, "created_at": created_at, "expired": expired}
        rows.append({**row, "workflow_run": run})
        (self.state / "artifacts.json").write_text(json.dumps(rows), "utf-8")


@dataclass(frozen=True)
class Event:
    """What starts a workflow."""

    name: str
    branch: str
    number: int | None = None

    @property
    def context(self):
        """Return the part of the context `github` that follows from it."""
        event = {"repository": {"default_branch": DEFAULT_BRANCH}}
        ref = f"refs/heads/{self.branch}"
        if self.name == "schedule":
            event = {"schedule": "0 4 * * *"}
        if self.number is not None:
            event["pull_request"] = {"number": self.number, "head": {"sha": "f" * 40}}
            ref = f"refs/pull/{self.number}/merge"
        return {"event_name": self.name, "event": event, "ref": ref, "token": "of-the-job"}

    def starts(self, triggers):
        """Return whether a workflow with these triggers runs."""
        names = [triggers] if isinstance(triggers, str) else triggers
        if self.name not in names:
            return False
        trigger = triggers[self.name] if isinstance(triggers, dict) else None
        branches = (trigger or {}).get("branches")
        return branches is None or self.branch in branches


PUSH_TO_MAIN = Event("push", DEFAULT_BRANCH)


class _Steps:
    """The steps of a job or of a composite action, with what they share."""

    def __init__(self, github, workspace, event, permissions, action_path=None):
        self.github, self.workspace, self.event = github, workspace, event
        self.permissions, self.action_path = permissions, action_path
        self.outcome = Outcome()
        self.temp = github.folder / "temp"
        self.temp.mkdir(exist_ok=True)

    def run(self, steps, inputs, env=None):
        contexts = {
            "inputs": inputs,
            "github": self.event.context,
            "steps": self.outcome.steps,
            "runner": {"temp": str(self.temp)},
        }
        for number, step in enumerate(steps):
            has_failed = self.outcome.conclusion == "failure"
            status = {
                "success": lambda has_failed=has_failed: not has_failed,
                "failure": lambda has_failed=has_failed: has_failed,
                "always": lambda: True,
                "cancelled": lambda: False,
            }
            name = step.get("id", step.get("name", str(number)))
            if not is_met(step.get("if"), contexts, status):
                self.outcome.steps[name] = {"outcome": "skipped", "outputs": {}}
                continue
            code, outputs = self._run_step(step, contexts, env or {})
            outcome = "failure" if code else "success"
            self.outcome.steps[name] = {"outcome": outcome, "outputs": outputs}
            self.outcome.codes[name] = code
            if code and not step.get("continue-on-error"):
                self.outcome.conclusion = "failure"
        return contexts

    def _run_step(self, step, contexts, env):
        env = env | {k: interpolate(v, contexts) for k, v in step.get("env", {}).items()}
        if "run" in step:
            return self._run_script(step, contexts, env)
        values = {k: interpolate(v, contexts) for k, v in step.get("with", {}).items()}
        action, _, ref = step["uses"].partition("@")
        assert ref, f"{action} has no version"
        if action.endswith("/balframe"):
            return self._use_own_action(values)
        stand_ins = {
            "actions/checkout": lambda values: (0, {}),
            "actions/setup-python": self._set_up_python,
            "actions/upload-artifact": self._upload,
        }
        return stand_ins[action](values)

    def _use_own_action(self, values):
        used = run_action(
            self.github, self.workspace, self.event, values, permissions=self.permissions
        )
        self.outcome.log += used.log
        self.outcome.summary += used.summary
        self.outcome.codes |= used.codes
        return int(used.conclusion == "failure"), used.outputs

    def _set_up_python(self, values):
        assert values.keys() <= _SETUP_INPUTS
        return 0, {"python-path": str(self.github.bin / "python")}

    def _upload(self, values):
        assert values.keys() <= _UPLOAD_INPUTS
        file = Path(values["path"])
        if _FORBIDDEN_IN_NAMES.search(values["name"]) or not values["name"]:
            self.outcome.log += f"::error title=upload::{values['name']!r} is no name\n"
            return 1, {}
        if not file.is_file():
            return int(values.get("if-no-files-found") == "error"), {}
        self.github.store_artifact(values["name"], file, branch=self.event.branch)
        return 0, {}

    def _run_script(self, step, contexts, env):
        files = {name: self.temp / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for path in files.values():
            path.write_text("")
        script = self.temp / "script.sh"
        script.write_text(interpolate(step["run"], contexts))
        options = ["-e"]
        if "shell" in step:
            assert step["shell"] == "bash"
            options = ["--noprofile", "--norc", "-eo", "pipefail"]
        kept = {name: os.environ[name] for name in ("HOME", "LANG", "TMPDIR") if name in os.environ}
        folder = interpolate(step.get("working-directory", "."), contexts)
        done = subprocess.run(
            ["bash", *options, str(script)],
            cwd=self.workspace / folder,
            env={
                **kept,
                "PATH": f"{self.github.bin}{os.pathsep}{os.environ['PATH']}",
                "PYTHONPATH": str(ROOT),
                "REAL_PYTHON": sys.executable,
                "FAKE_GITHUB": str(self.github.state),
                "FAKE_PERMISSIONS": json.dumps(self.permissions),
                "RUNNER_TEMP": str(self.temp),
                "GITHUB_ACTION_PATH": str(self.action_path or ""),
                "GITHUB_REPOSITORY": REPOSITORY,
                "GITHUB_RUN_ID": str(self.github.run_id),
                "GITHUB_SERVER_URL": "https://github.com",
                **{name: str(path) for name, path in files.items()},
                **env,
            },
            capture_output=True,
            text=True,
            check=False,
        )
        self.outcome.log += done.stdout + done.stderr
        self.outcome.summary += files["GITHUB_STEP_SUMMARY"].read_text("utf-8")
        return done.returncode, read_outputs(files["GITHUB_OUTPUT"].read_text("utf-8"))


def read_outputs(text):
    """Read the file of outputs of a step as GitHub does."""
    outputs, lines = {}, iter(text.splitlines())
    for line in lines:
        heredoc = _HEREDOC.fullmatch(line)
        if heredoc is None:
            name, mark, value = line.partition("=")
            assert mark, line
            outputs[name] = value
            continue
        content = []
        while (following := next(lines)) != heredoc[2]:
            content.append(following)
        outputs[heredoc[1]] = "\n".join(content)
    return outputs


def run_action(github, workspace, event, values, *, permissions=None, path=ROOT):
    """Run this repository's action with inputs, in a folder with the files of a repository."""
    action = yaml.safe_load((path / "action.yml").read_text("utf-8"))
    unexpected = values.keys() - action["inputs"].keys()
    assert not unexpected, unexpected
    inputs = {name: one.get("default", "") for name, one in action["inputs"].items()} | values
    steps = _Steps(github, workspace, event, permissions or {}, path)
    contexts = steps.run(action["runs"]["steps"], inputs)
    steps.outcome.outputs = {
        name: interpolate(output["value"], contexts) for name, output in action["outputs"].items()
    }
    return steps.outcome


def run_workflow(github, workspace, event, path):
    """Run the only job of a workflow; None if the event does not start it."""
    # YAML 1.1 reads the key `on` as true.
    workflow = yaml.safe_load((workspace / path).read_text("utf-8"))
    if not event.starts(workflow.get("on", workflow.get(True))):
        return None
    github.run_id += 1
    (job,) = workflow["jobs"].values()
    steps = _Steps(github, workspace, event, workflow.get("permissions", {}))
    steps.run(job["steps"], {}, job.get("env"))
    return steps.outcome
