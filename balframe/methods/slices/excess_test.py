"""The one-sided test that a slice has more wrong rows than the rest.

Stratum k has N_k rows, of which M_k are wrong, and the slice has n_k of these rows, of which e_k
are wrong. Under the null hypothesis e_k is hypergeometric with the mean mu_k = n_k M_k / N_k. The
statistic is D = sum_k b_k (e_k - mu_k).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.safe_divide import ratio
from balframe.stats.lazy_scipy import special
from balframe.stats.proportions import log_combinations

_NEGLIGIBLE = 1e-14  # share of a sum below which further terms are left out
_NEAR_TAIL = -40.0  # log probability up to which a window of e^-100 is wide enough
_LOG_WINDOW, _LOG_WIDEST_WINDOW = 100.0, 690.0  # of the probability outside of a window
_ROUNDING = 1e-9  # of the number of wrong rows that a sum of two terms lacks


def log_hypergeometric_tail(
    wrong: FloatArray, n: FloatArray, n_all: FloatArray, wrong_all: FloatArray
) -> FloatArray:
    """Return log P(E >= e) of hypergeometric numbers of wrong rows, one for each slice.

    Parameters
    ----------
    wrong, n, n_all, wrong_all : float arrays, shape (slices,)
        Whole numbers: wrong rows e and rows n in the slice, and rows N and wrong rows M of all.
    """
    is_above = wrong * n_all > n * wrong_all
    # at or below the mean, the other tail, which is that of the rows that are right
    marked = np.where(is_above, wrong_all, n_all - wrong_all)
    least = np.where(is_above, wrong, n - wrong + 1)
    log_p = np.full(len(wrong), -np.inf)
    possible = np.flatnonzero(least <= np.minimum(n, marked))
    log_p[possible] = _log_tail_above_mean(*(x[possible] for x in (least, n, n_all, marked)))
    out = np.where(is_above, log_p, 0.0)
    out[~is_above] = np.log1p(-np.exp(log_p[~is_above]))
    return out


def _log_tail_above_mean(
    e: FloatArray, n: FloatArray, n_all: FloatArray, marked: FloatArray
) -> FloatArray:
    """Return log P(E >= e) by adding up from e, in units of P(E = e)."""
    log_first = (
        log_combinations(marked, e)
        + log_combinations(n_all - marked, n - e)
        - log_combinations(n_all, n)
    )
    total, term, j = np.ones(len(e)), np.ones(len(e)), e.copy()
    others, at = n_all - n - marked, np.flatnonzero(total)
    while len(at):
        term *= (marked - j) * (n - j) / ((j + 1) * (others + j + 1))
        total[at] += term
        j += 1
        goes_on = term > _NEGLIGIBLE * total[at]
        if not goes_on.all():
            at = at[goes_on]
            term, j, n, marked, others = (x[goes_on] for x in (term, j, n, marked, others))
    return np.minimum(log_first + np.log(total), 0)


def log_tail_of_two(
    factors: FloatArray,
    wrong: FloatArray,
    n: FloatArray,
    n_all: FloatArray,
    wrong_all: FloatArray,
    log_p: float,
) -> float:
    """Return log P(b_1 E_1 + b_2 E_2 >= b_1 e_1 + b_2 e_2) of two independent numbers E_1 and E_2.

    The sum over E_1 takes the tail of E_2 at each. It is quick where E_1 has few values.

    Parameters
    ----------
    factors, wrong, n, n_all, wrong_all : float arrays, shape (2,)
        The factors b, and for each number the counts as in `log_hypergeometric_tail`.
    log_p : float
        An approximation that is not much too small, from which the windows of the sums follow.
    """
    log_outside = _LOG_WINDOW if log_p > _NEAR_TAIL else _LOG_WIDEST_WINDOW
    (first_1, mass_1), (first_2, mass_2) = (
        _window_of_probabilities(int(n[i]), int(n_all[i]), int(wrong_all[i]), log_outside)
        for i in range(2)
    )
    tail_2 = np.append(np.cumsum(mass_2[::-1])[::-1], 0.0)
    e_1 = first_1 + np.arange(len(mass_1))
    lacking = (float(factors @ wrong) - factors[0] * e_1) / factors[1]
    least_2 = np.ceil(lacking - _ROUNDING).astype(np.int64)
    p = float(mass_1 @ tail_2[np.clip(least_2 - first_2, 0, len(mass_2))])
    return min(float(np.log(p)), 0.0) if p > 0 else -np.inf


def _window_of_probabilities(
    n: int, n_all: int, wrong_all: int, log_outside: float
) -> tuple[int, FloatArray]:
    """Return the least value of a window, and the probability of each value in it.

    The window follows from Bernstein's inequality, which bounds the probability on each side of it
    by e^-log_outside. The probabilities are computed outwards from the most frequent value.

    References
    ----------
    W. Hoeffding, "Probability inequalities for sums of bounded random variables", JASA 1963, for
    draws without replacement.
    """
    lowest, highest = max(0, n + wrong_all - n_all), min(n, wrong_all)
    mean = n * wrong_all / n_all
    variance = mean * (1 - wrong_all / n_all) * (n_all - n) / (n_all - 1)
    third = log_outside / 3
    reach = third + np.sqrt(third**2 + 2 * log_outside * variance)
    first, last = max(lowest, int(mean - reach)), min(highest, int(mean + reach) + 1)
    x = np.arange(first, last, dtype=np.float64)
    ratios = (wrong_all - x) * (n - x) / ((x + 1) * (n_all - n - wrong_all + x + 1))
    mode = int((n + 1) * (wrong_all + 1) / (n_all + 2))
    n_below = min(max(mode, first), last) - first
    below, above = np.cumprod(1 / ratios[:n_below][::-1])[::-1], np.cumprod(ratios[n_below:])
    mass = np.concatenate([below, [1.0], above])
    return first, mass / mass.sum()


_MAX_NORMAL_SKEWNESS = 1e-3  # up to which the tail is the normal one
_MAX_SUMMED_VARIANCE = 400.0  # of the number that an exact tail is summed over
_MAX_INNER_VARIANCE = 40_000.0  # of the number whose tail is taken within a sum
_LEAST_CORRECTED = 0.75  # times the level: a corrected p-value is at least 0.87 of the exact one
_MOST_UNCORRECTED = (0.0, 100.0, 10.0)  # times the level, by `n_summed`


@dataclass(frozen=True)
class ExcessTest:
    """Counts of slices, one a line, with a column for each stratum, and the factors b of D.

    `n` and `wrong` count the rows of the slice, `n_all` and `wrong_all` those of the stratum. A
    stratum varies where the number of wrong rows in the slice has a positive variance.
    """

    factors: FloatArray
    n: FloatArray
    wrong: FloatArray
    n_all: FloatArray
    wrong_all: FloatArray

    @cached_property
    def _share(self) -> FloatArray:
        """Share of wrong rows in each stratum, 0 without rows."""
        return np.nan_to_num(ratio(self.wrong_all, self.n_all))

    @cached_property
    def variance(self) -> FloatArray:
        """Variance of the number of wrong rows in each stratum of the slice."""
        finite_correction = ratio(self.n_all - self.n, self.n_all - 1)
        return np.nan_to_num(self.n * self._share * (1 - self._share) * finite_correction)

    @cached_property
    def excess(self) -> FloatArray:
        """The statistic D."""
        return _sum_over_strata(self.factors * (self.wrong - self.n * self._share))

    @cached_property
    def sd(self) -> FloatArray:
        """Standard deviation of D."""
        return np.sqrt(_sum_over_strata(self.factors**2 * self.variance))

    @cached_property
    def skewness(self) -> FloatArray:
        """Skewness of D, undefined where it does not vary."""
        factor = ratio((1 - 2 * self._share) * (self.n_all - 2 * self.n), self.n_all - 2)
        third_moment = np.nan_to_num(self.variance * factor)
        return ratio(_sum_over_strata(self.factors**3 * third_moment), self.sd**3)

    @cached_property
    def half_step(self) -> FloatArray:
        """Half of the largest step of D by one wrong row, among the strata that vary."""
        return _largest_over_strata(np.where(self.variance > 0, self.factors, 0)) / 2

    @cached_property
    def n_summed(self) -> Int64Array:
        """Number of strata that vary where an exact tail is quick to sum, 1 or 2; else 0."""
        n_varying = np.count_nonzero(self.variance > 0, axis=-1)
        largest = _largest_over_strata(self.variance)
        out = np.where((n_varying == 1) & (largest <= _MAX_SUMMED_VARIANCE), 1, 0)
        two = np.flatnonzero((n_varying == 2) & (largest <= _MAX_INNER_VARIANCE))
        if len(two):
            outer = self.at(two)._two_strata()[0]
            is_quick = self.variance[two, outer] <= _MAX_SUMMED_VARIANCE
            out[two[is_quick]] = 2
        return out

    def at(self, slices: Int64Array) -> "ExcessTest":
        """Take the slices at these positions."""
        fields = (self.factors, self.n, self.wrong, self.n_all, self.wrong_all)
        return ExcessTest(*(np.broadcast_to(x, self.n.shape)[slices] for x in fields))

    def log_p(self) -> FloatArray:
        """Return the logarithms of the corrected p-values, 0 where nothing varies.

        D is decreased by half of its largest step, as in a correction for continuity. Its
        distribution is approximated by a Pearson III distribution of the same mean, variance and
        skewness.
        """
        return self._log_tail(self.half_step)

    def decisive_log_p(self, log_level: float) -> FloatArray:
        """Return the logarithms of p-values that decide at a level.

        They are exact where the correction for continuity may make the difference.
        """
        log_p = self.log_p()
        near = np.flatnonzero(
            (log_p > log_level + np.log(_LEAST_CORRECTED)) & self._may_reject(log_level)
        )
        if not len(near):
            return log_p
        test = self.at(near)
        most = np.array(_MOST_UNCORRECTED)[test.n_summed]
        is_near = np.exp(test._log_tail(0.0) - log_level) <= most
        near = near[is_near]
        log_p[near] = test.at(np.flatnonzero(is_near)).exact_log_p(log_p[near])
        return log_p

    def _may_reject(self, log_level: float) -> BoolArray:
        """Return where the uncorrected p-value may be small enough for an exact tail.

        Up to a skewness of 2, the tail is at least 0.7 of the normal one where D is above 0.
        """
        largest = log_level + np.log(max(_MOST_UNCORRECTED) / 0.7)
        least_z = max(-float(special.ndtri(min(np.exp(largest), 0.5))), 0.0)
        return np.asarray(
            (self.excess > least_z * self.sd) | ((self.excess > 0) & (self.skewness > 2))
        )

    def exact_log_p(self, log_p: FloatArray) -> FloatArray:
        """Return `log_p`, with exact tails where these are quick to sum."""
        out = log_p.copy()
        single = np.flatnonzero(self.n_summed == 1)
        if len(single):
            test = self.at(single)
            stratum = test.variance.argmax(axis=-1)
            at = (np.arange(len(single)), stratum)
            out[single] = log_hypergeometric_tail(
                test.wrong[at], test.n[at], test.n_all[at], test.wrong_all[at]
            )
        double = np.flatnonzero(self.n_summed == 2)
        if len(double):
            test = self.at(double)
            strata = np.column_stack(test._two_strata())
            counts = (test.factors, test.wrong, test.n, test.n_all, test.wrong_all)
            pairs = [np.take_along_axis(x, strata, axis=-1) for x in counts]
            for i, b, e, n, n_all, wrong_all in zip(double, *pairs, strict=True):
                exact = log_tail_of_two(b, e, n, n_all, wrong_all, float(log_p[i]))
                if np.isfinite(exact):
                    out[i] = exact
        return out

    def _two_strata(self) -> tuple[Int64Array, Int64Array]:
        """Return the two strata that vary, the one of the larger step first."""
        first, second = np.nonzero(self.variance > 0)[1].reshape(-1, 2).T
        lines = np.arange(len(first))
        step, variance = (
            np.broadcast_to(x, self.variance.shape) for x in (self.factors, self.variance)
        )
        larger = step[lines, second] - step[lines, first]
        is_second = (larger > 0) | (
            (larger == 0) & (variance[lines, second] < variance[lines, first])
        )
        return np.where(is_second, second, first), np.where(is_second, first, second)

    def _log_tail(self, shift: FloatArray | float) -> FloatArray:
        z = ratio(self.excess - shift, self.sd)
        return np.where(np.isnan(z), 0.0, log_tail(z, self.skewness))


def _sum_over_strata(values: FloatArray) -> FloatArray:
    """Add up the columns: ten times as fast as a sum of each line where there are few."""
    return np.asarray(np.ascontiguousarray(values.T).sum(axis=0))


def _largest_over_strata(values: FloatArray) -> FloatArray:
    return np.asarray(np.ascontiguousarray(values.T).max(axis=0))


def log_tail(z: FloatArray, skewness: FloatArray) -> FloatArray:
    """Return the logarithm of the upper tail of the standardized Pearson III distribution."""
    out = np.asarray(special.log_ndtr(-z), np.float64)
    skewed = np.flatnonzero(skewness > _MAX_NORMAL_SKEWNESS)
    shape = 4 / skewness[skewed] ** 2
    gamma_x = np.maximum(shape + z[skewed] * np.sqrt(shape), 0)
    tail = special.gammaincc(shape, gamma_x)
    with np.errstate(divide="ignore"):
        log_p = np.log(tail)
    underflow = np.flatnonzero(
        tail == 0
    )  # too small for a float: the first term of the continued fraction
    k, x = shape[underflow], gamma_x[underflow]
    log_p[underflow] = k * np.log(x) - x - special.gammaln(k) - np.log(x - k + 1)
    out[skewed] = log_p
    return out
