"""Time of importing balframe beside a library of frames, in fresh processes."""

import statistics
import subprocess
import sys
from dataclasses import dataclass

BOTH, LIBRARY = "import balframe, polars", "import polars"
TIMED = "import time; start = time.perf_counter(); {}; print(time.perf_counter() - start)"


@dataclass(frozen=True)
class Imports:
    """Medians in seconds."""

    both: float
    library: float


def measure(runs: int) -> Imports:
    """Import each in turn, so that what slows the machine for a while slows both."""
    found: dict[str, list[float]] = {BOTH: [], LIBRARY: []}
    for run in range(runs + 1):
        for statement, seconds in found.items():
            taken = once(statement)
            if run > 0:  # the first reads the files from disk
                seconds.append(taken)
    return Imports(*(statistics.median(seconds) for seconds in found.values()))


def once(statement: str) -> float:
    """Time a statement in a process of its own, from after the start of the interpreter."""
    command = [sys.executable, "-c", TIMED.format(statement)]
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
