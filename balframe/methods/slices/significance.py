"""The counts of slices by stratum, and the scores of all slices tested."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from balframe.api.metric_selection import MetricSelection, metric_values
from balframe.core import counting_strategy
from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.cells import Cells
from balframe.core.row_sums import RowSums
from balframe.core.safe_divide import ratio
from balframe.errors import OPTION, InvalidInputError
from balframe.methods.slices.conjunctions import Conjunctions
from balframe.methods.slices.excess_test import ExcessTest
from balframe.methods.slices.population import OUTSIDE, Population, RecallMean, too_small_message
from balframe.metrics.registry import Metric
from balframe.stats.differences import difference_as_mean_recall, mover_difference
from balframe.stats.lazy_scipy import special
from balframe.stats.mean_recall import wider_limits
from balframe.stats.proportions import Limits, clopper_pearson_at

_MAX_TAIL = 0.49  # beyond 1/2 a limit would be on the other side of the estimate
_BLOCK_SIZE = 2**16  # slices whose statistics are computed together


@dataclass(frozen=True, slots=True)
class StratifiedCounts:
    """Counts of slices, one a line, with a column for each stratum.

    `n` and `wrong` count the rows of the slice, `n_all` and `wrong_all` those of the stratum.
    `weight` are the weights of the strata, which sum to 1.
    """

    n: FloatArray
    wrong: FloatArray
    n_all: FloatArray
    wrong_all: FloatArray
    weight: FloatArray

    @property
    def rate(self) -> FloatArray:
        """Share of wrong rows in the slice."""
        return ratio(self.wrong, self.n)

    @property
    def rest_rate(self) -> FloatArray:
        """Share of wrong rows outside of the slice."""
        return ratio(self.wrong_all - self.wrong, self.n_all - self.n)

    @property
    def gap(self) -> FloatArray:
        """Difference of the weighted mean rates of wrong rows: slice - rest."""
        return np.asarray((self.rate - self.rest_rate) @ self.weight, np.float64)

    @property
    def factors(self) -> FloatArray:
        """Factors from the excess of wrong rows to the gap: a_k N_k / (n_k (N_k - n_k))."""
        return ratio(self.weight * self.n_all, self.n * (self.n_all - self.n))

    @property
    def excess(self) -> FloatArray:
        """Number of wrong rows above those expected at the rates of the rest.

        Only the strata count in which the rate of the slice is higher.
        """
        above = np.maximum(self.rate - self.rest_rate, 0)
        return np.asarray((self.n * above).sum(axis=-1), np.float64)

    @property
    def test(self) -> ExcessTest:
        """The test that the gap is not above 0."""
        return ExcessTest(self.factors, self.n, self.wrong, self.n_all, self.wrong_all)

    def limits(self, tail: float) -> Limits:
        """Return limits of the gap, each of which is wrong with at most about this probability.

        With one stratum they combine Clopper-Pearson limits of both rates. With several they are
        the wider of the score limits with a correction for skewness and without it.
        """
        tail = min(tail, _MAX_TAIL)
        wrong_rest, n_rest = self.wrong_all - self.wrong, self.n_all - self.n
        if len(self.weight) > 1:
            weight = np.broadcast_to(self.weight, self.n.shape)
            recalls = difference_as_mean_recall(self.wrong, self.n, wrong_rest, n_rest, weight)
            lower, upper = wider_limits(*recalls, -float(special.ndtri(tail)))
            return 2 * lower - 1, 2 * upper - 1
        wrong, n, wrong_rest, n_rest = (x[:, 0] for x in (self.wrong, self.n, wrong_rest, n_rest))
        own = clopper_pearson_at(wrong, n, tail)
        rest = clopper_pearson_at(wrong_rest, n_rest, tail)
        return mover_difference(self.rate[:, 0], own, self.rest_rate[:, 0], rest)


@dataclass(frozen=True, slots=True)
class SliceScores:
    """A metric of slices and of the rest, and how much worse the slice is.

    `log_p` are the logarithms of the p-values, which may be too small for floats. They are NaN for
    metrics without p-values.
    """

    estimate: FloatArray
    rest: FloatArray
    worse: FloatArray
    log_p: FloatArray

    @classmethod
    def concat(cls, parts: "Sequence[SliceScores]") -> "SliceScores":
        """Concatenate several."""
        return cls(
            *(
                np.concatenate([getattr(part, name) for part in parts] or [np.zeros(0)])
                for name in ("estimate", "rest", "worse", "log_p")
            )
        )


@dataclass(frozen=True)
class TestedSlices:
    """All slices tested, by their number of conditions.

    `line` is the position of each in `slices[depth - 1]`. The number of tests by which a p-value is
    multiplied is that of its depth, times the number of depths with any slice.
    """

    slices: Sequence[Conjunctions]
    depth: Int64Array
    line: Int64Array
    scores: SliceScores
    log_factor: FloatArray  # by depth

    @classmethod
    def of(
        cls, slices: Sequence[Conjunctions], score: Callable[[Conjunctions, float], SliceScores]
    ) -> "TestedSlices":
        """Return the slices with their scores, a block of slices at a time.

        `score` is also given the logarithm of the number of tests by which p-values are multiplied.
        """
        sizes = np.array([len(part) for part in slices], np.int64)
        log_factor = np.log(np.maximum(sizes, 1) * max(np.count_nonzero(sizes), 1))
        scores = [
            score(part.take(np.arange(block.start, block.stop)), float(log_n_tests))
            for part, log_n_tests in zip(slices, log_factor, strict=True)
            for block in counting_strategy.blocks(slice(0, len(part)), _BLOCK_SIZE)
        ]
        return cls(
            slices,
            np.repeat(np.arange(1, len(slices) + 1), sizes),
            np.concatenate([np.arange(size) for size in sizes] or [np.zeros(0, np.int64)]),
            SliceScores.concat(scores),
            log_factor,
        )

    @property
    def log_adjusted(self) -> FloatArray:
        """Logarithm of each p-value times its number of tests."""
        return self.scores.log_p + self.log_factors(slice(None))

    def log_factors(self, positions: Int64Array | slice) -> FloatArray:
        """Return the logarithms of the numbers by which p-values are multiplied."""
        return self.log_factor[self.depth[positions] - 1]

    def slice_conditions(self, position: int) -> tuple[Int64Array, Int64Array]:
        """Return the columns and the levels of a slice."""
        part, line = self.slices[self.depth[position] - 1], self.line[position]
        return part.columns[line], part.levels[line]

    def slice_counts(self, positions: Int64Array) -> Int64Array:
        """Return the counts of slices by outcome."""
        lines = [self.slices[self.depth[i] - 1].counts[self.line[i]] for i in positions]
        return np.array(lines, np.int64).reshape(len(lines), self.slices[0].counts.shape[1])


def find_and_score_slices(
    population: Population,
    metric: Metric,
    selection: MetricSelection,
    *,
    depth: int,
    max_slices: int,
    alpha: float,
) -> TestedSlices:
    """Find and score all slices of up to `depth` conditions; raise if there are too many.

    Adjusted p-values are compared with `alpha`.
    """
    slices = population.search(depth, max_slices)
    if not any(map(len, slices)):
        raise InvalidInputError(
            "{}. Decrease {min_support}, search other columns, or give fewer bins.",
            too_small_message(population.strata, population.min_support),
            min_support=OPTION,
        )
    mean = population.strata.mean

    def score(block: Conjunctions, log_n_tests: float) -> SliceScores:
        if mean is None:
            return score_by_cells(block, population, metric, selection)
        log_level = float(np.log(alpha)) - log_n_tests
        return score_by_strata(block.counts, population, mean, metric.better, log_level)

    return TestedSlices.of(slices, score)


def stratified_counts(
    counts: Int64Array, population: Population, weight: FloatArray
) -> StratifiedCounts:
    """Return the counts of slices by stratum, from those by outcome."""
    strata = population.strata
    n, wrong, n_all, wrong_all = (
        count(values).astype(np.float64)
        for values in (counts, population.all_counts)
        for count in (strata.count_rows, strata.count_wrong)
    )
    return StratifiedCounts(n, wrong, n_all, wrong_all, weight)


def score_by_strata(
    counts: Int64Array,
    population: Population,
    mean: RecallMean,
    better: str | None,
    log_level: float,
) -> SliceScores:
    """Return the scores of slices by a metric that is a mean of proportions.

    The p-values decide at the level whose logarithm is `log_level`.
    """
    strata = stratified_counts(counts, population, mean.weight)
    sign = 1 if better == "lower" else -1

    def metric(rate: FloatArray) -> FloatArray:
        share = rate if better == "lower" else 1 - rate
        return np.asarray(mean.at_0 + mean.slope * (share @ mean.weight), np.float64)

    estimate, rest = metric(strata.rate), metric(strata.rest_rate)
    log_p = strata.test.decisive_log_p(log_level)
    return SliceScores(estimate, rest, sign * (estimate - rest), log_p)


def score_by_cells(
    slices: Conjunctions, population: Population, metric: Metric, selection: MetricSelection
) -> SliceScores:
    """Return the scores of slices by any metric, without p-values."""
    counted_frame, rows = population.features.counted_frame, population.rows
    inside_cells = np.flatnonzero(population.strata.cell_outcome != OUTSIDE)
    actual, outcome = (
        counted_frame.cells.actual[inside_cells],
        counted_frame.cells.outcome[inside_cells],
    )

    def score(n: Int64Array, weights: FloatArray | None) -> FloatArray:
        line, cell = np.nonzero(n)
        weight = None if weights is None else weights[line, cell]
        sums = RowSums(
            n[line, cell], weight=weight, exponent=rows.measures.exponent, keeps_squares=False
        )
        cells = Cells((line,), actual[cell], outcome[cell], sums)
        return metric_values(metric, selection.class_counts(counted_frame, cells))

    rest_weights = None
    if slices.weights is not None:
        all_weights = np.bincount(rows.outcome, rows.measures.weight, rows.n_outcomes)
        rest_weights = np.maximum(all_weights - slices.weights, 0)
    estimate = score(slices.counts, slices.weights)
    rest = score(population.all_counts - slices.counts, rest_weights)
    worse = estimate - rest if metric.better == "lower" else rest - estimate
    return SliceScores(estimate, rest, worse, np.full(len(slices), np.nan))
