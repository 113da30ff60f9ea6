"""How far predictions lie from their labels, for metrics of labels in an order."""

import numpy as np
import pytest

import balframe as bf
from balframe.core.cells import Cells
from balframe.core.class_counts import ClassCounts, segments_at
from balframe.core.label_counts import LabelCounts
from balframe.core.leave_one_out import sum_other_segments, sum_segments
from balframe.core.row_sums import RowSums

SEGMENT = np.array([0, 0, 0, 1, 1, 2])
ACTUAL, OUTCOME = np.array([0, 0, 2, 1, 3, 3]), np.array([0, 3, 1, 1, 1, 0])
N = np.array([5, 2, 1, 4, 3, 7])
LINEAR, SQUARED = [2 * 3 + 1 * 1, 3 * 2, 7 * 3], [2 * 9 + 1 * 1, 3 * 4, 7 * 9]


def counts(weight=None):
    sums = RowSums(N, None, weight, None if weight is None else weight**2)
    return ClassCounts.of(LabelCounts.of(Cells((SEGMENT,), ACTUAL, OUTCOME, sums), 4))


def test_distances_are_added_up_over_the_rows_of_each_segment():
    assert counts().distance(1).tolist() == LINEAR
    assert counts().distance(2).tolist() == SQUARED
    assert counts(N / 4).distance(1).tolist() == [one / 4 for one in LINEAR]


@pytest.mark.parametrize(("power", "each"), [(1, LINEAR), (2, SQUARED)])
def test_sums_of_segments_have_the_sums_of_their_distances(power, each):
    assert segments_at(counts(), np.array([2, 0, 2])).distance(power).tolist() == [
        each[2],
        each[0],
        each[2],
    ]
    assert sum_segments(counts()).distance(power).tolist() == [sum(each)]
    rests = sum_other_segments(counts(), np.arange(3))
    assert rests.distance(power).tolist() == [sum(each) - one for one in each]


def test_distance_of_two_labels_equals_the_number_of_errors():
    two = bf.ClassCounts.from_matrix([[5, 2], [3, 1]])

    assert two.distance(2).tolist() == two.in_rows.distance(1).tolist() == [5]


def test_distance_without_cells_is_refused_for_more_than_two_labels():
    with pytest.raises(
        bf.InvalidInputError, match="class counts of 4 labels have no confusion cells"
    ):
        counts(N / 4).in_rows.distance(1)
