"""Evidence on selections: how often each group is selected, and its ratio to the highest."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from balframe.audit_page.evidence.records import (
    Group,
    Record,
    comparison,
    figure,
    group_at,
    json_value,
    model_name,
    number,
    with_group,
)
from balframe.audit_page.results import Audit, ModelFigures
from balframe.audit_page.sections.impact_figures import (
    Category,
    ImpactFigures,
    ImpactTable,
    ScoringRates,
)

_RATIOS = {"selection_rate": "impact_ratio", "scoring_rate": "scoring_impact_ratio"}


def selection_rates(audit: Audit, figures: Sequence[ImpactFigures]) -> Iterator[Record]:
    """Return the rates and ratios of each group and intersection: of selections and of scores."""
    level = audit.adjustment.level
    for model, own in zip(audit.models, figures, strict=True):
        if own.tables:
            side = _selection_side(model)
            yield from _tables(model, own.tables, "selection_rate", side, level)
        if own.scoring is not None:
            side = _scoring_side(model, own.scoring)
            yield from _tables(model, own.scoring.tables, "scoring_rate", side, level)


def _tables(
    model: ModelFigures,
    tables: Sequence[ImpactTable],
    metric: str,
    side: Mapping[str, Any],
    level: float,
) -> Iterator[Record]:
    for table in tables:
        yield from _counts(model, table, side)
        yield from _rates(model, table, metric, side["pos_label"], level)


def _selection_side(model: ModelFigures) -> dict[str, Any]:
    """Return which label's share is measured: the positive one, or the favourable other."""
    label: Any = model.positive
    if model.request.favourable == "not selected":
        label = next(label for label in model.cells.labels if label != model.positive)
    return {"kind": "selection", "pos_label": json_value(label), "median": None, "side": None}


def _scoring_side(model: ModelFigures, scoring: ScoringRates) -> dict[str, Any]:
    """Return which side of the median score is measured."""
    is_below = model.request.favourable == "not selected"
    return {
        "kind": "scoring",
        "pos_label": None,
        "median": number(scoring.median),
        "side": "at or below" if is_below else "above",
    }


def _group(model: ModelFigures, table: ImpactTable, values: Sequence[Any]) -> Group:
    return group_at(model.request, dict(zip(table.columns, values, strict=True)))


def _columns(model: ModelFigures, table: ImpactTable) -> list[str]:
    return [str(model.request.by[column]) for column in table.columns]


def _counts(model: ModelFigures, table: ImpactTable, side: Mapping[str, Any]) -> Iterator[Record]:
    """Return the counts of each category, of rows of unknown category, and who is withheld."""
    start = {
        "section": "selections",
        "model": model_name(model),
        **side,
        "columns": _columns(model, table),
    }
    for category in table.categories:
        lower, upper = category.unknown_bounds
        yield Record(
            "selections",
            {
                **start,
                "group": _group(model, table, category.values),
                "role": category.role,
                "n": category.n,
                "n_measured": category.n_measured,
                "unknown_lower": number(lower),
                "unknown_upper": number(upper),
            },
        )
    nothing: dict[str, Any] = dict.fromkeys(["n", "n_measured", "unknown_lower", "unknown_upper"])
    for values in table.withheld:
        group = _group(model, table, values) if values else None
        yield Record("selections", {**start, "group": group, "role": "withheld", **nothing})
    if table.n_unknown:
        unknown = {"n": table.n_unknown, "n_measured": table.n_measured_unknown}
        yield Record(
            "selections", {**start, "group": None, "role": "unknown", **nothing, **unknown}
        )


def _rates(
    model: ModelFigures,
    table: ImpactTable,
    metric: str,
    pos_label: Any,  # noqa: ANN401
    level: float,
) -> Iterator[Record]:
    """Return the rate of each category, and its ratio to the highest."""
    label = {"pos_label": pos_label}
    for category in table.categories:
        group = _group(model, table, category.values)
        yield figure(
            "selections",
            model,
            {"metric": metric, **label},
            category.rate._replace(n=category.n),
            group=group,
            is_small=category.is_small(model.request.min_support),
        )
        if category.ratio.is_defined:
            yield _ratio(model, table, category, {"metric": _RATIOS[metric], **label}, level)


def _ratio(
    model: ModelFigures,
    table: ImpactTable,
    category: Category,
    metric: Mapping[str, Any],
    level: float,
) -> Record:
    return comparison(
        "selections",
        model_name(model),
        metric,
        "ratio",
        category.ratio,
        level,
        columns=_columns(model, table),
        group=_group(model, table, category.values),
        compared_with=with_group(_group(model, table, table.highest.values)),
        test=category.difference,
        null_value=1,
    )
