"""The interval of the largest difference of three groups, from balframe and from fairlearn.

Each group has 100 rows and the same expected accuracy, or 0.6, 0.7 and 0.8. An interval should
contain the true difference of the best and the worst group, 0 or 0.2, in 95% of data sets.

fairlearn's is a percentile bootstrap of the observed difference. That shows how much the figure
would vary in other data. An observed difference is above 0 whenever two groups differ by chance,
and a resampled one more so: its interval describes the estimate, and was not made to contain the
true difference of equal groups.
"""

import numpy as np
import polars as pl

import balframe as bf
from benchmarks.proofs.table import Figures

ROWS = 100
OURS, THEIRS = 300, 30
RESAMPLES = 200
EQUAL, DIFFERENT = (0.7, 0.7, 0.7), (0.6, 0.7, 0.8)


def draw(accuracies: tuple[float, ...], seed: int) -> pl.DataFrame:
    """Draw rows that are predicted correctly with the accuracy of their group."""
    rng = np.random.default_rng(seed)
    right = np.concatenate([rng.random(ROWS) < accuracy for accuracy in accuracies])
    y = rng.integers(0, 2, len(right))
    group = np.repeat([*"abc"], ROWS)
    return pl.DataFrame({"group": group, "y": y, "yhat": np.where(right, y, 1 - y)})


def balframe_limits(frame: pl.DataFrame) -> tuple[float, float]:
    """Return the limits of `disparity`."""
    (row,) = bf.disparity(frame, "y", "yhat", by="group", metrics="accuracy").to_dicts()
    return row["lower"], row["upper"]


def fairlearn_limits(
    frame: pl.DataFrame, seed: int, resamples: int = RESAMPLES
) -> tuple[float, float]:
    """Return the limits of a `MetricFrame` with a bootstrap, as its guide computes them."""
    from fairlearn.metrics import MetricFrame
    from sklearn.metrics import accuracy_score

    y, predicted, group = (frame[name].to_numpy() for name in ("y", "yhat", "group"))
    lower, upper = MetricFrame(
        metrics=accuracy_score,
        y_true=y,
        y_pred=predicted,
        sensitive_features=group,
        n_boot=resamples,
        ci_quantiles=[0.025, 0.975],
        random_state=seed,
    ).difference_ci()
    return lower, upper


def contains(limits: tuple[float, float], truth: float) -> bool:
    """Return whether an interval contains the true difference."""
    return limits[0] <= truth <= limits[1]


def measure() -> Figures:
    """Count the data sets in which each interval contains the true difference."""
    counts = {}
    for accuracies in (EQUAL, DIFFERENT):
        truth = max(accuracies) - min(accuracies)
        frames = [draw(accuracies, seed) for seed in range(OURS)]
        ours = sum(contains(balframe_limits(frame), truth) for frame in frames)
        theirs = sum(
            contains(fairlearn_limits(frame, seed), truth)
            for seed, frame in enumerate(frames[:THEIRS])
        )
        counts[accuracies] = (theirs, ours)
        print(f"{truth:.1f}: balframe {ours} of {OURS}, fairlearn {theirs} of {THEIRS}")
    (equal_theirs, equal_ours), (theirs, ours) = counts.values()
    return Figures(
        "95% intervals of the largest difference of three groups of 100 rows contain the true one: "
        f"balframe's in {equal_ours} of {OURS} data sets with equal accuracies, and in {ours} with "
        "accuracies of 0.6, 0.7 and 0.8; fairlearn's bootstrap, which is centred on the estimate, "
        f"in {equal_theirs} and {theirs} of {THEIRS}"
    )
