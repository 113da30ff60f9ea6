"""Multiple testing: adjusted p-values, and limits of extremes over segments."""

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array


def adjust_p_values(p: FloatArray, method: str | None) -> FloatArray:
    """Return p-values adjusted for multiple testing; undefined p-values are left out.

    `"bh"` controls the false discovery rate, and `"holm"` the probability of any false alarm.

    References
    ----------
    Y. Benjamini and Y. Hochberg, "Controlling the false discovery rate", JRSS B 1995; S. Holm, "A
    simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 1979.
    """
    out = p.copy()
    defined = np.flatnonzero(~np.isnan(p))
    if method is None or not len(defined):
        return out
    order = defined[np.argsort(p[defined], kind="stable")]
    rank = np.arange(1, len(order) + 1)
    if method == "bh":
        steps = np.minimum.accumulate((p[order] * len(order) / rank)[::-1])[::-1]
    else:
        steps = np.maximum.accumulate(p[order] * (len(order) + 1 - rank))
    out[order] = np.clip(steps, p[order], 1)  # rounding may put p n / n below p
    return out


def adjust_within_families(
    p: FloatArray, family: Int64Array, method: str | None
) -> tuple[FloatArray, Int64Array]:
    """Return p-values adjusted within each family, and the size of the family of each."""
    out, sizes = p.copy(), np.zeros(len(p), np.int64)
    for code in np.unique(family):
        members = np.flatnonzero(family == code)
        out[members] = adjust_p_values(p[members], method)
        sizes[members] = np.isfinite(p[members]).sum()
    return out, sizes


def extreme_ratio(lower: FloatArray, upper: FloatArray) -> tuple[float, float]:
    """Return limits of lowest / highest from simultaneous limits of all segments.

    Undefined if a limit is below 0 or all upper limits are 0.
    """
    if not (lower.min() >= 0 and upper.max() > 0):
        return np.nan, np.nan
    highest = upper.min() / lower.max() if lower.max() > 0 else 1.0
    return float(lower.min() / upper.max()), float(np.minimum(highest, 1))
