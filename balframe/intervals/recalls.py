"""Confidence limits of means of recalls, one row for each segment and one column for each label.

With x_k of n_k rows of label k correct, p_k = x_k / n_k, and weights a_k that sum to 1, the score
is theta = sum_k a_k p_k, or the geometric mean. Counts need not be whole.
"""

import math
from collections.abc import Callable

import numpy as np

from balframe.core.arrays import FloatArray, Int64Array
from balframe.intervals.proportions import Limits, jeffreys, normal_quantile
from balframe.intervals.roots import increasing_root

_LEAST_WRONG = 1e-7
_NOTHING = 1e-50  # shares below it change no limit, and their squares have no digits


def score(x: FloatArray, n: FloatArray, a: FloatArray, level: float) -> Limits:
    """Invert the score test of theta under constrained maximum likelihood.

    The weighted mean's counterpart of Wilson's interval, to which it reduces with one label; with
    two of equal support it is that of Miettinen and Nurminen.

    Parameters
    ----------
    x, n, a : float arrays, shape (segments, labels)
        Correct rows, rows and weights of the labels present; every n and a is above 0.
    level : float
        Confidence level, between 0 and 1.

    Returns
    -------
    lower, upper : float arrays, shape (segments,)

    References
    ----------
    O. Miettinen and M. Nurminen, "Comparative analysis of two rates", Statistics in Medicine 1985.
    """
    z = normal_quantile(level)
    return _lower_by_score(x, n, a, z), 1 - _lower_by_score(n - x, n, a, z)


def _lower_by_score(x: FloatArray, n: FloatArray, a: FloatArray, z: float) -> FloatArray:
    lower = np.zeros(len(x))
    x, a = np.where(x > _NOTHING * n, x, 0), np.maximum(a, _NOTHING)
    rows = np.flatnonzero((x > 0).any(axis=1))
    x, n, a = x[rows], n[rows], a[rows]
    part = a * a / n
    part_f = part * n / (n - 1 + part / part.sum(axis=1, keepdims=True))

    def recalls(multiplier: FloatArray, at: Int64Array) -> FloatArray:
        """Find p_k under the constraint; recalls fall as the multiplier grows."""
        la = multiplier[:, None] * a[at]
        right, support = x[at], n[at]
        root = np.sqrt((support - la) ** 2 + 4 * la * (support - right))
        return np.clip(2 * right / (support + la + root), 0, 1)

    free = ((x > 0) & (x < n)).any(axis=1)
    start = np.where(free, 0.0, np.where(x > 0, n / a, np.inf).min(axis=1))

    def excess(t: FloatArray, at: Int64Array) -> FloatArray:
        """Compare l V with z sqrt(V_f): positive outside of the interval."""
        multiplier = start[at] + np.exp(t)
        p = recalls(multiplier, at)
        spread = p * (1 - p)
        variance = (part[at] * spread).sum(axis=1)
        variance_f = (part_f[at] * spread).sum(axis=1)
        beyond: FloatArray = multiplier * variance - z * np.sqrt(variance_f)
        return beyond

    everything = np.arange(len(x))
    observed = x / n
    variance = (part * observed * (1 - observed)).sum(axis=1)
    guess = np.where(free, z / np.sqrt(np.where(free, variance, 1)), z * z / a.max(axis=1))
    multiplier = start + np.exp(increasing_root(excess, np.log(guess)))
    limit = (a * recalls(multiplier, everything)).sum(axis=1)
    lower[rows] = np.minimum(limit, (a * observed).sum(axis=1))
    return lower


def mover(
    x: FloatArray,
    n: FloatArray,
    a: FloatArray,
    level: float,
    limits: Callable[[FloatArray, FloatArray, float], Limits] = jeffreys,
) -> Limits:
    """Recover variances from the limits of each recall, by default those of Jeffreys.

    Shapes as in `score`. theta -+ sqrt(sum_k a_k^2 (p_k - limit_k)^2).

    References
    ----------
    G. Y. Zou and A. Donner, "Construction of confidence limits about effect measures: a general
    approach", Statistics in Medicine 2008.
    """
    p = x / n
    low, high = limits(x, n, level)
    theta = (a * p).sum(axis=1)
    lower = theta - np.sqrt((a * a * (p - low) ** 2).sum(axis=1))
    upper = theta + np.sqrt((a * a * (high - p) ** 2).sum(axis=1))
    return np.maximum(lower, 0), np.minimum(upper, 1)


def geometric(x: FloatArray, n: FloatArray, level: float) -> Limits:
    """Invert the score test of the geometric mean of the recalls.

    Shapes as in `score`. Under the constraint p_k = (x_k - m)/(n_k - m), and a limit is where
    m^2 sum_k (n_k - x_k)/(n_k (x_k - m)) = z^2. A label never found gives a lower limit of 0.
    """
    two_log_z = 2 * math.log(normal_quantile(level))
    x = np.minimum(np.where(x > _NOTHING * n, x, 0), n * (1 - _LEAST_WRONG))
    share_wrong = (n - x) / n
    least = x.min(axis=1)
    lower = np.zeros(len(x))
    rows = np.flatnonzero(least > 0)

    def below(t: FloatArray, at: Int64Array) -> FloatArray:
        return _log_statistic(*towards_least(t, at), share_wrong[at]) - two_log_z

    def towards_least(t: FloatArray, at: Int64Array) -> tuple[FloatArray, FloatArray]:
        """Move m from 0 to the least x_k, keeping the digits of x_k - m."""
        m = least[at] / (1 + np.exp(-t))
        rest = least[at] / (1 + np.exp(t))
        return m, (x[at] - least[at, None]) + rest[:, None]

    if len(rows):
        t = increasing_root(lambda t, at: below(t, rows[at]), np.zeros(len(rows)))
        m, left = towards_least(t, rows)
        p = left / (left + (n - x)[rows])
        lower[rows] = np.exp(np.log(p).mean(axis=1))

    def above(t: FloatArray, at: Int64Array) -> FloatArray:
        m = np.exp(t)
        return _log_statistic(m, x[at] + m[:, None], share_wrong[at]) - two_log_z

    m = np.exp(increasing_root(above, np.zeros(len(x))))[:, None]
    upper = np.exp(np.log((x + m) / (n + m)).mean(axis=1))
    return lower, np.minimum(upper, 1)


def _log_statistic(m: FloatArray, left: FloatArray, share_wrong: FloatArray) -> FloatArray:
    statistic: FloatArray = 2 * np.log(m) + np.log((share_wrong / left).sum(axis=1))
    return statistic
