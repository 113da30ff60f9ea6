"""The derivatives of kappa and Matthews' correlation, for their confidence limits.

Both coefficients c lie between -1 and 1, and u = (1 + c) / 2 is linearised as in
`balframe.stats.delta_method`. K is the number of labels that occur in the truth or the predictions
of the segment.

With g_ij the derivative of the coefficient by the smoothed share pi_ij of a cell, in both
coefficients d_ij = g_ij - sum pi g = row_i + column_j - slope [i != j]. Its powers are summed over
the observed cells one by one, and over all K^2 cells, most of which are empty, from sums over the
labels. The second derivatives have the form

-2 (a_i + b_j) d_ij + square (b_j - a_i)^2 - slope2 [i != j].

References
----------
E. L. Korn and B. I. Graubard, "Confidence intervals for proportions with small expected number of
positive counts estimated from survey data", Survey Methodology 1998, for effective rows. J. L.
Fleiss, J. Cohen and B. S. Everitt, "Large sample standard errors of kappa and weighted kappa",
Psychological Bulletin 1969, for the variance of kappa.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.cells import LEFT_OUT, Cells
from balframe.core.class_counts import ClassCounts
from balframe.core.counting_strategy import most_levels
from balframe.core.safe_divide import ratio
from balframe.core.sample import Sample
from balframe.stats.cluster_influence import Influence, cr2_influence
from balframe.stats.delta_method import ROWS_ADDED, CellWeights, Linearisation
from balframe.stats.effective_sample_size import kish_effective_size


@dataclass(frozen=True, slots=True)
class Margins:
    """The smoothed margins of the confusion matrices of all segments.

    `true` and `predicted` are the shares of each entry's label, with their complements. `wrong` is
    the share of wrong rows, `covariance` the sum of the covariances of the labels in truth and
    prediction, p_o - p_e. Each is summed separately: differences lose digits where one cell has
    nearly all rows.
    """

    counts: ClassCounts
    occurs: BoolArray
    n_labels: FloatArray
    true: FloatArray
    predicted: FloatArray
    not_true: FloatArray
    not_predicted: FloatArray
    wrong: FloatArray
    covariance: FloatArray

    @classmethod
    def of(cls, c: ClassCounts, added_row: FloatArray) -> "Margins":
        """Smooth the margins of class counts by two rows of this share of the weight each."""
        occurs = c.support + c.predicted > 0
        n_labels = np.bincount(c.segment[occurs], minlength=c.n_segments).astype(np.float64)
        added, k = ROWS_ADDED * added_row, n_labels
        added_to_cell = ratio(added, k * k)

        def smooth(weight: FloatArray, n_cells: FloatArray) -> FloatArray:
            share = ratio(weight, c.spread(c.total)) + c.spread(added_to_cell * n_cells)
            return np.where(occurs, share / c.spread(1 + added), 0)

        tp, tn = smooth(c.correct, np.ones_like(k)), smooth(c.true_negatives, (k - 1) ** 2)
        fn, fp = (smooth(weight, k - 1) for weight in (c.missed, c.false_alarms))
        return cls(
            c,
            occurs,
            n_labels,
            tp + fn,
            tp + fp,
            smooth(c.others(c.support), k * (k - 1)),
            smooth(c.others(c.predicted), k * (k - 1)),
            c.sum(fn),
            c.sum(tp * tn - fn * fp),
        )

    def disagreement(self, p: FloatArray, not_q: FloatArray) -> FloatArray:
        """Return how often independent draws from margins p and q differ: 1 - sum_k p_k q_k."""
        return self.counts.sum(p * not_q)

    def mean(self, values: FloatArray) -> FloatArray:
        """Average over the labels of each segment."""
        return ratio(self.counts.sum(np.where(self.occurs, values, 0)), self.n_labels)

    def centred(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the mean over the labels of each segment, and the distances from it."""
        mean = self.mean(values)
        return mean, values - self.counts.spread(mean)


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


