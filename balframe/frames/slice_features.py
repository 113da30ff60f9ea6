"""The features of a frame whose slices are searched: each row's level in many columns."""

from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from balframe.core.array_types import BoolArray, Int64Array, IntegerArray
from balframe.core.binning import Values
from balframe.core.cells import LEFT_OUT
from balframe.core.integer_codes import Codes, codes_from_zero
from balframe.core.row_sums import RowSums
from balframe.errors import Message
from balframe.frames.adapter import Adapter, DType, EncodedColumn, Frame, Name
from balframe.frames.count_frame import check_label_columns, count_rows, encode_columns
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.engines import group_by
from balframe.frames.engines.collect import fetch_cells
from balframe.frames.engines.column_names import Rows, with_plain_names
from balframe.frames.engines.registry import Engine
from balframe.frames.engines.weighted_sums import read_sums
from balframe.frames.label_agreement import LabelColumn, LevelCounts, agree_on_labels, to_cells
from balframe.frames.label_warnings import label_mismatch_warnings
from balframe.frames.query import Query
from balframe.frames.row_weights import read_row_sums
from balframe.frames.slice_binning import Bins, Cut, merge_levels

_FEW_ROWS = 1000  # from the first, in which overlapping ranges are looked for


@dataclass(frozen=True)
class SliceFeatures:
    """Rows, or groups of them, with a code for each column that is searched.

    `counted_frame` has the cells of all rows together, and the levels of the columns. `cell` is the
    position of each row's cell there. The code after the last level is for null. The levels of
    `binned_columns` are bins. `edges_if_rare` are edges of columns whose levels are few numbers.
    `score_columns` look like scores of the model, and are not searched.
    """

    counted_frame: CountedFrame
    columns: Sequence[Codes]
    cell: IntegerArray
    row_sums: RowSums
    binned_columns: Set[Name]
    edges_if_rare: Mapping[Name, Values]
    score_columns: Set[Name] = frozenset()

    def with_bins(self, names: Collection[Name]) -> "SliceFeatures":
        """Cut those of these columns into bins whose levels are few numbers."""
        counted_frame = self.counted_frame
        edges = {name: self.edges_if_rare[name] for name in names if name in self.edges_if_rare}
        if not edges:
            return self
        columns, levels = list(self.columns), dict(counted_frame.by)
        for i, name in enumerate(counted_frame.query.by):
            if name in edges:
                values = counted_frame.adapter.python_values(levels[name])
                columns[i], texts = merge_levels(columns[i], values, edges[name])
                levels[name] = counted_frame.adapter.text_series(texts)
        return replace(
            self,
            counted_frame=replace(counted_frame, by=levels),
            columns=columns,
            binned_columns={*self.binned_columns, *edges},
            edges_if_rare={},
        )


