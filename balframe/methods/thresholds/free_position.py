"""The place of a list of labels in a panel: off the lines, near the lower right corner."""

from collections.abc import Sequence

import numpy as np

from balframe.core.array_types import FloatArray

_N_PLACES, _N_SAMPLES = 12, 200
_LINE_COST, _FAINT_COST = 10.0, 1.0  # the cost of a place for each sample of a line in it


def free_position(
    lines: Sequence[FloatArray],
    faint_line: FloatArray,
    size: tuple[float, float],
    panel_size: tuple[float, float],
) -> tuple[float, float]:
    """Return the left end and the top of a box of this size, in pixels from the upper left corner.

    A line is an array of points (x, y) in pixels. Covering the `faint_line` costs less.
    """
    lefts = np.linspace(0, max(0.0, panel_size[0] - size[0]), _N_PLACES)
    tops = np.linspace(0, max(0.0, panel_size[1] - size[1]), _N_PLACES)
    corners = np.array([(left, top) for left in lefts[::-1] for top in tops[::-1]])
    cost = 1e-6 * np.hypot(*(corners[0] - corners).T)
    for line, weight in (
        *((line, _LINE_COST) for line in lines if len(line)),
        (faint_line, _FAINT_COST),
    ):
        inside = [(corners <= at) & (at <= corners + size) for at in _resample(line)]
        cost += weight * np.all(inside, axis=2).sum(axis=0)
    left, top = corners[int(np.argmin(cost))]
    return float(left), float(top)


def _resample(line: FloatArray) -> FloatArray:
    """Return points at equal distances along a line."""
    steps = np.hypot(*np.diff(line, axis=0).T)
    at = np.concatenate([[0.0], np.cumsum(steps)])
    wanted = np.linspace(0, at[-1], _N_SAMPLES)
    return np.column_stack([np.interp(wanted, at, line[:, k]) for k in (0, 1)])
