"""Where a list of labels stands in a panel: on no line, as near to the lower right as it can be."""

from collections.abc import Sequence

import numpy as np

from balframe.core.array_types import FloatArray

_N_PLACES, _N_SAMPLES = 12, 200
_LINE, _FAINT = 10.0, 1.0  # how bad a place is, for each sample of a line within it


def free_place(
    lines: Sequence[FloatArray],
    faint: FloatArray,
    size: tuple[float, float],
    room: tuple[float, float],
) -> tuple[float, float]:
    """Find the left end and the top of a box of a size, in pixels from the upper left corner.

    A line is an array of points (x, y) in pixels. The box had better not lie on the `faint` one.
    """
    lefts = np.linspace(0, max(0.0, room[0] - size[0]), _N_PLACES)
    tops = np.linspace(0, max(0.0, room[1] - size[1]), _N_PLACES)
    corners = np.array([(left, top) for left in lefts[::-1] for top in tops[::-1]])
    cost = 1e-6 * np.hypot(*(corners[0] - corners).T)
    for line, weight in (*((line, _LINE) for line in lines if len(line)), (faint, _FAINT)):
        inside = [(corners <= at) & (at <= corners + size) for at in _along(line)]
        cost += weight * np.all(inside, axis=2).sum(axis=0)
    left, top = corners[int(np.argmin(cost))]
    return float(left), float(top)


def _along(line: FloatArray) -> FloatArray:
    """Take points at equal distances along a line."""
    steps = np.hypot(*np.diff(line, axis=0).T)
    at = np.concatenate([[0.0], np.cumsum(steps)])
    wanted = np.linspace(0, at[-1], _N_SAMPLES)
    return np.column_stack([np.interp(wanted, at, line[:, k]) for k in (0, 1)])
