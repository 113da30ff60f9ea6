"""Every method gives the same columns, rows and values on every kind of frame."""

import math
import random
from collections import Counter

import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import (
    assert_table,
    each_constructor,
    pandas_nullable,
    pandas_numpy,
    pandas_pyarrow,
    plain,
    polars_eager,
    polars_lazy,
)

ROWS = {
    "g": ["b", "a", None, "a", "b", "a", "b", "a"],
    "y": [1, 1, 1, 0, 0, 1, 1, 0],
    "p": [1, 1, 0, 0, 1, 0, 1, 0],
    "q": [0, 1, 1, 1, 0, 0, 1, 1],
    "w": [2.0, 0.5, 4.0, 1.0, 0.75, 1.5, 0.25, 1.0],
    "k": [1, 2, 5, 0, 2, 1, 1, 3],
}
DEFAULTS = ("accuracy", "balanced_accuracy", "adjusted_balanced_accuracy")
REPORT_P = {
    "g": ["a", "b", None],
    "n": [4, 3, 1],
    "accuracy": [3 / 4, 2 / 3, 0.0],
    "balanced_accuracy": [(2 / 2 + 1 / 2) / 2, (0 / 1 + 2 / 2) / 2, 0.0],
    "adjusted_balanced_accuracy": [(3 / 4 - 1 / 2) * 2, 0.0, None],
}
SUPPORTS = {"n_labels": [2, 2, 1], "min_support": [2, 1, 1]}
ACCURACIES_P = {
    **REPORT_P,
    "normalized_accuracy": [(3 / 4 - 1 / 2) * 2, (2 / 3 - 1 / 2) * 2, (0 - 1 / 2) * 2],
    "geometric_mean": [math.sqrt(2 / 2 * 1 / 2), 0.0, 0.0],
}


def _confusion(*rows):
    return dict(zip(("g", "y", "p", "n"), map(list, zip(*rows, strict=True)), strict=True))


