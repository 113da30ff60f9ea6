"""Names of columns in SQLFrame, which reads some of them as SQL: right numbers, or one error."""

import pandas as pd
import pytest

import balframe as bf
from tests.engines.conftest import lane_of
from tests.support.cases import cases
from tests.support.constructors import plain

pytestmark = [pytest.mark.any_version, *lane_of("sqlframe")]

TRUTH, RIGHT = ["b", "a", "b"], {"a": (1, 0.0), "b": (2, 1.0)}
REST = {"y": [1, 0, 1], "p": [1, 1, 1]}


@pytest.fixture
def of_memory(sqlframe_session):
    """SQLFrame on rows that it has itself; `sqlframe` has them in files."""
    return lambda rows: sqlframe_session.createDataFrame(pd.DataFrame(rows))


@pytest.fixture(params=["of_memory", "sqlframe"])
def make(request):
    return request.getfixturevalue(request.param)


def by(name, frame):
    found = plain(bf.report(frame, "y", "p", by=name))
    return dict(zip(found[name], zip(found["n"], found["accuracy"], strict=True), strict=True))


@cases("name", ["x + 1", "count(x)", "-1", "1a", "end", "Total", "ü"])
def test_names_that_are_not_sql_constants_are_accepted(name, make):
    assert by(name, make({name: TRUTH, **REST})) == RIGHT


@cases("name", ["select", "true", "current_date", "Ünï"])
def test_sql_keywords_are_accepted_as_names_of_rows_in_memory(name, of_memory):
    assert by(name, of_memory({name: TRUTH, **REST})) == RIGHT


@cases("name", ["p--", "a.b", '"', "'"])
def test_names_that_are_invalid_sql_are_accepted_from_a_file(name, sqlframe):
    assert by(name, sqlframe({name: TRUTH, **REST})) == RIGHT


@cases("name", ["1", "1.5", "1e3", "null"])
def test_a_name_that_sqlframe_reads_as_a_constant_is_refused(name, of_memory):
    frame = of_memory({name: TRUTH, **REST})
    with pytest.raises(bf.InvalidInputError, match=r"as a constant\. A name must not be a number"):
        by(name, frame)


@cases("name", ["1", "1.5", "'q'"])
@cases("role", ["y_true", "y_pred", "sample_weight", "counts"])
def test_a_constant_as_a_name_is_refused_in_every_role(name, role, sqlframe):
    asked = {"y_true": "y", "y_pred": "p"} | {role: name}
    with pytest.raises(bf.InvalidInputError, match="Rename it where the frame is created"):
        bf.report(sqlframe({name: [1, 1, 2], **REST}), **asked)
    if role == "y_pred":
        with pytest.raises(bf.InvalidInputError, match="Rename it where the frame is created"):
            bf.curve(sqlframe({name: [0.5, 1.0, 2.0], **REST}), "y", name)


@pytest.mark.parametrize("name", ["Ünï", "É", "null"])
def test_a_file_that_sqlframe_cannot_describe_is_refused(name, sqlframe):
    for segment in (name, "g"):
        with pytest.raises(bf.InvalidInputError, match="SQLFrame cannot describe its frame: "):
            by(segment, sqlframe({name: TRUTH, "g": TRUTH, **REST}))


def test_a_dot_in_a_name_of_rows_in_memory_is_refused(of_memory):
    with pytest.raises(
        bf.InvalidInputError, match=r"SQLFrame cannot describe .* digits and _ are 'a.b'\."
    ):
        by("y", of_memory({"a.b": TRUTH, **REST}))


def test_a_type_that_sqlframe_does_not_know_is_refused(sqlframe_session):
    columns = "'a'::enum('a') as g, 1 as y, 1 as p"
    sqlframe_session._conn.execute(f"create table levels as select {columns}")
    with pytest.raises(bf.InvalidInputError, match=r"Unsupported data type: ENUM.*Drop or cast"):
        bf.report(sqlframe_session.table("levels"), "y", "p")


@cases("name", ["current_date", "`"])
@cases("place", [0, 1, 2])
def test_a_frame_with_a_column_lost_by_sqlframe_is_refused(name, place, sqlframe):
    columns = [*REST.items(), ("g", TRUTH), ("s", [0.5, 0.25, 1.0])]
    columns.insert(place, (name, [1, 2, 3]))
    with pytest.raises(bf.InvalidInputError, match="5 columns, but SQLFrame has lost"):
        by("g", sqlframe(dict(columns)))


@pytest.mark.parametrize("name", ["1", "x + 1", "'q'"])
def test_odd_names_of_unused_columns_do_not_matter(name, make):
    assert by("g", make({name: [7, 8, 9], "g": TRUTH, **REST})) == RIGHT


@pytest.mark.parametrize("name", ["1", "x + 1", "'q'"])
def test_odd_names_beside_one_that_has_to_be_renamed_do_not_matter(name, sqlframe):
    assert by("a.b", sqlframe({name: [7, 8, 9], "a.b": TRUTH, **REST})) == RIGHT
