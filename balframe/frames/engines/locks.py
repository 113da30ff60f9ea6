"""One thread at a time, for engines whose connections answer one question at a time."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

import narwhals as nw

_ALONE = {nw.Implementation.DUCKDB, nw.Implementation.IBIS, nw.Implementation.SQLFRAME}
if sys.version_info < (3, 12):  # whose cached properties lock each other out: Dask has many
    _ALONE.add(nw.Implementation.DASK)
_TURN = RLock()  # of all of them, for a relation does not say which connection it is of


@contextmanager
def in_turn(frame: object) -> Iterator[None]:
    """Wait until no other thread asks such an engine; others answer several at once."""
    holder = getattr(nw.from_native(frame, pass_through=True), "implementation", None)
    if holder not in _ALONE:
        yield
        return
    with _TURN:
        yield
