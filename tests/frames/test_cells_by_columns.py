"""A result of `confusion` is known by its columns, and other frames are not mistaken for one."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import each_constructor, plain

RNG = np.random.default_rng(5)
ROWS = pl.DataFrame({name: RNG.integers(0, 2, 90) for name in ("g", "y", "p", "o")}).with_columns(
    w=pl.Series(RNG.random(90) + 0.1)
)
CELLS = bf.confusion(ROWS, "y", "p", by="g")


@each_constructor
@cases("method", [bf.report, bf.gaps, bf.classes, bf.fairness, bf.confusion])
def test_methods_read_cells_as_the_rows_that_they_count(constructor, method):
    cells = constructor(CELLS.to_dict(as_series=False))

    assert plain(method(cells, "y", "p", by="g")) == plain(method(ROWS, "y", "p", by="g"))


@cases("lazy", [False, True])
def test_weighted_cells_are_read_with_their_weights(lazy):
    cells = bf.confusion(ROWS, "y", "p", by="g", sample_weight="w")

    out = bf.report(cells.lazy() if lazy else cells, "y", "p", by="g", interval=True)

    expected = bf.report(ROWS, "y", "p", by="g", interval=True, sample_weight="w")
    assert_frame_equal(out.lazy().collect(), expected)


def test_cells_of_outcomes_selections_and_partly_labelled_rows_are_known():
    outcomes = bf.confusion(ROWS, outcome="o", by="g")
    assert bf.report(outcomes, outcome="o", by="g").equals(bf.report(ROWS, outcome="o", by="g"))
    asked = {"by": "g", "favourable": "selected"}
    assert bf.impact(CELLS, "p", **asked).equals(bf.impact(ROWS, "p", **asked))
    part = ROWS.with_columns(y=pl.when(pl.int_range(pl.len()) % 3 > 0).then("y"))
    cells = bf.confusion(part, "y", "p", by="g", missing="keep")
    for missing in ("drop", "correct", "bounds"):
        options = {"by": "g", "missing": missing, "metrics": "accuracy"}
        assert_frame_equal(
            bf.report(cells, "y", "p", **options), bf.report(part, "y", "p", **options)
        )


@cases(
    ("frame", "n"),
    [
        (CELLS.select("g", "y", "n", "p"), CELLS.height),
        (CELLS.select("n", "g", "y", "p"), CELLS.height),
        (CELLS.select("g", "p", "y", "n"), CELLS.height),
        (CELLS.select("y", "p", "g", "n"), CELLS.height),
        (CELLS.with_columns(n=pl.lit("many")), CELLS.height),
    ],
)
def test_other_orders_and_types_are_rows(frame, n):
    assert bf.report(frame, "y", "p", metrics="accuracy")["n"].item() == n


MESSAGE = "the columns 'y', 'p' and 'n' are those .* Give counts=\"n\"; if each is a row"


@cases(
    "frame",
    [
        pl.concat([CELLS, CELLS]),
        CELLS.select("y", "p", "n", "g").lazy(),
        pl.DataFrame({"y": [1, 0, 1], "p": [1, 0, 1], "n": [3, 5, 4]}).to_pandas(),
        pl.DataFrame({"y": [1, 0, 1], "p": [1, 0, 1], "n": [3, 5, 4]}).to_arrow(),
    ],
)
def test_rows_that_repeat_are_not_taken_for_cells(frame):
    for method in (bf.report, bf.audit):
        with pytest.raises(bf.InvalidInputError, match=MESSAGE):
            method(frame, "y", "p")
    assert bf.report(pl.concat([CELLS, CELLS]), "y", "p", counts="n")["n"].item() == 2 * ROWS.height


def test_rows_with_weights_are_not_taken_for_cells():
    frame = CELLS.with_columns(w=1.0)
    for method in (bf.report, bf.audit):
        with pytest.raises(bf.InvalidInputError, match=MESSAGE):
            method(frame, "y", "p", by="g", sample_weight="w")
    out = bf.report(frame, "y", "p", by="g", sample_weight="w", counts="n")
    assert out.equals(bf.report(ROWS, "y", "p", by="g"))
