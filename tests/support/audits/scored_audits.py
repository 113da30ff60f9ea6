"""Audits with scores: of COMPAS by deciles, and of probabilities drawn at random."""

import random

import polars as pl

import balframe as bf
from tests.support.audits.small_audits import COMPAS, audit_of

THRESHOLD = 5


def compas():
    """Return a row for each person, called high risk from decile 5 on."""
    people = bf.datasets.compas_deciles(expand=True)
    return people.with_columns(high=(people["decile"] >= THRESHOLD).cast(pl.Int64))


def audit_of_compas():
    """Audit the predictions of COMPAS with their deciles."""
    columns = {"y_true": "reoffended", "y_pred": ["high"], "by": ["race"], "y_score": "decile"}
    return audit_of(compas(), words=COMPAS, **columns)


def probabilities(n, seed=0, decimals=None):
    """Draw probabilities, outcomes, predictions from a threshold of a half, and groups."""
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


def audit_scores(frame, **request):
    """Audit the predictions and scores of a frame."""
    return audit_of(frame, y_score="score", **request)
