"""The sections whose methods take no weights, no clusters or no corrections, and why not."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from balframe.audit_page.document import Section
from balframe.audit_page.queries import ModelCells
from balframe.audit_page.request import Request
from balframe.audit_page.results import LeftOut
from balframe.audit_page.sections import (
    calibration,
    models,
    selection_rates,
    thresholds,
    worst_slices,
)

Write = Callable[..., Section | LeftOut]

_SUMS = "cells were given with sums of weights, and a threshold needs the weight of each {singular}"


class _Refusal(NamedTuple):
    """Why a section is left out with weights, with sums of them, and with clusters.

    `suppressed` is why it is with weights where small counts are withheld, and `unlabelled` if rows
    without a true label are corrected for.
    """

    question: Callable[[Request], str]
    weights: str = ""
    sums_of_weights: str = ""
    suppressed: str = ""
    clusters: str = ""
    unlabelled: str = ""


_OF_COMBINATIONS: Mapping[Write, _Refusal] = {  # sections that need two by-columns
    worst_slices.section: _Refusal(
        worst_slices.question,
        weights="the search for combinations has no tests of weighted {plural}",
        clusters="the search for combinations needs independent {plural}",
        unlabelled="the search for combinations needs an outcome of each {singular}",
    ),
}
_OF_GROUPS: Mapping[Write, _Refusal] = {  # those that need one
    selection_rates.section: _Refusal(
        lambda _: selection_rates.QUESTION,
        weights="ratios to the highest have no confidence intervals for weighted {plural}",
        clusters="the confidence intervals of the ratios need independent {plural}",
    ),
}
_OF_MODELS: Mapping[Write, _Refusal] = {  # those that need two models
    models.section: _Refusal(
        lambda _: models.QUESTION,
        unlabelled="the comparison of models needs an outcome of each {singular}",
    ),
}
_OF_SCORES: Mapping[Write, _Refusal] = {  # those that need scores
    thresholds.section: _Refusal(
        lambda _: thresholds.QUESTION,
        sums_of_weights=_SUMS,
        suppressed="weighted rates do not show between which thresholds counts are small",
        clusters="confidence intervals at all thresholds need independent {plural}",
    ),
    calibration.section: _Refusal(
        lambda _: calibration.QUESTION,
        weights="the tests of what scores mean have no known error rates with weights",
        clusters="the tests of what scores mean need independent {plural}",
    ),
}


def refused_sections(cells: ModelCells) -> dict[Write, LeftOut]:
    """Return the sections that are left out for their methods, as far as others have them."""
    request = cells.request
    candidates = [
        *(_OF_COMBINATIONS.items() if len(request.by) > 1 else ()),
        *(_OF_GROUPS.items() if request.by and not request.is_of_outcomes else ()),
        *(_OF_MODELS.items() if len(request.models) > 1 else ()),
        *(_OF_SCORES.items() if cells.has_scores else ()),
    ]
    refused = {}
    for write, refusal in candidates:
        if reason := _reason(refusal, cells):
            refused[write] = LeftOut(refusal.question(request), _in_words(reason, request))
    return refused


def _reason(refusal: _Refusal, cells: ModelCells) -> str:
    if cells.request.is_corrected:
        return refusal.unlabelled
    if cells.has_clusters:
        return refusal.clusters
    if not cells.is_weighted:
        return ""
    if refusal.weights:
        return refusal.weights
    if cells.weighted_scores is None:
        return refusal.sums_of_weights
    return "" if cells.request.suppress is None else refusal.suppressed


def _in_words(reason: str, request: Request) -> str:
    words: dict[str, Any] = {"singular": request.words.singular, "plural": request.words.plural}
    return reason.format(**words)
