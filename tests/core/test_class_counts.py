"""Class counts: what means over the labels of a segment say of few rows."""

import balframe as bf


def test_absent_labels_of_a_segment_of_one_row_count_as_zero():
    counts = bf.ClassCounts.from_matrix([[1, 0, 0, 0], *[[0] * 4] * 3], absent="zero")

    assert counts.mean_recall.tolist() == [1 / 4]
