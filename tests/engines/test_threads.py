"""Several threads ask one frame of an engine at once, and get what one thread gets."""

import random
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest

import balframe as bf
from tests.support.constructors import plain

pytestmark = pytest.mark.any_version

RNG = random.Random(7)
ROWS = {name: [RNG.choice(values) for _ in range(60)] for name, values in {
    "g": "abc", "y": [0, 1], "p": [0, 1], "q": [0, 1], "s": [0.25, 0.5, 1.0],
}.items()}  # fmt: skip
CALLS = {
    "report": lambda df: bf.report(df, "y", ["p", "q"], by="g"),
    "curve": lambda df: bf.curve(df, "y", "s", by="g", thresholds=("quantiles", 3)),
    "backend": lambda df: bf.confusion(df, "y", "p", backend="pyarrow"),
}
FEW = {"spark": 3, "sqlframe": 3, "dask": 5}  # rounds, of engines that take long for each


def test_concurrent_results_equal_those_of_a_single_thread(engine, request):
    name = request.node.callspec.params["engine"]
    if name == "sqlite":
        pytest.skip("tables of SQLite are of one thread, and say so")
    frame = engine(ROWS)
    expected = {call: plain(method(frame)) for call, method in CALLS.items()}
    with ThreadPoolExecutor(8) as pool:
        waiting = [
            (call, pool.submit(method, frame))
            for _ in range(FEW.get(name, 25))
            for call, method in CALLS.items()
        ]
    for call, found in waiting:
        assert plain(found.result()) == expected[call]


def test_threads_read_several_relations_of_one_connection(duckdb):
    frames = [duckdb(ROWS), duckdb(ROWS).filter("g <> 'b'"), duckdb(ROWS).project("y, p, g")]
    expected = [plain(bf.report(frame, "y", "p", by="g")) for frame in frames]
    with ThreadPoolExecutor(8) as pool:
        waiting = [pool.submit(bf.report, frame, "y", "p", by="g") for frame in frames * 30]
    assert [plain(one.result()) for one in waiting] == expected * 30


def test_an_error_does_not_block_other_threads(duckdb, sqlite):
    for frame in (duckdb(ROWS), sqlite(ROWS)):
        with pytest.raises(bf.InvalidInputError, match="more than 1 cells"):
            bf.report(frame, "y", "p", max_cells=1)
    with ThreadPoolExecutor(1) as pool:
        assert plain(pool.submit(bf.report, duckdb(ROWS), "y", "p").result())["n"] == [60]
        with pytest.raises(sqlite3.ProgrammingError, match="same thread"):
            pool.submit(bf.report, sqlite(ROWS), "y", "p").result()
