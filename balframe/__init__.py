"""balframe: how good is this classifier, for whom? Asked on a data frame.

Importing it gives pandas and polars frames the attribute `.bal`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from balframe import accessor
from balframe.accessor import register
from balframe.errors import (
    BalframeError,
    CheckFailed,
    InvalidInputError,
    MissingExtraError,
    UnknownNameError,
    UnsupportedTypeError,
)

if TYPE_CHECKING:
    from balframe import plot
    from balframe.core.class_counts import ClassCounts
    from balframe.display.table import table
    from balframe.metrics.catalogue import metric
    from balframe.tables import datasets
    from balframe.tables.from_matrix import from_matrix
    from balframe.tables.list_metrics import list_metrics
    from balframe.verbs.best_threshold import best_threshold
    from balframe.verbs.check import check
    from balframe.verbs.classes import classes
    from balframe.verbs.combine import combine
    from balframe.verbs.compare import compare
    from balframe.verbs.confusion import confusion
    from balframe.verbs.curve import curve
    from balframe.verbs.disparity import disparity
    from balframe.verbs.fairness import fairness
    from balframe.verbs.gaps import gaps
    from balframe.verbs.posterior import posterior
    from balframe.verbs.ranking import ranking
    from balframe.verbs.report import report
    from balframe.verbs.require import require

__version__ = "0.1.0"

__all__ = [
    "BalframeError",
    "CheckFailed",
    "ClassCounts",
    "InvalidInputError",
    "MissingExtraError",
    "UnknownNameError",
    "UnsupportedTypeError",
    "best_threshold",
    "check",
    "classes",
    "combine",
    "compare",
    "confusion",
    "curve",
    "datasets",
    "disparity",
    "fairness",
    "from_matrix",
    "gaps",
    "list_metrics",
    "metric",
    "plot",
    "posterior",
    "ranking",
    "register",
    "report",
    "require",
    "table",
]

_ELSEWHERE = {
    "ClassCounts": "balframe.core.class_counts",
    "from_matrix": "balframe.tables.from_matrix",
    "list_metrics": "balframe.tables.list_metrics",
    "metric": "balframe.metrics.catalogue",
    "table": "balframe.display.table",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 (a verb, mostly)
    """Load a verb when it is first used: all of them take longer than is polite in an import."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "plot":
        return import_module("balframe.plot")
    if name == "datasets":
        return import_module("balframe.tables.datasets")
    return getattr(import_module(_ELSEWHERE.get(name, f"balframe.verbs.{name}")), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


accessor.register_here()
