"""Division that leaves undefined what is undefined."""

from collections.abc import Sequence

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array


def ratio(numerator: FloatArray | Int64Array, denominator: FloatArray | Int64Array) -> FloatArray:
    """Divide; where the denominator is 0 the ratio is undefined, NaN."""
    below = np.asarray(denominator)
    shape = np.shape(numerator)
    out: FloatArray = np.empty(
        shape if shape == below.shape else np.broadcast_shapes(shape, below.shape)
    )
    out.fill(np.nan)
    np.divide(numerator, below, out=out, where=below != 0)
    return out


def ratio_of_products(above: Sequence[FloatArray], below: Sequence[FloatArray]) -> FloatArray:
    """Divide products, which may leave the range of a float; NaN where the ratio itself does."""
    (first, *others), exponents = zip(*map(np.frexp, above), strict=True)
    share, exponent = np.asarray(first), sum(exponents)
    for digits in others:
        share = share * digits
    for factor in below:
        digits, power = np.frexp(factor)
        share, exponent = ratio(share, digits), exponent - power
    with np.errstate(over="ignore", under="ignore"):
        out = np.ldexp(share, exponent)
    return np.where(np.isfinite(out), out, np.nan)


def rescale(
    values: FloatArray | Int64Array | float, size: FloatArray, exponent: int = 0
) -> FloatArray:
    """Bring values, none above `size`, to the scale of 2**exponent, all digits kept."""
    with np.errstate(under="ignore"):
        return np.asarray(np.ldexp(np.asarray(values, np.float64), exponent - np.frexp(size)[1]))
