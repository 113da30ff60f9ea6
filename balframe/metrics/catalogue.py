"""The metrics that balframe ships, in their order, and those that its users register.

Whoever looks a metric up or registers one does it here: by then the shipped ones have their names.
"""

from balframe.metrics.parametric import families  # noqa: I001 (the order of the units)
from balframe.metrics.lookup import find, find_all
from balframe.metrics.base import AnyMetric
from balframe.metrics.score_metrics import metrics_of_scores
from balframe.metrics.registry import metric, registered
from balframe.metrics.definitions import accuracies, binary, macro_averages, agreement  # noqa: F401
from balframe.metrics.definitions import ranking, probability  # noqa: F401

__all__ = ["families", "find", "find_all", "listed", "metric", "registered"]


def listed() -> list[AnyMetric]:
    """List the metrics, those of scores after those of labels, and those of users last.

    Each family is there once.
    """
    of_families = (family.listed for family in families.values())
    every: list[AnyMetric] = [*registered(), *of_families, *metrics_of_scores()]
    return sorted(every, key=lambda one: not one.is_shipped)
