"""Comparisons where all rows are in one segment, as after a filter."""

import warnings

import polars as pl
import pytest

import balframe as bf
from tests.support.constructors import each_constructor, plain

ROWS = {
    "y": [1, 0, 1, 1, 0, 0],
    "p": [1, 0, 0, 1, 1, 0],
    "s": [0.9, 0.2, 0.4, 0.8, 0.6, 0.1],
    "g": ["a"] * 6,
    "h": ["u", "v"] * 3,
}
CALLS = {
    "gaps": lambda rows, by: bf.gaps(rows, "y", "p", by=by),
    "gaps from the largest": lambda rows, by: bf.gaps(rows, "y", "p", by=by, reference="largest"),
    "fairness": lambda rows, by: bf.fairness(rows, "y", "p", by=by),
    "calibration_gaps": lambda rows, by: bf.calibration_gaps(rows, "y", "s", by=by),
    "ranking": lambda rows, by: bf.ranking(rows, "y", "s", by=by, reference="rest"),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_single_segment_is_named_in_a_warning(call):
    with pytest.warns(bf.BalframeWarning, match="one segment, in which 'g' is 'a', so .* nothing"):
        call(pl.DataFrame(ROWS), "g")


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_two_segments_or_none_are_compared_without_a_warning(call):
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "all rows are in one segment")
        call(pl.DataFrame(ROWS), "h")
        call(pl.DataFrame(ROWS), ["g", "h"])
        call(pl.DataFrame(ROWS).clear(), "g")
        call(pl.DataFrame(ROWS | {"g": ["a", None] * 3}), "g")


def test_the_segment_is_named_as_where_a_gate_does_not_expect_it():
    rows = pl.DataFrame(ROWS | {"g": [None] * 6, "h": ["u\x1b"] * 6})
    expected = {"g": ["x"], "h": ["u"]}
    with pytest.warns(bf.BalframeWarning, match=r"in which 'g' is null, 'h' is 'u\\x1b', so gaps"):
        bf.gaps(rows, "y", "p", by=["g", "h"])
    with pytest.warns(bf.BalframeWarning, match=r"not expected: 'g' is null, 'h' is 'u\\x1b'\. If"):
        bf.check(rows, "y", "p", by=["g", "h"], rules="n >= 1", expect=expected)


@each_constructor
def test_every_library_warns_of_a_single_segment_of_several_columns(constructor):
    frame = constructor(ROWS | {"h": ["u"] * 6})
    with pytest.warns(bf.BalframeWarning, match="'g' is 'a', 'h' is 'u', so gaps has nothing"):
        plain(bf.gaps(frame, "y", "p", by=["g", "h"], margins="all"))


def test_each_of_two_models_of_a_single_segment_has_nothing_to_be_compared_with():
    frame = pl.DataFrame(ROWS | {"q": ROWS["y"]})
    with pytest.warns(bf.BalframeWarning, match="all rows are in one segment"):
        bf.gaps(frame, "y", ["p", "q"], by="g")
