"""A lock for engines whose connections run one query at a time."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

import narwhals as nw

_LOCKED = {nw.Implementation.DUCKDB, nw.Implementation.IBIS, nw.Implementation.SQLFRAME}
if sys.version_info < (3, 12):  # whose locks of cached properties may deadlock: Dask has many
    _LOCKED.add(nw.Implementation.DASK)
_LOCK = RLock()  # one for all, because a relation does not reveal its connection


@contextmanager
def engine_lock(frame: object) -> Iterator[None]:
    """Hold the lock if the engine of a frame needs it; other engines run queries at once."""
    implementation = getattr(nw.from_native(frame, pass_through=True), "implementation", None)
    if implementation not in _LOCKED:
        yield
        return
    with _LOCK:
        yield
