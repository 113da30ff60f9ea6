"""Peak memory of a report beyond its input, each in a process of its own (Linux).

The parent writes the rows to a file. The child reads it, gives back what reading left over, sets
the peak that Linux keeps back to what is resident, asks for a report and looks at the peak.
"""

import ctypes
import gc
import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pandas as pd
import polars as pl

from benchmarks.cases import IN_CLUSTERS, PANDAS, POLARS, Case
from benchmarks.data import generate
from benchmarks.peers import report

CASES: list[Case] = [
    POLARS,
    replace(POLARS, by="string"),
    PANDAS,
    replace(PANDAS, by="string"),
    IN_CLUSTERS,
]
# Allocators that keep what was freed for later would hide what the report takes.
ALLOCATORS = {
    "_RJEM_MALLOC_CONF": "dirty_decay_ms:0,muzzy_decay_ms:0",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
STATUS, CLEAR_REFS = Path("/proc/self/status"), Path("/proc/self/clear_refs")
IMPOSSIBLE = "impossible"


def measure(case: Case, runs: int) -> float | None:
    """Find the most bytes beyond the input of some runs; None where Linux's files are not there."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.parquet"
        frame = generate(case).frame
        rows = frame if isinstance(frame, pl.DataFrame) else pl.from_pandas(frame)
        rows.write_parquet(file, compression="uncompressed")
        del frame, rows
        command = [sys.executable, "-m", "benchmarks.memory", str(file), case.frame]
        command += [str(case.clusters)]
        said = [
            subprocess.run(
                command, check=True, stdout=subprocess.PIPE, text=True, env=os.environ | ALLOCATORS
            ).stdout.strip()
            for _ in range(runs)
        ]
    return None if IMPOSSIBLE in said else max(map(float, said))


def child(file: Path, library: str, clusters: int) -> str:
    """Read, report, and say how far the peak is above what was resident before."""
    frame: pl.DataFrame | pd.DataFrame
    frame = pl.read_parquet(file).rechunk() if library == "polars" else pd.read_parquet(file)
    case = Case(clusters=clusters)
    report(frame.head(1_000), case)  # loads what is loaded at first use
    trim()
    if not reset_peak():
        return IMPOSSIBLE
    before = status("VmRSS")
    report(frame, case)
    return str(status("VmHWM") - before)


def trim() -> None:
    """Give freed memory back to the system."""
    gc.collect()
    if hasattr(library := ctypes.CDLL(None), "malloc_trim"):
        library.malloc_trim(0)


def reset_peak() -> bool:
    """Set the peak to what is resident now, and tell whether that was possible."""
    try:
        CLEAR_REFS.write_text("5")
        return status("VmHWM") - status("VmRSS") < 2**20
    except OSError:
        return False


def status(name: str) -> int:
    """Read an entry of Linux's status of this process, in bytes."""
    for line in STATUS.read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise OSError(f"no {name} in {STATUS}")


if __name__ == "__main__":
    print(child(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
