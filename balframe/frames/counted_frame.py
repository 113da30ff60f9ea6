"""What was read of a frame: cells, what their codes stand for, and the groups of their segments."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

import numpy as np

from balframe.core.array_types import BoolArray, Int64Array, IntegerArray
from balframe.core.cells import Cells
from balframe.core.label_set import LabelSet
from balframe.frames.adapter import Adapter, DType, Name, Series
from balframe.frames.query import MARGIN, MODEL, Query
from balframe.frames.rollups import margin_subsets


@dataclass(frozen=True, slots=True)
class Group:
    """The positions of the segments of one margin and model; `by` are the columns it keeps."""

    segments: Int64Array
    by: tuple[Name, ...]


@dataclass(frozen=True)
class ClusterCells:
    """The cells of clusters, the last by-column, and the levels of that column."""

    cells: Cells
    levels: Series


@dataclass(frozen=True)
class CountedFrame:
    """The cells of a frame and what their codes stand for.

    `by` names the by-columns of the cells, with `margin` before and `model` behind those of the
    caller where there are such, and gives the levels of each. `label_warnings` say what is probably
    not meant. `clusters` are None where rows are independent.
    """

    cells: Cells
    labels: LabelSet
    by: Mapping[Name, Series]
    library: Adapter
    query: Query
    dtypes: Mapping[Name, DType]
    label_warnings: tuple[str, ...] = ()
    clusters: "ClusterCells | None" = None

    @property
    def reading(self) -> "CountedFrame":
        """Give itself, as what is read of scores gives the reading that it has."""
        return self

    def with_clusters(self) -> "CountedFrame":
        """Let the column of clusters, if there is one, be the last of the by-columns."""
        clusters, cluster = self.clusters, self.query.cluster
        if clusters is None or cluster is None:
            return self
        at = len(self.by) - (1 if self.query.several else 0)  # before the model
        names = list(self.by)
        levels = {**self.by, cluster: clusters.levels}
        order = [*range(at), len(names), *range(at, len(names))]
        return replace(
            self,
            cells=clusters.cells.sorted_by(order),
            by={name: levels[name] for name in (*names[:at], cluster, *names[at:])},
            query=self.query.with_clusters(),
            clusters=None,
        )

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
        key = self.margin_of_segments() * n_models + self.model_of_segments()
        distinct, group_of = np.unique(key, return_inverse=True)
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

    def model_of_segments(self) -> Int64Array:
        """Tell the model of each segment, by its position."""
        return self.model_codes()[self.cells.segments[1]]

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

    def flag_column(self, codes: Int64Array) -> Series:
        """Make a column of false, code 0, and true, code 1; null at code 2."""
        return self.library.take(self.library.labels_of([False, True]), codes, nullable=True)

    def text_column(self, texts: Sequence[str], codes: Int64Array) -> Series:
        """Look up texts by position."""
        return self.library.take(self.library.text(texts), codes, nullable=False)
