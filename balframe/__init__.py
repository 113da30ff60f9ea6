"""balframe evaluates classifiers on data frames, overall and for every segment.

Importing it adds the attribute `.bal` to pandas and polars frames.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from balframe.cli import garbage, interrupts

if interrupts.is_program():  # before what takes long to load
    interrupts.end_silently()
    garbage.put_off()

from balframe import accessor
from balframe.accessor import register
from balframe.errors import (
    BalframeError,
    BalframeWarning,
    CheckFailed,
    InvalidInputError,
    MissingExtraError,
    UnknownNameError,
    UnsupportedTypeError,
)

if TYPE_CHECKING:
    from balframe import plot
    from balframe.core.class_counts import ClassCounts
    from balframe.display.audit.audit_of_frame import audit as audit
    from balframe.display.table import table
    from balframe.gates.passed import passed
    from balframe.metrics.catalogue import metric
    from balframe.tables import datasets
    from balframe.tables.from_matrix import from_matrix
    from balframe.tables.list_metrics import list_metrics
    from balframe.verbs.best_threshold import best_threshold as best_threshold
    from balframe.verbs.calibration import calibration as calibration
    from balframe.verbs.calibration_curve import calibration_curve as calibration_curve
    from balframe.verbs.calibration_gaps import calibration_gaps as calibration_gaps
    from balframe.verbs.check import check as check
    from balframe.verbs.classes import classes as classes
    from balframe.verbs.combine import combine as combine
    from balframe.verbs.compare import compare as compare
    from balframe.verbs.confusion import confusion as confusion
    from balframe.verbs.curve import curve as curve
    from balframe.verbs.disparity import disparity as disparity
    from balframe.verbs.fairness import fairness as fairness
    from balframe.verbs.gaps import gaps as gaps
    from balframe.verbs.impact import impact as impact
    from balframe.verbs.monitor import monitor as monitor
    from balframe.verbs.posterior import posterior as posterior
    from balframe.verbs.power import power as power
    from balframe.verbs.ranking import ranking as ranking
    from balframe.verbs.report import report as report
    from balframe.verbs.require import require as require
    from balframe.verbs.slice_filter import slice_filter as slice_filter
    from balframe.verbs.slices import slices as slices

__version__ = "0.1.0"

__all__ = [
    "BalframeError",
    "BalframeWarning",
    "CheckFailed",
    "ClassCounts",
    "InvalidInputError",
    "MissingExtraError",
    "UnknownNameError",
    "UnsupportedTypeError",
    "combine",
    "datasets",
    "from_matrix",
    "list_metrics",
    "metric",
    "passed",
    "plot",
    "register",
    "slice_filter",
    "table",
    *accessor.methods(),
]

_ELSEWHERE = {
    "ClassCounts": "balframe.core.class_counts",
    "combine": "balframe.verbs.combine",
    "from_matrix": "balframe.tables.from_matrix",
    "list_metrics": "balframe.tables.list_metrics",
    "metric": "balframe.verbs.contents",
    "passed": "balframe.gates.passed",
    "slice_filter": "balframe.verbs.slice_filter",
    "table": "balframe.display.table",
}
_MODULES = {"datasets": "balframe.tables.datasets", "plot": "balframe.plot"}


def __getattr__(name: str) -> Any:  # noqa: ANN401 (a function, mostly)
    """Load a function when it is first used, because loading all would slow the import."""
    if name in accessor.methods():
        return getattr(accessor.Bal, name)
    if name in _MODULES:
        return import_module(_MODULES[name])
    if name in _ELSEWHERE:
        return getattr(import_module(_ELSEWHERE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


if not interrupts.is_program():  # which makes all its frames itself
    accessor.register_here()
