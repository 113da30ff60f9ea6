"""One run into a table, in one commit: once, even if others write at the same time.

A commit names the run in a transaction of its own (`txn` in the log). Delta refuses a commit that
names a run which another commit has named since the table was read. So a run is looked up first,
and written only if no other writer has written it meanwhile; commits of other runs do not matter.
"""

import random
import time
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import polars as pl
import polars.selectors as cs

from balframe.errors import OPTION, InvalidInputError, UnsupportedTypeError, listed
from balframe.frames.concat import as_longer_float
from balframe.frames.history.run_table import (
    RUN,
    CellColumns,
    check_delta_installed,
    check_place,
    naming_table,
    open_table,
    scan_opened,
)
from balframe.frames.query import WEIGHT, WEIGHT_MAX, WEIGHT_SQ

# Cells in the types that a Delta table holds, and whether two runs have the same cells.


if TYPE_CHECKING:
    from deltalake import Schema

_DELTA_TYPES: Mapping[Any, str] = {
    pl.String(): "string",
    pl.Boolean(): "boolean",
    pl.Int64(): "long",
    pl.Float64(): "double",
    pl.Date(): "date",
    pl.Binary(): "binary",
    pl.Datetime("us"): "timestamp_ntz",
    pl.Datetime("us", "UTC"): "timestamp",
}
_EXACT_CASTS = (pl.Boolean, pl.Int64, pl.Float64)  # types whose values may be equal
_MOST_DIGITS = 38  # of a decimal, which older versions of polars do not specify
_TOLERANCE = 1e-9  # of sums of weights, which engines add up in different orders


def _storable_column(column: pl.Series) -> pl.Series:
    dtype = column.dtype
    if dtype in (pl.Null, pl.Categorical, pl.Enum):
        target: pl.DataType = pl.String()
    elif dtype.is_integer():
        target = pl.Int64()
    elif dtype.is_float():
        target = pl.Float64()
    elif isinstance(dtype, pl.Datetime):
        target = pl.Datetime("us", None if dtype.time_zone is None else "UTC")
    elif isinstance(dtype, pl.Decimal):
        target = pl.Decimal(dtype.precision or _MOST_DIGITS, dtype.scale)
    else:
        target = dtype
    if target not in _DELTA_TYPES and not dtype.is_decimal():
        raise UnsupportedTypeError(
            f"column {column.name!r} has the type {dtype}, which a Delta table cannot hold. Cast "
            "it, for example to text."
        )
    return _exact(column, target)


def _exact(column: pl.Series, target: pl.DataType) -> pl.Series:
    """Cast a column, and raise if a value becomes another; short floats stay what they show."""
    rows = column.to_frame()
    long = rows.select(as_longer_float(cs.first(), column.dtype)).to_series()
    cast = long.cast(target, strict=False)
    if not cast.cast(column.dtype, strict=False).equals(column):
        raise InvalidInputError(
            f"column {column.name!r} has values of the type {column.dtype} that {target} cannot "
            "hold, the type in which they are stored. Round or cast them first."
        )
    return cast


def delta_schema(schema: pl.Schema) -> "Schema":
    """Return the schema of a table for columns of storable types."""
    from deltalake import Field, Schema
    from deltalake.schema import PrimitiveType

    return Schema(
        [Field(name, PrimitiveType(_delta_type(dtype))) for name, dtype in schema.items()]
    )


def _delta_type(dtype: pl.DataType) -> str:
    if isinstance(dtype, pl.Decimal):
        return f"decimal({dtype.precision},{dtype.scale})"
    return _DELTA_TYPES[dtype]


def as_table(cells: pl.DataFrame, schema: pl.Schema) -> pl.DataFrame:
    """Return cells with the columns of a table that has the same ones, in its order and types."""
    columns = []
    for name, target in schema.items():
        column = cells.get_column(name)
        if column.dtype != target:
            has_values = column.null_count() < len(column)
            if has_values and not (column.dtype in _EXACT_CASTS and target in _EXACT_CASTS):
                raise InvalidInputError(
                    f"column {name!r} holds values of the type {column.dtype}, but those of the "
                    f"table are of the type {target}. Cast it, or give another table."
                )
            column = _exact(column, target)
        columns.append(column)
    return pl.DataFrame(columns)


def have_same_cells(first: pl.DataFrame, second: pl.DataFrame, columns: CellColumns) -> bool:
    """Return whether two runs have the same cells; sums of weights may differ by rounding."""
    if first.height != second.height:
        return False
    weights = [name for name in columns.sums if name in (WEIGHT, WEIGHT_SQ, WEIGHT_MAX)]
    names = [name for name in (*columns.keys, *columns.sums) if name not in weights]
    ordered = [frame.sort(columns.keys, nulls_last=True) for frame in (first, second)]
    if not ordered[0].select(names).equals(ordered[1].select(names)):
        return False
    return _are_close(ordered[0], ordered[1], weights)


