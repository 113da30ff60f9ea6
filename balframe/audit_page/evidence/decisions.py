"""Evidence on combinations of groups, on agreed rules, and on several models."""

from collections.abc import Iterator, Sequence
from typing import Any

from balframe.api.columns import NOTE
from balframe.audit_page.evidence.records import (
    Record,
    comparison,
    group_at,
    json_value,
    limit_fields,
    model_name,
    number,
    rate_fields,
    with_model,
)
from balframe.audit_page.numbers import UNDEFINED, Estimate
from balframe.audit_page.queries import by_name
from balframe.audit_page.results import Audit, ModelFigures
from balframe.audit_page.sections.models import Pair
from balframe.audit_page.sections.rules import Judgement, is_withheld_rule
from balframe.audit_page.sections.worst_slices import (
    Search,
    count_searches,
    is_clear,
    slice_columns,
)


def worst_slices(audit: Audit, searches: Sequence[Sequence[Search]]) -> Iterator[Record]:
    """Return the searches for combinations of groups, and the combinations that they list."""
    n_searches = count_searches(searches)
    for model, own in zip(audit.models, searches, strict=True):
        for search in own:
            start = {
                "section": "worst",
                "model": model_name(model),
                **rate_fields(search.rate),
            }
            listed = {"problem": search.problem, "n_listed": len(search.slices)}
            yield Record("searches", {**start, **listed})
            for row in search.slices:
                columns = {column: row[by_name(column)] for column in slice_columns(row)}
                difference = Estimate.from_row(row, "difference", limits="")
                yield Record(
                    "combinations",
                    {
                        **start,
                        "group": group_at(model.request, columns),
                        "n": row["min_support"],
                        "rate": number(row["estimate"]),
                        "rate_of_others": number(row["rest"]),
                        **limit_fields(difference, audit.request.level),
                        "p_value": number(row["p_value"]),
                        "p_adjusted": number(row["p_adjusted"]),
                        "n_tests": row["n_tests"],
                        "established": True,  # else it would not be listed
                        "is_clear": is_clear(row, n_searches, audit.request),
                    },
                )


def rules(audit: Audit, judgements: Sequence[Sequence[Judgement]]) -> Iterator[Record]:
    """Return the verdict on each rule wherever it was judged."""
    for model, own in zip(audit.models, judgements, strict=True):
        for judgement in own:
            yield Record("rules", _judgement(model, judgement))


def _judgement(model: ModelFigures, judgement: Judgement) -> dict[str, Any]:
    request, row = model.request, judgement.row
    is_withheld = _is_withheld(model, judgement)
    estimate = UNDEFINED if is_withheld else Estimate.from_row(row, "estimate", limits="", n=None)
    values = {column: row[by_name(column)] for column in judgement.columns}
    is_of_group = bool(values) and not judgement.rule.is_over_segments
    note = row.get(NOTE)
    return {
        "section": "rules",
        "model": model_name(model),
        "rule": judgement.rule.text,
        "reason": judgement.rule.reason,
        "severity": judgement.rule.severity,
        "columns": [str(request.by[column]) for column in judgement.columns],
        "group": group_at(request, values) if is_of_group else None,
        **limit_fields(estimate, request.level),
        "bound": number(row["bound"]),
        "is_withheld": is_withheld,
        "verdict": judgement.verdict,
        "note": None if note is None else str(note),
    }


def _is_withheld(model: ModelFigures, judgement: Judgement) -> bool:
    """Return whether an estimate is withheld, also where its digits would reveal a small count."""
    return is_withheld_rule(judgement, model) or (
        judgement.rule.is_over_segments
        and any(
            group.is_withheld
            for column in judgement.columns
            for group in model.groups_by_column[column]
        )
    )


def models(audit: Audit, pairs: Sequence[Pair]) -> Iterator[Record]:
    """Return how each pair of models differs on the same rows."""
    positive = json_value(audit.models[0].cells.positive)
    for pair in pairs:
        for metric, difference in pair.differences.items():
            yield comparison(
                "models",
                str(pair.model),
                {"metric": metric, "pos_label": positive},
                "difference",
                difference.estimate,
                audit.adjustment.level,
                compared_with=with_model(str(pair.baseline)),
                test=difference,
            )
