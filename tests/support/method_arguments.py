"""A question to every verb, about a frame with the true labels `y` and the segments `g`.

Predictions are `p` and `q`, scores `s` and `t`, days `day`. What a verb needs
is read from its declaration.
"""

from datetime import date, timedelta

from balframe.methods import declarations

UNTIL = date(2026, 3, 31)  # the last day of the reference
GIVEN = {
    "y_true": "y",
    "y_pred": "p",
    "y_score": "s",
    "by": "g",
    "rules": "accuracy >= 0",
    "time": "day",
    "every": "1w",
    "reference": {"until": UNTIL.isoformat()},
}
SELECTIONS = {"selected": "p"}  # in place of which scores may be given
ANSWERING = [  # with columns of their own
    name for name, method in declarations().items() if method.layouts
]
MODELS = {"y_pred": ["p", "q"], "y_score": ["s", "t"], "selected": ["p", "q"]}
SEVERAL = {"compare"}  # which compares models
SEARCHING = {"slices"}  # which look for segments in the columns of `over`
OF_SEGMENTS = [name for name in ANSWERING if name not in SEARCHING]


def question(verb, **options):
    """Give the arguments of a verb: those that it needs, and `by`."""
    parameters = declarations()[verb].parameters
    required = [one.name for one in parameters.values() if one.is_required]
    needed = {name: GIVEN[name] for name in required if name != "frame"}
    needed |= {name: one for name, one in SELECTIONS.items() if name in parameters}
    asked = {**needed, "by": "g", **(models(verb) if verb in SEVERAL else {}), **options}
    if verb in SEARCHING:
        asked["over"] = asked.pop("by")
        asked = {"metric": "accuracy", "min_support": 1, "level": 1e-9, **asked}
    return asked


def days(n):
    """Give days in turn: of the reference, and of three weeks after it."""
    return [UNTIL + timedelta((0, 1, 8, -3, 2, 16)[i % 6]) for i in range(n)]


def models(verb):
    """Give the argument by which a verb is asked about two models, if it takes them."""
    if verb in SEARCHING:
        return {}
    return {name: both for name, both in MODELS.items() if name in declarations()[verb].parameters}
