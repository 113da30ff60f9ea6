"""Bad input gets one clear error on every library; empty and one-row frames get a result."""

import re
import warnings
from datetime import date, timedelta
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import (
    CONSTRUCTORS,
    assert_table,
    each_constructor,
    pandas_numpy,
    plain,
    polars_lazy,
)

INF, NAN = float("inf"), float("nan")
METHODS = (bf.report, bf.classes, bf.confusion)
EACH_METHOD = pytest.mark.parametrize("method", METHODS)
DATA = {
    "y": [0, 1, 1],
    "yhat": [0, 1, 0],
    "group": ["a", "b", "b"],
    "n": [1, 2, 3],
    "weights": [1.0, 2.0, 0.5],
    "day": [date(2024, 1, 1), date(2024, 1, 2), date(2024, 1, 2)],
    **{name: [timedelta(1), timedelta(2), timedelta(2)] for name in ("gap", "gap_hat")},
    **{name: [[1], [2], [2]] for name in ("parts", "parts_hat")},
}
TEXTS = {"y": ["a", "b", "b"], "yhat": ["a", "b", "a"]}


def wrong_uses(table, *methods):
    """List the wrong uses in a table, whose keys say what each is about, for each method."""
    return [
        pytest.param(method, *case, id=f"{method.__name__}, {about}")
        for about, case in table.items()
        for method in methods
    ]


def asked(method, frame, options):
    """Put the question off, with `y` and `yhat` unless the options name other columns."""
    return partial(method, frame, **{"y_true": "y", "y_pred": "yhat", **options})


def message(call, kind=ValueError):
    """Give the message of the error that the call raises: one of the family, and of the kind."""
    with pytest.raises(bf.BalframeError) as raised:
        call()
    assert isinstance(raised.value, kind)
    return str(raised.value)


def message_at_collect(call):
    """As `message`, for what only the values can tell: to build a lazy query is no error."""
    return message(call().collect if isinstance(call.args[0], pl.LazyFrame) else call)


def rows(out):
    """List the rows of a frame of any library, with None for null."""
    return list(zip(*plain(out).values(), strict=True))


