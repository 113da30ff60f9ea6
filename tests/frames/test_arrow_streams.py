"""Record batches of any library that speaks Arrow, and frames that narwhals holds."""

import random

import narwhals as nw
import narwhals.stable.v1
import narwhals.stable.v2
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

import balframe as bf
from balframe.accessor import Plots, groups
from balframe.frames.engines import arrow, collect
from tests.support.cases import cases
from tests.support.constructors import plain
from tests.support.method_arguments import METHODS_WITH_COLUMNS, days, example_arguments
from tests.support.programs import library

RNG = random.Random(20)
ROWS = pa.table(
    {
        "g": [RNG.choice(["é", "z", "", None]) for _ in range(500)],
        "y": [RNG.choice([0, 1]) for _ in range(500)],
        "p": [RNG.choice([0, 1]) for _ in range(500)],
        "q": [RNG.choice([False, True]) for _ in range(500)],
        "w": [RNG.choice([0.0, 0.25, 8.0]) for _ in range(500)],
        "s": [RNG.choice([0.125, 0.5, 0.75]) for _ in range(500)],
        "day": days(500),
    }
)
WHOLE = pl.from_arrow(ROWS)
METHODS = {
    "report": lambda df: bf.report(df, "y", ["p", "q"], by="g", margins="overall", interval=True),
    "weights": lambda df: bf.report(df, "y", "p", by="g", sample_weight="w", metrics="accuracy"),
    "compare": lambda df: bf.compare(df, "y", ["p", "q"], by="g", detail=True),
    "curve": lambda df: bf.curve(df, "y", "s", by="g", thresholds=5),
    "quantiles": lambda df: bf.curve(df, "y", ["s", "w"], by="g", thresholds=("quantiles", 3)),
    "ranking": lambda df: bf.ranking(df, "y", "s", by="g", detail=True),
    "bins": lambda df: bf.report(df, "y", "p", by=bf.bins("s", 2), counts="y", metrics="recall"),
}
on_each_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


