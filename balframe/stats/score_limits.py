"""Confidence limits of metrics of scores, from an estimate and the variance of its rows.

The arrays have one entry for each segment. Estimates and limits are between 0 and 1 unless a
function says otherwise.
"""

import numpy as np

from balframe.core.array_types import FloatArray
from balframe.core.safe_divide import ratio
from balframe.stats.lazy_scipy import special
from balframe.stats.proportions import Limits, clopper_pearson_lower, wilson_at

_SHRINKAGE_ROWS = 20  # fewer rows, less 1, weigh less than the variance of a proportion
_EXPECTED_ROWS = 100  # fewer rows weigh less than the spread that their scores predict
_NO_SKEWNESS = 1e-6


def shrunken_effective_size(
    estimate: FloatArray, variance: FloatArray, n_fewest: FloatArray
) -> FloatArray:
    """Return the rows of a proportion that varies as much as the estimate.

    With few rows, the variance is drawn towards that of a proportion of `n_fewest` rows, and is
    not below it. So an estimate of 0 or 1 has limits.

    References
    ----------
    K. Boyd, K. H. Eng and C. D. Page, "Area under the precision-recall curve: point estimates and
    confidence intervals", ECML PKDD 2013, for the variance of a proportion of the positive rows.
    """
    expected = ratio(estimate * (1 - estimate), n_fewest)
    relative = np.where(expected > 0, ratio(variance, expected), 1)
    fewer = n_fewest - 1
    scale = (fewer * relative + _SHRINKAGE_ROWS * np.maximum(relative, 1)) / (
        fewer + _SHRINKAGE_ROWS
    )
    return ratio(n_fewest, scale)


def wilson_around_bias(
    estimate: FloatArray, n: FloatArray, quantile: FloatArray | float, bias: FloatArray
) -> Limits:
    """Return Wilson's limits of effective rows, each moved outwards if the bias is on its side."""
    lower, upper = wilson_at(estimate * n, n, quantile)
    return lower - np.maximum(bias, 0), upper - np.minimum(bias, 0)


def effective_size_beside_one_row(estimate: FloatArray, variance: FloatArray) -> FloatArray:
    """Return the effective rows of an estimate to which one more row was added.

    NaN if it has no variance.
    """
    return ratio(estimate * (1 - estimate), np.where(variance > 0, variance, np.nan)) - 1


def exact_limits(
    estimate: FloatArray, n_lower: FloatArray, n_upper: FloatArray, tail: FloatArray | float
) -> Limits:
    """Return Clopper-Pearson's limits of effective rows, which may be others for each limit."""
    lower = clopper_pearson_lower(estimate * n_lower, n_lower, tail)
    return lower, 1 - clopper_pearson_lower((1 - estimate) * n_upper, n_upper, tail)


def ks_limits(
    statistic: FloatArray, n_positive: FloatArray, n_negative: FloatArray, level: float
) -> Limits:
    """Return the statistic -+ c sqrt(1/P + 1/N), c the quantile of the Kolmogorov distribution.

    A largest difference of two curves is no further from the estimate than the two differ from
    theirs anywhere. So the limits hold although the estimate is too high on average, and they are
    wider than necessary.

    References
    ----------
    F. Wei and R. M. Dudley, "Two-sample Dvoretzky-Kiefer-Wolfowitz inequalities", Statistics and
    Probability Letters 2012.
    """
    ones = np.ones(len(statistic))
    half = special.kolmogi(1 - level) * np.sqrt(ratio(ones, n_positive) + ratio(ones, n_negative))
    return np.maximum(statistic - half, 0), np.minimum(statistic + half, 1)


def expected_spread(
    observed: FloatArray,
    skewness: FloatArray,
    expected: FloatArray,
    of_scores: FloatArray,
    n: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return a variance and a skewness of losses, drawn towards those that the scores predict.

    Parameters
    ----------
    observed, skewness : float arrays
        Variance and skewness of the losses of rows.
    expected, of_scores : float arrays
        The same if the scores are the probabilities of the labels.
    n : float array
        Effective rows.
    """
    weight = n + _EXPECTED_ROWS
    variance = (n * observed + _EXPECTED_ROWS * np.maximum(observed, expected)) / weight
    return variance, (n * skewness + _EXPECTED_ROWS * of_scores) / weight


def skewed_mean_limits(
    mean: FloatArray,
    variance: FloatArray,
    skewness: FloatArray,
    n: FloatArray,
    quantile: FloatArray,
) -> Limits:
    """Return the limits of a mean of skewed values, by the cubic transformation of t.

    Parameters
    ----------
    mean, variance, skewness, n : float arrays
        Of the values of rows, and their number, or effective number.
    quantile : float array
        Quantile of the t distribution.

    References
    ----------
    P. Hall, "On the removal of skewness by transformation", Journal of the Royal Statistical
    Society B 1992.
    """
    root = np.sqrt(n)
    error, g = np.sqrt(variance) / root, skewness / root
    return mean - error * skewed_quantile(quantile, g), mean - error * skewed_quantile(-quantile, g)


def skewed_quantile(quantile: FloatArray | float, skewness: FloatArray) -> FloatArray:
    """Return the quantile of a studentised sum with this skewness, by Hall's transformation."""
    is_skewed = np.abs(skewness) > _NO_SKEWNESS
    g = np.where(is_skewed, skewness, 1)
    cubic = 3 / g * (np.cbrt(1 + g * (quantile - g / 6)) - 1)
    return np.where(is_skewed, cubic, quantile)


def skewed_difference_limits(
    difference: FloatArray,
    variances: tuple[FloatArray, FloatArray],
    third_moment: FloatArray,
    quantile: float,
) -> Limits:
    """Return limits that are never closer than without skewness.

    Parameters
    ----------
    difference, third_moment : float arrays
        The difference, and the sum of the cubed influences of rows.
    variances : two float arrays
        For the lower and for the upper limit.
    quantile : float
        Normal quantile.
    """
    low, high = variances
    below = skewed_quantile(quantile, ratio(third_moment, low**1.5))
    above = skewed_quantile(-quantile, ratio(third_moment, high**1.5))
    return (
        difference - np.maximum(below, quantile) * np.sqrt(low),
        difference - np.minimum(above, -quantile) * np.sqrt(high),
    )
