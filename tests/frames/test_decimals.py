"""Decimals may be segments, and are no labels, scores or weights, whatever holds them."""

from decimal import Decimal

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import plain

WHOLE = [Decimal(1), Decimal(0), Decimal(1), Decimal(1)]
FRAMES = {
    "objects of pandas": lambda columns: pd.DataFrame(columns, dtype=object),
    "Arrow in pandas": lambda columns: pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.DataFrame,
    "polars, lazy": pl.LazyFrame,
    "PyArrow": pa.table,
}
on_each_frame = cases("make", FRAMES.values())


@on_each_frame
@cases("column", ["y", "p"])
def test_decimals_are_refused_as_labels(make, column):
    rows = {"y": [1, 0, 1, 1], "p": [1, 0, 0, 1]} | {column: WHOLE}
    with pytest.raises(bf.UnsupportedTypeError, match=f"'{column}' of type .*(?i:decimal).*cannot"):
        bf.report(make(rows), "y", "p")


@cases("others", [[0, 1, 0], [False, True, False], [0.0, 1.0, 0.0]])
@cases("at", range(4))
def test_a_decimal_among_other_labels_is_refused_in_any_row(others, at):
    labels = [*others[:at], Decimal(1), *others[at:]]
    frame = pd.DataFrame({"y": pd.Series(labels, dtype=object), "p": [1, 0, 0, 1]})
    with pytest.raises(
        bf.UnsupportedTypeError, match="'y' of type Decimal cannot be used as labels"
    ):
        bf.report(frame, "y", "p")


@on_each_frame
@cases("role", ["sample_weight", "counts"])
def test_decimals_are_refused_as_weights_and_counts(make, role):
    rows = {"y": [1, 0, 1, 1], "p": [1, 0, 0, 1], "w": WHOLE}
    with pytest.raises(bf.UnsupportedTypeError, match=r"'w' has the type .* Cast it first"):
        bf.report(make(rows), "y", "p", **{role: "w"})


@on_each_frame
def test_decimals_are_accepted_as_segments(make):
    g = [Decimal("0.50"), Decimal("-1"), None, Decimal("0.5")]
    rows = {"g": g, "y": [1, 0, 1, 1], "p": [1, 0, 0, 1]}
    result = plain(bf.report(make(rows), "y", "p", by="g"))
    assert result["g"] == [Decimal("-1"), Decimal("0.5"), None]
    assert (result["n"], result["accuracy"]) == ([1, 2, 1], [1.0, 1.0, 0.0])
