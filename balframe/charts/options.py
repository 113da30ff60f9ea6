"""The options of all charts: their declarations, defaults and checks, and the metrics drawn."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar, get_args

from balframe._text import metric_title
from balframe._validate import check_choice, check_min_support, is_whole_number
from balframe.api.method import RAISES, with_options
from balframe.api.metric_selection import ClassWeight, Metrics, MetricSelection
from balframe.api.options import DEFAULT_MIN_SUPPORT, FRAMES, SHARED, Option
from balframe.charts.rows import SortOption, chart_text
from balframe.errors import InvalidInputError, UnsupportedTypeError
from balframe.frames.engines.inputs import materialize
from balframe.metrics.lookup import find_ranking_metrics
from balframe.metrics.registry import Chance, Metric
from balframe.metrics.score_metrics import ScoreMetric

F = TypeVar("F", bound=Callable[..., Any])

DEFAULT_METRIC, DEFAULT_SCORE_METRIC = "balanced_accuracy", "roc_auc"
DEFAULT_MOST = 60
_MAX_NUMBERED_POINTS = 20  # of a chart that writes their numbers by default
_OPTIONS = {
    **SHARED,
    "frame": Option(
        FRAMES,
        "The data, which are never modified. A lazy frame is collected.",
    ),
    "y_pred": Option(
        "column name or list of column names",
        "The predicted labels; a list draws several models.",
    ),
    "y_score": Option(
        "column name or list of column names",
        "The scores: finite numbers, higher for the positive label. A list draws several models. "
        "All labels other than the positive one count as negative.",
    ),
    "metrics": Option(
        f'str or list of str, default "{DEFAULT_METRIC}"',
        "One or several metrics, each drawn in its own panel. Takes the same values as `metrics` "
        "of `bf.report`.",
    ),
    "most": Option(
        f"int, default {DEFAULT_MOST}",
        "Maximum number of segments to draw. If there are more, the highest and the lowest are "
        "drawn, and a line below the title states how many are left out.",
    ),
    "sort": Option(
        '{"score", "name", "n"}, optional',
        "Order of the segments: with the highest value of the first metric on top, by name, or "
        "with the largest segment on top. By default, by score, or in their order if the first "
        "by-column has numbers, times or ordered categories. "
        'With "n", the largest are drawn if there are too many.',
    ),
    "numbers": Option(
        "bool, optional",
        "Write the estimate, its confidence interval and the number of rows beside each point. By "
        f"default, this is done for up to {_MAX_NUMBERED_POINTS} points.",
    ),
    "min_support": Option(
        f"int, default {DEFAULT_MIN_SUPPORT}",
        "Draw a point hollow if the rarest label of the segment has fewer rows than this.",
    ),
}
_RETURNS = """Returns
-------
altair chart
    You can restyle or save it: `chart.save("chart.png")`, `chart.save("chart.html", inline=True)`.

"""
_RAISES = f"""{RAISES.rstrip()}
MissingExtraError
    If Altair is not installed; the message has the command that installs it.

"""


def chart_function(function: F) -> F:
    """Add the shared options to the signature, the docstring and the calls of a chart function."""

    @wraps(function)
    def checked(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401 (as the function's own)
        check_chart_options(options)
        frames = [materialize(frame) for frame in arguments[:1]]  # a chart may call several methods
        return function(*frames, *arguments[1:], **options)

    doc = inspect.getdoc(function)
    if doc is not None and "\nReturns\n" not in doc:
        head, examples, rest = doc.partition("Examples\n--------\n")
        checked.__doc__ = head + _RETURNS + examples + rest
    name = f"bf.plot.{function.__name__}"
    return with_options(checked, name, _OPTIONS, _RAISES)  # type: ignore[return-value]


def check_chart_options(options: Mapping[str, Any]) -> None:
    """Raise if an option that only charts have has an invalid value."""
    most = options.get("most", DEFAULT_MOST)
    if not is_whole_number(most, 2):
        raise InvalidInputError("{most} is not a number of segments; give 2 or more.", most=most)
    check_min_support(options.get("min_support", DEFAULT_MIN_SUPPORT))
    check_choice("sort", options.get("sort"), (*get_args(SortOption), None))
    check_choice("numbers", options.get("numbers"), (True, False, None))


@dataclass(frozen=True, slots=True)
class ChartMetric:
    """A metric of a chart: its name in the result, its title, and the metric itself."""

    name: str
    title: str
    metric: Metric | ScoreMetric

    @property
    def chance(self) -> Chance | None:
        """The score of chance; None for a metric of scores."""
        return self.metric.chance if isinstance(self.metric, Metric) else None


def chart_metrics(metrics: Metrics, class_weight: ClassWeight | None) -> list[ChartMetric]:
    """Return the metrics of a chart; a metric that a mapping renames has its new name as title."""
    if metrics is None:
        raise UnsupportedTypeError(
            "{metrics} names no metric to draw; name at least one.", metrics=None
        )
    selected = MetricSelection.of(metrics, class_weight, (DEFAULT_METRIC,)).metrics
    return _titled(selected, is_renamed=isinstance(metrics, Mapping))


def score_chart_metrics(metrics: Metrics) -> list[ChartMetric]:
    """Return the metrics of scores of a chart, as `chart_metrics` does."""
    return _titled(find_ranking_metrics(metrics), is_renamed=isinstance(metrics, Mapping))


def _titled(
    metrics: Mapping[str, Metric] | Mapping[str, ScoreMetric], *, is_renamed: bool
) -> list[ChartMetric]:
    return [
        ChartMetric(name, chart_text(name) if is_renamed else metric_title(metric.name), metric)
        for name, metric in metrics.items()
    ]


def shows_numbers(numbers: bool | None, n_points: int) -> bool:
    """Return whether the numbers of points are written beside them."""
    return n_points <= _MAX_NUMBERED_POINTS if numbers is None else numbers
