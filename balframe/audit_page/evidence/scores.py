"""Evidence on scores: their thresholds, what they mean in each group, and as probabilities."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from balframe.audit_page.evidence.rates import compared_others
from balframe.audit_page.evidence.records import (
    Group,
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
)
from balframe.audit_page.groups import ColumnFigures
from balframe.audit_page.numbers import Estimate
from balframe.audit_page.queries import Row
from balframe.audit_page.rates import Rate
from balframe.audit_page.results import Audit, ModelFigures
from balframe.audit_page.scores import NEVER, Threshold
from balframe.audit_page.sections.calibration import CalibrationFigures, ColumnComparisons
from balframe.audit_page.sections.probabilities import Probabilities, overall_level
from balframe.audit_page.sections.threshold_figures import Curves, ThresholdFigures
from balframe.audit_page.sections.thresholds import gives_predictions

_AREA, _SAME_SCORES = "roc_auc", "calibration_gap"

# Thresholds


def thresholds(audit: Audit, figures: Sequence[ThresholdFigures | None]) -> Iterator[Record]:
    """Return the area under the curve, the thresholds in use and best, and what others give."""
    for model, own in zip(audit.models, figures, strict=True):
        if own is None:
            continue
        metric = {"metric": _AREA, "pos_label": json_value(model.positive)}
        yield figure("threshold", model, metric, own.area, kind="area")
        yield Record("scores", _score(model, own))
        for point in own.points:
            for rate, estimate in point.rates.items():
                yield _at_threshold(
                    model, own, point.threshold, rate, estimate, n_selected=point.n_predicted
                )
        if own.curves is not None:
            yield from _curves(model, own, own.curves)


def _score(model: ModelFigures, figures: ThresholdFigures) -> dict[str, Any]:
    in_use, best = figures.in_use, figures.best
    low, high = (None, None) if in_use.between is None else in_use.between
    return {
        "section": "threshold",
        "model": model_name(model),
        "y_score": str(model.cells.model.y_score),
        "step": number(model.cells.step),
        "in_use": {
            "threshold": number(in_use.threshold),
            "reason": in_use.reason,
            "above": number(low),
            "up_to": number(high),
        },
        "best": None
        if best is None
        else {
            "threshold": number(best.threshold.value),
            "metric": "balanced_accuracy",
            **limit_fields(best.balanced, model.request.level),
            "by_chance": number(best.by_chance),
        },
    }


def _at_threshold(
    model: ModelFigures,
    figures: ThresholdFigures,
    threshold: Threshold,
    rate: Rate,
    estimate: Estimate,
    *,
    group: Group | None = None,
    n_selected: int | None = None,
) -> Record:
    """Return a rate at a threshold, which is None where it is above all scores."""
    return Record(
        "thresholds",
        {
            "section": "threshold",
            "model": model_name(model),
            **rate_fields(rate),
            "group": group,
            "threshold": None if threshold.value == NEVER else threshold.value,
            "in_use": gives_predictions(threshold, figures.in_use),
            "best": figures.best is not None and threshold == figures.best.threshold,
            "n_selected": n_selected,
            "n": estimate.n,
            **limit_fields(estimate, model.request.level),
        },
    )


def _curves(model: ModelFigures, figures: ThresholdFigures, curves: Curves) -> Iterator[Record]:
    """Return the errors of the groups that are drawn, at each threshold of the charts."""
    column = curves.column
    n = {group.value: {rate: x.n for rate, x in group.rates.items()} for group in column.groups}
    for curve in curves.groups:
        group = group_at(model.request, {column.number: curve.value})
        for rate, estimates in curve.rates.items():
            for threshold, estimate in zip(curves.thresholds, estimates, strict=True):
                among = estimate._replace(n=n[curve.value][rate])
                yield _at_threshold(model, figures, threshold, rate, among, group=group)


# Calibration


def calibration(audit: Audit, figures: Sequence[CalibrationFigures | None]) -> Iterator[Record]:
    """Return how groups compare at the same scores, and scores as probabilities."""
    for model, own in zip(audit.models, figures, strict=True):
        if own is None:
            continue
        for column, comparisons in zip(model.columns, own.columns, strict=True):
            yield from _same_scores(audit, model, column, comparisons)
        if own.probabilities is not None:
            yield from _probabilities(model, own.probabilities)


def _same_scores(
    audit: Audit, model: ModelFigures, column: ColumnFigures, comparisons: ColumnComparisons
) -> Iterator[Record]:
    metric = {"metric": _SAME_SCORES, "pos_label": json_value(model.positive)}
    start, level = ("calibrated", model_name(model), metric), audit.adjustment.level
    columns = [str(model.request.by[column.number])]
    compared = [group.value for group in column.compared(model.rates.errors[0])]
    for value, group in comparisons.groups.items():
        at = group_at(model.request, {column.number: value})
        yield comparison(
            *start,
            "same scores",
            group.estimate,
            level,
            columns=columns,
            group=at,
            compared_with=compared_others(model, column, value, compared),
            test=group.difference,
        )
        observed = {"observed": number(group.row["observed"])}
        expected = {"expected": number(group.row["expected_at_same_scores"])}
        yield Record(
            "calibration",
            {
                "section": "calibrated",
                "model": model_name(model),
                "kind": "same scores",
                "group": at,
                "n": group.estimate.n,
                **observed,
                **expected,
                "ratio": None,
                "slope": None,
                "is_small": False,
            },
        )
    if comparisons.crossing is not None:
        crossing = comparisons.crossing
        yield comparison(
            *start, "crossing", crossing.estimate, level, columns=columns, test=crossing
        )


def _probabilities(model: ModelFigures, probabilities: Probabilities) -> Iterator[Record]:
    """Return the ratio and the slope of all rows, and the ratios of groups."""
    level, error = model.request.level, model.rates.errors[0]
    yield _probability(model, probabilities.overall, overall_level(level))
    for column in model.columns:
        for group in column.largest_groups:
            if group.is_withheld:
                continue
            row = probabilities.columns[column.number][group.value]
            at = group_of(model.request, group)
            yield _probability(model, row, level, group=at, is_small=group.is_small(error))


def _probability(
    model: ModelFigures,
    row: Row,
    level: float,
    *,
    group: Mapping[str, Any] | None = None,
    is_small: bool = False,
) -> Record:
    slope = Estimate.from_row(row, "slope") if group is None else None
    return Record(
        "calibration",
        {
            "section": "calibrated",
            "model": model_name(model),
            "kind": "probabilities",
            "group": group,
            "n": row["n"],
            "observed": number(row["observed"]),
            "expected": number(row["mean_score"]),
            "ratio": limit_fields(Estimate.from_row(row, "oe_ratio"), level),
            "slope": None if slope is None else limit_fields(slope, level),
            "is_small": is_small,
        },
    )
