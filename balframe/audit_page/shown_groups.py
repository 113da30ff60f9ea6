"""Which groups and columns a page shows where there are many, and how it says how many more."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from balframe.audit_page.document import Cell, Group, TableRow
from balframe.audit_page.groups import ColumnOf, GroupOf
from balframe.audit_page.numbers import count
from balframe.audit_page.request import Asked
from balframe.audit_page.text import given, marked, plural, text_of

MOST_COLUMNS = 6
_MOST_GROUPS, _FEWEST_GROUPS = 20, 5
_ROOM = 1_200  # rows of all tables, which keeps a page under half a megabyte


@dataclass(frozen=True, slots=True)
class ShownColumn:
    """A by-column with the groups that are shown, in their order; `more` are the others."""

    column: ColumnOf
    title: str
    groups: Sequence[GroupOf]
    more: Sequence[GroupOf]


def shown_columns(
    columns: Sequence[ColumnOf], asked: Asked, n_tables: int = 8
) -> list[ShownColumn]:
    """Choose the first columns, and of each the groups with the most rows."""
    kept = columns[:MOST_COLUMNS]
    room = _ROOM // max(len(kept) * n_tables, 1)
    most = min(max(room, _FEWEST_GROUPS), _MOST_GROUPS)
    return [_shown(column, asked, most) for column in kept]


def _shown(column: ColumnOf, asked: Asked, most: int) -> ShownColumn:
    by_size = sorted(range(len(column.groups)), key=lambda at: -column.groups[at].n)
    kept = {*by_size[:most]}
    groups = [one for at, one in enumerate(column.groups) if at in kept]
    more = [one for at, one in enumerate(column.groups) if at not in kept]
    return ShownColumn(column, asked.title_of(column.number), groups, more)


def groups_of(
    shown: Sequence[ShownColumn], asked: Asked, row: Callable[[ColumnOf, GroupOf], TableRow]
) -> list[Group]:
    """Make the rows of a table, those of each column under its name."""
    found = []
    for one in shown:
        rows = [row(one.column, group) for group in one.groups]
        if one.more:
            n = sum(group.n for group in one.more)
            words = asked.words
            said = f"{plural(len(one.more), 'more group', 'more groups')}, {words.counted(n)}"
            blank = [Cell() for _ in rows[0].cells]
            rows.append(TableRow(said, blank, is_small=True))
        found.append(Group(one.title, rows))
    return found


def heading_of(group: GroupOf) -> str:
    """Name a group in a table."""
    return marked(text_of(group.value))


def not_shown(columns: Sequence[ColumnOf], asked: Asked) -> str:
    """Say which columns are not shown; empty if all are."""
    left = [given(str(asked.by[column.number])) for column in columns[MOST_COLUMNS:]]
    if not left:
        return ""
    named = ", ".join(left[:MOST_COLUMNS]) + (
        f" and {count(len(left) - MOST_COLUMNS)} more" if len(left) > MOST_COLUMNS else ""
    )
    columns_were = "more column was" if len(left) == 1 else "more columns were"
    are = "is" if len(left) == 1 else "are"
    return (
        f"{count(len(left))} {columns_were} examined in the same way and {are} not shown: "
        f"{named}. Their comparisons count in the adjustment for multiple testing."
    )