@dataclass(frozen=True)
class SliceFeatureSource:
    """Predicted labels, and columns to search; `cuts` has the cut of each numeric column.

    If it `finds_scores`, columns that look like scores of the model are `score_columns`.
    """

    bins: Bins
    finds_scores: bool = False
    cuts: Mapping[Name, Cut] = field(default_factory=dict)
    score_columns: Set[Name] = frozenset()

    def prepare(self, rows: Rows, engine: Engine, query: Query) -> "SliceFeatureSource":
        """Compute the edges of the bins of each numeric column, each in its own query."""
        rows, plain = with_plain_names(rows, query)
        schema, adapter = rows.collect_schema(), engine.adapter
        names = dict(zip(query.by, plain.by, strict=True))
        numeric = {name for name in names if schema[str(names[name])].is_numeric()}
        self.bins.check(query.by, numeric)

        def values_of(name: Name) -> tuple[Values, Int64Array | None]:
            reduced = group_by.reduce_values(rows, plain, names[name])
            cells = fetch_cells(reduced, engine, replace(query, by=(name,)))
            values, is_null = adapter.numbers(cells, group_by.by_key(0))
            has_value = slice(None) if is_null is None else ~is_null
            return values[has_value], read_sums(cells, adapter, query).row_counts[has_value]

        names_to_cut = [name for name in query.by if name in numeric]
        dtypes = {name: schema[str(names[name])] for name in names_to_cut}
        scores: Set[Name] = frozenset()
        if self.finds_scores and names_to_cut:
            plain_names = [names[name] for name in names_to_cut]
            ranges = fetch_cells(group_by.reduce_ranges(rows, plain, plain_names), engine, query)
            scores = _read_score_columns(ranges, names_to_cut, adapter)
        return replace(
            self, cuts=self._cut_columns(names_to_cut, values_of, dtypes), score_columns=scores
        )

    def _cut_columns(
        self,
        names: Sequence[Name],
        values_of: Callable[[Name], tuple[Values, Int64Array | None]],
        dtypes: Mapping[Name, object],
    ) -> Mapping[Name, Cut]:
        """Cut columns at given edges, or at quantiles of their values."""
        return {
            name: self.bins.cut(name, *values_of(name), dtypes[name])
            if self.bins.needs_quantiles(name)
            else Cut(self.bins.fixed_edges(name), dtype=dtypes[name])
            for name in names
        }

    def count(self, frame: Frame, adapter: Adapter, query: Query) -> SliceFeatures:
        """Encode the columns of an eager frame."""
        check_label_columns(frame, adapter, query)
        row_sums = read_row_sums(frame, adapter, query)
        numeric = {n: adapter.numbers(frame, n) for n in query.by if adapter.is_numeric(frame, n)}
        self.bins.check(query.by, numeric.keys())

        def values_of(name: Name) -> tuple[Values, Int64Array | None]:
            values, is_null = numeric[name]
            has_value = slice(None) if is_null is None else ~is_null
            return values[has_value], None if row_sums.n is None else row_sums.n[has_value]

        dtypes = {name: adapter.dtype(frame, name) for name in (*numeric, *query.label_columns)}
        cuts = self._cut_columns(list(numeric), values_of, dtypes)
        columns = {n: cuts[n].encode(*numeric[n], adapter) for n in numeric}
        columns |= encode_columns(frame, [n for n in query.by if n not in numeric], adapter)
        label_columns = encode_columns(frame, query.label_columns, adapter)
        dtypes = {name: dtypes[name] for name in query.label_columns}
        labels = list(label_columns.values())
        features = _assemble(columns, cuts, labels, row_sums, adapter, dtypes, query)
        if not self.finds_scores:
            return features
        groups = _predicted_groups(labels[-1], row_sums)
        scores = {name for name, masked in numeric.items() if _separates(*masked, groups)}
        return replace(features, score_columns=scores)

    def reduce(self, rows: Rows, query: Query) -> Rows:
        """Group by all columns, numeric ones by the number of their bin, and by both labels."""
        rows, plain = with_plain_names(rows, query)
        bins = {
            str(key): self.cuts[name].bin_expr(key, rows)
            for name, key in zip(query.by, plain.by, strict=True)
            if name in self.cuts and self.cuts[name].edges is not None
        }
        return group_by.reduce(rows.with_columns(**bins) if bins else rows, plain)

    def count_reduced(self, cells: Frame, adapter: Adapter, query: Query) -> SliceFeatures:
        """Encode the cells that an engine has summed, in place of rows."""
        columns: dict[Name, EncodedColumn] = {}
        for i, name in enumerate(query.by):
            key = group_by.by_key(i)
            cut = self.cuts.get(name)
            if cut is None:
                columns[name] = encode_columns(cells, [key], adapter)[key]
            else:
                columns[name] = cut.encode_reduced(*adapter.numbers(cells, key), adapter)
        keys = (group_by.ACTUAL, group_by.outcome_key(0))
        label_columns = encode_columns(cells, keys, adapter)
        names = zip(query.label_columns, keys, strict=True)
        dtypes = {name: adapter.dtype(cells, key) for name, key in names}
        row_sums = read_sums(cells, adapter, query)
        labels = list(label_columns.values())
        features = _assemble(columns, self.cuts, labels, row_sums, adapter, dtypes, query)
        return replace(features, score_columns=self.score_columns)


def _predicted_groups(predicted: EncodedColumn, row_sums: RowSums) -> Sequence[BoolArray]:
    """Return the rows of each predicted label; rows that stand for none have none."""
    codes = codes_from_zero(predicted.codes, slice(None))
    positions = predicted.level_positions(np.arange(predicted.codes.size))[codes]
    has_rows = True if row_sums.n is None else row_sums.n > 0
    return [(positions == level) & has_rows for level in range(len(predicted.levels))]


def _separates(values: Values, is_null: BoolArray | None, groups: Sequence[BoolArray]) -> bool:
    """Return whether the values look like scores, in groups of rows by predicted label."""
    if len(groups) != 2:
        return False
    if len(values) > _FEW_ROWS:  # most columns show in few rows that they are not scores
        few = slice(_FEW_ROWS)
        few_groups = [
            group[few] if is_null is None else group[few] & ~is_null[few] for group in groups
        ]
        first, second = (values[few][group] for group in few_groups)
        is_mixed = len(first) > 0 and len(second) > 0
        if is_mixed and first.min() <= second.max() and second.min() <= first.max():
            return False
    ranges: list[tuple[Any, Any] | None] = []
    for group in groups:
        inside = values[group if is_null is None else group & ~is_null]
        ranges.append((inside.min(), inside.max()) if len(inside) else None)
    return _are_scores(ranges)


