"""Files that an engine cannot read and operations that it lacks: one error, which says so."""

import polars as pl
import pyarrow as pa
import pytest

import balframe as bf
from tests.engines.conftest import on_engines
from tests.support.constructors import plain
from tests.support.programs import library

pytestmark = pytest.mark.any_version

ROWS = pl.DataFrame(
    {
        "y": [0, 1] * 500,
        "p": [1, 1, 0, 0] * 250,
        "g": list("abcd") * 250,
        "s": [i / 1000 for i in range(1000)],
    }
)
CALLS = {
    "report": lambda df: bf.report(df, "y", "p", by="g", backend="polars"),
    "quantiles": lambda df: bf.curve(df, "y", "s", thresholds=("quantiles", 5), backend="polars"),
    "quantiles, lazily": lambda df: bf.curve(df, "y", "s", thresholds=("quantiles", 5)),
}
DAMAGE = {
    "cut": lambda content: content[: len(content) // 2],
    "overwritten": lambda content: content[:100] + b"\xff\x00x" * 100 + content[400:],
}


@pytest.fixture
def folder(tmp_path):
    """Three whole files of each kind."""
    for number in range(3):
        ROWS.write_parquet(tmp_path / f"part{number}.parquet")
        ROWS.write_csv(tmp_path / f"part{number}.csv")
    return tmp_path


def damage(path, how):
    path.write_bytes(DAMAGE[how](path.read_bytes()))


@pytest.fixture
def of_polars():
    return {"parquet": pl.scan_parquet, "csv": pl.scan_csv}


@pytest.fixture
def of_dask(dask_dataframe):
    return {"parquet": dask_dataframe.read_parquet, "csv": dask_dataframe.read_csv}


@pytest.fixture
def of_duckdb():
    connection = library("duckdb").connect()
    yield {"parquet": connection.read_parquet, "csv": connection.read_csv}
    connection.close()


@pytest.fixture
def of_ibis():
    connection = library("ibis").duckdb.connect()
    yield {"parquet": connection.read_parquet, "csv": connection.read_csv}
    connection.disconnect()


@pytest.fixture
def of_sqlframe(sqlframe_session):
    return {"parquet": sqlframe_session.read.parquet}


@pytest.fixture
def of_spark(spark_session):
    return {"parquet": spark_session.read.parquet}


NAMED, UNNAMED = ("duckdb", "ibis", "sqlframe", "spark"), ("polars", "dask")
ENGINES = ["polars", *on_engines(name for name in NAMED + UNNAMED if name != "polars")]


@pytest.mark.parametrize("method", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("how", DAMAGE)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_damaged_parquet_file_raises_a_one_line_error(engine, how, method, folder, request):
    scan = request.getfixturevalue(f"of_{engine}")["parquet"]
    frame = scan(str(folder / "*.parquet"))
    damage(folder / "part1.parquet", how)

    with pytest.raises(bf.InvalidInputError, match="cannot be read: ") as caught:
        method(frame)

    (line,) = str(caught.value).splitlines()
    assert caught.value.__cause__ is not None
    if engine in NAMED and "The engine does not report which file" not in line:
        assert "part1.parquet" in line
    else:
        assert how == "overwritten" or engine in UNNAMED
        assert "read each file alone to find it" in line
    if engine in UNNAMED:
        assert str(folder) in line


@pytest.mark.parametrize("engine", ["polars", *on_engines(["dask", "duckdb"])])
def test_a_damaged_csv_file_raises_invalid_input_error(engine, folder, request):
    frame = request.getfixturevalue(f"of_{engine}")["csv"](str(folder / "*.csv"))
    whole = (folder / "part1.csv").read_bytes()
    (folder / "part1.csv").write_bytes(whole[:2000] + b"\xff" + whole[2001:])
    with pytest.raises(bf.InvalidInputError, match="cannot be read: ") as caught:
        CALLS["quantiles"](frame)
    assert ("part1.csv" in str(caught.value)) == (engine == "duckdb")


@pytest.mark.parametrize("engine", on_engines(["dask", "duckdb"]))
def test_a_deleted_file_is_named_in_the_error(engine, folder, request):
    path = str(folder / "part1.parquet")
    frame = request.getfixturevalue(f"of_{engine}")["parquet"](path)
    (folder / "part1.parquet").unlink()
    with pytest.raises(bf.InvalidInputError, match=r"cannot be read: .*part1\.parquet"):
        CALLS["report"](frame)


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_first_file_of_a_polars_scan_raises(how, folder):
    frame = pl.scan_parquet(folder / "*.parquet")
    damage(folder / "part0.parquet", "cut")
    with pytest.raises(bf.InvalidInputError, match="cannot be read: "):
        bf.report(frame, "y", "p")


def test_undamaged_parquet_files_equal_rows_in_memory(folder):
    expected = plain(bf.report(pl.concat([ROWS] * 3), "y", "p", by="g"))
    assert plain(CALLS["report"](pl.scan_parquet(folder / "*.parquet"))) == expected


def test_errors_unrelated_to_files_are_not_converted(of_duckdb, of_dask, folder):
    relation = of_duckdb["parquet"](str(folder / "*.parquet")).project("error('csv') AS y, p")
    with pytest.raises(Exception, match="csv") as caught:
        bf.report(relation, "y", "p")
    assert not isinstance(caught.value, bf.BalframeError)

    def fail(part):
        raise ValueError("a fault of the caller's csv")

    frame = of_dask["parquet"](str(folder / "*.parquet"))
    with pytest.raises(ValueError, match="a fault of the caller's csv") as caught:
        bf.report(frame.map_partitions(fail, meta=frame._meta), "y", "p")
    assert not isinstance(caught.value, bf.BalframeError)

    def fail_in_polars(rows):
        raise pl.exceptions.ComputeError("a csv of the caller's")

    with pytest.raises(Exception, match="a csv of the caller's") as caught:
        CALLS["report"](ROWS.lazy().map_batches(fail_in_polars))
    assert not isinstance(caught.value, bf.BalframeError)

    lazy = pl.LazyFrame({"y": ["a", "b"], "p": [1, 0]}).with_columns(pl.col("y").cast(pl.Int64))
    with pytest.raises(Exception, match="conversion from") as caught:
        bf.report(lazy, "y", "p", backend="polars")
    assert not isinstance(caught.value, bf.BalframeError)


def test_an_operation_that_sqlite_lacks_raises_and_is_named(sqlite):
    table = sqlite(pa.table({"y": [1, 0, 1], "p": [1, 1, 1], "s": [0.5, 0.25, 1.0]}))
    odd = table.mutate(p=table.s.isnan())  # which SQLite has no word for
    with pytest.raises(bf.UnsupportedTypeError) as caught:
        bf.report(odd, "y", "p")
    message = str(caught.value)
    assert message.startswith(
        "Ibis's backend 'sqlite' does not support an operation that this result needs: "
    )
    assert "'IsNan'" in message
    assert "`table.to_polars()`" in message
    assert type(caught.value.__cause__).__name__ == "OperationNotDefinedError"

    assert plain(bf.report(table.to_polars(), "y", "p"))["accuracy"] == [2 / 3]


def closed_ibis(path):
    connection = library("ibis").duckdb.connect()
    yield connection.read_parquet(path)
    connection.disconnect()
    yield None


def closed_sqlite(path):
    ibis = library("ibis")
    connection = ibis.sqlite.connect()
    yield connection.create_table("rows", ibis.memtable(pl.read_parquet(path).to_arrow()))
    connection.disconnect()
    yield None


def closed_duckdb(path):
    with library("duckdb").connect() as connection:
        yield connection.read_parquet(path)
    yield None


CLOSED = {"duckdb": closed_duckdb, "ibis": closed_ibis, "sqlite": closed_sqlite}


@pytest.mark.parametrize("engine", on_engines(CLOSED))
def test_a_closed_connection_is_an_error_of_the_family(engine, folder):
    opened = CLOSED[engine](str(folder / "part0.parquet"))
    frame = next(opened)
    assert plain(bf.report(frame, "y", "p", backend="polars"))["n"] == [1000]
    next(opened)

    with pytest.raises(bf.InvalidInputError) as raised:
        bf.report(frame, "y", "p")

    (line,) = str(raised.value).splitlines()
    assert line.startswith("the connection of the frame has been closed: ")
    assert line.endswith("or create the frame again from an open connection.")
