"""Answers as tables, for terminals and markdown."""

import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

import polars as pl
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from balframe.display.table_layout import known_metric, limits_among, worst_of
from balframe.errors import InvalidInputError
from balframe.frames.library import Name
from balframe.frames.query import MARGIN, MODEL
from balframe.verbs.columns import Column, Role
from balframe.verbs.recognition import recognized

_STATUS_STYLES = {"pass": "green", "fail": "bold red", "inconclusive": "yellow"}
_WORST = "bold red"
_ENDLESS = 1_000_000  # characters: no terminal is as wide


def table_text(frame: pl.DataFrame) -> bytes:
    """Write the table of a terminal as text."""
    text = io.StringIO()
    print_table(frame, text)
    return text.getvalue().encode()


def print_table(frame: pl.DataFrame, file: TextIO) -> None:
    """Print all of it; on a terminal that is too narrow, in blocks of columns."""
    console = Console(file=file)
    columns = shown(frame)
    blocks = _blocks(columns, console.width) if console.is_terminal else [columns]
    for number, block in enumerate(blocks):
        table = Table(box=None, pad_edge=False, header_style="bold")
        for column in block:
            table.add_column(
                Text(one_line(column.name)),
                justify="right" if column.is_number else "left",
                no_wrap=True,
            )
        for row in range(frame.height):
            table.add_row(
                *(Text(one_line(one.texts[row]), one.styles.get(row, "")) for one in block)
            )
        if number:
            console.print()
        width = Console(file=file, width=_ENDLESS).measure(table).maximum
        Console(file=file, width=max(width, 1)).print(table)


def _blocks(columns: Sequence["_Column"], width: int) -> list[list["_Column"]]:
    """Split columns into blocks that fit, each with the columns that tell the rows apart."""
    keys = [one for one in columns if one.is_key]
    widths = {column.name: column.width + 2 for column in columns}
    blocks: list[list[_Column]] = []
    for column in columns:
        if column in keys:
            continue
        if not blocks or sum(widths[one.name] for one in [*blocks[-1], column]) - 2 > width:
            blocks.append([*keys])
        blocks[-1].append(column)
    return blocks if len(blocks) > 1 else [list(columns)]


def one_line(text: str) -> str:
    """Write control characters out, which would break the table or steer the terminal."""
    return re.sub("[\x00-\x1f\x7f-\x9f]", lambda found: repr(found[0])[1:-1], text)


def markdown(frame: pl.DataFrame) -> str:
    """Write a table of markdown."""
    columns = shown(frame)

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cells) + " |"

    escaped = str.maketrans({"|": "\\|", "\n": " ", "\r": " ", "<": "&lt;", ">": "&gt;"})
    rows = [
        line([column.texts[row].translate(escaped) for column in columns])
        for row in range(frame.height)
    ]
    header = line([column.name.translate(escaped) for column in columns])
    rule = line(["---:" if column.is_number else "---" for column in columns])
    return "\n".join([header, rule, *rows]) + "\n"


@dataclass(frozen=True, slots=True)
class _Column:
    """A column as it is shown: the text of each cell, and the style of some."""

    name: str
    texts: Sequence[str]
    is_number: bool
    is_key: bool
    styles: Mapping[int, str]

    @property
    def width(self) -> int:
        """Count the places on a terminal that the widest cell takes."""
        return max(map(cell_len, (one_line(text) for text in (self.name, *self.texts))))


def shown(frame: pl.DataFrame) -> list[_Column]:
    """Put limits into the cells of what they are limits of."""
    by, declared = _declared(frame)
    limits = limits_among(declared)
    inside = {name for pair in limits.values() for name in pair}
    columns = []
    for name in frame.columns:
        if name in inside:
            continue
        values, column = frame.get_column(name), declared.get(name)
        if name in limits:
            lower, upper = (frame.get_column(str(limit)).to_list() for limit in limits[name])
            texts = [with_limits(*one) for one in zip(values.to_list(), lower, upper, strict=True)]
        else:
            show = _number if column is not None and column.is_as_given else text_of
            texts = [show(value) for value in values.to_list()]
        is_key = name in by or (column is not None and column.role is Role.KEY)
        styles = {} if column is None else _styles(frame, column)
        columns.append(_Column(name, texts, values.dtype.is_numeric(), is_key, styles))
    return columns


def _declared(frame: pl.DataFrame) -> tuple[tuple[Name, ...], Mapping[Name, Column]]:
    """Find the by-columns and the columns declared; what is no answer has neither.

    The first column of such a frame tells its rows apart.
    """
    try:
        found = recognized(frame.columns)
    except InvalidInputError:
        return tuple(frame.columns[:1]), {}
    return found.by, found.columns


def with_limits(value: float | None, lower: float | None, upper: float | None) -> str:
    """Show an estimate and its limits, where there are such."""
    if value is None or lower is None or upper is None:
        return text_of(value)
    if lower == upper == value and float(value).is_integer():
        return f"{value:.0f}"  # a count
    return f"{value:.2f} [{lower:.2f}, {upper:.2f}]"


def _number(value: float | None) -> str:
    """Show a number as it was given."""
    return "" if value is None else f"{value:.15g}"


def text_of(value: Any) -> str:  # noqa: ANN401
    """Show a value, scores with three decimals."""
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    if value == 0 or 0.0005 <= abs(value) < 1e6:
        return f"{value:.3f}"
    return f"{value:.3g}"


def _styles(frame: pl.DataFrame, column: Column) -> dict[int, str]:
    """Mark verdicts, and the segment that scores worst."""
    values = frame.get_column(str(column.name)).to_list()
    if column.role is Role.STATUS:
        return {row: _STATUS_STYLES[value] for row, value in enumerate(values)}
    metric = known_metric(column.of) if column.role is Role.ESTIMATE else None
    if metric is None:
        return {}
    styles: dict[int, str] = {}
    for rows in _compared(frame):
        known = {row: values[row] for row in rows if values[row] is not None}
        if _are_numbers(known.values()):
            styles |= dict.fromkeys(worst_of(known, metric.better, 1), _WORST)
    return styles


def _compared(frame: pl.DataFrame) -> Iterable[Sequence[int]]:
    """List the rows of the finest segments, which come first, those of each model apart."""
    n = frame.height
    margins, models = (
        frame.get_column(name).to_list() if name in frame.columns else [None] * n
        for name in (MARGIN, MODEL)
    )
    rows: dict[Any, list[int]] = {}
    for row in range(n):
        if margins[row] == margins[0]:
            rows.setdefault(models[row], []).append(row)
    return rows.values()


def _are_numbers(values: Any) -> bool:  # noqa: ANN401
    return all(isinstance(value, (int, float)) and not math.isnan(value) for value in values)
