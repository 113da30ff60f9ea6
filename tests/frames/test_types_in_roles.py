"""What a column may hold is the same for every frame, and what the documentation's table says."""

import re
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import balframe as bf
from tests.support.cases import cases

PAGE = Path(__file__).parents[2] / "docs" / "pages" / "reference" / "frames.md"
VALUES = {
    "booleans": [True, False],
    "integers": [1, 0],
    "floats": [1.0, 0.0],
    "strings": ["a", "b"],
    "categories": pa.array(["a", "b"]).dictionary_encode(),
    "dates": [date(2024, 2, 29), date(1969, 12, 31)],
    "times of day": [time(1), time(2)],
    "date and time": [datetime(2024, 2, 29), datetime(1969, 12, 31)],
    "durations": [timedelta(1), timedelta(2)],
    "bytes": [b"\x00", b"a"],
    "decimals": [Decimal(1), Decimal(0)],
    "lists": [[1], [2]],
    "structs": [{"a": 1}, {"a": 2}],
}
FRAMES = {
    "polars": pl.from_arrow,
    "polars, lazy": lambda table: pl.from_arrow(table).lazy(),
    "PyArrow": lambda table: table,
    "PyArrow reader": lambda table: table.to_reader(),
    "pandas": lambda table: table.to_pandas(),
    "pandas on Arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
}
ROLES = {
    "labels": lambda df: bf.report(df, "v", "w"),
    "`by`": lambda df: bf.report(df, "y", "p", by="v"),
    "scores, weights": lambda df: bf.ranking(df, "y", "v", sample_weight="v"),
    "counts": lambda df: bf.report(df, "y", "p", counts="v"),
    "`bf.period`": lambda df: bf.report(df, "y", "p", by=bf.period("v", "1d")),
}


def asked(role, frame):
    result = ROLES[role](frame)
    return result.collect() if isinstance(result, pl.LazyFrame) else result


def documented():
    rows = re.findall(r"^\| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    cells = [row.split(" | ") for row in rows if row.count(" | ") == len(ROLES)]
    head = next(row for row in cells if row[0] == "type")
    return {row[0]: dict(zip(head[1:], row[1:], strict=True)) for row in cells if row[0] in VALUES}


def test_every_type_and_role_is_in_the_documented_table():
    table = documented()
    assert list(table) == list(VALUES)
    assert all(list(row) == list(ROLES) for row in table.values())


@cases("frame", FRAMES.values())
@cases("kind", VALUES)
def test_types_are_accepted_or_refused_as_documented(kind, frame):
    table = pa.table({"v": VALUES[kind], "w": VALUES[kind], "y": [0, 1], "p": [1, 1]})
    for role, said in documented()[kind].items():
        if said == "no":
            with pytest.raises(bf.BalframeError, match="'v'"):
                asked(role, frame(table))
        else:
            asked(role, frame(table))


@cases("frame", FRAMES.values())
@cases("role", ["labels", "counts"])
def test_fractions_are_refused_as_labels_and_counts(role, frame):
    assert documented()["floats"][role] == "whole numbers"
    halves = pa.table({"v": [0.5, 1.0], "w": [0.5, 1.0], "y": [0, 1], "p": [1, 1]})
    with pytest.raises(bf.InvalidInputError, match="'v'"):
        asked(role, frame(halves))
