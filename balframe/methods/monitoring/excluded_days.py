"""Days that a caller gives, and the periods that are excluded because of them."""

from datetime import date, datetime, timedelta
from typing import Any

import numpy as np

from balframe._validate import is_list
from balframe.core.array_types import Int64Array
from balframe.errors import InvalidInputError

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
