"""Evidence on combinations, rules, several models, periods, and what has changed."""

from collections.abc import Iterator, Sequence
from typing import Any

from balframe.api.columns import NOTE
from balframe.audit_page.evidence.records import (
    Record,
    comparison,
    figure,
    group_at,
    group_of,
    json_value,
    limit_fields,
    model_name,
    number,
    rate_fields,
    with_baseline,
    with_model,
)
from balframe.audit_page.groups import GroupFigures
from balframe.audit_page.numbers import UNDEFINED, Estimate
from balframe.audit_page.queries import by_name
from balframe.audit_page.rates import Rate
from balframe.audit_page.results import Audit, ModelFigures
from balframe.audit_page.sections.changes import ModelChanges
from balframe.audit_page.sections.models import Pair
from balframe.audit_page.sections.periods import Periods, followed_rates
from balframe.audit_page.sections.rules import Judgement, is_withheld_rule
from balframe.audit_page.sections.worst_slices import (
    Search,
    count_searches,
    is_clear,
    slice_columns,
)
from balframe.frames.query import PERIOD


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


def periods(audit: Audit, models: Sequence[Periods]) -> Iterator[Record]:
    """Return the rates of each period, and the test that each rate is the same in all."""
    if models and len(models[0].groups) < 2:
        return
    for model, own in zip(audit.models, models, strict=False):
        for rate in followed_rates(model):
            for period in own.groups:
                if not period.is_withheld:
                    yield figure(
                        "time",
                        model,
                        rate_fields(rate),
                        period.rates[rate],
                        group={PERIOD: json_value(period.value)},
                        is_small=period.is_small(rate),
                    )
        for rate, test in own.tests:
            yield comparison(
                "time",
                model_name(model),
                rate_fields(rate),
                "spread",
                UNDEFINED,
                audit.adjustment.level,
                columns=[PERIOD],
                test=test,
            )


def changes(audit: Audit, models: Sequence[ModelChanges]) -> Iterator[Record]:
    """Return the rates of the baseline, and their differences from those of the data."""
    for model, own in zip(audit.models, models, strict=False):
        for change in own.changes:
            if change.withheld is not None:
                continue
            if change.before is not None:  # groups of few rows too, which are not compared
                for rate in dict.fromkeys([*change.differences, *model.rates.tested]):
                    yield _then(model, change.now, change.before, rate)
            for rate, difference in change.differences.items():
                yield comparison(
                    "changes",
                    model_name(model),
                    rate_fields(rate),
                    "difference",
                    difference.estimate,
                    audit.adjustment.level,
                    group=group_of(model.request, change.now),
                    compared_with=with_baseline(),
                    test=difference,
                )


def _then(model: ModelFigures, now: GroupFigures, before: GroupFigures, rate: Rate) -> Record:
    least = now.min_support
    return figure(
        "changes",
        model,
        rate_fields(rate),
        before.rates[rate],
        group=group_of(model.request, now),
        kind="baseline rate",
        is_small=min(now.rates[rate].n, before.rates[rate].n) < least,
    )
