"""One-sided tests that a part of the rows is served worse than the rest, in several strata.

The rows of a stratum are a finite population of which M of N are wrong. If being in the part has
nothing to do with it, the number of wrong rows in the part is hypergeometric. Its first three
moments give a Pearson III distribution, whose upper tail is the p-value.
"""

from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import FloatArray
from balframe.core.safe_divide import ratio
from balframe.later import special
from balframe.stats.proportions import Limits, exact

_NORMAL = 1e-3  # skewness up to which the tail is the normal one


@dataclass(frozen=True, slots=True)
class Parts:
    """Parts of all rows, one a line, with a column for each stratum.

    `n` and `wrong` count the rows of the part, `n_all` and `wrong_of_all` those of the stratum.
    `weight` are the weights of the strata, which sum to 1.
    """

    n: FloatArray
    wrong: FloatArray
    n_all: FloatArray
    wrong_of_all: FloatArray
    weight: FloatArray

    @property
    def rate(self) -> FloatArray:
        """Share of wrong rows in the part."""
        return ratio(self.wrong, self.n)

    @property
    def rate_of_rest(self) -> FloatArray:
        """Share of wrong rows outside of the part."""
        return ratio(self.wrong_of_all - self.wrong, self.n_all - self.n)

    @property
    def gap(self) -> FloatArray:
        """How much higher the weighted mean rate of wrong rows is than in the rest."""
        return np.asarray((self.rate - self.rate_of_rest) @ self.weight, np.float64)

    @property
    def factors(self) -> FloatArray:
        """Turn the wrong rows above expectation into a gap: a_k N_k / (n_k (N_k - n_k))."""
        return ratio(self.weight * self.n_all, self.n * (self.n_all - self.n))

    @property
    def excess(self) -> FloatArray:
        """Count the wrong rows that there would not be at the rates of the rest."""
        return np.asarray((self.n * (self.rate - self.rate_of_rest)).sum(axis=-1), np.float64)

    def log_p(self) -> FloatArray:
        """Compute the logarithms of the p-values."""
        return log_p_value(self.factors, self.n, self.wrong, self.n_all, self.wrong_of_all)

    def limits(self, level: float) -> Limits:
        """Compute limits of the gap from Clopper-Pearson limits of each rate."""
        below = above = np.zeros(len(self.n))
        own = exact(self.wrong, self.n, level)
        rest = exact(self.wrong_of_all - self.wrong, self.n_all - self.n, level)
        squares = self.weight**2
        below = ((self.rate - own[0]) ** 2 + (rest[1] - self.rate_of_rest) ** 2) @ squares
        above = ((own[1] - self.rate) ** 2 + (self.rate_of_rest - rest[0]) ** 2) @ squares
        return self.gap - np.sqrt(below), self.gap + np.sqrt(above)


def log_p_value(
    factors: FloatArray,
    n: FloatArray,
    wrong: FloatArray,
    n_all: FloatArray,
    wrong_of_all: FloatArray,
) -> FloatArray:
    """Compute the logarithm of the p-value of sum b (e - mu), for strata in the last axis.

    It is 0 where nothing varies.
    """
    standardized, skewness = standardized_excess(factors, n, wrong, n_all, wrong_of_all)
    return np.where(np.isnan(standardized), 0.0, log_tail(standardized, skewness))


def standardized_excess(
    factors: FloatArray,
    n: FloatArray,
    wrong: FloatArray,
    n_all: FloatArray,
    wrong_of_all: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Standardize the excess of wrong rows, and compute the skewness of its distribution."""
    share = np.nan_to_num(ratio(wrong_of_all, n_all))  # of a stratum without rows
    one = ratio(n_all - n, n_all - 1)
    variance = np.nan_to_num(n * share * (1 - share) * one)
    other = ratio((1 - 2 * share) * (n_all - 2 * n), n_all - 2)
    third = np.nan_to_num(variance * other)
    total = (factors**2 * variance).sum(axis=-1)
    excess = (factors * (wrong - n * share)).sum(axis=-1)
    return ratio(excess, np.sqrt(total)), ratio((factors**3 * third).sum(axis=-1), total**1.5)


def log_tail(z: FloatArray, skewness: FloatArray) -> FloatArray:
    """Compute the logarithm of the upper tail of the standardized Pearson III distribution."""
    out = np.asarray(special.log_ndtr(-z), np.float64)
    skewed = np.flatnonzero(skewness > _NORMAL)
    shape = 4 / skewness[skewed] ** 2
    at = np.maximum(shape + z[skewed] * np.sqrt(shape), 0)
    tail = special.gammaincc(shape, at)
    with np.errstate(divide="ignore"):
        found = np.log(tail)
    lost = np.flatnonzero(tail == 0)  # too small for a float: the first term of the fraction
    k, x = shape[lost], at[lost]
    found[lost] = k * np.log(x) - x - special.gammaln(k) - np.log(x - k + 1)
    out[skewed] = found
    return out