NAMES_AND_TYPES = {
    "truth as prediction": (
        {"y_pred": "y"},
        ValueError,
        "column 'y' is given as y_true and as y_pred, so every row would be right; give the "
        "column of predictions as y_pred",
    ),
    "truth among models": ({"y_pred": ["yhat", "y"]}, ValueError, "'y' is given as y_true and as "),
    "unknown y_true": ({"y_true": "yy"}, KeyError, "column 'yy' not found; did you mean 'y'"),
    "unknown y_pred": ({"y_pred": "yhatt"}, KeyError, "'yhatt' not found; did you mean 'yhat'"),
    "unknown model": ({"y_pred": ["yhat", "yat"]}, KeyError, "'yat' not found; .*'yhat'"),
    "unknown by": ({"by": ["group", "grup"]}, KeyError, "'grup' not found; .*'group'"),
    "unknown weight": ({"sample_weight": "weight"}, KeyError, "'weight' not found; .*'weights'"),
    "unknown counts": ({"counts": "zzz"}, KeyError, "'zzz' not found.*y, yhat, group, n"),
    "list for a name": ({"y_true": ["y"]}, TypeError, "name.*list"),
    "set for a list": ({"by": {"group"}}, TypeError, "got set as a column; give a column name"),
    "text against number": ({"y_true": "group"}, ValueError, "'group'.*string.*'yhat'.*number"),
    "date against number": ({"y_pred": "day"}, ValueError, "'y'.*number.*'day'.*date"),
    "labels against data": ({"labels": ["0", "1"]}, ValueError, "'y'.*number.*labels=.*string"),
    "duration as label": ({"y_true": "gap", "y_pred": "gap_hat"}, TypeError, "label.*Cast"),
    "list as label": ({"y_true": "parts", "y_pred": "parts_hat"}, TypeError, "label|'parts'"),
    "list as segment": ({"by": "parts"}, TypeError, "column 'parts'.*cast"),
    "weights of text": ({"sample_weight": "group"}, TypeError, "'group'.*weights must be numbers"),
    "counts of dates": ({"counts": "day"}, TypeError, "'day'.*counts and weights must be numbers"),
    "y_pred empty": ({"y_pred": []}, ValueError, "y_pred is an empty list"),
    "y_pred twice": ({"y_pred": ["yhat", "yhat"]}, ValueError, "y_pred.*twice: 'yhat'"),
    "by twice": ({"by": ["group", "group"]}, ValueError, "by.*twice: 'group'"),
    "missing": ({"missing": "dorp"}, ValueError, "missing='dorp'.*'raise', 'drop'"),
    "margins": ({"margins": True}, ValueError, "margins=True.*False, 'overall', 'all'"),
    "cells": ({"cells": True}, TypeError, "known by its columns; omit the option"),
    "labels a text": ({"labels": "ab"}, ValueError, "labels='ab' is not a list"),
    "labels empty": ({"labels": []}, ValueError, "labels= is empty"),
    "labels twice": ({"labels": [0, 1, True]}, ValueError, "labels=.*twice"),
    "labels of two kinds": ({"labels": [0, "1"]}, ValueError, "number.*string"),
    "labels not whole": ({"labels": [0, 0.5]}, ValueError, "labels= .*not whole"),
}
REPORT_OPTIONS = {
    "unknown metric": ({"metrics": ["uar", "acuracy"]}, KeyError, "did you mean 'accuracy'"),
    "metric is no name": ({"metrics": [5]}, TypeError, "metrics=.*5.*int"),
    "metrics empty": ({"metrics": []}, ValueError, "metrics= is empty"),
    "metric twice": ({"metrics": ["f1", "f1"]}, ValueError, "metrics=.*twice: f1"),
    "layout": ({"layout": "tall"}, ValueError, "layout='tall'.*'wide', 'long'"),
    "absent": ({"absent": "zero"}, TypeError, "give it with the labels: labels=bf.label_set"),
    "class_weight": ({"class_weight": "even"}, ValueError, "'even'.*'balanced', 'prevalence'"),
    "no class_weight": ({"metrics": "baw"}, ValueError, "'baw' needs class_weight="),
    "unread class_weight": (
        {"metrics": ["recall_macro", "f1_macro"], "class_weight": {0: 1, 1: 3}},
        ValueError,
        "'recall_macro', 'f1_macro' do not read it; add 'weighted_balanced_accuracy'",
    ),
    "all zero": ({"class_weight": {0: 0, 1: 0.0}}, ValueError, "class_weight.*above 0"),
    "below zero": ({"class_weight": {0: 1, 1: -1}}, ValueError, "1 the weight -1"),
    "not finite": ({"class_weight": {0: NAN, 1: 1}}, ValueError, "0 the weight nan"),
    "no number": ({"class_weight": {0: "1", 1: 1}}, ValueError, "0 the weight '1'"),
}
CONFUSION_OPTIONS = {
    "normalize": ({"normalize": "row"}, ValueError, "normalize='row'.*'true', 'pred', 'all'"),
    "complete": ({"complete": "no"}, ValueError, "complete='no'.*False, True"),
}
AT_ONCE = [
    *wrong_uses(NAMES_AND_TYPES, *METHODS),
    *wrong_uses(REPORT_OPTIONS, bf.report),
    *wrong_uses(CONFUSION_OPTIONS, bf.confusion),
]


@cases(("method", "options", "kind", "words"), AT_ONCE)
def test_invalid_names_types_and_options_raise_at_once(method, options, kind, words):
    texts = [message(asked(method, make(DATA), options), kind) for make in CONSTRUCTORS]
    assert [text for text in texts if not re.search(words, text)] == []
    assert texts[-1] == texts[-2]


