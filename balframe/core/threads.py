"""Work on all cores: numpy and scipy release the lock while they compute."""

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from balframe.core.counting_strategy import should_share

Part = TypeVar("Part")
Result = TypeVar("Result")

_here = threading.local()


def run_on_all_cores(work: Callable[[Part], Result], parts: Iterable[Part]) -> list[Result]:
    """Do the work on every part and list what comes of each; the first error is raised.

    Work that is itself a part of such work goes on in its own thread. numpy treats floating-point
    errors in all threads as in the calling one.
    """
    every = list(parts)
    if len(every) < 2 or getattr(_here, "is_worker", False):
        return [work(part) for part in every]
    float_errors = np.geterr()

    def begin() -> None:
        _here.is_worker = True
        np.seterr(**float_errors)

    with ThreadPoolExecutor(os.cpu_count(), initializer=begin) as pool:
        return list(pool.map(work, every))


def row_spans(rows: int) -> list[slice]:
    """Share rows out among the cores, where they are many."""
    n = (os.cpu_count() or 1) if should_share(rows) else 1
    return [slice(rows * i // n, rows * (i + 1) // n) for i in range(n)]
