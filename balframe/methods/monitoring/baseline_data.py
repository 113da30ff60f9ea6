"""The baseline of a stream: cells of a run, or the rows up to a day."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np

from balframe._validate import is_list, is_number
from balframe.core.array_types import Int64Array
from balframe.errors import OPTION, InvalidInputError, UnsupportedTypeError, listed
from balframe.frames.adapter import Name
from balframe.frames.earlier_cells import EarlierCellSource
from balframe.frames.engines.inputs import unwrap
from balframe.frames.engines.registry import find_engine
from balframe.frames.query import MODEL, PERIOD, Query
from balframe.frames.sources import LabelSource, Source
from balframe.methods.scores.combine import read_stored_cells

_EPOCH = date(1970, 1, 1)


def read_day(value: object) -> date | None:
    """Return a date, or that of a text of ISO 8601; None for anything else, such as a datetime."""
    try:
        day = date.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        return None
    return day if isinstance(day, date) and not isinstance(day, datetime) else None


def day_number(day: date) -> int:
    """Return the number of days since 1970-01-01."""
    return (day - _EPOCH).days


def numbered_day(number: int) -> date:
    """Return the day so many days after 1970-01-01."""
    return _EPOCH + timedelta(days=number)


def parse_excluded_days(exclude: Any) -> Int64Array:  # noqa: ANN401
    """Return the days of `exclude`, counted from 1970-01-01.

    Raises
    ------
    InvalidInputError
        If it is neither None, nor a date, nor a list of dates. Texts of ISO 8601 are dates.
    """
    if exclude is None:
        return np.zeros(0, np.int64)
    values = list(exclude) if is_list(exclude) else [exclude]
    return np.array([_parse_day(value, exclude) for value in values], np.int64)


def _parse_day(value: Any, exclude: Any) -> int:  # noqa: ANN401
    day = read_day(value)
    if day is None:
        raise InvalidInputError(
            "{exclude} has {}, which is not a date; give dates, such as '2026-12-25'.",
            repr(value),
            exclude=exclude,
        )
    return day_number(day)


_ADVICE = (
    "give the last day of the rows that are the baseline, such as '2026-03-31', or the cells of a "
    "run, a result of `confusion`"
)


@dataclass(frozen=True, slots=True)
class StreamBaselineRequest:
    """A baseline as a caller requests it; `until` is a day, counted from 1970-01-01."""

    source: Source
    until: int | None
    check: Callable[[Query], None]


def stream_baseline_request(baseline: Any, time: Name) -> StreamBaselineRequest:  # noqa: ANN401
    """Return how to read a stream with its baseline."""
    if isinstance(baseline, Mapping):
        return _rows_request(_last_day_of(baseline), baseline)
    if isinstance(baseline, (str, date)):
        return _rows_request(baseline, baseline)
    native, _ = unwrap(baseline)
    try:
        find_engine(native)
    except UnsupportedTypeError:
        raise UnsupportedTypeError(
            "{baseline} has the type {}; {}.", type(native).__qualname__, _ADVICE, baseline=OPTION
        ) from None
    return _cells_request(native, time)


def _last_day_of(baseline: Mapping[Any, Any]) -> Any:  # noqa: ANN401 (what a caller gives)
    """Return the value of {"until": day}."""
    if [*baseline] == ["until"]:
        return baseline["until"]
    if baseline and all(is_number(value) for value in baseline.values()):
        raise InvalidInputError(
            "{baseline} has scores, but a test needs the numbers of rows behind them; {}. "
            "`from_matrix` makes cells of a confusion matrix.",
            _ADVICE,
            baseline=baseline,
        )
    raise InvalidInputError(
        '{baseline} is not a mapping with the single key "until"; {}.', _ADVICE, baseline=baseline
    )


def _rows_request(day: Any, baseline: Any) -> StreamBaselineRequest:  # noqa: ANN401
    """Return how to read a stream whose rows up to a day are the baseline."""
    last = read_day(day.date() if isinstance(day, datetime) else day)  # NaT is its own date
    if last is None:
        raise InvalidInputError("{baseline} is not a date; {}.", _ADVICE, baseline=baseline)
    return StreamBaselineRequest(LabelSource(), day_number(last), lambda query: None)


def _cells_request(native: Any, time: Name) -> StreamBaselineRequest:  # noqa: ANN401
    stored = read_stored_cells(native, "baseline has")

    def check(query: Query) -> None:
        expected = {name for name in query.by if name != PERIOD}
        baseline_by = {
            name
            for name in stored.by
            if name != time and not (name == MODEL and query.has_several_models)
        }
        if expected != baseline_by:
            raise InvalidInputError(
                "the by-columns of the baseline are {}, but those requested are {}. Give cells of "
                "the same segments; `confusion` adds up finer ones.",
                _list_names(sorted(map(str, baseline_by))),
                _list_names(sorted(map(str, expected))),
            )
        if stored.is_weighted:
            raise InvalidInputError(
                "the baseline has weights, but monitor counts rows. Count it without weights."
            )

    return StreamBaselineRequest(
        EarlierCellSource(stored.cells, stored.y_true, stored.y_pred), None, check
    )


def _list_names(names: Sequence[str]) -> str:
    return listed(map(repr, names)) if names else "none"
