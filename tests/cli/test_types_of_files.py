"""A file of any format has the segments, counts and order that its columns have in a frame."""

import csv
import io
from datetime import date

import openpyxl
import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import plain

pytestmark = pytest.mark.any_version

VALUES = {  # names of segments, in their order
    "texts": ["B", "None", "a", "a b", 'a"b', "é"],
    "codes": ["007", "1.1", "1.10", "1e3", "7"],
    "integers": [-3, 0, 7, 10],
    "dates": [date(1999, 12, 31), date(2024, 2, 29)],
    "booleans": [False, True],
}


def write_excel(frame, path):
    book = openpyxl.Workbook()
    for row in (frame.columns, *frame.iter_rows()):
        book.active.append(row)
    book.save(path)


FORMATS = {
    "csv": pl.DataFrame.write_csv,
    "tsv": lambda frame, path: frame.write_csv(path, separator="\t"),
    "csv.gz": lambda frame, path: frame.write_csv(path, compression="gzip"),
    "ndjson": pl.DataFrame.write_ndjson,
    "json": pl.DataFrame.write_json,
    "parquet": pl.DataFrame.write_parquet,
    "arrow": pl.DataFrame.write_ipc,
    "xlsx": write_excel,
}
COLUMNS = ["--y-true", "y", "--y-pred", "p", "--metric", "accuracy", "--format", "csv"]
ROLES = {  # the columns that are compared with those of the frame, and both calls
    "by": (
        ["n", "accuracy"],
        ["report", *COLUMNS, "--by", "x"],
        lambda df: bf.report(df, "y", "p", by="x", metrics="accuracy"),
    ),
    "labels": (
        ["n", "accuracy", "recall_macro"],
        ["report", "--y-true", "x", "--y-pred", "x2", *COLUMNS[4:], "--metric", "recall_macro"],
        lambda df: bf.report(df, "x", "x2", metrics=["accuracy", "recall_macro"]),
    ),
    "cluster": (
        ["accuracy", "accuracy_lower", "accuracy_upper"],
        ["report", *COLUMNS, "--interval", "--cluster", "x2"],
        lambda df: bf.report(df, "y", "p", metrics="accuracy", interval=True, cluster="x2"),
    ),
    "item": (
        ["estimate", "difference", "lower"],
        ["compare", *COLUMNS, "--model", "m", "--item", "i", "--by", "x"],
        lambda df: bf.compare(df, "y", "p", model="m", item="i", by="x", metrics="accuracy"),
    ),
}


def rows(kind):
    """Return rows with the values of a kind, nulls only as segments."""
    values = VALUES[kind]
    n = 12 * len(values)
    x = [values[i // 2 * 7 % len(values)] for i in range(n)]
    return pl.DataFrame(
        {
            "x": x,
            "x2": [values[i * 7 % len(values)] if i % 4 == 0 else x[i] for i in range(n)],
            "y": [i // 2 % 2 for i in range(n)],
            "p": [i // 3 % 2 for i in range(n)],
            "m": ["old", "new"] * (n // 2),
            "i": [i // 2 for i in range(n)],
        }
    )


@pytest.mark.parametrize("ending", FORMATS)
@cases("kind", VALUES)
@cases("role", ROLES)
def test_a_file_counts_as_a_frame(run, tmp_path, kind, role, ending):
    names, (command, *options), method = ROLES[role]
    frame, path = rows(kind), tmp_path / f"{kind}.{ending}"
    expected = plain(method(frame))
    FORMATS[ending](frame, path)

    done = run(command, path, *options)

    assert (done.code, done.err) == (0, "")
    result = list(csv.DictReader(io.StringIO(done.out)))
    for name in names:
        values = [float(row[name]) for row in result]
        assert values == pytest.approx(expected[name], rel=1e-9), name
    if role == "by":
        assert [row["x"].lower() for row in result] == [str(v).lower() for v in expected["x"]]
