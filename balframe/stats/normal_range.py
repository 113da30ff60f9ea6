"""The range of independent standard normal variables: tail probabilities and critical values."""

from functools import lru_cache

import numpy as np

from balframe.stats.lazy_scipy import optimize, special
from balframe.stats.proportions import normal_quantile

_STEP = 1 / 128  # of the integral over the smallest of the normal variables
_LOWEST, _HIGHEST = -9.0, 9.0


def range_p_value(z: float, k: int) -> float:
    """Return the probability that two of k equal normal scores differ by over z standard errors.

    That is, that the range of k standard normal variables exceeds q = z sqrt(2): k times the
    integral over the smallest variable x of phi(x) {Phi(-x)^(k-1) - [Phi(x + q) - Phi(x)]^(k-1)},
    by the trapezoidal rule.

    References
    ----------
    H. O. Hartley, "The range in random samples", Biometrika 1942; J. W. Tukey, "The problem of
    multiple comparisons", 1953.
    """
    if k < 2 or not z > 0:
        return 1.0
    if k == 2:
        return float(2 * special.ndtr(-z))
    q = z * np.sqrt(2)
    x = np.arange(_LOWEST - q / 2, _HIGHEST, _STEP)
    log_above = special.log_ndtr(-x)
    share_beyond = np.exp(special.log_ndtr(-x - q) - log_above)
    with np.errstate(divide="ignore"):
        log_within = np.log1p(-share_beyond)
    density = np.exp(-x * x / 2 + (k - 1) * log_above) / np.sqrt(2 * np.pi)
    return float(min(k * _STEP * (density * -np.expm1((k - 1) * log_within)).sum(), 1))


@lru_cache(maxsize=64)
def range_critical_value(level: float, k: int, n_families: int = 1) -> float:
    """Return the z whose `range_p_value` is (1 - level) / n_families.

    With two scores of one family, it is the normal quantile of the level.
    """
    alpha = (1 - level) / n_families
    pair = normal_quantile(1 - alpha)
    low = pair if np.isfinite(pair) else -float(special.ndtri(alpha / 2))
    if k <= 2:
        return low

    def excess(z: float) -> float:
        return float(np.log(max(range_p_value(z, k), 1e-300)) - np.log(alpha))

    high = -float(special.ndtri(alpha / (k * (k - 1))))  # each pair at its share of the error
    if excess(low) <= 0:  # by rounding, at levels close to 0
        return low
    return float(optimize.brentq(excess, low, high + 1e-9, xtol=1e-15, rtol=1e-14))
