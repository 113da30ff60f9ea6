"""What a chart draws of a method's result, and the functions that draw it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from balframe.charts.options import ChartMetric
from balframe.charts.rows import ResultRow, SortOption
from balframe.errors import InvalidInputError, listed
from balframe.frames.adapter import Name

F = TypeVar("F", bound=Callable[..., Any])

_COLUMNS = "balframe_result_columns"  # attribute of a function that `draws_result` returns
UNKNOWN: Final = "unknown"  # what a result does not say of the call that returned it


@dataclass(frozen=True, slots=True)
class DrawnResult:
    """The rows of a result, its by-columns and its metrics, without roll-ups of some by-columns.

    `rows` are those of segments, and `overall` those of the whole frame, where the result has both.
    `labels` are the names of the columns of actual and of predicted labels. `ordered` are the
    by-columns whose values have an order.
    """

    rows: Sequence[ResultRow]
    by: list[Name]
    metrics: list[ChartMetric]
    overall: Sequence[ResultRow] = field(default_factory=list)
    labels: Sequence[Name] = ()
    ordered: Sequence[Name] = ()

    def sort(self, sort: SortOption | None, by: Sequence[Name] | None = None) -> SortOption:
        """Return the order of segments: by default in that of the first by-column, or by score."""
        first = (self.by if by is None else by)[:1]
        return sort or ("name" if first and first[0] in self.ordered else "score")


def draws_result(*columns: str) -> Callable[[F], F]:
    """Declare a function that draws a `DrawnResult`, and the columns that it needs."""

    def declared(function: F) -> F:
        function.__dict__[_COLUMNS] = columns
        return function

    return declared


def check_drawn_columns(
    function: Callable[..., Any], names: Sequence[Name], method: str, chart: str
) -> None:
    """Raise if a result lacks columns that its chart needs."""
    missing = [name for name in function.__dict__[_COLUMNS] if name not in names]
    if missing:
        raise InvalidInputError(
            "the chart of a result of {} needs the column{} {}; call bf.{} with {detail} and keep "
            "all columns, or draw the data with bf.plot.{}(frame, ...).",
            method,
            "s" * (len(missing) > 1),
            listed(map(repr, missing)),
            method,
            chart,
            detail=True,
        )
