"""What charts are drawn from: the rows of an answer, with names for segments and panels."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, Literal

from balframe._text import ALL, MISSING, told_apart
from balframe.errors import InvalidInputError
from balframe.frames.adapter import Name
from balframe.frames.convert_result import collected, rows_of
from balframe.frames.query import MODEL

Answered = Mapping[Name, Any]
Row = dict[str, Any]

Sort = Literal["score", "name", "n"]
_MOST_PANELS = 12
_TAG = re.compile("<(?=/?script|!--)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Drawn:
    """Rows to draw, each with the texts `segment` and `panel`, and what the two stand for."""

    rows: list[Row]
    by: str
    panels_by: str | None

    @property
    def segments(self) -> list[str]:
        """List the segments in the order of the rows."""
        return list(dict.fromkeys(row["segment"] for row in self.rows))

    @property
    def panels(self) -> list[str]:
        """List the panels in the order of the rows."""
        return list(dict.fromkeys(row["panel"] for row in self.rows))

    def of(self, segments: Iterable[str]) -> "Drawn":
        """Keep the rows of some segments."""
        kept = set(segments)
        return replace(self, rows=[row for row in self.rows if row["segment"] in kept])


def answered(answer: Any) -> list[Answered]:  # noqa: ANN401 (a frame of any library)
    """Collect an answer, row by row."""
    return checked(rows_of(collected(answer)))


def checked(rows: Sequence[Answered]) -> list[Answered]:
    """Refuse to draw nothing."""
    if not rows:
        raise InvalidInputError("the frame has no rows, so there is nothing to draw.")
    return list(rows)


def by_names(by: Any, row: Answered) -> list[Name]:  # noqa: ANN401 (a name, or several)
    """List the by-columns; a tuple may be a name."""
    if by is None:
        return []
    return list(by) if isinstance(by, list) or (isinstance(by, tuple) and by not in row) else [by]


def named(rows: Sequence[Answered], by: Sequence[Name], *, most_panels: float = math.inf) -> Drawn:
    """Name the segment and the panel of every row, and leave the by-columns out.

    Panels are the models where there are several, or else the values of the second by-column. If
    these are too many to lie side by side, they are part of the segment.
    """
    names = list(by)
    outer: Name | None = None
    if MODEL in rows[0] and MODEL not in by:
        names.append(MODEL)
        outer = MODEL
    elif len(by) > 1:
        outer, most_panels = by[1], min(most_panels, _MOST_PANELS)
    if outer is not None and len({row[outer] for row in rows}) > most_panels:
        outer = None
    inner = [name for name in names if name != outer]
    segments = _texts([tuple(row[name] for name in inner) for row in rows])
    panels = _texts([() if outer is None else (row[outer],) for row in rows])
    drawn = [
        {str(name): _drawable(value) for name, value in row.items() if name not in names}
        | {"segment": segment or ALL, "panel": panel}
        for row, segment, panel in zip(rows, segments, panels, strict=True)
    ]
    panels_by = None if outer is None else inert(str(outer))
    return Drawn(drawn, inert(", ".join(map(str, inner))), panels_by)


def _texts(values: Sequence[tuple[object, ...]]) -> list[str]:
    """Write tuples of values, as Python code those that would look the same."""
    texts = {one: " · ".join(map(text_of, one)) for one in values}
    alike = Counter(texts.values())
    return [
        texts[one] if alike[texts[one]] == 1 else inert(" · ".join(map(repr, one)))
        for one in values
    ]


def ranked(
    drawn: Drawn, value: str, most: int, words: str = "", sort: Sort = "score"
) -> tuple[list[str], list[str]]:
    """Put segments in order: by a value, the highest first, by name, or by rows, the most first.

    Of too many the highest and the lowest are kept, or by rows the largest. Returns the segments,
    and a line on those left out, if there are such; `words` say in what they are high.
    """
    names = drawn.segments
    values, n = dict[str, list[float]](), Counter[str]()
    for row in drawn.rows:
        n[row["segment"]] = max(n[row["segment"]], row["n"])
        if row[value] is not None:
            values.setdefault(row["segment"], []).append(row[value])
    if sort == "n":
        left_out = _left_out(len(names), most)
        return sorted(names, key=lambda name: -n[name])[:most], [
            f"The {most:,} largest; {line}" for line in left_out
        ]
    known = sorted((name for name in names if name in values), key=lambda at: -fmean(values[at]))
    order = known + [name for name in names if name not in values]
    lines = _left_out(len(order), most)
    if lines and len(known) <= most:
        order, lines = order[:most], [f"{lines[0]}, all undefined{words}"]
    elif lines:
        n_lowest = most // 2
        order = known[: most - n_lowest] + known[-n_lowest:]
        lines = [f"The {most - n_lowest} highest and the {n_lowest} lowest{words}; {lines[0]}"]
    return (sorted(order, key=names.index) if sort == "name" else order), lines


def _left_out(n_segments: int, most: int) -> list[str]:
    """Say how many segments are left out, if any are."""
    n = n_segments - most
    return [f"{n:,} of {n_segments:,} segments {'is' if n == 1 else 'are'} left out"][: max(0, n)]


def columns(n_panels: int, most: int) -> int:
    """Choose how many panels lie side by side, so that the last row has few places left."""
    wide = min(n_panels, most)
    return min(range(wide, wide // 2, -1), key=lambda one: -n_panels % one)


def text_of(value: object) -> str:
    """Write a value as the name of a segment; in quotes a text that looks like a null value."""
    if value is None:
        return MISSING
    return inert(told_apart(str(value)) or '""')


def inert(text: str) -> str:
    """Keep a text from being a tag in a page, into whose script Altair writes charts as they are.

    A word joiner, which is not seen, parts the tag from its bracket.
    """
    return _TAG.sub("<\u2060", text)


def _drawable(value: object) -> object:
    """Leave out infinities and NaN, which charts cannot have, and tags."""
    if isinstance(value, str):
        return inert(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value
