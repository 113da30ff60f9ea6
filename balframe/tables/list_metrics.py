"""The function `list_metrics`."""

from typing import Any, Literal

from balframe.frames.deliver import library_named
from balframe.metrics.catalogue import listed
from balframe.metrics.registry import Metric


def list_metrics(*, backend: Literal["polars", "pandas"] = "polars") -> Any:  # noqa: ANN401
    """List the metrics that `report` knows, the ones you registered included.

    Parameters
    ----------
    backend : {"polars", "pandas"}
        The library of the result.

    Returns
    -------
    frame of the backend
        One row for each metric, of those with a number in their name one for all, as
        "fbeta(beta)", with the columns of strings `name`, `aliases` (joined by commas),
        `formula`, `range`, `better` ("higher", "lower" or ""), `needs` (options without which it
        has no meaning) and `source`.

    Raises
    ------
    InvalidInputError
        If the backend is not one of the options.

    Examples
    --------
    >>> import balframe as bf
    >>> bf.list_metrics().select("name", "aliases", "formula", "range").row(1)
    ('balanced_accuracy', 'uar, recall_macro', 'mean_k TP_k / P_k', '[0, 1]')
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
        "source": one.source,
    }
