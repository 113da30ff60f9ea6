"""A column counts as the ranks of its values do: whatever its type, its role and its frame.

The ranks are integers, which every library holds. So the result on the values has to be the one on
the ranks: the same segments in the same order, with the same counts, scores and limits.
"""

import random
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import product

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import plain

pytestmark = [
    pytest.mark.any_version,
    pytest.mark.filterwarnings("ignore::balframe.BalframeWarning"),  # of labels drawn at random
]

N = 60
BERLIN = pa.timestamp("us", "Europe/Berlin")
VALUES = {  # distinct, in their order, of a type
    "booleans": ([False, True], pa.bool_()),
    "small integers": ([-3, 0, 7], pa.int8()),
    "large integers": ([-(2**63), 0, 2**63 - 1], pa.int64()),
    "unsigned integers": ([0, 7, 2**64 - 1], pa.uint64()),
    "floats": ([-1.5, 0.0, 2.5, float("inf")], pa.float64()),
    "floats of 32 bits": ([-1.5, 0.1, 2.5], pa.float32()),
    "whole floats": ([-1.0, 0.0, 2.0], pa.float64()),
    "decimals": ([Decimal("-1.50"), Decimal("0.00"), Decimal("2.25")], pa.decimal128(10, 2)),
    "texts": (["", " a", "10", "9", "A", "None", "a", "nan", "null", "é"], pa.string()),
    "large texts": (["1", "1.0", "1.10", "a" * 300, "a" * 300 + "b"], pa.large_string()),
    "dictionaries": (["a", "m", "z"], pa.dictionary(pa.int32(), pa.string())),
    "dictionaries of integers": ([3, 5], pa.dictionary(pa.int8(), pa.int64())),
    "bytes": ([b"\x00", b"a", b"\xff"], pa.binary()),
    "dates": ([date(1900, 1, 1), date(2024, 2, 29), date(9999, 12, 31)], pa.date32()),
    "seconds": ([datetime(1969, 1, 1), datetime(2024, 1, 1)], pa.timestamp("s")),
    "microseconds": ([datetime(2024, 1, 1), datetime(2024, 1, 1, 0, 0, 0, 1)], pa.timestamp("us")),
    "nanoseconds": ([0, 1], pa.timestamp("ns")),
    "instants of a zone": ([datetime(2024, 1, 1), datetime(2024, 1, 1, 1)], BERLIN),
    "times of day": ([time(0), time(0, 0, 0, 1), time(23, 59, 59)], pa.time64("us")),
    "durations": ([timedelta(-1), timedelta(0), timedelta(400)], pa.duration("us")),
}


def pandas_on_arrow(table):
    return table.to_pandas(types_mapper=pd.ArrowDtype)


def dataset(table, folder):
    pyarrow.parquet.write_table(table, folder / "rows.parquet")
    return pyarrow.dataset.dataset(folder / "rows.parquet")


def parquet(table, folder):
    pyarrow.parquet.write_table(table, folder / "rows.parquet")
    return pl.scan_parquet(folder / "rows.parquet")


FRAMES = {
    "polars": lambda table, _: pl.from_arrow(table),
    "polars, lazy": lambda table, _: pl.from_arrow(table).lazy(),
    "pandas": lambda table, _: table.to_pandas(),
    "pandas on Arrow": lambda table, _: pandas_on_arrow(table),
    "PyArrow": lambda table, _: table,
    "reader": lambda table, _: table.to_reader(),
    "dataset": dataset,
    "Parquet": parquet,
    "DuckDB": lambda table, _: duckdb.from_arrow(table),
}
ROLES = {
    "by": lambda df: bf.report(df, "y", "p", by="x"),
    "by, with margins": lambda df: bf.report(df, "y", "p", by=["g", "x"], margins="all"),
    "by of gaps": lambda df: bf.gaps(df, "y", "p", by="x"),
    "by of scores": lambda df: bf.ranking(df, "y", "s", by="x"),
    "by of curves": lambda df: bf.curve(df, "y", "s", by="x", thresholds=[0.5]),
    "by of calibration": lambda df: bf.calibration(df, "y", "s", by="x"),
    "by of rules": lambda df: bf.check(df, "y", "p", by="x", rules="accuracy >= 0.5"),
    "over": lambda df: bf.slices(df, "y", "p", over=["x", "g"], min_support=1),
    "labels": lambda df: bf.report(df, "l", "x", by="g", metrics=["accuracy", "uar", "kappa"]),
    "cells": lambda df: bf.confusion(df, "l", "x"),
    "cluster": lambda df: bf.report(df, "y", "p", cluster="x", interval=True),
    "model": lambda df: bf.compare(df, "y", "p", model="x", item="i", metrics="accuracy"),
    "item": lambda df: bf.compare(df, "y", "p", model="m", item="x", metrics="accuracy"),
}
COUNTED = ("by", "over")  # in these roles a null is a segment; in the others it is refused
LABELS = ("labels", "cells")
INSTANTS = ("seconds", "microseconds", "nanoseconds", "instants of a zone", "times of day")
REFUSED = {  # by type and role: what is no label, or shows no name of a model
    **dict.fromkeys(product(["floats", "floats of 32 bits", "decimals"], LABELS), "not whole"),
    **dict.fromkeys(product(["bytes", "times of day", "durations"], LABELS), "be used as labels"),
    **dict.fromkeys(
        product(["bytes", "durations", *INSTANTS], ["model"]),
        "cannot name models",
    ),
}


