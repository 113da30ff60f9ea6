import math

import numpy as np
import pytest

from balframe.core.prefix_sums import PrefixSums

LOW = np.array([0, 2, 0, 3, 5])
HIGH = np.array([2, 5, 5, 3, 5])


@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int64])
def test_sums_of_integers_are_integers(dtype):
    found = PrefixSums.of(np.array([1, 0, 1, 1, 0], dtype)).between(LOW, HIGH)

    assert found.dtype == np.int64
    assert found.tolist() == [1, 2, 3, 0, 0]


@pytest.mark.parametrize("size", [1.0, 1e9, 1e15])
def test_small_numbers_keep_their_digits_behind_large_ones(size):
    values = np.array([size / 3, 0.1, 0.2, 0.3, 1e-9])

    found = PrefixSums.of(values).between(LOW, HIGH)

    expected = [math.fsum(values[low:high]) for low, high in zip(LOW, HIGH, strict=True)]
    assert found == pytest.approx(expected, rel=1e-15)


def test_columns_are_added_up_one_by_one():
    values = np.random.default_rng(0).normal(size=(5, 3))

    found = PrefixSums.of(values).between(LOW, HIGH)

    expected = [[math.fsum(one) for one in values[a:b].T] for a, b in zip(LOW, HIGH, strict=True)]
    assert found == pytest.approx(np.array(expected), rel=1e-14)