@cases("method", [bf.report, bf.gaps])
@each_constructor
def test_roll_ups_of_more_than_twelve_columns_are_refused_with_advice(constructor, method):
    names = [f"g{i}" for i in range(13)]
    data = {"y": [0, 1] * 4, "yhat": [0, 1] * 4, **{name: [0, 1] * 4 for name in names}}
    frame = constructor(data)

    text = message(partial(method, frame, "y", "yhat", by=names, margins="all"))

    assert text == (
        'margins="all" of 13 by-columns has 8,192 roll-ups; it takes up to 12 columns, which have '
        '4,096. Give margins="overall" for the one over all rows, or fewer columns per call. To '
        "find the combinations that score worst, call slices."
    )
    overall = plain(bf.report(frame, "y", "yhat", by=names, margins="overall"))
    assert overall["grouped_by"] == [", ".join(names)] * 2 + ["overall"]


@pytest.mark.thorough
@pytest.mark.parametrize("constructor", [pandas_numpy, polars_lazy])
def test_roll_ups_of_twelve_columns_are_computed(constructor):
    names = [f"g{i}" for i in range(12)]
    data = {"y": [0, 1] * 4, "yhat": [0, 1] * 4, **{name: [0, 1] * 4 for name in names}}

    out = plain(bf.report(constructor(data), "y", "yhat", by=names, margins="all", metrics="acc"))

    assert out["n"].count(8) == 1
    assert len(out["n"]) == 2 * (2**12 - 1) + 1


@cases("method", [partial(bf.report, y_pred="yhat"), partial(bf.ranking, y_score="yhat")])
@each_constructor
def test_roll_ups_of_more_cells_than_allowed_are_refused_with_advice(constructor, method):
    n = 30
    data = {
        "y": [0, 1] * n,
        "yhat": [0, 1] * n,
        "g": [f"{i:02}" for i in range(2 * n)],
        "h": [0] * 2 * n,
    }
    ask = partial(method, constructor(data), "y", by=["g", "h"], margins="all")

    assert plain(ask(max_cells=2 * 2 * n + 4))["n"][-1] == 2 * n
    text = message_at_collect(partial(ask, max_cells=2 * 2 * n - 1))
    assert text.startswith(
        'the first 2 of 4 roll-ups of margins="all" have more cells than max_cells=119. Give '
        'margins="overall", or fewer columns per call, or put their values into fewer groups; with '
    )


THREE_LABELS = pl.DataFrame({"y": [0, 1, 2], "yhat": [0, 1, 1], "s": [0.1, 0.2, 0.3]})


@cases(
    ("metrics", "words"),
    [
        ("f1", "'f1_macro' is the average over the labels, and `classes` scores each label "),
        ({"hits": "tpr"}, "'recall_macro' is the average over the labels, and `classes` scores "),
        ("npv", "`classes` scores each label against the others."),
    ],
)
def test_a_metric_of_one_label_points_to_those_of_three(metrics, words):
    text = message(partial(bf.report, THREE_LABELS, "y", "yhat", metrics=metrics))

    assert "needs pos_label=; give one of the labels: 0, 1, 2. With more than two" in text
    assert f"With more than two labels, {words}" in text
    two = {"y": ["a", "b"], "yhat": ["a", "b"]}
    assert "With more" not in message(
        partial(bf.report, pl.DataFrame(two), "y", "yhat", metrics="f1")
    )


@cases("method", [bf.ranking, bf.curve, bf.best_threshold, bf.calibration])
def test_scores_of_three_labels_are_refused_with_what_exists(method):
    assert message(partial(method, THREE_LABELS, "y", "s")) == (
        "scores need pos_label=; give one of the labels: 0, 1, 2. With more than two labels, a "
        "score is that of one label against all others: make one call for each label, with the "
        "column of its scores. There is no average over labels."
    )


