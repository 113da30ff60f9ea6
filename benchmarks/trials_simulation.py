"""Simulate limits of pass@k, pass^k and rates of items with several trials, and write their table.

`.venv/bin/python -m benchmarks.trials_simulation` prints the table and puts it into
docs/pages/error-rates-evals.md, and another of many segments; it takes about ten minutes. With
`--repetitions` it prints only.

The difficulty of items follows a law, and the trials of an item are independent. Beside the limits
of `report` and `check` stand Wilson's for all trials as rows, and the rate to the power of k.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

import balframe as bf
from balframe.stats.differences import mover_difference
from balframe.stats.proportions import wilson
from benchmarks.simulated import options, put

PAGE = Path(__file__).parents[1] / "docs" / "pages" / "error-rates-evals.md"
BEGIN, END = "<!-- trials: begin -->", "<!-- trials: end -->"
BEGIN_SEGMENTS = "<!-- trials by segment: begin -->"
END_SEGMENTS = "<!-- trials by segment: end -->"
REPETITIONS = 400  # samples of each design
ITEMS = (5, 10, 20, 50, 200, 500)
TRIALS = ((1, 1), (4, 2), (5, 5), (8, 4), (16, 5))  # of an item, and k
ITEMS_OF_SEGMENTS = (10, 50, 200)
TRIALS_OF_SEGMENTS = ((1, 1), (5, 5), (8, 4))
SEGMENTS = (1, 6, 60)  # that are decided together
FAMILIES = 60  # of 60 segments, of each design
LEVEL = 0.95
SEED = 20261128

Floats = npt.NDArray[np.float64]
Law = Callable[[np.random.Generator, int], Floats]

LAWS: dict[str, Law] = {  # the chance of each item
    "beta(4, 1)": lambda rng, n: rng.beta(4, 1, n),
    "beta(0.4, 0.1)": lambda rng, n: rng.beta(0.4, 0.1, n),
    "beta(0.5, 0.5)": lambda rng, n: rng.beta(0.5, 0.5, n),
    "always .5": lambda rng, n: np.full(n, 0.5),
    "always .9": lambda rng, n: np.full(n, 0.9),
    ".98, a fifth .1": lambda rng, n: np.where(rng.random(n) < 0.2, 0.1, 0.98),
    "always .02": lambda rng, n: np.full(n, 0.02),
}


@dataclass(frozen=True)
class Found:
    """What is wrong in a design: shares of samples, and the mean error of the power of the rate."""

    covered: float
    passes: float
    fails: float
    models: float
    power_error: float


def truth(law: Law, k: int, name: str) -> float:
    """Return the true value of a metric, from a million items."""
    chance = law(np.random.default_rng(1), 1_000_000)
    return float(np.mean(1 - (1 - chance) ** k if name == "pass_at" else chance**k))


def simulate(law: Law, n_items: int, trials: tuple[int, int], name: str, n: int) -> Found:
    """Draw samples of a design, and judge all of them."""
    n_trials, k = trials
    rng = np.random.default_rng(SEED)
    metric, true = f"{name}({k})", truth(law, k, name)
    chance = law(rng, n * n_items)
    counts = {model: rng.binomial(n_trials, chance) for model in ("new", "old")}
    item = np.arange(n * n_items)
    samples = pl.DataFrame({"sample": item // n_items, "item": item})
    rows = pl.concat(
        samples.with_columns(passed=pl.lit(passed), n=pl.Series(counted))
        for passed, counted in ((1, counts["new"]), (0, n_trials - counts["new"]))
    )
    request = {"outcome": "passed", "by": "sample", "cluster": "item", "counts": "n"}
    out = bf.report(rows, metrics=metric, interval=True, level=LEVEL, **request)
    low, high = (out[f"{metric}_{end}"].to_numpy() for end in ("lower", "upper"))
    gate = bf.check(rows, rules=f"{metric} >= 0", adjust=None, level=LEVEL, **request)
    rate = counts["new"].reshape(n, n_items).mean(axis=1) / n_trials
    power = rate**k if name == "pass_all" else 1 - (1 - rate) ** k
    return Found(
        float(np.mean((low <= true) & (true <= high))),
        float(np.mean(gate["lower"].to_numpy() > true)),
        float(np.mean(gate["upper"].to_numpy() < true)),
        models_covered(samples, counts, n_trials, metric),
        float(np.abs(power - true).mean()),
    )


def models_covered(
    samples: pl.DataFrame, counts: dict[str, npt.NDArray[np.int64]], n_trials: int, metric: str
) -> float:
    """Return how often the limits of the difference of two equal models contain 0."""
    both = {name: np.arange(n_trials)[:, None] < counted for name, counted in counts.items()}
    rows = pl.concat(
        samples.with_columns(**{name: pl.Series(passed[trial]) for name, passed in both.items()})
        for trial in range(n_trials)
    )
    out = bf.compare(
        rows, outcome="new", baseline="old", by="sample", cluster="item", metrics=metric
    )
    return float(((out["lower"] <= 0) & (out["upper"] >= 0)).mean() or 0)


def table(n: int) -> Iterator[str]:
    """Write a row for each number of items: coverage and false verdicts, mean and worst."""
    head = (
        "items",
        "`report`, mean / worst",
        "worst design",
        "`check`, false pass / fail, worst",
        "`compare` of equal models, mean / worst",
        "Wilson over trials, worst",
        "power of the rate, mean error",
    )
    yield f"| {' | '.join(head)} |"
    yield "| ---: | ---: | --- | ---: | ---: | ---: | ---: |"
    for n_items in ITEMS:
        found = [
            (
                f"`{name}({trials[1]})` of {trials[0]}, {law}",
                trials,
                simulate(LAWS[law], n_items, trials, name, n),
            )
            for law in LAWS
            for trials in TRIALS
            for name in ("pass_at", "pass_all")
            if not (trials[1] == 1 and name == "pass_all")
        ]
        yield _row(n_items, found)


def _row(n_items: int, found: Sequence[tuple[str, tuple[int, int], Found]]) -> str:
    results = [one for _, _, one in found]
    covered, models = ([getattr(one, part) for one in results] for part in ("covered", "models"))
    worst = min(found, key=lambda one: one[2].covered)[0]
    several = [one.power_error for _, (_, k), one in found if k > 1]
    return (
        f"| {n_items} | {np.mean(covered):.3f} / {min(covered):.3f} | {worst} "
        f"| {max(one.passes for one in results):.3f} / {max(one.fails for one in results):.3f} "
        f"| {np.mean(models):.3f} / {min(models):.3f} "
        f"| {rates_covered_by_trials(n_items):.3f} | {np.mean(several):.2f} |"
    )


def draw(law: Law, n_items: int, n_trials: int, n: int) -> pl.DataFrame:
    """Draw the items of n samples, with a row for those passed and a row for those failed."""
    rng = np.random.default_rng(SEED)
    counted = rng.binomial(n_trials, law(rng, n * n_items))
    item = np.arange(n * n_items)
    samples = pl.DataFrame({"sample": item // n_items, "item": item})
    return pl.concat(
        samples.with_columns(passed=pl.lit(passed), n=pl.Series(number))
        for passed, number in ((1, counted), (0, n_trials - counted))
    )


def segments_table(n: int) -> Iterator[str]:
    """Write a row for each number of items: families of segments with a false verdict, at worst."""
    families = (f"{size} segment{'s' * (size > 1)}, false pass / fail" for size in SEGMENTS)
    yield f"| items | {' | '.join(families)} | difference of two equal segments, mean / worst |"
    yield f"| ---: |{' ---: |' * (len(SEGMENTS) + 1)}"
    for n_items in ITEMS_OF_SEGMENTS:
        found = [
            in_segments(LAWS[law], n_items, trials, name, n)
            for law in LAWS
            for trials in TRIALS_OF_SEGMENTS
            for name in ("pass_at", "pass_all")
            if not (trials[1] == 1 and name == "pass_all")
        ]
        worst = np.max([verdicts for verdicts, _ in found], axis=0)
        covered = [share for _, share in found]
        cells = " | ".join(f"{passes:.3f} / {fails:.3f}" for passes, fails in worst)
        yield f"| {n_items} | {cells} | {np.mean(covered):.3f} / {min(covered):.3f} |"


def in_segments(
    law: Law, n_items: int, trials: tuple[int, int], name: str, n: int
) -> tuple[list[tuple[float, float]], float]:
    """Return the shares of families with a false verdict, and of differences that hold 0."""
    n_trials, k = trials
    metric, true = f"{name}({k})", truth(law, k, name)
    n_samples = n * max(SEGMENTS)
    rows = draw(law, n_items, n_trials, n_samples)
    request = {"outcome": "passed", "by": "sample", "cluster": "item", "counts": "n"}
    verdicts = []
    for size in SEGMENTS:
        level = 1 - (1 - LEVEL) / size
        gate = bf.check(rows, rules=f"{metric} >= 0", adjust=None, level=level, **request)
        low, high = (gate[end].to_numpy().reshape(-1, size) for end in ("lower", "upper"))
        passes, fails = (low > true).any(axis=1).mean(), (high < true).any(axis=1).mean()
        verdicts.append((float(passes), float(fails)))
    gate = bf.check(rows, rules=f"{metric} >= 0", adjust=None, level=LEVEL, **request)
    estimate, low, high = (gate[name].to_numpy() for name in ("estimate", "lower", "upper"))
    lower, upper = mover_difference(  # as `gaps` has them
        estimate[::2], (low[::2], high[::2]), estimate[1::2], (low[1::2], high[1::2])
    )
    return verdicts, float(np.mean((lower <= 0) & (upper >= 0)))


def rates_covered_by_trials(n_items: int, n: int = 1_000) -> float:
    """Return how often Wilson's limits of all trials contain the true rate, in the worst law."""
    rng = np.random.default_rng(SEED)
    covered = []
    for law in LAWS.values():
        for n_trials, _ in TRIALS:
            passed = rng.binomial(n_trials, law(rng, n * n_items)).reshape(n, n_items).sum(axis=1)
            low, high = wilson(passed.astype(float), np.full(n, float(n_items * n_trials)), LEVEL)
            true = truth(law, 1, "pass_at")
            covered.append(np.mean((low <= true) & (true <= high)))
    return float(min(covered))


if __name__ == "__main__":
    requested = options(__doc__, "samples of each design")
    made = "\n".join(table(requested.repetitions or REPETITIONS))
    print(made)
    by_segment = "\n".join(segments_table(requested.repetitions or FAMILIES))
    print(by_segment)
    if requested.repetitions is None:
        put(made, PAGE, BEGIN, END)
        put(by_segment, PAGE, BEGIN_SEGMENTS, END_SEGMENTS)
