"""Checks of the values of options, each written once."""

import sys
from collections.abc import Iterable, Mapping, Set
from numbers import Integral, Rational, Real
from typing import Any, TypeGuard

from balframe.errors import InvalidInputError, parameter


def is_whole_number(value: object, least: int | None = None) -> TypeGuard[int]:
    """Return whether a value is an integer of Python or NumPy, and not below `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        return False
    return least is None or int(value) >= least


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a number of Python or NumPy that a float can hold."""
    if isinstance(value, Integral):
        return is_whole_number(value) and abs(value) <= sys.float_info.max
    return isinstance(value, Real) and not isinstance(value, Rational)  # a Fraction is none


def builtin_scalar(value: object) -> object:
    """Return a boolean, an integer or a text of NumPy as Python's own, other values unchanged."""
    numpy = sys.modules.get("numpy")  # importing it would slow down `import balframe`
    kinds = () if numpy is None else (numpy.bool_, numpy.integer, numpy.str_)
    return value.item() if isinstance(value, kinds) else value


def is_iterable(value: object) -> TypeGuard[Iterable[Any]]:
    """Return whether this can be listed; an array of no dimension and a class only look like it."""
    try:
        iter(value)  # type: ignore[call-overload]
    except TypeError:
        return False
    return True


def is_list(value: object) -> TypeGuard[Iterable[Any]]:
    """Return whether this can be listed in an order, which text, sets and mappings have not."""
    return is_iterable(value) and not isinstance(value, (str, bytes, Set, Mapping))


def check_min_support(min_support: object, least: int = 0) -> None:
    """Raise unless it is a number of rows."""
    if not is_whole_number(min_support, least):
        raise InvalidInputError(
            "{min_support} is not a number of rows; give a whole number of at least {}.",
            least,
            min_support=min_support,
        )


def check_level(level: object) -> None:
    """Raise unless the level is a number between 0 and 1."""
    if not is_number(level) or not 0 < level < 1:
        raise InvalidInputError(
            "{level} is not a confidence level; give a number between 0 and 1, such as 0.95.",
            level=level,
        )


def check_choice(argument: str, value: object, allowed: Iterable[object], reason: str = "") -> None:
    """Raise unless the value is one of those allowed (1 is not False), with a reason if any."""
    options, builtin = list(allowed), builtin_scalar(value)
    if not any(type(builtin) is type(option) and builtin == option for option in options):
        raise InvalidInputError(
            "{} is not one of the options: {}.{}",
            parameter(argument, value),
            ", ".join(map(repr, options)),
            reason,
        )


def check_max_cells(max_cells: object) -> None:
    """Raise if it is not a number of cells."""
    if not is_whole_number(max_cells, 1):
        raise InvalidInputError(
            "{max_cells} is not a number of cells; give a whole number of at least 1.",
            max_cells=max_cells,
        )
