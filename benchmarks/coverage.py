"""Write the tables of coverages into docs/pages/explanations/intervals.md, by exact enumeration.

Run with `.venv/bin/python benchmarks/coverage.py`; it takes about a minute.
"""

from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import stats

from balframe.stats.mean_recall import (
    gate_limits,
    mover_limits,
    scas_limits,
    scas_proportion_limits,
    score_limits,
)
from balframe.stats.mean_recall_posterior import Posterior
from balframe.stats.proportions import clopper_pearson, jeffreys, wilson
from benchmarks.simulated import put

PAGE = Path(__file__).parents[1] / "docs" / "pages" / "explanations" / "intervals.md"
BEGIN, END = "<!-- coverage: begin -->", "<!-- coverage: end -->"
ROWS = (1, 5, 30, 100, 500)
SUPPORTS = [(5, 5), (3, 100), (10, 50), (10, 200), (50, 50), (5,) * 5]
RECALLS = np.append(np.linspace(0.5, 0.98, 25), [0.99, 0.995, 0.999])
LEVEL, SAME = 0.95, 1e-12

Array = npt.NDArray[np.float64]
Limits = tuple[Array, Array]
Method = Callable[[Array, Array, Array, float], Limits]


def wald(x: Array, n: Array, a: Array, level: float) -> Limits:
    """Take the estimate and its standard error, the interval of the textbooks."""
    p = x / n
    half = stats.norm.ppf((1 + level) / 2) * np.sqrt((a * a * p * (1 - p) / n).sum(axis=1))
    return (a * p).sum(axis=1) - half, (a * p).sum(axis=1) + half


def posterior(x: Array, n: Array, a: Array, level: float) -> Limits:
    """Take equal tails of the posterior under uniform priors."""
    tail = (1 - level) / 2
    low, high = Posterior.of(x, n, a, "uniform").quantiles((tail, 1 - tail))
    return low, high


def of_one(method: Callable[[Array, Array, float], Limits]) -> Method:
    """Ask a method of proportions about a single label."""
    return lambda x, n, a, level: method(x[:, 0], n[:, 0], level)


OF_PROPORTIONS: Mapping[str, Method] = {
    "wilson": of_one(wilson),
    "scas": of_one(scas_proportion_limits),
    "jeffreys": of_one(jeffreys),
    "exact": of_one(clopper_pearson),
}
OF_MEANS: Mapping[str, Method] = {
    "Wald": wald,
    "mover": mover_limits,
    "score": score_limits,
    "scas": scas_limits,
    "posterior, uniform prior": posterior,
    "interval of `check`": gate_limits,
}


def enumerated(supports: tuple[int, ...]) -> Array:
    """List everything that can be right, one column for each label."""
    axes = np.meshgrid(*(np.arange(n + 1.0) for n in supports), indexing="ij")
    return np.stack(axes, axis=-1).reshape(-1, len(supports))


def of_recalls(limits: Limits, results: Array, supports: tuple[int, ...]) -> tuple[Array, Array]:
    """Find how likely the limits hold the truth, and how likely it lies above, for many recalls."""
    mass = [stats.binom.pmf(np.arange(n + 1)[:, None], n, RECALLS) for n in supports]
    is_pair = len(supports) == 2
    grid = list(product(range(len(RECALLS)), repeat=2)) if is_pair else range(len(RECALLS))
    held, above = [], []
    for one in grid:
        at = one if isinstance(one, tuple) else (one,) * len(supports)
        truth = np.mean(RECALLS[list(at)])
        likely = np.prod([mass[k][results[:, k].astype(int), i] for k, i in enumerate(at)], axis=0)
        is_above = limits[1] < truth - SAME
        above.append(likely[is_above].sum())
        held.append(likely[~is_above & (limits[0] <= truth + SAME)].sum())
    return np.array(held), np.array(above)


def row(supports: tuple[int, ...], methods: Mapping[str, Method]) -> str:
    """Describe the methods: coverage, mean and worst, and how often the truth lies above."""
    results = enumerated(supports)
    n = np.tile(np.array(supports, float), (len(results), 1))
    a = np.full_like(n, 1 / len(supports))
    cells = []
    for method in methods.values():
        held, above = of_recalls(method(results, n, a, LEVEL), results, supports)
        cells.append(f"{held.mean():.3f} / {held.min():.2f}, {above.max():.3f}")
    return f"| {', '.join(map(str, supports))} | {' | '.join(cells)} |"


def table(first: str, supports: list[tuple[int, ...]], methods: Mapping[str, Method]) -> str:
    """Make a table, a row for the supports of each segment."""
    head = [f"| {first} | {' | '.join(methods)} |", "| --- " * (len(methods) + 1) + "|"]
    return "\n".join(head + [row(one, methods) for one in supports])


def tables() -> str:
    """Make both tables."""
    return "\n\n".join(
        [
            table("rows of a proportion", [(n,) for n in ROWS], OF_PROPORTIONS),
            table("rows of each label", SUPPORTS, OF_MEANS),
        ]
    )


if __name__ == "__main__":
    made = tables()
    print(made)
    put(made, PAGE, BEGIN, END)
