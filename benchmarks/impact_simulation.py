"""How often limits and p-values of impact ratios err, simulated on many designs.

    python -m benchmarks.impact_simulation    # writes docs/pages/error-rates.md
    python -m benchmarks.impact_simulation --repetitions 100    # fewer tables, printed only

It takes about ten minutes on two cores. A simulated table has k categories with known rates.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from scipy import special

from balframe.stats.multiple_testing import adjust_p_values
from balframe.stats.pairwise_ratios import ratio_limit, ratio_statistic
from balframe.stats.proportions import normal_quantile, wilson
from benchmarks.simulated import options, put

PAGE = Path(__file__).parents[1] / "docs" / "pages" / "error-rates.md"
BEGIN, END = "<!-- impact: begin -->", "<!-- impact: end -->"
REPETITIONS, SEED, CORES = 2000, 25, 2
LEVEL, BOUND = 0.95, 0.8
NUMBERS = (2, 3, 4, 6, 8, 20)  # of categories
RATES = (0.01, 0.05, 0.1, 0.3, 0.6, 0.9)  # the highest
EQUAL_SIZES = (30, 100, 500, 2000)
SMALLEST, LARGEST = 30, 2000
_SAME = 1e-9

FloatArray = npt.NDArray[np.float64]
Limits = tuple[FloatArray, FloatArray]
Random = np.random.Generator


@dataclass(frozen=True)
class Design:
    """Categories with their numbers of rows and their true selection rates."""

    n: tuple[int, ...]
    rates: tuple[float, ...]

    @property
    def ratios(self) -> FloatArray:
        """The true ratios to the highest rate."""
        return np.array(self.rates) / max(self.rates)

    def draw(self, repetitions: int, random: Random) -> FloatArray:
        """Draw the selected rows of the categories of tables in which anybody is selected."""
        x = random.binomial(self.n, self.rates, (repetitions, len(self.n)))
        return x[x.any(axis=1)].astype(np.float64)


def sizes(k: int) -> Iterator[tuple[int, ...]]:
    """Give numbers of rows: the same for all, and from few to many in both orders."""
    yield from ((n,) * k for n in EQUAL_SIZES)
    ragged = tuple(int(n) for n in np.geomspace(SMALLEST, LARGEST, k).round())
    yield from (ragged, ragged[::-1])


# from the highest true rate to those of k categories
SHAPES: Mapping[str, Callable[[float, int], list[float]]] = {
    "equal": lambda rate, k: [rate] * k,
    "one lower": lambda rate, k: [BOUND * rate] + [rate] * (k - 1),
    "one higher": lambda rate, k: [rate] + [BOUND * rate] * (k - 1),
    "spread": lambda rate, k: [float(one) for one in np.linspace(rate / 2, rate, k)],
}


def designs(k: int, shapes: Iterable[str] = tuple(SHAPES)) -> list[Design]:
    """List the designs with k categories; those of two shapes are the same if k is 2."""
    every = product(shapes, RATES, sizes(k))
    return [*dict.fromkeys(Design(n, tuple(SHAPES[shape](rate, k))) for shape, rate, n in every)]


def pairs(x: FloatArray, n: FloatArray, rivals: npt.NDArray[np.intp]) -> list[FloatArray]:
    """Put each category beside its rivals, whose positions have the axes (tables), k, rivals."""
    table = np.arange(len(x))[:, None, None]
    every = np.broadcast_arrays(x[:, :, None], n[:, None], x[table, rivals], n[rivals])
    return [values.ravel() for values in every]


def others(k: int) -> npt.NDArray[np.intp]:
    """List the positions of the others, for each category."""
    return np.array([np.delete(np.arange(k), one) for one in range(k)])


def to_best(x: FloatArray, n: FloatArray) -> Limits:
    """Give the limits of `impact`, for many tables at once."""
    k = len(n)
    beside = pairs(x, n, others(k))
    together = 1 - (1 - LEVEL) / (k - 1)
    ends = (ratio_limit(*beside, z) for z in (normal_quantile(LEVEL), -normal_quantile(together)))
    lower, upper = (end.reshape(*x.shape, k - 1).min(axis=2) for end in ends)
    return lower, upper


def to_observed(x: FloatArray, n: FloatArray) -> Limits:
    """Compare with the most selected category as if it had been chosen before."""
    top = np.argmax(x / n, axis=1)
    beside = pairs(x, n, np.broadcast_to(top[:, None, None], (*x.shape, 1)))
    z = normal_quantile(LEVEL)
    lower, upper = (ratio_limit(*beside, end).reshape(x.shape) for end in (z, -z))
    tables = np.arange(len(x))
    lower[tables, top] = upper[tables, top] = 1  # its ratio to itself
    return lower, upper


def of_all_rates(x: FloatArray, n: FloatArray) -> Limits:
    """Divide Wilson limits of all rates, which hold together (Bonferroni)."""
    low, high = wilson(x, np.broadcast_to(n, x.shape), 1 - (1 - LEVEL) / len(n))
    least, most = (end[:, others(len(n))].max(axis=2) for end in (low, high))
    return np.minimum(low / most, 1), high / np.maximum(high, least)


WAYS: Mapping[str, Callable[[FloatArray, FloatArray], Limits]] = {
    "`impact`": to_best,
    "compared with the highest observed rate": to_observed,
    "from Wilson intervals of all rates": of_all_rates,
}


@dataclass(frozen=True)
class Held:
    """Of one design: coverage, mean and of the category with the lowest; mean width; false alarms.

    `false_alarms`: the shares of the tables whose upper limit is below the bound, and whose lower
    limit is above it, for the category of which either is most frequent; the true ratio is the
    bound. NaN if no true ratio is.
    """

    coverage: float
    lowest: float
    width: float
    false_alarms: tuple[float, float]

    @classmethod
    def of(cls, limits: Limits, ratios: FloatArray) -> "Held":
        """Compare limits of many tables with the true ratios."""
        lower, upper = limits
        inside = (lower <= ratios + _SAME) & (upper >= ratios - _SAME)
        at_bound = np.abs(ratios - BOUND) < _SAME
        outside = upper < BOUND - _SAME, lower > BOUND + _SAME
        below, above = (
            float(found[:, at_bound].mean(axis=0).max(initial=0)) if at_bound.any() else np.nan
            for found in outside
        )
        coverage = inside.mean(axis=0)
        width = float((upper - lower).mean())
        return cls(float(coverage.mean()), float(coverage.min()), width, (below, above))


def of_limits(repetitions: int, numbered: tuple[int, Design]) -> dict[str, Held]:
    """Draw the tables of a design, and find their limits in all ways."""
    number, design = numbered
    x = design.draw(repetitions, np.random.default_rng([SEED, number]))
    n = np.array(design.n, np.float64)
    return {way: Held.of(compute(x, n), design.ratios) for way, compute in WAYS.items()}


def p_to_best(x: FloatArray, n: FloatArray) -> FloatArray:
    """Give the p-values of `impact`, for many tables at once."""
    k = len(n)
    z = ratio_statistic(*pairs(x, n, others(k)), np.ones(1)).reshape(*x.shape, k - 1)
    return np.minimum(2 * (k - 1) * special.ndtr(z.min(axis=2)), 1)


def p_to_observed(x: FloatArray, n: FloatArray) -> FloatArray:
    """Compare with the most selected category as if it had been chosen before."""
    top = np.argmax(x / n, axis=1)
    beside = pairs(x, n, np.broadcast_to(top[:, None, None], (*x.shape, 1)))
    return 2 * special.ndtr(-np.abs(ratio_statistic(*beside, np.ones(1)))).reshape(x.shape)


TESTS: Mapping[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "`impact`": p_to_best,
    "of one pair": p_to_observed,
}
POWER_SIZE, POWER_RATE = 500, 0.3
MEANS = ("coverage", "width")
COVERAGE = ("categories", *WAYS)
ERRORS = (
    *("categories", f"upper limit below {BOUND}", f"lower limit above {BOUND}"),
    *("any difference found", "with p-values of one pair"),
    *("power", "with p-values of one pair"),
)
Answer = TypeVar("Answer")


def claims(x: FloatArray, n: FloatArray) -> dict[str, FloatArray]:
    """Say which categories are claimed to differ from the most selected one, by each test."""
    tables, top = np.arange(len(x)), np.argmax(x / n, axis=1)
    out = {}
    for name, test in TESTS.items():
        p = test(x, n)
        p[tables, top] = np.nan
        adjusted = np.array([adjust_p_values(one, "bh") for one in p])
        out[name] = (adjusted < 1 - LEVEL).astype(np.float64)
    return out


def of_claims(repetitions: int, numbered: tuple[int, Design]) -> dict[str, float]:
    """Give shares of tables with any claim, or with one about the first if rates differ."""
    number, design = numbered
    x = design.draw(repetitions, np.random.default_rng([SEED, number]))
    found = claims(x, np.array(design.n, np.float64))
    is_null = design.ratios.min() == 1
    return {
        name: float(np.mean(one.any(axis=1) if is_null else one[:, 0]))
        for name, one in found.items()
    }


def over(
    ask: Callable[[tuple[int, Design]], Answer], chosen: Sequence[Design], cores: int = 1
) -> list[Answer]:
    """Ask about all designs."""
    if cores == 1:
        return list(map(ask, enumerate(chosen)))
    with ProcessPoolExecutor(cores, get_context("spawn")) as pool:
        return list(pool.map(ask, enumerate(chosen), chunksize=4))


def of_coverage(found: Sequence[Mapping[str, Held]]) -> list[str]:
    """Write coverage, mean and lowest of all categories, and mean width, for each way."""
    cells = []
    for way in WAYS:
        held = [one[way] for one in found]
        coverage, width = (np.mean([getattr(one, name) for one in held]) for name in MEANS)
        cells.append(f"{coverage:.3f} / {min(one.lowest for one in held):.3f} ({width:.2f})")
    return cells


def of_false_alarms(found: Sequence[Mapping[str, Held]]) -> list[str]:
    """Write mean and highest share of limits below and above the bound, though at the bound."""
    first = next(iter(WAYS))
    shares = np.array([one[first].false_alarms for one in found])
    known = shares[np.isfinite(shares).all(axis=1)].T
    return [f"{side.mean():.3f} / {side.max():.3f}" for side in known]


def of_tests(null: Sequence[Mapping[str, float]], power: Mapping[str, float]) -> list[str]:
    """Write mean and highest share with any claim where nothing differs, and the power."""
    shares = ([one[name] for one in null] for name in TESTS)
    size = [f"{np.mean(of_test):.3f} / {max(of_test):.3f}" for of_test in shares]
    return [*size, *(f"{power[name]:.2f}" for name in TESTS)]


def table(head: Sequence[str], rows: Mapping[int, Sequence[str]]) -> list[str]:
    """Write a table with a row for each number of categories."""
    lines = [f"| {' | '.join(head)} |", f"| ---: {'| --- ' * (len(head) - 1)}|"]
    return lines + [f"| {k} | {' | '.join(cells)} |" for k, cells in rows.items()]


def tables(repetitions: int, cores: int = 1, numbers: Sequence[int] = NUMBERS) -> str:
    """Simulate everything."""
    coverage, errors = {}, {}
    for k in numbers:
        found = over(partial(of_limits, repetitions), designs(k), cores)
        null = over(partial(of_claims, repetitions), designs(k, ["equal"]), cores)
        lower = Design((POWER_SIZE,) * k, tuple(SHAPES["one lower"](POWER_RATE, k)))
        (power,) = over(partial(of_claims, repetitions), [lower])
        coverage[k] = of_coverage(found)
        errors[k] = of_false_alarms(found) + of_tests(null, power)
        print(k, coverage[k], errors[k], flush=True)
    return "\n".join([*table(COVERAGE, coverage), "", *table(ERRORS, errors)])


def main() -> None:
    given = options(__doc__, "tables", CORES)
    made = tables(given.repetitions or REPETITIONS, given.cores)
    if given.repetitions is not None:
        print(made)
        return
    put(made, PAGE, BEGIN, END)


if __name__ == "__main__":
    main()
