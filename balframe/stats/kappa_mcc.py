"""Kappa and Matthews' correlation as proportions of effective rows, for their confidence limits.

Both coefficients c lie between -1 and 1. u = (1 + c) / 2 is treated as a proportion with the
effective sample size that gives it the variance of the coefficient:
n_eff = (1 - c~^2) / sd~^2 n_K / (n_K + 2). c~ and its standard deviation sd~, by the delta method,
are those of the confusion matrix with two rows of the mean weight spread evenly over its K^2 cells,
so that a perfect score has a variance too. K is the number of labels that occur in the truth or the
predictions of the segment, and n_K = (sum w)^2 / sum w^2 (Kish).

With pi_ij the smoothed shares, S_ij the smoothed sums of squared weights and g_ij the derivative of
the coefficient by pi_ij, sd~^2 = sum_ij S_ij (g_ij - sum pi g)^2 / (sum w)^2. In both coefficients
g_ij - sum pi g = row_i + column_j - slope [i != j]. Its squares are summed over the observed cells
one by one, and over all K^2 cells, most of which are empty, from sums over the labels.

References
----------
E. L. Korn and B. I. Graubard, "Confidence intervals for proportions with small expected number of
positive counts estimated from survey data", Survey Methodology 1998, for effective rows. J. L.
Fleiss, J. Cohen and B. S. Everitt, "Large sample standard errors of kappa and weighted kappa",
Psychological Bulletin 1969, for the variance of kappa.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.cells import LEFT_OUT, Cells
from balframe.core.class_counts import ClassCounts
from balframe.core.safe_divide import ratio
from balframe.core.sample import Sample
from balframe.stats.cluster_influence import Influence, cr2_influence
from balframe.stats.effective_sample_size import kish_effective_size

_ROWS_ADDED = 2
_MIN_SPREAD = np.finfo(np.float64).eps  # of 1 - c^2, whose digits end there


@dataclass(frozen=True, slots=True)
class Margins:
    """The smoothed margins of the confusion matrices of all segments.

    `true` and `predicted` are the shares of each entry's label, with their complements. `wrong` is
    the share of wrong rows, `covariance` the sum of the covariances of the labels in truth and
    prediction, p_o - p_e, and `per_row` the share 1 / n_K of one row of the mean weight. Each is
    summed separately: differences lose digits where one cell has nearly all rows.
    """

    counts: ClassCounts
    occurs: BoolArray
    n_labels: FloatArray
    per_row: FloatArray
    true: FloatArray
    predicted: FloatArray
    not_true: FloatArray
    not_predicted: FloatArray
    wrong: FloatArray
    covariance: FloatArray

    @classmethod
    def of(cls, c: ClassCounts, rows_added: float = _ROWS_ADDED) -> "Margins":
        """Smooth the margins of class counts; NaN where squared weights leave the float range."""
        occurs = c.support + c.predicted > 0
        n_labels = np.bincount(c.segment[occurs], minlength=c.n_segments).astype(np.float64)
        per_row = ratio(np.ones(c.n_segments), kish_effective_size(c.total, c.squared.total))
        added, k = rows_added * per_row, n_labels
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
            per_row,
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

    def variance(self, values: FloatArray) -> FloatArray:
        """Average the squared distance from the mean over the labels of each segment."""
        return self.mean((values - self.counts.spread(self.mean(values))) ** 2)


@dataclass(frozen=True, slots=True)
class Derivative:
    """A smoothed coefficient of each segment, and its derivative by the share of a cell.

    The derivative, less its mean over the rows, is row_i + column_j, and less by `slope` in the
    cells of wrong rows. `value` and `slope` have the shape (segments,), `row` and `column`
    (entries,).
    """

    value: FloatArray
    slope: FloatArray
    row: FloatArray
    column: FloatArray


Coefficient = Callable[[Margins], Derivative]


def kappa(m: Margins) -> Derivative:
    """Return kappa and its derivative: g_ij = [d_ij - (p_i + t_j)(1 - kappa)] / (1 - p_e).

    t and p are the margins of truth and prediction, d_ij is 1 where i = j, and p_e = sum_k t_k p_k.
    """
    spread = m.counts.spread
    slope = ratio(np.ones_like(m.wrong), m.disagreement(m.true, m.not_predicted))
    complement = m.wrong * slope
    row = spread(complement) * (spread(slope) * m.not_predicted - 1)
    column = spread(complement * slope) * m.not_true
    return Derivative(1 - complement, slope, row, column)


def matthews_correlation(m: Margins) -> Derivative:
    """Return Matthews' correlation and its derivative.

    g_ij = [d_ij - p_i - t_j] / sqrt(BD) + MCC (p_j / B + t_i / D), where
    B = 1 - sum_k p_k^2 and D = 1 - sum_k t_k^2.
    """
    spread = m.counts.spread
    b, d = m.disagreement(m.predicted, m.not_predicted), m.disagreement(m.true, m.not_true)
    slope = ratio(np.ones_like(m.wrong), np.sqrt(b) * np.sqrt(d))
    value = m.covariance * slope
    row = spread(slope) * (m.not_predicted - spread(m.wrong)) - spread(ratio(value, d)) * m.not_true
    column = spread(slope) * m.not_true - spread(ratio(value, b)) * m.not_predicted
    return Derivative(value, slope, row, column)


def coefficient_effective_size(
    coefficient: Coefficient, c: ClassCounts, cells: Cells
) -> FloatArray:
    """Return the effective sample size of a coefficient in every segment.

    NaN where fewer than two labels occur or squared weights leave the range of a float.
    """
    m = Margins.of(c)
    derivative = coefficient(m)
    observed = _observed_variance(m, derivative, cells)
    variance = observed + _ROWS_ADDED * m.per_row**2 * _mean_square_derivative(m, derivative)
    spread = np.maximum(1 - derivative.value**2, _MIN_SPREAD)
    return ratio(spread * (1 + _ROWS_ADDED * m.per_row), variance)


def coefficient_influence(coefficient: Coefficient, sample: Sample) -> Influence:
    """Return the influence of each cluster on a coefficient: the derivative summed over rows."""
    c, clusters = sample.counts, sample.clusters
    assert clusters is not None
    derivative, cells = coefficient(Margins.of(c, rows_added=0)), clusters.pairs.cells()
    pair = cells.segments[0]
    centred = _centred_derivative(derivative, c, clusters.segment[pair], cells)
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


def _mean_square_derivative(m: Margins, derivative: Derivative) -> FloatArray:
    """Average the squared derivative over all cells, by an analysis of variance."""
    k, row, column, slope = m.n_labels, derivative.row, derivative.column, derivative.slope
    mean = m.mean(row) + m.mean(column) - slope * ratio(k - 1, k)
    off_diagonal = slope**2 * ratio(k - 1, k * k)
    return m.variance(row) + m.variance(column) + off_diagonal + mean**2


def _observed_variance(m: Margins, derivative: Derivative, cells: Cells) -> FloatArray:
    """Add up the squared derivative over the observed cells, by their sums of squared weights."""
    c = m.counts
    used = np.flatnonzero(cells.actual != LEFT_OUT)
    segment = cells.segments[0][used]
    used_cells = Cells((segment,), cells.actual[used], cells.outcome[used], cells.sums.at(used))
    centred = _centred_derivative(derivative, c, segment, used_cells)
    total = c.total[segment]
    share = ratio(ratio(cells.squares[used], total), total)
    sums = np.bincount(segment, weights=share * centred**2, minlength=c.n_segments)
    return np.asarray(sums, np.float64)


def _centred_derivative(
    derivative: Derivative, c: ClassCounts, segment: Int64Array, cells: Cells
) -> FloatArray:
    """Return the derivative, less its mean over the rows, in each cell of these segments."""
    true, predicted = (_entries(c, segment, label) for label in (cells.actual, cells.outcome))
    slope = np.where(true != predicted, derivative.slope[segment], 0)
    return np.asarray(derivative.row[true] + derivative.column[predicted] - slope)


def _entries(c: ClassCounts, segment: Int64Array, label: Int64Array) -> Int64Array:
    """Return the positions of the entries of pairs of segment and label."""
    return np.searchsorted(c.segment * c.n_labels + c.label, segment * c.n_labels + label)
