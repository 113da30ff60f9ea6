"""Frames of every engine, made of the same lists; clusters listen on loopback only."""

import importlib
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


def module(name):
    """Skip what is not installed, unless everything is to be tested."""
    if "BALFRAME_TEST_ALL" in os.environ:
        return importlib.import_module(name)
    return pytest.importorskip(name)


@pytest.fixture(scope="session")
def dask_client():
    """Two worker processes."""
    distributed = module("distributed")
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


@pytest.fixture
def in_this_process():
    """Ask no workers of Dask: what is rare in data or large is the same to them, and later."""
    if "dask" not in sys.modules:
        yield
        return
    here = {"scheduler": "sync", "dataframe.shuffle.method": "tasks"}  # not between workers
    with sys.modules["dask"].config.set(here):
        yield


@pytest.fixture(scope="session")
def spark_session():
    """Spark in local mode."""
    if shutil.which("java") is None and "BALFRAME_TEST_ALL" not in os.environ:
        pytest.skip("Spark needs Java 17 or later")
    sql = module("pyspark.sql")
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
    if "BALFRAME_TEST_ALL" not in os.environ and (programs is None or os.name != "posix"):
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
def dask(dask_client):
    dataframe = module("dask.dataframe")

    def frame(rows):
        table = pa.table(rows).to_pandas(date_as_object=False)
        return dataframe.from_pandas(table, npartitions=3)

    return frame


@pytest.fixture
def spark(spark_session):
    return lambda rows: spark_session.createDataFrame(pa.table(rows))


@pytest.fixture
def duckdb():
    with module("duckdb").connect() as connection:
        yield lambda rows: connection.from_arrow(pa.table(rows))


@pytest.fixture
def ibis():
    memtable = module("ibis").memtable
    return lambda rows: memtable(pa.table(rows))


@pytest.fixture
def postgres(postgres_folder):
    """Ibis over PostgreSQL."""
    module("psycopg")
    connect = module("ibis").postgres.connect
    yield from tables_of(connect(host=postgres_folder, user="postgres", database="postgres"))


@pytest.fixture
def sqlite():
    """Ibis over SQLite."""
    module("regex")
    yield from tables_of(module("ibis").sqlite.connect())


def tables_of(connection):
    """Make tables of a connection of Ibis, which are lost when it is closed."""
    names = (f"rows{number}" for number in itertools.count())
    memtable = module("ibis").memtable
    yield lambda rows: connection.create_table(next(names), memtable(pa.table(rows)), temp=True)
    connection.disconnect()


@pytest.fixture(scope="session")
def sqlframe_session():
    """SQLFrame keeps one session of a process."""
    with module("duckdb").connect() as connection:
        yield module("sqlframe.duckdb").DuckDBSession(conn=connection)


@pytest.fixture
def sqlframe(sqlframe_session, tmp_path):
    def frame(rows):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.parquet"
        pyarrow.parquet.write_table(pa.table(rows), path)
        return sqlframe_session.read.parquet(str(path))

    return frame


@pytest.fixture
def datafusion():
    context = module("datafusion").SessionContext()
    return lambda rows: context.from_arrow(pa.table(rows))


@pytest.fixture
def dataset():
    return lambda rows: pyarrow.dataset.dataset(pa.table(rows))


ASKED = ["dask", "spark", "duckdb", "ibis", "sqlframe", "postgres", "sqlite"]  # for cells
READ = ["datafusion", "dataset"]  # of which rows come in batches
SLOW = {"postgres", "sqlite", "sqlframe"}


def grouped(names, slow=SLOW):
    return [
        pytest.param(
            name,
            marks=[pytest.mark.xdist_group(name), *([pytest.mark.slow] if name in slow else [])],
        )
        for name in names
    ]


@pytest.fixture(params=grouped([*ASKED, *READ]))
def engine(request):
    """Make a frame of an engine from lists."""
    return request.getfixturevalue(request.param)


@pytest.fixture(params=grouped([*ASKED, *READ], slow=()))
def every_engine(request):
    """Make a frame of an engine from lists, with the oldest versions of every engine too."""
    return request.getfixturevalue(request.param)


@pytest.fixture(params=grouped(name for name in [*ASKED, *READ] if name != "sqlframe"))
def engine_but_sqlframe(request):
    """Make a frame of an engine where any name may be that of a column."""
    return request.getfixturevalue(request.param)


@pytest.fixture(params=grouped(ASKED))
def asked_engine(request):
    """Make a frame of an engine that is asked for cells."""
    return request.getfixturevalue(request.param)
