"""Roots of many increasing functions at once."""

from collections.abc import Callable

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array

Function = Callable[[FloatArray, Int64Array], FloatArray]

_MAX_STEPS = 200
_TOLERANCE = 1e-13


def increasing_root(
    function: Function,
    guess: FloatArray,
    *,
    below: FloatArray | float = np.inf,
    tolerance: float = _TOLERANCE,
) -> FloatArray:
    """Return where each function changes from negative to positive, starting from a guess.

    `function(t, rows)` evaluates the functions at the positions `rows`; each changes its sign once,
    at a t known to be smaller than `below`. The error of a root t is at most `tolerance` times
    1 + |t|.
    """
    low, at_low = _bracket_end(function, np.minimum(guess, below) - 0.5, -1.0)
    high, at_high = _bracket_end(function, np.minimum(guess + 0.5, below), 1.0)
    return _chandrupatla(function, low, high, at_low, at_high, tolerance)


def root_between(function: Function, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return where each function changes from negative to positive between two ends.

    The lower end where it is nowhere negative, and the upper one where it is nowhere positive.
    """
    every = np.arange(len(low))
    at_low, at_high = function(low, every), function(high, every)
    root = np.where(at_low >= 0, low, high)
    rows = np.flatnonzero((at_low < 0) & (at_high > 0))

    def inside(t: FloatArray, at: Int64Array) -> FloatArray:
        return function(t, rows[at])

    low, high, at_low, at_high = (values[rows] for values in (low, high, at_low, at_high))
    root[rows] = _chandrupatla(inside, low, high, at_low, at_high, _TOLERANCE)
    return root


def _bracket_end(function: Function, end: FloatArray, sign: float) -> tuple[FloatArray, FloatArray]:
    """Move an end of the bracket in growing steps until the function has this sign there.

    Return the end and the values of the function.
    """
    rows, step = np.arange(len(end)), 1.0
    values = function(end, rows)
    for _ in range(_MAX_STEPS):
        rows = rows[sign * values[rows] < 0]
        if not len(rows):
            break
        end[rows] += sign * step
        values[rows] = function(end[rows], rows)
        step *= 1.5
    return end, values


def _chandrupatla(
    function: Function,
    b: FloatArray,
    a: FloatArray,
    fb: FloatArray,
    fa: FloatArray,
    tolerance: float,
) -> FloatArray:
    """Return roots by inverse quadratic interpolation and bisection.

    References
    ----------
    T. R. Chandrupatla, "A new hybrid quadratic/bisection algorithm for finding the zero of a
    nonlinear function without using derivatives", Advances in Engineering Software 1997.
    """
    root = np.where(np.abs(fa) < np.abs(fb), a, b)
    rows = np.arange(len(a))
    c, fc, t = a.copy(), fa.copy(), np.full(len(a), 0.5)
    for _ in range(_MAX_STEPS):
        x = a + t * (b - a)
        fx = function(x, rows)
        same = np.sign(fx) == np.sign(fa)
        c, fc = np.where(same, a, b), np.where(same, fa, fb)
        b, fb = np.where(same, b, a), np.where(same, fb, fa)
        a, fa = x, fx
        best = np.where(np.abs(fa) < np.abs(fb), a, b)
        root[rows] = best
        limit = tolerance * (1 + np.abs(best)) / np.maximum(np.abs(b - a), 1e-300)
        active = (limit <= 0.5) & (np.where(np.abs(fa) < np.abs(fb), fa, fb) != 0)
        if not active.any():
            break
        rows = rows[active]
        a, b, c, fa, fb, fc, limit = (v[active] for v in (a, b, c, fa, fb, fc, limit))
        t = np.minimum(np.maximum(_step(a, b, c, fa, fb, fc), limit), 1 - limit)
    return root


def _step(
    a: FloatArray, b: FloatArray, c: FloatArray, fa: FloatArray, fb: FloatArray, fc: FloatArray
) -> FloatArray:
    with np.errstate(all="ignore"):
        xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
        is_quadratic = (phi**2 < xi) & ((1 - phi) ** 2 < 1 - xi)
        step = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
    return np.where(is_quadratic & np.isfinite(step), step, 0.5)
