"""The rows of the result of `slices`: conditions in words, scores, limits and errors."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from balframe.api.interval_estimates import clip_difference_limits
from balframe.core.array_types import Int64Array
from balframe.core.safe_divide import ratio
from balframe.errors import OPTION, Message, listed
from balframe.frames.adapter import Name
from balframe.frames.slice_features import SliceFeatures
from balframe.methods.slices.population import Population
from balframe.methods.slices.prune import ListingOptions, SliceList, exact_log_p, gap_limits
from balframe.methods.slices.significance import TestedSlices, stratified_counts
from balframe.metrics.registry import Metric
from balframe.stats.proportions import Limits

Condition = tuple[int, int]  # the position of a column, and the code of a level


def slice_columns(
    slice_list: SliceList,
    tested: TestedSlices,
    population: Population,
    named_metric: tuple[str, Metric],
    alpha: float,
) -> dict[Name, Any]:
    """Return the columns of the result of `slices`."""
    name, metric = named_metric
    positions, scores, features = slice_list.positions, tested.scores, population.features
    counted_frame, order = features.counted_frame, np.arange(len(positions))
    slices = [_conditions(position, tested, population) for position in positions]
    on = [
        ", ".join(str(counted_frame.query.by[column]) for column, _ in conditions)
        for conditions in slices
    ]
    n_strata = population.strata.n_strata
    strata = stratified_counts(
        tested.slice_counts(positions), population, np.full(n_strata, 1 / n_strata)
    )
    wrong = strata.wrong.sum(axis=1)
    estimate, rest = scores.estimate[positions], scores.rest[positions]
    lower, upper = _limits(positions, tested, population, metric, alpha)
    return {
        "rank": order + 1,
        "slice": counted_frame.text_column(
            [condition_text(conditions, features) for conditions in slices], order
        ),
        "on": counted_frame.text_column(on, order),
        **level_columns(slices, features),
        "depth": tested.depth[positions],
        "n": np.array([_n_rows(conditions, features) for conditions in slices], np.int64),
        "min_support": strata.n.min(axis=1, initial=np.inf).astype(np.int64),
        "wrong": wrong.astype(np.int64),
        "metric": counted_frame.text_column([name], np.zeros_like(order)),
        "estimate": estimate,
        "rest": rest,
        "difference": estimate - rest,
        "lower": lower,
        "upper": upper,
        "p_value": np.exp(slice_list.log_p),
        "p_adjusted": np.exp(np.minimum(slice_list.log_p + tested.log_factors(positions), 0)),
        "n_tests": np.full(len(positions), len(tested.depth)),
        "excess_errors": strata.excess,
        "share_of_errors": ratio(wrong, np.full(len(wrong), strata.wrong_all.sum())),
        "n_explained": slice_list.n_explained,
    }


def search_warnings(
    slice_list: SliceList, tested: TestedSlices, population: Population, options: ListingOptions
) -> Iterator[str | Message]:
    """Yield the warnings: columns that were barely searched or not, and that no slice is listed."""
    features = population.features
    left_out = [*features.counted_frame.query.left_out, *features.score_columns]
    if left_out:
        yield Message(
            "columns were not searched, because they hold dates, lists or structs, or look like "
            "scores of this model: {}. To search dates or scores, name all columns in {over}.",
            listed(map(repr, sorted(left_out, key=str))),
            over=OPTION,
        )
    if sparse_columns := population.describe_sparse_columns():
        yield Message(
            "columns were barely searched, because most of their rows have levels that are too "
            "rare: {}. Leave such columns out of {over}, or decrease {min_support}.",
            listed(sparse_columns),
            over=OPTION,
            min_support=population.min_support,
        )
    if len(slice_list.positions):
        return
    n_tests = f"{len(tested.depth):,} slice{'s' * (len(tested.depth) > 1)}"
    mean = population.strata.mean
    if mean is None or options.min_difference > 0:
        yield f"no slice is listed: none of the {n_tests} is that much worse than the rest."
        return
    nearest = int(tested.log_adjusted.argmin())
    at = np.array([nearest])
    conditions = condition_text(_conditions(nearest, tested, population), population.features)
    log_p = exact_log_p(at, tested, population, mean) + tested.log_factors(at)
    p = float(np.exp(min(log_p[0], 0.0)))
    yield (
        f"no slice is listed: of {n_tests} tested, none is significantly worse than the rest at "
        f"level {1 - options.alpha:.6g}. The smallest adjusted p-value is {p:.2g}, of {conditions}."
    )


def _conditions(position: int, tested: TestedSlices, population: Population) -> list[Condition]:
    """Return the columns of a slice, and the codes of its levels among all levels."""
    pairs = zip(*tested.slice_conditions(position), strict=True)
    return [(int(column), int(population.levels[column][level])) for column, level in pairs]


def condition_text(conditions: Sequence[Condition], features: SliceFeatures) -> str:
    """Write a slice as a condition: "sex = F and age 25 to 45"."""
    counted_frame, texts = features.counted_frame, []
    for column, code in conditions:
        name = counted_frame.query.by[column]
        levels = counted_frame.by[name]
        if code == len(levels):
            texts.append(f"{name} is null")
        else:
            taken = counted_frame.adapter.take(levels, np.array([code]), nullable=False)
            value = counted_frame.adapter.python_values(taken)[0]
            texts.append(f"{name} {'' if name in features.binned_columns else '= '}{value}")
    return " and ".join(texts)


def level_columns(
    slices: Sequence[Sequence[Condition]], features: SliceFeatures
) -> Mapping[Name, Any]:
    """Return a column for each column searched, null where a slice has any level of it."""
    counted_frame, columns = features.counted_frame, {}
    for i, (name, levels) in enumerate(counted_frame.by.items()):
        codes = np.array([dict(conditions).get(i, len(levels)) for conditions in slices], np.int64)
        columns[name] = counted_frame.adapter.take(levels, codes, nullable=True)
    return columns


def _n_rows(conditions: Sequence[Condition], features: SliceFeatures) -> int:
    """Count the rows of a slice, including those that the metric does not count."""
    inside = np.ones(len(features.cell), np.bool_)
    for column, code in conditions:
        inside &= features.columns[column].values == code
    n = features.row_sums.n
    return int(inside.sum() if n is None else n[inside].sum())


def _limits(
    positions: Int64Array,
    tested: TestedSlices,
    population: Population,
    metric: Metric,
    alpha: float,
) -> Limits:
    """Return limits of the differences between the slices and the rest."""
    mean = population.strata.mean
    if mean is None:
        none = np.full(len(positions), np.nan)
        return none, none
    lower, upper = gap_limits(positions, tested, population, mean, alpha)
    lower = np.maximum(lower, 0)  # a test that rejects 0 rejects every smaller difference
    if metric.better == "higher":
        lower, upper = -upper, -lower
    difference = (tested.scores.estimate - tested.scores.rest)[positions]
    slope = mean.slope
    return clip_difference_limits((slope * lower, slope * upper), difference, metric)
