"""Results as columns of text, for terminals, Markdown and tests."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from unicodedata import category, east_asian_width

import polars as pl

from balframe._text import MISSING, escape_controls, escape_markdown, quote_placeholder
from balframe.api.columns import Kind, Role
from balframe.api.options import DEFAULT_MIN_SUPPORT
from balframe.errors import InvalidInputError
from balframe.frames.adapter import Name
from balframe.tables.format_cells import distinct_decimals, format_threshold
from balframe.tables.layout import ResultLayout, Values
from balframe.tables.notes import correction_note
from balframe.tables.row_selection import compared_scores, worst_cells

_STATUS_STYLES = ("green", "bold red", "yellow")  # of good, bad and undecided
_WORST_STYLE = "bold red"
_DECIMALS = 3  # of scores; thresholds may have more
_SMALL_P_VALUE = 0.001


def split_columns(columns: Sequence["TextColumn"], width: int) -> list[list["TextColumn"]]:
    """Split columns into as few blocks as fit, about equally wide, each with the keys."""
    keys = [column for column in columns if column.is_key]
    widths = {column.name: column.width + 2 for column in columns if not column.is_key}
    max_width = width + 2 - sum(column.width + 2 for column in keys)
    if sum(widths.values()) <= max_width or not widths:
        return [list(columns)]
    split = min((_fill_in_order, _fill_first_fit), key=lambda fill: len(fill(widths, max_width)))
    blocks = split(widths, max_width)
    for narrower in range(min(widths.values()), max_width):  # the least that needs no more blocks
        candidate = split(widths, narrower)
        if len(candidate) == len(blocks):
            blocks = candidate
            break
    return [[*keys, *(column for column in columns if column.name in block)] for block in blocks]


def _fill_in_order(widths: Mapping[str, int], max_width: int) -> list[list[str]]:
    """Put columns into blocks one after the other, at least one into each."""
    blocks: list[list[str]] = []
    for name, width in widths.items():
        if not blocks or sum(widths[other] for other in blocks[-1]) + width > max_width:
            blocks.append([])
        blocks[-1].append(name)
    return blocks


def _fill_first_fit(widths: Mapping[str, int], max_width: int) -> list[list[str]]:
    """Put each column into the first block in which it fits."""
    blocks: list[list[str]] = []
    for name, width in widths.items():
        for block in blocks:
            if sum(widths[other] for other in block) + width <= max_width:
                block.append(name)
                break
        else:
            blocks.append([name])
    return blocks


def plain_text(columns: Sequence["TextColumn"], width: int) -> str:
    """Return a table without styles, in blocks of columns that fit into so many characters."""
    blocks = split_columns(columns, width)
    note = limits_note(columns)
    return "\n\n".join([*map(_plain_block, blocks), *([note] if note else [])])


def _plain_block(columns: Sequence["TextColumn"]) -> str:
    lines = zip(*(_padded_texts(column) for column in columns), strict=True)
    return "\n".join("  ".join(texts).rstrip() for texts in lines)


def _padded_texts(column: "TextColumn") -> list[str]:
    texts = [escape_controls(text) for text in (column.name, *column.texts)]
    spaces = [" " * (column.width - display_width(text)) for text in texts]
    pairs = zip(texts, spaces, strict=True)
    return [space + text if column.is_number else text + space for text, space in pairs]


def display_width(text: str) -> int:
    """Return how many places of a terminal a text takes: two for a wide character."""
    visible = (character for character in text if category(character) not in ("Mn", "Me", "Cf"))
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in visible)


def markdown(frame: pl.DataFrame, *, detail: bool = True) -> str:
    """Return a table of markdown."""
    columns = table_columns(frame, detail=detail)

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cells) + " |"

    rows = [
        line([escape_markdown(column.texts[row]) for column in columns])
        for row in range(frame.height)
    ]
    header = line([escape_markdown(column.name) for column in columns])
    rule = line(["---:" if column.is_number else "---" for column in columns])
    texts = [limits_note(columns), difference_note(frame), assumption_note(frame)]
    notes = " ".join(filter(None, texts))
    below = ["", notes] if notes else []
    return "\n".join([header, rule, *rows, *below]) + "\n"


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column of a table: the text of each cell, and the style of some.

    `limits_name` is what the brackets in its cells are, if it has limits.
    """

    name: str
    texts: Sequence[str]
    is_number: bool
    is_key: bool = False
    is_status: bool = False
    styles: Mapping[int, str] = field(default_factory=dict)
    limits_name: str = ""

    @property
    def width(self) -> int:
        """The places on a terminal that the widest cell takes."""
        return max(map(display_width, map(escape_controls, (self.name, *self.texts))))


def limits_note(columns: Sequence[TextColumn]) -> str:
    """Return what the brackets of estimates are, if there are any."""
    names = (
        column.limits_name
        for column in columns
        if column.limits_name and any("[" in text for text in column.texts)
    )
    name = next(names, None)
    return "" if name is None else f"Brackets: {name}."


def assumption_note(frame: pl.DataFrame) -> str:
    """Return what is assumed of rows without a true label, if there are any."""
    layout = _layout(frame)
    return "" if layout is None else correction_note(layout.columns.values())


