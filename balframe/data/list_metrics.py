"""The function `list_metrics`."""

from math import inf
from typing import Any, Literal

from balframe.api.checked_arguments import checked_arguments
from balframe.frames.convert_result import backend_adapter
from balframe.frames.register_accessor import only_library_of_caller
from balframe.metrics.base import BaseMetric
from balframe.metrics.lookup import all_metrics
from balframe.metrics.registry import DEFAULT_METRICS, PRESETS, Metric

_PRESETS = {"default": DEFAULT_METRICS, **{name: names for name, names in PRESETS.items() if names}}


@checked_arguments
def list_metrics(*, backend: Literal["polars", "pandas"] | None = None) -> Any:  # noqa: ANN401
    """Return a frame of all metrics, including those that you registered.

    Parameters
    ----------
    backend : {"polars", "pandas"}, optional
        The library of the result. By default pandas if you have imported pandas and not polars, and
        otherwise polars.

    Returns
    -------
    frame of the library
        One row for each metric, with columns of strings. A metric with a number in its name has
        one row for all numbers, such as "fbeta(beta)". The columns are

        - `name`, `aliases`: other names of the metric, joined by commas
        - `of`: "labels" if `metrics=` accepts the metric, or "scores" if a method for scores, such
          as `ranking`, always returns it
        - `formula`, `range`, `better`: "higher", "lower" or ""
        - `needs`: options that the metric requires
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
    >>> metrics = bf.list_metrics()
    >>> metrics.select("name", "aliases", "formula", "presets").row(9)
    ('specificity', 'spec, tnr, true_negative_rate', 'TN / (TN + FP)', 'binary')
    >>> metrics.filter(of="scores").select("name", "better").row(0)
    ('roc_auc', 'higher')
    """
    if backend is None:
        adapter = backend_adapter(only_library_of_caller() or "polars")
    else:
        adapter = backend_adapter(backend)
    rows = [_metric_row(metric) for metric in all_metrics()]
    return adapter.build_frame(
        {name: adapter.text_series([row[name] for row in rows]) for name in rows[0]}
    )


def _metric_row(metric: BaseMetric) -> dict[str, str]:
    return {
        "name": metric.name,
        "aliases": ", ".join(metric.aliases),
        "of": "labels" if isinstance(metric, Metric) else "scores",
        "formula": metric.formula,
        "range": _range_text(*metric.range),
        "better": metric.better or "",
        "needs": ", ".join(metric.needs) if isinstance(metric, Metric) else "",
        "presets": ", ".join(name for name, names in _PRESETS.items() if metric.name in names),
        "source": metric.source,
    }


def _range_text(low: float, high: float) -> str:
    return f"{'[' if low > -inf else '('}{low:g}, {high:g}{']' if high < inf else ')'}"
