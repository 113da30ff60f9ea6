"""What is read of a frame whose slices are searched: the levels of each row in many columns."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

import narwhals as nw
import numpy as np

from balframe.core.array_types import Int64Array, IntegerArray
from balframe.core.binning import Values
from balframe.core.cells import LEFT_OUT
from balframe.core.integer_codes import Codes, shifted
from balframe.core.row_sums import Measures
from balframe.frames.adapter import Adapter, DType, EncodedColumn, Frame, Name
from balframe.frames.count_frame import check_labels, count, encode
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.engines import group_by
from balframe.frames.engines.collect import fetch
from balframe.frames.engines.column_names import Rows, with_plain_names
from balframe.frames.engines.registry import Engine
from balframe.frames.engines.weighted_sums import measures_of
from balframe.frames.label_agreement import Counted, LabelColumn, agree, cells_of
from balframe.frames.label_warnings import doubts_of
from balframe.frames.query import Query
from balframe.frames.row_weights import measures
from balframe.frames.slice_binning import Bins, Cut


@dataclass(frozen=True)
class Searched:
    """Rows, or groups of them, with a code for each column that is searched.

    `reading` has the cells of all rows together, and the levels of the columns. `cell` is the
    position of each row's cell there. The code after the last level is that of null. The levels of
    the columns `binned` are bins.
    """

    reading: CountedFrame
    columns: Sequence[Codes]
    cell: IntegerArray
    measures: Measures
    binned: Set[Name]


@dataclass(frozen=True)
class Searching:
    """Predicted labels, and columns to search; `cuts` are those of the numeric ones."""

    bins: Bins
    cuts: Mapping[Name, Cut] = field(default_factory=dict)

    reads_twice = True

    def prepared(self, rows: Rows, engine: Engine, query: Query) -> "Searching":
        """Find the edges of bins, for each numeric column in a query of its own."""
        rows, plain = with_plain_names(rows, query)
        schema, library = rows.collect_schema(), engine.library
        names = dict(zip(query.by, plain.by, strict=True))
        numeric = {name for name in names if _is_numeric(schema[str(names[name])])}
        self.bins.check(query.by, numeric)

        def values_of(name: Name) -> tuple[Values, Int64Array | None]:
            cells = fetch(group_by.reduce_values(rows, plain, names[name]), engine, query)
            values, is_null = library.numbers(cells, group_by.by_key(0))
            kept = slice(None) if is_null is None else ~is_null
            return values[kept], measures_of(cells, library, query).counted[kept]

        return replace(self, cuts=self._cuts([n for n in query.by if n in numeric], values_of))

    def _cuts(
        self, names: Sequence[Name], values_of: Callable[[Name], tuple[Values, Int64Array | None]]
    ) -> Mapping[Name, Cut]:
        """Cut columns at edges given, or at quantiles of their values."""
        return {
            name: self.bins.cut(name, *values_of(name))
            if self.bins.asks_for_quantiles(name)
            else Cut(self.bins.edges(name))
            for name in names
        }

    def read(self, frame: Frame, library: Adapter, query: Query) -> Searched:
        """Encode the columns of an eager frame."""
        check_labels(frame, library, query)
        carried = measures(frame, library, query)
        numeric = {n: library.numbers(frame, n) for n in query.by if library.is_numeric(frame, n)}
        self.bins.check(query.by, numeric.keys())

        def values_of(name: Name) -> tuple[Values, Int64Array | None]:
            values, is_null = numeric[name]
            kept = slice(None) if is_null is None else ~is_null
            return values[kept], None if carried.n is None else carried.n[kept]

        cuts = self._cuts(list(numeric), values_of)
        columns = {n: cuts[n].column(*numeric[n], library) for n in numeric}
        columns |= encode(frame, [n for n in query.by if n not in numeric], library)
        of_labels = encode(frame, query.label_columns, library)
        dtypes = {name: library.dtype(frame, name) for name in query.label_columns}
        labels = list(of_labels.values())
        return _assemble(columns, cuts, labels, carried, library, dtypes, query)

    def reduce(self, rows: Rows, query: Query) -> Rows:
        """Group by all columns, numeric ones by the number of their bin, and by both labels."""
        rows, plain = with_plain_names(rows, query)
        bins = {
            str(key): self.cuts[name].bin_of(key, rows)
            for name, key in zip(query.by, plain.by, strict=True)
            if name in self.cuts and self.cuts[name].edges is not None
        }
        return group_by.reduce(rows.with_columns(**bins) if bins else rows, plain)

    def read_reduced(self, cells: Frame, library: Adapter, query: Query) -> Searched:
        """Take the cells that an engine has summed for rows."""
        columns: dict[Name, EncodedColumn] = {}
        for i, name in enumerate(query.by):
            key = group_by.by_key(i)
            cut = self.cuts.get(name)
            if cut is None:
                columns[name] = encode(cells, [key], library)[key]
            else:
                columns[name] = cut.of_cells(*library.numbers(cells, key), library)
        keys = (group_by.ACTUAL, group_by.outcome_key(0))
        of_labels = encode(cells, keys, library)
        names = zip(query.label_columns, keys, strict=True)
        dtypes = {name: library.dtype(cells, key) for name, key in names}
        carried = measures_of(cells, library, query)
        labels = list(of_labels.values())
        return _assemble(columns, self.cuts, labels, carried, library, dtypes, query)


def _is_numeric(dtype: nw.dtypes.DType) -> bool:
    return dtype.is_integer() or dtype.is_float()


def _assemble(
    columns: Mapping[Name, EncodedColumn],
    cuts: Mapping[Name, Cut],
    of_labels: Sequence[EncodedColumn],
    carried: Measures,
    library: Adapter,
    dtypes: Mapping[Name, DType],
    query: Query,
) -> Searched:
    """Agree on the labels, and find the cell of each row; rows without one are left out."""
    holders = [
        LabelColumn(name, one.levels, dtypes[name])
        for name, one in zip(query.label_columns, of_labels, strict=True)
    ]
    found, sums = count([one.codes for one in of_labels], carried)
    positions = tuple(one.ranked(code) for one, code in zip(of_labels, found, strict=True))
    parts = [Counted((), positions, (0, 1), sums)]
    agreed = agree(parts, holders, library, query)
    cells = cells_of(parts, agreed)[0].regrouped()
    doubts = doubts_of(parts, holders, agreed) if query.labels is None else ()
    levels = {name: columns[name].levels for name in query.by}
    reading = CountedFrame(cells, agreed.labels, levels, library, query, dtypes, doubts)
    actual, outcome = (
        table[one.ranked(np.arange(one.codes.size))][shifted(one.codes, slice(None))]
        for table, one in zip(agreed.tables, of_labels, strict=True)
    )
    n_labels = len(agreed.labels)
    is_whole = (actual != LEFT_OUT) & (outcome != LEFT_OUT)
    if carried.n is not None:
        is_whole &= carried.n > 0
    rows: slice | Int64Array = slice(None) if is_whole.all() else np.flatnonzero(is_whole)
    cell = np.searchsorted(
        cells.actual * n_labels + cells.outcome, actual[rows] * n_labels + outcome[rows]
    )
    return Searched(
        reading,
        [_positions(columns[name], rows) for name in query.by],
        cell.astype(np.min_scalar_type(max(len(cells.n), 1))),
        carried.at(rows),
        {name for name, cut in cuts.items() if cut.edges is not None},
    )


def _positions(column: EncodedColumn, rows: slice | Int64Array) -> Codes:
    """Take the positions of rows among the levels, the last of which is null."""
    size = len(column.levels) + 1
    table = column.ranked(np.arange(column.codes.size)).astype(np.min_scalar_type(size))
    return Codes(table[shifted(column.codes, rows)], 0, size)
