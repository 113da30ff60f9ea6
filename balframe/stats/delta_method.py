"""Limits of any smooth function of the confusion matrix, by the delta method.

A function f of the cells of a segment, with the finite range [low, high], stays the same if all
cells are multiplied by a number. u = (f - low) / (high - low) is treated as a proportion of n_eff
rows, which gives it the variance of the delta method. Cells are smoothed: two rows are spread
evenly over all K^2 cells, where K labels occur in the truth or the predictions, so that a perfect
score varies too.

With shares pi_ij = m_ij / T of the smoothed cells, sums of squared weights S2_ij, and
d = du/dpi_ij less its mean over the rows:

- variance V = sum S2 d^2 / T^2, and n_eff = u (1 - u) / V n_K / (n_K + 2), n_K of Kish;
- skewness sum S3 d^3 / (sum S2 d^2)^1.5 and excess kurtosis sum S4 d^4 / (sum S2 d^2)^2, where
  S3 = S2 times the largest weight of the cell, and S4 = S3 times the mean weight;
- bias B = sum S2 d2u/dpi_ij^2 / (2 T^2). Mixed second derivatives cancel, as f has degree 0.

An exact binomial limit allows for the skewness (1 - 2u) / sqrt(n u (1 - u)) and the excess kurtosis
(1 - 3u (1 - u)) / (n u (1 - u)) of a proportion. What u has beyond these moves the tail of the
limit, as in an Edgeworth expansion of a studentised mean. Where they are large, the result depends
on fewer than 16 rows, and there are no limits.

References
----------
E. L. Korn and B. I. Graubard, "Confidence intervals for proportions with small expected number of
positive counts estimated from survey data", Survey Methodology 1998, for effective rows. P. Hall,
"The Bootstrap and Edgeworth Expansion", 1992, section 2.6, for a studentised mean: its quantile
moves by skewness (2 z^2 + 1) / 6.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.safe_divide import ratio
from balframe.stats.lazy_scipy import special
from balframe.stats.proportions import Limits, clopper_pearson_at, normal_quantile, wilson

ROWS_ADDED = 2
MAX_EXCESS = 0.25  # beyond it fewer than 16 rows determine the result
_MIN_VARIANCE = np.finfo(np.float64).eps / 4  # of u (1 - u), whose digits end there


@dataclass(frozen=True)
class CellWeights:
    """The weights of the observed cells, as shares of the weight of their segment.

    Parameters
    ----------
    segment : int64 array, shape (cells,)
        Position of the segment of each cell.
    square : float array, shape (cells,)
        Sum of the squared weights of each cell.
    largest : float array, shape (cells,)
        Largest weight of each cell.
    mean : float array, shape (segments,)
        Mean weight of the rows of each segment, the sum of squares over the sum of weights: 1 / n_K
        for Kish's effective size n_K.
    """

    segment: Int64Array
    square: FloatArray
    largest: FloatArray
    mean: FloatArray

    def sum(self, values: FloatArray) -> FloatArray:
        """Add up over the observed cells of each segment."""
        sums = np.bincount(self.segment, weights=values, minlength=len(self.mean))
        return np.asarray(sums, np.float64)

    @cached_property
    def cube(self) -> FloatArray:
        """Sum of the squared weights times the largest weight of each cell."""
        return self.square * self.largest

    @cached_property
    def largest_of_segment(self) -> FloatArray:
        """Largest weight of each segment."""
        largest = np.zeros(len(self.mean))
        np.maximum.at(largest, self.segment, self.largest)
        return np.where(np.isnan(self.mean), np.nan, largest)


@dataclass(frozen=True)
class Linearisation:
    """A function u of the confusion matrices, from 0 to 1, and its derivatives at smoothed cells.

    Parameters
    ----------
    weights : CellWeights
        The weights of the observed cells.
    added : float array, shape (segments,)
        Weight of each of the two rows spread over the cells, as a share of the weight of the
        segment.
    value : float array, shape (segments,)
        u at the smoothed cells.
    first : float array, shape (cells,)
        Derivative of u by the share of each observed cell, less its mean over the rows.
    mean_square : float array, shape (segments,)
        Mean of the square of this derivative over all K^2 cells of each segment.
    mean_cube_and_fourth : function
        Returns the means of its third and of its fourth power.
    second : function
        Returns the second derivative of u by the share of each observed cell, shape (cells,).
    mean_second : function
        Returns the mean of the second derivatives over all K^2 cells of each segment.
    """

    weights: CellWeights
    added: FloatArray
    value: FloatArray
    first: FloatArray
    mean_square: FloatArray
    mean_cube_and_fourth: Callable[[], tuple[FloatArray, FloatArray]]
    second: Callable[[], FloatArray]
    mean_second: Callable[[], FloatArray]

    @cached_property
    def _first_sq(self) -> FloatArray:
        return self.first * self.first

    @cached_property
    def _sum_of_squares(self) -> FloatArray:
        """Sum of S2 d^2, as a share of the squared weight of the segment before smoothing."""
        w = self.weights
        return w.sum(w.square * self._first_sq) + ROWS_ADDED * self.added**2 * self.mean_square

    @cached_property
    def proportion_variance(self) -> FloatArray:
        """Variance u (1 - u) of a row of a proportion."""
        return np.maximum(self.value * (1 - self.value), _MIN_VARIANCE)

    @cached_property
    def effective_size(self) -> FloatArray:
        """Rows of a proportion u that has the same variance: n_eff."""
        growth = (1 + ROWS_ADDED * self.added) ** 2 / (1 + ROWS_ADDED * self.weights.mean)
        return ratio(self.proportion_variance * growth, self._sum_of_squares)

    @property
    def skewness_and_kurtosis(self) -> tuple[FloatArray, FloatArray]:
        """Skewness of u, and its excess kurtosis up to a term that is small beside it."""
        w, variance, cell = self.weights, self._sum_of_squares, self.weights.cube * self._first_sq
        cube, fourth = self.mean_cube_and_fourth()
        cubes = w.sum(cell * self.first) + ROWS_ADDED * self.added**3 * cube
        fourths = w.mean * w.sum(cell * self._first_sq) + ROWS_ADDED * self.added**4 * fourth
        return ratio(cubes, variance * np.sqrt(variance)), ratio(fourths, variance * variance)

    @cached_property
    def bias(self) -> FloatArray:
        """Bias of u."""
        w = self.weights
        sums = w.sum(w.square * self.second()) + ROWS_ADDED * self.added**2 * self.mean_second()
        return sums / (2 * (1 + ROWS_ADDED * self.added) ** 2)

    @cached_property
    def excess(self) -> FloatArray:
        """Return how much more skewed, or heavy-tailed, u is than a proportion of n_eff rows."""
        v, n = self.proportion_variance, self.effective_size
        skewness, kurtosis = self.skewness_and_kurtosis
        tails = np.sqrt(np.maximum(kurtosis - ratio(1 - 3 * v, n * v), 0))
        return np.maximum(skewness_excess(skewness, self.value, n), tails)


def skewness_excess(skewness: FloatArray, share: FloatArray, n: FloatArray) -> FloatArray:
    """Return the distance of a skewness from that of a proportion of n rows."""
    variance = np.maximum(share * (1 - share), _MIN_VARIANCE)
    return np.abs(skewness - ratio(1 - 2 * share, np.sqrt(n * variance)))


def pointwise_limits(share: FloatArray, by_mean: Linearisation, level: float) -> Limits:
    """Return limits of u that describe: Wilson's of u n_eff of n_eff rows, widened by the bias.

    Parameters
    ----------
    share : float array, shape (segments,)
        u at the observed cells; NaN where undefined.
    by_mean : Linearisation
        u at cells smoothed by rows of the mean weight.
    level : float
        Confidence level, between 0 and 1.

    Returns
    -------
    lower, upper : float arrays, shape (segments,)
        NaN where u is undefined, or where no row matters to it.
    """
    return _widened(wilson_limits(share, by_mean.effective_size, level), by_mean.bias)


def wilson_limits(share: FloatArray, n: FloatArray, level: float) -> Limits:
    """Return Wilson's limits of shares of n rows, NaN where one of them is undefined."""
    low, high = np.full((2, len(share)), np.nan)
    at = np.flatnonzero(np.isfinite(share) & np.isfinite(n))
    low[at], high[at] = wilson(share[at] * n[at], n[at], level)
    return low, high


