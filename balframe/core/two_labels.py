"""Class counts of two labels: the positive one, and all others as one."""

from typing import Any

import numpy as np
import numpy.typing as npt

from balframe.core.array_types import FloatArray
from balframe.core.binary_counts import OneVersusRest
from balframe.core.class_counts import ClassCounts
from balframe.core.label_counts import Correctness, LabelCounts

NEGATIVE, POSITIVE = 0, 1


def two_label_counts(
    rows: OneVersusRest,
    weights: OneVersusRest | None,
    squares: OneVersusRest | None,
    largest: OneVersusRest | None,
    class_weight: FloatArray | str | None = None,
) -> ClassCounts:
    """Take counts of rows, sums of weights and of squares, and largest weights as two labels."""
    n = len(rows.tp)
    entries = LabelCounts(
        n,
        2,
        np.repeat(np.arange(n), 2),
        np.tile([NEGATIVE, POSITIVE], n),
        _of_both_labels(rows),
        None if weights is None else _of_both_labels(weights),
        None if squares is None else _of_both_labels(squares),
        None if largest is None else _of_both_labels(largest),
    )
    return ClassCounts.of(entries, pos_label=POSITIVE, class_weight=class_weight)


def _of_both_labels(c: OneVersusRest) -> Correctness[Any]:
    """Read what is correct, missed and a false alarm, of the negative and the positive label."""
    pairs = ((c.tn, c.tp), (c.fp, c.fn), (c.fn, c.fp))
    correct, missed, false_alarms = (
        np.column_stack(list(map(np.asarray, pair))).ravel() for pair in pairs
    )
    return correct, missed, false_alarms


def one_versus_rest_counts(c: ClassCounts) -> ClassCounts:
    """Count every pair of segment and label as a segment of two labels, the label the positive one.

    The pairs are sorted by segment, then label; one that does not occur has negatives only.
    """
    at = c.segment * c.n_labels + c.label

    def on_grid(total: npt.NDArray[Any], *counts: npt.NDArray[Any]) -> OneVersusRest:
        """Spread tp, fn, fp and tn of the entries over all segments and labels."""
        negatives = np.repeat(total, c.n_labels)
        grid = [*np.zeros_like(total, shape=(3, len(negatives))), negatives]
        for spread, values in zip(grid, counts, strict=True):
            spread[at] = values
        return OneVersusRest(*grid)

    def weights(of: ClassCounts) -> OneVersusRest:
        return on_grid(of.total, of.correct, of.missed, of.false_alarms, of.true_negatives)

    n_others = c.n[c.segment] - c.n_correct - c.n_missed - c.n_false_alarms
    rows = on_grid(c.n, c.n_correct, c.n_missed, c.n_false_alarms, n_others)
    with np.errstate(invalid="ignore"):  # where squares of weights left the range of a float
        squares = None if c.squares is None else weights(c.squares)
    largest = None if c.largest is None else weights(c.largest)
    return two_label_counts(rows, weights(c), squares, largest)
