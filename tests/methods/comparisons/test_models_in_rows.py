"""`compare` of models in rows: the same as of models in columns."""

import math
from contextlib import nullcontext
from datetime import date, datetime
from decimal import Decimal
from functools import partial

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

import balframe as bf
from tests.support import engine_frames
from tests.support.cases import cases
from tests.support.constructors import CONSTRUCTORS, each_constructor, plain

RNG = np.random.default_rng(8)
ITEMS = pl.DataFrame({"item": range(60), "category": ["a", "b", "b"] * 20})
TRIALS = ITEMS.join(pl.DataFrame({"trial": [1, 2, 3]}), how="cross")
RATES = {"v1": 0.6, "v2": 0.75}


def in_rows(rows):
    """Return rows of two models, in any order."""
    of_models = [
        rows.with_columns(model=pl.lit(name), passed=pl.Series(RNG.random(rows.height) < rate))
        for name, rate in RATES.items()
    ]
    return pl.concat(of_models).sample(fraction=1, shuffle=True, seed=2)


def in_columns(rows, keys):
    first, second = (rows.filter(model=name).rename({"passed": name}) for name in RATES)
    return first.join(second.select(*keys, "v2"), on=keys)


LONG, LONG_TRIALS = in_rows(ITEMS), in_rows(TRIALS)


@each_constructor
def test_items_are_paired_as_rows_are(constructor):
    frame = constructor(LONG.to_dict(as_series=False))
    expected = bf.compare(in_columns(LONG, ["item"]), outcome=["v1", "v2"], by="category")
    out = bf.compare(
        frame, outcome="passed", model="model", item="item", by="category", backend="polars"
    )

    assert_frame_equal(out, expected)


def test_trials_of_an_item_are_a_cluster():
    wide = in_columns(LONG_TRIALS, ["item", "trial"])
    metrics = ["rate", "pass_at(2)"]
    expected = bf.compare(wide, outcome=["v1", "v2"], cluster="item", metrics=metrics)
    out = bf.compare(
        LONG_TRIALS, outcome="passed", model="model", item=["item", "trial"], metrics=metrics
    )

    assert_frame_equal(out, expected)


def test_predictions_may_be_in_rows_too():
    long = LONG.with_columns(y=pl.col("item") % 2 == 0)
    wide = in_columns(long, ["item"])
    out = bf.compare(long, "y", "passed", model="model", item="item")

    assert_frame_equal(out, bf.compare(wide, "y", ["v1", "v2"]))


@cases("baseline", ["v1", "v2"])
def test_the_baseline_is_a_value_of_the_column_of_models(baseline):
    expected = bf.compare(in_columns(LONG, ["item"]), outcome=[*RATES], baseline=baseline)
    out = bf.compare(LONG, outcome="passed", model="model", item="item", baseline=baseline)

    assert_frame_equal(out, expected)


def test_items_that_a_model_lacks_are_counted_and_left_out():
    long = LONG.filter((pl.col("model") == "v1") | (pl.col("item") >= 7))
    message = (
        "rows of items that a model lacks are left out: 7 of 'v1'. Rows of each model that are "
        "compared: 53."
    )
    with pytest.warns(bf.BalframeWarning) as warned:
        out = bf.compare(long, outcome="passed", model="model", item="item", detail=True)

    assert [str(one.message) for one in warned] == [message]
    assert out["n"].item() == 53


@cases(
    ("options", "message"),
    [
        (
            {"model": "model"},
            "models in rows need model and item: the columns that name the model and the item "
            "of a row, or a list of two, the columns of items and of their trials.",
        ),
        (
            {"model": "model", "item": "item"},
            "model 'v1' has several rows with the same 'item'; name a second column in "
            "item, which numbers the trials of an item, or keep one row of each.",
        ),
        (
            {"model": "model", "item": ["item", "trial"], "baseline": "v3"},
            "model 'v3' not found. Models: v1, v2.",
        ),
        (
            {"model": "modle", "item": "item"},
            "column 'modle' not found; did you mean 'model'? Columns: item, category, trial, model,"
            " passed.",
        ),
        (
            {"model": "category", "item": "item", "outcome": ["passed", "model"]},
            "column 'model' is given as outcome and is neither 0 and 1 nor false and true; give "
            "pos_label=, the value of a row that passes.",
        ),
    ],
)
def test_bad_requests_are_refused(options, message):
    with pytest.raises(bf.BalframeError) as caught:
        bf.compare(LONG_TRIALS, **{"outcome": "passed", **options})

    assert str(caught.value) == message


