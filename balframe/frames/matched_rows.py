"""Rows of two runs, matched on a key that names each row, and counted together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import polars as pl

from balframe.core.array_types import BoolArray, Int64Array
from balframe.core.cells import Cells
from balframe.core.integer_codes import codes_from_zero
from balframe.errors import NAME, InvalidInputError, Message, UnknownNameError, warn
from balframe.frames.adapter import Adapter, Frame, Name
from balframe.frames.by_entries import entry_column
from balframe.frames.concat import RUNS, concat
from balframe.frames.convert_result import BACKENDS, convert_result
from balframe.frames.count_frame import check_days, count_frame, encode_columns
from balframe.frames.counted_frame import ClusterCells, CountedFrame
from balframe.frames.engines.arrow import ArrowStream
from balframe.frames.engines.collect import collect_values
from balframe.frames.engines.error_translation import translate_errors
from balframe.frames.engines.inputs import InputFrame, materialize
from balframe.frames.engines.locks import engine_lock
from balframe.frames.engines.registry import PANDAS_ADAPTER, POLARS_LAZY
from balframe.frames.engines.weighted_sums import column_expr
from balframe.frames.query import Query, check_are_columns, name_list
from balframe.frames.rollups import add_margins, add_margins_by_cluster

SIDE = "balframe_side"  # the column that shows which run has a row
_BOTH, _ONLY_NEW, _ONLY_EARLIER = 0, 1, 2


@dataclass(frozen=True, slots=True)
class MatchedRows:
    """The rows of a new run, each beside its earlier prediction, and those of one run only.

    `frame` has the earlier predictions in the column `prediction`. Where a run lacks a row, its
    labels are placeholders: `SIDE` marks such rows, and they are never compared.
    """

    frame: Any
    by: tuple[Name, ...]
    prediction: Name
    opened: InputFrame

    @property
    def in_both_runs(self) -> Any:  # noqa: ANN401 (a frame)
        """The rows that both runs have."""
        is_both = np.asarray(_column(self.frame, SIDE)) == _BOTH
        return _take(self.frame, np.flatnonzero(is_both))


@dataclass(frozen=True, slots=True)
class MatchedCounts:
    """The counts of rows that both runs have, and how many rows of each segment one run lacks."""

    counted_frame: CountedFrame
    n_only_new: Int64Array
    n_only_earlier: Int64Array


@dataclass(frozen=True, slots=True)
class MatchedRowSource:
    """Predicted labels of two runs on the same rows, and rows that only one of them has."""

    def count(self, frame: Frame, adapter: Adapter, query: Query) -> MatchedCounts:
        """Count the rows of both runs together, and those of one run apart."""
        with_side = replace(query, by=(*query.by, SIDE), margins=False)
        frame_of_cells = count_frame(frame, adapter, with_side)
        sides = np.array([*adapter.python_values(frame_of_cells.by[SIDE]), -1], np.int64)
        position = len(query.by)  # of the side, behind which are the clusters
        cells = (
            frame_of_cells.cells
            if frame_of_cells.clusters is None
            else frame_of_cells.clusters.cells
        )
        side = sides[cells.by[position]]
        kept = [column for column in range(len(cells.by)) if column != position]
        by_side = [
            _with_all_segments(cells, side == value, kept)
            for value in (_BOTH, _ONLY_NEW, _ONLY_EARLIER)
        ]
        levels = {name: series for name, series in frame_of_cells.by.items() if name != SIDE}
        matched, by, clusters = add_margins_by_cluster(by_side[0], levels, adapter, query)
        n_only_new, n_only_earlier = (
            _rows_of_segments(cells.sorted_by(range(position)), levels, adapter, query)
            for cells in by_side[1:]
        )
        return MatchedCounts(
            replace(
                frame_of_cells,
                cells=matched,
                by=by,
                query=query,
                clusters=None
                if clusters is None or frame_of_cells.clusters is None
                else ClusterCells(clusters, frame_of_cells.clusters.levels),
            ),
            n_only_new,
            n_only_earlier,
        )


def _with_all_segments(cells: Cells, selected: BoolArray, kept: Sequence[int]) -> Cells:
    """Return the selected cells without the column of sides; others only keep their segments."""

    def take(rows: BoolArray) -> Cells:
        by = tuple(cells.by[column][rows] for column in kept)
        return Cells(by, cells.actual[rows], cells.outcome[rows], cells.sums.at(rows.nonzero()[0]))

    others = take(~selected).regrouped().segment_markers(is_counted=False)
    return Cells.concat([take(selected), others]).regrouped()


def _rows_of_segments(
    cells: Cells, levels: dict[Name, Any], adapter: Adapter, query: Query
) -> Int64Array:
    """Count the rows of each segment, and of each roll-up."""
    by_levels = {name: levels[name] for name in query.by}
    with_margins, _ = add_margins(cells, by_levels, adapter, query)
    segment, first = with_margins.segments
    return np.bincount(segment, with_margins.n, minlength=len(first)).astype(np.int64)


@dataclass(frozen=True, slots=True)
class StackedRows:
    """The rows of a new run, and below them those of an earlier one on other rows."""

    frame: Any
    is_new: BoolArray
    opened: InputFrame


def stack_rows(frame: object, baseline: object, names: Sequence[Name]) -> StackedRows:
    """Return the rows of two runs one below the other, in these columns."""
    opened = InputFrame.open(materialize(frame))
    new, earlier = collect_rows(opened, names), _collect_like(opened, baseline, names)
    check_are_columns(names, opened.adapter.column_names(new))
    _check_baseline_columns(opened.adapter.column_names(earlier), names)
    n_rows = [opened.adapter.n_rows(rows) for rows in (new, earlier)]
    stacked = concat([_select(rows, list(dict.fromkeys(names))) for rows in (new, earlier)], RUNS)
    return StackedRows(stacked, np.repeat([True, False], n_rows), opened)


def result_backend(opened: InputFrame) -> str | None:
    """Return the library of a result, None for that of rows that were collected."""
    return opened.engine.result if opened.engine.result in BACKENDS else None


def wrap_result(opened: InputFrame, result: Any, *, is_eager: bool) -> Any:  # noqa: ANN401
    """Return a result lazily, or in the wrapper of narwhals, as the caller's frame is."""
    is_lazy = opened.engine is POLARS_LAZY and not is_eager
    return opened.rewrap(result.lazy() if is_lazy else result)


