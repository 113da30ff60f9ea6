"""Settings of all calls: how long they hold, what they change, and what they leave alone."""

from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases

FRAME = pl.DataFrame(
    {"g": ["a", "b"] * 20, "y": [1, 1, 0, 0] * 10, "p": [1, 0, 0, 0] * 10, "q": [1, 1, 0, 1] * 10}
)
OTHERS = {"detail": True, "backend": "pandas", "layout": "long"}


@pytest.fixture(autouse=True)
def _settings_as_before():
    with bf.options():
        yield


def report(**options):
    return bf.report(FRAME, "y", "p", by="g", metrics="recall", **options)


def test_settings_hold_in_a_block_even_if_it_raises():
    plain = report()
    with bf.options(detail=True):
        assert report().equals(report(detail=True))
        with bf.options(backend="pandas"):
            assert list(report().columns) == report(backend="polars").columns
            assert isinstance(report(), pd.DataFrame)
        assert isinstance(report(), pl.DataFrame)
        assert report(detail=False).equals(plain)
    with pytest.raises(bf.UnknownNameError), bf.options(layout="long"):
        bf.report(FRAME, "y", "nope")
    assert report().equals(plain)


def test_settings_hold_for_good_without_a_block():
    bf.options(detail=True)
    bf.options(layout="long")

    assert report().equals(report(detail=True, layout="long"))
    assert FRAME.bal.report("y", "p", by="g", metrics="recall").equals(report())


def test_a_lazy_result_has_the_settings_of_its_call():
    with bf.options(detail=True):
        lazy = bf.report(FRAME.lazy(), "y", "p", by="g", metrics="recall")

    assert lazy.collect().equals(report(detail=True))


@cases(
    "call",
    [
        lambda: bf.plot.report(FRAME, "y", "p", by="g").to_dict(),
        lambda: bf.plot.gaps(FRAME, "y", "p", by="g").to_dict(),
        lambda: bf.plot.power(FRAME, "y", "p", rules="recall >= 0.3").to_dict(),
        lambda: bf.plot.confusion(FRAME, "y", "p").to_dict(),
        lambda: bf.audit(FRAME, "y", "p", by="g", rules="recall >= 0.3").html(),
        lambda: bf.require(FRAME, "y", "p", by="g", rules="n >= 1").to_dicts(),
    ],
)
@pytest.mark.filterwarnings("ignore::balframe.BalframeWarning")
def test_charts_pages_and_inner_calls_are_those_without_settings(call):
    plain = call()

    with bf.options(**OTHERS):
        assert call() == plain


def test_the_most_cells_hold_for_charts_too():
    with (
        bf.options(max_cells=1),
        pytest.raises(bf.InvalidInputError, match="max_cells"),
    ):
        bf.plot.report(FRAME.lazy(), "y", "p", by="g")


def test_settings_hold_in_other_threads_whose_calls_do_not_meet():
    plain, detailed = report(), report(detail=True)
    with bf.options(detail=True), ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda detail: report(**detail), [{}, {"detail": False}] * 10))

    assert all(one.equals(detailed) for one in found[::2])
    assert all(one.equals(plain) for one in found[1::2])


@cases(
    ("options", "message"),
    [
        ({"detail": 1}, "detail=1 is not one of the options: False, True"),
        ({"layout": "tall"}, "layout='tall' is not one of the options"),
        ({"backend": "dask"}, "backend='dask' is not one of the options"),
        ({"max_cells": 0}, "max_cells=0 is not a number of cells"),
    ],
)
def test_other_settings_are_refused_and_change_nothing(options, message):
    plain = report()
    with pytest.raises(bf.InvalidInputError, match=message):
        bf.options(**{"detail": True, **options})

    assert report().equals(plain)
