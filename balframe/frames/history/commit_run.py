"""One run into a table, in one commit: once, even if others write at the same time.

A commit names the run in a transaction of its own (`txn` in the log). Delta refuses a commit that
names a run which another commit has named since the table was read. So a run is looked up first,
and written only if no other writer has written it meanwhile; commits of other runs do not matter.
"""

import random
import time
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import polars as pl

from balframe.errors import OPTION, InvalidInputError, listed
from balframe.frames.history.run_table import (
    RUN,
    CellColumns,
    check_delta_installed,
    check_place,
    naming_table,
    open_table,
    scan_opened,
)
from balframe.frames.history.storable_cells import (
    as_storable,
    as_table,
    delta_schema,
    have_same_cells,
)

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

    storable = as_storable(rows)
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
