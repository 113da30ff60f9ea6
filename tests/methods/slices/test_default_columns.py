"""The columns that slices searches unless they are named, and how it cuts them."""

import warnings
from datetime import date, datetime, timedelta
from itertools import product

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import balframe as bf
from tests.support.constructors import each_constructor, plain
from tests.support.tested_slices import search

N = 600
RANDOM = np.random.default_rng(5)
GROUP = np.arange(N) % 3
SCORE = np.round(RANDOM.random(N), 3)
PREDICTED = (SCORE >= 0.5).astype(int)
ACTUAL = np.where(RANDOM.random(N) < np.where(GROUP == 0, 0.5, 0.1), 1 - PREDICTED, PREDICTED)
ROWS = {
    "y": ACTUAL.tolist(),
    "yhat": PREDICTED.tolist(),
    "g": [*"abc"] * (N // 3),
    "x": RANDOM.normal(size=N).tolist(),
    "score": [None, *SCORE[1:].tolist()],
    "risk": (-100 * SCORE).tolist(),
    "day": [date(2024, 1, 1) + timedelta(int(i)) for i in RANDOM.integers(0, 3, N)],
    "time": [datetime(2024, 1, 1) + timedelta(int(i)) for i in RANDOM.integers(0, 3, N)],
}
OPTIONS = {"metrics": "accuracy", "min_support": 30}
NOT_SEARCHED = "columns were not searched, .*: 'day', 'risk', 'score', 'time'. .* over="


@each_constructor
def test_scores_of_the_model_and_dates_are_left_out_and_named(constructor):
    with pytest.warns(bf.BalframeWarning, match=NOT_SEARCHED):
        result = plain(bf.slices(constructor(ROWS), "y", "yhat", **OPTIONS))

    expected = plain(bf.slices(constructor(ROWS), "y", "yhat", over=["g", "x"], **OPTIONS))
    assert result["slice"][0] == "g = a"
    assert {name: result[name] for name in expected} == expected
    assert {"day", "time"}.isdisjoint(result)


UNSORTED = {
    "list": ([1], pa.list_(pa.int64())),
    "array": ([1], pa.list_(pa.int64(), 1)),
    "struct": ({"a": 1}, pa.struct({"a": pa.int64()})),
    "map": ([("a", 1)], pa.map_(pa.string(), pa.int64())),
}
FORMS = {
    "PyArrow": lambda table: table,
    "reader": pa.Table.to_reader,
    "polars": pl.from_arrow,
    "polars, lazy": lambda table: pl.from_arrow(table).lazy(),
    "pandas": pa.Table.to_pandas,
    "Arrow in pandas": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "DuckDB": duckdb.from_arrow,
}


@pytest.mark.parametrize(
    ("form", "value", "dtype"),
    [
        pytest.param(
            *(FORMS[form], *UNSORTED[kind]),
            id=f"{kind}-{form}",  # narwhals 2.0 does not know the maps of DuckDB
            marks=[pytest.mark.any_version] if (kind, form) == ("map", "DuckDB") else [],
        )
        for kind, form in product(UNSORTED, FORMS)
    ],
)
def test_columns_that_cannot_be_sorted_are_left_out_and_named(form, value, dtype):
    rows = pa.table({name: ROWS[name] for name in ("y", "yhat", "g")})
    unsorted = pa.array([None, *[value] * (N - 1)], dtype)
    with pytest.warns(bf.BalframeWarning, match="not searched, .* lists or structs.*: 'u'"):
        result = plain(bf.slices(form(rows.append_column("u", unsorted)), "y", "yhat", **OPTIONS))
    assert result == plain(bf.slices(rows, "y", "yhat", over="g", **OPTIONS))


@pytest.mark.parametrize("value", [{1}, {"a": 1}, np.array([1]), [1]])
def test_objects_that_cannot_be_compared_are_left_out_and_named(value):
    frame = pd.DataFrame({name: ROWS[name] for name in ("y", "yhat", "g")})
    frame["u"] = pd.Series(["a", None, *[value] * (N - 2)], dtype=object)
    with pytest.warns(bf.BalframeWarning, match="not searched, .*: 'u'"):
        result = plain(bf.slices(frame, "y", "yhat", **OPTIONS))
    assert result == plain(bf.slices(frame, "y", "yhat", over="g", **OPTIONS))


@each_constructor
def test_columns_that_are_named_are_searched_whatever_they_hold(constructor):
    names = ["score", "risk", "day", "time"]
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "columns were not searched")
        warnings.filterwarnings("ignore", "no slice is listed")
        result = plain(
            bf.slices(constructor(ROWS), "y", "yhat", over=names, detail=True, **OPTIONS)
        )
    assert {*names} <= {*result}


def test_rows_that_stand_for_none_do_not_hide_a_score():
    rows = pl.DataFrame(ROWS).select("y", "yhat", "g", "score").with_columns(n=pl.lit(1))
    none = rows.head(2).with_columns(score=pl.Series([1.0, 0.0]), yhat=pl.Series([0, 1]), n=0)
    for frame in (pl.concat([rows, none.select(rows.columns).cast(rows.schema)]), rows):
        for form in (frame, frame.lazy()):
            with pytest.warns(bf.BalframeWarning, match="not searched, .*: 'score'"):
                plain(bf.slices(form, "y", "yhat", counts="n", **OPTIONS))


