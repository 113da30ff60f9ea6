"""Time an evaluation: a million trials of 10,000 items by 20 models in 50 categories.

`.venv/bin/python -m benchmarks.evals` prints how long balframe takes, and a bootstrap of items by
hand for one metric.
"""

from collections.abc import Callable
from time import perf_counter

import numpy as np
import polars as pl

import balframe as bf

ITEMS, TRIALS, MODELS, CATEGORIES = 10_000, 5, 20, 50
METRICS = ["rate", "pass_at(3)", "pass_all(3)"]
RESAMPLES = 1_000
SEED = 20261129


def runs() -> pl.DataFrame:
    """Draw the trials; each item has a category, and a difficulty of its own."""
    rng = np.random.default_rng(SEED)
    item = np.arange(ITEMS)
    skill = rng.beta(1.2, 0.8, ITEMS)
    of_models = [
        pl.DataFrame(
            {
                "model": f"model {model:02}",
                "item": np.repeat(item, TRIALS),
                "trial": np.tile(np.arange(TRIALS), ITEMS),
                "category": np.repeat(item % CATEGORIES, TRIALS),
                "passed": rng.random(ITEMS * TRIALS) < np.repeat(skill ** (1 + model / 20), TRIALS),
            }
        )
        for model in range(MODELS)
    ]
    return pl.concat(of_models)


def bootstrap(frame: pl.DataFrame) -> pl.DataFrame:
    """Resample the items of each model and category, and take the quantiles of the mean rate."""
    rng = np.random.default_rng(SEED)
    items = frame.group_by("model", "category", "item").agg(pl.col("passed").mean())
    rows = []
    for (model, category), group in items.group_by("model", "category"):
        values = group["passed"].to_numpy()
        drawn = values[rng.integers(0, len(values), (RESAMPLES, len(values)))].mean(axis=1)
        rows.append((model, category, *np.quantile(drawn, [0.025, 0.975])))
    return pl.DataFrame(rows, schema=["model", "category", "lower", "upper"], orient="row")


def seconds(call: Callable[[], object], repetitions: int = 3) -> float:
    """Return the shortest time of a few."""
    times = []
    for _ in range(repetitions):
        start = perf_counter()
        call()
        times.append(perf_counter() - start)
    return min(times)


if __name__ == "__main__":
    frame = runs()
    by = ["model", "category"]
    shared = {"outcome": "passed", "cluster": "item"}
    pair = frame.filter(pl.col("model").is_in(["model 00", "model 01"]))
    calls: dict[str, Callable[[], object]] = {
        "report, three metrics with limits, 1,000 segments": lambda: bf.report(
            frame, by=by, metrics=METRICS, interval=True, **shared
        ),
        "check, two rules, 1,000 segments": lambda: bf.check(
            frame, by=by, rules=["rate >= 0.5", "pass_at(3) >= 0.6"], **shared
        ),
        "compare two models in rows, 50 categories": lambda: bf.compare(
            pair,
            outcome="passed",
            model="model",
            item=["item", "trial"],
            by="category",
            metrics=METRICS,
        ),
        "bootstrap by hand, rate only, 1,000 resamples": lambda: bootstrap(frame),
    }
    print(f"{frame.height:,} trials")
    for name, call in calls.items():
        print(f"{name}: {seconds(call):.2f} s")
