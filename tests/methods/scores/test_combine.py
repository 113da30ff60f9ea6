"""Cells of parts add up to the cells of the whole."""

import random
from datetime import date

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import (
    assert_table,
    pandas_numpy,
    plain,
    polars_eager,
    polars_lazy,
    pyarrow_table,
)

RNG = random.Random(8)
ROWS = {
    "g": [RNG.choice(["b", "a", None]) for _ in range(90)],
    "h": [RNG.choice([2, 1]) for _ in range(90)],
    "y": [RNG.choice(["u", "v", "w"]) for _ in range(90)],
    "p": [RNG.choice(["u", "v", "w"]) for _ in range(90)],
    "q": [RNG.choice(["u", "v"]) for _ in range(90)],
    "w": [RNG.choice([0.0, 0.5, 4.0]) for _ in range(90)],
}
CALLS = {
    "whole": lambda df: bf.confusion(df, "y", "p"),
    "segments": lambda df: bf.confusion(df, "y", "p", by=["g", "h"]),
    "weights": lambda df: bf.confusion(df, "y", "p", by="g", sample_weight="w"),
    "models": lambda df: bf.confusion(df, "y", ["p", "q"], by="g"),
}


def _part(start, stop):
    return {name: values[start:stop] for name, values in ROWS.items()}


@pytest.mark.filterwarnings("ignore::balframe.BalframeWarning")  # one label may be all
@cases("make", [pandas_numpy, polars_eager, polars_lazy, pyarrow_table])
@cases("method", CALLS.values())
def test_parts_sum_to_the_whole(method, make):
    parts = [method(make(_part(*ends))) for ends in ((0, 20), (20, 21), (21, 90))]
    added, whole = bf.combine(parts), method(make(ROWS))
    assert type(added) is type(whole)
    assert plain(added) == plain(whole)


def test_combine_keeps_added_columns_and_sums_over_dropped_columns():
    days = [date(2026, 1, 1), date(2026, 1, 2)]
    cells = [
        bf.confusion(pl.DataFrame(rows), "y", "p").with_columns(day=pl.lit(day))
        for rows, day in zip(({"y": [1, 0], "p": [1, 1]}, {"y": [1], "p": [1]}), days, strict=True)
    ]
    apart = {"day": [days[0], days[0], days[1]], "y": [0, 1, 1], "p": [1, 1, 1], "n": [1, 1, 1]}
    assert_table(bf.combine(cells), apart)
    over = bf.combine([frame.drop("day") for frame in cells])
    assert_table(over, {"y": [0, 1], "p": [1, 1], "n": [1, 2]})


def test_combined_cells_can_be_combined_again():
    parts = [bf.confusion(pl.DataFrame(_part(i, i + 30)), "y", "p", by="g") for i in (0, 30, 60)]
    assert bf.combine([bf.combine(parts[:2]), parts[2]]).equals(bf.combine(iter(parts)))


def test_the_order_of_columns_may_differ():
    cells = bf.confusion(pl.DataFrame(ROWS), "y", "p", by="g")
    twice = bf.combine([cells, cells.select(reversed(cells.columns))])
    assert twice.equals(cells.with_columns(pl.col("n") * 2))


def test_sums_of_counts_past_64_bits_raise():
    cells = pl.DataFrame({"y": [1], "p": [1], "n": [2**62]})
    assert bf.combine([cells, cells.with_columns(n=2**62 - 1)])["n"].to_list() == [2**63 - 1]
    with pytest.raises(bf.InvalidInputError, match=str(2**63 - 1)):
        bf.combine([cells, cells])


CELLS = bf.confusion(pl.DataFrame(ROWS), "y", "p", by="g")
REFUSED = {
    "nothing": ([], "at least one"),
    "one frame": (CELLS, "needs a list of results"),
    "one pandas frame": (CELLS.to_pandas(), "needs a list of results"),
    "no frame": ([1], "not a frame that balframe can read"),
    "no cells": ([CELLS.drop("n")], "not those of a result of `confusion`"),
    "no labels": ([CELLS.select("p", "n")], "not those of a result of `confusion`"),
    "shares": ([CELLS.with_columns(share=1.0)], "shares cannot be added"),
    "roll-ups": (
        [bf.confusion(pl.DataFrame(ROWS), "y", "p", by="g", margins="overall")],
        "finest rows only",
    ),
    "other columns": ([CELLS, CELLS.drop("g")], "different columns"),
    "weights in one": ([CELLS, CELLS.with_columns(weight=1.0, weight_sq=1.0)], "different columns"),
    "half of the weights": ([CELLS.with_columns(weight=1.0)], "'weight_sq' is missing"),
    "several libraries": ([CELLS, CELLS.to_pandas()], "of several kinds: polars, pandas"),
    "other types": ([CELLS, CELLS.with_columns(g=pl.lit([1]))], "'g' holds .* never compare equal"),
    "other types of Arrow": (
        [pa.table({"y": [1], "p": [1], "n": [1]}), pa.table({"y": ["a"], "p": [1], "n": [1]})],
        "'y' holds .* never compare equal",
    ),
    "labels of two kinds": (
        [pd.DataFrame({"y": [y], "p": [y], "n": [1]}) for y in (1, "a")],
        "string",
    ),
}


@cases(("frames", "said"), REFUSED.values())
def test_frames_that_are_not_compatible_cells_raise(frames, said):
    with pytest.raises(bf.BalframeError, match=said):
        bf.combine(frames)
