"""The registry of metrics: a decorator puts a metric in, names and aliases find it."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Literal

import numpy as np

from balframe.core.array_types import FloatArray, is_iterable
from balframe.core.class_counts import ClassCounts
from balframe.core.safe_divide import ratio
from balframe.errors import InvalidInputError, check_choice, parameter
from balframe.metrics.base import AnyMetric
from balframe.metrics.score_metrics import score_metric_names
from balframe.stats.base import NO_LIMITS, Interval
from balframe.stats.metric_intervals import Among, Parts, Proportion

# Presets: names that stand for several metrics, wherever several may be given.


DEFAULT = (
    "accuracy",
    "balanced_accuracy",
    "adjusted_balanced_accuracy",
    "normalized_accuracy",
    "geometric_mean",
)
FAIRNESS = (
    "selection_rate",
    "prevalence",
    "recall",
    "false_positive_rate",
    "false_negative_rate",
    "precision",
)
PRESETS: Mapping[str, tuple[str, ...] | None] = {  # None where the call decides
    "default": None,
    "fairness": FAIRNESS,
    "all": None,
}


MetricFunction = Callable[[ClassCounts], FloatArray]

NEEDS = ("pos_label", "class_weight")
CHANCES = ("uniform", "majority")
Chance = float | Literal["uniform", "majority"]
NAMED_BY_CHARTS = ("segment", "panel")
_reserved: set[str] = set()


@dataclass(frozen=True, slots=True)
class Metric(AnyMetric):
    """A metric of labels and what is known of it; `bf.metric` makes one from a function."""

    function: MetricFunction
    needs: tuple[str, ...]
    interval: Interval = NO_LIMITS
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


_registry: dict[str, Metric] = {}
_names: dict[str, Metric] = {}  # aliases too
_registering = threading.Lock()


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
    needs : sequence of {"pos_label", "class_weight"}
        Options that the metric requires.
    aliases : sequence of str
        Other names of the metric.
    source : str
        Reference for the definition.
    interval : Interval, optional
        The kind of its confidence interval: one of `balframe.stats.metric_intervals`, or a subclass
        of `balframe.stats.base.Interval`. Without it the lower and upper limits are null.
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

    >>> from balframe.core.safe_divide import ratio
    >>> from balframe.stats.metric_intervals import MeanOfRecalls, Proportion
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
    >>> out = bf.report(
    ...     cells, "actual", "predicted", counts="n", metrics=names, interval=True, layout="long"
    ... )
    >>> out.select("metric", "method").rows()
    [('missed_share', 'wilson'), ('doubled_recall', 'score')]
    >>> import polars as pl
    >>> out.select(pl.col("estimate", "lower", "upper").round(3)).rows()
    [(0.25, 0.102, 0.495), (0.25, -0.232, 0.635)]
    """
    check_choice("better", better, ("higher", "lower", None))
    for argument, values in (("needs", needs), ("aliases", aliases)):
        if isinstance(values, str) or not is_iterable(values):
            raise InvalidInputError(f"{parameter(argument, values)} must be a list of names.")
    for need in needs:
        check_choice("needs", need, NEEDS)
    if not (chance is None or isinstance(chance, (int, float))):
        check_choice("chance", chance, CHANCES)
    if not (isinstance(range, tuple) and len(range) == 2 and range[0] < range[1]):
        raise InvalidInputError(
            f"{parameter('range', range)} must be a pair with the smaller value first."
        )

    def register(function: MetricFunction) -> MetricFunction:
        one = Metric(
            function.__name__, function, range, better, tuple(aliases), source, tuple(needs),
            NO_LIMITS if interval is None else interval, chance,
        )  # fmt: skip
        with _registering:
            _put(one)
        return function

    return register


def proportion(
    *,
    among: Among | None = None,
    better: str | None = "higher",
    needs: Sequence[str] = (),
    aliases: Sequence[str] = (),
    source: str = "",
    chance: Chance | None = None,
) -> Callable[[Callable[[ClassCounts], Parts]], MetricFunction]:
    """Register the ratio of two sums of counts that a function gives, as a metric in [0, 1].

    `among` says which rows the denominator counts, as in `Proportion`.
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


def _put(one: Metric) -> None:
    """Let a metric be found; those who read meanwhile see whole dictionaries, old or new."""
    global _registry, _names
    _check_free(one)
    kept = {name: owner for name, owner in _names.items() if owner.name != one.name}
    _registry = _registry | {one.name: one}
    _names = kept | dict.fromkeys((one.name, *one.aliases), one)


def _check_free(one: Metric) -> None:
    known = _registry.get(one.name)
    if known is not None and known.is_shipped and not one.is_shipped:
        raise InvalidInputError(f"metric {one.name!r} is built into balframe; choose another name.")
    for name in (one.name, *one.aliases):
        if name in PRESETS:
            raise InvalidInputError(f"{name!r} is a preset of metrics; choose another name.")
        if name in _reserved or name in NAMED_BY_CHARTS:
            raise InvalidInputError(f"{name!r} names a column of results; choose another name.")
        owner = _names.get(name) or score_metric_names().get(name) or one
        if owner.name != one.name:
            raise InvalidInputError(
                f"{name!r} already names the metric {owner.name!r}; choose another name or alias."
            )


def reserve(names: Iterable[str]) -> None:
    """Keep names of columns from being taken by metrics, which are columns of reports too."""
    _reserved.update(names)


def registered() -> list[Metric]:
    """List the metrics in the order in which they were registered."""
    names = _names  # read first: what has a name here is in the registry already
    return [one for name, one in _registry.items() if name in names]


def named() -> Mapping[str, Metric]:
    """Give every metric by its name and its aliases."""
    return _names
