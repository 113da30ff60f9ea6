"""A question to every verb, about a frame with the true labels `y` and the segments `g`.

Predictions are `p` and `q`, scores `s`. What a verb needs is read from its declaration.
"""

from balframe.verbs.catalogue import verbs

GIVEN = {"y_true": "y", "y_pred": "p", "y_score": "s", "by": "g", "rules": "n >= 1"}
SEVERAL = {"compare": {"y_pred": ["p", "q"]}}  # models, which it compares


def question(verb, **options):
    """Give the arguments of a verb: those that it needs, and `by`."""
    required = [one.name for one in verbs()[verb].parameters.values() if one.is_required]
    needed = {name: GIVEN[name] for name in required if name != "frame"}
    return {**needed, **SEVERAL.get(verb, {}), "by": "g", **options}
