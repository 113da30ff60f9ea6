"""The metrics that balframe ships: importing this module registers them, in this order."""

from balframe.metrics.units import accuracies, binary, averages, agreement  # noqa: F401, I001

DEFAULT = (
    "accuracy",
    "balanced_accuracy",
    "adjusted_balanced_accuracy",
    "normalized_accuracy",
    "geometric_mean",
)
