"""Columns of Arrow of types that polars lacks, by a name of each."""

from datetime import datetime
from decimal import Decimal

import pyarrow as pa

_MOMENT = datetime(2024, 1, 1)


def unknown_to_polars(n: int) -> dict[str, pa.Array]:
    """Make columns of n rows."""
    return {name: column[:n] for name, column in _columns(max(n, 1)).items()}


def _columns(n: int) -> dict[str, pa.Array]:
    return {
        "offset as zone": pa.array([_MOMENT] * n, pa.timestamp("us", "+05:30")),
        "no such zone": pa.array([_MOMENT] * n, pa.timestamp("us", "Mars/Phobos")),
        "zone in a list": pa.array([[_MOMENT]] * n, pa.list_(pa.timestamp("us", "+05:30"))),
        "many digits": pa.array([Decimal(1)] * n, pa.decimal256(50, 2)),
        "few digits of 256 bits": pa.array([Decimal(1)] * n, pa.decimal256(10, 2)),
        "digits in a struct": pa.array(
            [{"a": Decimal(1)}] * n, pa.struct([("a", pa.decimal256(50, 2))])
        ),
        "interval": pa.array([(1, 2, 3)] * n, pa.month_day_nano_interval()),
        "union": pa.UnionArray.from_sparse(
            pa.array([0] * n, pa.int8()), [pa.array([1] * n, pa.int64())]
        ),
        "run-end encoded": pa.RunEndEncodedArray.from_arrays([n], [1]),
        "list view": pa.array([[1]] * n, pa.list_view(pa.int64())),
    }
