"""The figures on the first pages: what is compared there can differ."""

import sys

import polars as pl
import pytest

from benchmarks.proofs import families
from benchmarks.proofs.engines import compare, is_same
from benchmarks.proofs.intervals import EQUAL, balframe_limits, contains, draw, fairlearn_limits

pytestmark = pytest.mark.any_version


def test_a_frame_of_the_same_rows_has_no_different_value():
    same = list(compare(pl.DataFrame, seed=1))

    assert len(same) > 100
    assert all(same)


def test_a_frame_without_its_last_row_has_different_values():
    assert not all(compare(lambda rows: pl.DataFrame(rows)[:-1], seed=1))


@pytest.mark.parametrize(
    ("value", "exact", "same"),
    [
        (3, 3, True),
        (3, 4, False),
        (0.5, 0.5 + 1e-13, True),
        (0.5, 0.5001, False),
        (None, 0.5, False),
        (0.0, None, False),
        (None, None, True),
    ],
)
def test_values_are_the_same_to_12_digits(value, exact, same):
    assert is_same(value, exact) == same


@pytest.mark.filterwarnings("ignore")  # of fairlearn
def test_intervals_of_both_libraries_are_about_the_same_difference():
    frame = draw(EQUAL, seed=3)
    shares = frame.group_by("group").agg(right=(pl.col("y") == pl.col("yhat")).mean())["right"]
    observed = shares.max() - shares.min()

    assert contains(balframe_limits(frame), observed)
    assert contains(fairlearn_limits(frame, seed=3, resamples=20), observed)


def test_categories_that_differ_are_found_and_a_missing_peer_is_named(monkeypatch):
    frame = families.draw(1.0, seed=1)
    monkeypatch.setitem(sys.modules, "evalstats", None)

    assert 0 in families.balframe_categories(frame)
    with pytest.raises(SystemExit, match=r"evalstats is not installed: python -m pip install"):
        families.evalstats_categories(frame)
