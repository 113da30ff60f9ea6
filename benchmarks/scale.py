"""Time and peak memory of a streamed report over generated parquet files of growing size.

    python benchmarks/scale.py            # 25 to 200 million rows, about 6 GB of disk
    python benchmarks/scale.py --quick    # 1 to 8 million
    python benchmarks/scale.py --folder data    # keeps the files, or takes those that are there

Every measurement is a process of its own, whose peak resident memory is its own too.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROWS_OF_A_FILE = 5_000_000
MEASURED = """
import json, resource, sys, time
import polars as pl
import balframe as bf

files, case, n_rows = sys.argv[1], sys.argv[2], int(sys.argv[3])
scan = pl.scan_parquet(files)
calls = {
    "report": lambda: bf.report(scan, "y", "yhat", by="group"),
    "two by-columns, weights": lambda: bf.report(
        scan, "y", "yhat", by=["group", "region"], sample_weight="weight"
    ),
    "two models": lambda: bf.report(scan, "y", ["yhat", "other"], by="group"),
    "curve, 101 thresholds": lambda: bf.curve(scan, "y", "score", by="region", thresholds=101),
}
start = time.perf_counter()
answer = calls[case]().collect(engine="streaming")
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
n = answer["n"].sum() if case != "curve, 101 thresholds" else n_rows
print(json.dumps({"seconds": seconds, "peak": peak, "n": n}))
"""
ENGINES = {
    "polars": "import polars as pl; frame = pl.scan_parquet(files)",
    "DuckDB": "import duckdb; frame = duckdb.read_parquet(files)",
    "Dask, processes": """
from dask.distributed import Client
client = Client(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=":0")
import dask.dataframe as dd
frame = dd.read_parquet(files)""",
    "PySpark": """
from pyspark.sql import SparkSession
session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
session = session.config("spark.driver.memory", "4g").getOrCreate()
frame = session.read.parquet(files)""",
}
ON_ENGINE = """
import sys, time
import balframe as bf

def answer():
    result = bf.report(frame, "y", "yhat", by="group")
    return result.collect(engine="streaming") if hasattr(result, "collect") else result

if __name__ == "__main__":
    files = sys.argv[1]
    {frame}
    answer()
    start = time.perf_counter()
    n = int(answer()["n"].sum())
    print(n, time.perf_counter() - start)
"""
CASES = {"report": 1, "two by-columns, weights": 1, "two models": 2, "curve, 101 thresholds": 1}


def generate(folder: Path, n_files: int, rows_of_a_file: int) -> None:
    import numpy as np
    import polars as pl

    names = np.array([f"segment {i:04}" for i in range(1000)])
    regions = np.array(["north", "east", "south", "west"])
    for number in range(n_files):
        rng = np.random.default_rng(number)
        score = rng.random(rows_of_a_file)
        y = rng.random(rows_of_a_file) < score
        frame = pl.DataFrame(
            {
                "group": names[rng.integers(0, 1000, rows_of_a_file)],
                "region": regions[rng.integers(0, 4, rows_of_a_file)],
                "y": y,
                "yhat": score >= 0.5,
                "other": rng.random(rows_of_a_file) < 0.5,
                "score": score,
                "weight": rng.integers(1, 9, rows_of_a_file) / 4,
            }
        )
        frame.write_parquet(folder / f"{number:03}.parquet", row_group_size=500_000)


def measure(files: str, case: str, n_rows: int) -> dict[str, float]:
    command = [sys.executable, "-c", MEASURED, files, case, str(n_rows)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    assert found["n"] == n_rows * CASES[case]
    return found


def measure_engine(engine: str, files: str, n_rows: int) -> float:
    """Time the second of two reports: the first one starts the engine."""
    with tempfile.NamedTemporaryFile("w", suffix=".py") as program:
        program.write(ON_ENGINE.format(frame=ENGINES[engine].replace("\n", "\n    ")))
        program.flush()
        command = [sys.executable, program.name, files]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    n, seconds = done.stdout.split()[-2:]
    assert int(n) == n_rows
    return float(seconds)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    rows_of_a_file = 200_000 if given.quick else ROWS_OF_A_FILE
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        start = time.perf_counter()
        if not any(folder.iterdir()):
            generate(folder, 40, rows_of_a_file)
        size = sum(file.stat().st_size for file in folder.iterdir())
        print(f"40 files, {size / 2**30:.1f} GiB, in {time.perf_counter() - start:.0f} s\n")
        print("| case | million rows | s | million rows/s | peak, GiB |")
        print("| --- | ---: | ---: | ---: | ---: |")
        for case in CASES:
            for n_files in (5, 10, 20, 40):
                pattern = f"{folder}/0[{'0' if n_files <= 10 else f'0-{n_files // 10 - 1}'}]"
                pattern += "[0-4].parquet" if n_files == 5 else "[0-9].parquet"
                n_rows = n_files * rows_of_a_file
                runs = [measure(pattern, case, n_rows) for _ in range(3)]
                seconds = sorted(run["seconds"] for run in runs)[1]
                peak = max(run["peak"] for run in runs) / 2**30
                print(
                    f"| {case} | {n_rows / 1e6:g} | {seconds:.2f} | {n_rows / seconds / 1e6:.0f} "
                    f"| {peak:.2f} |",
                    flush=True,
                )
        n_rows = 10 * rows_of_a_file
        print(f"\n| engine, report of {n_rows / 1e6:g} million rows | s | million rows/s |")
        print("| --- | ---: | ---: |")
        for engine in ENGINES:
            runs = [measure_engine(engine, f"{folder}/00*.parquet", n_rows) for _ in range(3)]
            seconds = sorted(runs)[1]
            print(f"| {engine} | {seconds:.2f} | {n_rows / seconds / 1e6:.0f} |", flush=True)


if __name__ == "__main__":
    main()