@dataclass(frozen=True)
class CellEntries:
    """The segment of cells, and the positions of the entries of their true and predicted labels."""

    segment: Int64Array
    true: Int64Array
    predicted: Int64Array

    @classmethod
    def of(cls, c: ClassCounts, segment: Int64Array, cells: Cells) -> "CellEntries":
        """Find the entries of cells of these segments."""
        entries, begin = c.segment * c.n_labels + c.label, segment * c.n_labels
        true, predicted = begin + cells.actual, begin + cells.outcome
        size = c.n_segments * c.n_labels
        if size > most_levels(len(begin)):
            return cls(segment, *(np.searchsorted(entries, key) for key in (true, predicted)))
        position = np.zeros(size, np.int64)
        position[entries] = np.arange(len(entries))
        return cls(segment, position[true], position[predicted])

    @cached_property
    def is_wrong(self) -> FloatArray:
        """1 in the cells of wrong rows, 0 in others."""
        return np.asarray(self.true != self.predicted, np.float64)


@dataclass(frozen=True)
class LinearisedCoefficient:
    """u = (1 + coefficient) / 2, linearised in every segment.

    Parameters
    ----------
    coefficient : function
        `kappa` or `matthews_correlation`.
    counts : ClassCounts
        The counts of the segments.
    cells : CellEntries
        The entries of the cells of each segment.
    weights : CellWeights
        The weights of these cells.
    """

    coefficient: Coefficient
    counts: ClassCounts
    cells: CellEntries
    weights: CellWeights

    @classmethod
    def of(cls, coefficient: Coefficient, sample: Sample) -> "LinearisedCoefficient":
        """Linearise a coefficient of a sample, whose cells several of them share."""
        cells, weights = sample.once(_entries_and_weights, lambda: _entries_and_weights(sample))
        return cls(coefficient, sample.counts, cells, weights)

    @cached_property
    def by_mean(self) -> Linearisation:
        """At cells smoothed by rows of the mean weight."""
        return self._smoothed_by(self.weights.mean)

    @cached_property
    def by_largest(self) -> Linearisation:
        """At cells smoothed by rows of the largest weight."""
        has_weights = self.counts.squares is not None
        return self._smoothed_by(self.weights.largest_of_segment) if has_weights else self.by_mean

    def _smoothed_by(self, added: FloatArray) -> Linearisation:
        m, cells = Margins.of(self.counts, added), self.cells
        derivative = self.coefficient(m).of_proportion()
        first, all_cells = _centred_derivative(derivative, cells), _AllCells(m, derivative)
        return Linearisation(
            self.weights,
            added,
            derivative.value,
            first,
            all_cells.mean_square,
            all_cells.mean_cube_and_fourth,
            lambda: _second_derivative(derivative, cells, first),
            all_cells.mean_second,
        )


def coefficient_influence(coefficient: Coefficient, sample: Sample) -> Influence:
    """Return the influence of each cluster on a coefficient: the derivative summed over rows."""
    c, clusters = sample.counts, sample.clusters
    assert clusters is not None
    cells = clusters.pairs.cells()
    derivative = coefficient(Margins.of(c, np.zeros(c.n_segments)))
    pair = cells.segments[0]
    centred = _centred_derivative(derivative, CellEntries.of(c, clusters.segment[pair], cells))
    n = clusters.pairs.counts.total
    row_share = n / c.total[clusters.segment]
    sums = np.bincount(pair, weights=cells.n * centred, minlength=len(n))
    squares = np.bincount(pair, weights=cells.n * centred**2, minlength=len(n))
    iid_variance = ratio(clusters.sum(squares), c.total**2)
    return Influence(
        clusters.segment,
        clusters.cluster,
        clusters.times,
        cr2_influence(sums, c.total[clusters.segment], row_share),
        iid_variance[clusters.segment] * row_share,
        n,
        iid_variance,
    )


def _entries_and_weights(sample: Sample) -> tuple[CellEntries, CellWeights]:
    """Return the entries and the weights of the cells; NaN where squares leave the float range."""
    c, cells = sample.counts, _with_rows(sample.cells())
    mean = ratio(np.ones(c.n_segments), kish_effective_size(c.total, c.squared.total))
    (segment,) = cells.by
    total = c.total[segment]
    square = ratio(ratio(cells.squares, total), total)
    weights = CellWeights(segment, square, ratio(cells.largest, total), mean)
    return CellEntries.of(c, segment, cells), weights


def _with_rows(cells: Cells) -> Cells:
    """Leave out the cells without rows; the position of the segment becomes the only by-column."""
    used = np.flatnonzero(cells.actual != LEFT_OUT)
    segment = cells.segments[0][used]
    return Cells((segment,), cells.actual[used], cells.outcome[used], cells.sums.at(used))


