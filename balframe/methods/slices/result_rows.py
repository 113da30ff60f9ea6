"""The slices listed as rows: their conditions in words, their scores, limits and errors."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from balframe.api.interval_estimates import kept
from balframe.core.array_types import Int64Array
from balframe.core.safe_divide import ratio
from balframe.errors import listed as listed_words
from balframe.errors import parameter
from balframe.frames.adapter import Name
from balframe.frames.slice_features import Searched
from balframe.methods.slices.population import Population
from balframe.methods.slices.prune import Listed, Listing, limits_of_gaps
from balframe.methods.slices.significance import Tested, parts_of
from balframe.metrics.registry import Metric
from balframe.stats.proportions import Limits

Condition = tuple[int, int]  # the position of a column, and the code of a level


def slices_in_rows(
    listed: Listed, tested: Tested, population: Population, named: tuple[str, Metric], alpha: float
) -> dict[Name, Any]:
    """Describe each slice listed in a row."""
    name, metric = named
    positions, scores, searched = listed.positions, tested.scores, population.searched
    reading, order = searched.reading, np.arange(len(positions))
    slices = [_conditions(one, tested, population) for one in positions]
    on = [", ".join(str(reading.query.by[column]) for column, _ in one) for one in slices]
    n_strata = population.strata.n_strata
    parts = parts_of(tested.rows(positions), population, np.full(n_strata, 1 / n_strata))
    wrong = parts.wrong.sum(axis=1)
    estimate, rest = scores.estimate[positions], scores.rest[positions]
    lower, upper = _limits(positions, tested, population, metric, alpha)
    return {
        "rank": order + 1,
        "slice": reading.text_column([_in_words(one, searched) for one in slices], order),
        "on": reading.text_column(on, order),
        **_levels(slices, searched),
        "depth": tested.depth[positions],
        "n": np.array([_n_rows(one, searched) for one in slices], np.int64),
        "min_support": parts.n.min(axis=1, initial=np.inf).astype(np.int64),
        "wrong": wrong.astype(np.int64),
        "metric": reading.text_column([name], np.zeros_like(order)),
        "estimate": estimate,
        "rest": rest,
        "difference": estimate - rest,
        "lower": lower,
        "upper": upper,
        "p_value": np.exp(scores.log_p[positions]),
        "p_adjusted": np.exp(np.minimum(tested.log_adjusted[positions], 0)),
        "n_tests": np.full(len(positions), len(tested.depth)),
        "excess_errors": parts.excess,
        "share_of_errors": ratio(wrong, np.full(len(wrong), parts.wrong_of_all.sum())),
        "n_explained": listed.n_explained,
    }


def doubts(
    listed: Listed, tested: Tested, population: Population, listing: Listing
) -> Iterator[str]:
    """Say which columns were hardly searched, and that no slice is listed."""
    if left_out := population.left_out():
        yield (
            "columns were hardly searched, because most of their rows have levels that are too "
            f"rare: {listed_words(left_out)}. Leave such columns out of {parameter('over')}, or "
            f"decrease {parameter('min_support', population.least)}."
        )
    if len(listed.positions):
        return
    n_tests = f"{len(tested.depth):,} slice{'s' * (len(tested.depth) > 1)}"
    if population.strata.mean is None or listing.min_difference > 0:
        yield f"no slice is listed: none of the {n_tests} is that much worse than the rest."
        return
    nearest = int(tested.log_adjusted.argmin())
    conditions = _in_words(_conditions(nearest, tested, population), population.searched)
    p = float(np.exp(min(tested.log_adjusted[nearest], 0.0)))
    yield (
        f"no slice is listed: of {n_tests} tested, none is shown to be worse than the rest at "
        f"level {1 - listing.alpha:.6g}. The smallest adjusted p-value is {p:.2g}, of {conditions}."
    )


def _conditions(position: int, tested: Tested, population: Population) -> list[Condition]:
    """List the columns of a slice, and the codes of its levels among all levels."""
    pairs = zip(*tested.conditions(position), strict=True)
    return [(int(column), int(population.levels[column][level])) for column, level in pairs]


def _in_words(conditions: Sequence[Condition], searched: Searched) -> str:
    """Write a slice as a condition: "sex = F and age 25 to 45"."""
    reading, written = searched.reading, []
    for column, code in conditions:
        name = reading.query.by[column]
        levels = reading.by[name]
        if code == len(levels):
            written.append(f"{name} is null")
        else:
            taken = reading.library.take(levels, np.array([code]), nullable=False)
            value = reading.library.values(taken)[0]
            written.append(f"{name} {'' if name in searched.binned else '= '}{value}")
    return " and ".join(written)


def _levels(slices: Sequence[Sequence[Condition]], searched: Searched) -> Mapping[Name, Any]:
    """Make a column of each that was searched, null where a slice has any level of it."""
    reading, columns = searched.reading, {}
    for i, (name, levels) in enumerate(reading.by.items()):
        codes = np.array([dict(one).get(i, len(levels)) for one in slices], np.int64)
        columns[name] = reading.library.take(levels, codes, nullable=True)
    return columns


def _n_rows(conditions: Sequence[Condition], searched: Searched) -> int:
    """Count the rows of a slice, those that the metric does not count too."""
    inside = np.ones(len(searched.cell), np.bool_)
    for column, code in conditions:
        inside &= searched.columns[column].values == code
    n = searched.measures.n
    return int(inside.sum() if n is None else n[inside].sum())


def _limits(
    positions: Int64Array, tested: Tested, population: Population, metric: Metric, alpha: float
) -> Limits:
    """Compute limits of the differences between the slices and the rest."""
    mean = population.strata.mean
    if mean is None:
        none = np.full(len(positions), np.nan)
        return none, none
    lower, upper = limits_of_gaps(positions, tested, population, mean, alpha)
    if metric.better == "higher":
        lower, upper = -upper, -lower
    width = metric.range[1] - metric.range[0]
    difference = (tested.scores.estimate - tested.scores.rest)[positions]
    slope = mean.slope
    return kept(slope * lower, slope * upper, difference, (-width, width), around=True)
