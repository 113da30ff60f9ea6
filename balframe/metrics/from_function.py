"""Metrics from functions of true and predicted labels, such as those of scikit-learn."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal, get_args

import numpy as np

from balframe._validate import check_choice, is_whole_number
from balframe.core.array_types import FloatArray
from balframe.core.class_counts import ClassCounts
from balframe.errors import Advice, InvalidInputError, UnsupportedTypeError, parameter
from balframe.metrics.registry import Chance, metric
from balframe.stats.base import Interval
from balframe.stats.bootstrap import Bootstrap
from balframe.stats.label_function import LabelFunction
from balframe.stats.linearised_intervals import linearised_numerically
from balframe.stats.numerical_derivative import evaluate_labels

FunctionInterval = Literal["linearised", "bootstrap"]


def metric_from(
    function: Callable[..., object],
    *,
    range: tuple[float, float],  # noqa: A002 (the field's word)
    name: str | None = None,
    better: str | None = "higher",
    aliases: Sequence[str] = (),
    source: str = "",
    chance: Chance | None = None,
    counts: str | None = None,
    interval: FunctionInterval | None = None,
    n_resamples: int = 2000,
    seed: int = 0,
) -> str:
    """Register a function of true and predicted labels as a metric, and return its name.

    The function takes `y_true` and `y_pred`, as those of scikit-learn do, and returns one number.
    It is called once for each segment. Its arrays have the labels of the segment's rows, sorted:
    the order of rows is not kept. A label is a string, a boolean, an integer or a date, as in the
    column. Unless both columns have booleans, booleans are passed as 0 and 1.

    If the metric can be computed from `bf.ClassCounts`, use `bf.metric`, which computes all
    segments at once and takes weights.

    The confidence interval is "linearised" if the function has `counts` and a finite range, and the
    bootstrap otherwise:

    - "linearised" differentiates the function by the shares of the cells (delta method), as for
      `f1_macro`, and calls it about 8 K^2 times for each segment, where K labels occur. Rules of
      `check` are decided by it. The function must be smooth in the shares: unchanged if all rows
      are repeated, and without jumps or kinks, such as those of a minimum. The counts that it gets
      are then not whole numbers. Limits are null in segments of more than 32 labels, and where the
      function changes if rows are repeated.
    - "bootstrap" has percentiles of the function in `n_resamples` resamples. Each draws as many
      rows as the segment has, with replacement; with `cluster=`, it draws clusters. The same data
      and seed return the same limits. Both limits are null if all resamples have the same value, as
      in a segment that is predicted without error; if the function is undefined in 2.5% of the
      resamples or more, for 95% limits; and if fewer than ten resamples lie beyond each limit, as
      with 2,000 resamples for a level above 0.99.

    With 200 rows, 95% limits of the bootstrap for an accuracy between 0.5 and 0.9 contain it in 95%
    of samples. They are too narrow in small segments and near the ends of the range: with 20 rows
    and an accuracy above 0.95, they contain it in 44%. So no rule of `check` is decided by them: it
    needs `level=None`. `disparity` has no limits then. The differences of `gaps` have
    limits, from those of both sides, and no p-value. `compare` has no limits for either interval.

    Parameters
    ----------
    function : callable
        Takes an array of true and an array of predicted labels, and returns a float, NaN where it
        is undefined. Set other arguments with `functools.partial`. `pos_label` and the other
        options of balframe are not passed to it.
    range : tuple of two floats
        The smallest and the largest possible value.
    name : str, optional
        The name of the metric; by default that of the function.
    better : {"higher", "lower"} or None
        Which values are better; None if neither higher nor lower ones are.
    aliases : sequence of str
        Other names of the metric.
    source : str
        Reference for the definition.
    chance : number, "uniform" or "majority", optional
        The score of guessing, as for `bf.metric`.
    counts : str, optional
        Name of a parameter of the function that takes a number of rows for each pair of labels.
        It is `"sample_weight"` for functions of scikit-learn. The function then gets each pair of
        labels once, so the time does not depend on the number of rows. Without it, segments of
        more than 10 million rows raise an error.
    interval : {"linearised", "bootstrap"}, optional
        The kind of confidence interval. Give "bootstrap" if the function is not smooth, or if
        `counts` have to be whole numbers.
    n_resamples : int, default 2000
        Number of resamples of each segment by the bootstrap; at least 1.
    seed : int, default 0
        Seed of the random numbers of the bootstrap; at least 0.

    Returns
    -------
    str
        The name, for `metrics=`.

    Raises
    ------
    BalframeError
        If a name is taken or an argument is invalid. When the metric is used, if the function
        raises or returns anything but one number, or if the rows have weights of `sample_weight=`.

    References
    ----------
    B. Efron and R. J. Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13.

    Examples
    --------
    >>> import balframe as bf
    >>> from functools import partial
    >>> from sklearn.metrics import fbeta_score
    >>> f2 = bf.metric_from(
    ...     partial(fbeta_score, beta=2), name="f2", range=(0, 1), counts="sample_weight"
    ... )
    >>> compas = bf.datasets.compas(backend="pandas").query("race in ['Asian', 'Caucasian']")
    >>> out = bf.report(
    ...     compas, "reoffended", "high_risk", by="race", counts="n", metrics=f2, interval=True
    ... )
    >>> print(out[["race", "n", "f2", "f2_lower", "f2_upper"]].round(3).to_string(index=False))
         race    n    f2  f2_lower  f2_upper
        Asian   32 0.682     0.398     0.881
    Caucasian 2454 0.535     0.506     0.564
    """
    if not callable(function):
        raise UnsupportedTypeError(
            "{!r} of type {} is not a function; give a function of true and predicted labels.",
            function,
            type(function).__name__,
        )
    own_name = getattr(function, "__name__", "<lambda>")
    if name is None and own_name == "<lambda>":
        raise InvalidInputError(
            "the function {!r} has no name of its own; give {name}.",
            function,
            name=Advice("my_metric"),
        )
    name = own_name if name is None else name
    for option, text in (("name", name), ("counts", "n" if counts is None else counts)):
        if not isinstance(text, str) or not text:
            raise UnsupportedTypeError("{} is not a non-empty string.", parameter(option, text))
    for option, value, least in (("n_resamples", n_resamples, 1), ("seed", seed, 0)):
        if not is_whole_number(value, least):
            raise InvalidInputError(
                "{} is not a whole number of at least {}.", parameter(option, value), least
            )
    check_choice("interval", interval, (None, *get_args(FunctionInterval)))
    of_labels = LabelFunction(name, function, counts)

    def of_counts(c: ClassCounts) -> FloatArray:
        return of_labels(c)

    described = function.func if isinstance(function, partial) else function
    of_counts.__name__, of_counts.__doc__ = name, getattr(described, "__doc__", None)
    of_counts.__module__ = str(getattr(described, "__module__", ""))  # it is not of balframe
    metric(
        range=range,
        better=better,
        aliases=aliases,
        source=source,
        interval=_interval(of_labels, range, interval, int(n_resamples), int(seed)),
        chance=chance,
    )(of_counts)
    return name


def _interval(
    function: LabelFunction,
    range_: tuple[float, float],
    requested: FunctionInterval | None,
    n_resamples: int,
    seed: int,
) -> Interval:
    """Return the kind of interval: linearised if it is possible, unless the other is requested."""
    is_possible = function.counts is not None and bool(np.isfinite(range_).all())
    if requested == "linearised" and not is_possible:
        raise InvalidInputError(
            "{interval} needs a finite range, and a function that takes the rows of each pair of "
            "labels. Give a finite range and {counts}, or the interval 'bootstrap'.",
            interval=requested,
            counts=Advice("sample_weight"),
        )
    if is_possible and requested != "bootstrap":
        return linearised_numerically(evaluate_labels(function), range_)
    return Bootstrap(function, n_resamples, seed)
