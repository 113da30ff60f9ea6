"""How much work a report does: one pass over the rows, and nothing of Python's for each row."""

import sys
import threading
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest
from polars.io.plugins import register_io_source

import balframe as bf
from tests.support.cases import cases

FEW, MANY = 60_000, 240_000  # both past what is counted by an engine or on all cores
NAMES = np.array([f"segment {i:02}" for i in range(20)])
BY = {
    "int64": lambda codes: codes,
    "wide": lambda codes: codes * 2**40,
    "float": lambda codes: codes / 4,
    "bool": lambda codes: codes % 2 == 0,
    "string": lambda codes: NAMES[codes],
    "date": lambda codes: np.datetime64("2020-01-01") + codes,
}
OPTIONS = {
    "one core": {},
    "all cores": {"sample_weight": "w", "counts": "k", "interval": True},
}


def frame_of(n, by):
    rng = np.random.default_rng(n)
    y = rng.integers(0, 2, n)
    return pl.DataFrame(
        {
            "g": BY[by](rng.integers(0, 20, n)),
            "y": y,
            "p": np.where(rng.random(n) < 0.8, y, 1 - y),
            "w": rng.random(n),
            "k": rng.integers(0, 4, n),
        }
    )


def in_library(frame, library):
    if library == "polars":
        return frame
    if library == "polars, categorical":
        return frame.with_columns(pl.col("g").cast(pl.String).cast(pl.Categorical))
    frame = frame.to_pandas()
    return frame.astype({"g": "category"}) if library == "pandas, categorical" else frame


def work_of(call):
    """Count the calls of a call, and the most objects that it holds at once."""
    calls, last = 0, 0.0

    def watch(_, event, __):
        nonlocal calls, most, last
        calls += 1
        # What makes many objects is written in C and takes its time; looking takes longer.
        if event == "c_return" and time.perf_counter() - last > 20e-6:
            most = max(most, sys.getallocatedblocks())
        last = time.perf_counter()

    call()  # what is loaded or kept at first use
    before = most = sys.getallocatedblocks()
    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return calls, most - before


@pytest.mark.any_version
@pytest.mark.parametrize("cores", OPTIONS)
@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize(
    "library", ["polars", "polars, categorical", "pandas", "pandas, categorical"]
)
def test_counting_creates_no_python_object_or_function_call_per_row(
    monkeypatch, library, by, cores
):
    many_rows = 1 if cores == "all cores" else 10**9
    monkeypatch.setattr("balframe.core.counting_strategy.MIN_TO_SHARE", many_rows)
    few, many = (in_library(frame_of(n, by), library) for n in (FEW, MANY))
    calls, most = work_of(lambda: few.bal.report("y", "p", by="g", **OPTIONS[cores]))
    more_calls, more_most = work_of(lambda: many.bal.report("y", "p", by="g", **OPTIONS[cores]))
    assert more_calls - calls < 1_000
    assert more_most - most < 10_000


def test_work_of_detects_python_objects_and_function_calls_per_row():
    values = np.arange(FEW)
    calls, most = work_of(lambda: len(values.tolist()))
    assert most > FEW / 2
    calls, most = work_of(lambda: sum(map(abs, range(FEW))) + sum(int(v) for v in range(FEW)))
    assert calls > FEW


@cases("predictions", ["p", ["p", "q"]])
@cases("options", [{}, {"margins": "all", "sample_weight": "w"}])
def test_a_lazy_frame_is_read_once(predictions, options):
    frame = frame_of(1_000, "string").with_columns(q=pl.col("y"))
    read = []

    def generate(columns, predicate, n_rows, batch_size):
        read.append(columns)
        yield frame if columns is None else frame.select(columns)

    lazy = register_io_source(generate, schema=frame.schema)
    out = bf.report(lazy, "y", predictions, by="g", **options).collect()
    assert out["n"].sum() > 0
    assert len(read) == 1


@pytest.mark.parametrize("by", ["int64", "string", "wide"])
def test_polars_groups_the_rows_of_an_eager_frame_at_most_once(monkeypatch, by):
    frame, grouped = frame_of(FEW, by), []
    collect = pl.LazyFrame.collect

    def counting(query, *args, **kwargs):
        grouped.append("AGGREGATE" in query.explain())
        return collect(query, *args, **kwargs)

    monkeypatch.setattr(pl.LazyFrame, "collect", counting)
    bf.report(frame, "y", "p", by="g")
    assert sum(grouped) == (by != "int64")


def test_rows_in_chunks_are_not_copied_into_a_single_chunk(monkeypatch):
    frame = frame_of(FEW, "int64")
    monkeypatch.setattr("balframe.core.counting_strategy.MIN_TO_SHARE", FEW)
    expected, copied = bf.report(frame, "y", "p", by="g"), []
    rechunk = pl.Series.rechunk
    monkeypatch.setattr(pl.Series, "rechunk", lambda s: copied.append(len(s)) or rechunk(s))
    in_pieces = pl.concat([*frame.iter_slices(7_000)], rechunk=False)
    assert in_pieces.n_chunks() > 1
    assert bf.report(in_pieces, "y", "p", by="g").equals(expected)
    assert max(copied) < 1_000  # cells


def test_pandas_columns_are_read_without_a_copy(monkeypatch):
    frame = pd.DataFrame(frame_of(1_000, "int64").to_dict())

    def refuse(*_, **__):
        raise AssertionError("a copy of the frame")

    for name in ("copy", "reset_index", "sort_values", "groupby", "astype", "to_numpy"):
        monkeypatch.setattr(pd.DataFrame, name, refuse)
    assert bf.report(frame, "y", "p", by="g")["n"].sum() == 1_000


@pytest.mark.parametrize("library", ["polars", "pandas"])
@pytest.mark.parametrize("options", [{}, {"sample_weight": "w"}])
def test_a_wrong_guess_of_the_value_range_is_corrected(monkeypatch, library, options):
    monkeypatch.setattr("balframe.core.counting_strategy.LONG_COLUMN", 1)
    monkeypatch.setattr("balframe.core.counting_strategy.SAMPLE", 10)
    guesses = []
    module = sys.modules["balframe.frames.count_frame"]
    count = module._encode_and_count
    monkeypatch.setattr(
        module,
        "_encode_and_count",
        lambda *given, guess: guesses.append(guess) or count(*given, guess=guess),
    )
    frame = frame_of(1_000, "int64").with_columns(g=pl.lit(3), p=pl.lit(1), y=pl.lit(1))
    bf.report(in_library(frame, library), "y", "p", by="g", **options)
    assert guesses == [True]
    rare = frame.with_columns(
        g=pl.when(pl.int_range(pl.len()) == 998).then(-9).otherwise("g"),
        y=pl.when(pl.int_range(pl.len()) == 997).then(7).otherwise("y"),
    )
    out = bf.confusion(in_library(rare, library), "y", "p", by="g", complete=False, **options)
    assert guesses == [True, True, False]
    counted = zip(out["g"], out["y"], out["p"], out["n"], strict=True)
    assert [*counted] == [(-9, 1, 1, 1), (3, 1, 1, 998), (3, 7, 1, 1)]