@cases(
    ("call", "text"),
    [
        (
            lambda df: bf.plot.report(bf.report(df, "y", "yhat", by="group")),
            "bf.plot.report needs y_true and y_pred, or outcome, because it draws data; a result "
            "is drawn by bf.plot(result). Call bf.plot.report(frame, y_true, y_pred).",
        ),
        (
            lambda df: bf.plot.roc(df, "y"),
            "bf.plot.roc needs y_score, because it draws data; a result is drawn by "
            "bf.plot(result). Call bf.plot.roc(frame, y_true, y_score).",
        ),
        (
            lambda df: df.bal.report(y_pred="yhat"),
            "bf.report needs y_true, or outcome. Call bf.report(frame, y_true, y_pred).",
        ),
        (
            lambda df: bf.check(df, "y", "yhat", detail=True),
            "bf.check needs rules. Call bf.check(frame, y_true, rules=...).",
        ),
        (
            lambda df: bf.audit(),
            "bf.audit needs frame and y_true and y_pred, or outcome. Call bf.audit(frame, y_true, "
            "y_pred).",
        ),
        (
            lambda df: bf.report(df, "y", "yhat", y_true="y"),
            "y_true is given by position and by keyword; give it once.",
        ),
    ],
)
def test_missing_and_repeated_arguments_raise_and_show_the_call(call, text):
    assert message(partial(call, pl.DataFrame(DATA)), TypeError) == text


CELL_DATA = {"group": ["a", "b"], "y": [0, 1], "yhat": [0, 0], "n": [20, 30]}
METHODS_OF_CELLS = [
    (bf.report, {}),
    (bf.classes, {"by": "group"}),
    (bf.confusion, {}),
    (bf.gaps, {"by": "group"}),
    (bf.slices, {"over": "group", "min_support": 1, "metrics": "accuracy"}),
    (bf.check, {"rules": "accuracy >= 0.5"}),
    (bf.plot.report, {}),
]


@cases(("method", "options"), METHODS_OF_CELLS)
def test_cells_are_known_by_their_columns(method, options):
    for make in CONSTRUCTORS:
        frame = make({"day": ["x", "y"]} | CELL_DATA)
        known, counted = (method(frame, "y", "yhat", **options, **n) for n in ({}, {"counts": "n"}))
        if method is bf.plot.report:
            assert known.to_dict() == counted.to_dict()
        else:
            assert plain(known) == plain(counted)


@each_constructor
def test_a_column_n_that_does_not_hold_numbers_is_no_count(constructor):
    frame = constructor(CELL_DATA | {"n": ["few", "many"]})

    assert plain(bf.report(frame, "y", "yhat", metrics="accuracy"))["n"] == [2]


@each_constructor
def test_columns_of_cells_that_are_named_or_moved_are_read(constructor):
    frame = constructor(CELL_DATA)
    moved = {name: CELL_DATA[name] for name in ("n", "group", "y", "yhat")}

    for options in ({"counts": "n"}, {}):
        assert plain(bf.report(frame, "y", "yhat", metrics="acc", **options))["n"] == [50]
    weighted = plain(bf.report(frame, "y", "yhat", metrics="acc", sample_weight="n"))
    assert (weighted["n"], weighted["acc"]) == ([2], [20 / 50])
    assert plain(bf.report(constructor(moved), "y", "yhat", metrics="acc"))["n"] == [2]


@cases(
    ("method", "options", "words"),
    [
        (bf.ranking, {"y_score": "y"}, "as y_score, so .*column of scores as y_score"),
        (bf.compare, {"y_pred": ["yhat", "y"]}, "as y_pred"),
        (bf.check, {"y_pred": "yhat", "rules": "acc >= baseline", "baseline": "y"}, "as baseline"),
        (bf.audit, {"y_pred": "y"}, "as y_true and as y_pred; leave it out of one"),
    ],
)
def test_the_truth_is_no_prediction_of_any_method(method, options, words):
    text = message(partial(method, pl.DataFrame(DATA), "y", **options))

    assert re.search(words, text), text


