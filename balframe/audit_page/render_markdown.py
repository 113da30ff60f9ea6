"""A document as Markdown of the kind that GitHub reads, for a pull request or a model card.

Nothing in a text is markup. A name of the data that is more than letters, digits and a few marks
stands in a code span, where there are no links, mentions, references or emoji either.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from string import punctuation
from typing import Any

from balframe._text import replace_illegible
from balframe.audit_page.document import (
    Block,
    Bullets,
    Cell,
    Code,
    CoverLine,
    Document,
    Facts,
    Glossary,
    Heading,
    Matrix,
    MatrixCell,
    Paragraph,
    SideBySide,
    StepChart,
    Table,
    TableRow,
    Terms,
)
from balframe.audit_page.text import CLOSE, OPEN, render_isolates

_MARKUP = re.compile(r"([\\`*_{}\[\]<>|~&$#@])")
_STARTS_BLOCK = re.compile(r"^(\d+)(?=[.)])|^(?=[-+=])")
_PLAIN_MARKS = " ,.:;!?()'\"/%+-\N{HORIZONTAL ELLIPSIS}\N{EN DASH}\N{EM DASH}" + (
    "\N{LEFT SINGLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}"
    "\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}"
)
# What GitHub makes a link or an emoji of, without any markup.
_LINKED = re.compile(r":(?! )|www\.|\b[0-9a-f]{7,}\b|\bgh-\d", re.IGNORECASE)
_RIGHT_TO_LEFT = ("R", "AL", "AN")
_JOINER = "\N{WORD JOINER}"


def render_markdown(document: Document) -> str:
    """Render a document."""
    parts = [f"# {_line(document.title)}", _paragraph(document.subtitle), _cover(document.cover)]
    parts.append(" · ".join(f"{_line(name)} **{_line(value)}**" for name, value in document.facts))
    parts += ["## In brief", _brief(document), _paragraph(document.caution)]
    for number, section in enumerate(document.sections, 1):
        parts.append(f"## {number} {_line(section.question)}")
        parts += _blocks(section.blocks)
    parts += ["---", _paragraph(document.footer)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _cover(cover: Sequence[CoverLine]) -> str:
    """Write the facts of a cover; several values of one stand in a list of their own."""
    lines = []
    for fact in cover:
        label = f"- {_bold(_line(fact.label))}:"
        codes = [f" ({_code_span(code)})" if code else "" for _, code in fact.values]
        if len(fact.values) == 1:
            lines.append(f"{label} {_line(fact.values[0][0])}{codes[0]}")
            continue
        texts = [_paragraph(text) for text, _ in fact.values]
        lines += [label, *(f"  - {text}{code}" for text, code in zip(texts, codes, strict=True))]
    return "\n".join(lines)


def _brief(document: Document) -> str:
    sentences = [
        f"{_paragraph(sentence)} (§ {number})"
        for number, section in enumerate(document.sections, 1)
        for sentence in section.brief
    ]
    return "\n".join(f"{i}. {sentence}" for i, sentence in enumerate(sentences, 1))


def _blocks(blocks: Sequence[Block]) -> list[str]:
    return [_WRITERS[type(block)](block) for block in blocks]


def _paragraph(text: str) -> str:
    """Write a text that may stand at the start of a line."""
    return _STARTS_BLOCK.sub(r"\1\\", _line(text))


def _line(text: str) -> str:
    """Write a text on one line, in which nothing is markup."""
    return " ".join(render_isolates(text, _name, _page_text).split())


def _page_text(text: str) -> str:
    escaped = _MARKUP.sub(r"\\\1", replace_illegible(text))
    return re.sub("([@#])(?=[^ ])", rf"\1{_JOINER}", escaped)


def _name(text: str) -> str:
    """Write a name of the data."""
    text = " ".join(replace_illegible(text).split())
    if not all(map(_is_plain, text)) or _LINKED.search(text):
        return _code_span(text)
    escaped = text.replace("_", r"\_")
    is_right_to_left = any(
        unicodedata.bidirectional(character) in _RIGHT_TO_LEFT for character in text
    )
    return f"{OPEN}{escaped}{CLOSE}" if is_right_to_left else escaped


def _is_plain(character: str) -> bool:
    return unicodedata.category(character)[0] in "LMN" or character in f"{_PLAIN_MARKS}_"


def _code_span(text: str) -> str:
    if "|" in text:  # which ends the cell of a table, in a code span too
        return "".join(f"&#{ord(c)};{_JOINER}" if c in punctuation else c for c in text)
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    return f"{fence} {text} {fence}" if "`" in text else f"{fence}{text}{fence}"


def _bold(text: str) -> str:
    return f"**{text}**" if text else ""


def _in_brackets(text: str) -> str:
    return f"({_line(text)})" if text else ""


def _facts(block: Facts) -> str:
    lines = []
    for fact in block.items:
        parts = (_bold(_line(fact.number)), _in_brackets(fact.limits))
        lines.append(" ".join(["-", *filter(None, parts), _line(fact.about)]))
    return "\n".join(lines)


def _list(items: Sequence[tuple[str, str]], between: str = " ") -> str:
    return "\n".join(f"- {_bold(_line(start))}{between}{_line(text)}" for start, text in items)


def _code(block: Code) -> str:
    text = replace_illegible(block.text)
    fence = "`" * max(3, max(map(len, re.findall("`+", text)), default=0) + 1)
    return f"{fence}\n{text}\n{fence}"


def _matrix(block: Matrix) -> str:
    lines = [["", *map(_line, block.predictions)]]
    for heading, cells in block.rows:
        lines.append([_line(heading), *map(_matrix_cell, cells)])
    return _with_caption(
        block.caption, block.note, _grid(lines, ["number"] * len(block.predictions))
    )


def _matrix_cell(cell: MatrixCell) -> str:
    return f"{_line(cell.n)} ({_line(cell.share)}{', wrong' if cell.is_wrong else ''})"


def _table(block: Table) -> str:
    """Write a table without its plots, whose numbers stand beside them."""
    kinds = [head.kind for head in block.heads[1:] for _ in range(head.span)]
    columns = [i for i, kind in enumerate(kinds) if kind != "plot"]
    heads = [text for head in block.heads for text in [_line(head.text), *[""] * (head.span - 1)]]
    lines = [[heads[0], *(heads[i + 1] for i in columns)]]
    for group in block.groups:
        if group.heading:
            lines.append([_bold(_line(group.heading)), *[""] * len(columns)])
        lines += [_row(row, columns) for row in group.rows]
    if block.total is not None:
        lines.append(_row(block.total, columns))
    return _with_caption(block.caption, block.note, _grid(lines, [kinds[i] for i in columns]))


def _row(row: TableRow, columns: Sequence[int]) -> list[str]:
    """Write a row: in italics if it is small, in bold if it is of all rows or in use."""
    sign = "**" if row.is_total or row.is_in_use else "*" if row.is_small else ""
    heading = f"{sign}{_line(row.heading)}{sign}"
    note = f" {_in_brackets(row.note)}" if row.note else ""
    return [heading + note, *(_cell(row.cells[i], differs=row.differs) for i in columns)]


def _cell(cell: Cell, *, differs: bool) -> str:
    text = _line(cell.text)
    number = _bold(text) if differs and cell.limits else text
    return " ".join(filter(None, (cell.verdict, number, _in_brackets(cell.limits))))


def _grid(lines: Sequence[Sequence[str]], kinds: Sequence[str]) -> str:
    """Lay out cells, the first line as the heading."""
    first, *others = [f"| {' | '.join(line)} |" for line in lines]
    rule = f"| {' | '.join(['---', *('---' if kind == 'text' else '---:' for kind in kinds)])} |"
    return "\n".join([first, rule, *others])


def _with_caption(caption: str, note: str, grid: str) -> str:
    return "\n\n".join(filter(None, (_bold(_line(caption)), _paragraph(note), grid)))


_WRITERS: Mapping[type[Block], Callable[[Any], str]] = {
    Paragraph: lambda block: _paragraph(block.text),
    Heading: lambda block: f"### {_line(block.text)}",
    Bullets: lambda block: _list(block.items),
    Facts: _facts,
    Terms: lambda block: _list(block.items, ": "),
    Glossary: lambda block: _list([(item.term, item.meaning) for item in block.items], ": "),
    Code: _code,
    Table: _table,
    SideBySide: lambda block: "\n\n".join(_blocks(block.blocks)),
    Matrix: _matrix,
    StepChart: lambda block: f"{_bold(_line(block.caption))}\n\n{_paragraph(block.text)}",
}
