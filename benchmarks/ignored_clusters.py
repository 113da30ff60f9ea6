"""Print how often methods without `cluster=` err if the rows of a person belong together.

    python -m benchmarks.ignored_clusters    # four minutes

In every data set nothing differs: no slice, no scores, no week. Each person has ten rows, whose
intraclass correlation is given. `monitor` is run with the variance between weeks and without it.
"""

import warnings
from collections.abc import Callable
from datetime import date, timedelta

import numpy as np
import polars as pl
from scipy.special import ndtri

import balframe as bf

ROWS, REPETITIONS = 10, 400
CORRELATIONS = (0.0, 0.05, 0.2)
ALPHA = 0.05


def right_rows(rng: np.random.Generator, people: int, mean: float, correlation: float) -> pl.Series:
    """Draw whether each row is right, from a beta distribution of the people."""
    if correlation:
        size = (1 - correlation) / correlation
        share = rng.beta(mean * size, (1 - mean) * size, people)
    else:
        share = np.full(people, mean)
    return pl.Series(rng.random(people * ROWS) < np.repeat(share, ROWS)).cast(pl.Int64)


def lists_a_slice(rng: np.random.Generator, correlation: float) -> list[bool]:
    """Search three columns of 80 people who are all predicted equally well."""
    people = 80
    columns = {
        name: np.repeat(rng.integers(0, levels, people), ROWS)
        for name, levels in (("sex", 2), ("region", 4), ("age", 3))
    }
    frame = pl.DataFrame(columns).with_columns(y=1, p=right_rows(rng, people, 0.8, correlation))
    out = bf.slices(frame, "y", "p", over=["sex", "region", "age"], metrics="accuracy")
    return [out.height > 0]


def rejects_right_scores(rng: np.random.Generator, correlation: float) -> list[bool]:
    """Test scores of 50 people that are right, and of two groups of them."""
    people = 50
    score = rng.beta(2, 5, people * ROWS)
    effect, own = np.repeat(rng.normal(size=people), ROWS), rng.normal(size=people * ROWS)
    latent = np.sqrt(correlation) * effect + np.sqrt(1 - correlation) * own
    group = np.repeat(rng.integers(0, 2, people), ROWS)
    frame = pl.DataFrame({"y": (latent < ndtri(score)).astype(int), "s": score, "group": group})
    of_all = bf.calibration(frame, "y", "s")["p_adjusted"][0]
    between = bf.calibration_gaps(frame, "y", "s", by="group")["p_adjusted"].min()
    return [p is not None and p < ALPHA for p in (of_all, between)]


def alarms(rng: np.random.Generator, correlation: float) -> list[bool]:
    """Monitor half a year after half a year, with 20 people a week."""
    weeks, people = 52, 20
    starts = [date(2026, 1, 5) + timedelta(weeks=week) for week in range(weeks)]
    right = right_rows(rng, weeks * people, 0.9, correlation)
    days = pl.Series(starts).gather(np.repeat(np.arange(weeks), people * ROWS))
    frame = pl.DataFrame({"day": days, "p": right}).with_columns(y=1)
    return [
        "alarm"
        in bf.monitor(
            frame,
            "y",
            "p",
            time=bf.period("day", "1w"),
            baseline={"until": starts[25]},
            metrics="accuracy",
            dispersion=dispersion,
        )["status"]
        for dispersion in ("estimate", None)
    ]


METHODS: dict[str, Callable[[np.random.Generator, float], list[bool]]] = {
    "slices": lists_a_slice,
    "calibration, calibration_gaps": rejects_right_scores,
    "monitor, dispersion 'estimate' and None": alarms,
}


def errors(method: str, correlation: float, repetitions: int, seed: int) -> list[float]:
    """Return the share of data sets in which each result is wrong."""
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bf.BalframeWarning)  # that nothing was found
        draws = [METHODS[method](rng, correlation) for _ in range(repetitions)]
    return np.mean(draws, axis=0).tolist()


if __name__ == "__main__":
    for method in METHODS:
        for correlation in CORRELATIONS:
            print(method, correlation, errors(method, correlation, REPETITIONS, seed=3))
