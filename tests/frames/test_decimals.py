"""Decimals are numbers: of scores, weights and counts, of labels if whole, whatever holds them."""

import random
from decimal import Decimal

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import plain

FRAMES = {
    "objects of pandas": lambda columns: pd.DataFrame(columns, dtype=object),
    "Arrow in pandas": lambda columns: pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda columns: pl.from_arrow(pa.table(columns)),
    "polars, lazy": lambda columns: pl.from_arrow(pa.table(columns)).lazy(),
    "PyArrow": pa.table,
    "reader": lambda columns: pa.table(columns).to_reader(),
    "DuckDB": lambda columns: duckdb.from_arrow(pa.table(columns)),
}
on_each_frame = cases("make", FRAMES.values())

RANDOM = random.Random(8)
N = 300
FLOATS = {
    "y": [RANDOM.choice([0, 1]) for _ in range(N)],
    "p": [RANDOM.choice([0, 1]) for _ in range(N)],
    "g": [RANDOM.choice("ab") for _ in range(N)],
    "s": [RANDOM.randrange(101) / 100 for _ in range(N)],
    "t": [RANDOM.randrange(11) / 10 for _ in range(N)],
    "w": [RANDOM.choice([0.25, 1.5, 8.0]) for _ in range(N)],
    "n": [RANDOM.choice([0, 1, 4]) for _ in range(N)],
}
DECIMALS = FLOATS | {
    "y": [Decimal(value).quantize(Decimal("1.00")) for value in FLOATS["y"]],
    "p": [Decimal(value) for value in FLOATS["p"]],
    "s": [Decimal(repr(value)).quantize(Decimal("1.0000")) for value in FLOATS["s"]],
    "t": [Decimal(repr(value)) for value in FLOATS["t"]],
    "w": [Decimal(repr(value)) for value in FLOATS["w"]],
    "n": [Decimal(value) for value in FLOATS["n"]],
}
HUNDREDTHS = [i / 100 for i in range(101)]
METHODS = {
    "report": lambda df: bf.report(df, "y", "p", by="g", interval=True, margins="overall"),
    "confusion": lambda df: bf.confusion(df, "y", "p"),
    "classes": lambda df: bf.classes(df, "y", "p", by="g"),
    "weights": lambda df: bf.report(df, "y", "p", by="g", sample_weight="w", metrics="accuracy"),
    "counts": lambda df: bf.report(df, "y", "p", by="g", counts="n"),
    "both": lambda df: bf.report(df, "y", "p", counts="n", sample_weight="w", metrics="f1"),
    "labels": lambda df: bf.report(df, "y", "p", labels=[1, 0], pos_label=0, metrics="recall"),
    "thresholds": lambda df: bf.curve(df, "y", "s", thresholds=HUNDREDTHS),
    "grid": lambda df: bf.curve(df, "y", ["s", "t"], by="g", thresholds=101),
    "quantiles": lambda df: bf.curve(df, "y", "s", thresholds=("quantiles", 7)),
    "all": lambda df: bf.curve(df, "y", "s", thresholds="all"),
    "best": lambda df: bf.best_threshold(df, "y", "s", metrics="f1"),
    "ranking": lambda df: bf.ranking(df, "y", "s", by="g", sample_weight="w"),
    "calibration": lambda df: bf.calibration(df, "y", "s", by="g"),
    "compare": lambda df: bf.compare(df, "y", y_score=["s", "t"]),
    "bins": lambda df: bf.report(df, "y", "p", by=bf.bins("s", 3), metrics="accuracy"),
    "edges": lambda df: bf.report(df, "y", "p", by=bf.bins("s", [0.07, 0.7]), metrics="accuracy"),
    "slices": lambda df: bf.slices(
        df, "y", "p", over=["s", "t"], metrics="accuracy", detail=True, level=0.1
    ),
    "outcome": lambda df: bf.report(df, outcome="p", by="g"),
    "impact": lambda df: bf.impact(df, "p", favourable="selected", by="g"),
    "monitor": lambda df: bf.check(df, "y", "p", by="g", rules="accuracy >= 0.3"),
}


@on_each_frame
@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
@pytest.mark.filterwarnings("ignore:no slice is listed")
def test_decimals_return_the_result_of_floats_and_integers(make, method):
    assert plain(method(make(DECIMALS))) == plain(method(pl.DataFrame(FLOATS)))


@on_each_frame
@cases("others", [[1, 0, 0, 1], [True, False, False, True], [1.0, 0.0, 0.0, 1.0]])
def test_whole_decimals_equal_other_numbers_as_labels(make, others):
    whole = [Decimal("1.00"), Decimal("0.00"), Decimal("1.00"), Decimal("1.00")]
    result = plain(bf.confusion(make({"y": whole, "p": others}), "y", "p"))
    counts = zip(result["y"], result["p"], result["n"], strict=True)
    assert {(y, p): n for y, p, n in counts if n} == {(0, 0): 1, (1, 0): 1, (1, 1): 2}