def in_order(values, codes, dtype):
    """Make a column; the categories of a dictionary are in the order of the values."""
    if pa.types.is_dictionary(dtype):
        return pa.DictionaryArray.from_arrays(pa.array(codes, dtype.index_type), pa.array(values))
    return pa.array([None if code is None else values[code] for code in codes], dtype)


def tables(kind, role):
    """Return rows whose column `x` has values of a type, and the same with their ranks."""
    rng = random.Random(f"{kind}, {role}")
    values, dtype = VALUES[kind]
    size = len(values)
    rank = [*range(size), *(rng.randrange(size) for _ in range(N - size))]
    columns = {
        "y": [rng.randrange(2) for _ in range(N)],
        "p": [rng.randrange(2) for _ in range(N)],
        "g": [rng.choice("ab") for _ in range(N)],
        "s": [rng.randrange(20) / 20 for _ in range(N)],
        "l": [rng.randrange(size) for _ in range(N)],
    }
    if role == "model":
        rank, columns["i"] = [i % size for i in range(N)], [i // size for i in range(N)]
        columns["y"] = [i // size % 2 for i in range(N)]  # an item has one truth
    if role == "item":
        rank, columns["m"] = [i // 2 for i in range(2 * size)], ["u", "v"] * size
        columns["y"] = [i // 2 % 2 for i in range(N)]
    n_rows = len(rank) if role == "item" else N // size * size
    if role.startswith(COUNTED):
        rank = [None if rng.random() < 0.15 else code for code in rank]
    typed, labels = (in_order(values, codes, dtype) for codes in (rank, columns["l"]))
    shared = {name: column[:n_rows] for name, column in columns.items()}
    return [
        pa.table(shared | {"x": x[:n_rows], "l": labels[:n_rows]})
        for x, labels in ((typed, labels), (pa.array(rank), pa.array(columns["l"])))
    ]


def unnamed(result):
    """Return the columns of a result without those that hold values of the typed column."""
    named = ("x", "l", "model", "baseline", "slice", "pos_label", "y_true", "y_pred")
    return {name: column for name, column in plain(result).items() if name not in named}


def refusal_of(kind, role, frame):
    """Return the pattern of the one refusal of a type in a role; None where it counts."""
    if frame == "DuckDB" and (kind, role) == ("texts", "model"):
        return "two would be named 'A', 'a'"  # columns, of which DuckDB ignores the case
    if frame == "DuckDB" and kind == "durations" and role.startswith(("by", "over", "cluster")):
        return "DuckDB cannot export"
    if kind == "nanoseconds" and role in LABELS and "pandas" not in frame:
        return "differ by nanoseconds"
    return REFUSED.get((kind, role))


@pytest.mark.parametrize("kind", VALUES)
@cases("role", ROLES)
def test_a_column_counts_as_the_ranks_of_its_values(kind, role, tmp_path):
    typed, ranks = tables(kind, role)
    expected = unnamed(ROLES[role](pl.from_arrow(ranks)))
    for name, make in FRAMES.items():
        frame, refusal = make(typed, tmp_path), refusal_of(kind, role, name)
        if refusal is not None:
            with pytest.raises(bf.BalframeError, match=refusal):
                plain(ROLES[role](frame))
            continue
        result = unnamed(ROLES[role](frame))
        assert list(result) == list(expected), name
        for column, values in expected.items():
            assert result[column] == pytest.approx(values, rel=1e-9), (name, column)
