"""Columns of any type are searched, and read back by `slice_filter`, the same on every library."""

from datetime import date, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import plain

RANDOM = np.random.default_rng(0)
N = 1200
CODES = RANDOM.integers(0, 40, N)
FEW = CODES // 8  # of which 0 and half of 1 are often wrong
Y = RANDOM.integers(0, 2, N)
YHAT = np.where(RANDOM.random(N) < np.where(CODES < 12, 0.5, 0.1), 1 - Y, Y)
BINNED = "x under 10"  # a quarter of the values 0 to 39


def each(of):
    return pl.Series([of(int(code)) for code in FEW])


NUMERIC = {
    **{
        str(one): pl.Series(CODES).cast(one)
        for one in (pl.Int8, pl.UInt8, pl.Int32, pl.UInt64, pl.Float32, pl.Float64)
    },
    "decimals of many": pl.Series([Decimal(f"{i}.00") for i in CODES]),
    "infinite": pl.Series(np.where(CODES < 3, -np.inf, np.where(CODES > 35, np.inf, CODES))),
}
LEVELS = {
    "booleans": (pl.Series(CODES < 12), "x = True"),
    "text": (each(str), "x = 0"),
    "categorical": (each(str).cast(pl.Categorical), "x = 0"),
    "enum": (each(str).cast(pl.Enum([*"43210"])), "x = 0"),
    "datetimes": (each(lambda i: datetime(2024, 1, 1 + i, 3)), "x = 2024-01-01 03:00:00"),
    "times": (each(lambda i: time(1 + i)), "x = 01:00:00"),
    "decimals": (each(lambda i: Decimal(i) / 2), "x = 0"),
    "bytes": (each(lambda i: str(i).encode()), "x = b'0'"),
    "few integers": (pl.Series(FEW), "x = 0"),
    "large integers": (pl.Series(FEW + 2**62), f"x = {2**62}"),
    "large unsigned": (pl.Series(FEW.astype(np.uint64) + 2**62), f"x = {2**62}"),
    "NaN": (pl.Series(np.where(CODES < 12, np.nan, CODES)), "x is null"),
}
ONLY_POLARS = {
    "dates": (each(lambda i: date(2024, 1, 1 + i)), "x = 2024-01-01"),
    "durations": (each(lambda i: timedelta(hours=i)), "x = 0:00:00"),
    "Int128": (pl.Series(CODES).cast(pl.Int128), BINNED),
}
CASES = {name: (values, BINNED) for name, values in NUMERIC.items()} | LEVELS
FORMS = {
    "polars": pl.DataFrame.clone,
    "lazy": pl.DataFrame.lazy,
    "pandas": pl.DataFrame.to_pandas,
    "pandas, pyarrow": lambda frame: frame.to_pandas(use_pyarrow_extension_array=True),
    "pyarrow": pl.DataFrame.to_arrow,
}


def check(values, form, expected):
    whole = pl.DataFrame({"x": values, "y": Y, "yhat": YHAT})
    frame = form(whole)
    result = plain(bf.slices(frame, "y", "yhat", over="x", metrics="accuracy", detail=True))

    assert result["slice"][0] == expected
    for i in range(len(result["n"])):
        row = {name: column[i] for name, column in result.items()}
        inside = bf.slice_filter(frame, row)
        inside = inside.reset_index(drop=True) if isinstance(inside, pd.DataFrame) else inside
        assert len(plain(inside)["y"]) == row["n"]
    return result


@pytest.mark.thorough
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@cases("about", CASES)
def test_every_dtype_is_searched_the_same_in_every_library(about, form):
    values, expected = CASES[about]

    result = check(values, form, expected)
    first = check(values, FORMS["polars"], expected)
    assert {k: v for k, v in result.items() if k != "x"} == {
        k: v for k, v in first.items() if k != "x"
    }


@cases("form", [FORMS["polars"], FORMS["lazy"]])
@cases("about", ONLY_POLARS)
def test_dtypes_that_only_polars_has_are_searched(about, form):
    check(ONLY_POLARS[about][0], form, ONLY_POLARS[about][1])


@cases("form", FORMS.values())
@cases("values", [[[1], [2]], [{"a": 1}, {"a": 2}]])
def test_lists_and_structs_are_refused_as_levels(form, values):
    frame = form(pl.DataFrame({"x": values * 30, "y": [0, 1] * 30, "yhat": [0, 0] * 30}))

    with pytest.raises(bf.UnsupportedTypeError, match="column 'x' has "):
        plain(bf.slices(frame, "y", "yhat", over="x", detail=True))


@cases("form", FORMS.values())
def test_a_column_of_nulls_makes_no_slice(form):
    frame = pl.DataFrame({"x": [None] * N, "y": Y, "yhat": YHAT, "z": FEW})

    with pytest.raises(bf.InvalidInputError, match="no slice is large enough"):
        plain(bf.slices(form(frame), "y", "yhat", over=["x"], detail=True))
    assert plain(bf.slices(form(frame), "y", "yhat", depth=1, detail=True))["slice"][0] == "z = 0"
