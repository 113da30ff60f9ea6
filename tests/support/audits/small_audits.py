"""Audits of small random tables, and of COMPAS, up to their figures and their documents."""

import random
from typing import Any, NamedTuple

import polars as pl

from balframe.api.settings import settings_of_call
from balframe.audit_page.build import compute_figures, write_document
from balframe.audit_page.document import Document
from balframe.audit_page.request import Model, Request, Words
from balframe.audit_page.results import Audit
from balframe.methods.gates.rules import read_rules

COMPAS = Words("re-arrested within two years", "called high risk", "person", "people")
PLAIN = Words(None, None, "row", "rows")
OPTIONS = {  # of the methods, as a caller leaves them
    "counts": None,
    "labels": None,
    "pos_label": None,
    "missing": "raise",
    "max_cells": 50_000_000,
    "cells": False,
}


_OTHERS = ("favourable", "intersections", "suppress", "bins", "baseline", "period")


class Audited(NamedTuple):
    """The figures of an audit, and its document."""

    audit: Audit
    figures: dict[Any, Any]
    document: Document

    @property
    def model(self):
        """Return the figures of the only model."""
        (model,) = self.audit.models
        return model

    def of(self, module):
        """Return the own figures of a section, by its module."""
        return self.figures[module.section]

    def section(self, module):
        """Write a section that has figures of its own."""
        return module.section(self.audit, self.of(module))


def make_request(y_true="y", y_pred=("p",), by=("g",), **changes):
    """Ask for an audit of some columns."""
    values = {
        "words": PLAIN,
        "level": 0.95,
        "min_support": 30,
        "rules": (),
        "options": {},
        "y_score": None,
        "favourable": None,
        "intersections": (),
        "suppress": None,
        **changes,
    }
    return Request(
        y_true=y_true,
        models=[Model(name, values["y_score"]) for name in y_pred],
        by=list(by),
        rules=read_rules(list(values["rules"])) if values["rules"] else [],
        title="Title",
        subtitle="",
        words=values["words"],
        level=values["level"],
        min_support=values["min_support"],
        options={**OPTIONS, **values["options"]},
        call="call",
        **{name: values[name] for name in _OTHERS if name in values},
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
    predictions = [
        y if made.random() < skill + tilt[g] * (1 - skill) else made.randint(0, 1)
        for y, g in zip(truth, groups, strict=True)
    ]
    others = [made.choice([y, p]) for y, p in zip(truth, predictions, strict=True)]
    halves = [made.choice([True, False]) for _ in range(n)]
    schema = {"y": pl.Int64, "p": pl.Int64, "q": pl.Int64, "g": pl.String, "h": pl.Boolean}
    columns = dict(zip(schema, (truth, predictions, others, groups, halves), strict=True))
    return pl.DataFrame(columns, schema=schema)


def eight_rows():
    """Count truths and predictions of two groups whose rates differ in all errors."""
    cells = [
        ("no", 1, 1, 82),
        ("no", 1, 0, 107),
        ("no", 0, 1, 194),
        ("no", 0, 0, 1658),
        ("yes", 1, 1, 59),
        ("yes", 1, 0, 37),
        ("yes", 0, 1, 58),
        ("yes", 0, 0, 185),
    ]
    return pl.DataFrame(cells, schema=["group", "y", "yhat", "n"], orient="row")


def audit_of(frame, **request):
    """Audit a frame."""
    with settings_of_call():
        audit, figures = compute_figures(frame, make_request(**request))
        return Audited(audit, figures, write_document(audit, figures))
