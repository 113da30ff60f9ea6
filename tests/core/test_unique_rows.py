"""Different rows of columns of numbers, beside those that a dict finds."""

import numpy as np

from balframe.core.unique_rows import unique_rows
from tests.support.cases import cases

RNG = np.random.default_rng(29)
N = 3_000
COLUMNS = {
    "counts": RNG.integers(0, 4, N).astype(float),
    "below 0": RNG.integers(-3, 3, N).astype(float),
    "one value": np.full(N, 0.5),
    "shares": RNG.choice([0.1, 0.5, 1 / 3], N),
    "both zeros": RNG.choice([0.0, -0.0], N),
    "many rows": RNG.choice([0, 7, 2**31 - 1], N).astype(float),
    "past whole numbers of 64 bits": RNG.choice([1e300, -1e300, 5e-324], N),
    "a range that is wide": RNG.choice(RNG.integers(0, 2**30, 40), N).astype(float),
}


@cases(
    "names",
    [[name] for name in COLUMNS]
    + [[*COLUMNS], ["many rows"] * 4, ["counts", "shares"], ["a range that is wide", "below 0"]],
)
def test_unique_rows_equal_those_of_a_set(names):
    columns = [RNG.permutation(COLUMNS[name]) for name in names]
    rows = [*zip(*(column.tolist() for column in columns), strict=True)]

    first, copies = unique_rows(columns)

    assert [rows[i] for i in first[copies]] == rows
    assert len(first) == len({*rows})
    assert sorted({*copies.tolist()}) == [*range(len(first))]


def test_unique_rows_of_empty_columns_are_empty():
    first, copies = unique_rows([np.zeros(0), np.zeros(0)])

    assert (len(first), len(copies)) == (0, 0)
