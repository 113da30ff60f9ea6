"""Metrics of outcomes: rows that pass or fail, without a truth."""

from balframe.core.class_counts import ClassCounts
from balframe.metrics.registry import proportion
from balframe.stats.metric_intervals import Parts


@proportion(
    among="all",
    needs=("outcome",),
    aliases=("pass_rate",),
    source="the share of successes",
)
def rate(c: ClassCounts) -> Parts:
    """Share of rows that passed, of all rows with an outcome: passed / n."""
    return c.total_correct, c.total
