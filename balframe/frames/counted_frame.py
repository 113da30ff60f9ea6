"""The cells of a frame, what their codes stand for, and the groups of their segments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np

from balframe._text import escape_controls
from balframe.core.array_types import BoolArray, Int64Array, IntegerArray
from balframe.core.cells import Cells
from balframe.core.label_set import LabelSet, category_order
from balframe.core.strata import Strata
from balframe.errors import Message
from balframe.frames.adapter import Adapter, DType, Name, Series
from balframe.frames.query import GROUPED_BY, MODEL, Query
from balframe.frames.rollups import margin_subsets
from balframe.frames.thresholds import as_stored

_NAMED_BY_VALUE = (str, bool, int, float, date)  # others have a text of their own


def is_null(value: object) -> bool:
    """Return whether this is the null of any library."""
    return value is None or (not isinstance(value, str) and str(value) in ("nan", "NaT", "<NA>"))


@dataclass(frozen=True, slots=True)
class SegmentGroup:
    """The positions of the segments of one margin and model; the margin keeps the columns `by`."""

    segments: Int64Array
    by: tuple[Name, ...]


@dataclass(frozen=True)
class ClusterCells:
    """The cells of each cluster; clusters are the last by-column, with these levels."""

    cells: Cells
    levels: Series


@dataclass(frozen=True)
class CountedFrame:
    """The cells of a frame and what their codes stand for.

    `by` names the by-columns of the cells, with `grouped_by` before and `model` behind those of the
    caller if there are any, and maps each to its levels. `label_warnings` describe labels that are
    probably a mistake. `clusters` is None if rows are independent.
    `strata` are those of all rows, if only some have a true label.
    """

    cells: Cells
    labels: LabelSet
    by: Mapping[Name, Series]
    adapter: Adapter
    query: Query
    dtypes: Mapping[Name, DType]
    label_warnings: tuple[Message, ...] = ()
    clusters: "ClusterCells | None" = None
    strata: Strata | None = None

    @property
    def counted_frame(self) -> "CountedFrame":
        """Return itself, so that the counts of every source have this property."""
        return self

    def with_clusters(self) -> "CountedFrame":
        """Return cells with the column of clusters, if any, as the last by-column."""
        clusters, cluster = self.clusters, self.query.cluster
        if clusters is None or cluster is None:
            return self
        position = len(self.by) - (1 if self.query.has_several_models else 0)  # before the model
        names = list(self.by)
        levels = {**self.by, cluster: clusters.levels}
        order = [*range(position), len(names), *range(position, len(names))]
        return replace(
            self,
            cells=clusters.cells.sorted_by(order),
            by={name: levels[name] for name in (*names[:position], cluster, *names[position:])},
            query=self.query.with_clusters(),
            clusters=None,
        )

    @property
    def codes(self) -> dict[Name, Int64Array]:
        """The codes of the cells, by the name of the by-column."""
        return dict(zip(self.by, self.cells.by, strict=True))

    def by_columns(self, cells: IntegerArray, blank: BoolArray | None = None) -> dict[Name, Any]:
        """Return the by-columns of the cells at these positions.

        Where `blank`, the columns that the caller named are null: the row is about many segments.
        """
        nullable = self.query.margins is not False or blank is not None
        columns: dict[Name, Any] = {}
        for name, levels in self.by.items():
            codes = self.codes[name][cells]
            if blank is not None and name in self.query.by:
                codes = np.where(blank, len(levels), codes)
            columns[name] = self.adapter.take(levels, codes, nullable=nullable)
        order = (*self.query.by, GROUPED_BY, MODEL)
        return {name: columns[name] for name in order if name in columns}

    def groups(self) -> list[SegmentGroup]:
        """Return the comparable segments, of each margin and model; one empty group if none."""
        _, first_cells = self.cells.segments
        if not len(first_cells):
            return [SegmentGroup(first_cells, self.query.by)]
        subsets = margin_subsets(self.query)
        n_models = len(self.by[MODEL]) if self.query.has_several_models else 1
        key = self.segment_margins() * n_models + self.segment_models()
        distinct, group_of = np.unique(key, return_inverse=True)
        return [
            SegmentGroup(
                np.flatnonzero(group_of == number),
                tuple(self.query.by[i] for i in subsets[margin_and_model // n_models]),
            )
            for number, margin_and_model in enumerate(distinct)
        ]

    def cell_margins(self) -> Int64Array:
        """Return the margin of each cell, 0 for the finest."""
        has_margins = self.query.margins is not False
        return self.cells.by[0] if has_margins else np.zeros_like(self.cells.actual)

    def segment_margins(self) -> Int64Array:
        """Return the margin of each segment, 0 for the finest."""
        return self.cell_margins()[self.cells.segments[1]]

    def cell_models(self) -> Int64Array:
        """Return the position of each cell's model."""
        return (
            self.cells.by[-1] if self.query.has_several_models else np.zeros_like(self.cells.actual)
        )

    def segment_models(self) -> Int64Array:
        """Return the position of each segment's model."""
        return self.cell_models()[self.cells.segments[1]]

    def by_value(self, name: Name, cell: int) -> object:
        """Return the value of a by-column in the segment of a cell, None where it is null."""
        return _value(self.by[name], int(self.codes[name][cell]), self.adapter)

    def describe_segment(self, cell: int) -> str:
        """Return the values of the by-columns in the segment of a cell, for a message."""
        codes = {name: (self.by[name], int(self.codes[name][cell])) for name in self.query.by}
        return describe_values(codes, self.adapter)

    def describe_position(self, segment: int) -> str:
        """Return the values of the by-columns in the segment at this position."""
        return self.describe_segment(int(self.cells.segments[1][segment]))

    def level_code(self, name: Name, value: object) -> int:
        """Return the code of a value of a by-column, null included; -1 if it does not occur."""
        levels = self.adapter.python_values(self.by[name])
        value = as_level(value, levels, self.by[name].dtype)
        if value is None:
            return len(levels)
        if isinstance(value, str) and levels and not isinstance(levels[0], _NAMED_BY_VALUE):
            levels = [*map(str, levels)]  # bands and months of pandas, which rules name by text
        try:
            return levels.index(value) if value in levels else -1
        except (TypeError, ValueError):  # it does not compare with the values of the column
            return -1

    def pos_label_code(self) -> int | None:
        """Return the code of the positive label; raise if the `pos_label` given is not a label."""
        return self.labels.positive(self.query.pos_label) if len(self.labels) else None

    def label_column(self, codes: Int64Array, *, nullable: bool = False) -> Series:
        """Make a column of labels, in the dtype that all columns of labels agree on.

        If it is `nullable`, the code past that of the last label is null.
        """
        categories = {dtype: self.adapter.categories(dtype) for dtype in self.dtypes.values()}
        order, _ = category_order([*categories.values()])
        agreed = [dtype for dtype, each in categories.items() if each and each.labels == order]
        dtypes = agreed[:1] or [*self.dtypes.values()]
        levels = self.adapter.label_levels(self.labels.values, dtypes)
        return self.adapter.take(levels, codes, nullable=nullable)

    def count_column(self, counts: Int64Array) -> Series:
        """Make a column of counts, null where they are below 0."""
        distinct, codes = np.unique(counts, return_inverse=True)
        levels = distinct[distinct >= 0]
        n_below = len(distinct) - len(levels)
        codes = np.where(codes < n_below, len(levels), codes - n_below)
        return self.adapter.take(self.adapter.count_series(levels), codes, nullable=True)

    def flag_column(self, codes: Int64Array) -> Series:
        """Make a column of false, code 0, and true, code 1; null at code 2."""
        return self.adapter.take(self.adapter.label_series([False, True]), codes, nullable=True)

    def text_column(self, texts: Sequence[str], codes: Int64Array) -> Series:
        """Make a column of texts by position."""
        return self.adapter.take(self.adapter.text_series(texts), codes, nullable=False)


def as_level(value: Any, levels: Sequence[Any], dtype: object) -> Any:  # noqa: ANN401
    """Return a caller's value as a column has it, in its levels or its dtype; None if null."""
    if is_null(value):
        return None
    value = value.item() if isinstance(value, np.generic) else value
    first = levels[0] if levels else None
    if type(value) is date and isinstance(first, datetime):
        return datetime(value.year, value.month, value.day)
    if isinstance(value, float) and isinstance(first, Decimal):
        return Decimal(str(value))
    return float(as_stored(np.array(value), dtype)) if isinstance(value, float) else value


def describe_values(by: Mapping[Name, tuple[Series, int]], adapter: Adapter) -> str:
    """Return values of by-columns, each given by its levels and its code, for a message."""
    values = {name: _value(levels, code, adapter) for name, (levels, code) in by.items()}
    return ", ".join(
        f"{name!r} is {'null' if value is None else escape_controls(repr(value))}"
        for name, value in values.items()
    )


def _value(levels: Series, code: int, adapter: Adapter) -> object:
    """Return the value of a code; None where it is past the levels, which is null."""
    if code == len(levels):
        return None
    return adapter.python_values(adapter.take(levels, np.array([code]), nullable=False))[0]
