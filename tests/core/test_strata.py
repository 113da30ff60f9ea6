"""Strata of segments, side by side."""

import numpy as np

from balframe.core.strata import Strata

SIZES = [1, 5, 2, 3, 4]


def strata_of_sizes(sizes):
    """Return segments with so many strata, each with rows of its own number."""
    segment = np.repeat(np.arange(len(sizes)), sizes)
    rows = np.arange(1.0, len(segment) + 1)
    return Strata.of(
        segment, segment % 2, len(sizes), rows, rows / 2, rows / 4, by_label=rows[:, None]
    )


def test_segments_come_with_those_of_as_many_strata_but_for_a_factor_of_two():
    groups = [at.tolist() for at in strata_of_sizes(SIZES).segments_by_size()]

    assert [[SIZES[segment] for segment in group] for group in groups] == [[1], [2, 3], [5, 4]]


def test_places_without_rows_are_left_out_after_segments_are_taken():
    every = strata_of_sizes(SIZES)
    taken = every.at(np.array([3, 0])).without_padding()

    assert taken.rows.tolist() == [[9, 10, 11], [1, 0, 0]]
    assert taken.labelled.tolist() == [[4.5, 5, 5.5], [0.5, 0, 0]]
    assert taken.prediction.tolist() == [[1, 1, 1], [0, -1, -1]]
    assert taken.by_label is not None
    assert taken.by_label.shape == (2, 3, 1)


def test_a_segment_without_rows_keeps_one_place():
    empty = strata_of_sizes([2]).only(np.array([[False, False]])).without_padding()

    assert empty.rows.tolist() == [[0]]