def test_a_column_that_no_threshold_divides_by_prediction_is_no_score():
    rows = ROWS | {"score": [*SCORE[:-1].tolist(), 1.0 - PREDICTED[-1]]}
    del rows["risk"], rows["day"], rows["time"]
    _, seen = search(pl.DataFrame(rows), **OPTIONS, depth=1)
    assert {"score", "x", "g"} == {name for one in seen.slices() for name in one}


def test_many_rows_are_read_to_the_last_for_scores():
    rows = pl.concat([pl.DataFrame(ROWS).select("y", "yhat", "g", "score")] * 5)
    with pytest.warns(bf.BalframeWarning, match="not searched, .*: 'score'"):
        bf.slices(rows, "y", "yhat", **OPTIONS)
    last = rows.tail(1).with_columns(yhat=pl.lit(0, pl.Int64), score=pl.lit(1.0))
    _, seen = search(pl.concat([rows, last]), **OPTIONS, depth=1)
    assert {"score", "g"} == {name for one in seen.slices() for name in one}


def test_only_scores_or_only_dates_are_an_error_that_names_them():
    frame = pl.DataFrame(ROWS)
    with pytest.raises(bf.InvalidInputError, match="look like scores of this model: 'score'"):
        bf.slices(frame.select("y", "yhat", "score"), "y", "yhat", **OPTIONS)
    with pytest.raises(bf.InvalidInputError, match=r"but dates, .* \('day'\); name at least"):
        bf.slices(frame.select("y", "yhat", "day"), "y", "yhat", **OPTIONS)


@each_constructor
def test_ten_values_too_rare_to_be_searched_are_cut(constructor):
    """Of 10 values with 20 rows each, quartiles make bins of 2 or 3 values."""
    n = 200
    rows = {
        "y": [1] * n,
        "yhat": [0, 0, 0, *[1] * 7] * (n // 10),
        "x": [*range(1, 11)] * (n // 10),
    }
    options = {"metrics": "accuracy", "over": "x", "depth": 1}
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "columns were barely searched")
        result = plain(bf.slices(constructor(rows), "y", "yhat", **options, min_support=30))
        assert result["slice"] == ["x under 3", "x 3 to 5"]
        assert result["n"] == [40, 40]
        single = plain(bf.slices(constructor(rows), "y", "yhat", **options, min_support=20))
        assert single["slice"] == ["x = 1", "x = 2", "x = 3"]
    with pytest.raises(bf.InvalidInputError, match="no slice is large enough"):
        plain(bf.slices(constructor(rows), "y", "yhat", **options, min_support=30, bins=None))


@pytest.mark.thorough
@pytest.mark.parametrize("value", [1, 0.5, "a", None, True])
@pytest.mark.parametrize("n_columns", [62, 130])
def test_many_constant_columns_change_nothing(value, n_columns):
    frame = pl.DataFrame({name: ROWS[name] for name in ("y", "yhat", "g", "x")})
    constant = [pl.lit(value).alias(f"c{i}") for i in range(n_columns)]
    expected = plain(bf.slices(frame, "y", "yhat", **OPTIONS))

    result = plain(bf.slices(frame.with_columns(constant), "y", "yhat", **OPTIONS))
    assert result["slice"][0] == "g = a"
    assert {name: result[name] for name in expected} == expected


@each_constructor
def test_edges_have_as_few_decimals_as_divide_the_rows_alike(constructor):
    """The quartiles of i / 7 below 40 / 7 are 9 / 7, 19 / 7 and 29 / 7, above 8, 18 and 28 / 7."""
    rows = {"y": [1] * 40, "yhat": [0] * 9 + [1] * 31, "x": [i / 7 for i in range(40)]}
    options = {"metrics": "accuracy", "over": "x", "min_support": 5, "level": 0.5}
    result = plain(bf.slices(constructor(rows), "y", "yhat", **options))
    assert result["slice"] == ["x under 1.2"]
    assert result["n"] == [9]


@pytest.mark.filterwarnings("ignore:no slice is listed")
@pytest.mark.parametrize("dtype", [pl.Float32, pl.Float64])
def test_rounded_edges_leave_every_row_in_its_bin(dtype):
    values = pl.Series(RANDOM.normal(size=1000) * 10.0 ** RANDOM.integers(-9, 9, 1000)).cast(dtype)
    frame = pl.DataFrame({"x": values, "y": [1] * 1000, "yhat": [0, 1] * 500})
    ordered = np.sort(values.to_numpy())
    for bins in (4, 25):
        _, seen = search(frame, over="x", metrics="accuracy", bins=bins, min_support=1, level=0.01)
        rows, _ = seen.counts()
        sizes = dict(zip([one["x"] for one in seen.slices()], rows[:, 0].tolist(), strict=True))
        ranks = [-(-1000 * i // bins) - 1 for i in range(bins + 1)]
        starts = [0, *(int(np.searchsorted(ordered, ordered[rank])) for rank in ranks[1:-1]), 1000]
        assert [*sizes.values()] == np.diff(starts).tolist()
