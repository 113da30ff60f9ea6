"""Agree on the labels: convert levels of several columns to codes of one label set."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import BoolArray, Int64Array
from balframe.core.cells import LEFT_OUT, Cells
from balframe.core.label_set import Label, LabelSet, as_labels, check_kinds, label_kind
from balframe.core.row_sums import RowSums
from balframe.errors import Message, parameter
from balframe.frames.adapter import Adapter, DType, Name, Series
from balframe.frames.query import Query
from balframe.frames.row_weights import raise_null


@dataclass(frozen=True)
class LabelColumn:
    """A column of labels: its name in the caller's frame, and its distinct values."""

    name: Name
    levels: Series
    dtype: DType

    def is_null(self, positions: Int64Array) -> BoolArray:
        """Return which positions among the levels are null."""
        return np.equal(positions, len(self.levels))


@dataclass(frozen=True)
class LevelCounts:
    """Rows counted by positions among the levels of columns: by-columns, then columns of labels.

    `column_indices` are the numbers of those columns of labels; the first has the true labels.
    """

    by: tuple[Int64Array, ...]
    labels: tuple[Int64Array, ...]
    column_indices: tuple[int, ...]
    sums: RowSums

    def null_masks(self, columns: Sequence[LabelColumn]) -> list[BoolArray]:
        """Return where each column of labels is null."""
        return [
            columns[i].is_null(codes)
            for i, codes in zip(self.column_indices, self.labels, strict=True)
        ]


# Positions among the levels of a column, and the labels there.
ColumnLabels = tuple[Int64Array, list[Label]]


@dataclass(frozen=True, slots=True)
class LabelAgreement:
    """The label set, the labels that occur in each column, and the code of each of its levels.

    The last code of a column is for null. `is_complete` marks the cells of each part without a
    null; None if all are.
    """

    labels: LabelSet
    column_labels: Sequence[ColumnLabels]
    code_tables: Sequence[Int64Array]
    is_complete: Sequence[BoolArray | None]


def to_cells(parts: Sequence[LevelCounts], agreement: LabelAgreement) -> list[Cells]:
    """Convert positions among the levels of each column to codes of the labels.

    Cells with a null become rows left out. Where a part has several columns of predictions, the
    outcome is all of them: the code of the first times the number of labels, plus the second's.
    """
    tables, n_labels = agreement.code_tables, len(agreement.labels)
    return [
        _translate(part, is_complete, tables, n_labels)
        for part, is_complete in zip(parts, agreement.is_complete, strict=True)
    ]


def agree_on_labels(
    parts: Sequence[LevelCounts], columns: Sequence[LabelColumn], adapter: Adapter, query: Query
) -> LabelAgreement:
    """Return the label set, and the codes of the levels of each column in it."""
    is_complete = [_complete_cells(part, columns) for part in parts]
    positions: list[list[Int64Array]] = [[] for _ in columns]
    for part, rows in zip(parts, is_complete, strict=True):
        if rows is not None and not query.drops_missing:
            _raise_nulls(part, columns, query)
        for index, codes in zip(part.column_indices, part.labels, strict=True):
            positions[index].append(codes if rows is None else codes[rows])
    column_labels = [
        _occurring_labels(column, codes, adapter)
        for column, codes in zip(columns, positions, strict=True)
    ]
    labels = _label_set(columns, column_labels, adapter, query)
    tables = [
        _code_table(column, occurring, labels)
        for column, occurring in zip(columns, column_labels, strict=True)
    ]
    return LabelAgreement(labels, column_labels, tables, is_complete)


def _complete_cells(part: LevelCounts, columns: Sequence[LabelColumn]) -> BoolArray | None:
    """Return which cells have rows and no null label; None if all do."""
    is_complete = part.sums.row_counts > 0
    for is_null in part.null_masks(columns):
        is_complete &= ~is_null
    return None if is_complete.all() else is_complete


def _raise_nulls(part: LevelCounts, columns: Sequence[LabelColumn], query: Query) -> None:
    """Raise for nulls; first of predictions if the truth is filled with them."""
    masks = [*zip(part.column_indices, part.null_masks(columns), strict=True)]
    for index, is_null in masks[::-1] if query.strata else masks:
        can_correct = query.can_correct and columns[index].name == query.y_true
        n = int(part.sums.row_counts[is_null].sum())
        raise_null(columns[index].name, n, can_correct=can_correct)


def _occurring_labels(
    column: LabelColumn, positions: Sequence[Int64Array], adapter: Adapter
) -> ColumnLabels:
    """Return the positions that occur, and the labels there."""
    occurs = np.zeros(len(column.levels), np.bool_)
    for codes in positions:
        occurs[codes] = True
    distinct = np.flatnonzero(occurs)
    levels = column.levels
    if len(distinct) < len(levels):
        levels = adapter.take(levels, distinct, nullable=False)
    return distinct, as_labels(adapter.python_values(levels), f"column {column.name!r}")


def check_label_kinds(kind_by_column: Mapping[Name, str | None], query: Query) -> None:
    """Raise unless the columns and the option `labels` hold labels of one kind."""
    kinds: list[tuple[str | Message, str | None]] = [
        (f"column {name!r}", kind) for name, kind in kind_by_column.items()
    ]
    if query.labels:
        kinds.append((parameter("labels"), label_kind(query.labels[0])))
    check_kinds(kinds)


def _label_set(
    columns: Sequence[LabelColumn],
    column_labels: Sequence[ColumnLabels],
    adapter: Adapter,
    query: Query,
) -> LabelSet:
    check_label_kinds(
        {
            column.name: label_kind(labels[0])
            for column, (_, labels) in zip(columns, column_labels, strict=True)
            if labels
        },
        query,
    )
    observed = [label for _, labels in column_labels for label in labels]
    if query.labels is not None:
        return LabelSet.from_list(query.labels, observed)
    categories = [adapter.categories(column.dtype) for column in columns]
    return LabelSet.union(observed, categories).declaring(query.declared_labels)


def _code_table(column: LabelColumn, occurring: ColumnLabels, labels: LabelSet) -> Int64Array:
    positions, values = occurring
    table = np.full(len(column.levels) + 1, LEFT_OUT, np.int64)
    table[positions] = labels.codes(values)
    return table


def _translate(
    part: LevelCounts, is_complete: BoolArray | None, tables: Sequence[Int64Array], n_labels: int
) -> Cells:
    actual, *outcomes = (
        tables[index][codes] for index, codes in zip(part.column_indices, part.labels, strict=True)
    )
    outcome = outcomes[0]
    for codes in outcomes[1:]:
        outcome = outcome * n_labels + codes
    if is_complete is None:
        return Cells(part.by, actual, outcome, part.sums)
    actual, outcome = (np.where(is_complete, codes, LEFT_OUT) for codes in (actual, outcome))
    return Cells(part.by, actual, outcome, part.sums.losing(~is_complete))
