"""A score that equals its bound is judged as equal, whatever the last digit of a float.

And a bound decides on the side of a limit on which it is, however close.
"""

import polars as pl
import pytest

import balframe as bf
from tests.support.oracles.constrained_likelihood import limits

THREE = pl.DataFrame(
    {
        "y": [0, 0, 1, 1, 2, 2],
        "p": [0, 1, 1, 2, 2, 0],
        "g": ["a"] * 6,
        "k": [7, 3, 8, 2, 9, 1],  # (.7 + .8 + .9) / 3 = .8
    }
)
TWO = pl.DataFrame({"y": [1] * 4, "p": [1, 0, 1, 0], "g": [*"aabb"], "k": [8, 2, 7, 3]})


@pytest.mark.parametrize(("operator", "status"), [(">=", "pass"), ("==", "pass"), (">", "fail")])
def test_balanced_accuracy_equal_to_its_bound_is_judged_as_equal(operator, status):
    rule = f"balanced_accuracy {operator} 0.8"

    out = bf.check(THREE, "y", "p", rules=rule, by="g", counts="k", level=None)

    assert set(out["status"]) == {status}


@pytest.mark.parametrize(("operator", "status"), [("<=", "pass"), ("==", "pass"), ("<", "fail")])
def test_difference_equal_to_its_bound_is_judged_as_equal(operator, status):
    rule = f"difference(accuracy) {operator} 0.1"

    out = bf.check(TWO, "y", "p", rules=rule, by="g", counts="k", level=None)

    assert set(out["status"]) == {status}


@pytest.mark.parametrize("segments", [1, 60])
def test_status_changes_exactly_at_the_confidence_limits(segments):
    right, rows, weights = (9, 190), (10, 200), (0.5, 0.5)
    level = 1 - 0.05 / segments
    each = [limits(right, rows, weights, level, skewness=one) for one in (False, True)]
    low, high = float(min(one[0] for one in each)), float(max(one[1] for one in each))
    cells = [(0, 0, 9), (0, 1, 1), (1, 1, 190), (1, 0, 10)]
    frame = pl.DataFrame(
        [(str(g), *cell) for g in range(segments) for cell in cells],
        schema=list("gypk"),
        orient="row",
    )

    for bound, status in (
        (low - 1e-9, "pass"),
        (low + 1e-9, "inconclusive"),
        (high - 1e-9, "inconclusive"),
        (high + 1e-9, "fail"),
    ):
        rule = f"balanced_accuracy >= {bound:.12f}"
        out = bf.check(frame, "y", "p", rules=rule, by="g", counts="k")
        assert set(out["status"]) == {status}
