"""Many segments at once: limits of extremes, and p-values of multiple testing."""

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array


def adjusted(p: FloatArray, method: str | None) -> FloatArray:
    """Return p-values adjusted for multiple testing; undefined p-values are left out.

    `"bh"` controls the expected share of false alarms among the differences found, and `"holm"` the
    probability of any false alarm.

    References
    ----------
    Y. Benjamini and Y. Hochberg, "Controlling the false discovery rate", JRSS B 1995; S. Holm, "A
    simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 1979.
    """
    out = p.copy()
    known = np.flatnonzero(~np.isnan(p))
    if method is None or not len(known):
        return out
    order = known[np.argsort(p[known], kind="stable")]
    rank = np.arange(1, len(order) + 1)
    if method == "bh":
        steps = np.minimum.accumulate((p[order] * len(order) / rank)[::-1])[::-1]
    else:
        steps = np.maximum.accumulate(p[order] * (len(order) + 1 - rank))
    out[order] = np.minimum(steps, 1)
    return out


def adjusted_within(
    p: FloatArray, family: Int64Array, method: str | None
) -> tuple[FloatArray, Int64Array]:
    """Return p-values adjusted within each family, and the size of the family of each."""
    out, sizes = p.copy(), np.zeros(len(p), np.int64)
    for one in np.unique(family):
        members = np.flatnonzero(family == one)
        out[members] = adjusted(p[members], method)
        sizes[members] = np.isfinite(p[members]).sum()
    return out, sizes


def extreme_difference(lower: FloatArray, upper: FloatArray) -> tuple[float, float]:
    """Find limits of highest - lowest from simultaneous limits of all segments."""
    return float(np.maximum(lower.max() - upper.min(), 0)), float(upper.max() - lower.min())


def extreme_ratio(lower: FloatArray, upper: FloatArray) -> tuple[float, float]:
    """Find limits of lowest / highest from simultaneous limits of all segments, none below 0."""
    if not (lower.min() >= 0 and upper.max() > 0):
        return np.nan, np.nan
    most = upper.min() / lower.max() if lower.max() > 0 else 1.0
    return float(lower.min() / upper.max()), float(np.minimum(most, 1))
