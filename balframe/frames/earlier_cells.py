"""Rows beside the cells of an earlier run: the same segments and labels on both sides."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from balframe.core.array_types import Int64Array
from balframe.core.cells import LEFT_OUT, Cells
from balframe.core.integer_codes import shifted
from balframe.core.label_set import LabelSet, check_kinds, kind_of
from balframe.errors import InvalidInputError
from balframe.frames.adapter import Adapter, Frame, Name, Series
from balframe.frames.concat import concat
from balframe.frames.convert_result import deliver
from balframe.frames.count_frame import encode, read, read_reduced
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.engines import group_by
from balframe.frames.engines.column_names import Rows
from balframe.frames.engines.registry import Engine, engine_of, in_pandas
from balframe.frames.query import MODEL, PERIOD, WEIGHT, N, Query
from balframe.frames.rollups import with_margins

_LEVEL = "level"


@dataclass(frozen=True, slots=True)
class Sides:
    """What was read of rows, and of the cells of an earlier run.

    `now` and `before` have the same labels and the same segments, those of either side; a segment
    that a side lacks has no rows there. `own` is what was read of the rows alone, and `positions`
    are those of its segments among all.
    """

    own: CountedFrame
    now: CountedFrame
    before: CountedFrame
    positions: Int64Array

    @property
    def reading(self) -> CountedFrame:
        """Give the rows with all segments, as answers have them."""
        return self.now


@dataclass(frozen=True, slots=True)
class BesideCells:
    """Predicted labels beside the cells of an earlier run, a frame of pandas or polars.

    `y_true` and `y_pred` name its columns of labels, and `called` what a caller calls it.
    """

    cells: Frame
    y_true: Name
    y_pred: Name
    called: str = "baseline"

    reads_twice = False

    def prepared(self, rows: Rows, engine: Engine, query: Query) -> "BesideCells":
        """Need nothing."""
        return self

    def read(self, frame: Frame, library: Adapter, query: Query) -> Sides:
        """Count cells of an eager frame."""
        return self._beside(read(frame, library, _finest(query)), query)

    def reduce(self, rows: Rows, query: Query) -> Rows:
        """Group by segment, true label and prediction."""
        return group_by.reduce(rows, query)

    def read_reduced(self, cells: Frame, library: Adapter, query: Query) -> Sides:
        """Read the cells that an engine has summed."""
        return self._beside(read_reduced(cells, library, _finest(query)), query)

    def _beside(self, own: CountedFrame, query: Query) -> Sides:
        before = self._read(own)
        _check_same_kinds(own, before, self.called)
        labels, library = _all_labels(own, before), own.library
        levels, *cells = _in_common_codes(own, before, labels)
        (now, by), (earlier, _) = (with_margins(one, levels, library, query) for one in cells)
        own_cells, own_by = with_margins(own.cells, dict(own.by), library, query)
        alone = replace(own, cells=own_cells, by=own_by, query=query)
        both = replace(alone, labels=labels, by=by)
        return Sides(
            alone,
            replace(both, cells=_with_segments_of(now, earlier)),
            replace(both, cells=_with_segments_of(earlier, now)),
            _positions(now, earlier),
        )

    def _read(self, own: CountedFrame) -> CountedFrame:
        """Count the cells of the earlier run; where it had one model, once for each model now."""
        library, query = own.library, own.query
        backend = "pandas" if library is in_pandas else "polars"
        frame: Any = deliver(self.cells, backend, self.cells, engine_of(self.cells))
        names = library.names(frame)
        has_models = MODEL in names
        asked = replace(
            query,
            y_true=self.y_true,
            y_pred=(self.y_pred,),
            several=False,
            by=(*query.by, MODEL) if has_models else query.by,
            sample_weight=WEIGHT if WEIGHT in names else None,
            counts=N,
            cells=True,
            missing="raise",
        )
        if query.every is not None and query.time not in names:
            return _in_one_period(read(cast(Frame, frame), library, _without_periods(asked)))
        found = read(cast(Frame, frame), library, asked)
        if not query.several or has_models:
            return found
        models = range(len(query.outcomes))
        cells = Cells.concat([found.cells.labelled(one, first=False) for one in models])
        return replace(found, cells=cells.regrouped(), by={**found.by, MODEL: own.by[MODEL]})


def _finest(query: Query) -> Query:
    """Ask for no roll-ups yet: a segment that is gone belongs to those of the other side only."""
    return replace(query, margins=False)


def _without_periods(query: Query) -> Query:
    by = tuple(name for name in query.by if not query.is_period(name))
    return replace(query, by=by, time=None, every=None)


def _in_one_period(found: CountedFrame) -> CountedFrame:
    """Let cells without times be of one period, which stands before the models."""
    names = [name for name in found.by if name != MODEL]
    cells = found.cells.labelled(0, first=False)
    last = len(found.by)
    order = [*range(len(names)), last, *range(len(names), last)]
    levels = {**found.by, PERIOD: found.library.dates(np.zeros(1, np.int64))}
    by = {name: levels[name] for name in (*names, PERIOD, *list(found.by)[len(names) :])}
    return replace(found, cells=cells.sorted_by(order), by=by)


def _check_same_kinds(own: CountedFrame, before: CountedFrame, called: str) -> None:
    """Raise where labels, or values of a by-column, can never be equal on both sides."""
    of_labels = {
        f"column {own.query.y_true!r}": own.labels.values,
        f"column {before.query.y_true!r} of the {called}": before.labels.values,
    }
    check_kinds({holder: kind_of(values[0]) for holder, values in of_labels.items() if values})
    for name in own.query.by:
        both = [one.library.values(one.by[name]) for one in (own, before)]
        kinds = [_kind(values[0]) for values in both if values]
        if len(set(kinds)) > 1:
            raise InvalidInputError(
                f"column {name!r} holds {kinds[0]} in the data and {kinds[1]} in the {called}, "
                "which never compare equal. Cast one to the type of the other."
            )


def _kind(value: object) -> str:
    if isinstance(value, (bool, int, float, np.number, np.bool_)):
        return "numbers"
    return "strings" if isinstance(value, str) else f"values of type {type(value).__name__}"


def _all_labels(own: CountedFrame, before: CountedFrame) -> LabelSet:
    """Give the labels of both sides in order."""
    if own.query.labels is not None:
        return own.labels
    dtypes = [*own.dtypes.values(), *before.dtypes.values()]
    return LabelSet.union([*own.labels.values, *before.labels.values], own.library.domain(dtypes))


def _in_common_codes(
    own: CountedFrame, before: CountedFrame, labels: LabelSet
) -> tuple[dict[Name, Series], Cells, Cells]:
    """Put the levels of both sides together, and write the cells of each side in them."""
    levels: dict[Name, Series] = {}
    of_own, of_before = list[Int64Array](), list[Int64Array]()
    for name in own.by:
        levels[name], own_table, before_table = _merged(own, before, name)
        of_own.append(own_table)
        of_before.append(before_table)
    return levels, _recoded(own, labels, of_own), _recoded(before, labels, of_before)


def _merged(
    own: CountedFrame, before: CountedFrame, name: Name
) -> tuple[Series, Int64Array, Int64Array]:
    """Put the levels of both sides in order, and tell where each of them, and null, now stands."""
    one, other = own.by[name], before.by[name]
    frames = [own.library.build({_LEVEL: levels}) for levels in (one, other)]
    column = encode(concat(frames), [_LEVEL], own.library)[_LEVEL]
    codes = column.ranked(shifted(column.codes, slice(None)))
    levels = column.levels
    if name == MODEL and own.query.several:  # models stay in the order given
        distinct = list(dict.fromkeys(codes.tolist()))
        levels = own.library.take(levels, np.array(distinct, np.int64), nullable=False)
        codes = np.argsort(distinct)[codes]
    null = [len(levels)]
    return levels, np.append(codes[: len(one)], null), np.append(codes[len(one) :], null)


def _recoded(side: CountedFrame, labels: LabelSet, tables: Sequence[Int64Array]) -> Cells:
    """Write the cells of a side in the labels and levels of both."""
    of_labels = np.append(labels.codes(side.labels.values), LEFT_OUT)  # the last code is -1
    cells = side.cells
    return replace(
        cells,
        by=tuple(table[codes] for table, codes in zip(tables, cells.by, strict=True)),
        actual=of_labels[cells.actual],
        outcome=of_labels[cells.outcome],
    ).regrouped()


def _with_segments_of(cells: Cells, others: Cells) -> Cells:
    """Add the segments of the other side, each with nothing but a row left out."""
    return Cells.concat([cells, others.marks(counted=False)]).regrouped()


def _positions(cells: Cells, others: Cells) -> Int64Array:
    """Find the positions of the segments of one side among those of both."""
    marks = Cells.concat([cells.marks(counted=True), others.marks(counted=False)])
    return np.flatnonzero(marks.regrouped().n)
