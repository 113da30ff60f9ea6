"""Names that differ only in case: read as they are, or refused where an engine mixes them up."""

import pytest

import balframe as bf
from tests.engines.conftest import on_engines
from tests.support.constructors import plain

pytestmark = pytest.mark.any_version

ROWS = {
    "y": [1, 0, 1, 0],
    "p": [1, 1, 1, 0],
    "upper_y": [0, 0, 0, 0],
    "g": ["a", "a", "b", "b"],
    "upper_g": ["x", "x", "x", "x"],
    "truth": [1, 0, 1, 1],
}


def of_duckdb(relation):
    return relation.project('y, p, upper_y AS "Y", g, upper_g AS "G", truth')


def of_ibis(table):
    return table.rename(Y="upper_y", G="upper_g")


def of_spark(frame):
    return frame.toDF("y", "p", "Y", "g", "G", "truth")


RENAMED = {
    "duckdb": of_duckdb,
    "ibis": of_ibis,
    "spark": of_spark,
    "postgres": of_ibis,
    "dask": lambda frame: frame.rename(columns={"upper_y": "Y", "upper_g": "G"}),
}
IGNORING_CASE = on_engines(["duckdb", "ibis", "spark"])


@pytest.mark.parametrize("name", IGNORING_CASE)
@pytest.mark.parametrize(("y", "by"), [("y", "g"), ("Y", "g"), ("y", "G"), ("Y", None)])
def test_names_that_an_engine_mixes_up_are_refused(name, y, by, request):
    frame = RENAMED[name](request.getfixturevalue(name)(ROWS))

    with pytest.raises(bf.InvalidInputError) as raised:
        bf.report(frame, y, "p", by=by)

    clash = {"'y', 'Y'", "'g', 'G'"} if by else {"'y', 'Y'"}
    engine = {"duckdb": "DuckDB", "ibis": "Ibis's backend 'duckdb'", "spark": "PySpark"}[name]
    begin = f"{engine} does not distinguish upper and lower case in names of columns, and the frame"
    advice = ". Rename all but one of them where the frame is created."
    assert str(raised.value) in {f"{begin} has {names}{advice}" for names in clash}


@pytest.mark.parametrize("name", IGNORING_CASE)
def test_names_in_two_cases_that_are_not_read_do_not_matter(name, request):
    frame = RENAMED[name](request.getfixturevalue(name)(ROWS))

    assert plain(bf.report(frame, "truth", "p"))["n"] == [4]


@pytest.mark.parametrize("name", on_engines(["postgres", "dask"]))
def test_engines_that_distinguish_case_read_the_column_that_is_named(name, request):
    frame = RENAMED[name](request.getfixturevalue(name)(ROWS))

    result = plain(bf.report(frame, "Y", "p", by="G", metrics="accuracy", backend="polars"))

    assert (result["G"], result["accuracy"]) == (["x"], [1 / 4])


def test_spark_may_be_set_to_distinguish_case(spark, spark_session):
    frame = of_spark(spark(ROWS))
    spark_session.conf.set("spark.sql.caseSensitive", "true")
    try:
        result = plain(bf.report(frame, "Y", "p", by="G", metrics="accuracy"))
    finally:
        spark_session.conf.unset("spark.sql.caseSensitive")

    assert (result["G"], result["accuracy"]) == (["x"], [1 / 4])