COLLISIONS = [
    (bf.report, "n min_support accuracy", {}),
    (bf.report, "n_missing uar", {"missing": "drop", "metrics": "uar"}),
    (bf.report, "weighted_balanced_accuracy", {"class_weight": "balanced"}),
    (bf.report, "metric estimate", {"layout": "long"}),
    (bf.report, "grouped_by model", {"margins": "all", "y_pred": ["yhat"]}),
    (bf.classes, "label support f1", {}),
    (bf.classes, "grouped_by model", {"margins": "all", "y_pred": ["yhat"]}),
    (bf.confusion, "y yhat n", {}),
    (
        bf.confusion,
        "share weight weight_sq weight_max",
        {"normalize": "all", "sample_weight": "weights"},
    ),
    (bf.confusion, "grouped_by model predicted", {"margins": "overall", "y_pred": ["yhat"]}),
]


@cases(("method", "names", "options"), COLLISIONS)
@each_constructor
def test_a_by_column_named_as_an_output_column_raises_at_once(constructor, method, names, options):
    for name in names.split():
        data = {name: ["a", "b", "b"], **DATA}
        text = message(asked(method, constructor(data), {"by": name, **options}))
        assert re.search(f"'{name}'.*rename", text)


@each_constructor
def test_a_by_column_may_have_a_name_that_the_output_does_not_use(constructor):
    frame = constructor({**DATA, "accuracy": ["a", "b", "b"]})
    out = bf.report(frame, "y", "yhat", by="accuracy", metrics="uar", detail=True)
    assert rows(out) == [("a", 1, 1.0, 1, 1), ("b", 2, 0.5, 1, 2)]


WEIGHTED, COUNTED = {"sample_weight": "w"}, {"counts": "k"}
VALUES = {
    "null truth": ({"y": [None, 1, None]}, {}, "column 'y' has 2 null values; .*missing=\"drop\""),
    "null prediction": ({"yhat": [0, None, 1]}, {}, "column 'yhat' has 1 null value; "),
    "NaN prediction": ({"yhat": [0.0, NAN, NAN]}, {}, "column 'yhat' has 2 null values"),
    "only nulls": ({"y": [None, None, None]}, {}, "column 'y' has 3 null values"),
    "null text": ({**TEXTS, "y": ["a", None, "b"]}, {}, "'y' has 1 null value"),
    "null in a model": ({"m": [0, 1, None]}, {"y_pred": ["yhat", "m"]}, "'m' has 1 null"),
    "null weight": ({"w": [1.0, None, None]}, WEIGHTED, "'w' has 2 null values"),
    "NaN weight": ({"w": [1.0, NAN, 1.0]}, WEIGHTED, "'w' has 1 null value"),
    "null count": ({"k": [1, None, 2]}, COUNTED, "'k' has 1 null value"),
    "scores": ({"yhat": [0.25, 1.0, 0.5]}, {}, "'yhat'.*not whole: scores.*curve"),
    "scores as truth": ({"y": [0.25, 1.0, 0.5]}, {}, "'y'.*not whole: scores.*curve"),
    "infinite label": ({"yhat": [0.0, 1.0, INF]}, {}, "'yhat'.*not whole"),
    "negative weight": ({"w": [1, -1, -2]}, WEIGHTED, "'w' has 2 negative.*must be finite"),
    "infinite weight": ({"w": [1.0, INF, -INF]}, WEIGHTED, "'w' has 2 .*infinite values"),
    "drop is for nulls": ({"w": [NAN, -1, 1]}, {**WEIGHTED, "missing": "drop"}, "'w' has 1 neg"),
    "negative count": ({"k": [1, -1, 2]}, COUNTED, "'k' has 1 .*counts.*sample_weight"),
    "fractional count": ({"k": [1.0, 1.5, INF]}, COUNTED, "'k' has 2 .*whole numbers"),
    "count too large": ({"k": [1.0, 1.0, 1e19]}, COUNTED, r"'k' has 1 .*2\*\*63 - 1"),
    "truth outside labels": ({"yhat": [0, 0, 0]}, {"labels": [0]}, "label 1, .*labels=.*0"),
    "prediction outside": ({"yhat": [0, 2, 3]}, {"labels": [0, 1]}, "labels 2, 3, .*labels="),
    "pos_label": ({}, {"pos_label": 7}, "pos_label=7 is not a label; give one of 0, 1"),
    "pos_label of text": ({}, {"pos_label": "1"}, "pos_label='1'.*0, 1"),
}
REPORT_VALUES = {
    "unknown label": ({}, {"class_weight": {0: 1, 1: 1, 7: 1}}, "for 7.*labels: 0, 1"),
    "label left out": ({}, {"class_weight": {0: 1}}, "no weight for 1.*labels: 0, 1"),
    "three labels": ({"y": [0, 1, 2]}, {"metrics": ["uar", "f1"]}, "'f1' needs pos_.*0, 1, 2"),
    "texts": (TEXTS, {"metrics": "recall"}, "'recall' needs pos_label=.*'a', 'b'"),
    "texts, all metrics": (TEXTS, {"metrics": "all"}, "needs pos_label=.*'a', 'b'"),
}


