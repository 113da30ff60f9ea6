"""Many segments at once: tests of equality, limits of extremes, p-values of multiple testing."""

import numpy as np

from balframe.core.arrays import FloatArray
from balframe.intervals.later import special

LEAST_FOR_CHI_SQUARE = 10  # rows of every label in every segment from which Q is chi-square


def adjusted(p: FloatArray, method: str | None) -> FloatArray:
    """Adjust p-values for their number; undefined ones are left out.

    `"bh"` holds the share of false alarms among those found, `"holm"` the chance of even one.

    References
    ----------
    Y. Benjamini and Y. Hochberg, "Controlling the false discovery rate", JRSS B 1995; S. Holm, "A
    simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 1979.
    """
    out = p.copy()
    known = np.flatnonzero(~np.isnan(p))
    if method is None or not len(known):
        return out
    order = known[np.argsort(p[known], kind="stable")]
    rank = np.arange(1, len(order) + 1)
    if method == "bh":
        steps = np.minimum.accumulate((p[order] * len(order) / rank)[::-1])[::-1]
    else:
        steps = np.maximum.accumulate(p[order] * (len(order) + 1 - rank))
    out[order] = np.minimum(steps, 1)
    return out


def extreme_difference(lower: FloatArray, upper: FloatArray) -> tuple[float, float]:
    """Find limits of highest - lowest from simultaneous limits of all segments."""
    return float(np.maximum(lower.max() - upper.min(), 0)), float(upper.max() - lower.min())


def extreme_ratio(lower: FloatArray, upper: FloatArray) -> tuple[float, float]:
    """Find limits of lowest / highest from simultaneous limits of all segments, none below 0."""
    if not (lower.min() >= 0 and upper.max() > 0):
        return np.nan, np.nan
    most = upper.min() / lower.max() if lower.max() > 0 else 1.0
    return float(lower.min() / upper.max()), float(np.minimum(most, 1))


def homogeneity(x: FloatArray, n: FloatArray, a: FloatArray) -> tuple[float, float]:
    """Test that all segments have the same recalls.

    Q = sum_g w_g (theta_g - mean)^2 with 1/w_g = sum_k a_k^2 P_k (1 - P_k) / n_gk from pooled
    recalls P_k, in the manner of Cochran's statistic; chi-square with one degree of freedom less
    than there are segments. Where rare errors in segments of very different size make its variance
    larger, a scaled chi-square of that variance takes its place (Satterthwaite's way). The p-value
    is undefined where a support is under 10.

    Parameters
    ----------
    x, n, a : float arrays, shape (segments, labels)
        Correct rows, rows and weights of the labels.

    Returns
    -------
    statistic, p_value : float
    """
    if len(n) < 2:
        return np.nan, np.nan
    total = n.sum(axis=0)
    pooled = x.sum(axis=0) / total
    spread = pooled * (1 - pooled)
    variance = (a * a * spread / n).sum(axis=1)
    holds = n.min() >= LEAST_FOR_CHI_SQUARE
    if not (variance > 0).all():  # all right or all wrong, everywhere
        return 0.0, 1.0 if holds else np.nan
    weight = 1 / variance
    share = weight / weight.sum()
    theta = (a * x / n).sum(axis=1)
    statistic = float((weight * (theta - (share * theta).sum()) ** 2).sum())
    if not holds:
        return statistic, np.nan
    df = len(n) - 1
    kurtosis = weight**2 * (a**4 * spread * (1 - 6 * spread) / n**3).sum(axis=1)
    slope = ((weight * (1 - share))[:, None] * a * a / n).sum(axis=0)
    of_pooled = (slope**2 * (1 - 2 * pooled) ** 2 * spread / total).sum()
    variance_of_q = 2 * df + (kurtosis * (1 - share) ** 2).sum() - of_pooled
    scale = max(variance_of_q / (2 * df), 1.0)
    return statistic, float(special.chdtrc(df / scale, statistic / scale))
