"""Segments with equal counts: found among many, and not looked for where that does not pay."""

import numpy as np
import pytest

from balframe.core.cells import LEFT_OUT, Cells
from balframe.core.row_sums import RowSums
from balframe.core.unique_rows import unique_segments

MATRICES = np.array([[[3, 1], [0, 2]], [[3, 1], [2, 0]], [[0, 0], [0, 5]]])
OF_SEGMENT = np.array([0, 1, 0, 2, 2, 0, 1])


def cells_of(matrices, **sums):
    segment, actual, outcome = np.nonzero(matrices)
    n = matrices[segment, actual, outcome]
    weights = {name: values * n for name, values in sums.items()}
    return Cells((segment,), actual, outcome, RowSums(n, **weights))


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr("balframe.core.counting_strategy.MIN_SEGMENTS", 7)
    monkeypatch.setattr("balframe.core.unique_rows._MOST_DIFFERENT", 3 / 7)


def test_segments_with_equal_counts_are_merged(few):
    first, copies = unique_segments(cells_of(MATRICES[OF_SEGMENT]), 2)

    assert OF_SEGMENT[first][copies].tolist() == OF_SEGMENT.tolist()
    assert len(first) == 3


def test_merging_is_skipped_if_most_sampled_segments_differ(few, monkeypatch):
    monkeypatch.setattr("balframe.core.unique_rows.SAMPLE", 2)

    assert unique_segments(cells_of(MATRICES[OF_SEGMENT]), 2) is None  # the first two differ
    assert unique_segments(cells_of(MATRICES[OF_SEGMENT[::-1]]), 2) is None
    first, _ = unique_segments(cells_of(MATRICES[[*[0] * 8, *OF_SEGMENT]]), 2) or ((), ())
    assert len(first) == 0  # one of two is more than 3/7


@pytest.mark.parametrize(
    "cells",
    [
        cells_of(MATRICES[OF_SEGMENT[:6]]),
        cells_of(MATRICES[[0, 1, 2, 0, 1, 2, 0], :, :], weight=1.0),
        cells_of(np.arange(28).reshape(7, 2, 2)),
        Cells(
            (np.arange(7),), np.full(7, LEFT_OUT), np.full(7, LEFT_OUT), RowSums(np.zeros(7, int))
        ),
    ],
    ids=["few segments", "weights", "all differ", "rows left out"],
)
def test_merging_is_skipped_for_few_weighted_or_distinct_segments(few, cells):
    assert unique_segments(cells, 2) is None


def test_merging_is_skipped_for_many_labels(few):
    assert unique_segments(cells_of(MATRICES[OF_SEGMENT]), 5) is None
