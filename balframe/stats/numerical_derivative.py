"""The derivatives of a metric by the cells, by differences, for confidence limits.

A metric is evaluated at confusion matrices one cell of which is changed. Derivatives are five-point
formulas, with steps of 0.1% of the cell for the first and of 0.4% for the second one. There are
none where the metric is not a function of the shares of the cells.
"""

from collections.abc import Callable, Iterator

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts
from balframe.stats.delta_method import ROWS_ADDED, Linearisation
from balframe.stats.label_function import LabelFunction, LabelPairs, without_warnings
from balframe.stats.perturbed_cells import PerturbedCells
from balframe.stats.smoothed_cells import ObservedCells, SmoothedCells

MOST_LABELS = 32  # of a segment; it is evaluated 8 K^2 times

# Returns a metric at every matrix, flat.
Evaluate = Callable[[PerturbedCells], FloatArray]

_STEPS = np.outer([1e-3, 4e-3], [-2, -1, 1, 2]).ravel()
_FIRST = np.array([1, -8, 8, -1]) / 12
_SECOND = np.array([-1, 16, 16, -1]) / 12
_SECOND_AT_CELL = -30 / 12
_TOLERANCE = 1e-6


def evaluate_counts(function: Callable[[ClassCounts], FloatArray]) -> Evaluate:
    """Return the evaluation of a function of class counts."""
    return lambda cells: np.asarray(function(cells.class_counts), np.float64)


def evaluate_labels(function: LabelFunction) -> Evaluate:
    """Return the evaluation of a function of labels, which takes the rows of each pair of them."""

    def evaluate(cells: PerturbedCells) -> FloatArray:
        c = cells.counts
        function.check(c)
        values = []
        for segment, positions, matrix, changes in zip(
            cells.segments.tolist(), cells.label, cells.cells, cells.changes, strict=True
        ):
            pairs = LabelPairs.all_of(c, segment, positions, matrix.ravel())
            scale = (c.n[segment] + ROWS_ADDED) / cells.rows_of_share
            for n in _changed(pairs.n, changes.reshape(matrix.size, -1)):
                values.append(function.evaluate(pairs, n * scale, "for rows that are not whole, "))
        return np.array(values)

    def evaluate_quietly(cells: PerturbedCells) -> FloatArray:
        with without_warnings():
            return evaluate(cells)

    return evaluate_quietly


def _changed(rows: Int64Array, changes: Int64Array) -> Iterator[Int64Array]:
    """Yield the rows of all cells, then those with each cell changed at each point."""
    yield rows
    for cell, of_cell in enumerate(changes):
        for change in of_cell:
            changed = rows.copy()
            changed[cell] += change
            yield changed


def value_of_shares(evaluate: Evaluate, observed: ObservedCells) -> FloatArray:
    """Return a metric of the shares of the observed cells; NaN where labels are too many."""
    nothing = np.zeros(observed.counts.n_segments)
    value = np.full(len(nothing), np.nan)
    for block in PerturbedCells.blocks(SmoothedCells(observed, nothing), np.zeros(0), MOST_LABELS):
        value[block.segments] = evaluate(block)
    return value


def linearise_numerically(
    evaluate: Evaluate, range_: tuple[float, float], cells: SmoothedCells
) -> Linearisation:
    """Linearise u = (metric - low) / (high - low); NaN where a metric is undefined near by."""
    m, entries = cells.margins, cells.observed.entries
    n_cells = (m.n_labels**2).astype(np.int64)
    begin = np.cumsum(n_cells) - n_cells
    first, second = np.full((2, int(n_cells.sum())), np.nan)
    value = np.full(len(n_cells), np.nan)
    means = np.full((4, len(n_cells)), np.nan)
    position = np.zeros(len(m.occurs), np.int64)
    for block in PerturbedCells.blocks(cells, _STEPS, MOST_LABELS):
        position[block.entries] = np.arange(block.n_labels)
        of_block = _differentiate(block, evaluate, range_)
        at = begin[block.segments, None] + np.arange(block.n_labels**2)
        value[block.segments], (first[at], second[at]) = of_block[0], of_block[1]
        d = first[at]
        means[:, block.segments] = [v.mean(axis=1) for v in (d**2, d**3, d**4, second[at])]
    # of cells without weight, whose labels may not occur, nothing is used
    has_weight = cells.observed.share > 0
    k = m.n_labels[entries.segment].astype(np.int64)
    at = begin[entries.segment] + position[entries.true] * k + position[entries.predicted]
    observed = np.where(has_weight, at, 0)
    return Linearisation(
        cells.observed.weights,
        cells.added,
        value,
        np.where(has_weight, first[observed], 0),
        means[0],
        lambda: (means[1], means[2]),
        lambda: np.where(has_weight, second[observed], 0),
        lambda: means[3],
    )


def _differentiate(
    cells: PerturbedCells, evaluate: Evaluate, range_: tuple[float, float]
) -> tuple[FloatArray, tuple[FloatArray, FloatArray]]:
    """Return u and its derivatives by the share of each cell, the first less its mean."""
    size, low, high = len(cells.segments), *range_
    u = (evaluate(cells).reshape(size, cells.n_matrices) - low) / (high - low)
    value, changed = u[:, 0], u[:, 1:].reshape(size, -1, 2, 4)
    # the step of each formula, as a share; 0 of a cell without weight
    step = cells.changes.reshape(changed.shape)[..., 2] / cells.rows_of_share
    at_cell = np.where(step > 0, step, 1)
    first = changed[:, :, 0] @ _FIRST / at_cell[:, :, 0]
    curve = changed[:, :, 1] @ _SECOND + _SECOND_AT_CELL * value[:, None]
    second = curve / at_cell[:, :, 1] ** 2
    first, second = (np.where(step[:, :, 0] > 0, v, 0) for v in (first, second))
    share = cells.cells.reshape(size, -1) / cells.rows_of_share
    mean, spread = (share * first).sum(axis=1), np.sqrt((share * first**2).sum(axis=1))
    # the mean of a function of shares is 0
    is_of_shares = np.abs(mean) <= _TOLERANCE * spread + _TOLERANCE**2
    first = np.where(is_of_shares[:, None], first - mean[:, None], np.nan)
    return value, (first, second)
