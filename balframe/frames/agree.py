"""Agree on the labels: from the levels of several columns to codes of one label set."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from balframe.core.arrays import BoolArray, Int64Array
from balframe.core.cells import LEFT_OUT, Cells
from balframe.core.labels import Label, LabelSet, as_labels, check_kinds, kind_of
from balframe.frames.library import DType, Library, Name, Series
from balframe.frames.measures import raise_null
from balframe.frames.query import Query


@dataclass(frozen=True)
class LabelColumn:
    """A column of labels, under the caller's name, with its distinct values."""

    name: Name
    levels: Series
    dtype: DType

    def lacks(self, positions: Int64Array) -> BoolArray:
        """Tell which positions among the levels stand for null."""
        return np.equal(positions, len(self.levels))


def agree(
    models: Sequence[Cells],
    true: LabelColumn,
    predicted: Sequence[LabelColumn],
    library: Library,
    query: Query,
) -> tuple[LabelSet, list[Cells]]:
    """Find the label set, and turn positions among the levels of each column into its codes.

    The cells of each model hold positions; cells with a null become rows left out.
    """
    if not query.drops_missing:
        _raise_nulls(models, true, predicted)
    whole = [
        (cells.n > 0) & ~true.lacks(cells.actual) & ~column.lacks(cells.outcome)
        for cells, column in zip(models, predicted, strict=True)
    ]
    kept = list(zip(models, whole, strict=True))
    found = [_find(true, [cells.actual[rows] for cells, rows in kept], library)]
    for column, (cells, rows) in zip(predicted, kept, strict=True):
        found.append(_find(column, [cells.outcome[rows]], library))
    labels = _label_set([true, *predicted], found, library, query)
    tables = [
        _table(column, one, labels) for column, one in zip([true, *predicted], found, strict=True)
    ]
    return labels, [
        _translated(cells, rows, tables[0], table)
        for (cells, rows), table in zip(kept, tables[1:], strict=True)
    ]


def _raise_nulls(
    models: Sequence[Cells], true: LabelColumn, predicted: Sequence[LabelColumn]
) -> None:
    raise_null(true.name, int(models[0].n[true.lacks(models[0].actual)].sum()))
    for cells, column in zip(models, predicted, strict=True):
        raise_null(column.name, int(cells.n[column.lacks(cells.outcome)].sum()))


_Found = tuple[Int64Array, list[Label]]


def _find(column: LabelColumn, positions: Sequence[Int64Array], library: Library) -> _Found:
    """List the positions that occur and the labels there."""
    distinct = np.unique(np.concatenate(positions))
    values = library.values(library.take(column.levels, distinct, nullable=False))
    return distinct, as_labels(values, f"column {column.name!r}")


def _label_set(
    columns: Sequence[LabelColumn], found: Sequence[_Found], library: Library, query: Query
) -> LabelSet:
    holders = {
        f"column {column.name!r}": labels
        for column, (_, labels) in zip(columns, found, strict=True)
    }
    if query.labels is not None:
        holders["labels="] = list(query.labels)
    check_kinds({name: kind_of(labels[0]) for name, labels in holders.items() if labels})
    observed = [label for _, labels in found for label in labels]
    if query.labels is not None:
        return LabelSet.given(query.labels, observed)
    return LabelSet.union(observed, library.domain([column.dtype for column in columns]))


def _table(column: LabelColumn, found: _Found, labels: LabelSet) -> Int64Array:
    positions, values = found
    table = np.full(len(column.levels) + 1, LEFT_OUT, np.int64)
    table[positions] = labels.codes(values)
    return table


def _translated(cells: Cells, whole: BoolArray, true: Int64Array, predicted: Int64Array) -> Cells:
    sums = cells.sums
    if not whole.all():
        sums = sums.leaving_out(~whole, cells.missing + np.where(whole, 0, cells.n))
    actual = np.where(whole, true[cells.actual], LEFT_OUT)
    outcome = np.where(whole, predicted[cells.outcome], LEFT_OUT)
    return Cells(cells.by, actual, outcome, sums)
