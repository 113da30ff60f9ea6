"""The methods, one folder a family: where each is, and the group in which `.bal` lists it."""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from balframe.api.method import Method

METHODS = {
    "segments": {
        "report": "scores",
        "classes": "scores",
        "confusion": "scores",
        "posterior": "scores",
        "monitor": "monitoring",
    },
    "comparisons": {
        "gaps": "comparisons",
        "disparity": "comparisons",
        "fairness": "comparisons",
        "compare": "comparisons",
        "diff": "comparisons",
        "slices": "slices",
        "diff_slices": "slices",
        "impact": "impact",
    },
    "scores": {
        "curve": "thresholds",
        "best_threshold": "thresholds",
        "ranking": "thresholds",
        "calibration": "calibration",
        "calibration_curve": "calibration",
        "calibration_gaps": "calibration",
    },
    "gates": {"check": "gates", "require": "gates", "power": "gates"},
}
CHARTS = {
    "of labels": {
        "report": "scores",
        "confusion": "scores",
        "gaps": "comparisons",
        "compare": "comparisons",
        "slices": "slices",
        "impact": "impact",
        "monitor": "monitoring",
        "power": "gates",
        "pass_curve": "scores",
    },
    "of scores": {
        "curve": "thresholds",
        "roc": "thresholds",
        "precision_recall": "thresholds",
        "decision_curve": "thresholds",
        "gains": "thresholds",
        "lift": "thresholds",
        "calibration": "calibration",
    },
}


def load_method(name: str) -> Callable[..., Any]:
    """Return the function of a method."""
    method: Callable[..., Any] = getattr(import_module(_module_path(METHODS, name, name)), name)
    return method


def load_chart(name: str) -> Callable[..., Any]:
    """Return the function that draws the results of a method."""
    chart: Callable[..., Any] = getattr(import_module(_module_path(CHARTS, name, "charts")), name)
    return chart


def load_drawing(name: str) -> Callable[..., Any]:
    """Return the function that draws a chart of a result that a method returned."""
    path = _module_path(CHARTS, name, "charts")
    drawing: Callable[..., Any] = getattr(import_module(path), f"draw_{name}")
    return drawing


def declaration(name: str) -> "Method":
    """Load a method, and return its declaration."""
    from balframe.api.method import DECLARED

    load_method(name)
    return DECLARED[name]


def declarations() -> Mapping[str, "Method"]:
    """Load every method, and return their declarations by name."""
    return {name: declaration(name) for name in sorted(names_in_groups(METHODS))}


def names_in_groups(groups: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """List methods or charts in the order of their groups."""
    return (name for families in groups.values() for name in families)


def _module_path(groups: Mapping[str, Mapping[str, str]], name: str, module: str) -> str:
    family = next(families[name] for families in groups.values() if name in families)
    return f"{__name__}.{family}.{module}"
