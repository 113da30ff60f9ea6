"""The reference of a stream: cells of a run, or the rows up to a day."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from balframe.api.options import Backend
from balframe.errors import InvalidInputError, UnsupportedTypeError, listed, parameter
from balframe.frames.adapter import Name
from balframe.frames.convert_result import BACKENDS
from balframe.frames.earlier_cells import BesideCells
from balframe.frames.engines.inputs import held, opened, unwrapped, without_rows
from balframe.frames.engines.registry import engine_of
from balframe.frames.query import MODEL, PERIOD, WEIGHT, Query
from balframe.frames.sources import Labels, Source
from balframe.methods.scores.combine import parts_of_cells
from balframe.methods.scores.confusion import confusion

_ASKED = (
    "give the cells of a run, a result of `confusion`, or the last day of the rows that are the "
    'reference, as {"until": "2026-03-31"}'
)
_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Reference:
    """How to read a stream with its reference; `until` is a day, counted from 1970-01-01."""

    source: Source
    until: int | None
    check: Callable[[Query], None]


def reference_of(given: Any, time: Name) -> Reference:  # noqa: ANN401 (what a caller gives)
    """Find out what a caller gives as the reference."""
    if isinstance(given, Mapping):
        return Reference(Labels(), _day(given), lambda query: None)
    native, _ = unwrapped(given)
    try:
        engine_of(native)
    except UnsupportedTypeError:
        raise UnsupportedTypeError(
            f"{parameter('reference')} has the type {type(native).__qualname__}; {_ASKED}."
        ) from None
    return _of_cells(native, time)


def _day(given: Mapping[Any, Any]) -> int:
    """Read {"until": day}."""
    if [*given] != ["until"]:
        raise InvalidInputError(f"{parameter('reference', given)} is not valid; {_ASKED}.")
    day = given["until"]
    if isinstance(day, str):
        try:
            day = date.fromisoformat(day)
        except ValueError as error:
            raise InvalidInputError(
                f"{parameter('reference', given)} has no date: {error}; {_ASKED}."
            ) from None
    if isinstance(day, datetime) or not isinstance(day, date):
        raise InvalidInputError(
            f"{parameter('reference', given)} has no day, but {type(day).__qualname__}; {_ASKED}."
        )
    return (day - _EPOCH).days


def _of_cells(native: Any, time: Name) -> Reference:  # noqa: ANN401 (of any library or engine)
    native = held(native)
    engine = engine_of(native)
    names = engine.library.names(without_rows(opened(native, engine), engine))
    by, y_true, y_pred = parts_of_cells(names, "reference has")
    backend: Backend = None if engine.name in BACKENDS[:2] else "polars"
    cells: Any = confusion(native, y_true, y_pred, by=by, cells=True, backend=backend)

    def check(query: Query) -> None:
        expected = {name for name in query.by if name != PERIOD}
        found = {name for name in by if name != time and not (name == MODEL and query.several)}
        if expected != found:
            raise InvalidInputError(
                f"the by-columns of the reference are {_named(sorted(map(str, found)))}, but those "
                f"asked for are {_named(sorted(map(str, expected)))}. Give cells of the same "
                f"segments; `confusion` with {parameter('cells', True)} adds up finer ones."
            )
        if WEIGHT in names:
            raise InvalidInputError(
                "the reference has weights, but monitor counts rows. Count it without weights."
            )

    return Reference(BesideCells(cells, y_true, y_pred, "reference"), None, check)


def _named(names: Sequence[str]) -> str:
    return listed(map(repr, names)) if names else "none"
