"""What a page is made of: sections of blocks, which are rendered as HTML and as Markdown.

All texts may hold names of the data between the marks of `text`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from typing import Any, Literal

Verdict = Literal["met", "not met", "undecided"]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Sentences; with `is_note` in small type."""

    text: str
    is_note: bool = False


@dataclass(frozen=True, slots=True)
class Heading:
    """The heading of a part of a section."""

    text: str


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list whose items begin with a few words that stand out."""

    items: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Fact:
    """A number that stands out: what it is a share of, and its limits."""

    number: str
    limits: str
    about: str


@dataclass(frozen=True, slots=True)
class Facts:
    """Numbers that stand out, beside each other."""

    items: Sequence[Fact]


@dataclass(frozen=True, slots=True)
class Terms:
    """Terms and what they mean; with `is_code` the meaning is a text for a machine."""

    items: Sequence[tuple[str, str]]
    is_code: bool = False


@dataclass(frozen=True, slots=True)
class Definition:
    """A term with its meaning, and the forms in which texts of the page write it."""

    key: str
    term: str
    meaning: str
    forms: Sequence[str]


@dataclass(frozen=True, slots=True)
class Glossary:
    """Terms of the page, to which the texts of a page can link."""

    items: Sequence[Definition]


@dataclass(frozen=True, slots=True)
class Code:
    """A text for a machine, as it is."""

    text: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A mark of a forest plot: positions from 0 to 1 along the axis; limits may be missing."""

    at: float | None
    lower: float | None
    upper: float | None


@dataclass(frozen=True, slots=True)
class Axis:
    """The axis of a forest plot: ticks as (position, text), a solid line and a dashed one."""

    ticks: Sequence[tuple[float, str]]
    line: float | None = None
    dashed: float | None = None


@dataclass(frozen=True, slots=True)
class Head:
    """The heading of a column; `kind` is how the cells of the column look."""

    text: str
    kind: Literal["text", "number", "estimate", "plot"] = "number"
    axis: Axis | None = None
    span: int = 1


@dataclass(frozen=True, slots=True)
class Cell:
    """A text, with limits in small type behind it; or the mark of a plot; or a verdict."""

    text: str = ""
    limits: str = ""
    bar: Bar | None = None
    verdict: Verdict | Literal[""] = ""


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row with its heading.

    `is_small`: too few rows to rank. `differs`: by more than chance explains. `is_total`: of all
    rows together. `is_in_use`: what gives the predictions. `note` is a second line.
    """

    heading: str
    cells: Sequence[Cell]
    is_small: bool = False
    differs: bool = False
    is_total: bool = False
    is_in_use: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Rows under a heading of their own, which may be empty."""

    heading: str
    rows: Sequence[TableRow]


@dataclass(frozen=True, slots=True)
class Table:
    """A table; the first heading is that of the rows' own headings."""

    caption: str
    heads: Sequence[Head]
    groups: Sequence[RowGroup]
    note: str = ""
    total: TableRow | None = None


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Blocks beside each other, where the page is wide enough."""

    blocks: Sequence["Block"]


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """A count of a confusion matrix, its share of the row, and whether it counts errors."""

    n: str
    share: str
    is_wrong: bool


@dataclass(frozen=True, slots=True)
class Matrix:
    """A confusion matrix: a row for each true label, a column for each prediction."""

    caption: str
    note: str
    predictions: Sequence[str]
    rows: Sequence[tuple[str, Sequence[MatrixCell]]]


@dataclass(frozen=True, slots=True)
class Line:
    """A step curve of a chart: its name, and points from 0 to 1 in both directions.

    The height of a point holds up to it, from the point before: what `score >= threshold` gives.
    """

    heading: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class StepChart:
    """A chart of step curves; `text` says the same in words."""

    caption: str
    text: str
    lines: Sequence[Line]
    x_ticks: Sequence[tuple[float, str]]
    y_ticks: Sequence[tuple[float, str]]
    x_title: str
    in_use: float | None = None


Block = (
    Paragraph
    | Heading
    | Bullets
    | Facts
    | Terms
    | Glossary
    | Code
    | Table
    | SideBySide
    | Matrix
    | StepChart
)


@dataclass(frozen=True, slots=True)
class Section:
    """A question, its answer, and the sentences of the answer that stand in the summary too."""

    key: str
    question: str
    blocks: Sequence[Block]
    brief: Sequence[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class CoverLine:
    """A fact on the cover: its label, and texts, each with a text for a machine or an empty one."""

    label: str
    values: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Document:
    """A whole page."""

    title: str
    subtitle: str
    facts: Sequence[tuple[str, str]]
    sections: Sequence[Section]
    caution: str
    footer: str
    cover: Sequence[CoverLine] = ()


_NO_TEXTS = {"key", "kind", "forms"}  # fields that no reader sees


def document_texts(part: object) -> Iterator[str]:
    """Return the texts of a document or of a part of it, without code."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, (list, tuple)):
        for item in part:
            yield from document_texts(item)
    elif is_dataclass(part) and not isinstance(part, Code):
        for name in _text_fields(type(part)):  # type: ignore[arg-type]
            yield from document_texts(getattr(part, name))


@cache
def _text_fields(kind: type[Any]) -> list[str]:
    """Return the fields of a class in which a reader sees texts."""
    return [declared.name for declared in fields(kind) if declared.name not in _NO_TEXTS]
