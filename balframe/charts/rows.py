"""The data of charts: the rows of a result, with names for segments and panels."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, Literal

from balframe._text import (
    ALL,
    MISSING,
    escape_controls,
    midnights_as_dates,
    quote_placeholder,
    replace_illegible,
)
from balframe.api.value_naming import ValueNaming
from balframe.errors import InvalidInputError
from balframe.frames.adapter import Name
from balframe.frames.by_entries import entry_name
from balframe.frames.convert_result import collect_result, row_dicts
from balframe.frames.query import MODEL

ResultRow = Mapping[Name, Any]
ChartRow = dict[str, Any]

SortOption = Literal["score", "name", "n"]
_MAX_PANELS = 12
_LINE_ENDS = {0x2028: "\\u2028", 0x2029: "\\u2029"}  # beside those among control characters
_TAG = re.compile("<(?=/?script|!--)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ChartData:
    """Rows with the texts `segment` and `panel`, and the titles of segments and panels.

    Rows without panels have an empty text as `panel`, and `panel_title` is None.
    """

    rows: list[ChartRow]
    segment_title: str
    panel_title: str | None

    @property
    def segments(self) -> list[str]:
        """The segments in the order of the rows."""
        return list(dict.fromkeys(row["segment"] for row in self.rows))

    @property
    def panels(self) -> list[str]:
        """The panels in the order of the rows."""
        return list(dict.fromkeys(row["panel"] for row in self.rows))

    def select(self, segments: Iterable[str]) -> "ChartData":
        """Keep the rows of some segments."""
        names = set(segments)
        return replace(self, rows=[row for row in self.rows if row["segment"] in names])


def result_rows(result: Any) -> list[ResultRow]:  # noqa: ANN401 (a frame of any library)
    """Return the rows of a result; raise if there are none."""
    return require_rows(row_dicts(collect_result(result)))


def require_rows(rows: Sequence[ResultRow]) -> list[ResultRow]:
    """Return the rows; raise if there are none."""
    if not rows:
        raise InvalidInputError("the frame has no rows, so there is nothing to draw.")
    return list(rows)


def by_names(by: Any, row: ResultRow) -> list[Name]:  # noqa: ANN401 (a name, or several)
    """Return the by-columns as a list; a tuple may be a name."""
    if by is None:
        return []
    is_list = isinstance(by, list) or (isinstance(by, tuple) and by not in row)
    return list(map(entry_name, by if is_list else [by]))


def chart_data(
    rows: Sequence[ResultRow], by: Sequence[Name], *, max_panels: float = math.inf
) -> ChartData:
    """Return the rows with names of their segment and panel in place of the by-columns.

    Panels are the models where there are several, or else the values of the second by-column. If
    these are too many to lie side by side, they are part of the segment. Without by-columns, the
    models are the segments.
    """
    names = list(by)
    outer: Name | None = None
    if MODEL in rows[0] and MODEL not in by:
        names.append(MODEL)
        outer = MODEL if by else None
    elif len(by) > 1:
        outer, max_panels = by[1], min(max_panels, _MAX_PANELS)
    if outer is not None and len({row[outer] for row in rows}) > max_panels:
        outer = None
    inner = [name for name in names if name != outer]
    by_column = {name: midnights_as_dates([row[name] for row in rows]) for name in names}
    numbers = range(len(rows))
    naming = ValueNaming.of({name: by_column[name] for name in inner if name != MODEL})
    segments = _unique_texts(
        [tuple(by_column[name][i] for name in inner) for i in numbers], inner, naming
    )
    outers = [] if outer is None else [outer]
    panels = _unique_texts(
        [tuple(by_column[name][i] for name in outers) for i in numbers], outers, ValueNaming()
    )
    data_rows = [
        {
            chart_text(str(name)): _json_value(value)
            for name, value in row.items()
            if name not in names
        }
        | {"segment": segment or ALL, "panel": panel}
        for row, segment, panel in zip(rows, segments, panels, strict=True)
    ]
    panel_title = None if outer is None else chart_text(str(outer))
    return ChartData(data_rows, chart_text(", ".join(map(str, inner))), panel_title)


def _unique_texts(
    values: Sequence[tuple[object, ...]], names: Sequence[Name], naming: ValueNaming
) -> list[str]:
    """Return tuples of values as texts; those that would look the same, as Python code."""
    texts = {value: segment_text(names, value, naming) for value in values}
    counts = Counter(texts.values())
    return [
        texts[value] if counts[texts[value]] == 1 else chart_text(" · ".join(map(repr, value)))
        for value in values
    ]


def segment_text(names: Sequence[Name], values: Sequence[object], naming: ValueNaming) -> str:
    """Return the values of a segment, with the names of the columns that need them."""
    return " · ".join(
        naming.text(name, chart_text(str(name)), value, value_text(value))
        for name, value in zip(names, values, strict=True)
    )


def rank_segments(
    drawn: ChartData, field: str, max_segments: int, phrase: str = "", sort: SortOption = "score"
) -> tuple[list[str], list[str]]:
    """Return segments in order, and a line on those left out, if there are any.

    They are sorted by the mean of a field, the highest first, by name, or by rows, the most first.
    If there are too many, the highest and the lowest are kept, or the largest. The line names the
    field by `phrase`.
    """
    names = drawn.segments
    values, n = dict[str, list[float]](), Counter[str]()
    for row in drawn.rows:
        n[row["segment"]] = max(n[row["segment"]], row.get("n", 0))
        if row[field] is not None:
            values.setdefault(row["segment"], []).append(row[field])
    if sort == "n":
        left_out = _omission_lines(len(names), max_segments)
        return sorted(names, key=lambda name: -n[name])[:max_segments], [
            f"The {max_segments:,} largest; {line}" for line in left_out
        ]
    defined = sorted((name for name in names if name in values), key=lambda at: -fmean(values[at]))
    order = defined + [name for name in names if name not in values]
    lines = _omission_lines(len(order), max_segments)
    if lines and len(defined) <= max_segments:
        order, lines = order[:max_segments], [f"{lines[0]}, all undefined{phrase}"]
    elif lines:
        n_lowest = max_segments // 2
        order = defined[: max_segments - n_lowest] + defined[-n_lowest:]
        lines = [
            f"The {max_segments - n_lowest} highest and the {n_lowest} lowest{phrase}; {lines[0]}"
        ]
    return (sorted(order, key=names.index) if sort == "name" else order), lines


def highest_segments(
    ranks: Mapping[str, Any], max_segments: int, note: str
) -> tuple[list[str], list[str]]:
    """Return the segments of the highest ranks, in their order, and the note if any is left out."""
    kept = {*sorted(ranks, key=lambda name: ranks[name], reverse=True)[:max_segments]}
    return [name for name in ranks if name in kept], [note] if len(ranks) > max_segments else []


def _omission_lines(n_segments: int, max_segments: int) -> list[str]:
    """Return a line on how many segments are left out, if any are."""
    n = n_segments - max_segments
    return [f"{n:,} of {n_segments:,} segments {'is' if n == 1 else 'are'} left out"][: max(0, n)]


def panel_columns(n_panels: int, max_columns: int) -> int:
    """Return how many panels lie side by side, so that the last row has few empty places."""
    most = min(n_panels, max_columns)
    return min(range(most, most // 2, -1), key=lambda n_columns: -n_panels % n_columns)


def value_text(value: object) -> str:
    """Return a value as the name of a segment; a text that looks like a null is quoted."""
    if value is None:
        return MISSING
    return chart_text(quote_placeholder(str(value)) or '""')


def chart_text(text: str) -> str:
    """Return a text that every renderer of charts can show, and that is not a tag in a page.

    Control characters and line ends are written out, and characters that no file should hold are
    replaced: a picture of them aborts the process. Altair writes charts unescaped into the script
    of a page, so a word joiner, which is invisible, separates a tag from its bracket. Vega takes a
    panel called "if" for the start of a condition, so one follows that name.
    """
    legible = replace_illegible(escape_controls(text)).translate(_LINE_ENDS)
    return "if\u2060" if legible == "if" else _TAG.sub("<\u2060", legible)


def _json_value(value: object) -> object:
    """Return a value without infinities and NaN, which JSON lacks, as `chart_text`."""
    if isinstance(value, str):
        return chart_text(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value
