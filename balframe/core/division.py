"""Division that leaves undefined what is undefined."""

import numpy as np

from balframe.core.arrays import FloatArray, Int64Array


def ratio(numerator: FloatArray | Int64Array, denominator: FloatArray | Int64Array) -> FloatArray:
    """Divide; where the denominator is 0 the ratio is undefined, NaN."""
    out: FloatArray = np.full(
        np.broadcast_shapes(np.shape(numerator), np.shape(denominator)), np.nan
    )
    np.divide(numerator, denominator, out=out, where=np.asarray(denominator) != 0)
    return out
