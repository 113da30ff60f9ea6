"""Evidence on periods, and on what has changed since the baseline."""

from collections.abc import Iterator, Sequence

from balframe.audit_page.evidence.records import (
    Record,
    comparison,
    figure,
    group_of,
    json_value,
    model_name,
    rate_fields,
    with_baseline,
)
from balframe.audit_page.groups import GroupFigures
from balframe.audit_page.numbers import UNDEFINED
from balframe.audit_page.rates import Rate
from balframe.audit_page.results import Audit, ModelFigures
from balframe.audit_page.sections.changes import ModelChanges
from balframe.audit_page.sections.periods import Periods, followed_rates
from balframe.frames.query import PERIOD


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
