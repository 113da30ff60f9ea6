import numpy as np
import pytest

import balframe as bf
from balframe.core.class_counts import segments_at
from balframe.core.leave_one_out import sum_other_segments, sum_segments
from balframe.core.two_labels import one_versus_rest_counts
from tests.support.cases import cases


def table(cells):
    """The rows of each segment, true and predicted label."""
    return {
        (int(segment), int(actual), int(outcome)): int(n)
        for segment, actual, outcome, n in zip(
            cells.by[0], cells.actual, cells.outcome, cells.n, strict=True
        )
    }


@cases("matrix", [[[3, 1], [0, 2]], [[3, 1, 0], [0, 2, 5], [1, 0, 0]]])
def test_cells_are_those_of_the_matrix(matrix):
    c = bf.ClassCounts.from_matrix(matrix)

    expected = {(0, i, j): n for i, row in enumerate(matrix) for j, n in enumerate(row) if n}
    assert table(c.confusion_cells()) == expected
    assert list(expected) == list(table(c.confusion_cells()))


def test_cells_follow_the_segments():
    c = bf.ClassCounts.from_matrix([[3, 1, 0], [0, 2, 5], [1, 0, 0]])
    twice = segments_at(c, np.array([0, 0]))

    own = table(c.confusion_cells())
    assert table(twice.confusion_cells()) == own | {(1, i, j): n for (_, i, j), n in own.items()}
    assert table(sum_segments(twice).confusion_cells()) == {key: 2 * n for key, n in own.items()}
    assert table(sum_other_segments(twice, np.array([1])).confusion_cells()) == own


def test_class_counts_of_many_labels_without_cells_have_no_confusion_cells():
    c = bf.ClassCounts.from_matrix([[3, 1, 0], [0, 2, 5], [1, 0, 0]])
    c = bf.ClassCounts(3, 3, c.segment, c.label, *[c.n_correct] * 3, *[c.correct] * 3)

    with pytest.raises(bf.InvalidInputError, match="3 labels have no confusion cells"):
        c.confusion_cells()


def test_each_label_against_the_others_has_cells_of_two_labels():
    c = one_versus_rest_counts(bf.ClassCounts.from_matrix([[3, 1, 0], [0, 2, 5], [1, 0, 0]]))

    cells = table(c.confusion_cells())
    assert [cells.get((0, i, j), 0) for i in (0, 1) for j in (0, 1)] == [7, 1, 1, 3]