def _widened(limits: Limits, bias: FloatArray) -> Limits:
    """Widen limits of u by its bias, on the side on which the truth is likely."""
    low, high = limits
    return np.maximum(low - np.maximum(bias, 0), 0), np.minimum(high - np.minimum(bias, 0), 1)


def gate_limits(
    share: FloatArray, by_mean: Linearisation, by_largest: Linearisation, level: float
) -> Limits:
    """Return limits of u for decisions.

    They are Clopper-Pearson limits of u n_eff of n_eff rows, at a tail that allows for the excess
    of skewness and kurtosis, widened by the bias on its side.

    Parameters
    ----------
    share : float array, shape (segments,)
        u at the observed cells; NaN where undefined.
    by_mean, by_largest : Linearisation
        u at cells smoothed by rows of the mean weight, which have the excess, and of the largest
        weight, which have n_eff and the bias. The same where all weights are equal.
    level : float
        Confidence level, between 0 and 1.

    Returns
    -------
    lower, upper : float arrays, shape (segments,)
        NaN where u is undefined, where few rows determine the result, or where squared weights
        leave the range of a float.
    """
    limits = ExactLimits.of(share, by_mean, by_largest)
    return limits.limits(np.full(len(share), normal_quantile(level)))


def shifted_exact_limits(
    share: FloatArray, n: FloatArray, excess: FloatArray, level: float
) -> Limits:
    """Return Clopper-Pearson limits of shares of n rows, at the tail of the shifted quantile.

    The quantile z moves by excess (2 z^2 + 1) / 6. NaN where the excess is 1/4 or more.
    """
    limits = ExactLimits(share, n, excess, np.zeros_like(share))
    return limits.limits(np.full(len(share), normal_quantile(level)))


