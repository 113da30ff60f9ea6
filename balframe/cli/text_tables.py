"""Results as tables, for terminals."""

import io
from collections.abc import Sequence
from typing import TextIO

import polars as pl
from rich.console import Console
from rich.table import Table
from rich.text import Text

from balframe._text import escape_controls
from balframe.cli.text_columns import (
    TextColumn,
    assumption_note,
    limits_note,
    split_columns,
    table_columns,
)

_UNLIMITED_WIDTH = 1_000_000  # characters


def table_text(frame: pl.DataFrame, *, detail: bool = True) -> bytes:
    """Return the table of a terminal as text."""
    buffer = io.StringIO()
    print_table(frame, buffer, detail=detail)
    return buffer.getvalue().encode()


def print_table(frame: pl.DataFrame, file: TextIO, *, detail: bool = True) -> None:
    """Print all of it; on a terminal that is too narrow, in blocks of columns.

    Lines below say what the brackets are and, on a terminal with styles, the scores in one.
    """
    console = Console(file=file)
    columns = table_columns(frame, detail=detail)
    blocks = split_columns(columns, console.width) if console.is_terminal else [columns]
    for number, block in enumerate(blocks):
        table = Table(box=None, pad_edge=False, header_style="bold")
        for column in block:
            table.add_column(
                Text(escape_controls(column.name)),
                justify="right" if column.is_number else "left",
                no_wrap=True,
            )
        for row in range(frame.height):
            table.add_row(
                *(
                    Text(escape_controls(column.texts[row]), column.styles.get(row, ""))
                    for column in block
                )
            )
        if number:
            console.print()
        width = Console(file=file, width=_UNLIMITED_WIDTH).measure(table).maximum
        Console(file=file, width=max(width, 1)).print(table)
    notes = [
        limits_note(columns),
        _worst_note(columns, console),
        assumption_note(frame),
    ]
    for number, note in enumerate(filter(None, notes)):
        console.print(note if number else f"\n{note}", markup=False, highlight=False)


def _worst_note(columns: Sequence[TextColumn], console: Console) -> str:
    """Return what scores in a style are, if there are any."""
    has_marks = any(column.styles for column in columns if not column.is_status)
    if not has_marks or console.color_system is None:
        return ""
    style = "Bold" if console.no_color else "Red"
    return f"{style}: the worst of those significantly worse than the reference."
