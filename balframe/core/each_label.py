"""Each label of each segment against all others."""

from typing import Any

import numpy as np
import numpy.typing as npt

from balframe.core.class_counts import ClassCounts
from balframe.core.one_versus_rest import OneVersusRest
from balframe.core.two_labels import of_two_labels


def each_against_others(c: ClassCounts) -> ClassCounts:
    """Count every pair of segment and label as a segment of two labels, the label the positive one.

    The pairs are sorted by segment, then label; one that does not occur has negatives only.
    """
    n_others = c.n[c.segment] - c.n_correct - c.n_missed - c.n_false_alarms
    rows = _on_grid(c, c.n_correct, c.n_missed, c.n_false_alarms, n_others, c.n)
    with np.errstate(invalid="ignore"):  # where squares of weights left the range of a float
        squares = None if c.squares is None else _weights(c.squares)
    return of_two_labels(rows, _weights(c), squares)


def _weights(c: ClassCounts) -> OneVersusRest:
    return _on_grid(c, c.correct, c.missed, c.false_alarms, c.true_negatives, c.total)


def _on_grid(
    c: ClassCounts,
    correct: npt.NDArray[Any],
    missed: npt.NDArray[Any],
    false_alarms: npt.NDArray[Any],
    true_negatives: npt.NDArray[Any],
    total: npt.NDArray[Any],
) -> OneVersusRest:
    """Spread counts of the entries over all segments and labels."""

    def spread(values: npt.NDArray[Any], absent: npt.NDArray[Any]) -> npt.NDArray[Any]:
        absent[c.segment * c.n_labels + c.label] = values
        return absent

    size = c.n_segments * c.n_labels
    tp, fn, fp = (
        spread(values, np.zeros(size, values.dtype)) for values in (correct, missed, false_alarms)
    )
    return OneVersusRest(tp, fn, fp, spread(true_negatives, np.repeat(total, c.n_labels)))
