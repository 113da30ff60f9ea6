"""Audits with scores: of COMPAS by deciles, and of probabilities drawn at random."""

import random
from dataclasses import replace

import polars as pl

import balframe as bf
from audit_page.audited_frames import COMPAS, asked_of
from balframe.audit_page.build import audited_of
from balframe.audit_page.request import Model

THRESHOLD = 5


def compas():
    """Return a row for each person, called high risk from decile 5 on."""
    people = bf.datasets.compas_deciles(expand=True)
    return people.with_columns(high=(people["decile"] >= THRESHOLD).cast(pl.Int64))


def with_score(asked, y_score):
    """Ask for an audit with a score."""
    return replace(asked, models=[Model(one.y_pred, y_score) for one in asked.models])


def audit_of_compas():
    """Audit the calls of COMPAS with their deciles."""
    asked = asked_of("reoffended", ["high"], ["race"], words=COMPAS)
    return audited_of(compas(), with_score(asked, "decile"))


def probabilities(n, seed=0, decimals=None):
    """Draw probabilities, outcomes, calls from a threshold of a half, and groups."""
    made = random.Random(seed)
    score = [made.betavariate(2, 3) for _ in range(n)]
    if decimals is not None:
        score = [round(one, decimals) for one in score]
    return pl.DataFrame(
        {
            "y": [int(made.random() < one) for one in score],
            "p": [int(one >= 0.5) for one in score],
            "score": score,
            "g": made.choices(["a", "b", "c"], [5, 4, 1], k=n),
        }
    )


def audit_of(frame, by=("g",), **changes):
    """Audit the calls and scores of a frame."""
    return audited_of(frame, with_score(asked_of(by=by, **changes), "score"))
