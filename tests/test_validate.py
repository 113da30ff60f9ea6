"""Numbers of NumPy are numbers, wherever an option takes one."""

import re
from fractions import Fraction

import altair as alt
import numpy as np
import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases

FRAME = pl.DataFrame({"g": list("aabb") * 9, "y": [1, 0, 1, 0] * 9, "p": [1, 0, 0, 0] * 9})
LABELS = {"y_true": "y", "y_pred": "p"}


@cases(
    ("function", "options"),
    [
        (bf.report, {"max_cells": 10, "by": "g"}),
        (bf.posterior, {"above": 1}),
        (bf.power, {"rules": "recall >= 0.4", "min_support": 1}),
        (bf.plot.report, {"most": 2, "min_support": 3, "by": "g"}),
    ],
)
def test_methods_and_charts_take_integers_of_numpy(function, options):
    numbers = {name: np.int64(v) if isinstance(v, int) else v for name, v in options.items()}

    plain, of_numpy = (function(FRAME, **LABELS, **given) for given in (options, numbers))

    if isinstance(plain, pl.DataFrame):
        assert of_numpy.equals(plain)
    else:
        assert of_numpy.to_dict() == plain.to_dict()


@cases(
    ("function", "options"),
    [
        (bf.report, {"margins": False, "missing": "drop", "layout": "long", "interval": True}),
        (bf.report, {"by": "g", "backend": "pandas"}),
        (bf.confusion, {"complete": True, "normalize": "true"}),
        (bf.gaps, {"by": "g", "reference": "rest", "adjust": "holm", "margins": "overall"}),
        (bf.check, {"rules": "recall >= 0.4", "adjust": "bonferroni"}),
        (bf.power, {"rules": "recall >= 0.4", "pos_label": True}),
        (bf.plot.report, {"by": "g", "sort": "n", "numbers": True}),
    ],
)
def test_methods_and_charts_take_booleans_and_texts_of_numpy(function, options):
    of_kind = {bool: np.bool_, str: np.str_}
    scalars = {name: of_kind[type(value)](value) for name, value in options.items()}

    plain, of_numpy = (function(FRAME, **LABELS, **given) for given in (options, scalars))

    if isinstance(plain, alt.TopLevelMixin):
        assert of_numpy.to_dict() == plain.to_dict()
    else:
        assert of_numpy.equals(plain)


def test_functions_without_a_frame_take_booleans_and_texts_of_numpy():
    result = bf.check(FRAME, **LABELS, rules="recall >= 0.4", min_support=1)

    assert bf.passed(result, allow_inconclusive=np.True_) is True
    assert bf.datasets.compas(backend=np.str_("polars"), expand=np.False_).shape[1] == 4
    table = bf.table(bf.report(FRAME, **LABELS, by="g"), bars=np.False_)
    assert "svg" not in table.as_raw_html()


def test_tables_take_integers_of_numpy():
    result = bf.report(FRAME, **LABELS, by="g")
    names = ("decimals", "worst", "max_rows", "min_support")

    plain, of_numpy = (
        re.sub("balframe_[0-9a-f]+", "", bf.table(result, **options).as_raw_html())
        for options in (dict.fromkeys(names, 2), dict.fromkeys(names, np.int64(2)))
    )

    assert of_numpy == plain


def test_booleans_are_refused_as_numbers():
    with pytest.raises(bf.InvalidInputError, match="above=True is not a balanced accuracy"):
        bf.posterior(FRAME, **LABELS, above=True)


@cases("number", [10**400, True, Fraction(1, 2), 0.5j, np.bool_(True), "0.5"])
@cases(
    ("function", "options"),
    [
        (bf.curve, lambda number: {"y_true": "y", "y_score": "p", "thresholds": [number]}),
        (bf.slices, lambda number: {**LABELS, "over": "g", "bins": [number]}),
        (bf.report, lambda number: {**LABELS, "class_weight": {0: number, 1: 1}}),
        (bf.report, lambda number: {**LABELS, "interval": True, "level": number}),
    ],
)
def test_invalid_numbers_in_options_are_refused(function, options, number):
    with pytest.raises(bf.InvalidInputError, match="give "):
        function(FRAME, **options(number))
