"""Scores of each label of every segment against all others, on the full grid of both."""

from typing import TypeVar

import numpy as np

from balframe.analyses import layouts
from balframe.analyses.limits import Request, effective, kept, proportion_limits
from balframe.core.arrays import FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts
from balframe.core.division import ratio
from balframe.frames.library import Name
from balframe.intervals.kinds import f1_of_jaccard, identity
from balframe.intervals.proportions import Limits

_Values = TypeVar("_Values", Int64Array, FloatArray)


def _grid(c: ClassCounts, values: _Values, absent: _Values | None = None) -> _Values:
    """Spread the values of the entries over all segments and labels."""
    size = c.n_segments * c.n_labels
    full = np.zeros(size, values.dtype) if absent is None else absent.copy()
    full[c.segment * c.n_labels + c.label] = values
    return full


def _parts(c: ClassCounts) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Take the scores apart: each is the first over the second, f1 an image of Jaccard's."""
    correct, missed, false_alarms = (
        _grid(c, counts) for counts in (c.correct, c.missed, c.false_alarms)
    )
    true_negatives = _grid(c, c.true_negatives, np.repeat(c.total, c.n_labels))
    return {
        "recall": (correct, correct + missed),
        "precision": (correct, correct + false_alarms),
        "specificity": (true_negatives, true_negatives + false_alarms),
        "npv": (true_negatives, true_negatives + missed),
        "f1": (correct, correct + missed + false_alarms),
    }


def scores_of_labels(
    c: ClassCounts, request: Request | None
) -> dict[Name, Int64Array | FloatArray]:
    """Compute the columns on the full grid of segments and labels."""
    columns: dict[Name, Int64Array | FloatArray] = {
        "support": _grid(c, c.n_support),
        "prevalence": ratio(_grid(c, c.support), np.repeat(c.total, c.n_labels)),
        "predicted": _grid(c, c.n_predicted),
        "correct": _grid(c, c.n_correct),
    }
    squared = _parts(c.squared)
    scores: dict[str, FloatArray] = {}
    found: dict[str, Limits] = {}
    for name, (x, n) in _parts(c).items():
        image = f1_of_jaccard if name == "f1" else identity
        scores[name] = image(c, ratio(x, n))
        if request is not None:
            limits = proportion_limits(*effective(x, n, squared[name][1]), request)
            low, high = (image(c, limit) for limit in limits)
            found[name] = kept(low, high, scores[name], (0, 1), around=True)
    return columns | layouts.wide(scores, found)
