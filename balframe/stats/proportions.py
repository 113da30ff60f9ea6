"""Confidence limits, lower and upper, of a proportion x / n; counts need not be whole."""

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.stats.lazy_scipy import special
from balframe.stats.root_finding import increasing_root

# Quantiles of Beta distributions, checked: the inverse of SciPy fails for some large counts.


_LARGEST = 2e12  # past it, the distribution function itself has few digits
_CLOSE = 1e-6


def beta_quantile(alpha: FloatArray, beta: FloatArray, probability: float) -> FloatArray:
    """Find x with P(X <= x) = probability; NaN where alpha + beta is more than 2 * 10^12.

    Computed for the smaller of X and 1 - X, which has more digits.
    """
    alpha, beta = np.broadcast_arrays(alpha, beta)
    is_large = alpha > beta
    one, other = np.minimum(alpha, beta), np.maximum(alpha, beta)
    below = np.where(is_large, 1 - probability, probability)
    out = np.full(alpha.shape, np.nan)
    known = one + other <= _LARGEST
    out[known] = _smaller(one[known], other[known], below[known])
    return np.where(is_large, 1 - out, out)


def _smaller(one: FloatArray, other: FloatArray, below: FloatArray) -> FloatArray:
    found = np.asarray(special.betaincinv(one, other, below), np.float64)
    reached = special.betainc(one, other, found)
    wrong = np.flatnonzero(~(np.abs(reached - below) <= _CLOSE * np.minimum(below, 1 - below)))
    if len(wrong):
        a, b, p = one[wrong], other[wrong], below[wrong]

        def excess(t: FloatArray, rows: Int64Array) -> FloatArray:
            return np.asarray(special.betainc(a[rows], b[rows], special.expit(t)) - p[rows])

        found[wrong] = special.expit(increasing_root(excess, np.log(a / b)))
    return found


Limits = tuple[FloatArray, FloatArray]


def normal_quantile(level: float) -> float:
    """Find z such that a standard normal lies within +-z with this probability."""
    return float(special.ndtri((1 + level) / 2))


def wilson(x: FloatArray, n: FloatArray, level: float) -> Limits:
    """Invert the score test: (p + z^2/2n -+ z sqrt(pq/n + z^2/4n^2)) / (1 + z^2/n).

    References
    ----------
    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 1927.
    """
    return wilson_at(x, n, normal_quantile(level))


def wilson_at(x: FloatArray, n: FloatArray, z: FloatArray | float) -> Limits:
    """Return Wilson's limits with a quantile given, one for all or one for each."""
    p, shrink = x / n, 1 + z * z / n
    centre = (p + z * z / (2 * n)) / shrink
    half = z / shrink * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    lower, upper = np.maximum(centre - half, 0), np.minimum(centre + half, 1)
    return np.where(x <= 0, 0.0, lower), np.where(x >= n, 1.0, upper)


def jeffreys(x: FloatArray, n: FloatArray, level: float) -> Limits:
    """Take equal tails of Beta(x + 1/2, n - x + 1/2), but 0 where x = 0 and 1 where x = n.

    References
    ----------
    L. D. Brown, T. T. Cai and A. DasGupta, "Interval estimation for a binomial proportion",
    Statistical Science 2001.
    """
    tail = (1 - level) / 2
    lower = beta_quantile(x + 0.5, n - x + 0.5, tail)
    upper = beta_quantile(x + 0.5, n - x + 0.5, 1 - tail)
    return np.where(x <= 0, 0.0, lower), np.where(x >= n, 1.0, upper)


def exact(x: FloatArray, n: FloatArray, level: float) -> Limits:
    """Invert the two one-sided binomial tests.

    References
    ----------
    C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits illustrated in the
    case of the binomial", Biometrika 1934.
    """
    tail = (1 - level) / 2
    lower = beta_quantile(np.where(x <= 0, 1.0, x), n - x + 1, tail)
    upper = beta_quantile(x + 1, np.where(x >= n, 1.0, n - x), 1 - tail)
    return np.where(x <= 0, 0.0, lower), np.where(x >= n, 1.0, upper)
