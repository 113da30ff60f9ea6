"""Confidence limits, lower and upper, of a proportion x / n; counts need not be whole.

Where rows have weights, `upper_rows` are x and n for the upper limit, which may be others.
"""

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.stats.lazy_scipy import special
from balframe.stats.root_finding import increasing_root

Limits = tuple[FloatArray, FloatArray]
Rows = tuple[FloatArray, FloatArray]  # correct rows, and all rows

_MAX_COUNT = 2e12  # for larger counts the Beta distribution function loses most digits
_SMALL_PROBABILITY = 1e-8
_TOLERANCE = 1e-6


def log_combinations(n: FloatArray | Int64Array, k: FloatArray | Int64Array) -> FloatArray:
    """Return the log of the number of ways to choose k of n rows; -inf for k = -1."""
    return np.asarray(
        special.gammaln(n + 1.0) - special.gammaln(k + 1.0) - special.gammaln(n - k + 1.0),
        np.float64,
    )


def beta_quantile(
    alpha: FloatArray, beta: FloatArray, probability: FloatArray | float
) -> FloatArray:
    """Return x with P(X <= x) = probability; NaN where alpha + beta is more than 2 * 10^12."""
    return _beta_quantile_and_rest(alpha, beta, probability)[0]


def _beta_quantile_and_rest(
    alpha: FloatArray, beta: FloatArray, probability: FloatArray | float
) -> tuple[FloatArray, FloatArray]:
    """Return the x of `beta_quantile`, and 1 - x.

    Computed for the smaller of X and 1 - X, which has more digits; for X itself if 1 - probability
    would have few digits.
    """
    alpha, beta, probability = np.broadcast_arrays(alpha, beta, probability)
    is_large = (alpha > beta) & (probability > _SMALL_PROBABILITY)
    a, b = np.where(is_large, beta, alpha), np.where(is_large, alpha, beta)
    p = np.where(is_large, 1 - probability, probability)
    out = np.full(alpha.shape, np.nan)
    usable = a + b <= _MAX_COUNT
    out[usable] = _checked_inverse(a[usable], b[usable], p[usable])
    return np.where(is_large, 1 - out, out), np.where(is_large, out, 1 - out)


def _checked_inverse(a: FloatArray, b: FloatArray, p: FloatArray) -> FloatArray:
    """Return Beta quantiles, checked: the inverse of SciPy fails for some large counts."""
    x = np.asarray(special.betaincinv(a, b, p), np.float64)
    error = np.abs(special.betainc(a, b, x) - p)
    wrong = np.flatnonzero(~(error <= _TOLERANCE * np.minimum(p, 1 - p)))
    if len(wrong):
        a, b, p = a[wrong], b[wrong], p[wrong]

        def excess(t: FloatArray, rows: Int64Array) -> FloatArray:
            return np.asarray(special.betainc(a[rows], b[rows], special.expit(t)) - p[rows])

        x[wrong] = special.expit(increasing_root(excess, np.log(a / b)))
    return x


def normal_quantile(level: float) -> float:
    """Return z such that a standard normal variable lies within +-z with this probability."""
    return float(special.ndtri((1 + level) / 2))


def normal_level(z: float) -> float:
    """Return the probability that a standard normal variable lies within +-z."""
    return float(1 - 2 * special.ndtr(-z))


def wilson(x: FloatArray, n: FloatArray, level: float, upper_rows: Rows | None = None) -> Limits:
    """Invert the score test: (p + z^2/2n -+ z sqrt(pq/n + z^2/4n^2)) / (1 + z^2/n).

    References
    ----------
    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 1927.
    """
    limits = wilson_at(x, n, normal_quantile(level))
    if upper_rows is None:
        return limits
    return limits[0], wilson_at(*upper_rows, normal_quantile(level))[1]


def wilson_at(x: FloatArray, n: FloatArray, z: FloatArray | float) -> Limits:
    """Return Wilson's limits at the quantile z, one for all segments or one for each."""
    p, shrink = x / n, 1 + z * z / n
    centre = (p + z * z / (2 * n)) / shrink
    half = z / shrink * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    lower, upper = np.maximum(centre - half, 0), np.minimum(centre + half, 1)
    return np.where(x <= 0, 0.0, lower), np.where(x >= n, 1.0, upper)


def jeffreys(x: FloatArray, n: FloatArray, level: float, upper_rows: Rows | None = None) -> Limits:
    """Return equal-tailed limits of Beta(x + 1/2, n - x + 1/2), but 0 if x = 0 and 1 if x = n.

    References
    ----------
    L. D. Brown, T. T. Cai and A. DasGupta, "Interval estimation for a binomial proportion",
    Statistical Science 2001.
    """
    tail = (1 - level) / 2
    lower = beta_quantile(x + 0.5, n - x + 0.5, tail)
    x_up, n_up = (x, n) if upper_rows is None else upper_rows
    upper = beta_quantile(x_up + 0.5, n_up - x_up + 0.5, 1 - tail)
    return np.where(x <= 0, 0.0, lower), np.where(x_up >= n_up, 1.0, upper)


def clopper_pearson(
    x: FloatArray, n: FloatArray, level: float, upper_rows: Rows | None = None
) -> Limits:
    """Invert the two one-sided binomial tests.

    References
    ----------
    C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits illustrated in the
    case of the binomial", Biometrika 1934.
    """
    return clopper_pearson_at(x, n, (1 - level) / 2, upper_rows)


def clopper_pearson_at(
    x: FloatArray, n: FloatArray, tail: FloatArray | float, upper_rows: Rows | None = None
) -> Limits:
    """Return Clopper-Pearson's limits at a tail probability, one for all segments or one each."""
    x_up, n_up = (x, n) if upper_rows is None else upper_rows
    wrong = np.where(x_up >= n_up, 1.0, n_up - x_up)
    upper = _beta_quantile_and_rest(wrong, x_up + 1, tail)[1]
    return clopper_pearson_lower(x, n, tail), np.where(x_up >= n_up, 1.0, upper)


def clopper_pearson_lower(x: FloatArray, n: FloatArray, tail: FloatArray | float) -> FloatArray:
    """Return the lower limits of `clopper_pearson`, whose one-sided tests have this error rate."""
    lower = beta_quantile(np.where(x <= 0, 1.0, x), n - x + 1, tail)
    return np.where(x <= 0, 0.0, lower)
