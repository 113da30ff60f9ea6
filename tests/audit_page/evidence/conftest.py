"""The evidence of audits that tests share."""

import polars as pl
import pytest

import balframe as bf
from tests.support.audits.random_frames import random_frame

RULES = ["recall >= 0.6", "difference(accuracy) <= 0.1", "n >= 20"]


def people():
    return bf.datasets.compas_by_age_and_sex()


@pytest.fixture(scope="session")
def compas():
    """Return the evidence on COMPAS by sex, race and age, with rules."""
    return bf.audit(
        people(), "reoffended", "high_risk", by=["sex", "race", "age"], counts="n", rules=RULES
    ).evidence()


@pytest.fixture(scope="session")
def random_evidence():
    """Return the evidence of audits of random frames, half of which have no differences."""
    evidence = []
    for seed in range(40):
        frame, options = random_frame(seed)
        y_pred = options.pop("y_pred", "p")
        rules = RULES[: seed % 4] or None
        if seed % 5 == 0:  # rows without an outcome
            is_known = pl.int_range(pl.len()) % 7 > 0
            frame = frame.with_columns(pl.when(is_known).then("y").alias("y"))
        page = bf.audit(frame, "y", y_pred, rules=rules, missing="drop", **options)
        evidence.append(page.evidence())
    return evidence
