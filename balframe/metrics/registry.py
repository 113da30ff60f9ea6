"""The registry of metrics of labels, and the decorators that register them."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Literal, TypeVar

import numpy as np

from balframe._traceback import short_traceback
from balframe._validate import check_choice, is_iterable, is_number
from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts
from balframe.core.safe_divide import ratio
from balframe.errors import NAME, InvalidInputError, UnsupportedTypeError, parameter
from balframe.metrics.base import BaseMetric
from balframe.metrics.score_metrics import score_metric_names
from balframe.stats.base import GATE, NO_INTERVAL, Interval, NoInterval
from balframe.stats.linearised_intervals import linearised_numerically
from balframe.stats.metric_intervals import Among, Parts, Proportion
from balframe.stats.numerical_derivative import evaluate_counts

DEFAULT_METRICS = ("accuracy", "balanced_accuracy", "adjusted_balanced_accuracy")  # of `report`
# Presets are names that stand for several metrics, wherever several may be given. Metrics that need
# `class_weight` are left out where it is not given. None where the call decides.
PRESETS: Mapping[str, tuple[str, ...] | None] = {
    "default": None,
    "accuracies": (
        *DEFAULT_METRICS,
        "weighted_balanced_accuracy",
        "normalized_accuracy",
        "geometric_mean",
    ),
    "binary": (
        "recall",
        "specificity",
        "precision",
        "f1",
        "false_positive_rate",
        "false_negative_rate",
    ),
    "multiclass": (
        "balanced_accuracy",
        "precision_macro",
        "f1_macro",
        "cohen_kappa",
        "matthews_corrcoef",
    ),
    "fairness": (
        "selection_rate",
        "prevalence",
        "recall",
        "false_positive_rate",
        "false_negative_rate",
        "precision",
    ),
    "all": None,
}

F = TypeVar("F", bound=Callable[..., Any])
MetricFunction = Callable[[ClassCounts], FloatArray]

NEEDS = ("pos_label", "class_weight", "label_order", "outcome", "cluster")
CHANCES = ("uniform", "majority")
Chance = float | Literal["uniform", "majority"]
CHART_COLUMN_NAMES = ("segment", "panel")
_reserved: set[str] = set()
_families: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Metric(BaseMetric):
    """A metric of labels with its properties; `bf.metric` makes one from a function."""

    function: MetricFunction
    needs: tuple[str, ...]
    interval: Interval = NO_INTERVAL
    chance: Chance | None = None

    def __call__(self, counts: ClassCounts) -> FloatArray:
        """Compute the metric for every segment; NaN where it is undefined."""
        if not counts.n_segments:
            return np.zeros(0)
        values = np.asarray(self.function(counts), np.float64)
        if values.shape != (counts.n_segments,):
            raise InvalidInputError(
                f"metric {self.name!r} returned an array of shape {values.shape}; it must return "
                f"one number for each of the {counts.n_segments} segments."
            )
        return values

    @property
    def interval_kind(self) -> str:
        """The kind of its confidence interval; empty if there is none."""
        return self.interval.kind

    @property
    def limits_for(self) -> str:
        """What its confidence limits may be used for, or why there are none."""
        if not self.interval.method_of(None):
            return f"none: {self.interval.reason}"
        return "decisions" if self.interval.method_of(GATE) else "description"

    def smallest_denominator(self, c: ClassCounts) -> Int64Array:
        """Return the rows of the smallest denominator of the metric in each segment.

        A mean of recalls has a denominator for every label present. The denominator of a metric
        that is neither a proportion nor a mean of recalls is all rows.
        """
        if self.lacks_labels(c) or not c.n_segments:
            return c.n
        return self.interval.smallest_denominator(c)

    def lacks_labels(self, c: ClassCounts) -> bool:
        """Return whether the metric needs a positive label, or an order, that the labels lack."""
        lacks_positive = "pos_label" in self.needs and c.pos_label is None
        return lacks_positive or ("label_order" in self.needs and not c.is_ordered)


_registry: dict[str, Metric] = {}
_names: dict[str, Metric] = {}  # aliases too
_registering = threading.Lock()


def _check_call(decorator: F) -> F:
    """Raise an error that shows the right call for one without `range`, or with a function."""

    @short_traceback
    @wraps(decorator)
    def checked(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401 (as the function's own)
        if arguments or "range" not in options:
            name = next((str(getattr(a, "__name__", "")) for a in arguments), "") or "my_metric"
            example = parameter("range", (0, 1))
            raise UnsupportedTypeError(
                "bf.metric needs {range}, the smallest and the largest possible value, and returns "
                "a decorator. Write `@bf.metric({})` above `def {}(c):`, or `bf.metric({})({})`.",
                example,
                name,
                example,
                name,
                range=NAME,
            )
        return decorator(**options)

    return checked  # type: ignore[return-value]


@_check_call
def metric(
    *,
    range: tuple[float, float],  # noqa: A002 (the field's word)
    better: str | None = "higher",
    needs: Sequence[str] = (),
    aliases: Sequence[str] = (),
    source: str = "",
    interval: Interval | None = None,
    chance: Chance | None = None,
) -> Callable[[MetricFunction], MetricFunction]:
    """Register a function of class counts as a metric, under the function's name.

    The first paragraph of its docstring states the meaning and, after a colon, the formula. You may
    register a metric of your own again, for example when a notebook cell runs twice. The metrics
    that balframe ships cannot be replaced.

    Parameters
    ----------
    range : tuple of two floats
        The smallest and the largest possible value.
    better : {"higher", "lower"} or None
        Which values are better; None if neither higher nor lower ones are.
    needs : sequence of {"pos_label", "class_weight", "label_order"}
        What the metric requires: these options, or an order of the labels, which three or more
        texts have only by `labels=` or as ordered categories.
    aliases : sequence of str
        Other names of the metric.
    source : str
        Reference for the definition.
    interval : Interval, optional
        The kind of its confidence interval: one of `balframe.stats`, such as `Proportion`, or a
        subclass of `balframe.stats.Interval`. By default, a metric of finite range is linearised
        (delta method), and rules of `check` are decided by the result. This requires a smooth
        function of the shares of the cells of the confusion matrix. For another one, such as the
        lowest recall, give `balframe.stats.Interval()`: then the lower and upper limits are null,
        as they are for a metric of infinite range.
    chance : number, "uniform" or "majority", optional
        The score of guessing, which charts show: a number; "uniform", which is 1/K with K labels
        present; or "majority", the share of the most frequent label.

    Returns
    -------
    decorator
        Registers a function and returns it unchanged. The function takes `bf.ClassCounts` and
        returns one float for each segment, NaN where undefined.

    Raises
    ------
    InvalidInputError
        If a name or an alias belongs to another metric or is a preset, or an argument is not one
        of the options.

    Examples
    --------
    >>> import balframe as bf
    >>> @bf.metric(range=(0, 1), better="lower")
    ... def balanced_error(c):
    ...     \"\"\"Mean share of missed rows over the labels: 1 - mean_k TP_k / P_k.\"\"\"
    ...     return 1 - c.mean_over_labels(c.recall)
    >>> cells = bf.from_matrix([[6, 2], [4, 4]])
    >>> out = bf.report(cells, "actual", "predicted", counts="n", metrics="balanced_error")
    >>> out["balanced_error"].to_list()
    [0.375]

    A proportion or a mean of recalls has a confidence interval if it names that kind of interval:

    >>> from balframe.stats import MeanOfRecalls, Proportion, ratio
    >>> def parts(c):
    ...     return c.positive.fn, c.total
    >>> @bf.metric(
    ...     range=(0, 1),
    ...     better="lower",
    ...     needs=["pos_label"],
    ...     interval=Proportion(parts, among="all"),
    ... )
    ... def missed_share(c):
    ...     \"\"\"Share of all rows that are missed positives: FN / n.\"\"\"
    ...     return ratio(*parts(c))
    >>> def doubled(c, mean):
    ...     return 2 * mean - 1
    >>> @bf.metric(range=(-1, 1), interval=MeanOfRecalls(transform=doubled))
    ... def doubled_recall(c):
    ...     \"\"\"Mean recall on a scale from -1 to 1: 2 mean_k R_k - 1.\"\"\"
    ...     return doubled(c, c.mean_recall)
    >>> names = ["missed_share", "doubled_recall"]
    >>> options = {"metrics": names, "interval": True, "layout": "long", "detail": True}
    >>> out = bf.report(cells, "actual", "predicted", counts="n", **options)
    >>> print(out)
    shape: (2, 8)
    ┌────────────────┬──────────┬───────────┬──────────┬─────┬──────────┬─────────────┬────────┐
    │ metric         ┆ estimate ┆ lower     ┆ upper    ┆ n   ┆ n_labels ┆ min_support ┆ method │
    │ ---            ┆ ---      ┆ ---       ┆ ---      ┆ --- ┆ ---      ┆ ---         ┆ ---    │
    │ str            ┆ f64      ┆ f64       ┆ f64      ┆ i64 ┆ i64      ┆ i64         ┆ str    │
    ╞════════════════╪══════════╪═══════════╪══════════╪═════╪══════════╪═════════════╪════════╡
    │ missed_share   ┆ 0.25     ┆ 0.101821  ┆ 0.494983 ┆ 16  ┆ 2        ┆ 8           ┆ wilson │
    │ doubled_recall ┆ 0.25     ┆ -0.231709 ┆ 0.634913 ┆ 16  ┆ 2        ┆ 8           ┆ score  │
    └────────────────┴──────────┴───────────┴──────────┴─────┴──────────┴─────────────┴────────┘
    """
    check_choice("better", better, ("higher", "lower", None))
    for argument, values in (("needs", needs), ("aliases", aliases)):
        if isinstance(values, str) or not is_iterable(values):
            raise InvalidInputError("{} must be a list of names.", parameter(argument, values))
    for need in needs:
        check_choice("needs", need, NEEDS)
    if not (chance is None or is_number(chance)):
        check_choice("chance", chance, CHANCES)
    if not (isinstance(range, tuple) and len(range) == 2 and range[0] < range[1]):
        raise InvalidInputError("{range} must be a pair with the smaller value first.", range=range)

    @short_traceback
    def register(function: MetricFunction) -> MetricFunction:
        if not callable(function) or not isinstance(getattr(function, "__name__", None), str):
            raise UnsupportedTypeError(
                "bf.metric registers a function under its own name, not {!r} of type {}; define a "
                "function with `def`.",
                function,
                type(function).__name__,
            )
        metric = Metric(
            function.__name__, function, range, better, tuple(aliases), source, tuple(needs),
            _default_interval(function, range) if interval is None else interval, chance,
        )  # fmt: skip
        with _registering:
            _add(metric)
        return function

    return register


def _default_interval(function: MetricFunction, range_: tuple[float, float]) -> Interval:
    """Return the kind of interval of a metric that names none."""
    if not np.isfinite(range_).all():
        return NoInterval("its range is not finite")
    return linearised_numerically(evaluate_counts(function), range_)


def proportion(
    *,
    among: Among | None = None,
    better: str | None = "higher",
    needs: Sequence[str] = (),
    aliases: Sequence[str] = (),
    source: str = "",
    chance: Chance | None = None,
) -> Callable[[Callable[[ClassCounts], Parts]], MetricFunction]:
    """Register the ratio of the two sums of counts that a function returns, in [0, 1].

    `among` states which rows the denominator counts, as in `Proportion`.
    """

    def register(parts: Callable[[ClassCounts], Parts]) -> MetricFunction:
        @wraps(parts)
        def share(c: ClassCounts) -> FloatArray:
            return ratio(*parts(c))

        return metric(
            range=(0, 1),
            better=better,
            needs=needs,
            aliases=aliases,
            source=source,
            interval=Proportion(parts, among=among),
            chance=chance,
        )(share)

    return register


def _add(metric: Metric) -> None:
    """Add a metric; other threads see whole dictionaries, the old ones or the new ones."""
    global _registry, _names
    _check_names_free(metric)
    others = {name: owner for name, owner in _names.items() if owner.name != metric.name}
    _registry = _registry | {metric.name: metric}
    _names = others | dict.fromkeys((metric.name, *metric.aliases), metric)


def _check_names_free(metric: Metric) -> None:
    """Raise if a name of the metric belongs to another metric, a preset or a column."""
    same = _registry.get(metric.name)
    if same is not None and same.is_shipped and not metric.is_shipped:
        raise InvalidInputError(
            f"metric {metric.name!r} is built into balframe; choose another name."
        )
    for name in (metric.name, *metric.aliases):
        if name in PRESETS:
            raise InvalidInputError(f"{name!r} is a preset of metrics; choose another name.")
        if name in _reserved or name in CHART_COLUMN_NAMES:
            raise InvalidInputError(f"{name!r} names a column of results; choose another name.")
        if name in _families:
            raise InvalidInputError(
                f"{name!r} begins the name of a metric of balframe, as in {_families[name]!r}; "
                "choose another name."
            )
        owner = _names.get(name) or score_metric_names().get(name) or metric
        if owner.name != metric.name:
            raise InvalidInputError(
                f"{name!r} already names the metric {owner.name!r}; choose another name or alias."
            )


def reserve_names(names: Iterable[str]) -> None:
    """Reserve names of columns, which no metric may take."""
    _reserved.update(names)


def reserve_family(name: str, example: str) -> None:
    """Reserve the name of a family of metrics, of which the example is a member."""
    _families[name] = example


def registered_metrics() -> list[Metric]:
    """List the metrics in the order in which they were registered."""
    names = _names  # read first: what has a name here is in the registry already
    return [metric for name, metric in _registry.items() if name in names]


def named_metrics() -> Mapping[str, Metric]:
    """Return the metrics by their names and aliases."""
    return _names