class Stream:
    """Speaks Arrow's protocol and nothing else."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


class LanceDataset(pyarrow.dataset.Dataset):
    """A dataset as Lance and Vortex derive it (seen with pylance 14.0 and vortex-data 0.93)."""

    __module__ = "lance.dataset"
    schema = None

    def __init__(self, table):
        self.dataset, self.schema = pyarrow.dataset.dataset(table), table.schema

    def scanner(self, columns=None):
        return self.dataset.scanner(columns=columns)


class Dataset:
    """A dataset of Hugging Face: what datasets 5.2 has of its methods, with a row index."""

    __module__ = "datasets.arrow_dataset"

    def __init__(self, table):
        self.table, self.format = table.take(list(range(len(table)))[::-1]), None

    @property
    def features(self):
        schema = self.table.schema.with_metadata({"huggingface": "{}"})
        return type("Features", (), {"arrow_schema": schema})

    def select_columns(self, names):
        return Dataset(self.table.select(names))

    def with_format(self, kind):
        dataset = Dataset(self.table)
        dataset.format = kind
        return dataset

    def iter(self, batch_size):
        assert self.format == "arrow"
        for start in range(0, len(self.table), batch_size):
            yield self.table.slice(start, batch_size)


Dataset.__qualname__ = "Dataset"
STREAMS = {
    "protocol alone": (Stream, pl.DataFrame),
    "pyarrow reader": (lambda table: table.to_reader(max_chunksize=7), pa.Table),
    "pyarrow batch": (lambda table: table.combine_chunks().to_batches()[0], pa.Table),
    "pyarrow dataset": (pyarrow.dataset.dataset, pa.Table),
    "pyarrow scanner": (lambda table: pyarrow.dataset.dataset(table).scanner(), pa.Table),
    "derived dataset": (LanceDataset, pa.Table),
    "Hugging Face": (Dataset, pl.DataFrame),
    "nanoarrow": (lambda table: library("nanoarrow").ArrayStream(table), pl.DataFrame),
    "arro3": (lambda table: library("arro3.core").Table.from_arrow(table), pl.DataFrame),
    "arro3 reader": (
        lambda table: library("arro3.core").RecordBatchReader.from_arrow(table),
        pl.DataFrame,
    ),
    "datafusion": (
        lambda table: library("datafusion").SessionContext().from_arrow(table),
        pl.DataFrame,
    ),
}


@on_each_method
@cases(("make", "kind"), STREAMS.values())
def test_a_stream_returns_the_result_of_a_frame_in_memory(make, kind, method):
    result = method(make(ROWS))
    assert isinstance(result, kind)
    assert plain(result) == plain(method(WHOLE))


@on_each_method
def test_a_stream_counted_in_pieces_equals_the_whole_frame(method, monkeypatch):
    monkeypatch.setattr(arrow, "_ROWS_PER_TABLE", 10)
    monkeypatch.setattr(collect, "_MAX_PENDING_CELLS", 30)
    taken = []
    add = collect.add_cells
    monkeypatch.setattr(collect, "add_cells", lambda cells: taken.append(1) or add(cells))
    result = method(ROWS.to_reader(max_chunksize=3))
    assert plain(result) == plain(method(WHOLE))
    reads_twice = method in (METHODS["quantiles"], METHODS["bins"])  # and holds all rows at once
    assert len(taken) == 0 if reads_twice else len(taken) > 1


def test_max_cells_applies_to_a_stream():
    assert bf.ranking(ROWS.to_reader(), "y", "s", max_cells=6, detail=True).num_rows == 1
    with pytest.raises(bf.InvalidInputError, match="more than 5 distinct scores"):
        bf.ranking(ROWS.to_reader(), "y", "s", max_cells=5, detail=True)


def test_a_dataset_reads_only_the_columns_in_use(tmp_path):
    table = ROWS.append_column("unused", pa.array([[1]] * 500))
    for i in range(2):
        pyarrow.parquet.write_table(table.slice(250 * i, 250), tmp_path / f"{i}.parquet")
    dataset = pyarrow.dataset.dataset(tmp_path)
    asked = []

    class Noted:
        __module__ = "pyarrow._dataset"
        schema = dataset.schema

        def scanner(self, columns):
            asked.append(columns)
            return dataset.scanner(columns)

    assert plain(bf.report(Noted(), "y", "p", by="g")) == plain(bf.report(WHOLE, "y", "p", by="g"))
    assert [sorted(names) for names in asked] == [["g", "p", "y"]]


def test_a_damaged_file_of_a_dataset_is_named_in_the_error(tmp_path):
    for i in range(2):
        pyarrow.parquet.write_table(ROWS, tmp_path / f"{i}.parquet")
    dataset = pyarrow.dataset.dataset(tmp_path)
    (tmp_path / "1.parquet").write_bytes(b"no parquet at all")
    with pytest.raises(bf.InvalidInputError, match=r"cannot be read: .*1\.parquet"):
        bf.report(dataset, "y", "p")


def test_a_scanner_keeps_its_filter_and_the_names_that_it_gives():
    dataset = pyarrow.dataset.dataset(ROWS)
    y, p = pyarrow.dataset.field("y"), pyarrow.dataset.field("p")
    scanner = dataset.scanner(columns={"truth": y, "p": p}, filter=y == 1)
    expected = bf.report(WHOLE.filter(pl.col("y") == 1), "y", "p", metrics="accuracy")
    for _ in range(2):
        assert plain(bf.report(scanner, "truth", "p", metrics="accuracy")) == plain(expected)


def test_the_scanner_of_a_reader_is_read_once():
    scanner = pyarrow.dataset.Scanner.from_batches(ROWS.to_reader())
    assert plain(bf.report(scanner, "y", "p"))["n"] == [500]
    with pytest.raises(bf.InvalidInputError, match="can be read only once: make a new one"):
        bf.report(scanner, "y", "p")


@pytest.mark.parametrize("kind", ["pyarrow reader", "nanoarrow", "arro3 reader"])
def test_a_reader_is_read_once_and_not_used_up_by_a_misspelt_name(kind):
    reader = STREAMS[kind][0](ROWS)
    with pytest.raises(bf.UnknownNameError, match="'pp' not found"):
        bf.report(reader, "y", "pp")
    assert plain(bf.report(reader, "y", "p"))["n"] == [500]
    with pytest.raises(bf.InvalidInputError, match="can be read only once: make a new one"):
        bf.report(reader, "y", "p")


def test_a_table_of_batches_can_be_read_again():
    again = ("pyarrow dataset", "pyarrow scanner", "derived dataset", "pyarrow batch")
    for kind in ("arro3", "datafusion", "Hugging Face", *again):
        frame = STREAMS[kind][0](ROWS)
        assert plain(bf.report(frame, "y", "p")) == plain(bf.report(frame, "y", "p"))


def test_types_of_pyarrow_are_kept():
    table = ROWS.set_column(0, "g", ROWS["g"].cast(pa.large_string()))
    result = bf.report(table.to_reader(), "y", "p", by="g")
    assert result.schema.field("g").type == pa.large_string()


def test_an_empty_stream_returns_the_result_of_an_empty_frame():
    for method in METHODS.values():
        assert plain(method(ROWS.slice(0, 0).to_reader())) == plain(method(WHOLE[:0]))


@pytest.mark.parametrize("make", [lambda table: table, pa.Table.to_reader])
def test_types_that_polars_lacks_are_refused_only_in_columns_in_use(make):
    union = pa.UnionArray.from_sparse(pa.array([0, 0], pa.int8()), [pa.array([1, 2])])
    months = pa.array([None, None], pa.month_day_nano_interval())
    table = pa.table({"y": [1, 0], "p": [1, 1], "u": union, "m": months})
    assert plain(bf.report(make(table), "y", "p"))["n"] == [2]
    with pytest.raises(bf.UnsupportedTypeError, match="column 'u' of type sparse_union"):
        bf.report(make(table), "y", "p", by="u")


def test_combine_refuses_streams():
    cells = bf.confusion(WHOLE, "y", "p").to_arrow()
    for make in (pa.Table.to_reader, STREAMS["nanoarrow"][0], pyarrow.dataset.dataset):
        with pytest.raises(bf.UnsupportedTypeError, match="read each into a table"):
            bf.combine([make(cells)])


def test_a_stream_with_two_columns_of_the_same_name_is_refused():
    table = pa.table([[1], [1], [1]], names=["y", "p", "p"])
    with pytest.raises(bf.InvalidInputError, match="2 columns named 'p'"):
        bf.report(table.to_reader(), "y", "p")


COLUMNS = {
    "polars": pl.Series([1]),
    "pandas": pd.Series([1]),
    "pyarrow": pa.chunked_array([[1]]),
    "protocol": Stream(pa.chunked_array([[1]])),
    "narwhals": nw.from_native(pl.Series([1]), series_only=True),
}


@cases("column", COLUMNS.values())
def test_a_column_is_refused_as_a_frame(column):
    with pytest.raises(bf.UnsupportedTypeError, match=r"is not a frame|takes a frame"):
        bf.report(column, "y", "p")


VERSIONS = [nw, narwhals.stable.v1, narwhals.stable.v2]
HELD = {
    "pandas": lambda: ROWS.to_pandas(),
    "polars": lambda: WHOLE,
    "polars, lazy": lambda: WHOLE.lazy(),
    "pyarrow": lambda: ROWS,
    "duckdb": lambda: library("duckdb").from_arrow(ROWS),
}


@cases("version", VERSIONS)
@cases("held", HELD.values())
def test_a_narwhals_frame_returns_a_narwhals_frame(held, version):
    own = held()
    for method in METHODS.values():
        expected, result = method(own), method(version.from_native(own))
        kind = version.LazyFrame if isinstance(expected, pl.LazyFrame) else version.DataFrame
        assert type(result) is kind
        assert type(result.to_native()) is type(expected)
        assert plain(result.to_native()) == plain(expected)


@cases("name", METHODS_WITH_COLUMNS)
@cases("frame", [WHOLE, WHOLE.lazy()])
@pytest.mark.filterwarnings("ignore:no slice is listed")
def test_every_method_returns_a_frame_of_narwhals(name, frame):
    frame = frame.with_columns(t=pl.col("s"))
    result = getattr(bf, name)(nw.from_native(frame), **example_arguments(name))
    assert plain(result.to_native()) == plain(getattr(bf, name)(frame, **example_arguments(name)))


def test_require_returns_the_same_narwhals_frame():
    frame = nw.from_native(WHOLE)
    assert bf.require(frame, "y", "p", rules="n >= 1") is frame
    with pytest.raises(bf.CheckFailed):
        bf.require(nw.from_native(WHOLE.lazy()), "y", "p", rules="n >= 1000")


CHARTS = {
    "report": lambda df: bf.plot.report(df, "y", "p", by="g"),
    "confusion": lambda df: bf.plot.confusion(df, "y", "p", by="g"),
    "curve": lambda df: bf.plot.curve(df, "y", "s", by="g"),
    "roc": lambda df: bf.plot.roc(df, "y", "s", by="g"),
    "precision_recall": lambda df: bf.plot.precision_recall(df, "y", "s", by="g"),
    "gains": lambda df: bf.plot.gains(df, "y", "s", by="g"),
    "lift": lambda df: bf.plot.lift(df, "y", "s", by="g"),
    "decision_curve": lambda df: bf.plot.decision_curve(df, "y", "s", by="g"),
    "pass_curve": lambda df: bf.plot.pass_curve(df, "p", cluster="g", trials=2, missing="drop"),
    "gaps": lambda df: bf.plot.gaps(df, "y", "p", by="g"),
    "compare": lambda df: bf.plot.compare(df, "y", ["p", "q"], by="g"),
    "power": lambda df: bf.plot.power(df, "y", "p", by="g", rules="accuracy >= 0.1"),
    "calibration": lambda df: bf.plot.calibration(df, "y", "s", by="g"),
    "impact": lambda df: bf.plot.impact(df, "p", favourable="selected", by="g"),
    "monitor": lambda df: bf.plot.monitor(
        df,
        *("y", "p"),
        by="g",
        time=bf.period("day", "1w"),
        baseline={"until": "2026-03-31"},
        dispersion=None,
    ),
    "slices": lambda df: bf.plot.slices(df, "y", "p", over="g", metrics="f1", min_support=1),
}


def test_every_chart_is_covered_by_a_case():
    assert sorted(CHARTS) == sorted(name for names in groups(Plots).values() for name in names)


@pytest.mark.thorough
@pytest.mark.parametrize("chart", CHARTS.values(), ids=CHARTS)
def test_charts_of_streams_and_narwhals_equal_those_of_polars(chart):
    expected = chart(WHOLE).to_dict()
    for frame in (
        nw.from_native(WHOLE),
        nw.from_native(WHOLE.lazy()),
        ROWS.to_reader(),
        pyarrow.dataset.dataset(ROWS),
    ):
        assert chart(frame).to_dict() == expected


def test_combine_and_table_accept_narwhals_frames():
    halves = [nw.from_native(half) for half in (WHOLE[:200], WHOLE[200:])]
    cells = [bf.confusion(half, "y", "p", by="g") for half in halves]
    added = bf.combine(cells)
    assert isinstance(added, nw.DataFrame)
    assert added.to_native().equals(bf.confusion(WHOLE, "y", "p", by="g"))
    page = bf.table(bf.report(halves[0], "y", "p", by="g")).as_raw_html()
    assert "balanced" in page.lower()
