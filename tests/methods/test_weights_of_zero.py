"""Rows of weight 0 are rows: `n` counts them and their scores are thresholds."""

import numpy as np
import polars as pl
import pytest
from sklearn import metrics as sk

import balframe as bf
from tests.support.constructors import each_constructor, plain

rng = np.random.default_rng(7)
SIZE = 60
Y = rng.integers(0, 2, SIZE)
SCORE = (rng.integers(0, 30, SIZE) + 8 * Y) / 40
WEIGHT = np.where(rng.random(SIZE) < 0.4, 0.0, rng.uniform(0.5, 2, SIZE))
ROWS = {"y": Y.tolist(), "s": SCORE.tolist(), "w": WEIGHT.tolist()}
WEIGHTLESS = sorted({*SCORE} - {*SCORE[WEIGHT > 0]})


@each_constructor
def test_scores_of_rows_without_weight_are_thresholds_of_curve(constructor):
    out = plain(bf.curve(constructor(ROWS), "y", "s", sample_weight="w", metrics=["fpr", "tpr"]))
    fpr, tpr, thresholds = sk.roc_curve(Y, SCORE, sample_weight=WEIGHT, drop_intermediate=False)

    found = np.column_stack([out["threshold"], out["fpr"], out["tpr"]])
    kept = found[~np.isin(found[:, 0], WEIGHTLESS)]
    assert len(WEIGHTLESS) > 3
    assert out["threshold"] == [*sorted({*SCORE}), np.inf]
    assert out["n"] == [SIZE] * len(found)
    assert out["predicted_positive"] == [int((t <= SCORE).sum()) for t in out["threshold"]]
    np.testing.assert_allclose(kept[::-1], np.column_stack([thresholds, fpr, tpr]), atol=1e-14)


def test_rates_at_scores_without_weight_equal_the_next_threshold():
    out = bf.curve(pl.DataFrame(ROWS), "y", "s", sample_weight="w", metrics=["fpr", "tpr"])

    below = out.filter(pl.col("threshold").is_in(WEIGHTLESS))
    above = out.with_columns(pl.col("fpr", "tpr").shift(-1)).filter(
        pl.col("threshold").is_in(WEIGHTLESS)
    )
    assert np.allclose(below.select("fpr", "tpr"), above.select("fpr", "tpr"))


def test_rows_without_weight_do_not_change_auc_and_best_threshold():
    frame = pl.DataFrame(ROWS)
    others = frame.filter(pl.col("w") > 0)
    ranking = [
        bf.ranking(rows, "y", "s", sample_weight="w", detail=True) for rows in (frame, others)
    ]
    best = [
        bf.best_threshold(rows, "y", "s", sample_weight="w", detail=True)
        for rows in (frame, others)
    ]

    assert ranking[0]["n"].item() == SIZE > ranking[1]["n"].item()
    for name in ranking[0].drop("n", "n_positive").columns:
        assert ranking[0][name].item() == pytest.approx(ranking[1][name].item(), rel=1e-12), name
    for name in ("threshold", "estimate", "common_threshold", "recall", "chance_maximum"):
        assert best[0][name].item() == pytest.approx(best[1][name].item(), rel=1e-12), name


@each_constructor
def test_rows_with_count_0_have_no_threshold(constructor):
    counted = {**ROWS, "k": (WEIGHT > 0).astype(int).tolist()}

    out = plain(bf.curve(constructor(counted), "y", "s", counts="k", metrics=["fpr", "tpr"]))

    assert out["threshold"] == [*sorted({*SCORE[WEIGHT > 0]}), np.inf]
    assert set(out["n"]) == {int((WEIGHT > 0).sum())}
