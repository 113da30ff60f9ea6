"""The derivatives of weighted kappa, for its confidence limits.

With w_ij the distance of the labels i and j, and t and p the margins of truth and prediction,
kappa = 1 - c with c = A / B, A = sum w_ij pi_ij and B = sum w_ij t_i p_j. The expected distances
are a_i = sum_j w_ij p_j of a true, and b_j = sum_i w_ij t_i of a predicted label. The derivatives
by the share of a cell, of the function that stays the same if all cells are multiplied, are

    c'_ij = [w_ij + A - c (a_i + b_j)] / B,    c''_ij = 2 [(1 - c) w_ij - (a_i + b_j) c'_ij] / B.

The mean of c' over the rows is 0. u = (1 + kappa) / 2 = 1 - c / 2. Powers over all K^2 cells are
summed one by one: time goes with the square of the number of labels of a segment.

References
----------
J. L. Fleiss, J. Cohen and B. S. Everitt, "Large sample standard errors of kappa and weighted
kappa", Psychological Bulletin 1969.
"""

from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.safe_divide import ratio
from balframe.stats.batching import group_by_label_count
from balframe.stats.delta_method import ROWS_ADDED, Linearisation
from balframe.stats.smoothed_cells import SmoothedCells

_BLOCK_SIZE = 2**18  # cells at once


def linearise_weighted_kappa(power: int, cells: SmoothedCells) -> Linearisation:
    """Linearise u = (1 + kappa) / 2 for distances |i - j|**power between positions of labels."""
    c, entries = cells.margins.counts, cells.observed.entries
    steps = c.label[entries.true] - c.label[entries.predicted]
    distance = np.abs(steps).astype(np.float64) ** power
    observed = np.bincount(entries.segment, distance * cells.observed.share, c.n_segments)
    k = _kappa_of_all_cells(power, cells, np.asarray(observed, np.float64))
    expected = k.of_true[entries.true] + k.of_predicted[entries.predicted]
    inverse, complement = k.inverse[entries.segment], k.complement[entries.segment]
    first = (distance + k.distance[entries.segment] - complement * expected) * inverse

    def second() -> FloatArray:
        return np.asarray(-((1 - complement) * distance - expected * first) * inverse)

    cube, fourth = k.mean_powers[1] / -8, k.mean_powers[2] / 16
    return Linearisation(
        cells.observed.weights,
        cells.added,
        1 - k.complement / 2,
        -first / 2,
        k.mean_powers[0] / 4,
        lambda: (cube, fourth),
        second,
        lambda: -k.mean_second / 2,
    )


@dataclass(frozen=True, slots=True)
class _KappaParts:
    """A, 1 / B and c of each segment, a and b of each entry, and means over all cells.

    `mean_powers` are the means of the second to the fourth power of c', of the shape (3, segments).
    """

    distance: FloatArray
    inverse: FloatArray
    complement: FloatArray
    of_true: FloatArray
    of_predicted: FloatArray
    mean_powers: FloatArray
    mean_second: FloatArray


def _kappa_of_all_cells(power: int, cells: SmoothedCells, observed: FloatArray) -> _KappaParts:
    """Compute the parts of kappa, from the mean distance of the observed rows."""
    m = cells.margins
    c = m.counts
    of_entries, of_segments = np.zeros((2, len(c.segment))), np.full((7, c.n_segments), np.nan)
    order = np.flatnonzero(m.occurs)
    for segments, at in group_by_label_count(c.segment[order], c.n_segments, order):
        size = max(_BLOCK_SIZE // at.shape[1] ** 2, 1)
        for begin in range(0, len(segments), size):
            block, rows = segments[begin : begin + size], at[begin : begin + size]
            added = cells.added_to_cell[block]
            whole = 1 + ROWS_ADDED * cells.added[block]
            margins = m.true[rows], m.predicted[rows]
            of_entries[:, rows], of_segments[:, block] = _of_block(
                _distances(c.label[rows], power), *margins, observed[block], added, whole
            )
    distance, inverse, complement = of_segments[:3]
    of_true, of_predicted = of_entries
    means, second = of_segments[3:6], of_segments[6]
    return _KappaParts(distance, inverse, complement, of_true, of_predicted, means, second)


def _distances(label: Int64Array, power: int) -> FloatArray:
    """Return the distances of all pairs of labels, of the shape (segments, K, K)."""
    steps = np.abs(label[:, :, None] - label[:, None, :])
    return np.asarray(steps.astype(np.float64) ** power)


def _of_block(
    w: FloatArray,
    true: FloatArray,
    predicted: FloatArray,
    observed: FloatArray,
    added: FloatArray,
    whole: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return a and b of the labels, and the parts of segments with equally many labels."""
    a, b = np.einsum("sij,sj->si", w, predicted), np.einsum("sij,si->sj", w, true)
    distance = (observed + added * w.sum(axis=(1, 2))) / whole
    inverse = ratio(np.ones(len(w)), (true * a).sum(axis=1))
    complement = distance * inverse
    expected = a[:, :, None] + b[:, None, :]
    c, over = complement[:, None, None], inverse[:, None, None]
    first = (w + distance[:, None, None] - c * expected) * over
    squares = first * first
    means = [values.mean(axis=(1, 2)) for values in (squares, squares * first, squares * squares)]
    second = (2 * ((1 - c) * w - expected * first) * over).mean(axis=(1, 2))
    return np.stack([a, b]), np.stack([distance, inverse, complement, *means, second])
