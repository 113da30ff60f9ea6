"""The function `slice_filter`, which selects the rows of a slice."""

from collections.abc import Sequence
from typing import Any

from balframe.api.checked_arguments import checked_arguments
from balframe.errors import InvalidInputError, listed
from balframe.frames.adapter import FrameT, Name
from balframe.frames.row_conditions import filter_rows, python_row


@checked_arguments
def slice_filter(frame: FrameT, row: Any) -> FrameT:  # noqa: ANN401 (a row of any library)
    """Return the rows of a frame that are in a slice.

    Parameters
    ----------
    frame : frame of any kind that `slices` takes, except streams
        The data that were searched, or other data with the same columns.
    row : mapping, pandas Series or frame of one row
        A row of the result of `slices` with `detail=True`: `out.row(0, named=True)` in polars,
        `out.iloc[0]` in pandas. Its column `on` and the columns that are named there are read.

    Returns
    -------
    frame of the same kind
        All columns of the rows that satisfy every condition of the slice.

    Raises
    ------
    BalframeError
        If the row is not one of a result of `slices`, or the frame lacks one of its columns.

    Examples
    --------
    >>> import polars as pl
    >>> import balframe as bf
    >>> df = pl.DataFrame({"sex": ["F", "F", "M"], "age": [31, 25, 31]})
    >>> row = {"on": "sex, age", "sex": "F", "age": "25 to 30"}
    >>> bf.slice_filter(df, row).rows()
    [('F', 25)]
    """
    values = python_row(row)
    if "on" not in values or not isinstance(values["on"], str):
        raise InvalidInputError(
            "the row has the columns {}, which are not those of a result of slices with {detail}; "
            "give a row of it with the column 'on' and the columns searched.",
            listed(map(repr, values)),
            detail=True,
        )
    names = _split_names(values["on"], list(values))
    if names is None:
        raise InvalidInputError(
            f"the slice is on {values['on']!r}, but the row has only the columns "
            f"{listed(map(repr, values))}; give the row with all columns searched."
        )
    selected: FrameT = filter_rows(frame, {name: values[name] for name in names})
    return selected


def _split_names(on: str, names: Sequence[Name]) -> list[Name] | None:
    """Return the names that are joined in a text, in their order; None if they are not."""
    for position, name in enumerate(names):
        if on == str(name):
            return [name]
        if on.startswith(f"{name}, "):
            others = _split_names(on.removeprefix(f"{name}, "), names[position + 1 :])
            if others is not None:
                return [name, *others]
    return None
