"""How the predictions of several models differ on the same rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from balframe.api.outcomes import RATE
from balframe.audit_page.baseline import compare_with_baseline
from balframe.audit_page.document import Block, Head, Paragraph, RowGroup, Section, Table, TableRow
from balframe.audit_page.groups import Difference, possible_difference
from balframe.audit_page.numbers import points_more
from balframe.audit_page.queries import query
from balframe.audit_page.rates import BALANCED
from balframe.audit_page.request import Request
from balframe.audit_page.results import Audit, LeftOut, ModelFigures
from balframe.audit_page.tables import difference_cells, difference_heads, difference_range
from balframe.audit_page.text import capitalize, label, quote
from balframe.methods.comparisons.compare import compare

QUESTION = "How do the models differ?"
_METRICS, _METRICS_OF_OUTCOMES = ("accuracy", BALANCED), (RATE,)
_NAMES = {"accuracy": "accuracy", BALANCED: "balanced accuracy", RATE: "pass rate"}
_MAX_PAIRS = 20
_MAX_BRIEF = 3


class Pair(NamedTuple):
    """A model and the baseline on the same rows: the differences of their scores, by metric."""

    model: str
    baseline: str
    differences: Mapping[str, Difference]


def compared_metrics(request: Request) -> Sequence[str]:
    """Return the metrics that models are compared in; the first says which of two is better."""
    return _METRICS_OF_OUTCOMES if request.is_of_outcomes else _METRICS


def measure(audit: Audit, level: float) -> list[Pair]:
    """Compare each other model with the first; cells of single models cannot be paired."""
    request = audit.request
    if len(request.models) < 2 or request.options["cells"]:
        return []
    if request.cluster is not None:
        return [_pair(model, audit.models[0], level) for model in audit.models[1:]]
    rows = query(
        compare,
        audit.frame,
        request.y_true,
        [model.y_pred for model in request.models],
        metrics=list(compared_metrics(request)),
        adjust=None,
        level=level,
        backend="polars",
        **{name: value for name, value in request.options.items() if name != "cells"},
    )
    pairs: dict[tuple[str, str], dict[str, Difference]] = {}
    for row in rows:
        pair = pairs.setdefault((row["model"], row["baseline"]), {})
        pair[row["metric"]] = Difference.from_row(row)
    return [Pair(*names, differences) for names, differences in pairs.items()]


def _pair(model: ModelFigures, baseline: ModelFigures, level: float) -> Pair:
    """Compare a model with the baseline if rows are in clusters.

    They are compared as groups in the same clusters are: `gaps` has p-values that agree with its
    limits then, which `compare` has not always.
    """
    labels = tuple(dict.fromkeys([*model.cells.labels, *baseline.cells.labels]))
    metrics = compared_metrics(model.request)
    rows = compare_with_baseline(
        model.cells, replace(baseline.cells, labels=labels), metrics, None, level
    )
    by_metric = zip(metrics, map(Difference.from_row, rows), strict=True)
    names = [str(figures.cells.model.y_pred) for figures in (model, baseline)]
    return Pair(names[0], names[1], dict(by_metric))


def differences(pairs: Sequence[Pair]) -> Iterator[Difference]:
    """Return the differences whose p-values are adjusted with all others."""
    for pair in pairs:
        yield from pair.differences.values()


def section(audit: Audit, pairs: Sequence[Pair]) -> Section | LeftOut:
    """State how the models differ on the same rows."""
    request = audit.request
    if len(audit.models) < 2:
        return LeftOut(QUESTION, "one model was given", is_listed=False)
    if not pairs:
        return LeftOut(QUESTION, f"cells were given, which do not show {_of_a_row(request)}")
    pairs = pairs[:_MAX_PAIRS]
    results = [result(pair, request) for pair in pairs]
    blocks: list[Block] = [*map(Paragraph, [_introduction(request), *results])]
    blocks += [_table(pairs, metric) for metric in compared_metrics(request)]
    return Section("models", QUESTION, blocks, results[:_MAX_BRIEF])


def _of_a_row(request: Request) -> str:
    """Return what cells of single models do not say of a row."""
    if request.is_of_outcomes:
        return f"whether one {request.words.singular} {request.words.passed} with two models"
    return "what two models predict for one row"


def _introduction(request: Request) -> str:
    words = request.words
    start = f"The models {'have outcomes of' if request.is_of_outcomes else 'predict'} the same"
    if request.cluster is not None:
        return (
            f"{start} {words.plural}, in the same clusters, which the confidence intervals and "
            "tests allow for."
        )
    only = (
        f"that {words.passed} with one model and not with the other"
        if request.is_of_outcomes
        else "for whom one model is right and the other is not"
    )
    return (
        f"{start} {words.plural}, so they are compared row by row: a difference comes only from "
        f"those {only}."
    )


def result(pair: Pair, request: Request) -> str:
    """State which of two models is right, or passed, significantly more often, if any is."""
    metric = compared_metrics(request)[0]
    main = pair.differences[metric]
    first, second, estimate = quote(pair.model), quote(pair.baseline), main.estimate
    if not main.is_significant or estimate.value is None:
        end = f"; {possible_difference(estimate.furthest_limit)}" if estimate.has_limits else ""
        return f"{first} and {second}: no difference in {_NAMES[metric]} is established{end}."
    is_right = request.words.passed if request.is_of_outcomes else "is right"
    more = "more" if estimate.value > 0 else "less"
    return f"{first} {is_right} {more} often than {second}: {points_more(estimate)}."


def _table(pairs: Sequence[Pair], metric: str) -> Table:
    span = difference_range(pair.differences[metric].estimate for pair in pairs)
    rows = [
        TableRow(
            f"{label(pair.model)} less {label(pair.baseline)}",
            difference_cells(pair.differences[metric], span),
            differs=pair.differences[metric].is_significant,
        )
        for pair in pairs
    ]
    heads = [Head("Model, less the other", "text"), *difference_heads("Points", span)]
    return Table(
        capitalize(_NAMES[metric]),
        heads,
        [RowGroup("", rows)],
        "Diamonds, or bold: established.",
    )
