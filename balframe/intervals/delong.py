"""Confidence limits of the area under the ROC curve."""

import numpy as np

from balframe.core.arrays import FloatArray
from balframe.intervals.proportions import Limits, normal_quantile

_ROUNDING = 1e-28  # of squares of shares


def delong(
    auc: FloatArray,
    spread_of_positives: FloatArray,
    spread_of_negatives: FloatArray,
    n_positive: FloatArray,
    n_negative: FloatArray,
    level: float,
) -> Limits:
    """Compute lower and upper limits from the variances of the placements, clipped to [0, 1].

    Var(AUC) = S10 / P + S01 / N with S10 the sample variance of the shares of negatives that lie
    below the positives, and S01 that of the shares of positives above the negatives. Undefined
    where it is 0 or one of the sides has fewer than two rows: a perfect ranking of few rows proves
    little.

    Parameters
    ----------
    auc : float array, shape (segments,)
    spread_of_positives, spread_of_negatives : float arrays, shape (segments,)
        Mean squared deviations of the placements from the AUC.
    n_positive, n_negative : float arrays, shape (segments,)
        Rows of either side, or effective rows.
    level : float
        Confidence level, between 0 and 1.

    References
    ----------
    E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, "Comparing the areas under two or more
    correlated receiver operating characteristic curves: a nonparametric approach", Biometrics 1988.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = spread_of_positives / (n_positive - 1) + spread_of_negatives / (n_negative - 1)
        varies = spread_of_positives + spread_of_negatives > _ROUNDING
        usable = (n_positive > 1) & (n_negative > 1) & varies
    half = normal_quantile(level) * np.sqrt(np.where(usable, variance, np.nan))
    return np.maximum(auc - half, 0), np.minimum(auc + half, 1)
