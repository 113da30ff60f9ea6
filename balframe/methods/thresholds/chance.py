"""How well scores that ignore the label can do by chance at the threshold that suits them best."""

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.safe_divide import ratio
from balframe.later import special


def highest_by_chance(
    positives: FloatArray, negatives: FloatArray, cuts: Int64Array, level: float
) -> FloatArray:
    """Bound the highest balanced accuracy of scores that ignore the label, over all thresholds.

    1/2 + 1/2 min(1, c sqrt(1/P + 1/N)). With a tail of 1 - level, c is the smaller of two:
    sqrt(-log(tail) / 2), by the distribution of the one-sided statistic of Kolmogorov and Smirnov,
    and half the normal quantile of 1 - tail / cuts, by Bonferroni's inequality, for the standard
    deviation at one cut is at most half the root.

    Parameters
    ----------
    positives, negatives : float arrays, shape (segments,)
        Rows of each side; effective ones where they have weights.
    cuts : int64 array, shape (segments,)
        Thresholds with scores on both sides: the number of distinct scores less 1.
    level : float
        Probability of a maximum at or below the bound, such as 0.95.

    Returns
    -------
    float array, shape (segments,)
        1/2 where there is no cut; NaN where a side has no rows.

    References
    ----------
    N. V. Smirnov, "Approximate laws of distribution of random variables from empirical data",
    Uspekhi Matematicheskikh Nauk 1944. Z. W. Birnbaum and F. H. Tingey, "One-sided confidence
    contours for probability distribution functions", Annals of Mathematical Statistics 1951.
    """
    tail = 1 - level
    of_all = np.sqrt(-np.log(tail) / 2)
    of_few = -special.ndtri(tail / np.maximum(cuts, 1)) / 2
    c = np.where(cuts > 0, np.minimum(of_all, of_few), 0)
    one = np.ones(len(positives))
    spread = np.sqrt(ratio(one, positives) + ratio(one, negatives))
    return np.asarray(0.5 + 0.5 * np.minimum(c * spread, 1))
