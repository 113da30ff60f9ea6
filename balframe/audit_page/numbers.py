"""Numbers as the sentences and tables of an audit show them.

A number is rounded, but never onto a value that decides something, nor past it: 0.4 points is not
0, 99.97% is not 100%, and what is below a bound of 0.746 is not shown as 0.75.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import NamedTuple

_MOST_DECIMALS = 10
_SAME = 1e-11  # numbers that differ by less are equal but for the rounding of a computer
_SMALLEST_P = 0.001
_SIGNS = "+\N{MINUS SIGN}"
_ENDS = (0.0, 100.0)  # no share is shown as none or all unless it is


class Estimate(NamedTuple):
    """An estimate with its confidence limits, and the number of rows in its denominator.

    What is undefined is None.
    """

    value: float | None
    lower: float | None
    upper: float | None
    n: int = 0

    @property
    def is_known(self) -> bool:
        """Tell whether the estimate is defined."""
        return self.value is not None

    @property
    def has_limits(self) -> bool:
        """Tell whether both limits are defined."""
        return self.lower is not None and self.upper is not None


@dataclass(frozen=True, slots=True)
class Scale:
    """A unit of numbers in text.

    `decisive` are the values onto or past which no other value is rounded, in the unit shown.
    """

    factor: float = 100.0
    decimals: int = 0
    decisive: Collection[float] = _ENDS
    sign: bool = False
    unit: str = ""

    def text(self, value: float) -> str:
        """Write a number without its unit."""
        shown = value * self.factor
        decimals = _decimals(shown, self.decimals, self.decisive)
        return _signed(shown, decimals) if self.sign else _unsigned(shown, decimals)

    def estimate(self, of: Estimate) -> str:
        """Write an estimate, which may be rounded onto a value that its limits include."""
        if of.value is None:
            return "undefined"
        is_open = of.lower is not None and of.upper is not None and self.decisive is not _ENDS
        excluded = [
            one
            for one in self.decisive
            if not is_open or not of.lower * self.factor <= one <= of.upper * self.factor  # type: ignore[operator]
        ]
        return replace(self, decisive=excluded).text(of.value)

    def limits(self, of: Estimate) -> str:
        """Write the limits: `64 to 66`."""
        if of.lower is None or of.upper is None:
            return "no limits"
        return f"{self.text(of.lower)} to {self.text(of.upper)}"

    def written(self, of: Estimate) -> str:
        """Write an estimate with its limits: `65% (64 to 66)`."""
        if of.value is None:
            return "undefined"
        return f"{self.estimate(of)}{self.unit} ({self.limits(of)})"


def _decimals(shown: float, least: int, decisive: Collection[float]) -> int:
    """Find how many decimals keep a number on its side of those that decide."""
    for decimals in range(least, _MOST_DECIMALS):
        rounded = round(shown, decimals)
        if all(_side(rounded, one) == _side(shown, one) for one in decisive):
            return decimals
    return _MOST_DECIMALS


def _side(number: float, of: float) -> int:
    """Tell whether a number is above another (1), below it (-1) or the same (0)."""
    return 0 if abs(number - of) <= _SAME else 1 if number > of else -1


def _unsigned(shown: float, decimals: int) -> str:
    text = f"{shown:,.{decimals}f}"
    return text.replace("-", "\N{MINUS SIGN}") if float(text.replace(",", "")) else text.lstrip("-")


def _signed(shown: float, decimals: int) -> str:
    text = _unsigned(shown, decimals)
    return f"+{text}" if shown > 0 and float(text.replace(",", "")) else text


PERCENT = Scale(unit="%")
POINTS = Scale(decisive=(0.0,), sign=True)  # of percentages: +26
APART = Scale(decisive=(0.0,))  # how far two percentages are from each other
RATIO = Scale(factor=1.0, decimals=2, decisive=(0.0, 1.0))


def percent(value: float | None) -> str:
    """Write a share."""
    return "undefined" if value is None else f"{PERCENT.text(value)}%"


def share(part: float, whole: float) -> str:
    """Write a part of a whole as a share."""
    return percent(part / whole if whole else None)


def beside(of: Estimate, other: float) -> Scale:
    """Choose the decimals of shares that keep limits on their side of another share."""
    ends = [100 * one for one in (of.lower, of.upper) if one is not None]
    for decimals in range(_MOST_DECIMALS):
        shown = round(100 * other, decimals)
        if all(_side(round(one, decimals), shown) == _side(one, 100 * other) for one in ends):
            return replace(PERCENT, decimals=decimals)
    return replace(PERCENT, decimals=_MOST_DECIMALS)


def count(n: float) -> str:
    """Write a number of rows."""
    return f"{n:,.0f}"


def points(value: float | None) -> str:
    """Say how many points, in words that fit the number."""
    if value is None:
        return "an unknown number of points"
    return _with_noun(APART.text(value))


def points_more(of: Estimate) -> str:
    """Say how many points more or less, with the limits: `+26 points (22 to 30)`."""
    return f"{_with_noun(POINTS.estimate(of))}{f' ({APART.limits(of)})' if of.has_limits else ''}"


def _with_noun(text: str) -> str:
    return f"{text} {'point' if text.lstrip(_SIGNS) == '1' else 'points'}"


def p_value(p: float | None, alpha: float) -> str:
    """Write a p-value, kept apart from the level at which it decides."""
    if p is None:
        return "\N{EN DASH}"
    least = min(_SMALLEST_P, alpha)
    if p < least:
        return "<" + f"{least:.6g}".removeprefix("0")
    return f"{p:.{_decimals(p, 3, (alpha,))}f}".removeprefix("0")
