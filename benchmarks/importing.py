"""Times of fresh processes: of importing balframe beside a library of frames, and of a command."""

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.cases import POLARS
from benchmarks.data import generate

BOTH, LIBRARY = "import balframe, polars", "import polars"
TIMED = "import time; start = time.perf_counter(); {}; print(time.perf_counter() - start)"
FILE = "rows.csv"
COMMAND = f"balframe report {FILE} --y-true y --y-pred yhat"
HELP, PYTHON = "balframe report --help", "python -c pass"
ROWS = 1_000


@dataclass(frozen=True)
class Imports:
    """Medians in seconds; those of `command`, `help` and `python` are of whole processes."""

    both: float
    library: float
    command: float
    help: float
    python: float


def measure(runs: int) -> Imports:
    """Run each in turn, so that what slows the machine for a while slows all."""
    with TemporaryDirectory() as folder:
        rows = generate(replace(POLARS, rows=ROWS, segments=5)).frame
        rows.write_csv(Path(folder, FILE))
        timers = (
            *(partial(once, statement) for statement in (BOTH, LIBRARY)),
            *(partial(whole, command, folder) for command in (COMMAND, HELP, PYTHON)),
        )
        return Imports(*medians(timers, runs))


def medians(timers: tuple[Callable[[], float], ...], runs: int) -> list[float]:
    """Give the medians of some runs behind a first one, which reads the files from disk."""
    _, *rounds = [[timer() for timer in timers] for _ in range(runs + 1)]
    return [statistics.median(seconds) for seconds in zip(*rounds, strict=True)]


def once(statement: str) -> float:
    """Time a statement in a process of its own, from after the start of the interpreter."""
    command = [sys.executable, "-c", TIMED.format(statement)]
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def whole(command: str, folder: str) -> float:
    """Time a command of balframe or of Python, from the start of its process to the end."""
    program, *words = command.split()
    words = [sys.executable, *([] if program == "python" else ["-m", program]), *words]
    start = time.perf_counter()
    subprocess.run(words, check=True, stdout=subprocess.PIPE, cwd=folder)
    return time.perf_counter() - start
