"""The mean payoff of a decision, for its confidence limits.

Every row has a payoff that depends on its truth and its prediction: `hit` for a true positive,
`false_alarm` for a false positive, `miss` for a false negative, and nothing for a true negative.
The mean f over the rows is linear in the shares of the cells. Its derivative by the share of a cell
is the payoff there less f, and the second derivative -2 times that.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts
from balframe.core.safe_divide import ratio
from balframe.stats.additive_derivative import AdditiveDerivative
from balframe.stats.delta_method import Linearisation
from balframe.stats.linearised_intervals import Linearised
from balframe.stats.smoothed_cells import SmoothedCells

Payoff = float | FloatArray  # one for all segments, or of each, shape (segments,)


@dataclass(frozen=True, slots=True, eq=False)
class Payoffs:
    """The payoffs of the rows predicted positive or missed."""

    hit: Payoff
    false_alarm: Payoff
    miss: Payoff

    @property
    def range(self) -> tuple[Any, Any]:
        """The smallest and the largest payoff: numbers, or arrays like the payoffs."""
        payoffs = np.broadcast_arrays(self.hit, self.false_alarm, self.miss, 0.0)
        low, high = np.minimum.reduce(payoffs), np.maximum.reduce(payoffs)
        return (low, high) if low.ndim else (float(low), float(high))

    def mean(self, c: ClassCounts) -> FloatArray:
        """Return the mean payoff of each segment; NaN where it has no rows."""
        p, (low, high) = c.positive, self.range
        hits, false_alarms, misses = (ratio(rows, p.total) for rows in (p.tp, p.fp, p.fn))
        mean = self.hit * hits + self.false_alarm * false_alarms + self.miss * misses
        return np.asarray(np.clip(mean, low, high), np.float64)

    def linearise(self, cells: SmoothedCells) -> Linearisation:
        """Linearise u = (f - low) / (high - low), where low and high are the range."""
        m, entries = cells.margins, cells.observed.entries
        c, (low, high) = m.counts, self.range
        is_positive = m.occurs & (c.label == c.pos_label)

        def of_positive(payoff: Payoff) -> FloatArray:
            scaled = np.broadcast_to(payoff / (high - low), c.n_segments)
            return np.where(is_positive, c.spread(scaled), 0)

        hit, false_alarm, miss = map(of_positive, (self.hit, self.false_alarm, self.miss))
        mean = c.sum(
            hit * m.correct + false_alarm * (m.predicted - m.correct) + miss * (m.true - m.correct)
        )
        centre = c.spread(mean)
        first = AdditiveDerivative(
            m, miss - centre, false_alarm, hit - centre, hit - miss - false_alarm
        )
        at_cells = first.at(entries)
        return Linearisation(
            cells.observed.weights,
            cells.added,
            mean - low / (high - low),
            at_cells,
            first.mean_square,
            first.mean_cube_and_fourth,
            lambda: -2 * at_cells,
            lambda: -2 * first.mean,
        )


@dataclass(frozen=True, slots=True)
class MeanPayoff(Linearised):
    """The mean payoff of a decision; two models are compared by the payoffs of the same rows.

    A row on which two models' payoffs differ by the share d of the most possible counts as d of a
    row that only one of them gets right, and 1 - d of a row on which they agree. The variance of
    such a split row is larger than that of the difference, so that limits are conservative.
    """

    of_rows: Payoffs = field(kw_only=True)

    @classmethod
    def of(cls, of_rows: Payoffs) -> "MeanPayoff":
        """Return the kind of interval of the mean of these payoffs."""
        return cls(of_rows.linearise, of_rows.range, of_rows=of_rows)

    @property
    def is_paired(self) -> bool:
        """Always: the denominator is all rows."""
        return True

    @property
    def _most(self) -> FloatArray:
        """The most by which two predictions of one row differ."""
        of_positive = np.asarray(self.of_rows.hit - self.of_rows.miss, np.float64)
        of_negative = np.asarray(self.of_rows.false_alarm, np.float64)
        return np.asarray(np.maximum(np.abs(of_positive), np.abs(of_negative)))

    def payoffs(self, c: ClassCounts, actual: Int64Array, outcome: Int64Array) -> FloatArray:
        """Return the payoff of each row, as a share of the most that two rows can differ."""
        is_positive, is_predicted = actual == c.pos_label, outcome == c.pos_label
        of_positive = np.where(is_predicted, self.of_rows.hit, self.of_rows.miss)
        of_negative = np.where(is_predicted, self.of_rows.false_alarm, 0.0)
        return np.asarray(np.where(is_positive, of_positive, of_negative) / self._most)

    def rescaled(self, c: ClassCounts, value: FloatArray) -> FloatArray:
        """Transform a share of the most that two rows can differ into a payoff."""
        return value * self._most
