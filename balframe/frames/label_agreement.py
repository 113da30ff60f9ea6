"""Agree on the labels: from the levels of several columns to codes of one label set."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import BoolArray, Int64Array
from balframe.core.cells import LEFT_OUT, Cells
from balframe.core.label_set import Label, LabelSet, as_labels, check_kinds, kind_of
from balframe.core.row_sums import Measures
from balframe.errors import parameter
from balframe.frames.adapter import Adapter, DType, Name, Series
from balframe.frames.query import Query
from balframe.frames.row_weights import raise_null


@dataclass(frozen=True)
class LabelColumn:
    """A column of labels, under the caller's name, with its distinct values."""

    name: Name
    levels: Series
    dtype: DType

    def lacks(self, positions: Int64Array) -> BoolArray:
        """Tell which positions among the levels stand for null."""
        return np.equal(positions, len(self.levels))


@dataclass(frozen=True)
class Counted:
    """Rows counted by positions among the levels of columns: by-columns, then columns of labels.

    `holders` says which columns of labels these are; the first is that of the true labels.
    """

    by: tuple[Int64Array, ...]
    labels: tuple[Int64Array, ...]
    holders: tuple[int, ...]
    sums: Measures

    def lacks(self, columns: Sequence[LabelColumn]) -> list[BoolArray]:
        """Tell of each column of labels where it is null."""
        return [columns[i].lacks(codes) for i, codes in zip(self.holders, self.labels, strict=True)]


Found = tuple[
    Int64Array, list[Label]
]  # positions among the levels of a column, and the labels there


@dataclass(frozen=True, slots=True)
class Agreement:
    """The label set, the labels that each column has, and the code of each of its levels.

    The last code of a column is that of null. `whole` are the cells of each part without a null,
    None for all of them.
    """

    labels: LabelSet
    found: Sequence[Found]
    tables: Sequence[Int64Array]
    whole: Sequence[BoolArray | None]


def cells_of(parts: Sequence[Counted], agreed: Agreement) -> list[Cells]:
    """Turn positions among the levels of each column into codes of the labels.

    Cells with a null become rows left out. Where a part has several columns of predictions, the
    outcome is all of them: the code of the first times the number of labels, plus the second's.
    """
    tables, n = agreed.tables, len(agreed.labels)
    return [_translated(*one, tables, n) for one in zip(parts, agreed.whole, strict=True)]


def agree(
    parts: Sequence[Counted], columns: Sequence[LabelColumn], library: Adapter, query: Query
) -> Agreement:
    """Find the label set, and what the levels of each column are in it."""
    whole = [_whole(part, columns) for part in parts]
    positions: list[list[Int64Array]] = [[] for _ in columns]
    for part, rows in zip(parts, whole, strict=True):
        if rows is not None and not query.drops_missing:
            _raise_nulls(part, columns)
        for holder, codes in zip(part.holders, part.labels, strict=True):
            positions[holder].append(codes if rows is None else codes[rows])
    found = [_find(*one, library) for one in zip(columns, positions, strict=True)]
    labels = _label_set(columns, found, library, query)
    tables = [_table(*one, labels) for one in zip(columns, found, strict=True)]
    return Agreement(labels, found, tables, whole)


def _whole(part: Counted, columns: Sequence[LabelColumn]) -> BoolArray | None:
    """Tell which cells hold rows without a null; None for all of them."""
    is_whole = part.sums.counted > 0
    for lacking in part.lacks(columns):
        is_whole &= ~lacking
    return None if is_whole.all() else is_whole


def _raise_nulls(part: Counted, columns: Sequence[LabelColumn]) -> None:
    for holder, is_null in zip(part.holders, part.lacks(columns), strict=True):
        raise_null(columns[holder].name, int(part.sums.counted[is_null].sum()))


def _find(column: LabelColumn, positions: Sequence[Int64Array], library: Adapter) -> Found:
    """List the positions that occur and the labels there."""
    occurs = np.zeros(len(column.levels), np.bool_)
    for codes in positions:
        occurs[codes] = True
    distinct = np.flatnonzero(occurs)
    levels = column.levels
    if len(distinct) < len(levels):
        levels = library.take(levels, distinct, nullable=False)
    return distinct, as_labels(library.values(levels), f"column {column.name!r}")


def _label_set(
    columns: Sequence[LabelColumn], found: Sequence[Found], library: Adapter, query: Query
) -> LabelSet:
    holders = {
        f"column {column.name!r}": labels
        for column, (_, labels) in zip(columns, found, strict=True)
    }
    if query.labels is not None:
        holders[parameter("labels")] = list(query.labels)
    check_kinds({name: kind_of(labels[0]) for name, labels in holders.items() if labels})
    observed = [label for _, labels in found for label in labels]
    if query.labels is not None:
        return LabelSet.given(query.labels, observed)
    return LabelSet.union(observed, library.domain([column.dtype for column in columns]))


def _table(column: LabelColumn, found: Found, labels: LabelSet) -> Int64Array:
    positions, values = found
    table = np.full(len(column.levels) + 1, LEFT_OUT, np.int64)
    table[positions] = labels.codes(values)
    return table


def _translated(
    part: Counted, whole: BoolArray | None, tables: Sequence[Int64Array], n_labels: int
) -> Cells:
    actual, *outcomes = (
        tables[holder][codes] for holder, codes in zip(part.holders, part.labels, strict=True)
    )
    outcome = outcomes[0]
    for codes in outcomes[1:]:
        outcome = outcome * n_labels + codes
    if whole is None:
        return Cells(part.by, actual, outcome, part.sums)
    actual, outcome = (np.where(whole, codes, LEFT_OUT) for codes in (actual, outcome))
    return Cells(part.by, actual, outcome, part.sums.losing(~whole))