def match_rows(
    frame: object,
    baseline: object,
    key: Name,
    y_true: Name,
    y_pred: Name,
    by: object,
    others: Sequence[Name],
) -> MatchedRows:
    """Match the rows of a baseline to those of a frame, both of which have the column `key`.

    `others` are further columns that the frame is read with. A row of the baseline alone is kept
    only if the baseline has the by-columns. Warnings say how many rows have no counterpart, and how
    many have another value of a by-column in the baseline.
    """
    opened = InputFrame.open(materialize(frame))
    adapter = opened.adapter
    entries = name_list(adapter.expand_selector(opened.schema, by))
    segments = list(dict.fromkeys(map(entry_column, entries)))
    needed = list(dict.fromkeys([*segments, y_true, y_pred, *others]))
    new = collect_rows(opened, [key, *needed])
    earlier = _collect_like(opened, baseline, [key, *needed])
    check_are_columns([key, *needed], adapter.column_names(new))
    earlier_names = adapter.column_names(earlier)
    _check_baseline_columns(earlier_names, [key, y_true, y_pred])
    positions, only_earlier = _match_keys(new, earlier, key, adapter)
    is_matched = positions >= 0
    if len(positions) and not is_matched.any():
        raise InvalidInputError(
            "{key} has no value that is in both the data and the baseline, so there are no rows "
            "to compare. Give the column that names the same row in both.",
            key=key,
        )
    _check_truth(new, earlier, y_true, positions, adapter)
    _warn_of_unmatched(int(np.sum(~is_matched)), len(only_earlier), key)
    shared = [name for name in segments if name in earlier_names]
    _warn_of_changed_groups(new, earlier, shared, positions, adapter)
    prediction = f"{y_pred} of the baseline"
    is_whole = bool(is_matched.all()) and not len(only_earlier)
    columns = [*dict.fromkeys([y_true, y_pred, *others])]
    example = (
        0
        if is_whole or not len(positions)
        else _complete_row(new, earlier, positions, columns, y_pred, adapter)
    )
    side = np.where(is_matched, _BOTH, _ONLY_NEW)
    filled = np.where(is_matched, positions, positions[example : example + 1])
    rows = _with_columns(
        _select(new, needed), {prediction: _take(_column(earlier, y_pred), filled), SIDE: side}
    )
    if len(positions) and len(only_earlier) and {*segments} <= {*earlier_names}:
        own = [*segments, *(name for name in others if name in earlier_names)]
        placeholders = _take(rows, np.full(len(only_earlier), example))
        own_columns = {name: _take(_column(earlier, name), only_earlier) for name in own}
        side = np.full(len(only_earlier), _ONLY_EARLIER)
        rows = concat([rows, _with_columns(placeholders, {**own_columns, SIDE: side})])
    return MatchedRows(rows, tuple(entries), prediction, opened)


