"""Which categories of tables of impact ratios are withheld, so that no small count is revealed.

The tables share their rows: those of an intersection sum up to those of its columns.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from balframe.audit_page.disclosure import withheld_crossings, withheld_parts
from balframe.audit_page.queries import N, Row, by_name

UNKNOWN_VALUES: tuple[Any, ...] = ()  # stand for all rows of unknown category

Values = tuple[Any, ...]
Withheld = Mapping[tuple[int, ...], Collection[Values]]  # values of categories by columns


def withheld_categories(
    rows: Sequence[Row],
    is_measured: str,
    tables: Sequence[tuple[int, ...]],
    least: int,
    withheld_groups: Mapping[int, Collection[Any]],
) -> Withheld:
    """Return the values of the categories that each table withholds.

    `rows` count the rows of each combination of groups by the column `is_measured`. A category is
    withheld where either count is under `least`, where the page withholds one of its groups
    elsewhere, and where it would reveal another one.
    """
    withheld: dict[tuple[int, ...], set[Values]] = {}
    for columns in sorted(tables, key=len):
        counts = _count(rows, columns, is_measured)
        names = list(counts)
        also = {i for i, values in enumerate(names) if _is_part_withheld(values, columns, withheld)}
        if len(columns) == 1:
            groups = withheld_groups.get(columns[0], ())
            also |= {i for i, values in enumerate(names) if (values or (None,))[0] in groups}
            positions = withheld_parts(list(counts.values()), least, also)
        else:
            lines = [*_lines(names, len(columns)), range(len(names))]
            positions = withheld_crossings(list(counts.values()), lines, least, also)
        withheld[columns] = {names[i] for i in positions}
    return withheld


def category_values(row: Row, columns: Sequence[int]) -> Values:
    """Return the values of the category of a row in a table."""
    values = tuple(row[by_name(column)] for column in columns)
    return UNKNOWN_VALUES if None in values else values


def _count(
    rows: Sequence[Row], columns: tuple[int, ...], is_measured: str
) -> dict[Values, list[int]]:
    """Count the rows of each category on the side measured, and on the other."""
    counts: dict[Values, list[int]] = defaultdict(lambda: [0, 0])
    for row in rows:
        counts[category_values(row, columns)][not row[is_measured]] += row[N]
    return dict(counts)


def _is_part_withheld(
    values: Values, columns: tuple[int, ...], withheld: Mapping[tuple[int, ...], set[Values]]
) -> bool:
    """Return whether the table of some of the columns withholds what a category is part of."""
    by_column = dict(zip(columns, values, strict=False))
    return bool(by_column) and any(
        tuple(by_column[column] for column in others) in own
        for others, own in withheld.items()
        if set(others) < set(columns)
    )


def _lines(names: Sequence[Values], n_columns: int) -> Iterator[list[int]]:
    """Iterate over the positions of categories whose sum a table of fewer columns may show."""
    for size in range(1, n_columns):
        for places in combinations(range(n_columns), size):
            lines = defaultdict(list)
            for i, values in enumerate(names):
                if values:
                    lines[tuple(values[place] for place in places)].append(i)
            yield from lines.values()