def _are_close(first: pl.DataFrame, second: pl.DataFrame, names: Sequence[str]) -> bool:
    for name in names:
        a, b = first.get_column(name), second.get_column(name)
        is_close = (a - b).abs() <= _TOLERANCE * a.abs()
        if not (a.eq_missing(b) | is_close.fill_null(False)).all():
            return False
    return True


if TYPE_CHECKING:
    from deltalake import DeltaTable

_MOST_ATTEMPTS = 50
_LONGEST_WAIT = 0.5  # seconds between two attempts
_TRANSACTION = "balframe.run."  # begins the names of transactions


class Status(StrEnum):
    """What became of a run."""

    ADDED = "added"
    UNCHANGED = "unchanged"
    REPLACED = "replaced"


def commit_run(table: str, run: str, rows: pl.DataFrame, *, may_replace: bool) -> Status:
    """Write the rows of a run, with all columns of a table, unless they are there.

    Raises
    ------
    InvalidInputError
        If the table has the run with other cells, and they may not be replaced; if its columns are
        others; or if it cannot be written.
    """
    check_delta_installed()
    from deltalake.exceptions import CommitFailedError

    storable = pl.DataFrame([_storable_column(rows.get_column(name)) for name in rows.columns])
    for attempt in range(_MOST_ATTEMPTS):
        opened = _open_or_create(table, storable.schema)
        if opened is not None:
            status, written = _compare(table, opened, run, storable, may_replace=may_replace)
            if status is Status.UNCHANGED:
                return status
            try:
                with naming_table(table, "written"):
                    _commit(opened, run, written, status)
                return status
            except CommitFailedError:  # another writer was first: look again
                pass
        time.sleep(random.uniform(0, min(_LONGEST_WAIT, 0.01 * 2 ** min(attempt, 6))))
    raise InvalidInputError(
        f"run {run!r} is not stored, because other writers changed the table {table!r} in each of "
        f"{_MOST_ATTEMPTS} attempts. Try again when fewer of them write."
    )


def _open_or_create(table: str, schema: pl.Schema) -> "DeltaTable | None":
    """Open a table; make one without runs where there is none; None if another writer does."""
    from deltalake import DeltaTable
    from deltalake.exceptions import CommitFailedError, DeltaError

    check_place(table)
    opened = open_table(table)
    if opened is not None:
        return opened
    try:  # before any file of data, so that none is ever without a log
        with naming_table(table, "written"):
            return DeltaTable.create(table, delta_schema(schema), mode="error")
    except CommitFailedError:
        return None
    except InvalidInputError as error:
        is_made = isinstance(error.__cause__, DeltaError) and open_table(table) is not None
        if is_made:
            return None
        raise


def _compare(
    table: str, opened: "DeltaTable", run: str, rows: pl.DataFrame, *, may_replace: bool
) -> tuple[Status, pl.DataFrame]:
    """Return what is to become of a run, and its rows as the table has them."""
    scan = scan_opened(opened)
    schema = scan.collect_schema()
    columns = CellColumns.of(schema.names(), table)
    _check_same_columns(table, columns, CellColumns.of(rows.columns, table))
    written = as_table(rows, schema)
    with naming_table(table, "read"):
        stored = scan.filter(pl.col(RUN) == run).collect()
    if stored.is_empty():
        return Status.ADDED, written
    if have_same_cells(stored, written, columns):
        return Status.UNCHANGED, written
    if not may_replace:
        raise InvalidInputError(
            "table {!r} has run {!r} with other cells, dates or models. Give {replace} to replace "
            "them, or give another {run}.",
            table,
            run,
            replace=True,
            run=OPTION,
        )
    return Status.REPLACED, written


def _check_same_columns(table: str, stored: CellColumns, new: CellColumns) -> None:
    if {*stored.keys, *stored.sums} == {*new.keys, *new.sums} and (
        stored.y_true,
        stored.y_pred,
    ) == (new.y_true, new.y_pred):
        return
    raise InvalidInputError(
        f"table {table!r} has cells of {_described(stored)}; those of the run are of "
        f"{_described(new)}. Give the same columns, or another table."
    )


def _described(columns: CellColumns) -> str:
    """Name the columns of cells: by-columns, labels, and sums."""
    by = f"by {listed(map(repr, columns.by))}" if columns.by else "without by"
    sums = ", ".join(map(repr, columns.sums))
    return f"{columns.y_true!r} and {columns.y_pred!r} {by} with {sums}"


def _commit(opened: "DeltaTable", run: str, rows: pl.DataFrame, status: Status) -> None:
    from deltalake import CommitProperties, Transaction, write_deltalake

    name = f"{_TRANSACTION}{run}"
    number = (opened.transaction_version(name) or 0) + 1
    how: dict[str, Any] = {"mode": "append"}
    if status is Status.REPLACED:
        quoted = run.replace("'", "''")
        how = {"mode": "overwrite", "predicate": f"{RUN} = '{quoted}'"}
    properties = CommitProperties(app_transactions=[Transaction(name, number)])
    write_deltalake(opened, rows, commit_properties=properties, **how)
