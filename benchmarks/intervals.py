"""Time and memory of limits, rules and gaps over 100,000 segments whose counts all differ.

Run with `.venv/bin/python benchmarks/intervals.py`. Each case runs in a process of its own.
"""

import resource
import subprocess
import sys
import time

import numpy as np
import polars as pl

import balframe as bf

SEGMENTS = 100_000


def cells(labels: int) -> pl.DataFrame:
    """Draw a confusion matrix for every segment."""
    random = np.random.default_rng(1)
    support = random.integers(5, 2_000, (SEGMENTS, labels))
    correct = (support * random.uniform(0.5, 1, support.shape)).astype(int)
    segment, label = (index.ravel() for index in np.indices(support.shape))
    hits = {"g": segment, "y": label, "yhat": label, "n": correct.ravel()}
    misses = {**hits, "yhat": (label + 1) % labels, "n": (support - correct).ravel()}
    return pl.concat([pl.DataFrame(hits), pl.DataFrame(misses)])


def run(labels: int, interval: str) -> None:
    """Time one case beyond the report without limits."""
    frame = cells(labels)
    start = time.perf_counter()
    bf.report(frame, "y", "yhat", by="g", counts="n")
    plain = time.perf_counter() - start
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    options = {"by": "g", "counts": "n"}
    if interval == "check":
        bf.check(frame, "y", "yhat", rules="balanced_accuracy >= 0.7", **options)
    elif interval == "gaps":
        bf.gaps(frame, "y", "yhat", metrics="balanced_accuracy", **options)
    else:
        method = True if interval == "default" else interval
        bf.report(frame, "y", "yhat", interval=method, **options)
    seconds = time.perf_counter() - start
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"{labels} labels, {interval}: {seconds:.2f} s ({plain:.2f} s without limits), "
        f"peak memory {most / 1024:.0f} MB ({before / 1024:.0f} MB before)",
        flush=True,
    )


if __name__ == "__main__":
    if len(sys.argv) == 3:
        run(int(sys.argv[1]), sys.argv[2])
    else:
        for labels in (2, 5):
            for interval in ("default", "scas", "mover", "posterior", "check", "gaps"):
                subprocess.run([sys.executable, __file__, str(labels), interval], check=True)
