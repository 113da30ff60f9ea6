"""Audits of small random tables, and of COMPAS, up to their answers and their documents."""

import random

import polars as pl

from balframe.audit_page.build import audited_of, document_from
from balframe.audit_page.request import Asked, Model, Words
from balframe.methods.gates.rules import read_rules

COMPAS = Words("re-arrested within two years", "called high risk", "person", "people")
PLAIN = Words(None, None, "row", "rows")
OPTIONS = {  # of the verbs, as a caller leaves them
    "counts": None,
    "labels": None,
    "pos_label": None,
    "missing": "raise",
    "max_cells": 50_000_000,
    "cells": False,
}


def asked_of(y_true="y", y_pred=("p",), by=("g",), **changes):
    """Ask for an audit of some columns."""
    known = {
        "words": PLAIN,
        "level": 0.95,
        "min_support": 30,
        "rules": (),
        "options": {},
        **changes,
    }
    return Asked(
        y_true,
        [Model(name, None) for name in y_pred],
        list(by),
        read_rules(list(known["rules"])) if known["rules"] else [],
        "Title",
        "",
        known["words"],
        known["level"],
        known["min_support"],
        {**OPTIONS, **known["options"]},
        "call",
    )


def random_rows(seed):
    """Make rows with two outcomes, and now and then one, small groups and missing values."""
    made = random.Random(seed)
    n = made.choice([1, 2, 5, 20, 60, 200, 400])
    prevalence, skill = made.choice([0, 0.1, 0.5, 0.9, 1]), made.choice([0, 0.5, 0.9, 1])
    names = made.choice(
        [["a", "b"], ["a", "b", "rare one"], ["a"], ["a", "b", None], list("abcdefghi")]
    )
    weights = [1 if len(name or "") > 1 else 6 for name in names]
    groups = made.choices(names, weights, k=n)
    truth = [int(made.random() < prevalence) for _ in range(n)]
    tilt = {name: made.choice([0, 0, 0.4]) for name in names}
    calls = [
        y if made.random() < skill + tilt[g] * (1 - skill) else made.randint(0, 1)
        for y, g in zip(truth, groups, strict=True)
    ]
    others = [made.choice([y, p]) for y, p in zip(truth, calls, strict=True)]
    halves = [made.choice([True, False]) for _ in range(n)]
    schema = {"y": pl.Int64, "p": pl.Int64, "q": pl.Int64, "g": pl.String, "h": pl.Boolean}
    columns = dict(zip(schema, (truth, calls, others, groups, halves), strict=True))
    return pl.DataFrame(columns, schema=schema)


def answered(frame, asked):
    """Audit a frame: the answers, and the document of them."""
    answers = audited_of(frame, asked)
    return answers, document_from(answers)