def collect_rows(opened: InputFrame, names: Sequence[Name]) -> Any:  # noqa: ANN401 (a frame)
    """Return all rows of the columns that the frame has, in the library of the adapter."""
    native = opened.native
    names = [name for name in dict.fromkeys(names) if name in opened.column_names]
    opened.check_types(names)
    if not opened.engine.is_lazy or isinstance(native, ArrowStream):
        frame: Any = opened.eager_rows(names)
    else:
        with engine_lock(native), translate_errors(native):
            rows = opened.lazy_rows
            if all(str(name).isidentifier() for name in names):  # engines may interpret others
                rows = rows.select(*map(column_expr, names))
            frame = collect_values(rows, opened.engine, {str(name): name for name in names})
    check_days(frame, {str(name): name for name in names}, opened.adapter)
    return frame


def _collect_like(opened: InputFrame, baseline: object, names: Sequence[Name]) -> Any:  # noqa: ANN401
    """Return the rows of a baseline in the library in which those of the data are."""
    backend = "pandas" if opened.adapter is PANDAS_ADAPTER else "polars"
    return convert_result(collect_rows(InputFrame.open(materialize(baseline)), names), backend)


def _check_baseline_columns(names: Sequence[Name], needed: Sequence[Name]) -> None:
    try:
        check_are_columns(needed, names)
    except UnknownNameError as error:
        raise UnknownNameError(Message("in {baseline}: {}", error, baseline=NAME)) from error


def _select(frame: Any, names: Sequence[Name]) -> Any:  # noqa: ANN401
    return (
        frame.select(cast(Sequence[str], names))
        if isinstance(frame, pl.DataFrame)
        else frame[list(names)]
    )


def _column(frame: Any, name: Name) -> Any:  # noqa: ANN401
    return frame.get_column(cast(str, name)) if isinstance(frame, pl.DataFrame) else frame[name]


def _take(values: Any, rows: Int64Array) -> Any:  # noqa: ANN401 (a frame or a column)
    return values[rows] if isinstance(values, (pl.DataFrame, pl.Series)) else values.iloc[rows]


def _with_columns(frame: Any, columns: Mapping[Name, Any]) -> Any:  # noqa: ANN401
    """Return a frame with further columns, in the order of its rows."""
    if isinstance(frame, pl.DataFrame):
        return frame.with_columns(
            pl.Series(cast(str, name), values) for name, values in columns.items()
        )
    frame = frame.reset_index(drop=True)
    for name, values in columns.items():
        frame[name] = getattr(values, "array", values)
    return frame


def _common_codes(
    new: Any,  # noqa: ANN401
    earlier: Any,  # noqa: ANN401
    name: Name,
    adapter: Adapter,
) -> tuple[Int64Array, Int64Array, int]:
    """Return codes of the values of a column in both runs, and the code of null."""
    both = concat([_select(frame, [name]) for frame in (new, earlier)], RUNS)
    column = encode_columns(both, [name], adapter)[name]
    codes = column.level_positions(codes_from_zero(column.codes, slice(None)))
    n = adapter.n_rows(new)
    return codes[:n], codes[n:], len(column.levels)


