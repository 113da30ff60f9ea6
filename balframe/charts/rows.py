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
from balframe.frames.convert_result import collect_result, row_dicts
from balframe.frames.query import MODEL

ResultRow = Mapping[Name, Any]
ChartRow = dict[str, Any]

SortOption = Literal["score", "name", "n"]
_MOST_PANELS = 12
_TAG = re.compile("<(?=/?script|!--)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ChartData:
    """Rows to draw, each with the texts `segment` and `panel`, and what the two stand for."""

    rows: list[ChartRow]
    segment_title: str
    panel_title: str | None

    @property
    def segments(self) -> list[str]:
        """List the segments in the order of the rows."""
        return list(dict.fromkeys(row["segment"] for row in self.rows))

    @property
    def panels(self) -> list[str]:
        """List the panels in the order of the rows."""
        return list(dict.fromkeys(row["panel"] for row in self.rows))

    def select(self, segments: Iterable[str]) -> "ChartData":
        """Keep the rows of some segments."""
        kept = set(segments)
        return replace(self, rows=[row for row in self.rows if row["segment"] in kept])


def result_rows(result: Any) -> list[ResultRow]:  # noqa: ANN401 (a frame of any library)
    """Collect an answer, row by row."""
    return require_rows(row_dicts(collect_result(result)))


def require_rows(rows: Sequence[ResultRow]) -> list[ResultRow]:
    """Refuse to draw nothing."""
    if not rows:
        raise InvalidInputError("the frame has no rows, so there is nothing to draw.")
    return list(rows)


def by_names(by: Any, row: ResultRow) -> list[Name]:  # noqa: ANN401 (a name, or several)
    """List the by-columns; a tuple may be a name."""
    if by is None:
        return []
    return list(by) if isinstance(by, list) or (isinstance(by, tuple) and by not in row) else [by]


def chart_data(
    rows: Sequence[ResultRow], by: Sequence[Name], *, max_panels: float = math.inf
) -> ChartData:
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
        outer, max_panels = by[1], min(max_panels, _MOST_PANELS)
    if outer is not None and len({row[outer] for row in rows}) > max_panels:
        outer = None
    inner = [name for name in names if name != outer]
    segments = _texts([tuple(row[name] for name in inner) for row in rows])
    panels = _texts([() if outer is None else (row[outer],) for row in rows])
    drawn = [
        {str(name): _drawable(value) for name, value in row.items() if name not in names}
        | {"segment": segment or ALL, "panel": panel}
        for row, segment, panel in zip(rows, segments, panels, strict=True)
    ]
    panels_by = None if outer is None else escape_tags(str(outer))
    return ChartData(drawn, escape_tags(", ".join(map(str, inner))), panels_by)


def _texts(values: Sequence[tuple[object, ...]]) -> list[str]:
    """Write tuples of values, as Python code those that would look the same."""
    texts = {one: " · ".join(map(value_text, one)) for one in values}
    alike = Counter(texts.values())
    return [
        texts[one] if alike[texts[one]] == 1 else escape_tags(" · ".join(map(repr, one)))
        for one in values
    ]


def rank_segments(
    drawn: ChartData, field: str, max_segments: int, phrase: str = "", sort: SortOption = "score"
) -> tuple[list[str], list[str]]:
    """Put segments in order: by a value, the highest first, by name, or by rows, the most first.

    Of too many the highest and the lowest are kept, or by rows the largest. Returns the segments,
    and a line on those left out, if there are such; `words` say in what they are high.
    """
    names = drawn.segments
    values, n = dict[str, list[float]](), Counter[str]()
    for row in drawn.rows:
        n[row["segment"]] = max(n[row["segment"]], row["n"])
        if row[field] is not None:
            values.setdefault(row["segment"], []).append(row[field])
    if sort == "n":
        left_out = _left_out(len(names), max_segments)
        return sorted(names, key=lambda name: -n[name])[:max_segments], [
            f"The {max_segments:,} largest; {line}" for line in left_out
        ]
    known = sorted((name for name in names if name in values), key=lambda at: -fmean(values[at]))
    order = known + [name for name in names if name not in values]
    lines = _left_out(len(order), max_segments)
    if lines and len(known) <= max_segments:
        order, lines = order[:max_segments], [f"{lines[0]}, all undefined{phrase}"]
    elif lines:
        n_lowest = max_segments // 2
        order = known[: max_segments - n_lowest] + known[-n_lowest:]
        lines = [
            f"The {max_segments - n_lowest} highest and the {n_lowest} lowest{phrase}; {lines[0]}"
        ]
    return (sorted(order, key=names.index) if sort == "name" else order), lines


def _left_out(n_segments: int, most: int) -> list[str]:
    """Say how many segments are left out, if any are."""
    n = n_segments - most
    return [f"{n:,} of {n_segments:,} segments {'is' if n == 1 else 'are'} left out"][: max(0, n)]


def panel_columns(n_panels: int, max_columns: int) -> int:
    """Choose how many panels lie side by side, so that the last row has few places left."""
    wide = min(n_panels, max_columns)
    return min(range(wide, wide // 2, -1), key=lambda one: -n_panels % one)


def value_text(value: object) -> str:
    """Write a value as the name of a segment; in quotes a text that looks like a null value."""
    if value is None:
        return MISSING
    return escape_tags(told_apart(str(value)) or '""')


def escape_tags(text: str) -> str:
    """Keep a text from being a tag in a page, into whose script Altair writes charts as they are.

    A word joiner, which is not seen, parts the tag from its bracket.
    """
    return _TAG.sub("<\u2060", text)


def _drawable(value: object) -> object:
    """Leave out infinities and NaN, which charts cannot have, and tags."""
    if isinstance(value, str):
        return escape_tags(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value
