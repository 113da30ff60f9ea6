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

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.safe_divide import ratio
from balframe.stats.additive_derivative import AdditiveDerivative
from balframe.stats.batching import group_by_label_count
from balframe.stats.delta_method import ROWS_ADDED, Linearisation
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


_BLOCK_SIZE = 2**18  # cells at once


def linearise_weighted_kappa(power: int, cells: SmoothedCells) -> Linearisation:
    """Linearise u = (1 + kappa) / 2 for distances |i - j|**power between positions of labels."""
    c, entries = cells.margins.counts, cells.observed.entries
    steps = c.label[entries.true] - c.label[entries.predicted]
    distance = np.abs(steps).astype(np.float64) ** power
    observed = np.bincount(entries.segment, distance * cells.observed.share, c.n_segments)
    k = _kappa_of_all_cells(power, cells, np.asarray(observed, np.float64))
    expected = k.of_true[entries.true] + k.of_predicted[entries.predicted]
    inverse, complement = k.inverse[entries.segment], k.complement[entries.segment]
    first = (distance + k.distance[entries.segment] - complement * expected) * inverse

    def second() -> FloatArray:
        return np.asarray(-((1 - complement) * distance - expected * first) * inverse)

    cube, fourth = k.mean_powers[1] / -8, k.mean_powers[2] / 16
    return Linearisation(
        cells.observed.weights,
        cells.added,
        1 - k.complement / 2,
        -first / 2,
        k.mean_powers[0] / 4,
        lambda: (cube, fourth),
        second,
        lambda: -k.mean_second / 2,
    )


@dataclass(frozen=True, slots=True)
class _KappaParts:
    """A, 1 / B and c of each segment, a and b of each entry, and means over all cells.

    `mean_powers` are the means of the second to the fourth power of c', of the shape (3, segments).
    """

    distance: FloatArray
    inverse: FloatArray
    complement: FloatArray
    of_true: FloatArray
    of_predicted: FloatArray
    mean_powers: FloatArray
    mean_second: FloatArray


def _kappa_of_all_cells(power: int, cells: SmoothedCells, observed: FloatArray) -> _KappaParts:
    """Compute the parts of kappa, from the mean distance of the observed rows."""
    m = cells.margins
    c = m.counts
    of_entries, of_segments = np.zeros((2, len(c.segment))), np.full((7, c.n_segments), np.nan)
    order = np.flatnonzero(m.occurs)
    for segments, at in group_by_label_count(c.segment[order], c.n_segments, order):
        size = max(_BLOCK_SIZE // at.shape[1] ** 2, 1)
        for begin in range(0, len(segments), size):
            block, rows = segments[begin : begin + size], at[begin : begin + size]
            added = cells.added_to_cell[block]
            whole = 1 + ROWS_ADDED * cells.added[block]
            margins = m.true[rows], m.predicted[rows]
            of_entries[:, rows], of_segments[:, block] = _of_block(
                _distances(c.label[rows], power), *margins, observed[block], added, whole
            )
    distance, inverse, complement = of_segments[:3]
    of_true, of_predicted = of_entries
    means, second = of_segments[3:6], of_segments[6]
    return _KappaParts(distance, inverse, complement, of_true, of_predicted, means, second)


def _distances(label: Int64Array, power: int) -> FloatArray:
    """Return the distances of all pairs of labels, of the shape (segments, K, K)."""
    steps = np.abs(label[:, :, None] - label[:, None, :])
    return np.asarray(steps.astype(np.float64) ** power)


def _of_block(
    w: FloatArray,
    true: FloatArray,
    predicted: FloatArray,
    observed: FloatArray,
    added: FloatArray,
    whole: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return a and b of the labels, and the parts of segments with equally many labels."""
    a, b = np.einsum("sij,sj->si", w, predicted), np.einsum("sij,si->sj", w, true)
    distance = (observed + added * w.sum(axis=(1, 2))) / whole
    inverse = ratio(np.ones(len(w)), (true * a).sum(axis=1))
    complement = distance * inverse
    expected = a[:, :, None] + b[:, None, :]
    c, over = complement[:, None, None], inverse[:, None, None]
    first = (w + distance[:, None, None] - c * expected) * over
    squares = first * first
    means = [values.mean(axis=(1, 2)) for values in (squares, squares * first, squares * squares)]
    second = (2 * ((1 - c) * w - expected * first) * over).mean(axis=(1, 2))
    return np.stack([a, b]), np.stack([distance, inverse, complement, *means, second])
