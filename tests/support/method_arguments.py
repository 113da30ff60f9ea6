"""Arguments for every method, about a frame with the true labels `y` and the segments `g`.

Predictions are `p` and `q`, scores `s` and `t`, days `day`. What a method needs
is read from its declaration.
"""

from datetime import date, timedelta

import balframe as bf
from balframe.methods import declarations

UNTIL = date(2026, 3, 29)  # the last day of the baseline, and of a week
EXAMPLE_VALUES = {
    "y_true": "y",
    "y_pred": "p",
    "y_score": "s",
    "by": "g",
    "rules": "accuracy >= 0",
    "time": bf.period("day", "1w"),
    "baseline": UNTIL.isoformat(),
}
EXAMPLE_OPTIONS = {
    "monitor": {"dispersion": None},  # of a baseline of one week
    "diff": {"baseline": "q"},
    "diff_slices": {"baseline": "q"},
    "impact": {"favourable": "selected"},
}
SELECTIONS = {"selected": "p", "y_pred": "p"}  # in place of which scores may be given
METHODS_WITH_COLUMNS = [  # with columns of their own
    name for name, method in declarations().items() if method.layouts
]
MODELS = {"y_pred": ["p", "q"], "y_score": ["s", "t"], "selected": ["p", "q"]}
MODEL_METHODS = {"compare"}  # which compares models
SEARCH_METHODS = {"slices", "diff_slices"}  # which look for segments in the columns of `over`
METHODS_WITH_BY = [name for name in METHODS_WITH_COLUMNS if name not in SEARCH_METHODS]


def example_arguments(method, **options):
    """Return the arguments of a method: those that it needs, and `by`."""
    parameters = declarations()[method].parameters
    required = [one.name for one in parameters.values() if one.is_required]
    needed = {name: EXAMPLE_VALUES[name] for name in required if name not in ("frame", "over")}
    needed |= {name: one for name, one in SELECTIONS.items() if name in parameters}
    arguments = {
        **needed,
        "by": "g",
        **(models(method) if method in MODEL_METHODS else {}),
        **EXAMPLE_OPTIONS.get(method, {}),
        **options,
    }
    if method in SEARCH_METHODS:
        arguments["over"] = arguments.pop("by")
        arguments = {"metrics": "accuracy", "min_support": 1, "level": 1e-9, **arguments}
    return arguments


def layout_arguments(layout):
    """Return the arguments with which a method has this layout."""
    if layout == "strata":  # of `power`
        return {"missing": "correct"}
    return {"layout": layout} if layout in ("wide", "long") else {}


def days(n):
    """Return days in turn: of the baseline, and of three weeks after it."""
    return [UNTIL + timedelta((0, 1, 8, -3, 2, 16)[i % 6]) for i in range(n)]


def models(method):
    """Return the argument that names two models, if the method takes one."""
    if method in SEARCH_METHODS or method == "diff":  # of which `q` is the baseline
        return {}
    parameters = declarations()[method].parameters
    both = {name: names for name, names in MODELS.items() if name in parameters}
    if "y_pred" in both:  # in place of scores
        both.pop("y_score", None)
    return both
