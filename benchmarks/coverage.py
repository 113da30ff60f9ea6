"""Write the table of coverages into docs/pages/explanations/intervals.md, by exact enumeration.

Run with `.venv/bin/python benchmarks/coverage.py`; it takes a few seconds.
"""

from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import stats

from balframe.intervals.recalls import mover, score
from balframe.intervals.sums_of_betas import Posterior

PAGE = Path(__file__).parents[1] / "docs" / "pages" / "explanations" / "intervals.md"
BEGIN, END = "<!-- coverage: begin -->", "<!-- coverage: end -->"
SUPPORTS = [(5, 5), (3, 100), (10, 50), (10, 200), (50, 50), (5,) * 5]
RECALLS = np.linspace(0.5, 1, 26)

Array = npt.NDArray[np.float64]


def wald(x: Array, n: Array, a: Array, level: float) -> tuple[Array, Array]:
    """Take the estimate and its standard error, the interval of the textbooks."""
    p = x / n
    half = stats.norm.ppf((1 + level) / 2) * np.sqrt((a * a * p * (1 - p) / n).sum(axis=1))
    return (a * p).sum(axis=1) - half, (a * p).sum(axis=1) + half


def posterior(x: Array, n: Array, a: Array, level: float) -> tuple[Array, Array]:
    """Take equal tails of the posterior under uniform priors."""
    tail = (1 - level) / 2
    low, high = Posterior.of(x, n, a, "uniform").quantiles((tail, 1 - tail))
    return low, high


METHODS = {"Wald": wald, "mover": mover, "score": score, "posterior, uniform prior": posterior}


def coverage(limits: tuple[Array, Array], results: Array, supports: tuple[int, ...]) -> str:
    """Average the probability that the limits hold the truth over a grid of recalls."""
    mass = [stats.binom.pmf(np.arange(n + 1)[:, None], n, RECALLS) for n in supports]
    some = len(supports) == 2
    grid = list(product(range(len(RECALLS)), repeat=2)) if some else [(i,) for i in range(25)]
    covered = []
    for at in grid:
        recalls = at if some else at * len(supports)
        if all(RECALLS[i] == 1 for i in recalls):
            continue
        truth = np.mean([RECALLS[i] for i in recalls])
        holds = (limits[0] <= truth + 1e-12) & (truth - 1e-12 <= limits[1])
        likely = np.prod(
            [mass[k][results[:, k].astype(int), i] for k, i in enumerate(recalls)], axis=0
        )
        covered.append(likely[holds].sum())
    return f"{np.mean(covered):.3f} / {np.min(covered):.2f}"


def table() -> str:
    """Make the table, a row for each pair of supports."""
    lines = [f"| supports | {' | '.join(METHODS)} |", "| --- " * (len(METHODS) + 1) + "|"]
    for supports in SUPPORTS:
        axes = np.meshgrid(*(np.arange(n + 1.0) for n in supports), indexing="ij")
        results = np.stack(axes, axis=-1).reshape(-1, len(supports))
        n = np.tile(np.array(supports, float), (len(results), 1))
        a = np.full_like(n, 1 / len(supports))
        cells = [
            coverage(method(results, n, a, 0.95), results, supports) for method in METHODS.values()
        ]
        lines.append(f"| {', '.join(map(str, supports))} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    before, rest = PAGE.read_text().split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{table()}\n{END}{rest.split(END)[1]}")
