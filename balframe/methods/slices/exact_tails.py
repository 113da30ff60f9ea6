"""Exact tails of numbers of wrong rows in slices, which are hypergeometric.

Of N rows M are wrong, and a slice takes n of the rows at random. The number E of wrong rows in it
lies between max(0, n + M - N) and min(n, M).
"""

import numpy as np

from balframe.core.array_types import FloatArray
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
