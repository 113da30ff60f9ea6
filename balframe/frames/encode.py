"""Columns to codes, the way that the values of each allow; long columns on all cores."""

from collections.abc import Iterable
from typing import Any

from balframe.core.parallel import are_many, on_all_cores
from balframe.frames.library import Column, Library, Name


def encode(frame: Any, names: Iterable[Name], library: Library) -> dict[Name, Column]:  # noqa: ANN401
    """Take codes from the values where they allow it, and hash the others."""
    distinct = list(dict.fromkeys(names))
    coded = [name for name in distinct if library.has_codes(frame, name)]
    found = _direct(frame, coded, library, guess=False)
    return {name: found.get(name) or library.encode_hashed(frame, name) for name in distinct}


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
    found = _direct(frame, distinct, library, guess=guess)
    return found if len(found) == len(distinct) else None


def _direct(
    frame: Any,  # noqa: ANN401
    names: list[Name],
    library: Library,
    *,
    guess: bool,
) -> dict[Name, Column]:
    """Take codes from the values of those columns that allow it."""
    is_long = are_many(library.height(frame))

    def one(name: Name) -> Column | None:
        return library.encode_direct(frame, name, guess=guess and is_long)

    columns = on_all_cores(one, names) if is_long else map(one, names)
    return {name: c for name, c in zip(names, columns, strict=True) if c is not None}
