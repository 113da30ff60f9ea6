"""Work on all cores: numpy and scipy release the lock while they compute."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Part = TypeVar("Part")


def on_all_cores(work: Callable[[Part], None], parts: Iterable[Part]) -> None:
    """Do the work on every part; the first error is raised."""
    every = list(parts)
    if len(every) < 2:
        for part in every:
            work(part)
        return
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(work, every))
