"""Rows and the cells of an earlier run, aligned to the same segments and labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from balframe.core.array_types import Int64Array
from balframe.core.cells import LEFT_OUT, Cells
from balframe.core.integer_codes import codes_from_zero
from balframe.core.label_set import LabelSet, check_kinds, label_kind
from balframe.errors import InvalidInputError, Message, listed, warn
from balframe.frames.adapter import Adapter, Frame, Name, Series
from balframe.frames.by_entries import Bins, Computed
from balframe.frames.concat import RUNS, concat
from balframe.frames.convert_result import convert_result
from balframe.frames.count_frame import (
    count_frame,
    count_reduced,
    encode_columns,
    with_computed,
)
from balframe.frames.counted_frame import ClusterCells, CountedFrame
from balframe.frames.engines import group_by
from balframe.frames.engines.column_names import Rows
from balframe.frames.engines.registry import PANDAS_ADAPTER
from balframe.frames.query import MODEL, PERIOD, WEIGHT, WEIGHT_MAX, N, Query
from balframe.frames.rollups import add_margins_by_cluster


@dataclass(frozen=True, slots=True)
class CountedPair:
    """The counts of a frame, and of the cells of an earlier run.

    `aligned_current` and `aligned_earlier` have the same labels and the same segments, those of
    either frame; a segment that a frame lacks has no rows there. `current` has only the segments of
    the caller's frame, and `segment_positions` are their positions among all.
    """

    current: CountedFrame
    aligned_current: CountedFrame
    aligned_earlier: CountedFrame
    segment_positions: Int64Array

    @property
    def counted_frame(self) -> CountedFrame:
        """Return the counts of the caller's frame with all segments, as results have them."""
        return self.aligned_current


@dataclass(frozen=True, slots=True)
class EarlierCellSource:
    """Predicted labels, and the cells of an earlier run, a frame of pandas or polars.

    `y_true` and `y_pred` name the columns of labels of these cells.
    """

    cells: Frame
    y_true: Name
    y_pred: Name

    def count(self, frame: Frame, adapter: Adapter, query: Query) -> CountedPair:
        """Count the cells of an eager frame."""
        return self._pair(count_frame(frame, adapter, _without_margins(query)), query)

    def reduce(self, rows: Rows, query: Query) -> Rows:
        """Group by segment, true label and prediction."""
        return group_by.reduce(rows, query)

    def count_reduced(self, cells: Frame, adapter: Adapter, query: Query) -> CountedPair:
        """Count the cells that an engine has summed."""
        return self._pair(count_reduced(cells, adapter, _without_margins(query)), query)

    def _pair(self, current: CountedFrame, query: Query) -> CountedPair:
        earlier = self._count_earlier(current)
        sources = (f"column {current.query.y_true!r}", f"column {self.y_true!r} of the baseline")
        check_kinds(
            (source, label_kind(side.labels.values[0]))
            for source, side in zip(sources, (current, earlier), strict=True)
            if len(side.labels)
        )
        _warn_of_other_labels(current, earlier)
        labels, adapter = _label_union(current, earlier), current.adapter
        sides = current.with_clusters(), earlier.with_clusters()
        levels, *recoded = _in_common_codes(*sides, labels)
        own = add_margins_by_cluster(sides[0].cells, dict(sides[0].by), adapter, query)
        (current_cells, by, now), (earlier_cells, _, before) = (
            add_margins_by_cluster(cells, levels, adapter, query) for cells in recoded
        )

        def clusters(cells: Cells | None, others: Cells | None) -> ClusterCells | None:
            if cells is None or others is None:
                return None
            return ClusterCells(_add_segments(cells, others), levels[query.cluster])

        unaligned = replace(
            current,
            cells=own[0],
            by=own[1],
            query=query,
            clusters=None if own[2] is None else ClusterCells(own[2], levels[query.cluster]),
            labels=current.labels.declaring(labels.values),
            label_warnings=(
                *current.label_warnings,
                *(Message("in the baseline, {}", warning) for warning in earlier.label_warnings),
            ),
        )
        aligned = replace(unaligned, labels=labels, by=by)
        return CountedPair(
            unaligned,
            replace(
                aligned,
                cells=_add_segments(current_cells, earlier_cells),
                clusters=clusters(now, before),
            ),
            replace(
                aligned,
                cells=_add_segments(earlier_cells, current_cells),
                clusters=clusters(before, now),
            ),
            segment_positions(current_cells, earlier_cells),
        )

    def _count_earlier(self, current: CountedFrame) -> CountedFrame:
        """Count the cells of the earlier run; if it had one model, repeat them for each model."""
        adapter, query = current.adapter, current.query
        backend = "pandas" if adapter is PANDAS_ADAPTER else "polars"
        frame: Any = convert_result(self.cells, backend)
        names = adapter.column_names(frame)
        has_models = MODEL in names
        cell_query = replace(
            query,
            y_true=self.y_true,
            y_pred=(self.y_pred,),
            has_several_models=False,
            by=(*query.by, MODEL) if has_models else query.by,
            sample_weight=WEIGHT if WEIGHT in names else None,
            largest_weight=WEIGHT_MAX if WEIGHT_MAX in names else None,
            counts=N,
            cells=True,
            missing="raise",
        )
        frame, computed = _read_computed(cast(Frame, frame), adapter, query)
        cell_query = replace(cell_query, computed=computed)
        if query.period is not None and PERIOD not in {*computed, *names}:
            others = tuple(name for name in cell_query.by if name != PERIOD)
            return _in_one_period(count_frame(frame, adapter, replace(cell_query, by=others)))
        counted_frame = count_frame(with_computed(frame, adapter, cell_query), adapter, cell_query)
        if not query.has_several_models or has_models:
            return counted_frame
        models = range(len(query.outcomes))
        cells = Cells.concat(
            [counted_frame.cells.with_constant_column(model, first=False) for model in models]
        )
        by = {**counted_frame.by, MODEL: current.by[MODEL]}
        return replace(counted_frame, cells=cells.regrouped(), by=by)


