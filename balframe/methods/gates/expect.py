"""The option `expect`: the segments that must have rows, in every form that it has."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from balframe._validate import is_iterable, is_list
from balframe.errors import (
    OPTION,
    InvalidInputError,
    Spelled,
    UnknownNameError,
    UnsupportedTypeError,
    listed,
    not_found,
    parameter,
)
from balframe.frames.adapter import Name
from balframe.frames.concat import column_names
from balframe.frames.convert_result import collect_result, column_values
from balframe.frames.counted_frame import is_null
from balframe.frames.engines.inputs import unwrap
from balframe.frames.engines.registry import is_frame
from balframe.frames.expected_segments import ExpectedValues, product_of_values
from balframe.frames.query import GROUPED_BY, margin_name
from balframe.methods.gates.rules import naming_place

_ADVICE = (
    "give a list of values of the by-column, a mapping of columns to values, as in "
    '{"race": ["White", "Black"]}, or a frame of segments'
)


def check_some_are_expected(
    fails: bool, expectations: Sequence[object], baseline: object = None
) -> None:
    """Raise if an absent segment would fail, but nothing says which segments must have rows."""
    if fails and not expectations and baseline is None:
        raise InvalidInputError(
            "{absent_segments} is given, but no segment is expected; name the segments that must "
            "have rows in {}.",
            parameter("expect"),
            absent_segments=Spelled('absent="fail"', "fail"),
        )


def all_expected_values(
    expectations: Sequence[tuple[object, Path | None]], by: Sequence[Name]
) -> list[ExpectedValues]:
    """Return what every place expects; an error names the file that it is in, if any."""
    values = list[ExpectedValues]()
    for expect, place in expectations:
        with naming_place(place):
            values.append(expected_values(expect, by))
    return values


def expected_values(expect: object, by: Sequence[Name]) -> ExpectedValues:
    """Return the values of by-columns that `expect` has, in whatever form; raise if invalid."""
    if not by:
        raise InvalidInputError(
            "{expect} has segments, but there is no by-column; name at least one.", expect=OPTION
        )
    native, _ = unwrap(expect)
    if isinstance(native, Mapping):
        return _check_not_empty(product_of_values(_values_by_column([native], by)[0]))
    if is_frame(native):
        return _check_not_empty(_frame_values(native, by))
    if isinstance(native, str) or not is_iterable(native):
        raise UnsupportedTypeError(
            "{expect} has the type {}; {}.", type(native).__qualname__, _ADVICE, expect=OPTION
        )
    items = list(native)
    if items and all(isinstance(item, Mapping) for item in items):
        return _segment_values(items, by)
    if len(by) > 1:
        raise InvalidInputError(
            "{expect} is a list of values, but there are the by-columns {}. Give a mapping of "
            "columns to values, or a frame of segments.",
            listed(map(repr, by)),
            expect=OPTION,
        )
    return _check_not_empty({by[0]: items})


def _check_not_empty(values: ExpectedValues) -> ExpectedValues:
    if not values or not len(next(iter(values.values()))):
        raise InvalidInputError("{expect} has no segment; {}.", _ADVICE, expect=OPTION)
    return values


def _values_by_column(
    mappings: Sequence[Mapping[Name, Any]], by: Sequence[Name]
) -> list[dict[Name, list[Any]]]:
    """Read mappings of columns to a value or to several."""
    for mapping in mappings:
        for name in mapping:
            if name not in by:
                error = not_found("by-column", name, by)
                raise UnknownNameError("{expect}: {}", error, expect=OPTION)
    return [
        {name: list(own) if is_list(own) else [own] for name, own in mapping.items()}
        for mapping in mappings
    ]


def _segment_values(segments: Sequence[Mapping[Name, Any]], by: Sequence[Name]) -> ExpectedValues:
    """Read a list of mappings, which have the same columns; each is a segment, or several."""
    names = list(segments[0])
    if any({*segment} != {*names} for segment in segments) or not names:
        raise InvalidInputError(
            "{expect} has segments of different columns; give every segment the same.",
            expect=OPTION,
        )
    products = [product_of_values(values) for values in _values_by_column(segments, by)]
    return {name: [value for part in products for value in part[name]] for name in names}


def _frame_values(frame: object, by: Sequence[Name]) -> ExpectedValues:
    """Return the segments of a frame, each once, without the roll-ups of a result."""
    frame = collect_result(frame)
    names = column_names(frame)
    for name in by:
        if name not in names:
            error = not_found("column", name, names)
            raise UnknownNameError("{expect}: {}", error, expect=OPTION)
    rows = list(zip(*(_plain_values(frame, name) for name in by), strict=True))
    if GROUPED_BY in names and GROUPED_BY not in by:
        finest = margin_name([name for name in names if name in by])
        margins = column_values(frame, GROUPED_BY)
        rows = [row for row, margin in zip(rows, margins, strict=True) if margin == finest]
    rows = list(dict.fromkeys(rows))
    return {name: [row[i] for row in rows] for i, name in enumerate(by)}


def _plain_values(frame: object, name: Any) -> list[Any]:  # noqa: ANN401 (a name of any type)
    """Return the values of a column, with None for every null, so that rows can be compared."""
    return [None if is_null(value) else value for value in column_values(frame, name)]