@cases(
    ("method", "columns", "options", "words"),
    [*wrong_uses(VALUES, *METHODS), *wrong_uses(REPORT_VALUES, bf.report)],
)
def test_invalid_values_raise_at_collect(method, columns, options, words):
    with warnings.catch_warnings(action="ignore"):  # of pandas 2.2, as it converts infinities
        frames = [make(DATA | columns) for make in CONSTRUCTORS]
    texts = {message_at_collect(asked(method, frame, options)) for frame in frames}
    assert len(texts) == 1
    assert re.search(words, texts.pop())


@EACH_METHOD
def test_mixed_types_in_a_column_are_refused_as_labels(method):
    frame = pd.DataFrame({"y": [0, "1", 1], "yhat": [0, 1, 1]}, dtype=object)
    assert re.search("'y'.*number.*string", message(partial(method, frame, "y", "yhat")))


@EACH_METHOD
def test_column_names_that_are_not_strings_raise_in_polars_only(method):
    unknown = message(partial(method, pd.DataFrame({"y": [0], 3: [0]}), "y", 7), KeyError)
    assert re.search("column 7 not found.*Columns: y, 3", unknown)
    assert "got int as a column" in message(partial(method, pl.DataFrame(DATA), "y", 7), TypeError)


@EACH_METHOD
def test_duplicate_column_names_raise(method):
    frame = pd.DataFrame([[0, 0, 1], [1, 1, 0]], columns=["y", "yhat", "yhat"])
    assert re.search("2 columns named 'yhat'; rename", message(partial(method, frame, "y", "yhat")))


@EACH_METHOD
@cases("given", [(1,), None])
def test_an_unsupported_frame_type_raises_and_lists_the_supported(method, given):
    text = message(partial(method, given, "y", "yhat"), TypeError)
    assert "It reads pandas.DataFrame, polars.DataFrame, polars.LazyFrame, pyarrow.Table, " in text
    assert "any frame with __arrow_c_stream__, and narwhals frames of these. Convert it" in text
    assert type(given).__name__ in text


@EACH_METHOD
@cases(
    ("given", "library"),
    [
        ([1, 0], "pl"),
        (np.array([1, 0]), "pl"),
        (pl.Series([1, 0]), "pl"),
        (pa.array([1, 0]), "pl"),
        (pd.Series([1, 0]), "pd"),
    ],
)
def test_arrays_instead_of_a_frame_raise_with_code_that_makes_a_frame(method, given, library):
    advice = (
        f'bf.{method.__name__}({library}.DataFrame({{"y_true": y_true, "y_pred": y_pred}}), '
        '"y_true", "y_pred").'
    )

    for call in (
        partial(method, given, given),
        partial(method, given, given, by=given),
        partial(method, given, given, given),
        partial(method, y_true=given, y_pred=given),
        partial(method, given, "y", "yhat"),
    ):
        assert message(call, TypeError).endswith(advice)


