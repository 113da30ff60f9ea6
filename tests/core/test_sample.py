"""Clusters of each segment: which of them have a single row."""

import numpy as np

from balframe.core.cells import Cells
from balframe.core.class_counts import ClassCounts
from balframe.core.label_counts import LabelCounts
from balframe.core.row_sums import RowSums
from balframe.core.sample import Clusters


def test_only_segments_whose_clusters_all_have_one_row_are_single():
    # two clusters of one row; one of one row and one of two rows, right and wrong; one of two rows
    segment, cluster = np.array([0, 0, 1, 1, 1, 2]), np.array([0, 1, 0, 2, 2, 3])
    actual, predicted = np.array([0, 1, 0, 1, 1, 0]), np.array([0, 1, 0, 0, 1, 0])
    rows = RowSums(np.array([1, 1, 1, 1, 1, 2]))
    cells = Cells((segment, cluster), actual, predicted, rows)
    of_segments = Cells((segment,), actual, predicted, rows).regrouped()

    clusters = Clusters.of(cells, ClassCounts.of(LabelCounts.of(of_segments, 2)))

    assert clusters.are_single.tolist() == [True, False, False]
