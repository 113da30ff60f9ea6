"""The function `list_metrics`."""

from math import inf
from typing import Any, Literal

from balframe.frames.convert_result import library_named
from balframe.metrics.base import AnyMetric
from balframe.metrics.lookup import all_metrics
from balframe.metrics.registry import DEFAULT, PRESETS, Metric

_PRESETS = {"default": DEFAULT, **{name: names for name, names in PRESETS.items() if names}}


def list_metrics(*, backend: Literal["polars", "pandas"] = "polars") -> Any:  # noqa: ANN401
    """Return a frame of all metrics, including those that you registered.

    Parameters
    ----------
    backend : {"polars", "pandas"}
        The library of the result.

    Returns
    -------
    frame of the backend
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
    >>> metrics.select("name", "aliases", "formula", "presets").row(10)
    ('precision', 'ppv, positive_predictive_value, precision_score', 'TP / (TP + FP)', 'fairness')
    >>> metrics.filter(of="scores").select("name", "better").row(0)
    ('roc_auc', 'higher')
    """
    library = library_named(backend)
    rows = [_described(one) for one in all_metrics()]
    return library.build({name: library.text([row[name] for row in rows]) for name in rows[0]})


def _described(one: AnyMetric) -> dict[str, str]:
    return {
        "name": one.name,
        "aliases": ", ".join(one.aliases),
        "of": "labels" if isinstance(one, Metric) else "scores",
        "formula": one.formula,
        "range": _interval(*one.range),
        "better": one.better or "",
        "needs": ", ".join(one.needs) if isinstance(one, Metric) else "",
        "presets": ", ".join(name for name, names in _PRESETS.items() if one.name in names),
        "source": one.source,
    }


def _interval(low: float, high: float) -> str:
    return f"{'[' if low > -inf else '('}{low:g}, {high:g}{']' if high < inf else ')'}"
