"""The derivatives of averages over labels of TP over a linear form, for their confidence limits.

F1, F-beta, the Jaccard index and precision of a label are h = TP / D with

    D = alpha TP + beta P + gamma Q,

where P and Q are the rows of the label in the truth and the predictions. The average of h over
labels is equally weighted, weighted by P, or that of one label alone.

With the share of a cell (i, j) of wrong rows, P_i and Q_j grow, and in a cell of right rows all
three. So the derivative of an average is row_i + column_j in the cells of wrong rows. A change that
adds v to TP and delta to D has the derivatives

    h' = (v - h delta) / D,    h'' = -2 (delta / D) h'.

A weighted average is H / N with H = sum_k P_k h_k and N = sum_k P_k. From H' and H'' follow
(H / N)' = (H' - (H / N) N') / N and (H / N)'' = (H'' - 2 N' (H / N)') / N.
"""

from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray
from balframe.core.safe_divide import ratio
from balframe.stats.additive_derivative import AdditiveDerivative
from balframe.stats.delta_method import Linearisation
from balframe.stats.smoothed_cells import CellEntries, Margins, SmoothedCells

Average = Literal["macro", "weighted", "positive"]


@dataclass(frozen=True, slots=True)
class LabelRatio:
    """TP / (alpha TP + beta P + gamma Q) of each label.

    Parameters
    ----------
    alpha, beta, gamma : float
        The weights of the rows predicted right, of those that have the label, and of those that are
        predicted to have it.
    """

    alpha: float
    beta: float
    gamma: float


PRECISION = LabelRatio(0, 0, 1)
JACCARD = LabelRatio(-1, 1, 1)
F1 = LabelRatio(0, 0.5, 0.5)


def f_beta(beta: float) -> LabelRatio:
    """Return the F-score with recall beta times as important: (1 + b^2) TP / (b^2 P + Q)."""
    return LabelRatio(0, 1 / (1 + 1 / beta / beta), 1 / (1 + beta * beta))


def linearise_average(label: LabelRatio, average: Average, cells: SmoothedCells) -> Linearisation:
    """Linearise the average of a ratio over the labels of each segment."""
    m = cells.margins
    is_used = _labels_used(m, average)
    denominator = label.alpha * m.correct + label.beta * m.true + label.gamma * m.predicted
    is_defined = denominator > 0
    below = np.where(is_defined, denominator, 1)
    parts = _Parts(
        label,
        np.where(is_used & is_defined, 1 / below, 0),
        np.where(is_used, m.correct / below, 0),
    )
    if average == "weighted":
        derivatives = _weighted_mean(m, parts, is_used)
    else:
        derivatives = _mean(m, parts, is_used, whole_set=average == "macro")
    entries = cells.observed.entries
    first = derivatives.first.at(entries)
    return Linearisation(
        cells.observed.weights,
        cells.added,
        derivatives.value,
        first,
        derivatives.first.mean_square,
        derivatives.first.mean_cube_and_fourth,
        partial(derivatives.second_at, entries, first),
        derivatives.mean_second,
    )


def _labels_used(m: Margins, average: Average) -> BoolArray:
    """Return the entries of the labels that the average looks at."""
    c = m.counts
    if average == "positive":
        return np.asarray(m.occurs & (c.label == c.pos_label))
    return m.occurs if c.compared is None else np.asarray(m.occurs & c.compared)


@dataclass(frozen=True, slots=True)
class _Parts:
    """1 / D and h of each entry; 0 of labels that the average does not look at."""

    label: LabelRatio
    inverse: FloatArray
    ratio: FloatArray

    def derivatives(
        self, of_correct: float, of_denominator: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return h' and h'' of a change that adds these to TP and to D."""
        first = (of_correct - self.ratio * of_denominator) * self.inverse
        return first, -2 * of_denominator * self.inverse * first

    @property
    def of_true(self) -> tuple[FloatArray, FloatArray]:
        """Return h' and h'' of a row that has the label and is predicted to have another."""
        return self.derivatives(0, self.label.beta)

    @property
    def of_predicted(self) -> tuple[FloatArray, FloatArray]:
        """Return h' and h'' of a row that has another label and is predicted to have this one."""
        return self.derivatives(0, self.label.gamma)

    @property
    def of_right(self) -> tuple[FloatArray, FloatArray]:
        """Return h' and h'' of a row that has the label and is predicted to have it."""
        return self.derivatives(1, self.label.alpha + self.label.beta + self.label.gamma)


@dataclass(frozen=True, slots=True)
class _AverageDerivatives:
    """An average with its derivatives, of which the second ones are those of H / N.

    `second_row`, `second_column` and `second_right` are parts of H'' / N, like those of `first`.
    `growth` is N' / N of rows that have the label of each entry, and 0 if N does not change.
    """

    value: FloatArray
    first: AdditiveDerivative
    second: AdditiveDerivative
    growth: FloatArray

    def second_at(self, cells: CellEntries, first: FloatArray) -> FloatArray:
        """Return the second derivative in each of these cells, which have this first one."""
        return self.second.at(cells) - 2 * self.growth[cells.true] * first

    def mean_second(self) -> FloatArray:
        """Return the mean of the second derivative over all K^2 cells."""
        m, first = self.first.margins, self.first
        (row, row_distance), (column, _) = first.centred_row, first.centred_column
        growth, growth_distance = m.centred(self.growth)
        product = m.mean(growth_distance * row_distance) + growth * (row + column)
        product = product + ratio(m.mean(self.growth * first.step), m.n_labels)
        return self.second.mean - 2 * product


def _additive(
    m: Margins, row: FloatArray, column: FloatArray, right: FloatArray
) -> AdditiveDerivative:
    return AdditiveDerivative(m, row, column, right, right - row - column)


def _mean(m: Margins, h: _Parts, is_used: BoolArray, *, whole_set: bool) -> _AverageDerivatives:
    """Return the mean over the labels used; of `whole_set`, if absent labels count as 0."""
    size = m.counts.sum(is_used.astype(np.float64))
    if m.counts.absent == "zero" and whole_set:
        size = np.where(size > 0, m.counts.n_labels, 0.0)
    share = np.where(is_used, m.counts.spread(ratio(np.ones_like(size), size)), 0)
    first, second = (
        _additive(m, *(share * part[order] for part in (h.of_true, h.of_predicted, h.of_right)))
        for order in (0, 1)
    )
    return _AverageDerivatives(
        np.where(size > 0, m.counts.sum(share * h.ratio), np.nan),
        first,
        second,
        np.zeros_like(share),
    )


def _weighted_mean(m: Margins, h: _Parts, is_used: BoolArray) -> _AverageDerivatives:
    """Return the mean weighted by P; `absent="zero"` divides by all rows."""
    c = m.counts
    grows = m.occurs if c.absent == "zero" else is_used
    total = c.sum(np.where(grows, m.true, 0))
    value = ratio(c.sum(m.true * h.ratio), total)
    inverse, mean, p = c.spread(ratio(np.ones_like(total), total)), c.spread(value), m.true
    growth = np.where(grows, inverse, 0)
    gains, curves = [], []
    for (first, second), of_true in ((h.of_true, 1), (h.of_predicted, 0), (h.of_right, 1)):
        gain = of_true * h.ratio + p * first
        gains.append((gain - of_true * mean * grows) * inverse)
        curves.append((2 * of_true * first + p * second) * inverse)
    return _AverageDerivatives(value, _additive(m, *gains), _additive(m, *curves), growth)
