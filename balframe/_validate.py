"""Checks of the values of options, each written once."""

import numpy as np

from balframe.errors import InvalidInputError, parameter


def check_min_support(min_support: object, least: int = 0) -> None:
    """Raise unless it is a number of rows."""
    is_count = isinstance(min_support, (int, np.integer)) and not isinstance(min_support, bool)
    if not is_count or min_support < least:  # type: ignore[operator]
        raise InvalidInputError(
            f"{parameter('min_support', min_support)} is not a number of rows; give a whole number "
            f"of at least {least}."
        )
