"""Kappa and Matthews' correlation as proportions of effective rows, for their confidence limits.

Both coefficients c lie between -1 and 1, so that u = (1 + c) / 2 is treated as a proportion, with
as many rows as would give it the variance that it has: n_eff = (1 - c~^2) / sd~^2 n_K / (n_K + 2).
c~ and its standard deviation sd~, by the delta method, are those of the confusion matrix with two
rows of the mean weight spread evenly over its K^2 cells, so that a perfect score has a variance
too. K is the number of labels that occur in the truth or the predictions of the segment, and
n_K = (sum w)^2 / sum w^2.

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
from balframe.stats.cluster_influence import Influence, influence_of
from balframe.stats.effective_sample_size import kish

_ROWS_ADDED = 2
_LEAST_SPREAD = np.finfo(np.float64).eps  # of 1 - c^2, whose digits end there


@dataclass(frozen=True, slots=True)
class Margins:
    """The smoothed margins of the confusion matrices of all segments.

    `true` and `predicted` are the shares of each entry's label, with their complements. `wrong` is
    the share of wrong rows, `covariance` the sum of the covariances of the labels in truth and
    prediction, p_o - p_e, and `per_row` the share 1 / n_K of one row of the mean weight. Each is a
    sum of its own: differences have few digits left where one cell has nearly all rows.
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
        """Smooth the margins of class counts; NaN where squares of weights are out of range."""
        occurs = c.support + c.predicted > 0
        n_labels = np.bincount(c.segment[occurs], minlength=c.n_segments).astype(np.float64)
        per_row = ratio(np.ones(c.n_segments), kish(c.total, c.squared.total))
        added, k = rows_added * per_row, n_labels
        once = ratio(added, k * k)  # what each cell gains

        def smoothed(weight: FloatArray, n_cells: FloatArray) -> FloatArray:
            share = ratio(weight, c.spread(c.total)) + c.spread(once * n_cells)
            return np.where(occurs, share / c.spread(1 + added), 0)

        hit, rest = smoothed(c.correct, np.ones_like(k)), smoothed(c.true_negatives, (k - 1) ** 2)
        missed, false_alarms = (smoothed(v, k - 1) for v in (c.missed, c.false_alarms))
        return cls(
            c,
            occurs,
            n_labels,
            per_row,
            hit + missed,
            hit + false_alarms,
            smoothed(c.others(c.support), k * (k - 1)),
            smoothed(c.others(c.predicted), k * (k - 1)),
            c.sum(missed),
            c.sum(hit * rest - missed * false_alarms),
        )

    def differ(self, one: FloatArray, not_other: FloatArray) -> FloatArray:
        """Find how often independent draws from two margins differ: 1 - sum_k one_k other_k."""
        return self.counts.sum(one * not_other)

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
    """Derive kappa: g_ij = [d_ij - (p_i + t_j)(1 - kappa)] / (1 - p_e).

    t and p are the margins of truth and prediction, d_ij is 1 where i = j, and p_e = sum_k t_k p_k.
    """
    spread = m.counts.spread
    slope = ratio(np.ones_like(m.wrong), m.differ(m.true, m.not_predicted))
    rest = m.wrong * slope
    row = spread(rest) * (spread(slope) * m.not_predicted - 1)
    column = spread(rest * slope) * m.not_true
    return Derivative(1 - rest, slope, row, column)


def correlation(m: Margins) -> Derivative:
    """Derive the correlation: g_ij = [d_ij - p_i - t_j] / sqrt(BD) + MCC (p_j / B + t_i / D).

    B = 1 - sum_k p_k^2 and D = 1 - sum_k t_k^2.
    """
    spread = m.counts.spread
    b, d = m.differ(m.predicted, m.not_predicted), m.differ(m.true, m.not_true)
    slope = ratio(np.ones_like(m.wrong), np.sqrt(b) * np.sqrt(d))
    value = m.covariance * slope
    row = spread(slope) * (m.not_predicted - spread(m.wrong)) - spread(ratio(value, d)) * m.not_true
    column = spread(slope) * m.not_true - spread(ratio(value, b)) * m.not_predicted
    return Derivative(value, slope, row, column)


def effective_rows(coefficient: Coefficient, c: ClassCounts, cells: Cells) -> FloatArray:
    """Count the effective rows of a coefficient in every segment.

    NaN where fewer than two labels occur or squares of weights left the range of a float.
    """
    m = Margins.of(c)
    of = coefficient(m)
    observed, everywhere = _over_observed(m, of, cells), _over_all(m, of)
    variance = observed + _ROWS_ADDED * m.per_row**2 * everywhere
    spread = np.maximum(1 - of.value**2, _LEAST_SPREAD)
    return ratio(spread * (1 + _ROWS_ADDED * m.per_row), variance)


def influence_on_coefficient(coefficient: Coefficient, sample: Sample) -> Influence:
    """Find the influence of each cluster on a coefficient: its derivative, summed over the rows."""
    c, clusters = sample.counts, sample.clusters
    assert clusters is not None
    m = Margins.of(c, rows_added=0)
    of, cells = coefficient(m), clusters.pairs.cells()
    pair = cells.segments[0]
    distance = _distance(of, c, clusters.segment[pair], cells)
    n = clusters.pairs.counts.total
    held = n / c.total[clusters.segment]
    sums = np.bincount(pair, weights=cells.n * distance, minlength=len(n))
    squares = np.bincount(pair, weights=cells.n * distance**2, minlength=len(n))
    of_rows = ratio(clusters.sum(squares), c.total**2)
    return Influence(
        clusters.segment,
        clusters.cluster,
        clusters.times,
        influence_of(sums, c.total[clusters.segment], held),
        of_rows[clusters.segment] * held,
        held,
        of_rows,
    )


def _over_all(m: Margins, of: Derivative) -> FloatArray:
    """Average the squared derivative over all cells, by an analysis of its variance."""
    k = m.n_labels
    mean = m.mean(of.row) + m.mean(of.column) - of.slope * ratio(k - 1, k)
    beside = of.slope**2 * ratio(k - 1, k * k)
    return m.variance(of.row) + m.variance(of.column) + beside + mean**2


def _over_observed(m: Margins, of: Derivative, cells: Cells) -> FloatArray:
    """Add up the squared derivative over the observed cells, by their sums of squared weights."""
    c = m.counts
    counted = np.flatnonzero(cells.actual != LEFT_OUT)
    segment = cells.segments[0][counted]
    held = Cells((segment,), cells.actual[counted], cells.outcome[counted], cells.sums.at(counted))
    distance = _distance(of, c, segment, held)
    total = c.total[segment]
    share = ratio(ratio(cells.squares[counted], total), total)
    sums = np.bincount(segment, weights=share * distance**2, minlength=c.n_segments)
    return np.asarray(sums, np.float64)


def _distance(of: Derivative, c: ClassCounts, segment: Int64Array, cells: Cells) -> FloatArray:
    """Give the derivative, less its mean over the rows, in each cell of these segments."""
    true, predicted = (_entries(c, segment, v) for v in (cells.actual, cells.outcome))
    is_wrong = true != predicted
    slope = np.where(is_wrong, of.slope[segment], 0)
    return np.asarray(of.row[true] + of.column[predicted] - slope)


def _entries(c: ClassCounts, segment: Int64Array, label: Int64Array) -> Int64Array:
    """Find the entries of pairs of segment and label."""
    return np.searchsorted(c.segment * c.n_labels + c.label, segment * c.n_labels + label)
