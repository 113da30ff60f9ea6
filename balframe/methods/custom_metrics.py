"""Registration of custom metrics, where the column names of the methods are known."""

from collections.abc import Iterator

from balframe.api.columns import METRIC
from balframe.methods import declarations
from balframe.metrics.lookup import metric as metric
from balframe.metrics.registry import reserve_names


def reserved_names() -> Iterator[str]:
    """List the other columns of methods that have columns named after metrics."""
    for method in declarations().values():
        columns = [one for layout in method.layouts.values() for one in layout]
        if any(one.name == METRIC for one in columns):
            yield from (str(one.name) for one in columns if one.placeholder is None)


reserve_names(reserved_names())
