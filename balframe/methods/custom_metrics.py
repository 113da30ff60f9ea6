"""Registration of custom metrics, where the column names of the methods are known."""

from collections.abc import Iterator

from balframe.api.checked_arguments import checked_arguments
from balframe.api.columns import METRIC
from balframe.methods import declarations
from balframe.metrics import from_function
from balframe.metrics.lookup import metric as metric
from balframe.metrics.registry import reserve_names
from balframe.metrics.score_metrics import score_metric_names

metric_from = checked_arguments(from_function.metric_from)


def reserved_names() -> Iterator[str]:
    """List the other columns of methods that have columns named after metrics.

    Names of metrics of scores are taken in any case.
    """
    for method in declarations().values():
        columns = [column for layout in method.layouts.values() for column in layout]
        if any(column.name == METRIC for column in columns):
            names = (str(column.name) for column in columns if column.placeholder is None)
            yield from (name for name in names if name not in score_metric_names())


reserve_names(reserved_names())
