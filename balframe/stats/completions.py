"""Limits that hold whatever the rows without a true label are.

A completion gives each of these rows a true label. The shares and recalls of strata are lowest if
all of them are wrong, and highest if all are right. The lower limits are those of the former
completion, and the upper limits those of the latter, as if all rows had a true label.

References
----------
C. F. Manski, "Nonparametric bounds on treatment effects", American Economic Review 1990.
"""

from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.strata import Strata
from balframe.stats.base import GATE
from balframe.stats.differences import scas_difference
from balframe.stats.effective_sample_size import RowsBySide
from balframe.stats.mean_recall import gate_limits, scas_limits, score_limits
from balframe.stats.mover_tests import agreeing_p_values
from balframe.stats.proportions import Limits, Rows

_NO_ROWS = 1e-9  # of a recall that is not defined in a completion, as if of so few rows


@dataclass(frozen=True)
class Completions:
    """The rows of a mean of recalls in both completions, of the shape (segments, recalls)."""

    rows: RowsBySide
    weight: FloatArray

    @classmethod
    def of_share(cls, s: Strata) -> "Completions":
        """Return the share of right rows among all rows of the strata."""
        right = s.right.sum(axis=1)
        return cls._of((right, s.n), (right + s.n - s.n_labelled, s.n))

    @classmethod
    def of_recall(cls, s: Strata, predicted: BoolArray) -> "Completions":
        """Return the recall of a label, with the strata predicted to have it."""
        unlabelled, wrong = s.rows - s.labelled, s.labelled - s.right
        detected, perhaps = (
            np.where(predicted, rows, 0).sum(axis=1) for rows in (s.right, unlabelled)
        )
        missed, perhaps_missed = (
            np.where(predicted, 0, rows).sum(axis=1) for rows in (wrong, unlabelled)
        )
        return cls._of(
            (detected, detected + missed + perhaps_missed),
            (detected + perhaps, detected + perhaps + missed),
        )

    @classmethod
    def _of(cls, lowest: Rows, highest: Rows) -> "Completions":
        (x, n), (x_up, n_up) = lowest, highest
        low = x, np.maximum(n, _NO_ROWS)
        high = np.where(n_up > 0, x_up, _NO_ROWS), np.maximum(n_up, _NO_ROWS)
        columns = [each[:, None] for each in (*low, *high)]
        rows = RowsBySide((columns[0], columns[1]), (columns[2], columns[3]))
        return cls(rows, np.ones((len(x), 1)))

    def mean_with(self, other: "Completions") -> "Completions":
        """Return the mean of two recalls, which are lowest and highest at once."""
        lower, upper = (
            (np.hstack([x, other_x]), np.hstack([n, other_n]))
            for (x, n), (other_x, other_n) in (
                (self.rows.lower, other.rows.lower),
                (self.rows.for_upper, other.rows.for_upper),
            )
        )
        weight = np.hstack([self.weight, other.weight]) / 2
        return Completions(RowsBySide(lower, upper), weight)

    def at(self, segments: Int64Array | slice) -> "Completions":
        """Take the segments at these positions."""
        lower, upper = (
            (x[segments], n[segments]) for x, n in (self.rows.lower, self.rows.for_upper)
        )
        return Completions(RowsBySide(lower, upper), self.weight[segments])

    def limits(self, level: float, method: str | None) -> Limits:
        """Return limits by a method that all rows have if they have a label."""
        compute = {GATE: gate_limits, "scas": scas_limits}.get(method or "", score_limits)
        return compute(*self.rows.lower, self.weight, level, self.rows.upper)

    def differences(self, other: "Completions", level: float) -> tuple[Limits, FloatArray]:
        """Return limits of differences from other segments, and p-values of no difference."""
        own, others = self.rows, other.rows
        lower, _, p_above = scas_difference(*own.lower, *others.for_upper, self.weight, level)
        _, upper, p_below = scas_difference(*own.for_upper, *others.lower, self.weight, level)
        lowest = self._score(own.lower) - other._score(others.for_upper)
        highest = self._score(own.for_upper) - other._score(others.lower)
        p = np.select([lowest > 0, highest < 0], [p_above, p_below], 1.0)
        return (lower, upper), agreeing_p_values(p, (lower, upper), level)

    def _score(self, rows: Rows) -> FloatArray:
        return np.asarray((self.weight * rows[0] / rows[1]).sum(axis=1))
