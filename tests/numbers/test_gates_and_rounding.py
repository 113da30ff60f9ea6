"""A score that equals its bound is judged as equal, whatever the last digit of a float."""

import polars as pl
import pytest

import balframe as bf

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
def test_a_mean_of_recalls_equal_to_its_bound(operator, status):
    rule = f"balanced_accuracy {operator} 0.8"

    out = bf.check(THREE, "y", "p", rules=rule, by="g", counts="k", decide="estimate")

    assert set(out["status"]) == {status}


@pytest.mark.parametrize(("operator", "status"), [("<=", "pass"), ("==", "pass"), ("<", "fail")])
def test_a_difference_equal_to_its_bound(operator, status):
    rule = f"difference(accuracy) {operator} 0.1"

    out = bf.check(TWO, "y", "p", rules=rule, by="g", counts="k", decide="estimate")

    assert set(out["status"]) == {status}