def _centred_derivative(derivative: Derivative, cells: CellEntries) -> FloatArray:
    """Return the derivative, less its mean over the rows, in each cell."""
    slope = derivative.slope[cells.segment] * cells.is_wrong
    return np.asarray(derivative.row[cells.true] + derivative.column[cells.predicted] - slope)


def _second_derivative(d: Derivative, cells: CellEntries, first: FloatArray) -> FloatArray:
    """Return the second derivative in each cell, from the first one less its mean."""
    row, column = d.second_row[cells.true], d.second_column[cells.predicted]
    out = -2 * (row + column) * first
    if d.second_square.any():
        out += d.second_square[cells.segment] * (column - row) ** 2
    if d.second_slope.any():
        out -= d.second_slope[cells.segment] * cells.is_wrong
    return out


@dataclass(frozen=True)
class _AllCells:
    """The derivatives over all K^2 cells, most of which are empty, from sums over the labels."""

    margins: Margins
    derivative: Derivative

    @cached_property
    def _row(self) -> tuple[FloatArray, FloatArray]:
        return self.margins.centred(self.derivative.row)

    @cached_property
    def _column(self) -> tuple[FloatArray, FloatArray]:
        return self.margins.centred(self.derivative.column)

    @cached_property
    def _variances(self) -> tuple[FloatArray, FloatArray]:
        mean = self.margins.mean
        return mean(self._row[1] * self._row[1]), mean(self._column[1] * self._column[1])

    @cached_property
    def _share_wrong(self) -> FloatArray:
        k = self.margins.n_labels
        return ratio(k - 1, k)

    @cached_property
    def mean(self) -> FloatArray:
        """Mean of the derivative."""
        return self._row[0] + self._column[0] - self.derivative.slope * self._share_wrong

    @property
    def mean_square(self) -> FloatArray:
        """Mean square of the derivative, by an analysis of variance."""
        row, column = self._variances
        slope = self.derivative.slope
        off_diagonal = slope**2 * ratio(self._share_wrong, self.margins.n_labels)
        return row + column + off_diagonal + self.mean**2

    def mean_cube_and_fourth(self) -> tuple[FloatArray, FloatArray]:
        """Return the means of the third and of the fourth power of the derivative."""
        m, d = self.margins, self.derivative
        cube, fourth = self._powers_of_wrong()
        right, slope = d.row + d.column, m.counts.spread(d.slope)
        wrong = right - slope
        right_sq, wrong_sq = right * right, wrong * wrong
        # on the diagonal, right^3 - wrong^3 and right^4 - wrong^4 without their cancellation
        cubes = m.mean(slope * (right_sq + right * wrong + wrong_sq))
        fourths = m.mean(slope * (right + wrong) * (right_sq + wrong_sq))
        return cube + ratio(cubes, m.n_labels), fourth + ratio(fourths, m.n_labels)

    def _powers_of_wrong(self) -> tuple[FloatArray, FloatArray]:
        """Average (row_i + column_j - slope)^3, and ^4, as if all cells were of wrong rows."""
        (row_mean, row), (column_mean, column) = self._row, self._column
        row_sq, column_sq = row * row, column * column
        row_variance, column_variance = self._variances
        cubes = self.margins.mean(row_sq * row + column_sq * column)
        fourths = self.margins.mean(row_sq * row_sq + column_sq * column_sq)
        fourths = fourths + 6 * row_variance * column_variance
        mean = row_mean + column_mean - self.derivative.slope
        squares, mean_sq = row_variance + column_variance, mean * mean
        return (
            cubes + 3 * mean * squares + mean * mean_sq,
            fourths + 4 * mean * cubes + 6 * mean_sq * squares + mean_sq * mean_sq,
        )

    def mean_second(self) -> FloatArray:
        """Return the mean of the second derivative."""
        m, d = self.margins, self.derivative
        (row, row_distance), (column, column_distance) = map(
            m.centred, (d.second_row, d.second_column)
        )
        product = m.mean(self._row[1] * row_distance + self._column[1] * column_distance)
        square = m.mean(row_distance**2 + column_distance**2) + (column - row) ** 2
        return (
            d.second_square * square
            - 2 * (product + (row + column) * self.mean)
            - d.second_slope * self._share_wrong
        )
