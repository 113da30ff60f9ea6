"""A frame to cells: encode its columns, count, and agree on the labels."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, cast

import narwhals as nw
import numpy as np
import polars as pl

from balframe.core.arrays import BoolArray, Int64Array, IntegerArray, RowIndex
from balframe.core.cells import Cells
from balframe.core.codes import MisjudgedRangeError
from balframe.core.labels import LabelSet, check_kinds, kind_of
from balframe.core.measures import Measures
from balframe.core.ways import SAMPLE, are_worth_a_guess
from balframe.frames.agree import Counted, LabelColumn, agree, cells_of
from balframe.frames.counting import count, encode, encode_or_leave
from balframe.frames.doubts import doubts_of
from balframe.frames.engines import reduce
from balframe.frames.engines.carried import measures_of
from balframe.frames.library import Column, DType, Frame, Library, Name, Series
from balframe.frames.margins import margin_subsets, with_margins
from balframe.frames.query import MARGIN, MODEL, Query
from balframe.frames.row_weights import measures


@dataclass(frozen=True, slots=True)
class Group:
    """The positions of the segments of one margin and model; `by` are the columns it keeps."""

    segments: Int64Array
    by: tuple[Name, ...]


@dataclass(frozen=True)
class Reading:
    """The cells of a frame and what their codes stand for.

    `by` names the by-columns of the cells, with `margin` before and `model` behind those of the
    caller where there are such, and gives the levels of each. `doubts` say what is probably not
    meant.
    """

    cells: Cells
    labels: LabelSet
    by: Mapping[Name, Series]
    library: Library
    query: Query
    dtypes: Mapping[Name, DType]
    doubts: tuple[str, ...] = ()

    @property
    def reading(self) -> "Reading":
        """Give itself, as what is read of scores gives the reading that it has."""
        return self

    @property
    def codes(self) -> dict[Name, Int64Array]:
        """The codes of the cells, by the name of the by-column."""
        return dict(zip(self.by, self.cells.by, strict=True))

    def by_columns(self, cells: IntegerArray, blank: BoolArray | None = None) -> dict[Name, Any]:
        """Look up the by-columns of the cells at these positions.

        Where `blank`, those that the caller named are null: the row is about many segments.
        """
        nullable = self.query.margins is not False or blank is not None
        columns: dict[Name, Any] = {}
        for name, levels in self.by.items():
            codes = self.codes[name][cells]
            if blank is not None and name in self.query.by:
                codes = np.where(blank, len(levels), codes)
            columns[name] = self.library.take(levels, codes, nullable=nullable)
        order = (*self.query.by, MARGIN, MODEL)
        return {name: columns[name] for name in order if name in columns}

    def groups(self) -> list[Group]:
        """List the segments of each margin and model, which can be compared; one empty if none."""
        _, first = self.cells.segments
        if not len(first):
            return [Group(first, self.query.by)]
        subsets = margin_subsets(self.query)
        n_models = len(self.by[MODEL]) if self.query.several else 1
        key = self.margin_codes() * n_models + self.model_codes()
        distinct, group_of = np.unique(key[first], return_inverse=True)
        return [
            Group(
                np.flatnonzero(group_of == number),
                tuple(self.query.by[i] for i in subsets[one // n_models]),
            )
            for number, one in enumerate(distinct)
        ]

    def margin_codes(self) -> Int64Array:
        """Tell the margin of each cell, 0 the finest."""
        has_margins = self.query.margins is not False
        return self.cells.by[0] if has_margins else np.zeros_like(self.cells.actual)

    def margin_of_segments(self) -> Int64Array:
        """Tell the margin of each segment, 0 the finest."""
        return self.margin_codes()[self.cells.segments[1]]

    def model_codes(self) -> Int64Array:
        """Tell the model of each cell, by its position."""
        return self.cells.by[-1] if self.query.several else np.zeros_like(self.cells.actual)

    def cells_of(self, group: Group) -> Callable[[], Cells]:
        """Take the cells of a group's segments, once they are asked for."""
        return lambda: self.cells.at(group.segments)

    def by_value(self, name: Name, cell: int) -> object:
        """Look up the value of a by-column in the segment of a cell, None where it is null."""
        code = self.codes[name][cell]
        if code == len(self.by[name]):
            return None
        return self.library.values(
            self.library.take(self.by[name], np.array([code]), nullable=False)
        )[0]

    def code_of(self, name: Name, value: object) -> int:
        """Find the code of a value of a by-column, null included; -1 where it does not occur."""
        levels = self.library.values(self.by[name])
        if value is None or (not isinstance(value, str) and str(value) in ("nan", "NaT", "<NA>")):
            return len(levels)
        value = value.item() if isinstance(value, np.generic) else value
        if type(value) is date and levels and isinstance(levels[0], datetime):
            value = datetime(value.year, value.month, value.day)
        try:
            return levels.index(value) if value in levels else -1
        except (TypeError, ValueError):  # it does not compare with the values of the column
            return -1

    def pos_label(self) -> int | None:
        """Find the code of the positive label; one given that is not a label raises."""
        return self.labels.positive(self.query.pos_label) if len(self.labels) else None

    def label_column(self, codes: Int64Array) -> Series:
        """Look up labels, in the dtype that all columns of labels agree on."""
        levels = self.library.label_levels(self.labels.values, list(self.dtypes.values()))
        return self.library.take(levels, codes, nullable=False)

    def count_column(self, counts: Int64Array) -> Series:
        """Make a column of counts, null where they are below 0."""
        distinct, codes = np.unique(counts, return_inverse=True)
        known = distinct[distinct >= 0]
        n_below = len(distinct) - len(known)
        codes = np.where(codes < n_below, len(known), codes - n_below)
        return self.library.take(self.library.counts(known), codes, nullable=True)

    def text_column(self, texts: Sequence[str], codes: Int64Array) -> Series:
        """Look up texts by position."""
        return self.library.take(self.library.text(texts), codes, nullable=False)


