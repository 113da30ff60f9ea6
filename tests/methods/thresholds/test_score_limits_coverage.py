"""How often limits of metrics of scores hold the truth, and how often rules are decided wrongly.

The scores of negatives are standard normal, those of positives normal about 1.5: the truths are
those of 200,000 rows. A share of R draws near .95 has a standard error of .22 / sqrt(R); bounds
allow for three of these.
"""

import warnings

import numpy as np
import polars as pl
import pytest
from scipy.special import expit

import balframe as bf

pytestmark = pytest.mark.simulation
METRICS = ["average_precision", "partial", "ks_statistic", "brier_score", "log_loss"]
OPTIONS = {"metrics": {"partial": "auc(max_fpr=0.2)"}, "interval": True, "detail": True}
DRAWS = 600


def draw(rng, n, draws, share=0.3, levels=None):
    """Draw labels and scores; a score is the probability of the label, but for its level."""
    y = rng.random(n * draws) < share
    z = rng.normal(size=n * draws) + 1.5 * y
    s = expit(1.5 * z - 2)
    if levels is not None:
        s = (0.5 + np.floor(s * levels)) / levels
    return pl.DataFrame({"draw": np.repeat(np.arange(draws), n), "y": y, "s": s})


@pytest.mark.parametrize(
    ("n", "share", "levels"), [(60, 0.3, None), (60, 0.3, 5), (200, 0.1, None)]
)
def test_coverage_of_limits_of_metrics_of_scores_is_near_nominal(n, share, levels):
    rng = np.random.default_rng(n)
    truth = bf.ranking(draw(rng, 200_000, 1, share, levels), "y", "s", **OPTIONS)
    out = bf.ranking(draw(rng, n, DRAWS, share, levels), "y", "s", by="draw", **OPTIONS)
    for name in METRICS:
        held = out[f"{name}_lower"].is_between(float("-inf"), truth[name].item()) & (
            out[f"{name}_upper"] >= truth[name].item()
        )
        least = 0.95 if name == "ks_statistic" else 0.93
        assert held.mean() >= least - 3 * 0.22 / np.sqrt(DRAWS), name


@pytest.mark.parametrize(("positives", "negatives"), [(5, 100), (20, 60)])
def test_gates_on_areas_are_rarely_wrong_if_a_minority_is_far_away(positives, negatives):
    # a fifth of the positives are below all negatives, the others above: the area is .8
    size, rng = positives + negatives, np.random.default_rng(5)
    y = np.tile(np.arange(size) < positives, DRAWS)
    s = np.where(y, np.where(rng.random(len(y)) < 0.2, -9, 9), 0) + rng.random(len(y))
    frame = pl.DataFrame({"draw": np.repeat(np.arange(DRAWS), size), "y": y, "s": s})
    out = bf.check(frame, "y", y_score="s", by="draw", rules="auc >= 0.8", adjust=None)
    for wrong in ("pass", "fail"):  # the area is at the bound
        assert (out["status"] == wrong).mean() <= 0.025 + 3 * 0.156 / np.sqrt(DRAWS)


@pytest.mark.parametrize(("positives", "negatives"), [(1, 99), (4, 60), (5, 60), (8, 40), (50, 50)])
@pytest.mark.parametrize("levels", [None, 2, 4])
def test_equal_models_differ_by_chance_in_5_percent_of_samples(positives, negatives, levels):
    n, rng = positives + negatives, np.random.default_rng(9)
    y = np.tile(np.arange(n) < positives, DRAWS)
    common, *own = rng.normal(size=(3, n * DRAWS))
    s, t = (expit(common + e + y) for e in own)
    if levels is not None:
        s, t = ((0.5 + np.floor(score * levels)) / levels for score in (s, t))
    frame = pl.DataFrame({"draw": np.repeat(np.arange(DRAWS), n), "y": y, "s": s, "t": t})
    metrics = ["roc_auc", "average_precision", "brier_score", "log_loss"]
    names = {"by": "draw", "metrics": metrics, "detail": True}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bf.BalframeWarning)  # of too few positives
        out = bf.compare(frame, "y", y_score=["s", "t"], **names)
    for (metric,), some in out.group_by("metric"):
        is_ranking = metric in ("roc_auc", "average_precision")
        if is_ranking and positives < 5:
            assert some.select("lower", "upper", "p_value").null_count().row(0) == (DRAWS,) * 3
            continue
        share = (some["p_value"] < 0.05).sum() / DRAWS
        assert share <= 0.06 + 3 * 0.22 / np.sqrt(DRAWS)
        if positives == 50:
            assert share >= 0.02
