"""Rows of numbers are computed once where they are equal, and many of them part by part."""

import numpy as np
import pytest

from balframe.stats.batching import compute_unique_rows


@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize("n_rows", [0, 1, 10])
def test_equal_rows_are_computed_once_in_batches_of_limited_size(monkeypatch, size, n_rows):
    monkeypatch.setattr("balframe.stats.batching.SEGMENTS", size)
    x = np.arange(n_rows * 2.0).reshape(n_rows, 2) % 6
    sizes = []

    def compute(x, n):
        sizes.append(len(x))
        return (x * n).sum(axis=1), x[:, 0]

    products, first = compute_unique_rows(compute, [x, x + 1])

    assert products.tolist() == (x * (x + 1)).sum(axis=1).tolist()
    assert first.tolist() == x[:, 0].tolist()
    assert sum(sizes) == min(n_rows, 3)
    assert max(sizes) <= size
