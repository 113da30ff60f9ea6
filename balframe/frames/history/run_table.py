"""A Delta table of runs: where it is, which columns it has, and how it is read with polars."""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from balframe.errors import NAME, InvalidInputError, UnsupportedTypeError, first_line, listed
from balframe.frames.engines.registry import check_installed
from balframe.frames.query import MODEL, WEIGHT, WEIGHT_MAX, WEIGHT_SQ, N

if TYPE_CHECKING:
    from deltalake import DeltaTable

RUN, DATE = "run", "date"
SOURCE, STORED_AT, VERSION = "source", "stored_at", "balframe_version"
RUN_COLUMNS = (RUN, DATE, MODEL)
PROVENANCE = (SOURCE, STORED_AT, VERSION)
RESERVED = (RUN, DATE, *PROVENANCE)  # names that no by-column may have
LOG = "_delta_log"

_SUMS = (N, WEIGHT, WEIGHT_SQ, WEIGHT_MAX)
_URI = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)


def table_path(table: object) -> str:
    """Return the path or the URI of a table as text."""
    if not isinstance(table, (str, os.PathLike)):
        raise UnsupportedTypeError(
            "{table} has the type {}; give the path or the URI of a Delta table.",
            type(table).__qualname__,
            table=NAME,
        )
    return str(os.fspath(table))


@dataclass(frozen=True, slots=True)
class CellColumns:
    """The columns of a table of runs that are those of its cells."""

    by: tuple[str, ...]
    y_true: str
    y_pred: str
    sums: tuple[str, ...]

    @classmethod
    def of(cls, names: Sequence[str], table: str) -> "CellColumns":
        """Find the columns of cells among all; raise if the table holds no runs."""
        position = names.index(N) if N in names else 0
        if position < 2 or not {*RUN_COLUMNS, *PROVENANCE} <= {*names}:
            raise InvalidInputError(
                f"the Delta table {table!r} has no runs of balframe: its columns are "
                f"{listed(names)}. Give a table that `store` has written, or a path where there is "
                "nothing yet."
            )
        y_true, y_pred = names[position - 2 : position]
        others = {*RUN_COLUMNS, *PROVENANCE, y_true, y_pred, *_SUMS}
        by = tuple(name for name in names if name not in others)
        return cls(by, y_true, y_pred, tuple(name for name in _SUMS if name in names))

    @property
    def keys(self) -> tuple[str, ...]:
        """Return the columns that identify a cell of a run."""
        return (DATE, MODEL, *self.by, self.y_true, self.y_pred)


def is_uri(table: str) -> bool:
    """Return whether a table is not in a local folder."""
    return _URI.match(table) is not None


def is_table(table: str | Path) -> bool:
    """Return whether a local folder is a Delta table, which has a log of its commits."""
    return Path(table, LOG).is_dir()


def check_delta_installed() -> None:
    """Raise unless the library that reads and writes Delta tables is installed."""
    check_installed("deltalake", "history", "Delta tables")


@contextmanager
def naming_table(table: str, verb: str) -> Iterator[None]:
    """Report errors of the library in one line; `verb` is what cannot be done."""
    from deltalake.exceptions import CommitFailedError, DeltaError

    try:
        yield
    except CommitFailedError:  # which the committing function handles
        raise
    except (DeltaError, OSError, pl.exceptions.PolarsError) as error:
        raise InvalidInputError(
            f"the Delta table {table!r} cannot be {verb}: {first_line(error)}."
        ) from error


def open_table(table: str) -> "DeltaTable | None":
    """Open a table at its last commit; None if there is none."""
    from deltalake import DeltaTable
    from deltalake.exceptions import TableNotFoundError

    try:
        with naming_table(table, "read"):
            return DeltaTable(table)
    except InvalidInputError as error:
        if isinstance(error.__cause__, TableNotFoundError):
            return None
        raise


def scan_table(table: str) -> pl.LazyFrame:
    """Return the rows of a table as of its last commit; raise if there is none."""
    check_delta_installed()
    opened = open_table(table)
    if opened is None:
        raise InvalidInputError(
            f"{table!r} is not a Delta table. Give one that `store` has written."
        )
    return scan_opened(opened)


def scan_opened(opened: "DeltaTable") -> pl.LazyFrame:
    """Return the rows of a table as of the commit at which it was opened.

    Polars does not find the files of a local table whose path has characters that a URI escapes,
    such as a space. delta-rs reads such a table, at once.
    """
    is_local = opened.table_uri.startswith("file:") or not is_uri(opened.table_uri)
    if is_local and any("%" in uri for uri in opened.file_uris()):
        from deltalake import QueryBuilder

        reader = QueryBuilder().register("runs", opened).execute("select * from runs")
        return pl.DataFrame(reader).lazy()
    return pl.scan_delta(opened)


def check_place(table: str) -> None:
    """Raise if a table would be made of a folder that holds other files."""
    if is_uri(table) or is_table(table):
        return
    path = Path(table)
    if path.is_dir():
        others = sorted(child.name for child in path.iterdir())
        if not others or LOG in others:  # which another process may have made since
            return
        raise InvalidInputError(
            f"{table!r} is a folder of other files, such as {others[0]!r}, not a Delta table. Runs "
            "are not stored in such a folder; give a path where there is nothing yet."
        )
    if path.exists():
        raise InvalidInputError(
            f"{table!r} is a file, and a Delta table is a folder. Give another path."
        )
