"""Sample sizes of weighted rows."""

import numpy as np

from balframe.core.arrays import FloatArray
from balframe.core.division import ratio


def effective(x: FloatArray, n: FloatArray, n_sq: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Turn sums of weights into Kish's effective counts: n_eff = (sum w)^2 / sum w^2.

    Undefined where the squares left the range of a float.
    """
    usable = (n > 0) & (n_sq >= np.finfo(np.float64).tiny) & np.isfinite(n_sq)
    with np.errstate(over="ignore"):
        size = np.where(usable, n / np.where(usable, n_sq, 1) * n, np.nan)
    size = np.where(np.isfinite(size), size, np.nan)
    return ratio(x, n) * size, size
