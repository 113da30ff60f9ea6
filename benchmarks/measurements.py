"""All that one run has measured."""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks import importing, memory
from benchmarks.cases import CASES, Case
from benchmarks.importing import Imports
from benchmarks.test_peers import SHRINK

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Timing:
    """The median of some rounds, and how many rows were read in each."""

    seconds: float
    rounds: int
    rows: int

    @property
    def nanoseconds_per_row(self) -> float:
        """How much of the time belongs to one row."""
        return self.seconds * 1e9 / self.rows


@dataclass(frozen=True)
class Measurements:
    """Times by case and peer, bytes by case, and times of imports."""

    times: dict[tuple[Case, str], Timing]
    memory: dict[Case, float | None]
    imports: Imports
    divisor: int


def measure(divisor: int) -> Measurements:
    """Measure everything, on as many times fewer rows as asked."""
    full = divisor == 1
    with tempfile.TemporaryDirectory() as folder:
        times = timings(Path(folder) / "times.json", divisor)
    return Measurements(
        times,
        {case: memory.measure(case.shrunk(divisor), 3 if full else 1) for case in memory.CASES},
        importing.measure(15 if full else 3),
        divisor,
    )


def timings(file: Path, divisor: int) -> dict[tuple[Case, str], Timing]:
    """Run pytest-benchmark in a process of its own, and stop if it fails."""
    command = [sys.executable, "-m", "pytest", "benchmarks/test_peers.py", "-n", "0", "-q"]
    command += [f"--benchmark-json={file}", "--benchmark-columns=median,iqr,rounds"]
    environment = os.environ | {SHRINK: str(divisor)}
    subprocess.run(command, check=True, cwd=ROOT, env=environment)
    cases = {case.title: case for case in CASES}
    found = {}
    for timed in json.loads(file.read_text())["benchmarks"]:
        about, stats = timed["extra_info"], timed["stats"]
        timing = Timing(stats["median"], stats["rounds"], about["rows"])
        found[cases[about["case"]], about["peer"]] = timing
    return found
