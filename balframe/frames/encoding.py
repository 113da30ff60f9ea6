"""Columns to codes, the way that the values of each allow."""

from collections.abc import Iterable
from typing import Any

from balframe.core.codes import are_worth_a_guess
from balframe.frames.library import Column, Library, Name


def encode(frame: Any, names: Iterable[Name], library: Library) -> dict[Name, Column]:  # noqa: ANN401
    """Take codes from the values where they allow it, and hash the others."""

    def one(name: Name) -> Column:
        has_codes = library.has_codes(frame, name)
        direct = library.encode_direct(frame, name, guess=False) if has_codes else None
        return direct or library.encode_hashed(frame, name)

    return {name: one(name) for name in dict.fromkeys(names)}


def encode_direct(
    frame: Any,  # noqa: ANN401
    names: Iterable[Name],
    library: Library,
    *,
    guess: bool,
) -> dict[Name, Column] | None:
    """Take codes from the values themselves; None where some column needs a hash table.

    Of long columns, a guess at their range is enough where counting tells if it was wrong.
    """
    distinct = list(dict.fromkeys(names))
    if not all(library.has_codes(frame, name) for name in distinct):
        return None
    guess = guess and are_worth_a_guess(library.height(frame))
    found = {name: library.encode_direct(frame, name, guess=guess) for name in distinct}
    columns = {name: column for name, column in found.items() if column is not None}
    return columns if len(columns) == len(found) else None
