"""Columns to codes, the way that the values of each allow; long columns on all cores."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from balframe.core.parallel import on_all_cores
from balframe.frames.hashing import MANY_ROWS
from balframe.frames.library import Column, Library, Name

_Encoded = TypeVar("_Encoded", Column, Column | None)


def encode(frame: Any, names: Iterable[Name], library: Library) -> dict[Name, Column]:  # noqa: ANN401
    """Take codes from the values where they allow it, and hash the others."""

    def one(name: Name) -> Column:
        direct = library.encode_direct(frame, name) if library.has_codes(frame, name) else None
        return direct or library.encode_hashed(frame, name)

    return _each(frame, names, library, one)


def encode_direct(
    frame: Any,  # noqa: ANN401
    names: Iterable[Name],
    library: Library,
) -> dict[Name, Column] | None:
    """Take codes from the values themselves; None where some column needs a hash table."""
    if not all(library.has_codes(frame, name) for name in names):
        return None
    columns = _each(frame, names, library, lambda name: library.encode_direct(frame, name))
    found = {name: column for name, column in columns.items() if column is not None}
    return found if len(found) == len(columns) else None


def _each(
    frame: Any,  # noqa: ANN401
    names: Iterable[Name],
    library: Library,
    work: Callable[[Name], _Encoded],
) -> dict[Name, _Encoded]:
    distinct = list(dict.fromkeys(names))
    if library.height(frame) < MANY_ROWS:
        return {name: work(name) for name in distinct}
    return dict(zip(distinct, on_all_cores(work, distinct), strict=True))
