"""Files of Arrow and Parquet with columns that polars cannot hold, and with repeated names."""

import subprocess
import sys

import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from tests.support.arrow_types import unknown_to_polars
from tests.support.cases import cases

COLUMNS = unknown_to_polars(4)
LABELS = ["--y-true", "y", "--y-pred", "p"]
SCORE = ["--metric", "accuracy", "--format", "csv"]
NOT_IN_PARQUET = ("interval", "union", "run-end encoded", "list view")  # in all versions
FILES = [
    (name, ending)
    for name in COLUMNS
    for ending in ("parquet", "arrow", "arrows")
    if ending != "parquet" or name not in NOT_IN_PARQUET
]
NAMED = [file for file in FILES if file != ("few digits of 256 bits", "parquet")]  # now 128 bits


def write(table, path):
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(table, path)
        return
    open_writer = pa.ipc.new_file if path.suffix == ".arrow" else pa.ipc.new_stream
    with open_writer(str(path), table.schema) as writer:
        writer.write_table(table)


@pytest.fixture
def path(tmp_path):
    """Write labels and another column to a file."""

    def written(name, ending):
        file = tmp_path / f"rows.{ending}"
        labels = {"y": [1, 0, 1, 0], "p": [1, 1, 1, 0]}
        write(pa.table(labels | {"z": COLUMNS[name]}), file)
        return file

    return written


@cases(("name", "ending"), FILES)
def test_a_column_of_an_unknown_type_that_is_not_used_does_not_matter(run, path, name, ending):
    done = run("report", path(name, ending), *LABELS, *SCORE)

    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[1] == "4,0.75,2,2"


@cases(
    ("name", "ending"), [file for file in FILES if file != ("few digits of 256 bits", "parquet")]
)
def test_a_column_of_an_unknown_type_that_is_used_is_named(refused, path, name, ending):
    line = refused("report", path(name, ending), *LABELS, "--by", "z")

    assert "column 'z'" in line
    assert " type " in line
    assert "damaged" not in line


SEES_REPEATED_NAMES = pytest.mark.skipif(
    int(pl.__version__.split(".")[0]) < 2, reason="polars reads the first of such columns"
)


@pytest.mark.parametrize(
    "ending", [pytest.param("parquet", marks=SEES_REPEATED_NAMES), "arrow", "arrows"]
)
def test_repeated_names_of_columns_that_are_not_used_are_refused(refused, tmp_path, ending):
    path = tmp_path / f"rows.{ending}"
    write(pa.table([[1, 0], [1, 1], [2, 2], [3, 3]], names=["y", "p", "z", "z"]), path)

    line = refused("report", path, *LABELS)

    assert line == (
        f"'{path}' cannot be read: more than one column has the name 'z'. Rename all but one."
    )


@pytest.mark.processes
def test_the_program_reads_files_with_offsets_as_zones(path):
    command = [sys.executable, "-m", "balframe", "report", path("offset as zone", "parquet")]

    done = subprocess.run([*command, *LABELS, *SCORE], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[1] == "4,0.75,2,2"


def test_bands_of_a_feather_file_are_segments_in_their_order(tmp_path):
    ends = [pa.array([-1, 9]), pa.array([9, 20])]
    bands = pa.StructArray.from_arrays(ends, ["left", "right"])
    column = pa.DictionaryArray.from_arrays(pa.array([1, 0, 0, None], pa.int8()), bands)
    metadata = {
        "ARROW:extension:name": "pandas.interval",
        "ARROW:extension:metadata": '{"subtype": "int64", "closed": "right"}',
    }  # as `to_feather` of pandas writes the result of `cut`
    field = pa.field("g", column.type, metadata=metadata)
    table = pa.table({"y": [1, 0, 1, 0], "p": [1, 1, 1, 0]}).append_column(field, column)
    write(table, tmp_path / "rows.arrow")

    command = [sys.executable, "-m", "balframe", "report", tmp_path / "rows.arrow", *LABELS]
    done = subprocess.run(
        [*command, *SCORE, "--by", "g"], capture_output=True, text=True, check=True
    )
    rows = [line.split(",1.0")[0].split(",0.5")[0] for line in done.stdout.splitlines()[1:]]
    assert rows == ['"(-1, 9]",2', '"(9, 20]",1', ",1"]
