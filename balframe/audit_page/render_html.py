"""A document as one file of HTML, which holds no script and loads nothing.

Names of the data pass through autoescaping like every text, and stand in elements that isolate
their direction. In the drawings of plots, positions in a row are shares of the width of its cell.
"""

import math
import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import count
from typing import NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from balframe._text import replace_illegible
from balframe.audit_page.document import (
    Axis,
    Bar,
    Document,
    Line,
    RowGroup,
    StepChart,
    Table,
    TableRow,
)
from balframe.audit_page.glossary import term_linker
from balframe.audit_page.text import clean, package_version, render_isolates

_MAX_UNBROKEN = 8  # rows that are not broken over sheets of paper
_MAX_RUNNING_TITLE = 90  # characters, which fit on a line of a sheet of paper
_DECIMALS = 3  # of a position: a tenth of a percent of the width, less than a pixel

WIDTH, HEIGHT = 440, 280  # of a step chart
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 22, 10, 24  # margins, for the texts of the ticks


def render_html(document: Document) -> str:
    """Render a document; the same document gives the same bytes."""
    numbers: Callable[[], int] = count(1).__next__
    write = term_linker(document, _term_link, _escaped)
    template = environment().get_template("page.html")
    return template.render(
        document=document,
        numbers=numbers,
        linked=lambda text: _isolated(text, write),
        version=package_version("balframe"),
    )


@cache
def environment() -> Environment:
    """Return the environment of the templates, in which an unknown name is an error."""
    templates = Environment(
        loader=PackageLoader("balframe", "audit_page/templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters |= {
        "attribute": _attribute,
        "classes": _classes,
        "css_string": _css_string,
        "isolated": _isolated,
        "percent": percent_of_width,
    }
    templates.globals |= {
        "block_kind": lambda block: type(block).__name__.lower(),
        "draw_chart": draw_chart,
        "draw_mark": draw_mark,
        "has_plot": has_plot,
        "is_short": is_short,
        "table_columns": table_columns,
    }
    return templates


def _escaped(text: str) -> str:
    return str(escape(replace_illegible(text)))


def _isolated(text: str, write: Callable[[str], str] = _escaped) -> Markup:
    """Isolate the names of the data in a text; `write` writes what is between them."""
    return Markup(render_isolates(text, lambda name: f"<bdi>{_escaped(name)}</bdi>", write))


def _term_link(term: str, key: str) -> str:
    return f'<a class="term" href="#term-{_escaped(key)}">{_escaped(term)}</a>'


def _attribute(text: str) -> str:
    """Return a text where elements cannot stand: in an attribute or in the title."""
    return render_isolates(text, replace_illegible, replace_illegible)


def _css_string(text: str) -> Markup:
    """Return a short text as a string of CSS, in which all but letters and digits is escaped."""
    line = clean(_attribute(text), _MAX_RUNNING_TITLE)
    return Markup('"' + re.sub(r"[^\w ]", lambda match: f"\\{ord(match[0]):x} ", line) + '"')


# Tables


class TableColumn(NamedTuple):
    """How the cells of a column look; a plot has an axis, and an id for its lines."""

    kind: str
    axis: Axis | None
    id: str


def table_columns(table: Table, number: int) -> list[TableColumn]:
    """Return the columns behind the rows' headings, those below one heading each on its own."""
    return [
        TableColumn(head.kind, head.axis, f"axis-{number}-{i}")
        for i, head in enumerate(table.heads[1:])
        for _ in range(head.span)
    ]


def has_plot(table: Table) -> bool:
    """Return whether a table has a forest plot, which takes the width that there is."""
    return any(head.kind == "plot" for head in table.heads)


def is_short(groups: Sequence[RowGroup]) -> bool:
    """Return whether rows can stand on one sheet without leaving much of another bare."""
    return sum(1 + len(group.rows) for group in groups) <= _MAX_UNBROKEN


def _classes(row: TableRow) -> str:
    classes = {
        "small": row.is_small,
        "differs": row.differs,
        "total": row.is_total,
        "here": row.is_in_use,
    }
    return " ".join(name for name, holds in classes.items() if holds)


# Marks of forest plots


class Mark(NamedTuple):
    """What is drawn of an estimate: the ends of its line, its point, and arrows at the edges."""

    line: tuple[str, str] | None
    point: str | None
    is_cut_low: bool
    is_cut_high: bool


def draw_mark(bar: Bar) -> Mark:
    """Lay out the mark of a row; what lies beyond the axis is cut, with an arrow."""
    at, lower, upper = (_rounded(position) for position in (bar.at, bar.lower, bar.upper))
    positions = [position for position in (at, lower, upper) if position is not None]
    line = None
    if lower is not None and upper is not None and lower <= 1 and upper >= 0:
        line = percent_of_width(max(lower, 0.0)), percent_of_width(min(upper, 1.0))
    return Mark(
        line,
        None if at is None or not 0 <= at <= 1 else percent_of_width(at),
        is_cut_low=any(position < 0 for position in positions),
        is_cut_high=any(position > 1 for position in positions),
    )


def _rounded(position: float | None) -> float | None:
    return None if position is None or math.isnan(position) else round(position, _DECIMALS)


def percent_of_width(position: float) -> str:
    """Return a position as a share of the width: `41.9%`."""
    return f"{100 * position:.1f}".removesuffix(".0") + "%"


# Step charts


class Drawing(NamedTuple):
    """A chart in pixels: a path for each line, ticks as (pixel, text), and the edges."""

    paths: Sequence[str]
    x_ticks: Sequence[tuple[str, str]]
    y_ticks: Sequence[tuple[str, str]]
    in_use: str | None
    left: int = _LEFT
    right: int = WIDTH - _RIGHT
    top: int = _TOP
    bottom: int = HEIGHT - _BOTTOM


def draw_chart(chart: StepChart) -> Drawing:
    """Lay out a chart."""
    return Drawing(
        [_path(line) for line in chart.lines],
        [(_x(position), text) for position, text in chart.x_ticks],
        [(_y(position), text) for position, text in chart.y_ticks],
        None if chart.in_use is None else _x(chart.in_use),
    )


def _path(line: Line) -> str:
    """Draw the height of a point from the point before up to it."""
    (x, y), *others = line.points
    return f"M{_x(x)} {_y(y)}" + "".join(f"V{_y(y)}H{_x(x)}" for x, y in others)


def _x(position: float) -> str:
    return _pixels(_LEFT + position * (WIDTH - _LEFT - _RIGHT))


def _y(position: float) -> str:
    return _pixels(HEIGHT - _BOTTOM - position * (HEIGHT - _TOP - _BOTTOM))


def _pixels(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
