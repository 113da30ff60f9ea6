"""What is asked of a frame before it is asked for cells: that it is known, and all installed."""

import csv
import io
import re
import sqlite3
from pathlib import Path

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import balframe as bf
from balframe.frames.engines import registry as engines
from tests.support.constructors import plain

ROWS = {"g": ["a", "b", None], "y": [1, 0, 1], "p": [1, 1, 0]}


# Classes and advice as seen with Modin 0.37, Ray 2.60, xarray 2026.9, datatable 1.1,
# PyIceberg 0.12, deltalake 1.6, vortex-data 0.93 and datasets 5.2, and else as documented.
@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("modin.pandas.dataframe.DataFrame", "frame.modin.to_pandas()"),
        ("pyspark.pandas.frame.DataFrame", "frame.to_spark()"),
        ("pyspark.sql.group.GroupedData", "the columns as `by`"),
        ("cudf.core.dataframe.DataFrame", "frame.to_arrow()"),
        ("ray.data.dataset.MaterializedDataset", "frame.to_pandas()"),
        ("snowflake.snowpark.dataframe.DataFrame", "frame.to_pandas()"),
        ("snowflake.connector.cursor.SnowflakeCursor", "pl.read_database(query, connection)"),
        ("psycopg2.extensions.cursor", "pl.read_database(query, connection)"),
        ("h2o.frame.H2OFrame", "frame.as_data_frame()"),
        ("xarray.core.dataset.Dataset", "dataset.to_dataframe().reset_index()"),
        ("pyiceberg.table.Table", "table.scan().to_arrow_batch_reader()"),
        ("pyiceberg.table.DataScan", "`scan.to_arrow_batch_reader()"),
        ("deltalake.table.DeltaTable", "pl.scan_delta(table)"),
        ("vortex.file.VortexFile", "file.to_dataset()"),
        ("vortex.ChunkedArray", "array.to_arrow_table()"),
        ("vortex.ArrayIterator", "scan.to_arrow()"),
        ("datasets.dataset_dict.DatasetDict", 'splits["test"]'),
        ("datasets.iterable_dataset.IterableDataset", "pl.DataFrame(list(dataset))"),
        ("elsewhere.DataFrame", "Convert it to one of them first"),
    ],
)
def test_the_error_of_a_frame_that_is_not_read_has_advice(name, advice):
    module, _, kind = name.rpartition(".")
    frame = type(kind, (), {"__module__": module})()
    with pytest.raises(bf.UnsupportedTypeError, match=rf"^got {name}, .*{re.escape(advice)}"):
        bf.report(frame, "y", "p")


@pytest.mark.parametrize(
    ("make", "kind", "advice"),
    [
        (lambda: pa.table(ROWS).to_batches(), "list of pyarrow.lib.RecordBatch", "from_batches("),
        (lambda: [pl.DataFrame(ROWS)], "list of polars.", "pl.concat(frames)"),
        (lambda: {"test": pd.DataFrame(ROWS)}, "dict of pandas.", "pl.concat(frames)"),
        (lambda: [{"y": 1, "p": 1}], "list of dict", "pl.DataFrame(data)"),
        (lambda: ROWS, "dict of list", "pl.DataFrame(data)"),
        (lambda: np.array([(1, 0)], [("y", int), ("p", int)]), "numpy", "pl.DataFrame(data)"),
        (lambda: np.zeros((3, 2)), "numpy.ndarray of numpy.ndarray", 'orient="row"'),
        (lambda: [(1, 1), (0, 1)], "list of tuple", 'orient="row"'),
        (lambda: (row for row in [{"y": 1}]), "generator", "pl.DataFrame(list(rows))"),
        (lambda: duckdb.connect().execute("SELECT 1"), "_?duckdb", "con.sql(query)"),
        (lambda: sqlite3.connect(":memory:"), "sqlite3.Connection", "pl.read_database(query"),
        (lambda: pd.DataFrame(ROWS).groupby("g"), "pandas", "the columns as `by`"),
        (lambda: pl.LazyFrame(ROWS).group_by("g"), "polars", "the columns as `by`"),
        (lambda: pa.table(ROWS).group_by("g"), "pyarrow", "the columns as `by`"),
        (lambda: nw.from_native(pl.DataFrame(ROWS)).group_by("g"), "narwhals", "columns as `by`"),
        (lambda: pa.array([{"y": 1}]), "pyarrow.lib.StructArray", "from_struct_array(array)"),
        (lambda: "rows.csv", "str", "pl.read_csv(path)"),
        (lambda: Path("rows.csv"), "pathlib", "pl.read_csv(path)"),
        (lambda: io.StringIO("y,p"), "_io.StringIO", "pl.read_csv(path)"),
        (lambda: csv.DictReader(["y,p"]), "csv.DictReader", "pl.read_csv(path)"),
        (lambda: "y,p\n1,1", "text of several lines", "pl.read_csv(io.StringIO(text))"),
        (lambda: pl.LazyFrame(ROWS).collect, "method", "Call it, with `()`"),
    ],
)
@pytest.mark.parametrize("method", [bf.report, bf.gaps, bf.diff])
def test_the_error_of_rows_that_are_no_frame_has_advice(make, kind, advice, method):
    keywords = {"by": "g"} | ({"baseline": "p"} if method is bf.diff else {})
    with pytest.raises(bf.UnsupportedTypeError, match=rf"^got {kind}.*{re.escape(advice)}"):
        method(make(), "y", "p", **keywords)


