"""Work on all cores: numpy and scipy release the lock while they compute."""

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Part = TypeVar("Part")

_here = threading.local()


def on_all_cores(work: Callable[[Part], None], parts: Iterable[Part]) -> None:
    """Do the work on every part; the first error is raised.

    Work that is itself a part of such work goes on in its own thread.
    """
    every = list(parts)
    if len(every) < 2 or getattr(_here, "is_worker", False):
        for part in every:
            work(part)
        return
    with ThreadPoolExecutor(os.cpu_count(), initializer=_mark) as pool:
        list(pool.map(work, every))


def _mark() -> None:
    _here.is_worker = True
