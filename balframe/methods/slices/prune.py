"""The worst slices: in which order, and which of them add to those before."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array, IntegerArray
from balframe.methods.slices.population import Mean, Population
from balframe.methods.slices.significance import Tested, log_p_value, parts_of
from balframe.stats.proportions import Limits

Conditions = tuple[Int64Array, Int64Array]  # of a slice: their columns, and their levels
Order = Literal["p_value", "lower", "impact"]

_MOST_WALKED = 2000


@dataclass(frozen=True, slots=True)
class Listing:
    """How slices are listed: in which order, how many, and from which p-value and difference."""

    order: Order
    top: int
    alpha: float
    min_difference: float


@dataclass(frozen=True, slots=True)
class Listed:
    """The slices listed, by their positions among those tested, and how many each explains."""

    positions: Int64Array
    n_explained: Int64Array


def worst(tested: Tested, population: Population, listing: Listing) -> Listed:
    """List the slices that are shown to be worse, without those that others explain.

    Without p-values, list those with the largest differences, and explain none.
    """
    worse, mean = tested.scores.worse, population.strata.mean
    is_large = worse >= listing.min_difference
    if mean is None:
        found = np.flatnonzero(is_large & (worse > 0))
        by = -_impact(tested, population)[found] if listing.order == "impact" else -worse[found]
        positions = found[np.argsort(by, kind="stable")][: listing.top]
        return Listed(positions, np.zeros_like(positions))
    found = np.flatnonzero(is_large & (tested.log_adjusted <= np.log(listing.alpha)))
    by = _order(found, tested, population, mean, listing)
    ranks = found[np.lexsort((tested.depth[found], by))]
    return _walk(ranks[:_MOST_WALKED], tested, population, mean, listing)


def limits_of_gaps(
    positions: Int64Array, tested: Tested, population: Population, mean: Mean, alpha: float
) -> Limits:
    """Compute limits of how much higher rates are than in the rest, simultaneous for all tests."""
    lower, upper = np.zeros((2, len(positions)))
    for depth in np.unique(tested.depth[positions]):
        at = np.flatnonzero(tested.depth[positions] == depth)
        parts = parts_of(tested.rows(positions[at]), population, mean.weight)
        lower[at], upper[at] = parts.limits(1 - alpha / np.exp(tested.log_factor[depth - 1]))
    return lower, upper


def _order(
    found: Int64Array, tested: Tested, population: Population, mean: Mean, listing: Listing
) -> FloatArray:
    """Give the numbers by which slices are listed, the least first."""
    if listing.order == "p_value":
        return tested.log_adjusted[found]
    if listing.order == "impact":
        return -_impact(tested, population)[found]
    lower, _ = limits_of_gaps(found, tested, population, mean, listing.alpha)
    return -lower


def _impact(tested: Tested, population: Population) -> FloatArray:
    """Multiply how much worse slices are by the number of their rows that the metric counts."""
    n = [population.strata.n(part.rows).sum(axis=1) for part in tested.slices]
    return np.asarray(np.concatenate(n) * tested.scores.worse, np.float64)


def _walk(
    ranks: Int64Array, tested: Tested, population: Population, mean: Mean, listing: Listing
) -> Listed:
    """Keep each slice that is still worse where the slices kept before do not differ."""
    n = len(population.rows.outcome)
    patterns = _Patterns.of(population, np.zeros(n, np.int64), np.zeros((1, 0), np.bool_))
    n_explained: list[int] = []
    kept: list[int] = []
    for one in ranks:
        if len(kept) == listing.top:
            break
        conditions, counted = tested.conditions(one), tested.rows(np.array([one]))
        factors = parts_of(counted, population, mean.weight).factors
        counts = patterns.counts(conditions, counted)
        log_p = patterns.log_p(counts, factors)
        if log_p + tested.log_factor[tested.depth[one] - 1] <= np.log(listing.alpha):
            kept.append(int(one))
            n_explained.append(0)
            patterns = patterns.split(conditions)
        else:
            n_explained[patterns.nearest(counts)] += 1
    return Listed(np.array(kept, np.int64), np.array(n_explained, np.int64))


@dataclass(frozen=True)
class _Patterns:
    """Rows by the slices kept that they are in; `members` says which those are, by pattern.

    `within` are the rows in any of them, in the order of their patterns and outcomes; `spans` says
    where those of each pattern and outcome lie. `whole` counts all rows by pattern, stratum, and
    whether they are wrong.
    """

    population: Population
    of_row: Int64Array
    members: BoolArray
    within: Int64Array
    spans: Mapping[int, slice]
    whole: FloatArray
    _codes: dict[int, IntegerArray] = field(default_factory=dict)

    @classmethod
    def of(cls, population: Population, of_row: Int64Array, members: BoolArray) -> "_Patterns":
        """Count all rows."""
        rows = population.rows
        key = of_row * rows.n_outcomes + rows.outcome
        size = len(members) * rows.n_outcomes
        whole = np.bincount(key, rows.measures.n, size).reshape(len(members), -1, 2)
        within = np.flatnonzero(np.asarray(members.any(axis=1))[of_row])
        key = key[within].astype(np.min_scalar_type(size))
        order = np.argsort(key, kind="stable")
        ends = np.cumsum(np.bincount(key, minlength=size)).tolist()
        spans = {i: slice(*ends[i - 1 : i + 1]) for i in range(1, size) if ends[i - 1] < ends[i]}
        return cls(population, of_row, members, within[order], spans, whole.astype(np.float64))

    def counts(self, conditions: Conditions, counted: Int64Array) -> FloatArray:
        """Count the rows of a slice by pattern, stratum, and whether they are wrong.

        `counted` counts all of them: those that are in no slice kept are not looked at.
        """
        inside = np.ones(len(self.within), np.bool_)
        for column, level in zip(*conditions, strict=True):
            if column not in self._codes:
                self._codes[column] = self.population.columns[column].codes[self.within]
            inside &= self._codes[column] == level
        n = self.population.rows.measures.n
        counts = np.zeros_like(self.whole)
        for position, span in self.spans.items():
            counts.flat[position] = (
                np.count_nonzero(inside[span])
                if n is None
                else n[self.within[span][inside[span]]].sum()
            )
        counts[0] = counted.reshape(-1, 2) - counts.sum(axis=0)  # the pattern of no slice
        return counts

    def log_p(self, counts: FloatArray, factors: FloatArray) -> float:
        """Test the excess within patterns, with the factors of the strata."""
        of_each = np.tile(factors, len(self.members))
        n, n_all = (values.sum(axis=2).reshape(1, -1) for values in (counts, self.whole))
        wrong, wrong_of_all = (values[..., 1].reshape(1, -1) for values in (counts, self.whole))
        return float(log_p_value(of_each, n, wrong, n_all, wrong_of_all)[0])

    def split(self, conditions: Conditions) -> "_Patterns":
        """Tell apart the rows inside of one more slice."""
        inside = np.ones(len(self.of_row), np.bool_)
        for column, level in zip(*conditions, strict=True):
            inside &= self.population.columns[column].codes == level
        of_row = self.of_row * 2 + inside
        occurs = np.bincount(of_row, minlength=2 * len(self.members)) > 0
        occurs[0] = True  # the pattern of no slice stays the first
        is_inside = np.tile([False, True], len(self.members))
        members = np.column_stack([np.repeat(self.members, 2, axis=0), is_inside])
        return _Patterns.of(self.population, (np.cumsum(occurs) - 1)[of_row], members[occurs])

    def nearest(self, counts: FloatArray) -> int:
        """Find the slice kept that has the most of the rows counted."""
        return int((counts.sum(axis=(1, 2)) @ self.members).argmax())
