"""Frames of every engine, made of the same lists; clusters listen on loopback only."""

import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

from tests.support.programs import MUST_RUN_ALL, library

GROUPING = ("duckdb", "dask", "spark", "ibis", "sqlframe", "postgres", "sqlite")
STREAMS = ("datafusion", "dataset")  # whose rows come in batches
OF_ANY_VERSION = ("postgres", "sqlite", "sqlframe")
FIXTURES = {  # that start an engine of a slower lane
    **{name: name for name in (*GROUPING, *STREAMS) if name != "duckdb"},
    **{"dask_client": "dask", "dask_dataframe": "dask"},
    **{"spark_session": "spark", "sqlframe_session": "sqlframe"},
}


def lane_of(name):
    """Mark what runs on an engine: with its lane, and to be run by one process."""
    return [pytest.mark.engines, pytest.mark.xdist_group(name)] if name != "duckdb" else []


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Put tests that use the fixture of an engine into its lane."""
    for item in items:
        for engine in {FIXTURES[name] for name in FIXTURES.keys() & {*item.fixturenames}}:
            for mark in lane_of(engine):
                item.add_marker(mark)


@pytest.fixture(scope="session")
def dask_client():
    """Two worker processes."""
    distributed = library("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def spark_session():
    """Spark in local mode."""
    if shutil.which("java") is None and not MUST_RUN_ALL:
        pytest.skip("Spark needs Java 17 or later")
    sql = library("pyspark.sql")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",  # compiling takes longer than so few rows
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.log.level": "OFF",
    }
    builder = sql.SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


def postgres_programs():
    """Find the folder of PostgreSQL's programs; Debian keeps those of a server off the PATH."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    folders = [one.parent for one in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    return max(folders, key=lambda folder: float(folder.parent.name), default=None)


@pytest.fixture(scope="session")
def postgres_folder():
    """PostgreSQL on a socket in a folder of its own; it refuses to be root."""
    programs = postgres_programs()
    if not MUST_RUN_ALL and (programs is None or os.name != "posix"):
        pytest.skip("the tests have no PostgreSQL to start")
    owner = {"user": "postgres"} if os.geteuid() == 0 else {}
    with tempfile.TemporaryDirectory() as folder:
        if owner:
            shutil.chown(folder, **owner)

        def run(program, *arguments):
            command = [programs / program, "-D", f"{folder}/data", *arguments]
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            subprocess.run(command, check=True, cwd=folder, **quiet, **owner)

        run("initdb", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale", "C", "--no-sync")
        run("pg_ctl", "-w", "-o", f"-k {folder} -c listen_addresses= -c fsync=off", "start")
        yield folder
        run("pg_ctl", "-w", "-m", "immediate", "stop")


@pytest.fixture
def dask_dataframe():
    """Run what Dask is asked for in this process, whatever clients there are."""
    dataframe = library("dask.dataframe")
    options = {"scheduler": "sync", "dataframe.shuffle.method": "tasks"}  # not between workers
    with sys.modules["dask"].config.set(options):
        yield dataframe


@pytest.fixture
def dask(dask_dataframe):
    def frame(rows):
        table = pa.table(rows).to_pandas(date_as_object=False)
        return dask_dataframe.from_pandas(table, npartitions=3)

    return frame


@pytest.fixture
def spark(spark_session):
    return lambda rows: spark_session.createDataFrame(pa.table(rows))


@pytest.fixture
def duckdb():
    with library("duckdb").connect() as connection:
        yield lambda rows: connection.from_arrow(pa.table(rows))


@pytest.fixture
def ibis():
    memtable = library("ibis").memtable
    return lambda rows: memtable(pa.table(rows))


@pytest.fixture
def postgres(postgres_folder):
    """Ibis over PostgreSQL."""
    library("psycopg")
    connect = library("ibis").postgres.connect
    yield from tables_of(connect(host=postgres_folder, user="postgres", database="postgres"))


@pytest.fixture
def sqlite():
    """Ibis over SQLite."""
    library("regex")
    yield from tables_of(library("ibis").sqlite.connect())


def tables_of(connection):
    """Make tables of a connection of Ibis, which are lost when it is closed."""
    names = (f"rows{number}" for number in itertools.count())
    memtable = library("ibis").memtable
    yield lambda rows: connection.create_table(next(names), memtable(pa.table(rows)), temp=True)
    connection.disconnect()


@pytest.fixture(scope="session")
def sqlframe_session():
    """SQLFrame keeps one session of a process."""
    with library("duckdb").connect() as connection:
        yield library("sqlframe.duckdb").DuckDBSession(conn=connection)


@pytest.fixture
def sqlframe(sqlframe_session, tmp_path):
    def frame(rows):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.parquet"
        pyarrow.parquet.write_table(pa.table(rows), path)
        return sqlframe_session.read.parquet(str(path))

    return frame


@pytest.fixture
def datafusion():
    context = library("datafusion").SessionContext()
    return lambda rows: context.from_arrow(pa.table(rows))


@pytest.fixture
def dataset():
    return lambda rows: pyarrow.dataset.dataset(pa.table(rows))


def on_engines(names, of_any_version=OF_ANY_VERSION):
    """Name the engines of a fixture, each with its lane."""
    return [
        pytest.param(
            name, marks=[*lane_of(name), *[pytest.mark.any_version] * (name in of_any_version)]
        )
        for name in names
    ]


@pytest.fixture(params=on_engines([*GROUPING, *STREAMS]))
def engine(request):
    """Make a frame of an engine from lists."""
    return request.getfixturevalue(request.param)


@pytest.fixture(params=on_engines([*GROUPING, *STREAMS], of_any_version=()))
def every_engine(request):
    """Make a frame of an engine from lists, with the oldest versions of every engine too."""
    return request.getfixturevalue(request.param)


@pytest.fixture(params=on_engines(name for name in [*GROUPING, *STREAMS] if name != "sqlframe"))
def engine_but_sqlframe(request):
    """Make a frame of an engine where any name may be that of a column."""
    return request.getfixturevalue(request.param)


@pytest.fixture(params=on_engines(GROUPING))
def grouping_engine(request):
    """Make a frame of an engine that does the group-by itself."""
    return request.getfixturevalue(request.param)


@pytest.fixture(params=on_engines(["duckdb", "dask"]))
def engine_of_every_method(request):
    """Make a frame of an engine that every method is tested on."""
    return request.getfixturevalue(request.param)