HAND = {
    "confusion": (
        lambda df: bf.confusion(df, "y", "p", by="g"),
        _confusion(
            ("a", 0, 0, 2), ("a", 1, 0, 1), ("a", 1, 1, 1),
            ("b", 0, 1, 1), ("b", 1, 1, 2),
            (None, 1, 0, 1),
        ),
    ),
    "confusion complete": (
        lambda df: bf.confusion(df, "y", "p", by="g", complete=True),
        _confusion(
            ("a", 0, 0, 2), ("a", 0, 1, 0), ("a", 1, 0, 1), ("a", 1, 1, 1),
            ("b", 0, 0, 0), ("b", 0, 1, 1), ("b", 1, 0, 0), ("b", 1, 1, 2),
            (None, 0, 0, 0), (None, 0, 1, 0), (None, 1, 0, 1), (None, 1, 1, 0),
        ),
    ),
    "confusion normalize true": (
        lambda df: bf.confusion(df, "y", "p", normalize="true"),
        {
            "y": [0, 0, 1, 1],
            "p": [0, 1, 0, 1],
            "n": [2, 1, 2, 3],
            "share": [2 / 3, 1 / 3, 2 / 5, 3 / 5],
        },
    ),
    "confusion normalize pred, weights": (
        lambda df: bf.confusion(df, "y", "p", sample_weight="w", normalize="pred"),
        {
            "y": [0, 0, 1, 1],
            "p": [0, 1, 0, 1],
            "n": [2, 1, 2, 3],
            "weight": [1.0 + 1.0, 0.75, 4.0 + 1.5, 2.0 + 0.5 + 0.25],
            "weight_sq": [1.0 + 1.0, 0.5625, 16.0 + 2.25, 4.0 + 0.25 + 0.0625],
            "weight_max": [1.0, 0.75, 4.0, 2.0],
            "share": [2 / 7.5, 0.75 / 3.5, 5.5 / 7.5, 2.75 / 3.5],
        },
    ),
    "confusion normalize all, counts": (
        lambda df: bf.confusion(df, "y", "p", counts="k", normalize="all", complete=True),
        {
            "y": [0, 0, 1, 1],
            "p": [0, 1, 0, 1],
            "n": [0 + 3, 2, 5 + 1, 1 + 2 + 1],
            "share": [3 / 15, 2 / 15, 6 / 15, 4 / 15],
        },
    ),
    "confusion of models": (
        lambda df: bf.confusion(df, "y", ["q", "p"]),
        {
            "model": ["q"] * 4 + ["p"] * 4,
            "y": [0, 0, 1, 1] * 2,
            "predicted": [0, 1, 0, 1] * 2,
            "n": [1, 2, 2, 3, 2, 1, 2, 3],
        },
    ),
    "classes": (
        lambda df: bf.classes(df, "y", "p", by="g", detail=True),
        {
            "g": ["a", "a", "b", "b", None, None],
            "label": [0, 1] * 3,
            "recall": [2 / 2, 1 / 2, 0 / 1, 2 / 2, None, 0.0],
            "precision": [2 / 3, 1 / 1, None, 2 / 3, 0.0, None],
            "f1": [4 / 5, 2 / 3, 0.0, 4 / 5, 0.0, 0.0],
            "support": [2, 2, 1, 2, 0, 1],
            "predicted": [3, 1, 0, 3, 1, 0],
            "correct": [2, 1, 0, 2, 0, 0],
            "prevalence": [2 / 4, 2 / 4, 1 / 3, 2 / 3, 0.0, 1.0],
            "specificity": [1 / 2, 2 / 2, 2 / 2, 0 / 1, 0.0, None],
            "npv": [1 / 1, 2 / 3, 2 / 3, None, None, 0.0],
        },
    ),
    "report": (lambda df: bf.report(df, "y", "p", by="g"), REPORT_P),
    "report in detail": (
        lambda df: bf.report(df, "y", "p", by="g", detail=True),
        {**REPORT_P, **SUPPORTS},
    ),
    "report accuracies": (
        lambda df: bf.report(df, "y", "p", by="g", metrics="accuracies"),
        ACCURACIES_P,
    ),
    "report long": (
        lambda df: bf.report(df, "y", "p", by="g", layout="long", detail=True),
        {
            "g": [segment for segment in REPORT_P["g"] for _ in DEFAULTS],
            "metric": list(DEFAULTS) * 3,
            "estimate": [REPORT_P[name][row] for row in range(3) for name in DEFAULTS],
            **{
                name: [count for count in counts for _ in DEFAULTS]
                for name, counts in {"n": REPORT_P["n"], **SUPPORTS}.items()
            },
        },
    ),
    "report of models": (
        lambda df: bf.report(df, "y", ["q", "p"], by="g", metrics="uar"),
        {
            "g": ["a", "a", "b", "b", None, None],
            "model": ["q", "p"] * 3,
            "n": [4, 4, 3, 3, 1, 1],
            "uar": [(0 / 2 + 1 / 2) / 2, 3 / 4, (1 / 1 + 1 / 2) / 2, 1 / 2, 1.0, 0.0],
        },
    ),
    "report weighted": (
        lambda df: bf.report(
            df, "y", "p", by="g", sample_weight="w", metrics=["accuracy", "uar", "recall"]
        ),
        {
            **{name: REPORT_P[name] for name in list(REPORT_P)[:2]},
            "accuracy": [2.5 / 4, 2.25 / 3, 0.0],
            "uar": [(2 / 2 + 0.5 / 2) / 2, (0 / 0.75 + 2.25 / 2.25) / 2, 0.0],
            "recall": [0.5 / 2, 1.0, 0.0],
        },
    ),
    "report margins": (
        lambda df: bf.report(
            df, "y", "p", by=["g", "q"], metrics="accuracy", margins="all", detail=True
        ),
        {
            "g": ["a", "a", "b", "b", None, "a", "b", None, None, None, None],
            "q": [0, 1, 0, 1, 1, None, None, None, 0, 1, None],
            "grouped_by": ["g, q"] * 5 + ["g"] * 3 + ["q"] * 2 + ["overall"],
            "n": [1, 3, 2, 1, 1, 4, 3, 1, 3, 5, 8],
            "accuracy": [0.0, 1.0, 1 / 2, 1.0, 0.0, 3 / 4, 2 / 3, 0.0, 1 / 3, 4 / 5, 5 / 8],
            "n_labels": [1, 2, 2, 1, 1, 2, 2, 1, 2, 2, 2],
            "min_support": [1, 1, 1, 1, 1, 2, 1, 1, 1, 2, 3],
        },
    ),
}  # fmt: skip


@cases(("method", "expected"), HAND.values())
@each_constructor
def test_methods_return_the_expected_values_on_every_frame(constructor, method, expected):
    assert_table(method(constructor(ROWS)), expected)


@each_constructor
def test_all_metrics_of_a_segment_equal_their_formulas(constructor):
    tp, fn, fp, tn = 1, 1, 0, 2
    expected = {
        "accuracy": 3 / 4, "balanced_accuracy": 3 / 4, "adjusted_balanced_accuracy": 1 / 2,
        "normalized_accuracy": 1 / 2, "geometric_mean": math.sqrt(1 / 2),
        "no_information_rate": 1 / 2, "hamming_loss": 1 / 4, "recall": tp / (tp + fn),
        "specificity": tn / (tn + fp), "precision": tp / (tp + fp), "npv": tn / (tn + fn),
        "false_positive_rate": 0.0, "false_negative_rate": fn / (tp + fn),
        "false_discovery_rate": 0.0, "false_omission_rate": fn / (fn + tn), "f1": 2 / 3,
        "jaccard": 1 / 2, "selection_rate": 1 / 4, "prevalence": 1 / 2, "informedness": 1 / 2,
        "positive_likelihood_ratio": None, "negative_likelihood_ratio": 1 / 2,
        "diagnostic_odds_ratio": None, "precision_macro": (2 / 3 + 1) / 2,
        "precision_weighted": (2 * 2 / 3 + 2 * 1) / 4, "f1_macro": (4 / 5 + 2 / 3) / 2,
        "f1_weighted": (2 * 4 / 5 + 2 * 2 / 3) / 4, "jaccard_macro": (2 / 3 + 1 / 2) / 2,
        "jaccard_weighted": (2 * 2 / 3 + 2 * 1 / 2) / 4, "jaccard_micro": 3 / (3 + 1 + 1),
        **dict.fromkeys(("cohen_kappa", "cohen_kappa_linear", "cohen_kappa_quadratic"), 1 / 2),
        "matthews_corrcoef": (tp * tn - fp * fn) / math.sqrt(1 * 2 * 2 * 3),
    }  # fmt: skip
    result = plain(bf.report(constructor(ROWS), "y", "p", by="g", metrics="all"))
    got = {name: result[name][0] for name in expected}
    assert got == {
        name: value if value is None else pytest.approx(value, rel=1e-12, abs=1e-15)
        for name, value in expected.items()
    }


