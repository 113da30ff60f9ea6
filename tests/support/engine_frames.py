"""Frames of every engine, made of the same lists; clusters listen on loopback only.

Each context manager starts an engine and gives the function that makes its frames of rows.
"""

import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet

from tests.support.programs import library

MakeFrame = Callable[[Any], Any]


@contextmanager
def spark_session() -> Iterator[Any]:
    """Start Spark in local mode."""
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


@contextmanager
def spark() -> Iterator[MakeFrame]:
    """Make frames of a session of their own."""
    with spark_session() as session:
        yield lambda rows: session.createDataFrame(pa.table(rows))


def postgres_programs() -> Path | None:
    """Find the folder of PostgreSQL's programs; Debian keeps those of a server off the PATH."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    folders = [one.parent for one in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    return max(folders, key=lambda folder: float(folder.parent.name), default=None)


@contextmanager
def postgres_folder() -> Iterator[str]:
    """Start PostgreSQL on a socket in a folder of its own; it refuses to be root."""
    programs = postgres_programs()
    assert programs is not None, "PostgreSQL has to be installed"
    owner = {"user": "postgres"} if os.geteuid() == 0 else {}
    with tempfile.TemporaryDirectory() as folder:
        if owner:
            shutil.chown(folder, **owner)

        def run(program: str, *arguments: str) -> None:
            command = [programs / program, "-D", f"{folder}/data", *arguments]
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            subprocess.run(command, check=True, cwd=folder, **quiet, **owner)

        run("initdb", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale", "C", "--no-sync")
        run("pg_ctl", "-w", "-o", f"-k {folder} -c listen_addresses= -c fsync=off", "start")
        yield folder
        run("pg_ctl", "-w", "-m", "immediate", "stop")


@contextmanager
def postgres_tables(folder: str) -> Iterator[MakeFrame]:
    """Make tables of Ibis over PostgreSQL."""
    library("psycopg")
    connect = library("ibis").postgres.connect
    with _tables_of(connect(host=folder, user="postgres", database="postgres")) as make:
        yield make


@contextmanager
def postgres() -> Iterator[MakeFrame]:
    """Make tables of a server of their own."""
    with postgres_folder() as folder, postgres_tables(folder) as make:
        yield make


@contextmanager
def sqlite() -> Iterator[MakeFrame]:
    """Make tables of Ibis over SQLite."""
    library("regex")
    with _tables_of(library("ibis").sqlite.connect()) as make:
        yield make


@contextmanager
def _tables_of(connection: Any) -> Iterator[MakeFrame]:
    """Make tables of a connection of Ibis, which are lost when it is closed."""
    names = (f"rows{number}" for number in itertools.count())
    memtable = library("ibis").memtable
    yield lambda rows: connection.create_table(next(names), memtable(pa.table(rows)), temp=True)
    connection.disconnect()


@contextmanager
def dask_dataframe() -> Iterator[Any]:
    """Run what Dask is asked for in this process, whatever clients there are."""
    dataframe = library("dask.dataframe")
    options = {"scheduler": "sync", "dataframe.shuffle.method": "tasks"}  # not between workers
    with sys.modules["dask"].config.set(options):
        yield dataframe


@contextmanager
def dask() -> Iterator[MakeFrame]:
    """Make frames of three partitions."""
    with dask_dataframe() as dataframe:
        yield lambda rows: dataframe.from_pandas(
            pa.table(rows).to_pandas(date_as_object=False), npartitions=3
        )


@contextmanager
def duckdb() -> Iterator[MakeFrame]:
    """Make relations of a connection of their own."""
    with library("duckdb").connect() as connection:
        yield lambda rows: connection.from_arrow(pa.table(rows))


@contextmanager
def ibis() -> Iterator[MakeFrame]:
    """Make tables in memory, which Ibis reads with DuckDB."""
    memtable = library("ibis").memtable
    yield lambda rows: memtable(pa.table(rows))


@contextmanager
def sqlframe_session() -> Iterator[Any]:
    """Start SQLFrame over DuckDB; it keeps one session of a process."""
    with library("duckdb").connect() as connection:
        yield library("sqlframe.duckdb").DuckDBSession(conn=connection)


@contextmanager
def sqlframe_tables(session: Any) -> Iterator[MakeFrame]:
    """Make frames of files in a folder of their own."""
    with tempfile.TemporaryDirectory() as folder:
        paths = (f"{folder}/{number}.parquet" for number in itertools.count())

        def frame(rows: Any) -> Any:
            path = next(paths)
            pyarrow.parquet.write_table(pa.table(rows), path)
            return session.read.parquet(path)

        yield frame


@contextmanager
def sqlframe() -> Iterator[MakeFrame]:
    """Make frames of a session of their own."""
    with sqlframe_session() as session, sqlframe_tables(session) as make:
        yield make


@contextmanager
def datafusion() -> Iterator[MakeFrame]:
    """Make frames whose rows come in batches."""
    context = library("datafusion").SessionContext()
    yield lambda rows: context.from_arrow(pa.table(rows))


@contextmanager
def dataset() -> Iterator[MakeFrame]:
    """Make data sets of PyArrow, whose rows come in batches."""
    yield lambda rows: pyarrow.dataset.dataset(pa.table(rows))
