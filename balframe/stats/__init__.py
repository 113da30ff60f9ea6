"""Intervals and tests, as functions of arrays of counts.

Authors of a metric or of a kind of interval find here what they need: the kinds of interval that a
metric names, the base class of a new one, and what its methods take.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from balframe.core.array_types import FloatArray
    from balframe.core.safe_divide import ratio
    from balframe.core.sample import Sample
    from balframe.stats.base import Interval, IntervalRequest
    from balframe.stats.linearised_intervals import AgreementCoefficient
    from balframe.stats.metric_intervals import (
        GeometricMeanOfRecalls,
        MeanOfRecalls,
        Parts,
        Proportion,
    )
    from balframe.stats.proportions import Limits, normal_quantile

__all__ = [
    "AgreementCoefficient",
    "FloatArray",
    "GeometricMeanOfRecalls",
    "Interval",
    "IntervalRequest",
    "Limits",
    "MeanOfRecalls",
    "Parts",
    "Proportion",
    "Sample",
    "normal_quantile",
    "ratio",
]

_MODULES = {
    "balframe.core.array_types": ("FloatArray",),
    "balframe.core.safe_divide": ("ratio",),
    "balframe.core.sample": ("Sample",),
    "balframe.stats.base": ("Interval", "IntervalRequest"),
    "balframe.stats.linearised_intervals": ("AgreementCoefficient",),
    "balframe.stats.metric_intervals": (
        "GeometricMeanOfRecalls",
        "MeanOfRecalls",
        "Parts",
        "Proportion",
    ),
    "balframe.stats.proportions": ("Limits", "normal_quantile"),
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 (a class or a function)
    """Load a name on first use, since these modules import from this package."""
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