@EACH_METHOD
def test_a_fourth_positional_argument_raises(method):
    text = message(partial(method, pl.DataFrame(DATA), "y", "yhat", "g"), TypeError)

    assert text == (
        f"bf.{method.__name__} takes frame, y_true, y_pred by position, but 4 positional arguments "
        "were given; give the others by keyword, such as by=."
    )


@EACH_METHOD
def test_an_index_level_as_by_column_raises_and_advises_reset_index(method):
    frame = pd.DataFrame(TEXTS, index=pd.Index([1, 2, 3], name="group"))

    text = message(partial(method, frame, "y", "yhat", by="group"), KeyError)

    assert "'group' not found, but it names a level of the frame's index; call df.reset" in text
    reset = method(frame.reset_index(), "y", "yhat", by="group")
    assert set(reset["group"]) == {1, 2, 3}


@cases("null", [None, NAN])
@each_constructor
def test_missing_drop_leaves_out_rows_without_a_weight(constructor, null):
    frame = constructor({"y": [0, 0, 1, 1], "yhat": [0, 1, 1, 0], "w": [1.0, null, 2.0, 6.0]})
    options = {"sample_weight": "w", "missing": "drop", "metrics": ["accuracy", "uar"]}
    out = rows(bf.report(frame, "y", "yhat", detail=True, **options))
    assert out == [(3, 1, 3 / 9, (1 + 2 / 8) / 2, 2, 1)]


DTYPES = {
    "text": "group grouped_by model metric",
    "int32": "size",
    "int8": "label y yhat",
    "int64": "n n_labels min_support n_missing support predicted correct",
}
SCORES = "accuracy balanced_accuracy adjusted_balanced_accuracy"
WEIGHED = {"missing": "drop", "class_weight": {1: 1.0}, "metrics": ["baw", "f1"]}
LONG = {"layout": "long", "margins": "all", "y_pred": ["yhat"], "counts": "size", "detail": True}
SHARES = {"sample_weight": "w", "complete": True, "normalize": "all"}
ONE_VERSUS_REST = "predicted correct prevalence specificity npv"
EMPTY = [
    (bf.report, {}, f"n {SCORES}"),
    (bf.report, {"detail": True}, f"n {SCORES} n_labels min_support"),
    (bf.report, WEIGHED, "n n_missing baw f1"),
    (bf.report, LONG, "grouped_by model metric estimate n n_labels min_support"),
    (bf.classes, {}, "label recall precision f1 support"),
    (bf.classes, {"detail": True}, f"label recall precision f1 support {ONE_VERSUS_REST}"),
    (bf.confusion, {}, "y yhat n"),
    (bf.confusion, SHARES, "y yhat n weight weight_sq weight_max share"),
]


def schema(frame):
    """List names and dtypes, the dtypes under names that all libraries share."""
    known = frame.dtypes if isinstance(frame, pd.DataFrame) else frame.collect_schema()
    dtypes = {name: str(dtype).lower() for name, dtype in known.items()}
    return [(name, re.sub("^(string|str|object)$", "text", one)) for name, one in dtypes.items()]


@cases("to", ["to_pandas", "clone", "lazy"])
@cases(("method", "options", "own"), EMPTY)
def test_an_empty_frame_gives_an_empty_frame_with_the_same_columns(to, method, options, own):
    given = {"group": pl.String, "size": pl.Int32, "y": pl.Int8, "yhat": pl.Int8, "w": pl.Float64}
    frame = pl.DataFrame(schema=given)
    out = asked(method, getattr(frame, to)(), {"by": ["group", "size"], **options})()
    dtypes = {name: dtype for dtype, names in DTYPES.items() for name in names.split()}
    expected = [(name, dtypes.get(name, "float64")) for name in f"group size {own}".split()]
    assert schema(out) == expected
    out = out.collect() if to == "lazy" else out
    assert schema(out) == expected
    assert len(out) == 0


