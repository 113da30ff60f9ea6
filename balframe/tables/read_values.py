"""The values of a result of any library, as lists."""

from collections import Counter
from typing import Any

import numpy as np

from balframe._text import midnights_as_dates
from balframe.errors import InvalidInputError, UnsupportedTypeError, listed
from balframe.frames.convert_result import collect_result, row_dicts
from balframe.frames.engines.inputs import unwrap
from balframe.frames.engines.registry import PANDAS, POLARS, POLARS_LAZY, PYARROW, find_engine
from balframe.tables.format_cells import is_undefined
from balframe.tables.layout import Values


def read_values(frame: Any) -> Values:  # noqa: ANN401
    """Return a frame as lists of Python values, None for null."""
    engine = find_engine(unwrap(frame)[0])
    if engine not in (PANDAS, POLARS, POLARS_LAZY, PYARROW):
        raise UnsupportedTypeError(
            f"got a frame of {engine.name}; give the result of a method as a frame of pandas, "
            "polars or pyarrow."
        )
    frame = collect_result(frame)
    names = list(frame.column_names if engine is PYARROW else frame.columns)
    duplicates = [name for name, number in Counter(names).items() if number > 1]
    if duplicates:
        raise InvalidInputError(
            "the frame has several columns of the same name: "
            f"{listed(map(repr, duplicates))}; rename them."
        )
    rows = row_dicts(frame)
    return {name: midnights_as_dates([_python_value(row[name]) for row in rows]) for name in names}


def _python_value(value: Any) -> Any:  # noqa: ANN401 (of any type)
    """Return the Python number for one of numpy, and None for NaN."""
    value = value.item() if isinstance(value, np.generic) else value
    return None if is_undefined(value) else value