@cases("at", range(4))
def test_a_decimal_among_other_labels_equals_them_in_any_row(at):
    labels = [1, 0, 0, 1]
    labels[at] = Decimal(labels[at])
    frame = pd.DataFrame({"y": pd.Series(labels, dtype=object), "p": [1, 0, 1, 1]})
    result = plain(bf.confusion(frame, "y", "p"))
    assert (result["y"], result["p"], result["n"]) == ([0, 0, 1], [0, 1, 1], [1, 1, 2])


@on_each_frame
def test_probabilities_of_a_label_may_be_decimals(make):
    rows = DECIMALS | {"y": [None if i % 3 else y for i, y in enumerate(FLOATS["y"])]}
    chances = [0.25 if i % 2 else 0.8 for i in range(N)]
    options = {"by": "g", "missing": bf.correct(probability="c"), "metrics": "accuracy"}
    exact = rows | {"p": FLOATS["p"], "c": [Decimal(repr(chance)) for chance in chances]}
    result = plain(bf.report(make(exact), "y", "p", **options))
    floats = pl.DataFrame(FLOATS | {"y": rows["y"], "c": chances})
    assert result == plain(bf.report(floats, "y", "p", **options))


@pytest.mark.parametrize("others", [[2, 3], [Decimal("0.125"), Decimal("0.5")]])
def test_scores_of_several_decimal_types_keep_their_fractions_in_long(others):
    scores = [Decimal("0.7"), Decimal("0.2")]
    frame = pl.DataFrame({"a": [1, 0], "b": [0, 1], "sa": scores, "sb": others})
    result = plain(bf.long(frame, ["a", "b"], y_score=["sa", "sb"]))
    assert [float(score) for score in result["y_score"]] == [0.7, 0.2, *map(float, others)]


def test_slice_filter_reads_a_stream():
    reader = pa.table(FLOATS).to_reader()
    inside = bf.slice_filter(reader, {"slice": "g = a", "on": "g", "g": "a"})
    assert inside.num_rows == FLOATS["g"].count("a")


@on_each_frame
def test_slice_filter_selects_the_rows_of_levels_and_bins_of_decimals(make):
    for level, expected in {
        "0.07": sum(s == 0.07 for s in FLOATS["s"]),
        "0.07 to 0.58": sum(0.07 <= s < 0.58 for s in FLOATS["s"]),
        "under 0.29": sum(s < 0.29 for s in FLOATS["s"]),
    }.items():
        inside = bf.slice_filter(make(DECIMALS), {"slice": f"s {level}", "on": "s", "s": level})
        assert plain(bf.report(inside, "y", "p"))["n"] == [expected]


BAD = {
    "labels": ({"p": "0.5"}, {}, "'p' holds numbers that are not whole"),
    "counts": ({"n": "0.5"}, {"counts": "n"}, "'n' has 1 value that cannot be counts"),
    "weights": ({"w": "-0.5"}, {"sample_weight": "w"}, "'w' has 1 negative or infinite value"),
    "null": ({"w": None}, {"sample_weight": "w"}, "'w' has 1 null value"),
}


@on_each_frame
@pytest.mark.parametrize(("change", "options", "message"), BAD.values(), ids=BAD)
def test_decimals_are_refused_where_floats_are(make, change, options, message):
    ((name, value),) = change.items()
    bad = None if value is None else Decimal(value)
    rows = DECIMALS | {name: [*DECIMALS[name][1:], bad]}
    with pytest.raises(bf.InvalidInputError, match=message):
        plain(bf.report(make(rows), "y", "p", **options))


def test_nan_and_null_among_objects_are_missing():
    w = pd.Series([Decimal("NaN"), None, Decimal(2), Decimal(1)], dtype=object)
    frame = pd.DataFrame({"y": [1, 1, 1, 0], "p": [1, 1, 1, 1], "w": w})
    options = {"sample_weight": "w", "missing": "drop", "metrics": "accuracy"}
    result = plain(bf.report(frame, "y", "p", **options))
    assert (result["n"], result["n_missing"], result["accuracy"]) == ([2], [2], [2 / 3])


@cases("make", [FRAMES[name] for name in ("polars", "polars, lazy", "PyArrow", "DuckDB")])
def test_counts_beyond_the_whole_numbers_of_floats_are_exact(make):
    rows = {"y": [1, 0], "p": [1, 1], "n": [Decimal(2**53 + 1), Decimal(2)]}
    assert plain(bf.report(make(rows), "y", "p", counts="n"))["n"] == [2**53 + 3]


@on_each_frame
def test_decimals_are_accepted_as_segments(make):
    g = [Decimal("0.50"), Decimal("-1"), None, Decimal("0.5")]
    rows = {"g": g, "y": [1, 0, 1, 1], "p": [1, 0, 0, 1]}
    result = plain(bf.report(make(rows), "y", "p", by="g"))
    assert result["g"] == [Decimal("-1"), Decimal("0.5"), None]
    assert (result["n"], result["accuracy"]) == ([1, 2, 1], [1.0, 1.0, 0.0])
