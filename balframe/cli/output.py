"""Answers to a terminal, a pipe or a file."""

import io
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from balframe._atomic_write import check_place, replace
from balframe._lazy_import import LazyModule
from balframe.errors import InvalidInputError, listed, not_found

if TYPE_CHECKING:
    from balframe.cli import junit, text_tables
else:
    junit, text_tables = LazyModule("balframe.cli.junit"), LazyModule("balframe.cli.text_tables")

_ENDINGS = {
    ".csv": "csv",
    ".json": "json",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".md": "markdown",
    ".parquet": "parquet",
    ".xml": "junit",
    ".txt": "table",
}


def format_of(asked: str | None, out: Path | None) -> str:
    """Choose the format: as asked, by the ending of the file, a table on a terminal, else csv."""
    if asked is not None:
        return asked
    if out is None:
        return "table" if sys.stdout.isatty() else "csv"
    return of_ending(out, _ENDINGS)


def of_ending(out: Path, kinds: Mapping[str, str]) -> str:
    """Choose the format by the ending of a file."""
    ending = out.suffix.lower()
    if ending not in kinds:
        bad = f"ends in {ending!r}, which is not a supported format"
        has = bad if ending else "has no file extension"
        raise InvalidInputError(
            f"--out {str(out)!r} {has}. Give --format, or use one of the extensions "
            f"{listed(kinds)}."
        )
    return kinds[ending]


def check(kind: str, out: Path | None, *, of_rules: bool, option: str = "--out") -> None:
    """Refuse, before any work, what could not be written."""
    if kind == "junit" and not of_rules:
        raise InvalidInputError("--format junit is only available for the command check.")
    if kind == "parquet" and out is None and sys.stdout.isatty():
        raise InvalidInputError(
            "--format parquet is binary, which a terminal cannot show. Give --out FILE or redirect "
            "the output."
        )
    if out is not None:
        check_place(out, f"{option} {str(out)!r}")


def sort_columns(sort: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Take the minus from before names of columns, and check that there are such."""
    names = [name if name in columns else name.removeprefix("-") for name in sort]
    for name in names:
        if name not in columns:
            raise InvalidInputError(f"--sort: {not_found('column', name, columns)}")
    return names


def in_order(frame: pl.DataFrame, sort: Sequence[str]) -> pl.DataFrame:
    """Sort by columns, those with a minus before their name descending; nulls last."""
    names = sort_columns(sort, frame.columns)
    descending = [name != given for name, given in zip(names, sort, strict=True)]
    if not names:
        return frame
    return frame.sort(names, descending=descending, nulls_last=True, maintain_order=True)


def write(frame: pl.DataFrame, kind: str, out: Path | None, *, may_be_unknown: bool) -> None:
    """Write an answer in a format, to a file as a whole or not at all."""
    if kind == "table" and out is None and sys.stdout.isatty():
        text_tables.print_table(frame, sys.stdout)
        return
    writers: Mapping[str, Callable[[], bytes]] = {
        "table": lambda: text_tables.table_text(frame),
        "csv": lambda: frame.write_csv().encode(),
        "json": lambda: frame.write_json().encode() + b"\n",
        "ndjson": lambda: frame.write_ndjson().encode(),
        "markdown": lambda: text_tables.markdown(frame).encode(),
        "parquet": lambda: _parquet(frame),
        "junit": lambda: junit.junit(frame, may_be_unknown=may_be_unknown),
    }
    write_content(writers[kind](), out)


def write_content(content: bytes, out: Path | None) -> None:
    """Write to standard output, or to a file as a whole or not at all."""
    if out is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    else:
        replace(out, content)


def _parquet(frame: pl.DataFrame) -> bytes:
    content = io.BytesIO()
    frame.write_parquet(content)
    return content.getvalue()