@dataclass(frozen=True, slots=True)
class ExactLimits:
    """The limits of u for decisions, at any quantile.

    Parameters
    ----------
    share, n, excess, bias : float arrays, shape (segments,)
        u at the observed cells, effective rows, excess of skewness and kurtosis, and bias.
    """

    share: FloatArray
    n: FloatArray
    excess: FloatArray
    bias: FloatArray

    @classmethod
    def of(
        cls, share: FloatArray, by_mean: Linearisation, by_largest: Linearisation
    ) -> "ExactLimits":
        """Return the limits of `gate_limits`."""
        return cls(share, by_largest.effective_size, by_mean.excess, by_largest.bias)

    @property
    def are_defined(self) -> BoolArray:
        """Whether there are limits."""
        with np.errstate(invalid="ignore"):
            is_finite = np.isfinite(self.share) & np.isfinite(self.n)
            return np.asarray(is_finite & (self.excess < MAX_EXCESS))

    def at(self, segments: Int64Array) -> "ExactLimits":
        """Take the segments at these positions."""
        parts = (self.share, self.n, self.excess, self.bias)
        return ExactLimits(*(values[segments] for values in parts))

    def where(self, is_own: BoolArray, other: "ExactLimits") -> "ExactLimits":
        """Take these limits, or others where `is_own` is false."""
        pairs = zip(
            (self.share, self.n, self.excess, self.bias),
            (other.share, other.n, other.excess, other.bias),
            strict=True,
        )
        return ExactLimits(*(np.where(is_own, *pair) for pair in pairs))

    def limits(self, z: FloatArray) -> Limits:
        """Return the limits at a normal quantile of each segment; NaN where there are none."""
        low, high = np.full((2, len(self.share)), np.nan)
        at = np.flatnonzero(self.are_defined)
        n, shifted = self.n[at], z[at] + self.excess[at] * (2 * z[at] ** 2 + 1) / 6
        low[at], high[at] = clopper_pearson_at(self.share[at] * n, n, special.ndtr(-shifted))
        return _widened((low, high), self.bias)
