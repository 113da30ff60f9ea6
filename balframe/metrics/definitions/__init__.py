"""The metrics that balframe ships; they are listed in the order in which they are imported."""

# ruff: noqa: I001, F401
from balframe.metrics import parametric
from balframe.metrics.definitions import accuracies
from balframe.metrics.definitions import binary
from balframe.metrics.definitions import macro_averages
from balframe.metrics.definitions import agreement
from balframe.metrics.definitions import decisions
from balframe.metrics.definitions import outcomes
from balframe.metrics.definitions import ranking
from balframe.metrics.definitions import probability
