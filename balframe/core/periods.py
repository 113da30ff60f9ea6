"""Periods of time: dates, as days since 1970-01-01, to the first day of their period."""

import re
from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import Int64Array
from balframe.errors import InvalidInputError

_EVERY = re.compile(r"0*([0-9]{1,9})(d|w|mo|q|y)")
_MONTHS = {"mo": 1, "q": 3, "y": 12}
_MONDAY = 4  # 1970-01-05
_DAYS = {"d": 1, "w": 7, "mo": 30, "q": 91, "y": 365}  # a unit has about as many
_MOST_DAYS = 100_000  # so that every period begins on a date that Python has


@dataclass(frozen=True, slots=True)
class PeriodLength:
    """The length of a period: a number of days, weeks, months, quarters or years.

    Days are counted from 1970-01-01, weeks from Monday 1970-01-05, and months from January 1970.
    """

    number: int
    unit: str

    @classmethod
    def of(cls, text: object) -> "PeriodLength":
        """Read what a caller gives: "1d", "2w", "1mo", "1q" or "1y"."""
        match = _EVERY.fullmatch(text) if isinstance(text, str) else None
        number = 0 if match is None else int(match[1])
        if match is not None and number * _DAYS[match[2]] > _MOST_DAYS:
            raise InvalidInputError(
                "{every} is longer than {:,} days; give a shorter period, such as '1y'.",
                _MOST_DAYS,
                every=text,
            )
        if match is None or number == 0:
            raise InvalidInputError(
                "{every} is not the length of a period; give a positive number and one unit: d "
                "(days), w (weeks from Monday), mo (months), q (quarters) or y (years), such as "
                "'1d', '2w' or '1mo'.",
                every=text,
            )
        return cls(number, match[2])

    @property
    def text(self) -> str:
        """Return it as a caller writes it."""
        return f"{self.number}{self.unit}"

    def starts(self, days: Int64Array) -> Int64Array:
        """Find the first day of the period of each day."""
        if self.unit in _MONTHS:
            length = self.number * _MONTHS[self.unit]
            months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
            return _day_of_month(months // length * length)
        first = _MONDAY if self.unit == "w" else 0
        length = self.number * (7 if self.unit == "w" else 1)
        return (days - first) // length * length + first

    def between(self, first: int, last: int) -> Int64Array:
        """List the first days of all periods from one to another, both among them."""
        if self.unit in _MONTHS:
            length = self.number * _MONTHS[self.unit]
            ends = np.array([first, last]).astype("datetime64[D]").astype("datetime64[M]")
            low, high = ends.astype(np.int64).tolist()
            return _day_of_month(np.arange(low, high + 1, length, dtype=np.int64))
        length = self.number * (7 if self.unit == "w" else 1)
        return np.arange(first, last + 1, length, dtype=np.int64)


def _day_of_month(months: Int64Array) -> Int64Array:
    """Find the first day of months, which are counted from January 1970."""
    dates = months.astype("datetime64[M]").astype("datetime64[D]")
    return np.asarray(dates.astype(np.int64))