def _without_margins(query: Query) -> Query:
    """Leave out roll-ups until the frames are aligned, because each has segments of its own."""
    return replace(query, margins=False)


def _read_computed(
    cells: Frame, adapter: Adapter, query: Query
) -> tuple[Frame, Mapping[Name, Computed]]:
    """Return cells with ordered texts of bins, and the by-columns that are not computed yet."""
    names, computed = adapter.column_names(cells), dict(query.computed)
    for name, entry in query.computed.items():
        if entry.column not in names:
            del computed[name]
        elif isinstance(entry, Bins) and not adapter.is_numeric(cells, entry.column):
            del computed[name]
            column = encode_columns(cells, [name], adapter)[name]
            texts = list(entry.texts)
            unknown = [t for t in adapter.python_values(column.levels) if t not in texts]
            if unknown:
                raise InvalidInputError(
                    "the baseline has {!r} in the column {!r}, which is none of the bins of the "
                    "data: {}. Give the edges with which the baseline was counted, as in "
                    "bf.bins({!r}, [25, 45]).",
                    unknown[0],
                    name,
                    listed(map(repr, texts)),
                    name,
                )
            table = [*map(texts.index, adapter.python_values(column.levels)), len(texts)]
            positions = column.level_positions(codes_from_zero(column.codes, slice(None)))
            levels = adapter.ordered_texts(texts)
            values: Any = adapter.take(levels, np.array(table)[positions], nullable=True)
            cells = adapter.with_columns(cells, {str(name): values})
    return cells, computed


def _in_one_period(counted_frame: CountedFrame) -> CountedFrame:
    """Assign cells without times to one period, whose column comes before the models."""
    names = [name for name in counted_frame.by if name != MODEL]
    cells = counted_frame.cells.with_constant_column(0, first=False)
    last = len(counted_frame.by)
    order = [*range(len(names)), last, *range(len(names), last)]
    levels = {**counted_frame.by, PERIOD: counted_frame.adapter.date_series(np.zeros(1, np.int64))}
    by = {name: levels[name] for name in (*names, PERIOD, *list(counted_frame.by)[len(names) :])}
    return replace(counted_frame, cells=cells.sorted_by(order), by=by)


