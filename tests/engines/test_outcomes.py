"""Outcomes, trials and models in rows: on every engine what an eager frame gives."""

import random

import polars as pl
import pytest

import balframe as bf
from tests.support.constructors import assert_table, plain

RNG = random.Random(4)
KEYS = [(item, trial, model) for item in range(20) for trial in range(3) for model in ("a", "b")]
RNG.shuffle(KEYS)
ROWS = {
    "item": [f"q{item}" for item, _, _ in KEYS],
    "trial": [trial for _, trial, _ in KEYS],
    "model": [model for _, _, model in KEYS],
    "category": ["even" if item % 2 else "odd" for item, _, _ in KEYS],
    "passed": [RNG.random() < 0.6 for _ in KEYS],
    "judge": [RNG.choice([0, 1]) for _ in KEYS],
    "human": [RNG.choice([0, 1, 1, None]) for _ in KEYS],
    "probability": [0.5 + 0.25 * RNG.choice([0, 1]) for _ in KEYS],
}
CORRECTED = {
    "y_true": "human",
    "y_pred": "judge",
    "by": "category",
    "missing": bf.correct("model"),
    "metrics": ["accuracy", "precision", "recall", "balanced_accuracy"],
    "interval": True,
}
CALLS = {
    "report": lambda frame: bf.report(
        frame,
        outcome="passed",
        by=["category", "model"],
        cluster="item",
        metrics=["rate", "pass_at(2)", "pass_all(2)"],
        interval=True,
    ),
    "partly labelled": lambda frame: bf.report(
        frame,
        **CORRECTED,
    ),
    "gaps of partly labelled": lambda frame: bf.gaps(
        frame,
        "human",
        "judge",
        by="category",
        missing=bf.correct(probability="probability"),
        metrics=["accuracy", "prevalence"],
    ),
    "margins of partly labelled": lambda frame: bf.report(
        frame,
        **{**CORRECTED, "by": ["category", "model"]},
        margins="all",
    ),
    "classes of partly labelled": lambda frame: bf.classes(
        frame, "human", "judge", by="category", missing="correct"
    ),
    "cells of partly labelled": lambda frame: bf.confusion(
        frame, "human", "judge", by="category", missing="correct"
    ),
    "stored cells of partly labelled": lambda frame: bf.report(
        bf.confusion(frame, "human", "judge", by=["category", "model"], missing="keep"),
        **CORRECTED,
    ),
    "labels of partly labelled": lambda frame: bf.power(
        frame, "human", "judge", by="category", missing="correct", rules="accuracy >= 0.5"
    ),
    "compare": lambda frame: bf.compare(
        frame,
        outcome="passed",
        by="category",
        model="model",
        item=["item", "trial"],
        metrics=["rate", "pass_at(3)"],
        detail=True,
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_outcomes_on_an_engine_equal_those_of_an_eager_frame(name, engine):
    expected = CALLS[name](pl.DataFrame(ROWS))

    assert_table(CALLS[name](engine(ROWS)), plain(expected), close=1e-12)


def test_an_earlier_run_on_an_engine_is_a_baseline_by_rows_and_by_cells(engine):
    frame = pl.DataFrame(ROWS)
    earlier = frame.filter(pl.col("trial") > 0)
    cells = bf.confusion(earlier, outcome="passed", by="category")
    options = {"outcome": "passed", "by": "category", "rules": "rate >= baseline - 0.2"}
    expected = plain(bf.check(frame, baseline=earlier, **options))

    for baseline in (earlier, cells):
        of_engine = engine(baseline.to_dict(as_series=False))
        assert_table(bf.check(frame, baseline=of_engine, **options), expected, close=1e-12)
