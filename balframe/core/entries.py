"""From cells to entries: what is right and wrong of each label in each segment."""

from dataclasses import dataclass

import numpy as np

from balframe.core.arrays import Counts, FloatArray, Int64Array
from balframe.core.cells import LEFT_OUT, Cells, distinct_keys

Correctness = tuple[Counts, Counts, Counts]  # correct, missed, false alarms


@dataclass(frozen=True, slots=True)
class Entries:
    """Counts of pairs of segment and label that occur, sorted by segment, then label.

    `weights` and `squares` are None where the rows have no weights; squares are in units of 1,
    weights in any.
    """

    n_segments: int
    n_labels: int
    segment: Int64Array
    label: Int64Array
    rows: Correctness[Int64Array]
    weights: Correctness[FloatArray] | None
    squares: Correctness[FloatArray] | None

    @classmethod
    def of(cls, cells: Cells, n_labels: int) -> "Entries":
        """Add up cells: the diagonal, and what lies beside it in its row and in its column."""
        segment, first = cells.segments
        left_out = cells.actual == LEFT_OUT
        counted = np.flatnonzero(~left_out) if left_out.any() else slice(None)
        begin = segment[counted] * n_labels
        entry, on_truth, on_outcome = distinct_keys(
            begin + cells.actual[counted], begin + cells.outcome[counted], len(first) * n_labels
        )
        is_hit = on_truth == on_outcome
        hit, miss = np.flatnonzero(is_hit), np.flatnonzero(~is_hit)

        def add_up(values: Counts) -> Correctness[Counts]:
            correct, missed, false_alarms = np.zeros((3, len(entry)), values.dtype)
            np.add.at(correct, on_truth[hit], values[hit])
            np.add.at(missed, on_truth[miss], values[miss])
            np.add.at(false_alarms, on_outcome[miss], values[miss])
            return correct, missed, false_alarms

        weights: Correctness[FloatArray] | None = None
        squares: Correctness[FloatArray] | None = None
        if cells.weight is not None:
            weights = add_up(cells.weight[counted])
        if cells.sums.weight_sq is not None:
            with np.errstate(over="ignore", under="ignore"):
                scale = -2 * cells.sums.exponent
                squares = add_up(np.ldexp(cells.sums.weight_sq[counted], scale))
        where, label = np.divmod(entry, max(n_labels, 1))
        rows = add_up(cells.n[counted])
        return cls(len(first), n_labels, where, label, rows, weights, squares)


def in_floats(rows: Correctness[Int64Array]) -> Correctness[FloatArray]:
    """Take counts of rows as weights."""
    correct, missed, false_alarms = (counts.astype(np.float64) for counts in rows)
    return correct, missed, false_alarms
