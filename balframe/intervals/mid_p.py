"""Mid-p values of weighted sums of independent binomials."""

from collections.abc import Iterator

import numpy as np

from balframe.core.arrays import FloatArray, Int64Array
from balframe.core.parallel import on_all_cores
from balframe.intervals.later import special

_MOST_TRIALS = 60  # a binomial with more enters as a normal
_MOST_STATES = 2**16  # and so do the largest, where the states together would be more
_BATCH = 2**20  # states at work at once
_SAME = 1e-9  # differences closer than this are the same one


def mid_p_value(
    observed: FloatArray, n: FloatArray, p: FloatArray, weight: FloatArray
) -> FloatArray:
    """Find how likely the sum of weight_k X_k / n_k is as far from its mean of 0 as observed.

    X_k are independent binomials of n_k trials with probability p_k. Twice the smaller tail, which
    holds half of the probability of the observed value; at most 1. Binomials of many trials are
    taken as normal; numbers of trials that are not whole, as effective ones are, are rounded.

    Parameters
    ----------
    observed : float array, shape (rows,)
    n, p, weight : float arrays, shape (rows, binomials)
    """
    n = np.maximum(np.rint(n), 1)
    order = np.argsort(n, axis=1, kind="stable")
    n, p, scale = (np.take_along_axis(v, order, axis=1) for v in (n, p, weight / n))
    states = np.cumprod(np.minimum(n, _MOST_TRIALS) + 1, axis=1)
    exact = ((n <= _MOST_TRIALS) & (states <= _MOST_STATES)).sum(axis=1)
    out = np.empty(len(n))

    def work(batch: tuple[Int64Array, int]) -> None:
        rows, k = batch
        out[rows] = _of_batch(observed[rows], n[rows], p[rows], scale[rows], k)

    on_all_cores(work, _batches(n, exact))
    return out


def _batches(n: FloatArray, exact: Int64Array) -> Iterator[tuple[Int64Array, int]]:
    """Group rows whose exact binomials are alike in number and in trials."""
    for k in np.unique(exact):
        rows = np.flatnonzero(exact == k)
        rows = rows[np.lexsort(n[rows, :k].T)]
        dims = n[rows, :k] + 1
        start = 0
        while start < len(rows):
            most = np.maximum.accumulate(dims[start:], axis=0).prod(axis=1)
            size = max(1, int(np.searchsorted(most * np.arange(1, len(most) + 1), _BATCH)))
            yield rows[start : start + size], int(k)
            start += size


def _of_batch(
    observed: FloatArray, n: FloatArray, p: FloatArray, scale: FloatArray, exact: int
) -> FloatArray:
    """Go through the states of the first binomials; the others are one normal."""
    values, mass = np.zeros((len(n), 1)), np.ones((len(n), 1))
    for k in range(exact):
        x = np.arange(n[:, k].max() + 1)
        values = _combined(np.add, values, scale[:, k, None] * x)
        mass = _combined(np.multiply, mass, _binomial(x, n[:, k, None], p[:, k, None]))
    n, p, scale = n[:, exact:], p[:, exact:], scale[:, exact:]
    sd = np.sqrt((scale**2 * n * p * (1 - p)).sum(axis=1))
    above = (observed - (scale * n * p).sum(axis=1))[:, None] - values
    above[np.abs(above) < _SAME] = 0
    z = above / np.maximum(sd, np.finfo(np.float64).tiny ** 0.5)[:, None]
    lower, upper = ((mass * special.ndtr(side)).sum(axis=1) for side in (z, -z))
    return np.asarray(np.minimum(1, 2 * np.minimum(lower, upper)))


def _combined(operation: np.ufunc, one: FloatArray, other: FloatArray) -> FloatArray:
    """Combine every state of one with every state of the other, row by row."""
    both: FloatArray = operation(one[:, :, None], other[:, None, :])
    return both.reshape(len(one), -1)


def _binomial(x: FloatArray, n: FloatArray, p: FloatArray) -> FloatArray:
    """Give the probabilities of x of n, 0 past n."""
    rest = np.maximum(n - x, 0)
    ways = special.gammaln(n + 1) - special.gammaln(x + 1) - special.gammaln(rest + 1)
    mass = np.exp(ways + special.xlogy(x, p) + special.xlog1py(rest, -p))
    return np.where(x <= n, mass, 0)
