"""Types of Arrow that polars lacks: of no concern in columns that are not used, else one error."""

import ibis
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

import balframe as bf
from tests.support.arrow_types import unknown_to_polars
from tests.support.cases import cases
from tests.support.constructors import plain
from tests.support.programs import library

pytestmark = pytest.mark.any_version

COLUMNS = unknown_to_polars(4)
LABELS = {"y": [1, 0, 1, 0], "p": [1, 1, 1, 0]}


class Stream:
    """A frame of which only the stream is known."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


FORMS = {
    "table": lambda table: table,
    "reader": lambda table: table.to_reader(),
    "dataset": pyarrow.dataset.dataset,
    "stream": Stream,
    "pandas": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
}


@cases("form", FORMS)
@cases("name", COLUMNS)
def test_an_unused_column_of_a_type_unknown_to_polars_does_not_matter(name, form):
    table = pa.table(LABELS | {"unused": COLUMNS[name]})

    result = bf.report(FORMS[form](table), "y", "p", metrics="accuracy")

    assert plain(result)["accuracy"] == [3 / 4]


@cases("form", [name for name in FORMS if name != "pandas"])
@cases("name", COLUMNS)
def test_a_used_column_of_a_type_unknown_to_polars_is_named_with_its_type(name, form):
    table = pa.table(LABELS | {"z": COLUMNS[name]})

    with pytest.raises(bf.UnsupportedTypeError) as raised:
        bf.report(FORMS[form](table), "y", "p", by="z")

    assert f"column 'z' of type {COLUMNS[name].type}" in str(raised.value)
    assert "'y'" not in str(raised.value)


@cases("name", ["interval", "union", "list view", "run-end encoded"])
@cases("roles", [{"by": "z"}, {"sample_weight": "z"}, {"by": bf.period("z", "1d")}])
def test_a_type_that_pandas_only_holds_is_named(name, roles):
    frame = FORMS["pandas"](pa.table(LABELS | {"z": COLUMNS[name]}))

    with pytest.raises(bf.UnsupportedTypeError, match="column 'z' has the type ") as raised:
        bf.report(frame, "y", "p", **roles)

    assert "which pandas cannot compute with. Cast it first." in str(raised.value)


@cases("zone", ["+05:30", "Mars/Phobos"])
def test_an_unused_zone_unknown_to_polars_does_not_matter_in_ibis(zone):
    moments = pa.array([0] * 4, pa.timestamp("us", zone))

    result = bf.report(ibis.memtable(pa.table(LABELS | {"z": moments})), "y", "p")

    assert plain(result)["accuracy"] == [3 / 4]


@pytest.fixture
def scan(tmp_path):
    """Scan a file of Parquet that has another column."""

    def scanned(column):
        path = tmp_path / "rows.parquet"
        pyarrow.parquet.write_table(pa.table(LABELS | {"z": column}), path)
        return pl.scan_parquet(path)

    return scanned


def test_a_lazy_frame_with_more_digits_than_polars_has_is_read(scan):
    rows = scan(COLUMNS["many digits"])

    assert plain(bf.report(rows, "y", "p", backend="polars"))["accuracy"] == [3 / 4]
    with pytest.raises(bf.UnsupportedTypeError, match=r"'z' has the type Decimal\(precision=50"):
        bf.report(rows, "y", "p", by="z")


@cases("backend", [None, "polars"])
def test_a_panic_of_polars_is_an_error_of_the_family(scan, backend):
    with pytest.raises(bf.InvalidInputError) as raised:
        bf.report(scan(COLUMNS["offset as zone"]), "y", "p", backend=backend)

    assert "polars failed with an internal error: unable to parse time zone: '+05:30'" in str(
        raised.value
    )
    assert "`pyarrow.dataset.dataset(path)`" in str(raised.value)


@cases("form", ["table", "reader", "dataset", "stream"])
def test_a_repeated_name_of_unused_columns_is_refused_in_arrow(form):
    table = pa.table([[1, 0], [1, 1], [2, 2], [3, 3]], names=["y", "p", "z", "z"])

    with pytest.raises(bf.InvalidInputError, match="the frame has 2 columns named 'z'; rename"):
        bf.report(FORMS[form](table), "y", "p")


def test_a_repeated_name_of_unused_columns_is_refused_on_dask():
    frame = pd.DataFrame([[1, 1, 2, 3], [0, 1, 2, 3]], columns=["y", "p", "z", "z"])
    dataframe = library("dask.dataframe")

    with pytest.raises(bf.InvalidInputError, match="the frame has 2 columns named 'z'; rename"):
        bf.report(dataframe.from_pandas(frame, npartitions=1), "y", "p")


def test_a_repeated_name_of_unused_columns_does_not_matter_in_pandas():
    frame = pd.DataFrame([[1, 1, 2, 3], [0, 1, 2, 3]], columns=["y", "p", "z", "z"])

    assert plain(bf.report(frame, "y", "p"))["accuracy"] == [1 / 2]
