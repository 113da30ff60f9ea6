"""`slice_filter` selects in an engine the rows that `slices` counted there."""

import random

import pytest

import balframe as bf
from tests.support.constructors import plain

RNG = random.Random(4)
N = 600


def rows():
    """Draw rows of text, integers and floats with nulls, of which some are often wrong."""
    out = {name: [] for name in ("g", "k", "x", "y", "p")}
    for _ in range(N):
        g, k, y = RNG.choice(["a", "b", None]), RNG.choice([-1, 0, 3]), RNG.choice([0, 1])
        x = RNG.choice([None, *(i / 4 for i in range(60))])
        is_bad = (g is None) + (k == 3) + (x is not None and x < 4)
        p = 1 - y if RNG.random() < (0.08, 0.5, 0.7, 0.9)[is_bad] else y
        for name, value in zip(out, (g, k, x, y, p), strict=True):
            out[name].append(value)
    return out


ROWS = rows()


@pytest.mark.any_version
def test_slice_filter_selects_the_rows_counted_for_each_slice(grouping_engine):
    frame = grouping_engine(ROWS)
    result = plain(
        bf.slices(frame, "y", "p", over=["g", "k", "x"], metrics="accuracy", detail=True)
    )

    assert {"g", "k", "x"} <= {name for on in result["on"] for name in on.split(", ")}
    for i, n in enumerate(result["n"]):
        row = {name: values[i] for name, values in result.items()}
        inside = plain(bf.report(bf.slice_filter(frame, row), "y", "p", metrics="accuracy"))
        assert (inside["n"], inside["accuracy"]) == ([n], [pytest.approx(row["estimate"])])
