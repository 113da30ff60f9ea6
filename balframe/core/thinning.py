"""Thinning of lines of points: the vertices of a hull, and points spread evenly along a line."""

from heapq import heappop, heappush

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array

_MAX_PRODUCT = 2**61  # of counts, up to which a height fits into int64
_TOLERANCE = 1e-12  # of heights that are not whole, as a share of the square around the line
_OFFSET = 0.6180339887498949  # irrational, so that rounded shares do not lie on the edge of a place


def thin_line(
    x: FloatArray,
    y: FloatArray,
    required: Int64Array,
    max_points: int,
) -> Int64Array:
    """Return the positions of at most `max_points` points of a line, ascending.

    The line falls from its upper right end to its lower left end, as a ROC curve does. Its ends and
    the required points are kept, then the vertices of its upper convex hull, then points that are
    spread evenly along it. The length of the line is the sum of its steps in both directions, each
    as a share of the whole. If the limit is too low for all vertices, those that add most to the
    area of the hull are kept.
    """
    ends = np.array([0, len(x) - 1])
    x, y = _exact_products(x, y)
    kept = np.union1d(ends, required)
    kept = np.union1d(kept, _hull_vertices(x, y, max_points - len(kept)))
    n_places = max(max_points - len(kept), 0)
    height, width = y[0] - y[-1], x[0] - x[-1]
    with np.errstate(invalid="ignore", divide="ignore"):
        length = np.nan_to_num((x[0] - x) / width) + np.nan_to_num((y[0] - y) / height)
        share = np.nan_to_num(np.maximum.accumulate(length) / length[-1])
    is_kept = first_at_each_place(ends[:1], np.floor(share * n_places + _OFFSET))
    is_kept[kept] = True
    return np.flatnonzero(is_kept)


def first_at_each_place(starts: Int64Array, *places: FloatArray) -> BoolArray:
    """Return whether each point is kept: of neighbours at the same place, only the first is.

    Places are numbers, one array for each direction; NaN is a place too. Lines begin at `starts`,
    and their first and last points are kept.
    """
    size = len(places[0])
    is_start = np.zeros(size + 1, np.bool_)
    is_start[[*starts, size]] = True
    is_kept = is_start[:-1] | is_start[1:]
    for place in places:
        before, after = place[:-1], place[1:]
        is_kept[1:] |= (before != after) & ~(np.isnan(before) & np.isnan(after))
    return is_kept


def _exact_products(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return whole numbers whose products fit into int64, or else shares of the whole line."""
    if x.dtype.kind != "f" and int(x[0]) * int(y[0]) <= _MAX_PRODUCT:
        return x, y
    width, height = x[0] - x[-1], y[0] - y[-1]
    return x / (width if width > 0 else 1), y / (height if height > 0 else 1)


def _hull_vertices(x: FloatArray, y: FloatArray, max_vertices: int) -> Int64Array:
    """Return the vertices of the upper hull between the ends, those that add most area first.

    The height of points over a chord is twice the area of their triangle with it. A chord is split
    at its highest point, or at the first and the last of several, and so on (quickhull).
    """
    tolerance = 0.0 if x.dtype.kind != "f" else _TOLERANCE
    vertices: list[int] = []
    chords: list[tuple[float, int, int, int, int]] = []

    def add_chord(low: int, high: int) -> None:
        if high - low < 2:
            return
        inner = slice(low + 1, high)
        height = (y[high] - y[low]) * (x[inner] - x[low])
        height -= (x[high] - x[low]) * (y[inner] - y[low])
        highest = height.max()
        if highest > tolerance:
            at = np.flatnonzero(height >= highest - tolerance) + low + 1
            heappush(chords, (-float(highest), low, int(at[0]), int(at[-1]), high))

    add_chord(0, len(x) - 1)
    while chords and len(vertices) + 2 <= max_vertices:
        _, low, first, last, high = heappop(chords)
        vertices += {first, last}
        add_chord(low, first)
        add_chord(last, high)
    return np.array(vertices, np.int64)
