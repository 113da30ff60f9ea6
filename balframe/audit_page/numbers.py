"""Numbers as the sentences and tables of an audit show them.

A number is rounded, but never onto a value that decides something, nor past it: 0.4 points is not
0, 99.97% is not 100%, and what is below a bound of 0.746 is not shown as 0.75.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Decimal
from typing import Any, NamedTuple, Self

import numpy as np

_MAX_DECIMALS = 5  # of a number near one that decides, which is then moved away from it
_MAX_COMPARED_DECIMALS = 10  # of a share near another share
_EQUAL = 1e-11  # numbers that differ by less are equal but for the rounding of a computer
_SMALLEST_P = 0.001
_SIGNS = "+\N{MINUS SIGN}"
_ENDS = (0.0, 100.0)  # no share is shown as none or all unless it is
_MAX_SCORE_DECIMALS = 17
_WITHOUT_EXPONENT = range(-6, 15)  # powers of ten


class Estimate(NamedTuple):
    """An estimate with its confidence limits, and the number of rows in its denominator.

    What is undefined is None.
    """

    value: float | None
    lower: float | None
    upper: float | None
    n: int = 0

    @classmethod
    def from_row(
        cls, row: Mapping[Any, Any], name: str, limits: str | None = None, n: str | None = "n"
    ) -> Self:
        """Read an estimate from a row of a result; `limits` is what their names begin with."""
        prefix = f"{name}_" if limits is None else limits
        lower, upper = row[f"{prefix}lower"], row[f"{prefix}upper"]
        return cls(row[name], lower, upper, 0 if n is None else row[n])

    @property
    def is_defined(self) -> bool:
        """Return whether the estimate is defined."""
        return self.value is not None

    @property
    def has_limits(self) -> bool:
        """Return whether both limits are defined."""
        return self.lower is not None and self.upper is not None

    @property
    def furthest_limit(self) -> float | None:
        """Return the size of the limit that is further from 0, which may be unknown."""
        limits = [abs(limit) for limit in (self.lower, self.upper) if limit is not None]
        return max(limits, default=None)


UNDEFINED = Estimate(None, None, None)


@dataclass(frozen=True, slots=True)
class Scale:
    """A unit of numbers in text.

    `decisive` are the values onto or past which no other value is rounded, in the unit shown.
    Limits never have a sign.
    """

    factor: float = 100.0
    decimals: int = 0
    decisive: Collection[float] = _ENDS
    sign: bool = False
    unit: str = ""

    def number(self, value: float) -> str:
        """Write a number without its unit."""
        scaled = value * self.factor
        text = _plain(*_round_to_side(scaled, self.decimals, self.decisive))
        return f"+{text}" if self.sign and scaled > 0 and _is_nonzero(text) else text

    def estimate(self, estimate: Estimate) -> str:
        """Write an estimate without its unit.

        It may be rounded onto a decisive value that its limits include.
        """
        if estimate.value is None:
            return "undefined"
        lower, upper = estimate.lower, estimate.upper
        if lower is None or upper is None or self.decisive is _ENDS:
            return self.number(estimate.value)
        low, high = lower * self.factor, upper * self.factor
        excluded = [value for value in self.decisive if not low <= value <= high]
        return replace(self, decisive=excluded).number(estimate.value)

    def limits(self, estimate: Estimate) -> str:
        """Write the limits: `64 to 66`."""
        if estimate.lower is None or estimate.upper is None:
            return "no limits"
        unsigned = replace(self, sign=False)
        return f"{unsigned.number(estimate.lower)} to {unsigned.number(estimate.upper)}"

    def with_unit(self, estimate: Estimate) -> str:
        """Write an estimate with its unit: `65%`."""
        return self.estimate(estimate) + (self.unit if estimate.is_defined else "")

    def with_limits(self, estimate: Estimate) -> str:
        """Write an estimate with its limits: `65% (64 to 66)`."""
        if estimate.value is None:
            return "undefined"
        return f"{self.with_unit(estimate)} ({self.limits(estimate)})"


def _round_to_side(scaled: float, least: int, decisive: Collection[float]) -> tuple[float, int]:
    """Round a number to as few decimals as keep it on its side of those that decide.

    Where too many decimals would be needed, return the next number on its side.
    """
    most = max(least, _MAX_DECIMALS)
    for decimals in range(least, most + 1):
        rounded = round(scaled, decimals)
        if all(_side(rounded, value) == _side(scaled, value) for value in decisive):
            return rounded, decimals
    step = 10.0**-most
    nearest = min(decisive, key=lambda value: abs(value - scaled)) / step
    is_above = scaled > nearest * step
    n_steps = math.floor(nearest + _EQUAL) + 1 if is_above else math.ceil(nearest - _EQUAL) - 1
    return n_steps * step, most


def _side(number: float, other: float) -> int:
    """Return whether a number is above another (1), below it (-1) or the same (0)."""
    return 0 if abs(number - other) <= _EQUAL else 1 if number > other else -1


def _plain(scaled: float, decimals: int) -> str:
    text = f"{scaled:,.{decimals}f}"
    return text.replace("-", "\N{MINUS SIGN}") if _is_nonzero(text) else text.lstrip("-")


def _is_nonzero(text: str) -> bool:
    return float(text.replace(",", "")) != 0


PERCENT = Scale(unit="%")
POINTS = Scale(decisive=(0.0,), sign=True)  # of percentages: +26
DISTANCE = Scale(decisive=(0.0,))  # how far two percentages are from each other
RATIO = Scale(factor=1.0, decimals=2, decisive=(0.0, 1.0))


def bounded_scale(bound: float) -> Scale:
    """Return a scale of plain numbers that are compared with a bound."""
    return Scale(factor=1.0, decimals=2, decisive=(0.0, 1.0, bound))


def comparison_scale(estimate: Estimate, share: float) -> Scale:
    """Return the scale of shares that keeps limits on their side of another share."""
    limits = [100 * limit for limit in estimate[1:3] if limit is not None]
    for decimals in range(_MAX_COMPARED_DECIMALS):
        rounded = round(100 * share, decimals)
        if all(_side(round(x, decimals), rounded) == _side(x, 100 * share) for x in limits):
            return replace(PERCENT, decimals=decimals)
    return replace(PERCENT, decimals=_MAX_COMPARED_DECIMALS)


def percent(value: float | None) -> str:
    """Write a share."""
    return PERCENT.with_unit(Estimate(value, None, None))


def share(part: float, whole: float) -> str:
    """Write a part of a whole as a share."""
    return percent(part / whole if whole else None)


def count(n: float) -> str:
    """Write a number of rows."""
    return f"{n:,.0f}"


def points(value: float | None) -> str:
    """Write a number of points, in words that fit the number."""
    return "an unknown number of points" if value is None else _noun(DISTANCE.number(value))


def points_more(estimate: Estimate) -> str:
    """Write how many points more or less, with the limits: `+26 points (22 to 30)`."""
    text = _noun(POINTS.estimate(estimate))
    return f"{text} ({POINTS.limits(estimate)})" if estimate.has_limits else text


def _noun(text: str) -> str:
    return f"{text} {'point' if text.lstrip(_SIGNS) == '1' else 'points'}"


def p_value(p: float | None, alpha: float) -> str:
    """Write a p-value, rounded away from the level at which it decides."""
    if p is None:
        return "\N{EN DASH}"
    least = min(_SMALLEST_P, alpha)
    if p < least:
        return "<" + f"{least:.6g}".removeprefix("0")
    rounded, decimals = _round_to_side(p, 3, (alpha,))
    return f"{rounded:.{decimals}f}".removeprefix("0")


def score_text(score: float) -> str:
    """Write a score as it is; one of 32 bits has fewer digits."""
    short = np.float32(score)
    is_short = float(short) == score and not score.is_integer()
    return _decimal_text(Decimal(str(short) if is_short else repr(score)))


def threshold_text(threshold: float, above: float) -> str:
    """Write the shortest number above one number and up to the threshold."""
    value = Decimal(repr(threshold))
    if above >= threshold or not _is_without_exponent(value):
        return score_text(threshold)
    for decimals in range(_MAX_SCORE_DECIMALS):
        shorter = value.quantize(Decimal(1).scaleb(-decimals), ROUND_FLOOR)
        if above < float(shorter) <= threshold:
            return _decimal_text(shorter)
    return _decimal_text(value)


def _decimal_text(value: Decimal) -> str:
    normal = value.normalize()
    text = f"{normal:,f}" if _is_without_exponent(value) else f"{normal:e}"
    return text.replace("-", "\N{MINUS SIGN}").removeprefix("\N{MINUS SIGN}" * value.is_zero())


def _is_without_exponent(value: Decimal) -> bool:
    return value.is_zero() or value.adjusted() in _WITHOUT_EXPONENT