IN_TWO = LONG_TRIALS.filter(pl.col("trial") < 3).with_columns(
    segment=pl.when(pl.col("trial") == 1).then(pl.lit("s")).otherwise(pl.lit("t")), trial=1
)


@cases("frame", [IN_TWO, IN_TWO.lazy(), IN_TWO.to_pandas(), duckdb.from_arrow(IN_TWO.to_arrow())])
@cases(("item", "same"), [("item", "'item'"), (["item", "trial"], "'item' and 'trial'")])
def test_an_item_in_two_segments_is_refused_with_their_column(frame, item, same):
    with pytest.raises(bf.InvalidInputError) as caught:
        bf.compare(frame, outcome="passed", model="model", item=item, by=["category", "segment"])

    assert str(caught.value) == (
        f"model 'v1' has several rows with the same {same}; an item has one value of 'segment', so "
        "keep one row of each, or give each of its rows an item of its own."
    )


MOVED = {  # item 2 lacks v1; of items 0, 1 and 3, only 0 has the same in all columns
    "n": ["v1", "v2", "v1", "v2", "v2", "v1", "v2"],
    "n_rows": [0, 0, 1, 1, 2, 3, 3],
    "y": [1, 1, 0, 1, 0, 0, None],
    "g": ["a", "a", "a", "b", "b", "a", None],
    "x": [None, math.nan, 0.5, 0.5, 1.5, 2.5, 2.5],
    "p": [1, 1, 0, 1, 1, 1, 0],
}
ENGINES = [
    *(partial(nullcontext, constructor) for constructor in CONSTRUCTORS),
    *(engine_frames.duckdb, engine_frames.ibis, engine_frames.dask),
]


def compare_moved(engine, **options):
    roles = {"model": "n", "item": "n_rows", "backend": "polars", "detail": True}
    with engine() as make:
        return bf.compare(make(MOVED), **{"outcome": "p"} | roles | options)


@cases("engine", ENGINES)
def test_items_in_another_segment_for_another_model_are_counted_in_a_warning(engine):
    with pytest.warns(bf.BalframeWarning) as warned:
        out = compare_moved(engine, by="g")

    assert [str(one.message) for one in warned if "differs" in str(one.message)] == [
        "column 'g' differs between models in 2 of 3 items: such an item is counted with its value "
        "of model 'v1'."
    ]
    assert (out["g"].to_list(), out["n"].to_list()) == (["a"], [3])


@cases("engine", ENGINES)
@cases("options", [{"outcome": None, "y_true": "y", "y_pred": "p"}, {"cluster": "y"}])
@pytest.mark.filterwarnings("ignore:rows of items:balframe.BalframeWarning")
def test_values_of_an_item_that_differ_between_models_are_refused(engine, options):
    with pytest.raises(bf.InvalidInputError) as caught:
        compare_moved(engine, by="y" if "cluster" in options else None, **options)

    assert str(caught.value) == (
        "column 'y' differs between models in 2 of 3 items, but an item has one value of it. Give "
        "all rows of an item the same value."
    )


@cases("engine", ENGINES)
def test_nan_and_null_are_the_same_segment_of_an_item(engine):
    with pytest.warns(bf.BalframeWarning) as warned:
        compare_moved(engine, by="x")

    assert not [one for one in warned if "differs" in str(one.message)]


@cases(
    ("values", "message"),
    [
        (
            pl.col("item") / 2 + 0.5,
            "column 'passed' of model 'v1' holds numbers that are not whole",
        ),
        (pl.col("item") % 3, "'v2', 'passed' of model 'v1' are given as outcome and have together"),
        (pl.when(pl.col("item") > 0).then(1), "column 'passed' of model 'v1' has 1 null value"),
    ],
)
def test_messages_name_the_column_of_a_model(values, message):
    of_first = pl.when(pl.col("model") == "v1").then(values).otherwise(pl.lit(1))
    with pytest.raises(bf.InvalidInputError, match=message):
        bf.compare(LONG.with_columns(passed=of_first), outcome="passed", model="model", item="item")


def test_one_model_is_none_to_compare():
    with pytest.raises(bf.InvalidInputError, match="names 1 model, but compare needs 2 to 50"):
        bf.compare(LONG.filter(model="v1"), outcome="passed", model="model", item="item")