def difference_note(frame: pl.DataFrame) -> str:
    """Return what estimates and bounds are under rules that compare with a baseline."""
    layout = _layout(frame)
    if layout is None or frame.is_empty() or not {"rule", "bound"} <= layout.columns.keys():
        return ""
    from balframe.methods.gates.rules import read_rules  # which results without rules do not need

    rules = read_rules(frame.get_column("rule").cast(pl.String).unique().to_list())
    if not any(rule.is_relative for rule in rules):
        return ""
    return "Under a rule with a baseline, estimate and bound are differences from the baseline."


def table_columns(frame: pl.DataFrame, *, detail: bool = True) -> list[TextColumn]:
    """Make the columns: limits are in the cells of their estimates, verdicts follow their rules.

    Those of details are left out, or else all columns are there.
    """
    layout = _layout(frame)
    if layout is None:  # the first column identifies the rows
        return [_plain_column(frame, name, is_key=not i) for i, name in enumerate(frame.columns)]
    marks = worst_cells(compared_scores(layout), 1, DEFAULT_MIN_SUPPORT)
    limits = {name for pair in layout.limit_columns.values() for name in pair}
    limit_columns = {
        name: pair
        for name, pair in layout.limit_columns.items()
        if detail or not any(map(layout.is_detail, pair))
    }
    columns = [
        _declared_column(frame, layout, name, limit_columns, marks)
        for name in frame.columns
        if name not in limits and (detail or not layout.is_detail(name))
    ]
    return sorted(columns, key=lambda column: (not column.is_key, not column.is_status))


def _layout(frame: pl.DataFrame) -> ResultLayout | None:
    """Find the by-columns and the columns declared; other frames have neither."""
    values: Values = {name: frame.get_column(name).to_list() for name in frame.columns}
    try:
        return ResultLayout.from_values(values)
    except InvalidInputError:
        return None


def _plain_column(frame: pl.DataFrame, name: str, *, is_key: bool) -> TextColumn:
    values = frame.get_column(name)
    return TextColumn(name, list(map(format_value, values)), values.dtype.is_numeric(), is_key)


def _declared_column(
    frame: pl.DataFrame,
    layout: ResultLayout,
    name: str,
    limit_columns: Mapping[Name, tuple[Name, Name]],
    marks: Collection[tuple[Name, int]],
) -> TextColumn:
    """Make a column as it is declared."""
    values, column = layout.values[name], layout.columns.get(name)
    is_number = frame.get_column(name).dtype.is_numeric()
    if name in layout.by or column is None:
        texts = [_by_text(layout, name, row) for row in range(frame.height)]
        return TextColumn(name, texts, is_number, is_key=name in layout.by)
    limits_name = ""
    if name in limit_columns:
        limits = limit_columns[name]
        limits_name = layout.columns[limits[0]].limits_name
        lower, upper = (layout.values[limit] for limit in limits)
        texts = list(map(format_estimate, values, lower, upper))
    elif column.kind is Kind.BY:
        texts = [
            MISSING if value is None and layout.has_extreme(name, row) else _data_text(value)
            for row, value in enumerate(values)
        ]
    elif column.role is Role.TEST:
        texts = [
            "<0.001" if value is not None and value < _SMALL_P_VALUE else format_value(value)
            for value in values
        ]
    elif column.is_threshold:
        decimals = distinct_decimals(values, _DECIMALS)
        texts = ["" if value is None else _threshold_text(value, decimals) for value in values]
    else:
        texts = list(map(_number_text if column.is_bound else format_value, values))
    statuses = column.statuses
    styles = {row: _WORST_STYLE for row in range(frame.height) if (name, row) in marks}
    if statuses is not None:
        style_of = dict(zip(statuses.texts, _STATUS_STYLES, strict=True))
        styles = {row: style_of.get(value, "") for row, value in enumerate(values)}
    is_key = column.role is Role.KEY
    return TextColumn(name, texts, is_number, is_key, statuses is not None, styles, limits_name)


def _by_text(layout: ResultLayout, name: Name, row: int) -> str:
    placeholder = layout.placeholder(name, row) if name in layout.by else None
    return _data_text(layout.values[name][row]) if placeholder is None else placeholder


def _data_text(value: Any) -> str:  # noqa: ANN401 (of any type)
    return quote_placeholder(format_value(value))


def format_estimate(value: float | None, lower: float | None, upper: float | None) -> str:
    """Write an estimate and its limits, if there are any."""
    if value is None or lower is None or upper is None:
        return format_value(value)
    if lower == upper == value and float(value).is_integer():
        return f"{value:.0f}"  # a count
    return f"{value:.2f} [{lower:.2f}, {upper:.2f}]"


def _number_text(value: float | None) -> str:
    """Write a number unrounded."""
    return "" if value is None else f"{value:.15g}"


def _threshold_text(value: float, decimals: int) -> str:
    return format_threshold(value, decimals).replace("\N{MINUS SIGN}", "-")


def format_value(value: Any) -> str:  # noqa: ANN401
    """Write a value, scores with three decimals."""
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    if value == 0 or 0.0005 <= abs(value) < 1e6:
        return f"{value:.3f}"
    return f"{value:.3g}"