@dataclass(frozen=True)
class _Part:
    """The rows of one model: which they are, what they carry, and its columns of predictions."""

    rows: RowIndex
    measures: Measures
    outcomes: Sequence[Name]


def read(frame: Frame, library: Library, query: Query) -> Reading:
    """Count the cells of an eager frame."""
    check_labels(frame, library, query)
    n = library.height(frame)
    if are_worth_a_guess(n) and _may_be_scores(frame, library, query):
        sample = replace(query, by=(), margins=False, missing="drop", sample_weight=None)
        rows = library.every(frame, n // SAMPLE + 1)
        _read(rows, library, sample, guess=False)  # whatever else is wrong with them
    try:
        return _read(frame, library, query, guess=True)
    except MisjudgedRangeError:
        return _read(frame, library, query, guess=False)


def _read(frame: Frame, library: Library, query: Query, *, guess: bool) -> Reading:
    dtypes = {name: library.dtype(frame, name) for name in query.label_columns}
    columns = encode_or_leave(frame, library, query, guess=guess)
    if columns is None:
        return _by_engine(cast(pl.DataFrame, frame), library, query)
    carried = measures(frame, library, query)
    parts = [_Part(slice(None), carried, names) for names in query.outcomes]
    return _assemble(columns, query.by, query.label_columns, parts, library, dtypes, query)


def _may_be_scores(frame: Frame, library: Library, query: Query) -> bool:
    """Tell whether a sample of rows could show that scores are given in the place of labels.

    Of rows with counts, those that stand for none would have to be left out first.
    """
    return query.counts is None and any(
        library.label_kind(frame, name) == "number" and not library.has_codes(frame, name)
        for name in query.label_columns
    )


def check_labels(frame: Frame, library: Library, query: Query) -> None:
    """Raise where the columns of labels cannot hold labels, or not of one kind."""
    kinds = {f"column {name!r}": library.label_kind(frame, name) for name in query.label_columns}
    check_kinds(kinds | ({"labels=": kind_of(query.labels[0])} if query.labels else {}))


def read_reduced(cells: Frame, library: Library, query: Query) -> Reading:
    """Count the cells that an engine has summed already."""
    carried = measures_of(cells, library, query)
    by = [reduce.by_key(i) for i in range(len(query.by))]
    outcomes = [reduce.outcome_key(model) for model in range(len(query.y_pred))]
    holders = (reduce.ACTUAL, *outcomes)
    columns = encode(cells, (*by, *holders), library)
    batch_of_row, _ = library.numbers(cells, reduce.BATCH)
    parts = []
    for number, batch in enumerate(reduce.batches(query)):
        rows = np.flatnonzero(batch_of_row == number)
        sums = carried.at(rows)
        for position in batch:
            keys = [reduce.outcome_key(query.y_pred.index(n)) for n in query.outcomes[position]]
            parts.append(_Part(rows, sums, keys))
    of_labels = zip(query.label_columns, holders, strict=True)
    dtypes = {name: library.dtype(cells, key) for name, key in of_labels}
    return _assemble(columns, by, holders, parts, library, dtypes, query)


def _by_engine(frame: pl.DataFrame, library: Library, query: Query) -> Reading:
    """Have polars group the rows by the values themselves."""
    read(frame.clear(), library, query)  # names the columns of a wrong type
    cells = reduce.reduce(nw.from_native(frame.lazy()), query).collect(engine="streaming")
    return read_reduced(cells.to_native(), library, query)


def _assemble(
    columns: Mapping[Name, Column],
    by: Sequence[Name],
    holders: Sequence[Name],
    parts: Sequence[_Part],
    library: Library,
    dtypes: Mapping[Name, DType],
    query: Query,
) -> Reading:
    """Count each model's rows, agree on the labels, and put the models together.

    The keys of `columns` are `by` and `holders`, the columns of labels; the query has their names.
    """
    of_labels = [
        LabelColumn(name, columns[key].levels, dtypes[name])
        for name, key in zip(query.label_columns, holders, strict=True)
    ]
    counted = [_count(columns, by, holders, part) for part in parts]
    agreed = agree(counted, of_labels, library, query)
    models = cells_of(counted, agreed)
    levels = {name: columns[key].levels for name, key in zip(query.by, by, strict=True)}
    if query.several:
        levels[MODEL] = library.text(query.models)
        models = [cells.labelled(model, first=False) for model, cells in enumerate(models)]
    cells, levels = with_margins(Cells.concat(models).regrouped(), levels, library, query)
    doubts = doubts_of(counted, of_labels, agreed) if query.labels is None else ()
    return Reading(cells, agreed.labels, levels, library, query, dtypes, doubts)


def _count(
    columns: Mapping[Name, Column], by: Sequence[Name], holders: Sequence[Name], part: _Part
) -> Counted:
    """Count rows by positions among the levels."""
    of_labels = (holders[0], *part.outcomes)
    encoded = [columns[key] for key in (*by, *of_labels)]
    codes = [replace(one.codes, values=one.codes.values[part.rows]) for one in encoded]
    counted, sums = count(codes, part.measures)
    positions = [one.ranked(code) for one, code in zip(encoded, counted, strict=True)]
    return Counted(
        tuple(positions[: len(by)]),
        tuple(positions[len(by) :]),
        (0, *(holders.index(key, 1) for key in part.outcomes)),
        sums,
    )