def _warn_of_other_labels(current: CountedFrame, earlier: CountedFrame) -> None:
    """Warn if both frames have labels, but none in common, as of two codes."""
    now, before = (
        [
            side.labels.values[code]
            for code in np.unique([side.cells.actual, side.cells.outcome])
            if code != LEFT_OUT
        ]
        for side in (current, earlier)
    )
    texts = ({str(label).strip().casefold() for label in side} for side in (now, before))
    look_alike = set.intersection(*texts)  # of which `label_warnings` warns
    if now and before and not {*now} & {*before} and not look_alike:
        warn(
            "no label of the baseline occurs in the data: the baseline has "
            f"{listed(map(repr, before))}, and the data have {listed(map(repr, now))}. Write the "
            "labels of both in one way."
        )


def _label_union(current: CountedFrame, earlier: CountedFrame) -> LabelSet:
    """Return the labels of both frames in order."""
    if current.query.labels is not None:
        return current.labels
    dtypes = [*current.dtypes.values(), *earlier.dtypes.values()]
    return LabelSet.union(
        [*current.labels.values, *earlier.labels.values], [*map(current.adapter.categories, dtypes)]
    )


def _in_common_codes(
    current: CountedFrame, earlier: CountedFrame, labels: LabelSet
) -> tuple[dict[Name, Series], Cells, Cells]:
    """Join the levels of both frames, and recode the cells of each."""
    levels: dict[Name, Series] = {}
    current_tables, earlier_tables = list[Int64Array](), list[Int64Array]()
    for name in current.by:
        levels[name], current_table, earlier_table = _merge_levels(current, earlier, name)
        current_tables.append(current_table)
        earlier_tables.append(earlier_table)
    return (
        levels,
        _recode(current, labels, current_tables),
        _recode(earlier, labels, earlier_tables),
    )


def _merge_levels(
    current: CountedFrame, earlier: CountedFrame, name: Name
) -> tuple[Series, Int64Array, Int64Array]:
    """Return the levels of both frames in order, and the new code of each level and null."""
    current_levels, earlier_levels = current.by[name], earlier.by[name]
    frames = [
        current.adapter.build_frame({name: levels}) for levels in (current_levels, earlier_levels)
    ]
    try:
        both = concat(frames, RUNS)
    except InvalidInputError:
        if len(current_levels):
            raise
        both = frames[1]  # the schema of a lazy frame, which is refused when its rows are read
    column = encode_columns(both, [name], current.adapter)[name]
    codes = column.level_positions(codes_from_zero(column.codes, slice(None)))
    levels = column.levels
    if name == MODEL and current.query.has_several_models:  # models stay in the order given
        distinct = list(dict.fromkeys(codes.tolist()))
        levels = current.adapter.take(levels, np.array(distinct, np.int64), nullable=False)
        codes = np.argsort(distinct)[codes]
    n_current, null = len(current_levels), [len(levels)]
    return levels, np.append(codes[:n_current], null), np.append(codes[n_current:], null)


def _recode(counted_frame: CountedFrame, labels: LabelSet, tables: Sequence[Int64Array]) -> Cells:
    """Return cells in the codes of the labels and levels of both frames."""
    label_table = np.append(labels.codes(counted_frame.labels.values), LEFT_OUT)  # for code -1
    cells = counted_frame.cells
    return replace(
        cells,
        by=tuple(table[codes] for table, codes in zip(tables, cells.by, strict=True)),
        actual=label_table[cells.actual],
        outcome=label_table[cells.outcome],
    ).regrouped()


def _add_segments(cells: Cells, others: Cells) -> Cells:
    """Add the segments of the other frame, each with only a row left out."""
    return Cells.concat([cells, others.segment_markers(is_counted=False)]).regrouped()


def segment_positions(cells: Cells, others: Cells) -> Int64Array:
    """Return the positions of the segments of one frame among those of both."""
    markers = Cells.concat(
        [cells.segment_markers(is_counted=True), others.segment_markers(is_counted=False)]
    )
    return np.flatnonzero(markers.regrouped().n)
