"""Runs of known cells, and a program that stores them one after another until it is ended.

python -m tests.store.runs TABLE FIRST LAST MODEL
"""

import sys
from datetime import date, timedelta
from tempfile import TemporaryDirectory

import polars as pl

import balframe as bf

SEGMENTS = 50
CELLS = 4 * SEGMENTS  # of each run
FIRST_DAY = date(2026, 1, 1)
LABELS = {"y": [0, 0, 1, 1], "yhat": [0, 1, 0, 1]}


def counts_of(number):
    """Return the counts of a run: 4 cells for each of 50 segments, all of them distinct."""
    segments = pl.DataFrame({"g": [f"s{i:02}" for i in range(SEGMENTS)]})
    cells = segments.join(pl.DataFrame(LABELS), how="cross")
    return cells.with_columns(k=pl.int_range(1, CELLS + 1, dtype=pl.Int64) + 1000 * number)


def day_of(number):
    return FIRST_DAY + timedelta(number)


def store_number(table, number, model="m"):
    return bf.store(
        counts_of(number),
        table,
        "y",
        "yhat",
        by="g",
        counts="k",
        run=f"r{number}",
        date=day_of(number),
        model=model,
    )


def read_numbers(table):
    """Return the rows of all runs of a table, each run as a frame, by number."""
    rows = pl.scan_delta(str(table)).collect()
    return {int(run[1:]): frame for (run,), frame in rows.group_by("run")}


def assert_whole(number, frame):
    """Check that a run is there as it was written, with every cell once."""
    cells = frame.select("g", "y", "yhat", k="n").sort("g", "y", "yhat")
    assert cells.equals(counts_of(number)), f"run {number} has {frame.height} cells"
    assert frame["date"].unique().to_list() == [day_of(number)]


def main(table, first, last, model):
    with TemporaryDirectory() as folder:  # so that all is loaded
        store_number(f"{folder}/runs", 0)
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(int(first), int(last) + 1):
        try:
            status = store_number(table, number, model).status
        except bf.InvalidInputError:
            status = "refused"
        print(number, status, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
