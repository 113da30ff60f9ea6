"""The metrics that balframe ships, in their order, and those that its users register.

Whoever looks a metric up or registers one does it here: by then the shipped ones have their names.
"""

from balframe.metrics.families_by_number import families  # noqa: I001 (the order of the units)
from balframe.metrics.lookup import find, find_all
from balframe.metrics.registry import Metric, is_shipped, metric, registered
from balframe.metrics.units import accuracies, binary, averages, agreement  # noqa: F401

__all__ = ["families", "find", "find_all", "listed", "metric", "registered"]


def listed() -> list[Metric]:
    """List the metrics, each family as one, and those of users last."""
    every = [*registered(), *(family.listed for family in families.values())]
    return sorted(every, key=lambda one: not is_shipped(one))
