"""Class counts of two labels: the positive one, and all others as one."""

from typing import Any

import numpy as np

from balframe.core.arrays import FloatArray
from balframe.core.class_counts import ClassCounts
from balframe.core.entries import Correctness, Entries
from balframe.core.one_versus_rest import OneVersusRest

NEGATIVE, POSITIVE = 0, 1


def of_two_labels(
    rows: OneVersusRest,
    weights: OneVersusRest | None,
    squares: OneVersusRest | None,
    class_weight: FloatArray | str | None = None,
) -> ClassCounts:
    """Take counts of rows, weights and squares of weights as segments of two labels."""
    n = len(rows.tp)
    entries = Entries(
        n,
        2,
        np.repeat(np.arange(n), 2),
        np.tile([NEGATIVE, POSITIVE], n),
        _of_both_labels(rows),
        None if weights is None else _of_both_labels(weights),
        None if squares is None else _of_both_labels(squares),
    )
    return ClassCounts.of(entries, pos_label=POSITIVE, class_weight=class_weight)


def _of_both_labels(c: OneVersusRest) -> Correctness[Any]:
    """Read what is correct, missed and a false alarm, of the negative and the positive label."""
    pairs = ((c.tn, c.tp), (c.fp, c.fn), (c.fn, c.fp))
    correct, missed, false_alarms = (np.column_stack(pair).ravel() for pair in pairs)
    return correct, missed, false_alarms
