"""A question to every verb, about a frame with the true labels `y` and the segments `g`.

Predictions are `p` and `q`, scores `s` and `t`. What a verb needs is read from its declaration.
"""

from balframe.verbs.contents import verbs

GIVEN = {"y_true": "y", "y_pred": "p", "y_score": "s", "by": "g", "rules": "accuracy >= 0"}
SELECTIONS = {"selected": "p"}  # in place of which scores may be given
ANSWERING = [name for name, verb in verbs().items() if verb.layouts]  # with columns of their own
MODELS = {"y_pred": ["p", "q"], "y_score": ["s", "t"], "selected": ["p", "q"]}
SEVERAL = {"compare"}  # which compares models
SEARCHING = {"slices"}  # which look for segments in the columns of `over`
OF_SEGMENTS = [name for name in ANSWERING if name not in SEARCHING]


def question(verb, **options):
    """Give the arguments of a verb: those that it needs, and `by`."""
    parameters = verbs()[verb].parameters
    required = [one.name for one in parameters.values() if one.is_required]
    needed = {name: GIVEN[name] for name in required if name != "frame"}
    needed |= {name: one for name, one in SELECTIONS.items() if name in parameters}
    asked = {**needed, "by": "g", **(models(verb) if verb in SEVERAL else {}), **options}
    if verb in SEARCHING:
        asked["over"] = asked.pop("by")
        asked = {"metric": "accuracy", "min_support": 1, "level": 1e-9, **asked}
    return asked


def models(verb):
    """Give the argument by which a verb is asked about two models, if it takes them."""
    if verb in SEARCHING:
        return {}
    return {name: both for name, both in MODELS.items() if name in verbs()[verb].parameters}
