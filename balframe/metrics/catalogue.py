"""The metrics that balframe ships, in their order, and those that its users register.

Whoever looks a metric up or registers one does it here: by then the shipped ones have their names.
"""

from balframe.metrics.registry import find, find_all, metric, registered  # noqa: I001 (their order)
from balframe.metrics.units import accuracies, binary, averages, agreement  # noqa: F401

__all__ = ["DEFAULT", "find", "find_all", "metric", "registered"]

DEFAULT = (
    "accuracy",
    "balanced_accuracy",
    "adjusted_balanced_accuracy",
    "normalized_accuracy",
    "geometric_mean",
)
