"""The derivatives of kappa and Matthews' correlation, for their confidence limits.

Both coefficients c lie between -1 and 1, and u = (1 + c) / 2 is linearised as in
`balframe.stats.delta_method`. K is the number of labels that occur in the truth or the predictions
of the segment.

With g_ij the derivative of the coefficient by the smoothed share pi_ij of a cell, in both
coefficients d_ij = g_ij - sum pi g = row_i + column_j - slope [i != j]. The second derivatives have
the form

-2 (a_i + b_j) d_ij + square (b_j - a_i)^2 - slope2 [i != j].

References
----------
J. L. Fleiss, J. Cohen and B. S. Everitt, "Large sample standard errors of kappa and weighted
kappa", Psychological Bulletin 1969, for the variance of kappa.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from balframe.core.array_types import FloatArray
from balframe.core.safe_divide import ratio
from balframe.stats.additive_derivative import AdditiveDerivative
from balframe.stats.delta_method import Linearisation
from balframe.stats.smoothed_cells import CellEntries, Margins, SmoothedCells


@dataclass(frozen=True, slots=True)
class Derivative:
    """A smoothed coefficient of each segment, and its derivative by the share of a cell.

    The derivative, less its mean over the rows, is row_i + column_j, and less by `slope` in the
    cells of wrong rows. The second derivative is that times -2 (a_i + b_j), plus
    `second_square` (b_j - a_i)^2, and less by `second_slope` in the cells of wrong rows; a is
    `second_row` and b `second_column`. What belongs to a row or a column has the shape (entries,),
    the others (segments,).
    """

    value: FloatArray
    slope: FloatArray
    row: FloatArray
    column: FloatArray
    second_row: FloatArray
    second_column: FloatArray
    second_square: FloatArray
    second_slope: FloatArray

    def of_proportion(self) -> "Derivative":
        """Return u = (1 + value) / 2 and its derivative."""
        return Derivative(
            (1 + self.value) / 2,
            self.slope / 2,
            self.row / 2,
            self.column / 2,
            self.second_row,
            self.second_column,
            self.second_square / 2,
            self.second_slope / 2,
        )


Coefficient = Callable[[Margins], Derivative]


def kappa(m: Margins) -> Derivative:
    """Return kappa and its derivative: g_ij = [d_ij - (p_i + t_j)(1 - kappa)] / (1 - p_e).

    t and p are the margins of truth and prediction, d_ij is 1 where i = j, and p_e = sum_k t_k p_k.
    The second derivative is -2 q_ij (g_ij - sum pi g) - 2 kappa [i != j] / (1 - p_e) with
    q_ij = (2 - p_i - t_j) / (1 - p_e).
    """
    spread = m.counts.spread
    slope = ratio(np.ones_like(m.wrong), m.disagreement(m.true, m.not_predicted))
    complement = m.wrong * slope
    value = 1 - complement
    second_row, second_column = spread(slope) * m.not_predicted, spread(slope) * m.not_true
    row, column = spread(complement) * (second_row - 1), spread(complement) * second_column
    no_square, wrong = np.zeros_like(slope), 2 * value * slope
    return Derivative(value, slope, row, column, second_row, second_column, no_square, wrong)


def matthews_correlation(m: Margins) -> Derivative:
    """Return Matthews' correlation and its derivative.

    g_ij = [d_ij - p_i - t_j] / sqrt(BD) + MCC (p_j / B + t_i / D), where
    B = 1 - sum_k p_k^2 and D = 1 - sum_k t_k^2. The second derivative is
    -2 (b_j + d_i) (g_ij - sum pi g) + MCC (b_j - d_i)^2 with b_j = (1 - p_j) / B and
    d_i = (1 - t_i) / D.
    """
    spread = m.counts.spread
    b, d = m.disagreement(m.predicted, m.not_predicted), m.disagreement(m.true, m.not_true)
    slope = ratio(np.ones_like(m.wrong), np.sqrt(b) * np.sqrt(d))
    value = m.covariance * slope
    second_row, second_column = ratio(m.not_true, spread(d)), ratio(m.not_predicted, spread(b))
    row = spread(slope) * (m.not_predicted - spread(m.wrong)) - spread(value) * second_row
    column = spread(slope) * m.not_true - spread(value) * second_column
    return Derivative(
        value, slope, row, column, second_row, second_column, value, np.zeros_like(value)
    )


def linearise_coefficient(coefficient: Coefficient, cells: SmoothedCells) -> Linearisation:
    """Linearise u = (1 + coefficient) / 2."""
    m, entries = cells.margins, cells.observed.entries
    derivative = coefficient(m).of_proportion()
    additive = _additive(m, derivative)
    first = additive.at(entries)
    return Linearisation(
        cells.observed.weights,
        cells.added,
        derivative.value,
        first,
        additive.mean_square,
        additive.mean_cube_and_fourth,
        partial(_second_derivative, derivative, entries, first),
        partial(_mean_second_derivative, derivative, additive),
    )


def _additive(m: Margins, d: Derivative) -> AdditiveDerivative:
    """Return the derivative in all cells."""
    slope = m.counts.spread(d.slope)
    return AdditiveDerivative(m, d.row - slope, d.column, d.row + d.column, slope)


def _second_derivative(d: Derivative, cells: CellEntries, first: FloatArray) -> FloatArray:
    """Return the second derivative in each cell, from the first one less its mean."""
    row, column = d.second_row[cells.true], d.second_column[cells.predicted]
    out = -2 * (row + column) * first
    if d.second_square.any():
        out += d.second_square[cells.segment] * (column - row) ** 2
    if d.second_slope.any():
        out -= d.second_slope[cells.segment] * cells.is_wrong
    return out


def _mean_second_derivative(d: Derivative, first: AdditiveDerivative) -> FloatArray:
    """Return the mean of the second derivative over all K^2 cells.

    a and b stand for the parts of a row and of a column. The mean of (a_i + b_j) d_ij is that of
    the cells as if all were of wrong rows, with what right rows have beyond it.
    """
    m = first.margins
    (row, row_distance), (column, column_distance) = map(m.centred, (d.second_row, d.second_column))
    own_row, own_column = first.centred_row[1], first.centred_column[1]
    distances = m.mean(own_row * row_distance + own_column * column_distance)
    of_wrong = first.centred_row[0] + first.centred_column[0]
    diagonal = m.mean((d.second_row + d.second_column) * first.step)
    product = distances + (row + column) * of_wrong + ratio(diagonal, m.n_labels)
    square = m.mean(row_distance**2 + column_distance**2) + (column - row) ** 2
    share_wrong = ratio(m.n_labels - 1, m.n_labels)
    return d.second_square * square - 2 * product - d.second_slope * share_wrong
