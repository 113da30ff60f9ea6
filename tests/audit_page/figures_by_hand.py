"""Answers made by hand, from which sentences of an audit are composed in tests."""

from dataclasses import replace

import polars as pl

from balframe.audit_page.counted import Counted
from balframe.audit_page.groups import NOT_COMPARED, ColumnOf, Difference, Extremes, GroupOf
from balframe.audit_page.numbers import Estimate
from balframe.audit_page.rates import rates_of
from balframe.audit_page.request import Asked, Model, Words
from balframe.audit_page.results import Audited, OfModel
from balframe.audit_page.text import CLOSE, OPEN

WORDS = Words("re-arrested", "called high risk", "person", "people")
_MISSING = {"counts": None, "missing": "raise", "cells": False}


def plain(text):
    """Take the marks out of a text."""
    return text.replace(OPEN, "").replace(CLOSE, "")


def texts(block):
    """List all texts of blocks, of sections or of a document."""
    if isinstance(block, str):
        yield plain(block)
    elif isinstance(block, (list, tuple)):
        for one in block:
            yield from texts(one)
    elif hasattr(block, "__dataclass_fields__"):
        for name in block.__dataclass_fields__:
            yield from texts(getattr(block, name))


def asked(by=("race",), **changes):
    """Make what a caller asks for."""
    given = Asked(
        "y", [Model("p", None)], list(by), [], "Title", "", WORDS, 0.95, 30, _MISSING, "call"
    )
    return replace(given, **changes)


def counted(cells, labels=(0, 1), positive=1, **changes):
    """Count cells, written as {(truth, call): n}."""
    frame = pl.DataFrame(
        [{"truth": truth, "call": call, "n": n} for (truth, call), n in cells.items()]
    )
    return replace(Counted(Model("p", None), frame, labels, positive, None, 0), **changes)


TWO = counted({(0, 0): 50, (0, 1): 10, (1, 0): 20, (1, 1): 20})
RATES = rates_of(TWO, WORDS)
FPR, FNR = RATES.errors
BALANCED = RATES.named("balanced_accuracy")


def difference(value, lower=None, upper=None, adjusted=None):
    """Make a difference, in percentage points."""
    parts = [None if one is None else one / 100 for one in (value, lower, upper)]
    return Difference(Estimate(*parts), adjusted, adjusted)


NO_DIFFERENCE = difference(0, -5, 5, 0.9)


def group(value, negatives=100, positives=100, called=100, rates=None, differences=None):
    """Make a group; its rates are one half and its differences not shown, but for those given."""
    n = negatives + positives
    supports = {
        "false_positive_rate": negatives,
        "specificity": negatives,
        "false_negative_rate": positives,
        "recall": positives,
        "balanced_accuracy": min(negatives, positives),
        "precision": called,
    }
    known = {
        rate: Estimate(0.5, 0.4, 0.6, supports.get(rate.metric, n))._replace(
            **{} if rates is None or rate.metric not in rates else rates[rate.metric]
        )
        for rate in RATES.every
    }
    given = {} if differences is None else differences
    return GroupOf(
        value,
        n,
        {0: negatives, 1: positives},
        {0: n - called, 1: called},
        known,
        {rate: given.get(rate.metric, NO_DIFFERENCE) for rate in RATES.compared},
        min(negatives, positives),
    )


def of(value, lower=None, upper=None):
    """Write an estimate in percent."""
    parts = [None if one is None else one / 100 for one in (value, lower, upper)]
    return dict(zip(("value", "lower", "upper"), parts, strict=True))


def apart(low, high, lower, upper, lowest=0, highest=1):
    """Make the two groups furthest apart, with the limits of the difference; in percent."""
    found = Estimate((high - low) / 100, lower / 100, upper / 100, 2)
    return Extremes(lowest, highest, low / 100, high / 100, found)


def column(groups, number=0, **extremes):
    """Make a by-column; extremes are given by metric."""
    found = {rate: extremes.get(rate.metric, NOT_COMPARED) for rate in RATES.ranked}
    return ColumnOf(number, groups, found)


def model(columns=(), overall=None, name="", read=TWO, **changes):
    """Make the answers about a model."""
    overall = group(None, 60, 40, 30) if overall is None else overall
    given = OfModel(name, read, RATES, overall, list(columns), [], [], [], [], None)
    return replace(given, **changes)


def audited(*models, pairs=(), **changes):
    """Make all that a page is made from."""
    return Audited(asked(**changes), list(models), list(pairs), "0" * 64)
