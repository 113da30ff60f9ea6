"""Metrics of outcomes: rows that pass or fail, without a truth."""

from balframe.core.array_types import FloatArray
from balframe.core.class_counts import ClassCounts
from balframe.metrics.parametric import Numbers, family
from balframe.metrics.registry import proportion
from balframe.stats.item_means import (
    ItemMean,
    chance_that_all_pass,
    chance_that_any_passes,
    item_means,
)
from balframe.stats.metric_intervals import Parts

_NEEDS = ("outcome", "cluster")
_TRIALS = Numbers(
    ("k",), "a whole number of at least 1", "5", (1.0,), lambda k: k >= 1 and k == int(k)
)


@proportion(
    among="all",
    needs=("outcome",),
    aliases=("pass_rate",),
    source="the share of successes",
)
def rate(c: ClassCounts) -> Parts:
    """Share of rows that passed, of all rows with an outcome: passed / n."""
    return c.total_correct, c.total


@family(
    _TRIALS,
    range=lambda k: (0, 1),
    listed_range=(0, 1),
    interval=lambda k: ItemMean(int(k), chance_that_any_passes),
    needs=_NEEDS,
    source="Chen et al. 2021, Evaluating large language models trained on code",
)
def pass_at(c: ClassCounts, k: float) -> FloatArray:
    """Probability that any of k trials of an item passes: mean of 1 - C(n-c, k) / C(n, k).

    k is the number in the name, and `cluster` names the items. Of the n trials of an item, c
    passed. The mean is over the items, all with the same weight. Items with fewer than k trials
    are left out.
    """
    return item_means(c, int(k), chance_that_any_passes).mean


@family(
    _TRIALS,
    range=lambda k: (0, 1),
    listed_range=(0, 1),
    interval=lambda k: ItemMean(int(k), chance_that_all_pass),
    needs=_NEEDS,
    source="Yao et al. 2024, tau-bench",
)
def pass_all(c: ClassCounts, k: float) -> FloatArray:
    """Probability that all of k trials of an item pass (pass^k): mean of C(c, k) / C(n, k).

    k is the number in the name, and `cluster` names the items. Of the n trials of an item, c
    passed. It is not the rate to the power of k, which is lower wherever items are not equally
    difficult.
    """
    return item_means(c, int(k), chance_that_all_pass).mean
