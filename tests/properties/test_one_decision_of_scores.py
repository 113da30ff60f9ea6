"""p-values and limits on scores never contradict each other, nor do those of two segments.

Segments are close to a decision: their scores are nearly calibrated, and their areas nearly equal.
"""

import numpy as np
import polars as pl
import pytest
from scipy import special

import balframe as bf
from tests.properties.test_one_decision import check_adjusted, check_agreement

pytestmark = pytest.mark.simulation

SEEDS = range(6)
LEVELS = (0.8, 0.95, 0.99)
SAME = 1e-9

each_seed = pytest.mark.parametrize("seed", SEEDS)


def drawn(seed):
    """Draw scores and outcomes of segments, some of which are a little too low or too high."""
    random = np.random.default_rng([44, seed])
    n_segments, n_rows = ((2, 200), (3, 400), (20, 1_500), (60, 3_000), (60, 6_000), (2, 5_000))[
        seed
    ]
    g = random.integers(0, n_segments, n_rows)
    logit = random.normal((-3, 0, -1)[seed % 3], 1.5, n_rows)
    if seed % 2:
        logit = np.round(logit)
    shift = random.normal(0, 0.3, n_segments)[g]
    y = (random.random(n_rows) < special.expit(logit + shift)).astype(int)
    return pl.DataFrame({"g": g.astype(str), "y": y, "s": special.expit(logit)})


@each_seed
@pytest.mark.parametrize("adjust", ["bh", "holm", None])
def test_limits_of_calibration_agree_on_the_side_of_the_truth(seed, adjust):
    """The O/E ratio and the intercept are two views of one shift, and have one decision."""
    n = 0
    for level in LEVELS:
        out = bf.calibration(
            drawn(seed), "y", "s", by="g", level=level, adjust=adjust, detail=True
        ).to_dicts()
        check_adjusted(out, adjust)
        for row in out:
            for name in ("oe_ratio", "intercept", "slope"):
                value, ends = row[name], [row[f"{name}_{end}"] for end in ("lower", "upper")]
                if None not in (value, *ends):
                    assert ends[0] - SAME <= value <= ends[1] + SAME, row
            for end in ("lower", "upper"):
                ratio, shift = row[f"oe_ratio_{end}"], row[f"intercept_{end}"]
                if None not in (ratio, shift) and abs(shift) > SAME:
                    assert (ratio > 1) == (shift > 0), row
                    n += 1
    assert n > 0


@each_seed
def test_p_values_at_the_same_scores_agree_with_limits_and_signs(seed):
    for level in LEVELS:
        out = bf.calibration_gaps(
            drawn(seed), "y", "s", by="g", level=level, detail=True
        ).to_dicts()
        assert check_agreement(out, 1 - level, 0) > 0
        check_adjusted(out, "bh")
        for row in out:
            if None not in (row["difference"], row["ratio"]) and abs(row["difference"]) > SAME:
                assert (row["difference"] > 0) == (row["ratio"] > 1), row
        if len(out) == 2:
            one, other = out
            assert one["p_value"] == pytest.approx(other["p_value"], rel=1e-9)
            assert one["difference"] == pytest.approx(-other["difference"], rel=1e-9)
            assert one["lower"] == pytest.approx(-other["upper"], rel=1e-9, abs=1e-12)


@each_seed
@pytest.mark.parametrize("reference", ["rest", "largest", "best", "worst"])
def test_areas_and_their_differences_lie_within_their_limits(seed, reference):
    n = 0
    for level in LEVELS:
        frame = drawn(seed)
        out = bf.ranking(
            frame, "y", "s", by="g", reference=reference, level=level, detail=True
        ).to_dicts()
        for row in out:
            for name in ("roc_auc", "roc_auc_difference"):
                ends = [row[f"{name}_{end}"] for end in ("lower", "upper")]
                if None not in ends:
                    assert ends[0] - SAME <= row[name] <= ends[1] + SAME, row
                    n += 1
        if len(out) == 2 and reference == "rest":
            one, other = out
            assert one["roc_auc_difference_lower"] == pytest.approx(
                -other["roc_auc_difference_upper"], rel=1e-9, abs=1e-12
            )
    assert n > 0
