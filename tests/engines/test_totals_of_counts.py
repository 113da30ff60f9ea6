"""Counts that stand for more rows than 32 bits hold, up to the last that 64 bits do, and past it."""

import sys
from operator import methodcaller

import polars as pl
import pyarrow as pa
import pytest
from constructors import plain

import balframe as bf

pytestmark = pytest.mark.slow
MOST = 2**63 - 1


@pytest.fixture(autouse=True)
def in_this_process():
    """Ask no workers of Dask: what is added up is the same to them, and later."""
    with pytest.MonkeyPatch.context() as patched:
        if "dask" in sys.modules:
            patched.setitem(sys.modules["dask"].config.config, "scheduler", "sync")
        yield


def rows_of(counts):
    """Give three segments their counts: right, wrong, right again."""
    columns = {"y": [1, 0, 1], "p": [1, 1, 1], "q": [0, 1, 1], "s": [0.75, 0.75, 0.75]}
    rows = {name: values * (len(counts) // 3) for name, values in columns.items()}
    return {**rows, "g": [*"aaabbbccc"][: len(counts)], "k": pa.array(counts, pa.int64())}


FITS = {
    "past 32 bits": [2**31, 2**31 - 1, 2**32 + 1, 1, 2, 3, 2**40 + 1, 2**40, 2**31 + 5],
    "past a float": [2**53 + 1, 1, 2**53, 1, 2**54 + 1, 1, 2**55 + 3, 2**52 + 1, 1],
    "the last": [2**62 - 1, 2**61, 1, 2**60 - 1, 2**60 - 1, 1, 0, 1, 1],
}
EXCEEDS = {
    "in a cell": [2**62, 0, 2**62, 0, 0, 0, 0, 0, 0],
    "in a segment": [2**62, 2**62, 1, 0, 0, 0, 0, 0, 0],
    "over segments": [2**62 - 1, 1, 0, 2**62 - 1, 1, 0, 1, 1, 1],
    "round once": [MOST, MOST, 2, 1, 1, 1, 1, 1, 1],
}


def check(frame, counts):
    report = bf.report(frame, "y", ["p", "q"], by="g", counts="k", margins="overall")
    rows = plain(report)
    parts = [counts[i : i + 3] for i in (0, 3, 6)] + [counts]
    totals = [sum(part) for part in parts for _ in "pq"]
    wrong = [(sum(part[1::3]), sum(part[::3]) + sum(part[1::3])) for part in parts]

    assert rows["n"] == totals
    right = [
        n - wrong for n, wrong in zip(totals, [w for pair in wrong for w in pair], strict=True)
    ]
    assert rows["accuracy"] == [
        pytest.approx(x / n, rel=1e-15) for x, n in zip(right, totals, strict=True)
    ]
    cells = plain(bf.confusion(frame, "y", "p", counts="k"))
    assert cells == {
        "y": [0, 1],
        "predicted": [1, 1],
        "n": [sum(counts[1::3]), sum(counts) - sum(counts[1::3])],
    } | {name: cells[name] for name in cells if name not in ("y", "predicted", "n")}
    curve = plain(bf.curve(frame, "y", "s", counts="k", thresholds=[0.5], metrics="recall"))
    assert (curve["n"], curve["recall"]) == ([sum(counts)], [1.0])
