"""Limits that a caller can rely on: inside the range of the metric, and both or none."""

import numpy as np

from balframe.core.arrays import FloatArray
from balframe.intervals.proportions import Limits


def kept(
    low: FloatArray,
    high: FloatArray,
    estimate: FloatArray,
    range_: tuple[float, float],
    *,
    around: bool,
) -> Limits:
    """Keep limits inside the range, and around the estimate; both or none, none without it."""
    is_unknown = np.isnan(estimate) | np.isnan(low) | np.isnan(high)
    low, high = (np.where(is_unknown, np.nan, limit) for limit in (low, high))
    if around:
        low, high = np.minimum(low, estimate), np.maximum(high, estimate)
    return np.clip(low, *range_), np.clip(high, *range_)
