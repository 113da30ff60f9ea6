"""Names that SQLFrame does not read as those of columns."""

from collections.abc import Iterable
from typing import Any

from balframe.errors import InvalidInputError, first_line, listed
from balframe.frames.library import Name

_ADVICE = "Rename it where the frame is made, before SQLFrame reads it."


def check_columns(frame: Any) -> None:  # noqa: ANN401 (of a library that need not be there)
    """Refuse a frame whose columns SQLFrame itself does not tell apart, or does not find."""
    names, n_columns = frame.columns, len(frame.expression.expressions)
    if len(names) != n_columns:
        raise InvalidInputError(
            f"the SQLFrame frame has {n_columns} columns, of which SQLFrame has lost the name of "
            f"one: it knows {listed(map(repr, names))}. It loses names that are words of SQL, as "
            f"current_date is, or hold a quotation mark. {_ADVICE}"
        )
    try:
        _ = frame.schema
    except Exception as error:  # of its parser, or of the database
        reason = first_line(error.__cause__ or error).rstrip(".!")
        odd = [name for name in names if not (name.isascii() and name.isidentifier())]
        advice = "Leave that column out, or cast it, where the frame is made."
        if odd:
            advice = (
                "It may have read the name of a column as something else: names that are not of "
                f"letters from A to Z, digits and _ alone are {listed(map(repr, odd))}. {_ADVICE}"
            )
        raise InvalidInputError(
            f"SQLFrame cannot describe its frame: {reason}. {advice}"
        ) from error


def check_names(names: Iterable[Name]) -> None:
    """Refuse names that SQLFrame reads as a number, a text or null."""
    from sqlframe.base.functions import col

    for name in map(str, names):
        try:
            meaning = col(name).expression.key
        except Exception:  # of its parser: what is no SQL is only a name
            continue
        if meaning in ("literal", "null"):
            raise InvalidInputError(
                f"column {name!r} has a name that SQLFrame reads as a value, the same in every "
                f"row; it takes names that are no number, no text in quotes and not null. {_ADVICE}"
            )
