"""Scores and thresholds as sentences and tables show them."""

from decimal import ROUND_FLOOR, Decimal

import numpy as np

from balframe.audit_page.counted import Counted
from balframe.audit_page.measured_thresholds import NEVER, Threshold
from balframe.audit_page.text import given

_MOST_DECIMALS = 17
_PLAIN = range(-6, 15)  # powers of ten of numbers that are written without an exponent


def score_text(score: float) -> str:
    """Write a score as it is; one of 32 bits has fewer digits."""
    short = np.float32(score)
    is_short = float(short) == score and not score.is_integer()
    return _written(Decimal(str(short) if is_short else repr(score)))


def threshold_text(threshold: Threshold) -> str:
    """Write the shortest number that gives the same calls as a threshold."""
    value = Decimal(repr(threshold.value))
    is_plain = value.is_zero() or value.adjusted() in _PLAIN
    if threshold.above >= threshold.value or not is_plain:
        return score_text(threshold.value)
    for decimals in range(_MOST_DECIMALS):
        shorter = value.quantize(Decimal(1).scaleb(-decimals), ROUND_FLOOR)
        if threshold.above < float(shorter) <= threshold.value:
            return _written(shorter)
    return _written(value)


def _written(value: Decimal) -> str:
    is_plain = value.is_zero() or value.adjusted() in _PLAIN
    text = f"{value.normalize():,f}" if is_plain else f"{value.normalize():e}"
    return text.replace("-", "\N{MINUS SIGN}").removeprefix("\N{MINUS SIGN}" * value.is_zero())


def at_or_above(threshold: Threshold) -> str:
    """Say who is called: `5 or more`, or `never`."""
    return "never" if threshold.value == NEVER else f"{threshold_text(threshold)} or more"


def rounded(counted: Counted) -> str:
    """Say how scores were rounded; empty if they were not."""
    if counted.step is None:
        return ""
    return (
        f"There are very many different values of {given(str(counted.model.y_score))}. They were "
        f"rounded down to multiples of {score_text(counted.step)}."
    )
