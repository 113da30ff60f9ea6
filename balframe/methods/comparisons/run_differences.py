"""Differences of two runs by segment: their scores, limits and p-values, and what follows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from balframe.api.metric_selection import Adjust, metric_values
from balframe.core.array_types import BoolArray, Int64Array
from balframe.core.sample import Sample
from balframe.methods.comparisons.compare import compare_models
from balframe.methods.comparisons.models import PairedModels
from balframe.methods.comparisons.segments import differences, verdict_codes
from balframe.metrics.registry import Metric
from balframe.stats.base import IntervalRequest
from balframe.stats.multiple_testing import adjust_p_values

Table = dict[str, Any]  # arrays, one value for each segment


class Runs(Protocol):
    """The counts of two runs in the same segments."""

    @property
    def new(self) -> Sample:
        """The counts of the new run."""

    @property
    def earlier(self) -> Sample:
        """The counts of the earlier run."""

    def compare(self, metric: Metric, segments: Int64Array, level: float) -> Table:
        """Compute scores, differences, limits and p-values in segments."""


@dataclass(frozen=True, slots=True)
class PairedRuns:
    """Two runs on the same rows."""

    models: PairedModels

    @property
    def new(self) -> Sample:
        """The counts of the new run."""
        return self.models.first

    @property
    def earlier(self) -> Sample:
        """The counts of the earlier run."""
        return self.models.second

    def compare(self, metric: Metric, segments: Int64Array, level: float) -> Table:
        """Compare as `compare` does, from the rows that only one run gets right."""
        family = np.zeros(len(segments), np.int64)
        table = compare_models(metric, self.models.at(segments), family, level, None)
        c = self.new.counts
        supports = {"n_labels": c.n_present[segments], "min_support": c.min_support[segments]}
        return {name: values for name, values in table.items() if name != "n_tests"} | supports


@dataclass(frozen=True, slots=True)
class UnpairedRuns:
    """Two runs on different rows."""

    new: Sample
    earlier: Sample

    def compare(self, metric: Metric, segments: Int64Array, level: float) -> Table:
        """Compare as `gaps` does, on the labels that both runs have in a segment.

        Where one run has no rows, the other is scored on all of its labels.
        """
        sides = self.new.at(segments), self.earlier.at(segments)
        request = IntervalRequest(None, level)
        comparison = differences({"metric": metric}, *sides, "baseline", request)["metric"]
        new, earlier = (side.counts for side in sides)
        is_alone = (new.n == 0) | (earlier.n == 0)
        return {
            "estimate": np.where(is_alone, metric_values(metric, new), comparison.estimate),
            "baseline_estimate": np.where(
                is_alone, metric_values(metric, earlier), comparison.reference_estimate
            ),
            **{
                name: np.where(is_alone, np.nan, getattr(comparison, name))
                for name in ("difference", "lower", "upper", "p_value")
            },
            "n_labels": comparison.n_labels,
            "min_support": comparison.min_support,
        }


def decide_differences(
    runs: Runs, metric: Metric, family: Int64Array, level: float, adjust: Adjust
) -> Table:
    """Compare two runs in every segment, and state what is significant in each family of tests."""
    out: Table = {}
    for code in np.unique(family) if len(family) else [0]:
        segments = np.flatnonzero(family == code)
        for name, values in _decide_family(runs, metric, segments, level, adjust).items():
            column = out.setdefault(name, np.zeros(len(family), values.dtype))
            column[segments] = values
    return out


def _decide_family(
    runs: Runs, metric: Metric, segments: Int64Array, level: float, adjust: Adjust
) -> Table:
    """Decide the segments of a family by their adjusted p-values, with limits that agree.

    Where a metric has limits and no test, limits decide that hold for all segments together.
    """
    table = runs.compare(metric, segments, level)
    p_adjusted = adjust_p_values(table["p_value"], adjust)
    is_significant = p_adjusted < 1 - level
    share = _share_of_errors(table, is_significant, adjust)
    if share != 1:
        limits = runs.compare(metric, segments, 1 - (1 - level) * share)
        table |= {name: limits[name] for name in ("lower", "upper")}
    is_tested = np.isfinite(p_adjusted)
    if not metric.interval.has_test:
        is_significant = (table["lower"] > 0) | (table["upper"] < 0)
        is_tested = ~np.isnan(table["lower"])
    return table | {
        "p_adjusted": p_adjusted,
        "n_tests": np.full(len(segments), np.isfinite(table["p_value"]).sum()),
        "verdict": verdict_codes(table["difference"], is_significant, is_tested, metric.better),
    }


def _share_of_errors(table: Mapping[str, Any], is_significant: BoolArray, adjust: Adjust) -> float:
    """Return which share of 1 - level a single limit may use to agree with the adjusted p-values.

    An adjusted p-value is below 1 - level exactly where the p-value is below this share of it.
    """
    n_tests = int(np.isfinite(table["p_value"]).sum())
    if adjust is None:
        return 1
    if not n_tests:
        return 1 / max(int((~np.isnan(table["lower"])).sum()), 1)
    n_significant = int(is_significant.sum())
    if adjust == "bh":
        return max(n_significant, 1) / n_tests
    return 1 / max(n_tests - n_significant, 1)