def _read_score_columns(ranges: Frame, names: Sequence[Name], adapter: Adapter) -> Set[Name]:
    """Return the columns that look like scores, from their ranges by predicted label."""
    label = encode_columns(ranges, [group_by.outcome_key(0)], adapter)[group_by.outcome_key(0)]
    is_label = label.level_positions(codes_from_zero(label.codes, slice(None))) < len(label.levels)
    scores = set()
    for i, name in enumerate(names):
        low, no_low = adapter.numbers(ranges, group_by.lowest_key(i))
        high, _ = adapter.numbers(ranges, group_by.highest_key(i))
        has_range = is_label if no_low is None else is_label & ~no_low
        pairs = [*zip(low[has_range], high[has_range], strict=True)]
        if int(is_label.sum()) == len(pairs) and _are_scores(pairs):
            scores.add(name)
    return scores


def _are_scores(ranges: Sequence[tuple[Any, Any] | None]) -> bool:
    """Return whether the values of two predicted labels are on two sides of a threshold.

    On each side are several values: with one, they would be labels.
    """
    defined = [ends for ends in ranges if ends is not None]
    if len(ranges) != 2 or len(defined) != 2:
        return False
    (low, high), (other_low, other_high) = defined
    is_varied = low < high and other_low < other_high
    return bool(is_varied and (high < other_low or other_high < low))


def _assemble(
    columns: Mapping[Name, EncodedColumn],
    cuts: Mapping[Name, Cut],
    label_columns: Sequence[EncodedColumn],
    row_sums: RowSums,
    adapter: Adapter,
    dtypes: Mapping[Name, DType],
    query: Query,
) -> SliceFeatures:
    """Agree on the labels, and find the cell of each row; rows without a cell are left out."""
    columns_to_agree = [
        LabelColumn(name, column.levels, dtypes[name])
        for name, column in zip(query.label_columns, label_columns, strict=True)
    ]
    codes, sums = count_rows([column.codes for column in label_columns], row_sums)
    positions = tuple(
        column.level_positions(column_codes)
        for column, column_codes in zip(label_columns, codes, strict=True)
    )
    parts = [LevelCounts((), positions, (0, 1), sums)]
    agreement = agree_on_labels(parts, columns_to_agree, adapter, query)
    models = to_cells(parts, agreement)
    cells, labels = models[0].regrouped(), agreement.labels
    warnings: tuple[Message, ...] = ()
    levels = {name: columns[name].levels for name in query.by}
    if query.labels is None:
        warnings = label_mismatch_warnings(models, query, labels, {}, adapter)
        (_, true), (_, predicted) = agreement.column_labels
        for name in () if warnings or {*true} == {*predicted} else query.by:
            keys = [columns[name], *label_columns]
            codes, sums = count_rows([key.codes for key in keys], row_sums)
            by, *own = (key.level_positions(c) for key, c in zip(keys, codes, strict=True))
            parts = [LevelCounts((by,), tuple(own), (0, 1), sums)]
            models = to_cells(parts, agree_on_labels(parts, columns_to_agree, adapter, query))
            own_level = {name: levels[name]}
            warnings = label_mismatch_warnings(models, query, labels, own_level, adapter)
            if warnings:
                break
    counted_frame = CountedFrame(cells, labels, levels, adapter, query, dtypes, warnings)
    actual, outcome = (
        table[column.level_positions(np.arange(column.codes.size))][
            codes_from_zero(column.codes, slice(None))
        ]
        for table, column in zip(agreement.code_tables, label_columns, strict=True)
    )
    n_labels = len(labels)
    is_complete = (actual != LEFT_OUT) & (outcome != LEFT_OUT)
    if row_sums.n is not None:
        is_complete &= row_sums.n > 0
    rows: slice | Int64Array = slice(None) if is_complete.all() else np.flatnonzero(is_complete)
    cell = np.searchsorted(
        cells.actual * n_labels + cells.outcome, actual[rows] * n_labels + outcome[rows]
    )
    return SliceFeatures(
        counted_frame,
        [_positions(columns[name], rows) for name in query.by],
        cell.astype(np.min_scalar_type(max(len(cells.n), 1))),
        row_sums.at(rows),
        {name for name, cut in cuts.items() if cut.edges is not None},
        {n: cut.edges_if_rare for n, cut in cuts.items() if cut.edges_if_rare is not None},
    )


def _positions(column: EncodedColumn, rows: slice | Int64Array) -> Codes:
    """Return the positions of rows among the levels; after the last comes null."""
    size = len(column.levels) + 1
    table = column.level_positions(np.arange(column.codes.size)).astype(np.min_scalar_type(size))
    return Codes(table[codes_from_zero(column.codes, rows)], 0, size)
