"""The list of the worst slices: their order, and which are explained by those listed before."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array, IntegerArray
from balframe.methods.slices.excess_test import ExcessTest
from balframe.methods.slices.population import Population, RecallMean
from balframe.methods.slices.significance import TestedSlices, stratified_counts
from balframe.stats.proportions import Limits

SliceConditions = tuple[Int64Array, Int64Array]  # the columns, and their levels
OrderOption = Literal["p_value", "lower", "impact"]

_MAX_CANDIDATES = 2000


@dataclass(frozen=True, slots=True)
class ListingOptions:
    """Order and number of the slices listed, and the p-value and difference that they need."""

    order: OrderOption
    top: int
    alpha: float
    min_difference: float


@dataclass(frozen=True, slots=True)
class SliceList:
    """The slices listed: their positions among those tested, and how many each explains.

    `log_p` are the logarithms of their p-values.
    """

    positions: Int64Array
    n_explained: Int64Array
    log_p: FloatArray


def list_worst(tested: TestedSlices, population: Population, options: ListingOptions) -> SliceList:
    """Return the slices that are significantly worse, without those that others explain.

    Without p-values, return those with the largest differences; none explains another.
    """
    worse, mean = tested.scores.worse, population.strata.mean
    is_large = worse >= options.min_difference
    if mean is None:
        candidates = np.flatnonzero(is_large & (worse > 0))
        sort_keys = (
            -_impacts(tested, population)[candidates]
            if options.order == "impact"
            else -worse[candidates]
        )
        positions = candidates[np.argsort(sort_keys, kind="stable")][: options.top]
        return SliceList(positions, np.zeros_like(positions), tested.scores.log_p[positions])
    candidates = np.flatnonzero(is_large & (tested.log_adjusted <= np.log(options.alpha)))
    sort_keys = _sort_keys(candidates, tested, population, mean, options)
    ranks = candidates[np.lexsort((tested.depth[candidates], sort_keys))]
    positions, n_explained = _prune(ranks[:_MAX_CANDIDATES], tested, population, mean, options)
    log_p = exact_log_p(positions, tested, population, mean)
    order = np.arange(len(positions))
    if options.order == "p_value":  # as above, with the exact p-values
        order = np.lexsort((tested.depth[positions], log_p + tested.log_factors(positions)))
    return SliceList(positions[order], n_explained[order], log_p[order])


def exact_log_p(
    positions: Int64Array, tested: TestedSlices, population: Population, mean: RecallMean
) -> FloatArray:
    """Return the logarithms of p-values, exact where the tail is quick to sum."""
    strata = stratified_counts(tested.slice_counts(positions), population, mean.weight)
    return strata.test.exact_log_p(tested.scores.log_p[positions])


def gap_limits(
    positions: Int64Array,
    tested: TestedSlices,
    population: Population,
    mean: RecallMean,
    alpha: float,
) -> Limits:
    """Return limits of the gap between slices and the rest, each simultaneous for all tests."""
    lower, upper = np.zeros((2, len(positions)))
    for depth in np.unique(tested.depth[positions]):
        at = np.flatnonzero(tested.depth[positions] == depth)
        parts = stratified_counts(tested.slice_counts(positions[at]), population, mean.weight)
        lower[at], upper[at] = parts.limits(alpha / np.exp(tested.log_factor[depth - 1]))
    return lower, upper


def _sort_keys(
    candidates: Int64Array,
    tested: TestedSlices,
    population: Population,
    mean: RecallMean,
    options: ListingOptions,
) -> FloatArray:
    """Return the numbers by which slices are sorted, ascending."""
    if options.order == "p_value":
        return tested.log_adjusted[candidates]
    if options.order == "impact":
        return -_impacts(tested, population)[candidates]
    lower, _ = gap_limits(candidates, tested, population, mean, options.alpha)
    return -lower


def _impacts(tested: TestedSlices, population: Population) -> FloatArray:
    """Return how much worse slices are, times the number of their rows that the metric counts."""
    n = [population.strata.count_rows(part.counts).sum(axis=1) for part in tested.slices]
    return np.asarray(np.concatenate(n) * tested.scores.worse, np.float64)


def _prune(
    candidates: Int64Array,
    tested: TestedSlices,
    population: Population,
    mean: RecallMean,
    options: ListingOptions,
) -> tuple[Int64Array, Int64Array]:
    """Keep each slice that is still worse within the patterns of the slices listed before.

    Returns the positions of the slices kept, and how many others each explains.
    """
    n = len(population.rows.outcome)
    patterns = _Patterns.of(population, np.zeros(n, np.int64), np.zeros((1, 0), np.bool_))
    n_explained: list[int] = []
    listed: list[int] = []
    for position in candidates:
        if len(listed) == options.top:
            break
        conditions, slice_counts = (
            tested.slice_conditions(position),
            tested.slice_counts(np.array([position])),
        )
        factors = stratified_counts(slice_counts, population, mean.weight).factors
        counts = patterns.counts(conditions, slice_counts)
        log_level = np.log(options.alpha) - tested.log_factor[tested.depth[position] - 1]
        if patterns.log_p(counts, factors, log_level) <= log_level:
            listed.append(int(position))
            n_explained.append(0)
            patterns = patterns.split(conditions)
        else:
            n_explained[patterns.nearest(counts)] += 1
    return np.array(listed, np.int64), np.array(n_explained, np.int64)


@dataclass(frozen=True)
class _Patterns:
    """Rows by pattern: the set of listed slices that they are in.

    `members` has a line for each pattern and a column for each slice. `covered_rows` are the rows
    in any slice, sorted by pattern and outcome. `spans` are the positions there of each pattern and
    outcome. `all_counts` counts all rows by pattern, stratum, and whether they are wrong.
    """

    population: Population
    row_pattern: Int64Array
    members: BoolArray
    covered_rows: Int64Array
    spans: Mapping[int, slice]
    all_counts: FloatArray
    _codes: dict[int, IntegerArray] = field(default_factory=dict)

    @classmethod
    def of(cls, population: Population, row_pattern: Int64Array, members: BoolArray) -> "_Patterns":
        """Count all rows."""
        rows = population.rows
        key = row_pattern * rows.n_outcomes + rows.outcome
        size = len(members) * rows.n_outcomes
        all_counts = np.bincount(key, rows.measures.n, size).reshape(len(members), -1, 2)
        covered_rows = np.flatnonzero(np.asarray(members.any(axis=1))[row_pattern])
        key = key[covered_rows].astype(np.min_scalar_type(size))
        order = np.argsort(key, kind="stable")
        ends = np.cumsum(np.bincount(key, minlength=size)).tolist()
        spans = {i: slice(*ends[i - 1 : i + 1]) for i in range(1, size) if ends[i - 1] < ends[i]}
        return cls(
            population,
            row_pattern,
            members,
            covered_rows[order],
            spans,
            all_counts.astype(np.float64),
        )

    def counts(self, conditions: SliceConditions, slice_counts: Int64Array) -> FloatArray:
        """Count the rows of a slice by pattern, stratum, and whether they are wrong.

        The rows that are in no listed slice are not read: they are the rest of `slice_counts`.
        """
        inside = np.ones(len(self.covered_rows), np.bool_)
        for column, level in zip(*conditions, strict=True):
            if column not in self._codes:
                self._codes[column] = self.population.columns[column].codes[self.covered_rows]
            inside &= self._codes[column] == level
        n = self.population.rows.measures.n
        counts = np.zeros_like(self.all_counts)
        for position, span in self.spans.items():
            counts.flat[position] = (
                np.count_nonzero(inside[span])
                if n is None
                else n[self.covered_rows[span][inside[span]]].sum()
            )
        counts[0] = slice_counts.reshape(-1, 2) - counts.sum(axis=0)  # the pattern of no slice
        return counts

    def log_p(self, counts: FloatArray, factors: FloatArray, log_level: float) -> float:
        """Return the log p-value of the excess within patterns, with the factors of the strata.

        It decides at the level whose logarithm is `log_level`.
        """
        pattern_factors = np.tile(factors, len(self.members))
        n, n_all = (values.sum(axis=2).reshape(1, -1) for values in (counts, self.all_counts))
        wrong, wrong_all = (values[..., 1].reshape(1, -1) for values in (counts, self.all_counts))
        test = ExcessTest(pattern_factors, n, wrong, n_all, wrong_all)
        return float(test.decisive_log_p(log_level)[0])

    def split(self, conditions: SliceConditions) -> "_Patterns":
        """Return the patterns with one more slice."""
        inside = np.ones(len(self.row_pattern), np.bool_)
        for column, level in zip(*conditions, strict=True):
            inside &= self.population.columns[column].codes == level
        row_pattern = self.row_pattern * 2 + inside
        occurs = np.bincount(row_pattern, minlength=2 * len(self.members)) > 0
        occurs[0] = True  # the pattern of no slice stays the first
        is_inside = np.tile([False, True], len(self.members))
        members = np.column_stack([np.repeat(self.members, 2, axis=0), is_inside])
        return _Patterns.of(self.population, (np.cumsum(occurs) - 1)[row_pattern], members[occurs])

    def nearest(self, counts: FloatArray) -> int:
        """Return the position of the listed slice that has the most of the rows counted."""
        return int((counts.sum(axis=(1, 2)) @ self.members).argmax())
