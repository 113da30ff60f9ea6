"""What charts are drawn from: the rows of an answer, with names for segments and panels."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from balframe.errors import InvalidInputError, not_found
from balframe.frames.deliver import collected, rows_of
from balframe.frames.library import Name
from balframe.frames.query import MODEL

Answered = Mapping[Name, Any]
Row = dict[str, Any]

MOST = 60
ALL_ROWS = "all rows"
_MOST_PANELS = 12


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
        raise InvalidInputError("the frame has no rows, so that there is nothing to draw.")
    return list(rows)


def by_names(by: Any, row: Answered) -> list[Name]:  # noqa: ANN401 (a name, or several)
    """List the by-columns; a tuple may be a name."""
    if by is None:
        return []
    return list(by) if isinstance(by, list) or (isinstance(by, tuple) and by not in row) else [by]


def named(rows: Sequence[Answered], by: Sequence[Name], *, in_panels: bool = True) -> Drawn:
    """Name the segment and the panel of every row, and leave the by-columns out.

    Panels are the models where there are several, or else the values of the second by-column,
    unless these are too many to lie side by side.
    """
    inner, outer = list(by), None
    if in_panels and MODEL in rows[0] and MODEL not in by:
        outer = MODEL
    elif in_panels and len(by) > 1 and len({row[by[1]] for row in rows}) <= _MOST_PANELS:
        outer = inner.pop(1)
    drawn = [
        {str(name): _drawable(value) for name, value in row.items() if name not in by}
        | {
            "segment": " · ".join(text_of(row[name]) for name in inner) or ALL_ROWS,
            "panel": "" if outer is None else text_of(row[outer]),
        }
        for row in rows
    ]
    return Drawn(drawn, ", ".join(map(str, inner)), None if outer is None else str(outer))


def ranked(drawn: Drawn, value: str, most: int) -> tuple[list[str], list[str]]:
    """Put segments in the order of a value, the highest first; of too many keep both ends.

    Gives the segments, and a line on those left out, if there are such.
    """
    values: dict[str, list[float]] = {name: [] for name in drawn.segments}
    for row in drawn.rows:
        if row[value] is not None:
            values[row["segment"]].append(row[value])
    known = sorted((name for name in values if values[name]), key=lambda name: -fmean(values[name]))
    order = known + [name for name in values if not values[name]]
    if len(order) <= most:
        return order, []
    n_lowest = min(most // 2, len(known) // 2)
    n_highest = min(most - n_lowest, len(known) - n_lowest)
    kept = known[:n_highest] + known[len(known) - n_lowest :]
    left_out = f"{len(order) - len(kept):,} of {len(order):,} segments are left out"
    return kept, [f"The {n_highest} highest and the {n_lowest} lowest; {left_out}"]


def columns(n_panels: int, most: int) -> int:
    """Choose how many panels lie side by side, so that no row is left half full if that can be."""
    wide = min(n_panels, most)
    even = (one for one in range(wide, wide // 2, -1) if n_panels % one == 0)
    return next(even, wide)


def check_most(most: object) -> None:
    """Refuse what is no number of segments."""
    if not isinstance(most, int) or isinstance(most, bool) or most < 2:
        raise InvalidInputError(f"most={most!r} is not a number of segments; give 2 or more.")


def check_options(given: Iterable[str], allowed: Iterable[str]) -> None:
    """Refuse options that a chart does not hand on."""
    known = list(allowed)
    for name in given:
        if name not in known:
            raise not_found("option", name, known)


def text_of(value: object) -> str:
    """Write a value as the name of a segment; the text "null" is not the value null."""
    if value is None:
        return "null"
    return '"null"' if value == "null" else str(value)


def _drawable(value: object) -> object:
    """Leave out infinities and NaN, which charts cannot have."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
