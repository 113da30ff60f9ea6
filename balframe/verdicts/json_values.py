"""Values of Python, of data frames and of options as JSON has them."""

from collections.abc import Callable, Mapping
from datetime import date, datetime
from math import isfinite
from os import PathLike
from typing import Any

import numpy as np

from balframe._file_identity import base_name
from balframe._validate import is_list
from balframe.frames.counted_frame import is_null
from balframe.frames.engines.inputs import unwrap
from balframe.frames.engines.registry import find_engine, is_frame

JsonScalar = str | int | float | bool | None


def json_scalar(value: Any) -> JsonScalar:  # noqa: ANN401 (of any library)
    """Return a value of a frame: dates in ISO 8601, null as None, and what JSON lacks as text."""
    if is_null(value):
        return None
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return float(value) if isfinite(value) else str(float(value))
    return value.isoformat() if isinstance(value, date) else str(value)


def json_day(value: Any) -> JsonScalar:  # noqa: ANN401 (of any library)
    """Return a day, for which pandas has a time at midnight."""
    return json_scalar(value.date() if isinstance(value, datetime) else value)


def json_option(value: Any, is_path: Callable[[Any], bool] | None = None) -> Any:  # noqa: ANN401
    """Return the value of an option, with files by their names, and frames by their library.

    `is_path` is whether a text in it is a path.
    """
    if isinstance(value, PathLike) or (is_path is not None and is_path(value)):
        return base_name(value)
    if isinstance(value, Mapping):
        return {str(name): json_option(item, is_path) for name, item in value.items()}
    native, _ = unwrap(value)
    if is_frame(native):
        return f"a frame of {find_engine(native).name}"
    return [json_option(item, is_path) for item in value] if is_list(value) else json_scalar(value)
