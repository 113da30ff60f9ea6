"""The function `list_metrics`."""

from typing import Any, Literal

from balframe.frames.deliver import library_named
from balframe.metrics.catalogue import listed
from balframe.metrics.presets import DEFAULT, PRESETS
from balframe.metrics.registry import Metric

_PRESETS = {"default": DEFAULT, **{name: names for name, names in PRESETS.items() if names}}


def list_metrics(*, backend: Literal["polars", "pandas"] = "polars") -> Any:  # noqa: ANN401
    """Return a frame of all metrics of labels, including those that you registered.

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
    >>> bf.list_metrics().select("name", "aliases", "formula", "presets").row(10)
    ('precision', 'ppv, positive_predictive_value, precision_score', 'TP / (TP + FP)', 'fairness')
    """
    library = library_named(backend)
    rows = [_described(one) for one in listed()]
    return library.build({name: library.text([row[name] for row in rows]) for name in rows[0]})


def _described(one: Metric) -> dict[str, str]:
    low, high = one.range
    return {
        "name": one.name,
        "aliases": ", ".join(one.aliases),
        "formula": one.formula,
        "range": f"[{low:g}, {high:g}{')' if high == float('inf') else ']'}",
        "better": one.better or "",
        "needs": ", ".join(one.needs),
        "presets": ", ".join(name for name, names in _PRESETS.items() if one.name in names),
        "source": one.source,
    }
