"""Charts, tables and gates show one thing of the same rows, from any library and any thread."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest

import balframe as bf

pytestmark = pytest.mark.any_version
LABELS = {"y_true": "y", "y_pred": "p", "by": "g"}
SCORES = {"y_true": "y", "y_score": "s", "by": "g"}


def chart(draw, frame, **how):
    """Give the whole specification of a chart, its data among it."""
    return json.dumps(draw(frame, **how).to_dict(), sort_keys=True)


def table(frame):
    """Give the page of a table without the id that is drawn anew for each."""
    shown = bf.table(bf.report(frame, **LABELS, interval=True)).as_raw_html()
    (identity,) = set(re.findall(r'<div id="(\w+)"', shown))
    return shown.replace(identity, "")


def refusal(frame):
    with pytest.raises(bf.CheckFailed) as raised:
        bf.require(frame, "y", "p", rules=["recall >= 0.9", "n >= 9"], by="g")
    return str(raised.value)


def combined(frame):
    cells = bf.confusion(frame, **LABELS)
    out = bf.combine([cells, cells])
    return out.to_dict("list") if isinstance(out, pd.DataFrame) else out.to_dict(as_series=False)


SHOWN = {
    "report": partial(chart, bf.plot.report, **LABELS),
    "confusion": partial(chart, bf.plot.confusion, **LABELS),
    "curve": partial(chart, bf.plot.curve, **SCORES),
    "roc": partial(chart, bf.plot.roc, **SCORES),
    "gaps": partial(chart, bf.plot.gaps, **LABELS),
    "table": table,
    "require": refusal,
    "combine": combined,
}


def rows(n=200):
    rng = np.random.default_rng(8)
    columns = {name: rng.integers(0, 2, n).tolist() for name in "yp"}
    groups = rng.choice(["é", "b", "A"], n).tolist()
    return pl.DataFrame({**columns, "g": groups, "s": rng.random(n).round(2).tolist()})


@pytest.mark.thorough
@pytest.mark.parametrize("show", SHOWN.values(), ids=SHOWN)
def test_output_does_not_depend_on_row_order_chunks_or_library(show):
    frame = rows()
    expected = show(frame)

    assert show(frame.sample(fraction=1, shuffle=True, seed=1)) == expected
    assert show(pl.concat([frame[:50], frame[50:]], rechunk=False)) == expected
    assert show(pd.DataFrame(frame.to_dict(as_series=False))) == expected
    assert show(frame[:150]) != expected


@pytest.mark.thorough
@pytest.mark.parametrize("library", [pl.DataFrame, pd.DataFrame])
def test_output_of_several_threads_equals_that_of_one_thread(library):
    frame = library(rows().to_dict(as_series=False))
    expected = {name: show(frame) for name, show in SHOWN.items()}
    with ThreadPoolExecutor(8) as pool:
        waiting = [(name, pool.submit(SHOWN[name], frame)) for name in SHOWN]

    for name, found in waiting:
        assert found.result() == expected[name], name
