"""A repository with predictions, and what GitHub keeps of it."""

import shutil

import polars as pl
import pytest

from tests.support.programs import missing
from tests.support.workflows.runner import PUSH_TO_MAIN, GitHub, run_action

ALL_PERMISSIONS = {"actions": "read", "contents": "read", "pull-requests": "write"}


def predictions(n_wrong):
    """Return 1,000 rows of each of two groups, of which in b some have a wrong prediction."""
    rows = pl.DataFrame({"group": ["a"] * 1000 + ["b"] * 1000, "y": [1, 0] * 1000})
    is_wrong = pl.int_range(2000) >= 2000 - n_wrong
    return rows.with_columns(yhat=pl.when(is_wrong).then(1 - pl.col("y")).otherwise("y"))


@pytest.fixture
def github(tmp_path):
    """Make the stand-in for GitHub."""
    for program in ("bash", "jq"):
        if shutil.which(program) is None:
            missing(program)
    return GitHub(tmp_path / "of_github")


@pytest.fixture
def workspace(tmp_path):
    """Make a folder with predictions, and a configuration."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    predictions(100).write_csv(folder / "predictions.csv")
    (folder / "balframe.toml").write_text(
        'files = "predictions.csv"\ny_true = "y"\ny_pred = "yhat"\n'
        '[check]\nby = "group"\nrules = ["balanced_accuracy >= 0.8"]\n'
        '[check.strict]\nrules = ["balanced_accuracy >= 0.95"]\n'
        '[check.unclear]\nrules = ["balanced_accuracy >= 0.9"]\n'
    )
    return folder


@pytest.fixture
def use(github, workspace):
    """Use the action with inputs, in a run that may do all that it needs."""

    def used(event=PUSH_TO_MAIN, permissions=ALL_PERMISSIONS, **inputs):
        values = {name.replace("_", "-"): value for name, value in inputs.items()}
        return run_action(github, workspace, event, values, permissions=permissions)

    return used
