"""The function `list_metrics`."""

from math import inf
from typing import Any, Literal

from balframe._validate import check_choice
from balframe.api.checked_arguments import checked_arguments
from balframe.frames.convert_result import backend_adapter
from balframe.frames.register_accessor import only_library_of_caller
from balframe.metrics.base import BaseMetric
from balframe.metrics.lookup import all_metrics
from balframe.metrics.registry import DEFAULT_METRICS, PRESETS, Metric

_PRESETS = {"default": DEFAULT_METRICS, **{name: names for name, names in PRESETS.items() if names}}

_DETAILS = ("needs", "presets", "source")


@checked_arguments
def list_metrics(
    *, detail: bool = False, backend: Literal["polars", "pandas"] | None = None
) -> Any:  # noqa: ANN401
    """Return a frame of all metrics, including those that you registered.

    Parameters
    ----------
    detail : bool, default False
        Add the columns of details behind the others.
    backend : {"polars", "pandas"}, optional
        The library of the result. By default pandas if you have imported pandas and not polars, and
        otherwise polars.

    Returns
    -------
    frame of the library
        One row for each metric, with columns of strings. A metric with a number in its name has
        one row for all numbers, such as "fbeta(beta)". The columns are

        - `name`, `aliases`: other names of the metric, joined by commas
        - `of`: "labels" if the metric is computed from predicted labels, as by `report`; "scores"
          if a method for scores returns it, such as `ranking`; "outcomes" if it needs `outcome`
        - `formula`, `range`, `better`: "higher", "lower" or ""
        - `interval`: the kind of the confidence interval, such as "proportion" or "linearised"
        - `limits_for`: "decisions" if rules of `check` may be decided by limits, "description" if
          limits only describe, or why there are none

        With `detail`, also:

        - `needs`: options that the metric requires, or "label_order", an order of the labels
        - `presets`: presets that include the metric, apart from "all"; "default" is that of
          `report`
        - `source`

    Raises
    ------
    InvalidInputError
        If the backend is not one of the options.

    Examples
    --------
    >>> import balframe as bf
    >>> metrics = bf.list_metrics(detail=True)
    >>> metrics.select("name", "aliases", "formula", "presets").row(9)
    ('specificity', 'spec, tnr, true_negative_rate', 'TN / (TN + FP)', 'binary')
    >>> metrics.filter(name="f1_macro").select("interval", "limits_for").row(0)
    ('linearised', 'decisions')
    >>> metrics.filter(name="no_information_rate")["limits_for"].item()
    'none: a maximum is not smooth'
    >>> metrics.filter(of="scores").select("name", "better").row(0)
    ('roc_auc', 'higher')
    """
    if backend is None:
        adapter = backend_adapter(only_library_of_caller() or "polars")
    else:
        adapter = backend_adapter(backend)
    check_choice("detail", detail, (False, True))
    ordered = sorted(all_metrics(), key=lambda metric: (not metric.is_shipped, _kind(metric)))
    rows = [_metric_row(metric) for metric in ordered]
    names = [name for name in rows[0] if detail or name not in _DETAILS]
    return adapter.build_frame(
        {name: adapter.text_series([row[name] for row in rows]) for name in names}
    )


def _metric_row(metric: BaseMetric) -> dict[str, str]:
    return {
        "name": metric.name,
        "aliases": ", ".join(metric.aliases),
        "of": _kind(metric),
        "formula": metric.formula,
        "range": _range_text(*metric.range),
        "better": metric.better or "",
        "interval": metric.interval_kind,
        "limits_for": metric.limits_for,
        "needs": ", ".join(metric.needs) if isinstance(metric, Metric) else "",
        "presets": ", ".join(name for name, names in _PRESETS.items() if metric.name in names),
        "source": metric.source,
    }


def _kind(metric: BaseMetric) -> str:
    """Return what a metric is computed from."""
    if not isinstance(metric, Metric):
        return "scores"
    return "outcomes" if "outcome" in metric.needs else "labels"


def _range_text(low: float, high: float) -> str:
    return f"{'[' if low > -inf else '('}{low:g}, {high:g}{']' if high < inf else ')'}"
