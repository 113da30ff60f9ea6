"""The call on a page makes the page again; it has what differs from the defaults."""

import re
from datetime import date
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import balframe as bf
from balframe.methods.gates.rules import read_rules
from tests.support.cases import cases

FRAME = pl.DataFrame(
    {
        "y": ["no", "yes"] * 60,
        "p": ["no", "yes", "yes"] * 40,
        "q": ["no", "no", "yes", "yes"] * 30,
        "g": ["a", "b", "c", "a"] * 30,
        "day": [date(2026, 1, 1), date(2026, 1, 2)] * 60,
        "s": [at / 12 for at in range(12)] * 10,
        "k": [1, 2] * 60,
        "chance": [0.5] * 120,
    }
)
WITH_REASON = {"rule": "n >= 2", "where": {"g": ["a", "b"]}, "reason": "as 'agreed'"}


def call_of(page):
    (call,) = re.findall(r"### To repeat it\n\n```\n(.*?)\n```", page.markdown(), re.DOTALL)
    return call


@cases(
    "options",
    [
        {},
        {"by": ("g", "day"), "y_score": "s"},
        {"by": ["g", "day", bf.intersection("day", "g")], "favourable": "selected"},
        {"y_pred": ["p", "q"], "y_score": ["s", "s"], "counts": "k"},
        {
            "words": {
                "title": 'It\'s "so"\n\\',
                "truth": "ill",
                "selected": "called ill",
                "unit": ("row", "rows"),
                "prediction": ("answer", "answers"),
            },
        },
        {"labels": np.array(["no", "yes"]), "min_support": np.int64(5), "level": 0.9},
        {"by": "g", "rules": "recall >= 0.1"},
        {"by": "g", "rules": ["recall >= 0.1", WITH_REASON]},
        {"by": "g", "rules": {"recall": [">= 0.1", "< 1"]}},
        {"by": "g", "rules": read_rules(["n >= 1", WITH_REASON])},
        {"missing": "drop", "max_cells": 1000},
        {"missing": "correct"},
        {"missing": bf.correct("g")},
        {"missing": bf.correct(["g", "day"])},
        {"missing": bf.correct(probability="chance")},
        {"missing": bf.correct("g", probability="chance"), "by": "day"},
        {"cover": {"auditor": ["Jane Doe", "J. Roe"], "date": date(2026, 5, 4), "sites": 12}},
    ],
)
def test_python_code_on_the_page_reproduces_the_page(options):
    page = bf.audit(FRAME, "y", **{"y_pred": "p", "pos_label": "yes"} | options)

    namespace = {"frame": FRAME}
    exec(call_of(page), namespace)

    again = namespace["page"].markdown()
    assert again == page.markdown()


def test_python_code_has_only_arguments_that_differ_from_defaults(tmp_path):
    rules = tmp_path / "gate.toml"
    rules.write_text("rules = ['n >= 1']")

    page = bf.audit(
        FRAME, "y", "p", by=["g"], rules=Path(rules), pos_label="yes", level=0.95, missing="raise"
    )

    assert call_of(page).split("\n") == [
        "import balframe as bf",
        "",
        "page = bf.audit(",
        "    frame,",
        "    'y', 'p',",
        "    by=['g'],",
        "    rules='gate.toml',",
        "    pos_label='yes',",
        ")",
    ]


@pytest.mark.parametrize("write", [str, Path])
def test_python_code_names_files_without_their_folders(tmp_path, write):
    folder = tmp_path / "of_the_auditor"
    folder.mkdir()
    (folder / "gate.toml").write_text("rules = ['n >= 1']")
    (folder / "cover.toml").write_text("auditor = 'Jane Doe'")
    rules, cover, data = (write(folder / name) for name in ("gate.toml", "cover.toml", "gate.toml"))

    of_file, of_mapping = (
        bf.audit(FRAME, "y", "p", by="g", pos_label="yes", rules=rules, cover=given)
        for given in (cover, {"files": [data], "auditor": "Jane Doe"})
    )

    assert "    rules='gate.toml',\n    cover='cover.toml',\n" in call_of(of_file)
    assert "    cover={'files': ['gate.toml'], 'auditor': 'Jane Doe'},\n" in call_of(of_mapping)
    for page in (of_file, of_mapping):
        assert "of_the_auditor" not in page.markdown()


def test_python_code_has_rules_in_normalised_form():
    known = read_rules(["n  >=  1", WITH_REASON])

    page = bf.audit(FRAME, "y", "p", by="g", rules=known, pos_label="yes")

    assert f"rules=['n >= 1', {WITH_REASON!r}]," in call_of(page)


def test_python_code_shortens_a_very_long_title():
    page = bf.audit(FRAME, "y", "p", pos_label="yes", words={"title": "x" * 1_000_000})

    assert len(call_of(page)) < 2_000


@pytest.mark.parametrize(
    ("calls", "title"),
    [
        ("p", "# Audit of p"),
        (["p", "q"], "# Audit of p and q"),
        (["a b"], "# Audit of “a b”"),
    ],
)
def test_default_title_names_the_prediction_columns(calls, title):
    frame = FRAME.with_columns(pl.col("p").alias("a b"))

    assert bf.audit(frame, "y", calls, pos_label="yes").markdown().split("\n")[0] == title


def test_default_title_names_the_first_six_of_many_models():
    names = [f"m{number}" for number in range(9)]
    frame = FRAME.select("y", *(pl.col("p").alias(name) for name in names))

    page = bf.audit(frame, "y", names, pos_label="yes")

    assert page.markdown().split("\n")[0] == "# Audit of m0, m1, m2, m3, m4, m5 and 3 more"
