"""Answers as tables, for terminals and markdown."""

import io
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TextIO

import polars as pl
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from balframe._text import MISSING, one_line, told_apart
from balframe.api.columns import Kind, Role
from balframe.errors import InvalidInputError
from balframe.frames.adapter import Name
from balframe.tables.layout import Layout, Values
from balframe.tables.row_selection import LEAST, compared, worst_cells

_STATUS_STYLES = ("green", "bold red", "yellow")  # of good, bad and undecided
_WORST = "bold red"
_SMALL = 0.001  # a p-value
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
    parts = blocks(columns, console.width) if console.is_terminal else [columns]
    for number, block in enumerate(parts):
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


def blocks(columns: Sequence["_Column"], width: int) -> list[list["_Column"]]:
    """Split columns into as few blocks as fit, as wide as each other, each with the keys."""
    keys = [one for one in columns if one.is_key]
    sizes = {one.name: one.width + 2 for one in columns if not one.is_key}
    room = width + 2 - sum(one.width + 2 for one in keys)
    if sum(sizes.values()) <= room or not sizes:
        return [list(columns)]
    ways = [(_in_order, room), (_where_it_fits, room)]
    split, _ = min(ways, key=lambda way: len(way[0](sizes, way[1])))
    number = len(split(sizes, room))
    narrow = range(min(sizes.values()), room)  # the least room that needs no more blocks
    found = next((b for r in narrow if len(b := split(sizes, r)) == number), split(sizes, room))
    return [[*keys, *(one for one in columns if one.name in block)] for block in found]


def _in_order(sizes: Mapping[str, int], room: int) -> list[list[str]]:
    """Put columns into blocks one after the other, at least one into each."""
    blocks: list[list[str]] = []
    for name, size in sizes.items():
        if not blocks or sum(sizes[one] for one in blocks[-1]) + size > room:
            blocks.append([])
        blocks[-1].append(name)
    return blocks


def _where_it_fits(sizes: Mapping[str, int], room: int) -> list[list[str]]:
    """Put each column into the first block that has room for it."""
    blocks: list[list[str]] = []
    for name, size in sizes.items():
        fits = (one for one in blocks if sum(sizes[other] for other in one) + size <= room)
        block = next(fits, None)
        if block is None:
            blocks.append([name])
        else:
            block.append(name)
    return blocks


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
    is_key: bool = False
    is_status: bool = False
    styles: Mapping[int, str] = field(default_factory=dict)

    @property
    def width(self) -> int:
        """Count the places on a terminal that the widest cell takes."""
        return max(map(cell_len, (one_line(text) for text in (self.name, *self.texts))))


def shown(frame: pl.DataFrame) -> list[_Column]:
    """Put limits into the cells of what they are limits of, and verdicts beside their rules."""
    layout = _layout(frame)
    if layout is None:  # the first column tells the rows apart
        return [_plain(frame, name, is_key=not at) for at, name in enumerate(frame.columns)]
    marks = worst_cells(compared(layout), 1, LEAST)
    inside = {name for pair in layout.limits.values() for name in pair}
    columns = [
        _declared(frame, layout, name, marks)
        for name in frame.columns
        if name not in inside and not layout.is_left_out(name)
    ]
    return sorted(columns, key=lambda one: (not one.is_key, not one.is_status))


def _layout(frame: pl.DataFrame) -> Layout | None:
    """Find the by-columns and the columns declared; what is no answer has neither."""
    values: Values = {name: frame.get_column(name).to_list() for name in frame.columns}
    try:
        return Layout.of(values)
    except InvalidInputError:
        return None


def _plain(frame: pl.DataFrame, name: str, *, is_key: bool) -> _Column:
    values = frame.get_column(name)
    return _Column(name, list(map(text_of, values)), values.dtype.is_numeric(), is_key)


def _declared(
    frame: pl.DataFrame, layout: Layout, name: str, marks: Collection[tuple[Name, int]]
) -> _Column:
    """Show a column as what it is declared to be."""
    values, column = layout.values[name], layout.columns.get(name)
    is_number = frame.get_column(name).dtype.is_numeric()
    if name in layout.by or column is None:
        texts = [_of_by(layout, name, row) for row in range(frame.height)]
        return _Column(name, texts, is_number, is_key=name in layout.by)
    if name in layout.limits:
        lower, upper = (layout.values[limit] for limit in layout.limits[name])
        texts = [with_limits(*one) for one in zip(values, lower, upper, strict=True)]
    elif column.kind is Kind.BY and column.about in layout.values:
        scores = layout.values[column.about]
        texts = [
            MISSING if value is None and score is not None else _of_data(value)
            for value, score in zip(values, scores, strict=True)
        ]
    elif column.role is Role.TEST:
        texts = [
            "<0.001" if value is not None and value < _SMALL else text_of(value) for value in values
        ]
    else:
        texts = list(map(_number if column.is_as_given else text_of, values))
    statuses = column.statuses
    styles = {row: _WORST for row in range(frame.height) if (name, row) in marks}
    if statuses is not None:
        style_of = dict(zip(statuses.texts, _STATUS_STYLES, strict=True))
        styles = {row: style_of.get(value, "") for row, value in enumerate(values)}
    is_key = column.role is Role.KEY
    return _Column(name, texts, is_number, is_key, statuses is not None, styles)


def _of_by(layout: Layout, name: Name, row: int) -> str:
    placeholder = layout.placeholder(name, row) if name in layout.by else None
    return _of_data(layout.values[name][row]) if placeholder is None else placeholder


def _of_data(value: Any) -> str:  # noqa: ANN401 (of any type)
    return told_apart(text_of(value))


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