@EACH_METHOD
@each_constructor
def test_an_empty_frame_without_dtypes_gives_an_empty_frame(constructor, method):
    assert rows(method(constructor({"y": [], "yhat": []}), "y", "yhat")) == []


@each_constructor
def test_a_frame_of_one_row_has_a_result(constructor):
    right, wrong = (constructor({"y": [true], "yhat": [1]}) for true in (1, 0))
    metrics = ["accuracy", "uar", "adjusted_balanced_accuracy", "normalized_accuracy", "f1"]
    assert rows(bf.confusion(right, "y", "yhat")) == [(1, 1, 1)]
    options = {"metrics": metrics, "detail": True}
    assert rows(bf.report(right, "y", "yhat", **options)) == [(1, 1, 1, None, 0, 1, 1, 1)]
    assert rows(bf.report(wrong, "y", "yhat", **options)) == [(1, 0, 0, None, -1, 0, 1, 1)]
    of_labels = {  # label 0 has the only row, and label 1 the only prediction
        "label": [0, 1],
        **{"recall": [0, None], "precision": [None, 0], "f1": [0, 0], "support": [1, 0]},
        **{"predicted": [0, 1], "correct": [0, 0], "prevalence": [1, 0]},
        **{"specificity": [None, 0], "npv": [0, None]},
    }
    assert_table(bf.classes(wrong, "y", "yhat", detail=True), of_labels)


@cases(
    ("method", "options", "words"),
    [
        (bf.posterior, {"above": 2}, "above=2 is not a balanced accuracy; give a number from 0"),
        (bf.posterior, {"above": "half"}, "above='half' is not"),
        (bf.gaps, {"by": "group", "reference": {"group": ["a"]}}, "not a single value"),
        (bf.gaps, {"by": "group", "reference": ["a"]}, r"reference=\['a'\] is not a single value"),
    ],
)
def test_invalid_option_values_raise(method, options, words):
    assert re.search(words, message(asked(method, pl.DataFrame(DATA), options)))


@pytest.mark.parametrize("labels", ["ab", 5, iter("ab")])
def test_labels_of_a_matrix_that_are_not_a_list_are_refused(labels):
    with pytest.raises(bf.InvalidInputError, match=r"labels=.* is not a list; give"):
        bf.from_matrix([[1, 2], [3, 4]], labels)


@pytest.mark.parametrize(
    ("call", "advice"),
    [
        (lambda df: df.bal.report("y", y_score="s"), ("ranking", "curve")),
        (lambda df: df.bal.compare("y", "a", "b"), ("baseline=",)),
        (lambda df: df.bal.compare("y", ["s", "s2"]), ("`score >= 0.5`", "y_score=")),
        (lambda df: df.bal.audit("y", "s"), ("`score >= 0.5`", "y_score=")),
        (lambda df: df.bal.compare("y", ["a", "b"], metrics="auc"), ("ranking", "y_score=")),
        (lambda df: df.bal.check("y", "a", rule="recall > 0"), ("did you mean 'rules'?",)),
        (lambda df: bf.period("day"), ("bf.period needs every",)),
        (lambda df: bf.bins("age"), ("bf.bins needs bins",)),
        (lambda df: bf.bins("age", 4, n_bins=4), ("did you mean 'bins'?",)),
        (lambda df: df.bal.plot.report("y", "a", sorted="n"), ("option 'sorted' not found",)),
    ],
)
def test_errors_name_what_the_caller_needs(call, advice):
    df = pl.DataFrame({"y": [0, 1], "a": [0, 1], "b": [1, 1], "s": [0.2, 0.7], "s2": [0.1, 0.9]})

    with pytest.raises(bf.BalframeError) as raised:
        call(df)

    assert [words for words in advice if words not in str(raised.value)] == []
