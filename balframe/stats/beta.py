"""Quantiles of Beta distributions, checked: the inverse of SciPy fails for some large counts."""

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.later import special
from balframe.stats.root_finding import increasing_root

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
