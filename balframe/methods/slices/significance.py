"""The slices that are large enough: their scores beside those of the rest, and p-values."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from balframe._progress import counting
from balframe.api.metric_selection import Scoring, value_of
from balframe.core import counting_strategy
from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.cells import Cells
from balframe.core.column_subsets import n_groupings
from balframe.core.row_sums import Measures
from balframe.core.safe_divide import ratio
from balframe.errors import InvalidInputError, parameter
from balframe.methods.slices.conditions import Conjunctions
from balframe.methods.slices.population import OUTSIDE, Mean, Population, too_small
from balframe.metrics.registry import Metric
from balframe.stats.lazy_scipy import special
from balframe.stats.proportions import Limits, exact

# One-sided tests that a part of the rows is served worse than the rest, in several strata.


_NORMAL = 1e-3  # skewness up to which the tail is the normal one


@dataclass(frozen=True, slots=True)
class Parts:
    """Parts of all rows, one a line, with a column for each stratum.

    `n` and `wrong` count the rows of the part, `n_all` and `wrong_of_all` those of the stratum.
    `weight` are the weights of the strata, which sum to 1.
    """

    n: FloatArray
    wrong: FloatArray
    n_all: FloatArray
    wrong_of_all: FloatArray
    weight: FloatArray

    @property
    def rate(self) -> FloatArray:
        """Share of wrong rows in the part."""
        return ratio(self.wrong, self.n)

    @property
    def rate_of_rest(self) -> FloatArray:
        """Share of wrong rows outside of the part."""
        return ratio(self.wrong_of_all - self.wrong, self.n_all - self.n)

    @property
    def gap(self) -> FloatArray:
        """How much higher the weighted mean rate of wrong rows is than in the rest."""
        return np.asarray((self.rate - self.rate_of_rest) @ self.weight, np.float64)

    @property
    def factors(self) -> FloatArray:
        """Turn the wrong rows above expectation into a gap: a_k N_k / (n_k (N_k - n_k))."""
        return ratio(self.weight * self.n_all, self.n * (self.n_all - self.n))

    @property
    def excess(self) -> FloatArray:
        """Count the wrong rows that there would not be at the rates of the rest."""
        return np.asarray((self.n * (self.rate - self.rate_of_rest)).sum(axis=-1), np.float64)

    def log_p(self) -> FloatArray:
        """Compute the logarithms of the p-values."""
        return log_p_value(self.factors, self.n, self.wrong, self.n_all, self.wrong_of_all)

    def limits(self, level: float) -> Limits:
        """Compute limits of the gap from Clopper-Pearson limits of each rate."""
        below = above = np.zeros(len(self.n))
        own = exact(self.wrong, self.n, level)
        rest = exact(self.wrong_of_all - self.wrong, self.n_all - self.n, level)
        squares = self.weight**2
        below = ((self.rate - own[0]) ** 2 + (rest[1] - self.rate_of_rest) ** 2) @ squares
        above = ((own[1] - self.rate) ** 2 + (self.rate_of_rest - rest[0]) ** 2) @ squares
        return self.gap - np.sqrt(below), self.gap + np.sqrt(above)


def log_p_value(
    factors: FloatArray,
    n: FloatArray,
    wrong: FloatArray,
    n_all: FloatArray,
    wrong_of_all: FloatArray,
) -> FloatArray:
    """Compute the logarithm of the p-value of sum b (e - mu), for strata in the last axis.

    It is 0 where nothing varies.
    """
    standardized, skewness = standardized_excess(factors, n, wrong, n_all, wrong_of_all)
    return np.where(np.isnan(standardized), 0.0, log_tail(standardized, skewness))


def standardized_excess(
    factors: FloatArray,
    n: FloatArray,
    wrong: FloatArray,
    n_all: FloatArray,
    wrong_of_all: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Standardize the excess of wrong rows, and compute the skewness of its distribution."""
    share = np.nan_to_num(ratio(wrong_of_all, n_all))  # of a stratum without rows
    one = ratio(n_all - n, n_all - 1)
    variance = np.nan_to_num(n * share * (1 - share) * one)
    other = ratio((1 - 2 * share) * (n_all - 2 * n), n_all - 2)
    third = np.nan_to_num(variance * other)
    total = (factors**2 * variance).sum(axis=-1)
    excess = (factors * (wrong - n * share)).sum(axis=-1)
    return ratio(excess, np.sqrt(total)), ratio((factors**3 * third).sum(axis=-1), total**1.5)


def log_tail(z: FloatArray, skewness: FloatArray) -> FloatArray:
    """Compute the logarithm of the upper tail of the standardized Pearson III distribution."""
    out = np.asarray(special.log_ndtr(-z), np.float64)
    skewed = np.flatnonzero(skewness > _NORMAL)
    shape = 4 / skewness[skewed] ** 2
    at = np.maximum(shape + z[skewed] * np.sqrt(shape), 0)
    tail = special.gammaincc(shape, at)
    with np.errstate(divide="ignore"):
        found = np.log(tail)
    lost = np.flatnonzero(tail == 0)  # too small for a float: the first term of the fraction
    k, x = shape[lost], at[lost]
    found[lost] = k * np.log(x) - x - special.gammaln(k) - np.log(x - k + 1)
    out[skewed] = found
    return out


_AT_ONCE = 2**16  # slices whose statistics are computed together


@dataclass(frozen=True, slots=True)
class Scores:
    """A metric of slices and of the rest, and how much worse the slice is.

    `log_p` are the logarithms of the p-values, which may be too small for floats; NaN without.
    """

    estimate: FloatArray
    rest: FloatArray
    worse: FloatArray
    log_p: FloatArray

    @classmethod
    def concat(cls, parts: "Sequence[Scores]") -> "Scores":
        """Put several one behind the other."""
        return cls(
            *(
                np.concatenate([getattr(part, name) for part in parts] or [np.zeros(0)])
                for name in ("estimate", "rest", "worse", "log_p")
            )
        )


