"""Checks of the values of options, each written once."""

from typing import TypeGuard

import numpy as np

from balframe.errors import InvalidInputError, parameter


def is_whole_number(value: object, least: int | None = None) -> TypeGuard[int]:
    """Return whether a value is an integer of Python or NumPy, and not below `least`."""
    is_integer = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return is_integer and (least is None or int(value) >= least)  # type: ignore[call-overload]


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a number of Python or NumPy."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def check_min_support(min_support: object, least: int = 0) -> None:
    """Raise unless it is a number of rows."""
    if not is_whole_number(min_support, least):
        raise InvalidInputError(
            f"{parameter('min_support', min_support)} is not a number of rows; give a whole number "
            f"of at least {least}."
        )
