"""How often limits of metrics of scores hold the truth, and how often rules are decided wrongly.

The scores of negatives are standard normal, those of positives normal about 1.5: the truths are
those of 200,000 rows. A share of R draws near .95 has a standard error of .22 / sqrt(R); bounds
allow for three of these.
"""

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


def test_equal_models_differ_by_chance_in_5_percent_of_samples():
    n, rng = 100, np.random.default_rng(9)
    y = np.tile(np.arange(n) % 2 == 0, DRAWS)
    common, *own = rng.normal(size=(3, n * DRAWS))
    s, t = (common + e + y for e in own)
    frame = pl.DataFrame({"draw": np.repeat(np.arange(DRAWS), n), "y": y, "s": s, "t": t})
    out = bf.compare(frame, "y", y_score=["s", "t"], by="draw", detail=True)
    for _, some in out.group_by("metric"):
        assert 0.02 <= (some["p_value"] < 0.05).mean() <= 0.05 + 3 * 0.22 / np.sqrt(DRAWS)