@dataclass(frozen=True)
class Tested:
    """All slices tested, by their number of conditions.

    `line` is the place of each in `slices[depth - 1]`. `log_adjusted` are logarithms of p-values
    times the number of tests: of those of the depth, times the number of depths that have any.
    """

    slices: Sequence[Conjunctions]
    depth: Int64Array
    line: Int64Array
    scores: Scores
    log_factor: FloatArray  # by depth

    @classmethod
    def of(
        cls, slices: Sequence[Conjunctions], score: Callable[[Conjunctions], Scores]
    ) -> "Tested":
        """Score the slices, and adjust their p-values."""
        sizes = np.array([len(part) for part in slices], np.int64)
        blocks = [
            part.at(np.arange(block.start, block.stop))
            for part in slices
            for block in counting_strategy.blocks(slice(0, len(part)), _AT_ONCE)
        ]
        n_depths = np.count_nonzero(sizes)
        return cls(
            slices,
            np.repeat(np.arange(1, len(slices) + 1), sizes),
            np.concatenate([np.arange(size) for size in sizes] or [np.zeros(0, np.int64)]),
            Scores.concat([score(block) for block in blocks]),
            np.log(np.maximum(sizes, 1) * max(n_depths, 1)),
        )

    @property
    def log_adjusted(self) -> FloatArray:
        """The logarithm of each p-value times its number of tests."""
        return self.scores.log_p + self.log_factor[self.depth - 1]

    def conditions(self, one: int) -> tuple[Int64Array, Int64Array]:
        """Give the columns and the levels of a slice."""
        part, line = self.slices[self.depth[one] - 1], self.line[one]
        return part.on[line], part.levels[line]

    def rows(self, positions: Int64Array) -> Int64Array:
        """Count the rows of slices by outcome."""
        lines = [self.slices[self.depth[i] - 1].rows[self.line[i]] for i in positions]
        return np.array(lines, np.int64).reshape(len(lines), self.slices[0].rows.shape[1])


def tested_slices(
    population: Population, metric: Metric, scoring: Scoring, depth: int, most: int
) -> Tested:
    """Find and score all slices of up to so many conditions."""
    n_found = 0

    def count(found: int) -> None:
        nonlocal n_found
        n_found += found
        if n_found > most:
            raise InvalidInputError(
                f"there are more than {parameter('max_slices', most)} slices; search fewer "
                f"columns, decrease {parameter('depth')}, increase {parameter('min_support')}, or "
                f"increase {parameter('max_slices')} if memory allows."
            )

    n_columns = sum(len(levels) > 0 for levels in population.levels)
    n_sets = n_groupings(n_columns, range(1, min(depth, n_columns) + 1))
    with counting(n_sets, "sets of columns searched") as advance:
        slices = list(population.search(depth, count, advance))
    if not n_found:
        raise InvalidInputError(
            f"{too_small(population.strata, population.least)}. Decrease "
            f"{parameter('min_support')}, search other columns, or give fewer bins."
        )
    mean = population.strata.mean

    def score(some: Conjunctions) -> Scores:
        if mean is None:
            return scored_by_cells(some, population, metric, scoring)
        return scored_by_strata(some.rows, population, mean, metric.better)

    return Tested.of(slices, score)


def parts_of(rows: Int64Array, population: Population, weight: FloatArray) -> Parts:
    """Count the rows of slices by stratum, beside all rows."""
    strata = population.strata
    n, wrong, n_all, wrong_of_all = (
        of(values).astype(np.float64)
        for values in (rows, population.n_all)
        for of in (strata.n, strata.wrong)
    )
    return Parts(n, wrong, n_all, wrong_of_all, weight)


def scored_by_strata(
    rows: Int64Array, population: Population, mean: Mean, better: str | None
) -> Scores:
    """Score slices by a metric that is a mean of proportions."""
    parts = parts_of(rows, population, mean.weight)
    sign = 1 if better == "lower" else -1

    def metric(rate: FloatArray) -> FloatArray:
        share = rate if better == "lower" else 1 - rate
        return np.asarray(mean.at_0 + mean.slope * (share @ mean.weight), np.float64)

    estimate, rest = metric(parts.rate), metric(parts.rate_of_rest)
    return Scores(estimate, rest, sign * (estimate - rest), parts.log_p())


def scored_by_cells(
    slices: Conjunctions, population: Population, metric: Metric, scoring: Scoring
) -> Scores:
    """Score slices by any metric, without p-values."""
    reading, rows = population.searched.reading, population.rows
    counted = np.flatnonzero(population.strata.of_cell != OUTSIDE)
    actual, outcome = reading.cells.actual[counted], reading.cells.outcome[counted]

    def score(n: Int64Array, weights: FloatArray | None) -> FloatArray:
        line, cell = np.nonzero(n)
        weight = None if weights is None else weights[line, cell]
        sums = Measures(n[line, cell], None, weight, None, rows.measures.exponent, False)
        held = Cells((line,), actual[cell], outcome[cell], sums)
        return value_of(metric, scoring.class_counts(reading, held))

    rest_weights = None
    if slices.weights is not None:
        all_weights = np.bincount(rows.outcome, rows.measures.weight, rows.n_outcomes)
        rest_weights = np.maximum(all_weights - slices.weights, 0)
    estimate = score(slices.rows, slices.weights)
    rest = score(population.n_all - slices.rows, rest_weights)
    worse = estimate - rest if metric.better == "lower" else rest - estimate
    return Scores(estimate, rest, worse, np.full(len(slices), np.nan))
