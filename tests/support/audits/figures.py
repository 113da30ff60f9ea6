"""Figures made by hand, from which sections of an audit are written in tests."""

from dataclasses import replace

import polars as pl

from balframe.audit_page.groups import (
    NOT_COMPARED,
    ColumnFigures,
    Comparison,
    Difference,
    Extremes,
    GroupFigures,
)
from balframe.audit_page.numbers import Estimate
from balframe.audit_page.queries import ModelCells
from balframe.audit_page.rates import page_rates
from balframe.audit_page.request import Model, Request, Words
from balframe.audit_page.results import Adjustment, Audit, ModelFigures
from balframe.audit_page.text import CLOSE, OPEN

WORDS = Words("re-arrested", "called high risk", "person", "people")
ALPHA, MIN_SUPPORT = 0.05, 30


def plain(text):
    """Take the marks out of a text."""
    return text.replace(OPEN, "").replace(CLOSE, "")


def texts(block):
    """Return all texts of blocks, of sections or of a document."""
    if isinstance(block, str):
        yield plain(block)
    elif isinstance(block, (list, tuple)):
        for item in block:
            yield from texts(item)
    elif hasattr(block, "__dataclass_fields__"):
        for name in block.__dataclass_fields__:
            yield from texts(getattr(block, name))


def make_request(by=("race",), **changes):
    """Make the request of a caller."""
    request = Request(
        y_true="y",
        models=[Model("p", None)],
        by=list(by),
        rules=[],
        title="Title",
        subtitle="",
        words=WORDS,
        level=1 - ALPHA,
        min_support=MIN_SUPPORT,
        options={"counts": None, "missing": "raise", "cells": False},
        call="call",
    )
    return replace(request, **changes)


def make_cells(counts, labels=(0, 1), positive=1, **changes):
    """Make the cells of a model, written as {(truth, prediction): n}."""
    rows = [{"truth": y, "prediction": p, "n": n} for (y, p), n in counts.items()]
    cells = ModelCells(
        make_request(), Model("p", None), pl.DataFrame(rows), labels, positive, None, 0
    )
    return replace(cells, **changes)


TWO = make_cells({(0, 0): 50, (0, 1): 10, (1, 0): 20, (1, 1): 20})
THREE = make_cells(
    {("a", "a"): 5, ("b", "a"): 3, ("c", "c"): 2}, labels=("a", "b", "c"), positive=None
)
RATES = page_rates(TWO)
FPR, FNR = RATES.errors
BALANCED = RATES.by_metric("balanced_accuracy")


def in_units(*percentages):
    """Turn percentages into shares."""
    return [None if value is None else value / 100 for value in percentages]


def difference(value, lower=None, upper=None, p_adjusted=None):
    """Make a difference, in percentage points."""
    estimate = Estimate(*in_units(value, lower, upper))
    return Difference(estimate, p_adjusted, p_adjusted, ALPHA)


def group(value, negatives=100, positives=100, predicted=100, rates=None):
    """Make a group, whose rates are one half but for some."""
    n = negatives + positives
    supports = {
        "false_positive_rate": negatives,
        "specificity": negatives,
        "false_negative_rate": positives,
        "recall": positives,
        "balanced_accuracy": min(negatives, positives),
        "precision": predicted,
    }
    estimates = {
        rate: Estimate(0.5, 0.4, 0.6, supports.get(rate.metric, n))._replace(
            **(rates or {}).get(rate.metric, {})
        )
        for rate in RATES.all
    }
    return GroupFigures(
        0,
        value,
        n,
        {0: negatives, 1: positives},
        {0: n - predicted, 1: predicted},
        estimates,
        min(negatives, positives),
        MIN_SUPPORT,
    )


def percent(value, lower=None, upper=None):
    """Write an estimate in percent."""
    return dict(zip(("value", "lower", "upper"), in_units(value, lower, upper), strict=True))


def apart(low, high, lower, upper, lowest="A", highest="B"):
    """Make the two groups furthest apart, with the limits of the difference; in percent."""
    distance = Estimate((high - low) / 100, lower / 100, upper / 100, 2)
    return Extremes(True, lowest, highest, low / 100, high / 100, distance)


def compare(differences=None, extremes=NOT_COMPARED, spread=None):
    """Make a comparison from differences by value, and the two groups furthest apart."""
    return Comparison(differences or {}, spread, extremes)


def column(groups, number=0, differences=None, **extremes):
    """Make a by-column; differences by value, and the groups furthest apart, are by metric."""
    groups = [replace(own, column=number) for own in groups]
    comparisons = {
        rate: compare((differences or {}).get(rate.metric), extremes.get(rate.metric, NOT_COMPARED))
        for rate in RATES.ranked
    }
    return ColumnFigures(number, groups, groups, comparisons)


def model(columns=(), overall=None, name="", cells=TWO, **changes):
    """Make the figures of a model."""
    overall = group(None, 60, 40, 30) if overall is None else overall
    groups = [by_column.groups for by_column in columns]
    figures = ModelFigures(name, cells, RATES, overall, groups, None, list(columns))
    return replace(figures, **changes)


def with_request(figures, **changes):
    """Change the request of a model."""
    request = make_request(**changes)
    return replace(figures, cells=replace(figures.cells, request=request))


def audit(*models, n_tests=2, n_significant=1, **changes):
    """Make the figures of several models."""
    models = [with_request(figures, **changes) for figures in models]
    adjustment = Adjustment({"rates of groups": n_tests}, n_significant, ALPHA)
    return Audit(make_request(**changes), None, models, "0" * 64, adjustment)


def many_labels(n):
    """Make a model of many labels, whose predictions are all the first."""
    labels = tuple(f"l{i:02}" for i in range(n))
    cells = make_cells({(label, labels[0]): 10 for label in labels}, labels, None)
    rates = page_rates(cells)
    estimates = {rate: Estimate(0.5, 0.4, 0.6, 10) for rate in rates.all}
    overall = GroupFigures(None, None, 100, {}, {}, estimates, None, MIN_SUPPORT)
    return model(overall=overall, cells=cells, rates=rates)
