"""Frames of every engine, made of the same lists; clusters listen on loopback only."""

import os
import shutil

import pyarrow as pa
import pytest

from tests.support import engine_frames
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
    if shutil.which("java") is None and not MUST_RUN_ALL:
        pytest.skip("Spark needs Java 17 or later")
    with engine_frames.spark_session() as session:
        yield session


@pytest.fixture(scope="session")
def postgres_folder():
    programs = engine_frames.postgres_programs()
    if not MUST_RUN_ALL and (programs is None or os.name != "posix"):
        pytest.skip("the tests have no PostgreSQL to start")
    with engine_frames.postgres_folder() as folder:
        yield folder


@pytest.fixture(scope="session")
def sqlframe_session():
    with engine_frames.sqlframe_session() as session:
        yield session


@pytest.fixture
def dask_dataframe():
    with engine_frames.dask_dataframe() as dataframe:
        yield dataframe


@pytest.fixture
def dask(dask_dataframe):
    with engine_frames.dask() as make:
        yield make


@pytest.fixture
def spark(spark_session):
    return lambda rows: spark_session.createDataFrame(pa.table(rows))


@pytest.fixture
def duckdb():
    with engine_frames.duckdb() as make:
        yield make


@pytest.fixture
def ibis():
    with engine_frames.ibis() as make:
        yield make


@pytest.fixture
def postgres(postgres_folder):
    with engine_frames.postgres_tables(postgres_folder) as make:
        yield make


@pytest.fixture
def sqlite():
    with engine_frames.sqlite() as make:
        yield make


@pytest.fixture
def sqlframe(sqlframe_session):
    with engine_frames.sqlframe_tables(sqlframe_session) as make:
        yield make


@pytest.fixture
def datafusion():
    with engine_frames.datafusion() as make:
        yield make


@pytest.fixture
def dataset():
    with engine_frames.dataset() as make:
        yield make


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
