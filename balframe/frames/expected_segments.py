"""Segments that a frame should have: those that it lacks are added, without rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from balframe.core.array_types import BoolArray, Int64Array
from balframe.core.cells import LEFT_OUT, Cells
from balframe.core.integer_codes import codes_from_zero
from balframe.core.row_sums import RowSums
from balframe.errors import OPTION, InvalidInputError, listed
from balframe.frames.adapter import Name, Series
from balframe.frames.concat import value_kind
from balframe.frames.count_frame import encode_columns
from balframe.frames.counted_frame import CountedFrame, as_level, is_null
from balframe.frames.earlier_cells import segment_positions
from balframe.frames.query import GROUPED_BY, MODEL
from balframe.frames.rollups import add_margins

# The values of by-columns, one list a column and all of one length. A by-column that is left out
# stands for all of its values in the data that are not null.
ExpectedValues = Mapping[Name, Sequence[Any]]

_LEVEL = "level"


@dataclass(frozen=True, slots=True)
class ExpectedSegments:
    """The segments of a frame and those expected of it.

    `counted_frame` has both, `positions` are those of the frame among them, and `is_expected` is
    whether each is expected, or the roll-up of one that is.
    """

    counted_frame: CountedFrame
    positions: Int64Array
    is_expected: BoolArray


def product_of_values(values: Mapping[Name, Sequence[Any]]) -> ExpectedValues:
    """List every combination of the values of columns."""
    rows = list(product(*values.values()))
    return {name: [row[i] for row in rows] for i, name in enumerate(values)}


def add_expected_segments(
    counted_frame: CountedFrame, expected: Sequence[ExpectedValues]
) -> ExpectedSegments:
    """Add the segments that are expected, of every model; raise for values of another kind."""
    query, adapter = counted_frame.query, counted_frame.adapter
    levels, tables, codes_by_value = {}, {}, {}
    for name in (name for name in counted_frame.by if name != GROUPED_BY):
        values = [value for part in expected for value in part.get(name, ())]
        levels[name], tables[name], codes_by_value[name] = _add_levels(counted_frame, name, values)
    own = [
        tables[name][codes] if name in tables else codes
        for name, codes in zip(counted_frame.by, counted_frame.cells.by, strict=True)
    ]
    _, first = counted_frame.cells.segments
    own_markers = _markers([codes[first] for codes in own], len(first), is_counted=True)
    is_finest = counted_frame.cell_margins()[first] == 0
    finest = own_markers.by[1:] if GROUPED_BY in counted_frame.by else own_markers.by
    finest = tuple(codes[is_finest] for codes in finest)
    parts = [
        _expected_codes(part, list(levels), finest, levels, codes_by_value) for part in expected
    ]
    markers = Cells.concat(
        [
            _markers(finest, int(is_finest.sum()), is_counted=False),
            *(_markers(codes, len(codes[0]), is_counted=True) for codes in parts),
        ]
    )
    cells, by = add_margins(markers.regrouped(), levels, adapter, query)
    cells = cells.regrouped()
    segment, first = cells.segments
    n_expected = np.zeros(len(first), np.int64)
    np.add.at(n_expected, segment, cells.n)
    return ExpectedSegments(
        replace(counted_frame, cells=cells, by=by),
        segment_positions(own_markers, cells),
        n_expected > 0,
    )


def _markers(by: Sequence[Int64Array], size: int, *, is_counted: bool) -> Cells:
    """Make a cell of each segment that stands for a single row, counted or left out."""
    label, ones, zeros = np.full(size, LEFT_OUT), np.ones(size, np.int64), np.zeros(size, np.int64)
    sums = RowSums(ones, zeros) if is_counted else RowSums(zeros, ones)
    return Cells(tuple(by), label, label, sums)


def _add_levels(
    counted_frame: CountedFrame, name: Name, values: Sequence[Any]
) -> tuple[Series, Int64Array, Mapping[Any, int]]:
    """Return the levels with those of the values that they lack, in order.

    Also return the new code of each level and null, and the new code of each value.
    """
    adapter, levels = counted_frame.adapter, counted_frame.by[name]
    present = adapter.python_values(levels)
    code_of_value = {value: code for code, value in enumerate(present)} if values else {}
    dtype = adapter.dtype(adapter.build_frame({_LEVEL: levels}), _LEVEL)
    keys = [as_level(value, present, dtype) for value in values]
    _check_kinds(name, present, [key for key in keys if key is not None])
    new = list(dict.fromkeys(key for key in keys if key is not None and key not in code_of_value))
    table = np.arange(len(present) + 1)
    if new:
        try:
            together = adapter.label_levels([*present, *new], [dtype])
        except InvalidInputError:
            raise _not_held_error(name, new) from None
        _check_are_held(name, new, adapter.python_values(together)[len(present) :])
        column = encode_columns(adapter.build_frame({_LEVEL: together}), [_LEVEL], adapter)[_LEVEL]
        levels = column.levels
        codes = column.level_positions(codes_from_zero(column.codes, slice(None)))
        table = np.append(codes[: len(present)], [len(levels)])
        code_of_value = dict(zip([*present, *new], codes.tolist(), strict=True))
    code_of_value[None] = len(levels)
    own = {_or_none(value): code_of_value[key] for value, key in zip(values, keys, strict=True)}
    return levels, table, code_of_value | own


def _check_are_held(name: Name, values: Sequence[Any], levels: Sequence[Any]) -> None:
    """Raise if the type of a column changes a value, except floats, which it may round."""
    changed = [
        value
        for value, level in zip(values, levels, strict=True)
        if as_level(value, [level], None) != level
        and not (isinstance(value, float) and isinstance(level, float))
    ]
    if changed:
        raise _not_held_error(name, changed)


def _not_held_error(name: Name, values: Sequence[Any]) -> InvalidInputError:
    return InvalidInputError(
        "column {!r} cannot hold {}, which {expect} has for it, so no row is ever in that segment. "
        "Give values of its type, or cast it first.",
        name,
        listed(map(repr, values)),
        expect=OPTION,
    )


def _check_kinds(name: Name, present: Sequence[Any], expected: Sequence[Any]) -> None:
    """Raise if values can never be equal to those of the column, or to one another."""
    kinds = list(dict.fromkeys(value_kind(value) for value in [*present[:1], *expected]))
    if len(kinds) > 1 and not present:
        raise InvalidInputError(
            "{expect} has {} and {} for column {!r}, which never compare equal. Give values of "
            "its type.",
            kinds[0],
            kinds[1],
            name,
            expect=OPTION,
        )
    if len(kinds) > 1:
        raise InvalidInputError(
            "column {!r} holds {}, but {expect} has {} for it, which never compare equal. Give "
            "values of its type.",
            name,
            kinds[0],
            kinds[1],
            expect=OPTION,
        )


def _expected_codes(
    part: ExpectedValues,
    names: Sequence[Name],
    finest: Sequence[Int64Array],
    levels: Mapping[Name, Series],
    codes_by_value: Mapping[Name, Mapping[Any, int]],
) -> list[Int64Array]:
    """Return the codes of the expected segments, one array for each by-column."""
    columns = {name: _value_codes(part[name], codes_by_value[name]) for name in part}
    rows = np.arange(len(next(iter(columns.values()))))
    for name, own in zip(names, finest, strict=True):
        if name in part:
            continue
        values = np.unique(own)
        if name == MODEL:
            values = np.arange(len(levels[name]))
        values = values[values < len(levels[name])]  # without null
        columns = {key: np.repeat(codes, len(values)) for key, codes in columns.items()}
        columns[name] = np.tile(values, len(rows))
        rows = np.arange(len(rows) * len(values))
    return [columns[name] for name in names]


def _value_codes(values: Sequence[Any], code_of: Mapping[Any, int]) -> Int64Array:
    return np.array([code_of[_or_none(value)] for value in values], np.int64)


def _or_none(value: Any) -> Any:  # noqa: ANN401 (as a caller gives it)
    return None if is_null(value) else value
