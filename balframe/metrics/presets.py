"""Presets: names that stand for several metrics, wherever several may be given."""

from collections.abc import Mapping

DEFAULT = (
    "accuracy",
    "balanced_accuracy",
    "adjusted_balanced_accuracy",
    "normalized_accuracy",
    "geometric_mean",
)
FAIRNESS = (
    "selection_rate",
    "prevalence",
    "recall",
    "false_positive_rate",
    "false_negative_rate",
    "precision",
)
PRESETS: Mapping[str, tuple[str, ...] | None] = {  # None where the call decides
    "default": None,
    "fairness": FAIRNESS,
    "all": None,
}