def _many_rows(n, *, labels, seed=3):
    rng = random.Random(seed)
    return {
        "g": [rng.choice(["é", "z", "Z", "", None]) for _ in range(n)],
        "h": [rng.choice([3, -1, 0, None]) for _ in range(n)],
        "y": [rng.choice(labels) for _ in range(n)],
        "p": [rng.choice(labels) for _ in range(n)],
        "q": [rng.choice(labels[:2]) for _ in range(n)],
        "holes": [rng.choice([*labels, None]) for _ in range(n)],
        "w": [rng.choice([0.0, 0.25, 1.0, 8.0]) for _ in range(n)],
        "v": [rng.random() for _ in range(n)],
        "k": [rng.choice([0, 1, 7]) for _ in range(n)],
    }


CALLS = {
    "all metrics": lambda df: bf.report(
        df, "y", "p", by="g", metrics="all", class_weight="balanced"
    ),
    "all margins": lambda df: bf.report(
        df, "y", "p", by=["g", "h"], metrics="all", margins="all", layout="long", detail=True
    ),
    "counts": lambda df: bf.report(df, "y", "p", by="h", counts="k", margins="overall"),
    "models with holes": lambda df: bf.report(
        df, "y", ["holes", "q"], by="g", missing="drop", labels=bf.label_set(absent="zero")
    ),
    "exact weights": lambda df: bf.report(
        df, "y", "p", by="g", sample_weight="w", counts="k", metrics="all"
    ),
    "classes": lambda df: bf.classes(
        df, "y", ["p", "q"], by=["h", "g"], margins="all", detail=True
    ),
    "classes weighted": lambda df: bf.classes(
        df, "holes", "p", by="h", sample_weight="w", missing="drop", detail=True
    ),
    "cells": lambda df: bf.confusion(
        df, "holes", ["p", "q"], by=["g", "h"], missing="drop", complete=True, normalize="all"
    ),
    "cells weighted": lambda df: bf.confusion(
        df, "y", "p", by="g", sample_weight="w", margins="overall", normalize="true"
    ),
}
OTHERS = [pandas_nullable, pandas_pyarrow, polars_eager, polars_lazy]


@cases("other", OTHERS)
@cases("labels", [[0, 1], ["b", "a", "c"]])
@cases("method", CALLS.values())
def test_frames_agree_to_the_last_bit(method, labels, other):
    rows = _many_rows(300, labels=labels)
    result, expected = plain(method(other(rows))), plain(method(pandas_numpy(rows)))
    assert list(result) == list(expected)
    assert result == expected


@cases("other", OTHERS)
@cases("method", [bf.report, bf.classes, bf.confusion])
def test_weighted_results_of_all_frames_agree(method, other):
    rows = _many_rows(300, labels=["b", "a", "c"])
    expected = plain(method(pandas_numpy(rows), "y", "p", by="g", sample_weight="v", margins="all"))
    result = method(other(rows), "y", "p", by="g", sample_weight="v", margins="all")
    assert_table(result, expected, close=1e-9)


@each_constructor
def test_counts_stay_exact_where_floats_would_round(constructor):
    rows = {"y": [1, 0, 1], "p": [1, 1, 1], "k": [2**61 + 1, 2**53 + 1, 2**62]}
    expected = {"y": [0, 1], "p": [1, 1], "n": [2**53 + 1, 2**61 + 1 + 2**62]}
    assert plain(bf.confusion(constructor(rows), "y", "p", counts="k")) == expected


@pytest.mark.thorough
def test_cells_of_many_rows_and_segments_equal_a_counter(constructor):
    rng = random.Random(5)
    drawn = [
        (f"s{rng.randrange(20_000)}", rng.randrange(2), rng.randrange(2)) for _ in range(70_000)
    ]
    rows = dict(zip(("g", "y", "p"), map(list, zip(*drawn, strict=True)), strict=True))
    counted = sorted(Counter(drawn).items())
    assert plain(bf.confusion(constructor(rows), "y", "p", by="g")) == {
        "g": [g for (g, _, _), _ in counted],
        "y": [y for (_, y, _), _ in counted],
        "p": [p for (_, _, p), _ in counted],
        "n": [n for _, n in counted],
    }
