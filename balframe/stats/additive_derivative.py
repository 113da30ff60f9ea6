"""A derivative by the cells of a confusion matrix that is a sum over its labels.

In the cells of wrong rows it is row_i + column_j, with i the true and j the predicted label, and in
those of right rows it has a value of its own. Its powers are summed over the observed cells one by
one, and over all K^2 cells, most of which are empty, from sums over the labels.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from balframe.core.array_types import FloatArray
from balframe.core.safe_divide import ratio
from balframe.stats.smoothed_cells import CellEntries, Margins


@dataclass(frozen=True)
class AdditiveDerivative:
    """The derivative in all cells, less its mean over the rows.

    Parameters
    ----------
    margins : Margins
        The margins of the segments.
    row, column : float arrays, shape (entries,)
        The parts of the true and of the predicted label, in cells of wrong rows.
    right : float array, shape (entries,)
        The derivative in the cell of the rows predicted right.
    step : float array, shape (entries,)
        right - row - column.
    """

    margins: Margins
    row: FloatArray
    column: FloatArray
    right: FloatArray
    step: FloatArray

    def at(self, cells: CellEntries) -> FloatArray:
        """Return the derivative in each of these cells."""
        wrong = self.row[cells.true] + self.column[cells.predicted]
        return np.where(cells.is_wrong, wrong, self.right[cells.true])

    @cached_property
    def centred_row(self) -> tuple[FloatArray, FloatArray]:
        """The mean of the parts of true labels, and the distances from it."""
        return self.margins.centred(self.row)

    @cached_property
    def centred_column(self) -> tuple[FloatArray, FloatArray]:
        """The mean of the parts of predicted labels, and the distances from it."""
        return self.margins.centred(self.column)

    @cached_property
    def _variances(self) -> tuple[FloatArray, FloatArray]:
        mean, (_, row), (_, column) = self.margins.mean, self.centred_row, self.centred_column
        return mean(row * row), mean(column * column)

    @cached_property
    def _mean_of_wrong(self) -> FloatArray:
        """Mean of row_i + column_j over all cells."""
        return self.centred_row[0] + self.centred_column[0]

    def _add_diagonal(self, mean: FloatArray, excess: FloatArray) -> FloatArray:
        """Add what right rows have beyond row_i + column_j to a mean over all cells."""
        return mean + ratio(self.margins.mean(excess), self.margins.n_labels)

    @cached_property
    def mean(self) -> FloatArray:
        """Mean over all K^2 cells."""
        return self._add_diagonal(self._mean_of_wrong, self.step)

    @cached_property
    def mean_square(self) -> FloatArray:
        """Mean square over all K^2 cells, by an analysis of variance."""
        row, column = self._variances
        wrong = self.row + self.column
        squares = row + column + self._mean_of_wrong**2
        return self._add_diagonal(squares, self.step * (self.right + wrong))

    def mean_cube_and_fourth(self) -> tuple[FloatArray, FloatArray]:
        """Return the means of the third and of the fourth power over all K^2 cells."""
        cube, fourth = self._powers_of_wrong()
        right, wrong = self.right, self.row + self.column
        right_sq, wrong_sq = right * right, wrong * wrong
        # right^3 - wrong^3 and right^4 - wrong^4 without their cancellation
        return (
            self._add_diagonal(cube, self.step * (right_sq + right * wrong + wrong_sq)),
            self._add_diagonal(fourth, self.step * (right + wrong) * (right_sq + wrong_sq)),
        )

    def _powers_of_wrong(self) -> tuple[FloatArray, FloatArray]:
        """Average (row_i + column_j)^3, and ^4, over all cells."""
        (_, row), (_, column) = self.centred_row, self.centred_column
        row_sq, column_sq = row * row, column * column
        row_variance, column_variance = self._variances
        cubes = self.margins.mean(row_sq * row + column_sq * column)
        fourths = self.margins.mean(row_sq * row_sq + column_sq * column_sq)
        fourths = fourths + 6 * row_variance * column_variance
        mean = self._mean_of_wrong
        squares, mean_sq = row_variance + column_variance, mean * mean
        return (
            cubes + 3 * mean * squares + mean * mean_sq,
            fourths + 4 * mean * cubes + 6 * mean_sq * squares + mean_sq * mean_sq,
        )
