"""Records of the evidence of a page: what every list of it holds, as values that JSON has."""

from collections.abc import Mapping, Sequence
from datetime import date, time
from math import isfinite
from typing import Any, NamedTuple
from urllib.parse import quote

from balframe._validate import builtin_scalar
from balframe.audit_page.groups import Difference, GroupFigures
from balframe.audit_page.numbers import Estimate
from balframe.audit_page.rates import Rate
from balframe.audit_page.request import Request
from balframe.audit_page.results import ModelFigures

_MAX_EXACT = 2**53  # a float up to it that is whole is an integer beside nulls, as pandas has them

Group = Mapping[str, Any]


class Record(NamedTuple):
    """A record, and the name of the list that it belongs to."""

    list_name: str
    values: Mapping[str, Any]


# Values that JSON has


def number(value: float | None) -> float | None:
    """Return a number as JSON has it; None if it is undefined or infinite."""
    if value is None or not isfinite(value):
        return None
    return int(value) if isinstance(value, int) else float(value)


def json_value(value: Any) -> str | int | float | bool | None:  # noqa: ANN401 (of any column)
    """Return a value of a column or a class label as JSON has it; dates and others as text."""
    value = builtin_scalar(value)
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float) and isfinite(value):
        return int(value) if value.is_integer() and abs(value) < _MAX_EXACT else value
    return value.isoformat() if isinstance(value, (date, time)) else str(value)


def group_at(request: Request, values: Mapping[int, Any]) -> Group:
    """Return a group as a mapping from the names of by-columns, which come by number."""
    return {str(request.by[column]): json_value(value) for column, value in values.items()}


def group_of(request: Request, group: GroupFigures) -> Group | None:
    """Return the group of figures; None of all rows together."""
    return None if group.column is None else group_at(request, {group.column: group.value})


def model_name(model: ModelFigures) -> str:
    """Return the name of the column of predictions."""
    return str(model.cells.model.y_pred)


def rate_fields(rate: Rate) -> dict[str, Any]:
    """Return the fields that name a rate."""
    return {"metric": rate.metric, "pos_label": json_value(rate.positive)}


def limit_fields(estimate: Estimate, level: float) -> dict[str, Any]:
    """Return the fields of an estimate and its confidence interval."""
    return {
        "estimate": number(estimate.value),
        "lower": number(estimate.lower),
        "upper": number(estimate.upper),
        "interval_level": level,
    }


# Records of several sections


def figure(
    section: str,
    model: ModelFigures,
    metric: Mapping[str, Any],
    estimate: Estimate,
    *,
    group: Group | None = None,
    level: float | None = None,
    kind: str = "rate",
    is_small: bool = False,
) -> Record:
    """Return an estimate of a metric, of a group or of all rows; the level is the request's."""
    level = model.request.level if level is None else level
    name = model_name(model)
    return Record(
        "figures",
        {
            "id": _identifier(section, name, metric, group),
            "section": section,
            "model": name,
            **metric,
            "kind": kind,
            "group": group,
            "n": estimate.n,
            **limit_fields(estimate, level),
            "is_small": is_small,
        },
    )


def _identifier(section: str, model: str, metric: Mapping[str, Any], group: Group | None) -> str:
    """Return a name for a figure that stays the same from page to page."""
    label = metric["pos_label"]
    positive = "" if label is None else f":{_escaped(label)}"
    conditions = [
        _escaped(column) if value is None else f"{_escaped(column)}={_escaped(value)}"
        for column, value in (group or {}).items()
    ]
    return "/".join([section, _escaped(model), f"{metric['metric']}{positive}", *conditions])


def _escaped(value: object) -> str:
    return quote(str(value), safe=" ()", errors="replace")


def with_all_others() -> dict[str, Any]:
    """Return that a group is compared with all others together."""
    return {"kind": "all others", "group": None, "model": None}


def with_group(group: Group) -> dict[str, Any]:
    """Return that a group is compared with another one."""
    return {"kind": "group", "group": group, "model": None}


def with_baseline() -> dict[str, Any]:
    """Return that data are compared with the baseline."""
    return {"kind": "baseline", "group": None, "model": None}


def with_model(name: str) -> dict[str, Any]:
    """Return that a model is compared with another one."""
    return {"kind": "model", "group": None, "model": name}


def comparison(
    section: str,
    model: str,
    metric: Mapping[str, Any],
    kind: str,
    estimate: Estimate,
    level: float,
    *,
    columns: Sequence[str] = (),
    group: Group | None = None,
    compared_with: Mapping[str, Any] | None = None,
    test: Difference | None = None,
    is_established: bool | None = None,
    null_value: int = 0,
) -> Record:
    """Return a comparison, and whether it is established: by its test, unless that is stated."""
    established = test is not None and test.is_significant
    return Record(
        "comparisons",
        {
            "section": section,
            "model": model,
            **metric,
            "kind": kind,
            "columns": list(columns),
            "group": group,
            "compared_with": compared_with,
            **limit_fields(estimate, level),
            "null_value": null_value,
            "p_value": None if test is None else number(test.p),
            "p_adjusted": None if test is None else number(test.p_adjusted),
            "established": established if is_established is None else is_established,
        },
    )
