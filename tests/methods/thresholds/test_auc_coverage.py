"""How often limits of areas, and of their differences, hold the truth.

The scores of negatives are standard normal, those of positives normal about a shift: the area is
P(X > Y), the standard normal distribution function at shift / sqrt(1 + sd^2). A share of R draws
near .95 has a standard error of .22 / sqrt(R); bounds allow for two and a half of these.
"""

import numpy as np
import polars as pl
import pytest
from scipy import stats

import balframe as bf
from tests.support.oracles.roc_areas import limits_in

AREAS = (0.64, 0.75, 0.85, 0.92, 0.96)


def shift_of(area, sd):
    return stats.norm.ppf(area) * np.hypot(1, sd)


def share(held):
    """Give the share that held, raised by two and a half standard errors."""
    return np.mean(held) + 2.5 * 0.22 / np.sqrt(len(held))


@pytest.mark.simulation
@pytest.mark.parametrize(
    ("positives", "negatives", "least"), [(3, 100, 0.89), (20, 500, 0.92), (50, 50, 0.94)]
)
@pytest.mark.parametrize("sd", [1, 1.5, 1 / 2])
def test_coverage_of_limits_of_an_area_is_near_nominal(positives, negatives, least, sd):
    # few positives that spread much wider are worse: at twice the sd .87 of 3, and .91 of 20
    draws, size = 3000, positives + negatives
    rng = np.random.default_rng(positives)
    y = np.tile(np.arange(size) < positives, draws)
    noise = rng.normal(size=size * draws)
    columns = {"draw": np.repeat(np.arange(draws), size), "y": y}
    shares = []

    for area in AREAS:
        s = np.where(y, shift_of(area, sd) + sd * noise, noise)
        found = bf.ranking(pl.DataFrame({**columns, "s": s}), "y", "s", by="draw")
        lower, upper = found["roc_auc_lower"].to_numpy(), found["roc_auc_upper"].to_numpy()
        shares.append(share((lower <= area) & (area <= upper)))

    assert min(shares) >= least


@pytest.mark.thorough
@pytest.mark.parametrize("sd", [1, 2])
@pytest.mark.parametrize("other", [0.85, 0.7])
def test_coverage_of_differences_from_the_rest_is_at_least_nominal(sd, other):
    # two segments have another area than the four others
    draws, rows = 250, np.array([20, 40, 60, 80, 100, 150])
    areas = np.array([other, 0.85, 0.85, other, 0.85, 0.85])
    shifts = shift_of(areas, sd)
    segment = np.repeat(np.arange(6), rows)
    y = np.arange(len(segment)) % 4 == 0
    positives = np.bincount(segment[y], minlength=6)
    rng = np.random.default_rng(0)
    held = []

    for _ in range(draws):
        noise = rng.normal(size=len(y))
        s = np.where(y, shifts[segment] + sd * noise, noise)
        frame = pl.DataFrame({"g": segment, "y": y, "s": s})
        for row in bf.ranking(frame, "y", "s", by="g", reference="rest").iter_rows(named=True):
            rest = np.delete(np.arange(6), row["g"])
            truth = areas[row["g"]] - np.average(areas[rest], weights=positives[rest])
            low, high = limits_in(row, "roc_auc_difference")
            held.append(low <= truth <= high)

    assert share(held) >= 0.95
