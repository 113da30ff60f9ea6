"""What a caller probably means by an option that a method does not have."""

from collections.abc import Collection, Mapping

from balframe.errors import Message, choices_text, did_you_mean, nearest_names

_SEGMENTS, _INTERVALS, _LABELS = ("by", "over"), ("interval", "level"), ("pos_label",)
_SCORES = ("y_score", "y_prob", "y_proba", "y_probas", "proba", "scores")
_MEANINGS: Mapping[str, tuple[str, ...]] = {  # names in other libraries, and the options for them
    **dict.fromkeys(("ci", "confidence", "conf_int", "confidence_interval"), _INTERVALS),
    **dict.fromkeys(("alpha", "conf_level", "confidence_level"), ("level",)),
    **dict.fromkeys(("group", "groups", "groupby", "group_by", "segment", "segments"), _SEGMENTS),
    **dict.fromkeys(("sensitive_features", "control_features", "protected", "attr"), _SEGMENTS),
    **dict.fromkeys(("threshold", "cutoff", "cut_off"), ("thresholds",)),
    **dict.fromkeys(("weight", "weights", "case_weights"), ("sample_weight",)),
    **dict.fromkeys(("count", "n", "freq", "frequency"), ("counts",)),
    **dict.fromkeys(("positive", "positive_label", "pos", "event_level"), _LABELS),
    **dict.fromkeys(_SCORES, ("y_score", "score")),
    **dict.fromkeys(("target", "truth", "actual", "y"), ("y_true",)),
    **dict.fromkeys(("pred", "prediction", "predictions", "estimate"), ("y_pred", "selected")),
    **dict.fromkeys(("dropna", "na_rm", "nulls", "skipna"), ("missing",)),
    **dict.fromkeys(("n_bins", "nbins"), ("bins",)),
    "normalise": ("normalize",),
    "metric": ("metrics",),
    "rule": ("rules",),
}
_ADDITIONS = {"alpha": " It is 1 - alpha."}
_INSTEAD = {  # what to do where a method has no such option at all
    "threshold": "labels are compared, not scores. Make a column of labels, `score >= threshold`, "
    "or call curve, which takes thresholds.",
    "normalize": "scores are already shares of rows. For shares of a confusion matrix, call "
    "confusion, which has normalize.",
    "average": "an average over labels is a metric of its own, such as 'f1_macro' or "
    "'f1_weighted'. Give its name as a metric.",
    "zero_division": "a score that is undefined is null; fill nulls in the result. In averages, "
    "`absent` of the label set decides how undefined values count.",
}
_INSTEAD |= dict.fromkeys(
    _SCORES,
    "labels are compared, not scores. For the AUC and other metrics of scores, call ranking; for "
    "labels at thresholds of a score, call curve.",
)
_INSTEAD |= {"cutoff": _INSTEAD["threshold"], "cut_off": _INSTEAD["threshold"]}
_INSTEAD |= {"normalise": _INSTEAD["normalize"]}

_CORRECT = 'give it with the others: missing=bf.correct(verdict="judge", probability="p", doubt=2).'
_PERIODS = 'periods are a value of by: by=bf.period("day", "1w").'
_WITHIN = {  # what is part of the value of another option, which the method has
    **dict.fromkeys(("verdict", "label_probability", "doubt"), ("missing", _CORRECT)),
    **dict.fromkeys(("time", "every"), ("by", _PERIODS)),
    "bins": ("by", 'bin a numeric column in by: by=bf.bins("age", 4).'),
    "absent": ("labels", 'give it with the labels: labels=bf.label_set([0, 1], absent="zero").'),
    "absent_segments": (
        "expect",
        'give it with the segments: expect=bf.expected({"group": ["a", "b"]}, absent="fail").',
    ),
    **dict.fromkeys(
        ("title", "subtitle", "truth", "selected", "unit", "prediction_word"),
        ("words", 'give it with the other words: words={"title": "People of 2026"}.'),
    ),
    "decide": ("level", "level=None decides by the estimate alone."),
    "prior": ("interval", 'interval="jeffreys_posterior" has that prior.'),
    "cells": ("counts", "a result of confusion is known by its columns; omit the option."),
}


def unknown_option_message(
    name: str,
    options: Collection[str],
    hints: Mapping[str, str],
    function: str,
    lacking: Collection[str] = (),
) -> Message:
    """Return the message that a function has no option of this name, and what to do.

    `options` are the valid ones, and `hints` are what to do in place of others. What is `lacking`
    is no part of a value either.
    """
    names = [option for option in options if option != "frame"]
    other, within = _WITHIN.get("" if name in lacking else name.casefold(), ("", ""))
    instead = hints.get(name) or (within if other in names else "")
    meant, addition = ([], "") if instead else meant_options(name, names)
    instead = instead or ("" if meant else what_to_do_instead(name) or "")
    if instead:
        return Message("option {!r} not found: {}", name, instead)
    near = meant or nearest_names(name, names)
    choices = choices_text("option", names, near, f"help({function})")
    return Message("option {!r} not found{}{}{}", name, did_you_mean(near), addition, choices)


def meant_options(name: str, options: Collection[str]) -> tuple[list[str], str]:
    """Return the options that a name of another library stands for, and a sentence on them."""
    spelled = name.casefold()
    meant = [option for option in _MEANINGS.get(spelled, ()) if option in options]
    return meant, _ADDITIONS.get(spelled, "") if meant else ""


def what_to_do_instead(name: str) -> str | None:
    """Return what to do instead of giving an option of this name, which no method here has."""
    return _INSTEAD.get(name.casefold())
