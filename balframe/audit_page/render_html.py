"""A document as one file of HTML, which holds no script and loads nothing.

Names of the data pass through autoescaping like every text, and stand in elements that isolate
their direction.
"""

from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from itertools import count
from typing import NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from balframe._text import replace_illegible
from balframe.audit_page.document import Axis, Block, Document, Table, TableRow
from balframe.audit_page.svg_of_rows import mark, place
from balframe.audit_page.svg_of_steps import drawing
from balframe.audit_page.text import unmarked

_MOST_TOGETHER = 16  # rows of a table that is not broken over sheets of paper


class Column(NamedTuple):
    """How the cells of a column look; a plot has an axis, and an id for its lines."""

    kind: str
    axis: Axis | None
    id: str


def html_of(document: Document) -> str:
    """Render a document; the same document gives the same bytes."""
    numbers: Callable[[], int] = count(1).__next__
    template = environment().get_template("page.html")
    return template.render(document=document, numbers=numbers, version=version("balframe"))


@cache
def environment() -> Environment:
    """Make the environment of the templates; what they do not know is an error."""
    made = Environment(
        loader=PackageLoader("balframe", "audit_page/templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {"classes": _classes, "said": _said, "plain": _plain, "place": place}
    made.globals |= {
        "columns_of": columns_of,
        "drawing": drawing,
        "has_plot": has_plot,
        "is_short": is_short,
        "mark": mark,
        "template_of": _template_of,
    }
    return made


def _said(text: str) -> Markup:
    """Isolate the names of the data in a text."""
    return Markup(unmarked(text, _isolated, _escaped))


def _isolated(name: str) -> str:
    return f"<bdi>{_escaped(name)}</bdi>"


def _escaped(text: str) -> str:
    return str(escape(replace_illegible(text)))


def _plain(text: str) -> str:
    """Write a text where elements cannot stand: in an attribute or in the title."""
    return unmarked(text, replace_illegible, replace_illegible)


def _classes(row: TableRow) -> str:
    kinds = {
        "small": row.is_small,
        "differs": row.differs,
        "total": row.is_total,
        "here": row.is_here,
    }
    return " ".join(name for name, holds in kinds.items() if holds)


def _template_of(block: Block) -> str:
    return f"blocks/{type(block).__name__.lower()}.html"


def columns_of(table: Table, number: int) -> list[Column]:
    """List the columns behind the rows' headings, those below one heading each on its own."""
    return [
        Column(head.kind, head.axis, f"axis-{number}-{at}")
        for at, head in enumerate(table.heads[1:])
        for _ in range(head.span)
    ]


def has_plot(table: Table) -> bool:
    """Tell whether a table has a forest plot, which takes the room that there is."""
    return any(head.kind == "plot" for head in table.heads)


def is_short(table: Table) -> bool:
    """Tell whether a table can stand on one sheet of paper without leaving much of another bare."""
    return len(_rows(table)) + len(table.groups) <= _MOST_TOGETHER


def _rows(table: Table) -> list[TableRow]:
    return [row for group in table.groups for row in group.rows]
