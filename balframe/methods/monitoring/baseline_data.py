"""The reference of a stream: cells of a run, or the rows up to a day."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from balframe.errors import OPTION, InvalidInputError, UnsupportedTypeError, listed
from balframe.frames.adapter import Name
from balframe.frames.earlier_cells import EarlierCellSource
from balframe.frames.engines.inputs import unwrap
from balframe.frames.engines.registry import find_engine
from balframe.frames.query import MODEL, PERIOD, Query
from balframe.frames.sources import LabelSource, Source
from balframe.methods.monitoring.excluded_days import day_number, is_day
from balframe.methods.scores.combine import read_stored_cells

_ADVICE = (
    "give the cells of a run, a result of `confusion`, or the last day of the rows that are the "
    'reference, as {"until": "2026-03-31"}'
)


@dataclass(frozen=True, slots=True)
class ReferenceRequest:
    """A reference as a caller requests it; `until` is a day, counted from 1970-01-01."""

    source: Source
    until: int | None
    check: Callable[[Query], None]


def reference_request(reference: Any, time: Name) -> ReferenceRequest:  # noqa: ANN401
    """Return how to read a stream with its reference."""
    if isinstance(reference, Mapping):
        return ReferenceRequest(LabelSource(), _parse_last_day(reference), lambda query: None)
    native, _ = unwrap(reference)
    try:
        find_engine(native)
    except UnsupportedTypeError:
        raise UnsupportedTypeError(
            "{reference} has the type {}; {}.", type(native).__qualname__, _ADVICE, reference=OPTION
        ) from None
    return _cells_request(native, time)


def _parse_last_day(reference: Mapping[Any, Any]) -> int:
    """Return the day of {"until": day}."""
    if [*reference] != ["until"]:
        raise InvalidInputError("{reference} is not valid; {}.", _ADVICE, reference=reference)
    day = reference["until"]
    if isinstance(day, str):
        try:
            day = date.fromisoformat(day)
        except ValueError as error:
            raise InvalidInputError(
                "{reference} has no date: {}; {}.", error, _ADVICE, reference=reference
            ) from None
    if not is_day(day):
        raise InvalidInputError(
            "{reference} has no day, but {}; {}.",
            type(day).__qualname__,
            _ADVICE,
            reference=reference,
        )
    return day_number(day)


def _cells_request(native: Any, time: Name) -> ReferenceRequest:  # noqa: ANN401
    stored = read_stored_cells(native, "reference has")

    def check(query: Query) -> None:
        expected = {name for name in query.by if name != PERIOD}
        reference_by = {
            name
            for name in stored.by
            if name != time and not (name == MODEL and query.has_several_models)
        }
        if expected != reference_by:
            raise InvalidInputError(
                "the by-columns of the reference are {}, but those requested are {}. Give cells of "
                "the same segments; `confusion` with {cells} adds up finer ones.",
                _list_names(sorted(map(str, reference_by))),
                _list_names(sorted(map(str, expected))),
                cells=True,
            )
        if stored.is_weighted:
            raise InvalidInputError(
                "the reference has weights, but monitor counts rows. Count it without weights."
            )

    return ReferenceRequest(
        EarlierCellSource(stored.cells, stored.y_true, stored.y_pred, "reference"), None, check
    )


def _list_names(names: Sequence[str]) -> str:
    return listed(map(repr, names)) if names else "none"
