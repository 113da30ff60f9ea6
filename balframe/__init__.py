"""balframe evaluates classifiers on data frames, overall and for every segment.

Importing it adds the attribute `.bal` to pandas and polars frames.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from balframe import accessor, errors
from balframe.accessor import bal, register
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
    from balframe.api.option_types import (
        bins,
        correct,
        design,
        expected,
        label_set,
        options,
        period,
    )
    from balframe.audit_page.audit import audit as audit
    from balframe.core.class_counts import ClassCounts
    from balframe.data import datasets
    from balframe.data.list_metrics import list_metrics
    from balframe.data.read_eval import read_eval
    from balframe.frames.by_entries import intersection
    from balframe.frames.eval_logs.eval_file import EvalFile
    from balframe.frames.eval_logs.schema import EvalReader, EvalResult
    from balframe.methods.calibration.calibration import calibration as calibration
    from balframe.methods.calibration.calibration_curve import (
        calibration_curve as calibration_curve,
    )
    from balframe.methods.calibration.calibration_gaps import calibration_gaps as calibration_gaps
    from balframe.methods.comparisons.compare import compare as compare
    from balframe.methods.comparisons.diff import diff as diff
    from balframe.methods.comparisons.disparity import disparity as disparity
    from balframe.methods.comparisons.fairness import fairness as fairness
    from balframe.methods.comparisons.gaps import gaps as gaps
    from balframe.methods.custom_metrics import metric, metric_from
    from balframe.methods.gates.check import check as check
    from balframe.methods.gates.draw_rows import draw_rows
    from balframe.methods.gates.power import power as power
    from balframe.methods.gates.require import passed
    from balframe.methods.gates.require import require as require
    from balframe.methods.history.read_run import read_run
    from balframe.methods.history.store import store as store
    from balframe.methods.impact.impact import impact as impact
    from balframe.methods.monitoring.monitor import monitor as monitor
    from balframe.methods.scores.classes import classes as classes
    from balframe.methods.scores.combine import combine as combine
    from balframe.methods.scores.confusion import confusion as confusion
    from balframe.methods.scores.from_matrix import from_matrix
    from balframe.methods.scores.long import long as long
    from balframe.methods.scores.posterior import posterior as posterior
    from balframe.methods.scores.report import report as report
    from balframe.methods.slices.diff_slices import diff_slices as diff_slices
    from balframe.methods.slices.slice_filter import slice_filter as slice_filter
    from balframe.methods.slices.slices import slices as slices
    from balframe.methods.thresholds.best_threshold import best_threshold as best_threshold
    from balframe.methods.thresholds.curve import curve as curve
    from balframe.methods.thresholds.ranking import ranking as ranking
    from balframe.presentation import plot as plot
    from balframe.presentation import table as table
    from balframe.verdicts.document import verdicts_document, verdicts_schema

__version__ = "0.9.0"

__all__ = [
    "BalframeError",
    "BalframeWarning",
    "CheckFailed",
    "ClassCounts",
    "EvalFile",
    "EvalReader",
    "EvalResult",
    "InvalidInputError",
    "MissingExtraError",
    "UnknownNameError",
    "UnsupportedTypeError",
    "bal",
    "bins",
    "combine",
    "correct",
    "datasets",
    "design",
    "draw_rows",
    "expected",
    "from_matrix",
    "intersection",
    "label_set",
    "list_metrics",
    "long",
    "metric",
    "metric_from",
    "options",
    "passed",
    "period",
    "plot",
    "read_eval",
    "read_run",
    "register",
    "slice_filter",
    "table",
    "verdicts_document",
    "verdicts_schema",
    *accessor.public_functions(),
]

_ELSEWHERE = {
    "ClassCounts": "balframe.core.class_counts",
    "combine": "balframe.methods.scores.combine",
    **dict.fromkeys(
        ("bins", "correct", "design", "expected", "label_set", "options", "period"),
        "balframe.api.option_types",
    ),
    "draw_rows": "balframe.methods.gates.draw_rows",
    "from_matrix": "balframe.methods.scores.from_matrix",
    "intersection": "balframe.frames.by_entries",
    "list_metrics": "balframe.data.list_metrics",
    "read_eval": "balframe.data.read_eval",
    "EvalFile": "balframe.frames.eval_logs.eval_file",
    "EvalReader": "balframe.frames.eval_logs.schema",
    "EvalResult": "balframe.frames.eval_logs.schema",
    "long": "balframe.methods.scores.long",
    "metric": "balframe.methods.custom_metrics",
    "metric_from": "balframe.methods.custom_metrics",
    "passed": "balframe.methods.gates.require",
    "read_run": "balframe.methods.history.read_run",
    "slice_filter": "balframe.methods.slices.slice_filter",
    "plot": "balframe.presentation",
    "table": "balframe.presentation",
    "verdicts_document": "balframe.verdicts.document",
    "verdicts_schema": "balframe.verdicts.document",
}
_MODULES = {"datasets": "balframe.data.datasets"}


def __getattr__(name: str) -> Any:  # noqa: ANN401 (a function, mostly)
    """Load a function when it is first used, because loading all would slow the import."""
    if name in accessor.public_functions():
        value = getattr(accessor.Bal, name)
    elif name in _MODULES:
        value = import_module(_MODULES[name])
    elif name in _ELSEWHERE:
        value = getattr(import_module(_ELSEWHERE[name]), name)
    else:
        raise errors.no_attribute("bf", name, __dir__())
    globals()[name] = value  # so that this is not called again
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


accessor.register_pandas_and_polars()
