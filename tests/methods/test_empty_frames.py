"""A frame without rows has no segments: every method gives its columns and no rows."""

import polars as pl
import pytest
from sklearn.metrics import accuracy_score

import balframe as bf
from balframe.methods import declarations
from tests.support.cases import cases
from tests.support.constructors import plain
from tests.support.method_arguments import METHODS_WITH_BY, days, example_arguments

ROWS = pl.DataFrame(
    {
        "g": ["a", "a", "b", "b"],
        "y": [0, 1, 1, 0],
        "p": [0, 1, 0, 0],
        "q": [0, 0, 1, 1],
        "s": [0.1, 0.8, 0.6, 0.3],
        "t": [0.2, 0.7, 0.6, 0.5],
        "day": days(4),
    }
)
KINDS = {"polars": pl.DataFrame.clone, "lazy": pl.DataFrame.lazy, "pandas": pl.DataFrame.to_pandas}
each_kind = cases("kind", KINDS.values())
WITHOUT_BY = [
    name for name in METHODS_WITH_BY if not declarations()[name].parameters["by"].is_required
]


def result(method, frame, **options):
    return plain(getattr(bf, method)(frame, **example_arguments(method, **options)))


@each_kind
@cases("method", METHODS_WITH_BY)
def test_an_empty_frame_returns_the_columns_of_a_result_without_rows(method, kind):
    found = result(method, kind(ROWS.clear()))

    assert list(found) == list(result(method, kind(ROWS)))
    assert not any(found.values())


@each_kind
@cases("method", WITHOUT_BY)
def test_an_empty_frame_without_by_returns_no_rows(method, kind):
    found = result(method, kind(ROWS.clear()), by=None)

    assert list(found) == list(result(method, kind(ROWS), by=None))
    assert not any(found.values())


@cases("method", METHODS_WITH_BY)
@cases("margins", ["overall", "all"])
def test_an_empty_frame_has_no_margins(method, margins):
    options = {"margins": margins} if "margins" in declarations()[method].parameters else {}

    assert not any(result(method, ROWS.clear(), **options).values())


@pytest.mark.parametrize("by", ["g", None])
def test_require_fails_on_an_empty_frame(by):
    with pytest.raises(bf.CheckFailed, match="there is no row to judge, so no rule can pass"):
        bf.require(ROWS.clear(), "y", "p", by=by, rules="accuracy >= 0")


def test_a_segment_whose_rows_are_all_dropped_stays_in_the_result():
    lost = ROWS.head(1).with_columns(p=pl.lit(None, pl.Int64))

    found = plain(bf.report(lost, "y", "p", missing="drop", metrics="accuracy"))

    assert (found["n"], found["n_missing"], found["accuracy"]) == ([0], [1], [None])


def test_scikit_learn_refuses_empty_arrays():
    with pytest.raises(ValueError, match="empty"):
        accuracy_score([], [])