def _match_keys(
    new: Any,  # noqa: ANN401
    earlier: Any,  # noqa: ANN401
    key: Name,
    adapter: Adapter,
) -> tuple[Int64Array, Int64Array]:
    """Return where each new row is among the earlier ones, -1 for nowhere, and the other ones."""
    new_codes, earlier_codes, null = _common_codes(new, earlier, key, adapter)
    for place, codes in (("the data", new_codes), ("the baseline", earlier_codes)):
        n_null = int((codes == null).sum())
        if n_null:
            raise InvalidInputError(
                "{key} is null in {} rows of {}, so these cannot be matched. Drop these rows, or "
                "give another column.",
                f"{n_null:,}",
                place,
                key=key,
            )
        n_rows = np.bincount(codes, minlength=null)
        n_repeated = int(n_rows[n_rows > 1].sum())
        if n_repeated:
            raise InvalidInputError(
                "{key} does not name a single row: {} rows of {} share their value with another "
                "one. Drop repeated rows, or give a column whose values are distinct.",
                f"{n_repeated:,}",
                place,
                key=key,
            )
    position = np.full(null + 1, -1)
    position[earlier_codes] = np.arange(len(earlier_codes))
    is_new = np.zeros(null + 1, np.bool_)
    is_new[new_codes] = True
    return position[new_codes], np.flatnonzero(~is_new[earlier_codes])


def _check_truth(
    new: Any,  # noqa: ANN401
    earlier: Any,  # noqa: ANN401
    y_true: Name,
    positions: Int64Array,
    adapter: Adapter,
) -> None:
    """Raise if a row has another true label in the baseline."""
    codes, earlier_codes, _ = _common_codes(new, earlier, y_true, adapter)
    matched = np.flatnonzero(positions >= 0)
    n_different = int((codes[matched] != earlier_codes[positions[matched]]).sum())
    if n_different:
        raise InvalidInputError(
            "{} of {} rows that both have differ in {y_true}: their true label in the baseline "
            "is different. Compare runs against the same labels: take the true labels from one "
            "of them, or omit {key} to compare the runs as independent samples.",
            f"{n_different:,}",
            f"{len(matched):,}",
            y_true=y_true,
            key=NAME,
        )


def _warn_of_unmatched(n_only_new: int, n_only_earlier: int, key: Name) -> None:
    """Warn that rows of one run only are left out."""
    if n_only_new or n_only_earlier:
        warn(
            "rows whose {key} is in one run only are left out of the comparison: {} of the data "
            "and {} of the baseline.",
            f"{n_only_new:,}",
            f"{n_only_earlier:,}",
            key=key,
        )


def _warn_of_changed_groups(
    new: Any,  # noqa: ANN401
    earlier: Any,  # noqa: ANN401
    names: Sequence[Name],
    positions: Int64Array,
    adapter: Adapter,
) -> None:
    """Warn that rows have other values of these columns in the baseline, which are not used."""
    matched = np.flatnonzero(positions >= 0)
    for name in names:
        try:
            codes, earlier_codes, _ = _common_codes(new, earlier, name, adapter)
            n_changed = int((codes[matched] != earlier_codes[positions[matched]]).sum())
        except InvalidInputError:  # of values that are never equal
            n_changed = len(matched)
        if n_changed:
            warn(
                "column {!r} has another value in the baseline in {} of {} rows that both have: "
                "such a row is counted with its value in the data.",
                name,
                f"{n_changed:,}",
                f"{len(matched):,}",
            )


def _complete_row(
    new: Any,  # noqa: ANN401
    earlier: Any,  # noqa: ANN401
    positions: Int64Array,
    columns: Sequence[Name],
    y_pred: Name,
    adapter: Adapter,
) -> int:
    """Return the position of a matched row without nulls, or of any where each has some."""
    matched = np.flatnonzero(positions >= 0)
    is_complete = np.ones(len(matched), np.bool_)
    sides = ((new, columns, matched), (earlier, [y_pred], positions[matched]))
    for frame, names, rows in sides:
        values = _take(_select(frame, names), rows)
        for column in encode_columns(values, names, adapter).values():
            codes = column.level_positions(codes_from_zero(column.codes, slice(None)))
            is_complete &= codes < len(column.levels)
    return int(matched[np.argmax(is_complete)])