def test_a_baseline_that_is_not_read_has_the_advice_too():
    with pytest.raises(bf.UnsupportedTypeError, match=r"pl\.read_csv\(path\)"):
        bf.diff(pl.DataFrame(ROWS), "y", "p", baseline=Path("last.csv"))


@pytest.fixture
def without(monkeypatch):
    """Let modules seem not to be installed."""
    found = engines.find_spec

    def hide(*names):
        monkeypatch.setattr(
            engines, "find_spec", lambda name: None if name in names else found(name)
        )

    return hide


def test_a_missing_extra_is_named_with_the_command_that_installs_it(without):
    table = pa.table(ROWS)
    without("pyarrow", "dask")
    command = r"python -m pip install 'balframe\[{}\]'"
    with pytest.raises(bf.MissingExtraError, match=command.format("arrow")):
        bf.report(table, "y", "p")
    with pytest.raises(bf.MissingExtraError, match=command.format("arrow")) as caught:
        bf.report(pl.DataFrame(ROWS), "y", "p", backend="pyarrow")
    assert isinstance(caught.value, ImportError)
    with pytest.raises(bf.MissingExtraError, match=command.format("dask")):
        bf.register("dask")


@pytest.mark.engines
def test_frames_of_dask_have_the_namespace_after_register():
    dataframe = pytest.importorskip("dask.dataframe")
    bf.register("dask")
    bf.register("dask")  # again, as a notebook's cell may
    frame = dataframe.from_pandas(pd.DataFrame(ROWS), npartitions=2)
    assert plain(frame.bal.report("y", "p", by="g")) == plain(bf.report(frame, "y", "p", by="g"))
    with pytest.raises(bf.InvalidInputError, match="library='spark' is not one of the options"):
        bf.register("spark")


@pytest.mark.parametrize("frame", [pd.DataFrame(ROWS), pl.DataFrame(ROWS), pl.LazyFrame(ROWS)])
def test_backend_returns_the_result_in_another_library(frame):
    expected = plain(bf.report(frame, "y", "p", by="g", margins="overall"))
    for backend, kind in {
        "pandas": pd.DataFrame,
        "polars": pl.DataFrame,
        "pyarrow": pa.Table,
    }.items():
        result = bf.report(frame, "y", "p", by="g", margins="overall", backend=backend)
        assert isinstance(result, kind)
        assert plain(result) == expected
    with pytest.raises(bf.InvalidInputError, match="backend='numpy' is not one of the options"):
        bf.report(frame, "y", "p", backend="numpy")


def test_integers_and_booleans_beside_nulls_keep_their_type_in_pandas():
    rows = pl.DataFrame({"i": [2**60 + 1, None], "b": [None, True], "y": [1, 1], "p": [1, 0]})
    result = bf.report(rows, "y", "p", by=["i", "b"], backend="pandas")
    assert result["i"].tolist() == [2**60 + 1, pd.NA]
    assert (str(result["i"].dtype), str(result["b"].dtype)) == ("Int64", "boolean")


def test_a_result_that_arrow_cannot_represent_is_refused():
    """Its decimals have 38 digits, and the largest integer of 128 bits has 39."""
    g = pl.Series([2**127 - 1, 1], dtype=pl.Int128)
    frame = pl.DataFrame({"g": g, "y": [1, 0], "p": [1, 0]})
    with pytest.raises(bf.UnsupportedTypeError, match="pyarrow cannot hold the result"):
        bf.report(frame, "y", "p", by="g", backend="pyarrow")
