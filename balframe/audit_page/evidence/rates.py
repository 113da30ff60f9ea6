"""Evidence on the rates that sections share: of all rows, of groups, and how groups compare."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from balframe.audit_page.evidence.records import (
    Record,
    comparison,
    figure,
    group_at,
    group_of,
    model_name,
    rate_fields,
    with_all_others,
    with_group,
)
from balframe.audit_page.groups import ColumnFigures, GroupFigures
from balframe.audit_page.rates import BALANCED, Rate
from balframe.audit_page.results import Audit, ModelFigures
from balframe.audit_page.sections.fairness_criteria import criteria, furthest
from balframe.audit_page.sections.overall_accuracy import withheld_cells

_OF_ACCURACY = ("accuracy", BALANCED)
_OF_CRITERIA = ("precision", "prevalence")


def overall_accuracy(audit: Audit) -> Iterator[Record]:
    """Return the rates of all rows but the errors, which have a section of their own."""
    for model in audit.models:
        for rate in model.rates.all:
            if not rate.is_error:
                yield _figure("right", model, rate, model.overall)


def accuracy_by_group(audit: Audit) -> Iterator[Record]:
    """Return how often the predictions are right in each group, and how groups differ in it."""
    for model in audit.models:
        rates = [rate for rate in model.rates.all if rate.metric in _OF_ACCURACY]
        yield from _group_figures("whom", model, rates)
        for column in model.columns:
            yield from _differences("whom", audit, model, column, model.rates.by_metric(BALANCED))
            yield from _spread("whom", audit, model, column, model.rates.by_metric("accuracy"))


def pass_rate(audit: Audit) -> Iterator[Record]:
    """Return how often rows passed."""
    for model in audit.models:
        yield _figure("passed", model, model.rates.main, model.overall)


def pass_rate_by_group(audit: Audit) -> Iterator[Record]:
    """Return how often the rows of each group passed, and how far apart groups are."""
    for model in audit.models:
        yield from _group_figures("whom", model, [model.rates.main])
        for column in model.columns:
            yield from _spread("whom", audit, model, column, model.rates.main)


def errors_by_group(audit: Audit) -> Iterator[Record]:
    """Return the errors of all rows, all rates of groups but accuracies, and how far apart."""
    for model in audit.models:
        withheld = withheld_cells(model)
        for rate in model.rates.errors:
            if (rate.positive, rate.positive) not in withheld or model.cells.is_binary:
                yield _figure("errors", model, rate, model.overall)
        others = [rate for rate in model.rates.all if rate.metric not in _OF_ACCURACY]
        yield from _group_figures("errors", model, others)
        for column in model.columns:
            for rate in model.rates.errors:
                yield from _spread("errors", audit, model, column, rate)


def significance(audit: Audit) -> Iterator[Record]:
    """Return the difference of each group from all others in each error, or in the pass rate."""
    for model in audit.models:
        for column in model.columns:
            for rate in model.rates.tested:
                yield from _differences("chance", audit, model, column, rate)


def fairness_criteria(audit: Audit) -> Iterator[Record]:
    """Return how far apart the groups are in precision and prevalence, and in each criterion."""
    for model in audit.models:
        ranked = [rate for rate in model.rates.ranked if rate.metric in _OF_CRITERIA]
        for column in model.columns:
            for rate in ranked:
                yield from _spread("criteria", audit, model, column, rate)
            if model.cells.is_binary:
                yield from _criteria(audit, model, column)


def _figure(section: str, model: ModelFigures, rate: Rate, group: GroupFigures) -> Record:
    is_small = group.column is not None and group.is_small(rate)
    return figure(
        section,
        model,
        rate_fields(rate),
        group.rates[rate],
        group=group_of(model.request, group),
        is_small=is_small,
    )


def _group_figures(section: str, model: ModelFigures, rates: Sequence[Rate]) -> Iterator[Record]:
    """Return the rates of the groups that tables show, but of those that are withheld."""
    for column in model.columns:
        for group in column.largest_groups:
            for rate in [] if group.is_withheld else rates:
                yield _figure(section, model, rate, group)


def _differences(
    section: str, audit: Audit, model: ModelFigures, column: ColumnFigures, rate: Rate
) -> Iterator[Record]:
    """Return the difference of each group from all others; of two groups, from the other one."""
    compared = [group.value for group in column.compared(rate)]
    for value, difference in column.comparisons[rate].differences.items():
        yield comparison(
            section,
            model_name(model),
            rate_fields(rate),
            "difference",
            difference.estimate,
            audit.adjustment.level,
            columns=_column(model, column),
            group=group_at(model.request, {column.number: value}),
            compared_with=compared_others(model, column, value, compared),
            test=difference,
        )


def compared_others(
    model: ModelFigures,
    column: ColumnFigures,
    value: Any,  # noqa: ANN401
    compared: Sequence[Any],
) -> dict[str, Any]:
    """Return whom a group is compared with: all others of its column, or the only other one."""
    if len(compared) != 2:
        return with_all_others()
    (other,) = (each for each in compared if each != value)
    return with_group(group_at(model.request, {column.number: other}))


def _spread(
    section: str, audit: Audit, model: ModelFigures, column: ColumnFigures, rate: Rate
) -> Iterator[Record]:
    """Return the test that any groups differ, and the two groups furthest apart."""
    compared = column.comparisons[rate]
    extremes = compared.extremes
    if not extremes.is_compared:
        return
    record = partial(
        comparison,
        section,
        model_name(model),
        rate_fields(rate),
        level=audit.adjustment.level,
        columns=_column(model, column),
        group=group_at(model.request, {column.number: extremes.highest}),
        compared_with=with_group(group_at(model.request, {column.number: extremes.lowest})),
    )
    if compared.spread is not None:
        yield record("spread", compared.spread.estimate, test=compared.spread)
    yield record("furthest", extremes.distance, is_established=extremes.is_significant)


def _criteria(audit: Audit, model: ModelFigures, column: ColumnFigures) -> Iterator[Record]:
    """Return by how much the furthest groups miss each criterion."""
    for criterion in criteria(model):
        apart = furthest(model, column, criterion)
        if apart is None:
            continue
        (_, lowest), (_, highest) = apart.ends
        yield comparison(
            "criteria",
            model_name(model),
            {**rate_fields(apart.rate), "metric": criterion.name},
            "criterion",
            apart.distance,
            audit.adjustment.level,
            columns=_column(model, column),
            group=group_at(model.request, {column.number: highest}),
            compared_with=with_group(group_at(model.request, {column.number: lowest})),
            is_established=apart.distance.lower is not None and apart.distance.lower > 0,
        )


def _column(model: ModelFigures, column: ColumnFigures) -> list[str]:
    return [str(model.request.by[column.number])]