ANSWERS = {"item": [0, 0, 1, 1, 2, 2], "passed": [1, 1, 0, 1, 0, 1]}  # "a": 1 of 3, "b": 3 of 3
NAMED = {
    "texts": (["a", "b"], pa.string()),
    "dictionary": (["a", "b"], pa.dictionary(pa.int8(), pa.string())),
    "large integers": ([0, 2**64 - 1], pa.uint64()),
    "booleans": ([False, True], pa.bool_()),
    "dates": ([date(2024, 2, 29), date(2024, 3, 1)], pa.date32()),
}
UNNAMED = {
    "instants": ([datetime(2024, 1, 1), datetime(2024, 1, 1, 1)], pa.timestamp("ns")),
    "bytes": ([b"a", b"b"], pa.binary()),
    "structs": ([{"a": 1}, {"a": 2}], pa.struct({"a": pa.int64()})),
}
FRAMES = [pl.from_arrow, lambda table: table, lambda table: duckdb.from_arrow(table)]


def check_models(frame, names, dtype):
    table = pa.table(ANSWERS | {"model": pa.array(names * 3, dtype)})
    out = plain(bf.compare(frame(table), outcome="passed", model="model", item="item"))

    assert (out["model"], out["baseline"]) == ([str(names[1])], [str(names[0])])
    assert out["difference"] == [pytest.approx(3 / 3 - 1 / 3)]


@cases("frame", FRAMES)
@cases("kind", NAMED)
def test_models_are_named_by_what_their_column_holds(kind, frame):
    check_models(frame, *NAMED[kind])


@pytest.mark.any_version  # PyArrow 16 cannot compare views of texts
@cases("frame", FRAMES)
def test_models_are_named_by_views_of_texts(frame):
    check_models(frame, ["a", "b"], pa.string_view())


@cases("frame", FRAMES)
@cases("kind", UNNAMED)
def test_values_that_are_no_names_of_models_are_refused(kind, frame):
    table = pa.table(ANSWERS | {"model": pa.array(*UNNAMED[kind]).take(pa.array([0, 1] * 3))})
    with pytest.raises(bf.UnsupportedTypeError, match="column 'model' has the type"):
        bf.compare(frame(table), outcome="passed", model="model", item="item")


def test_models_that_are_shown_alike_are_refused():
    frame = pd.DataFrame(ANSWERS | {"model": pd.Series([1, "1"] * 3, dtype=object)})
    with pytest.raises(bf.InvalidInputError, match="two would be named '1', '1'"):
        bf.compare(frame, outcome="passed", model="model", item="item")


def test_models_in_two_cases_are_refused_where_columns_have_no_case():
    frame = pl.DataFrame(ANSWERS | {"model": ["a", "A"] * 3})
    out = plain(bf.compare(frame, outcome="passed", model="model", item="item"))
    assert (out["model"], out["baseline"]) == (["a"], ["A"])

    relation = duckdb.from_arrow(frame.to_arrow())
    with pytest.raises(bf.InvalidInputError, match="two would be named 'A', 'a'"):
        bf.compare(relation, outcome="passed", model="model", item="item")


NAMES = {  # models of rows, and the names of the first and second
    "zeros": ([-0.0, 0.0, 1.0, 1.0], ["0.0", "1.0"]),
    "decimals": ([Decimal("1.50"), Decimal("1.5"), Decimal("20")] * 2, ["1.5", "20"]),
    "32 bits": (pl.Series([0.1, 0.1, 0.7, 0.7], dtype=pl.Float32), ["0.1", "0.7"]),
}


@cases(("values", "names"), NAMES.values())
@cases("make", [pl.DataFrame, lambda frame: frame.to_pandas(), lambda frame: frame.to_arrow()])
def test_a_model_has_one_name_that_shows_its_value(values, names, make):
    models = pl.Series(values[:2] + values[2:3] * 2 if isinstance(values, list) else values)
    frame = pl.DataFrame({"m": models, "id": [1, 2, 1, 2], "y": [1, 0, 1, 0], "p": [1, 0, 0, 0]})
    for baseline in (None, float(names[0])):
        options = {"model": "m", "item": "id", "metrics": "accuracy", "backend": "polars"}
        options |= {} if baseline is None else {"baseline": baseline}
        result = bf.compare(make(frame), "y", "p", **options)
        assert result.select("baseline", "model", "estimate").row(0) == (*names, 1 / 2)


@cases("make", [pl.DataFrame, lambda frame: frame.to_pandas(), lambda frame: frame.to_arrow()])
def test_nan_names_no_model(make):
    frame = pl.DataFrame({"m": [math.nan, 1.0], "id": [1, 1], "y": [1, 1], "p": [1, 0]})
    with pytest.raises(bf.InvalidInputError, match="1 rows have no value in 'm', 'id'"):
        bf.compare(make(frame), "y", "p", model="m", item="id")
