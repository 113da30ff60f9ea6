"""The page that leads from questions to methods: every call runs, and every command."""

import re
import shlex
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import balframe as bf
from balframe.accessor import methods
from tests.support.cases import cases

pytestmark = [
    pytest.mark.any_version,
    pytest.mark.filterwarnings("ignore::balframe.BalframeWarning"),
]

PAGE = (Path(__file__).parents[2] / "docs" / "pages" / "which-method.md").read_text("utf-8")
CALLS = sorted({*re.findall(r"`((?:df\.bal|bf)\.\w[^`]*\))`", PAGE)} - {"bf.method(df, ...)"})
COMMANDS = sorted({*re.findall(r"`balframe ([a-z][^`]*)`", PAGE)})
FILES = {"OLD": "old.parquet", "NEW": "new.parquet"}
OF_SCORES = {
    "best-threshold",
    "calibration",
    "calibration-curve",
    "calibration-gaps",
    "curve",
    "ranking",
}


def columns_left_out(name, words):
    """Return the options for columns that the page leaves out of a command."""
    if "--outcome" in words:
        return []
    if name == "impact":
        return ["--selected", "yhat"]
    other = ("--y-score", "s") if name in OF_SCORES else ("--y-pred", "yhat")
    pairs = [pair for pair in (("--y-true", "y"), other) if pair[0] not in words]
    return [word for pair in pairs for word in pair]


@pytest.fixture(scope="module")
def df():
    rng = np.random.default_rng(7)
    n = 600
    y = rng.integers(0, 2, n)
    yhat, old = (np.where(rng.random(n) < share, y, 1 - y) for share in (0.8, 0.7))
    label = [int(value) if number % 2 else None for number, value in enumerate(y)]
    return pl.DataFrame(
        {
            "y": y,
            "yhat": yhat,
            "old": old,
            "label": label,
            "s": np.round(rng.beta(1 + 2 * y, 3 - 2 * y), 2),
            "group": rng.choice([*"abc"], n),
            "task": [f"task {number % 60}" for number in range(n)],
            "passed": rng.integers(0, 2, n),
            "day": [date(2024, 1, 1) + timedelta(days=number // 6) for number in range(n)],
        }
    )


@cases("call", CALLS)
def test_calls_run(call, df, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    eval(call, {"df": df, "bf": bf})


def test_every_method_is_on_the_page():
    assert {name for name in methods() if f"`df.bal.{name}(" not in PAGE} == set()


@cases("command", COMMANDS)
def test_commands_run(command, df, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    df.write_parquet("new.parquet")
    df.with_columns(yhat="old").write_parquet("old.parquet")
    name, *words = shlex.split(command)
    files = [] if "NEW" in words else ["new.parquet"]
    typed = [FILES.get(word, word) for word in words]

    done = run(name, *files, *typed, *columns_left_out(name, words))

    assert done.code == 0, done.err


def test_the_page_has_many_calls():
    assert len(CALLS) > 25
    assert len(COMMANDS) > 20
