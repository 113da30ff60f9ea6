"""The registry of metrics: a decorator puts a metric in, names and aliases find it."""

import inspect
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from typing import Literal

import numpy as np

from balframe.core.arrays import FloatArray, is_iterable
from balframe.core.class_counts import ClassCounts
from balframe.core.division import ratio
from balframe.errors import (
    InvalidInputError,
    UnsupportedTypeError,
    check_choice,
    listed,
    not_found,
)
from balframe.intervals.kinds import Interval, Parts, Proportion

MetricFunction = Callable[[ClassCounts], FloatArray]

NEEDS = ("pos_label", "class_weight")
CHANCES = ("uniform", "majority")
Chance = float | Literal["uniform", "majority"]
RESERVED = {
    *("all", "margin", "model", "n", "n_labels", "min_support", "n_missing"),
    *("metric", "estimate", "lower", "upper", "method"),
    *("threshold", "predicted_positive"),
    *("balanced_accuracy_band_lower", "balanced_accuracy_band_upper"),
}


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric and what is known of it; `bf.metric` makes one from a function."""

    name: str
    function: MetricFunction
    range: tuple[float, float]
    better: str | None
    needs: tuple[str, ...]
    aliases: tuple[str, ...]
    source: str
    meaning: str
    formula: str
    interval: Interval | None = None
    chance: Chance | None = None

    def __call__(self, counts: ClassCounts) -> FloatArray:
        """Compute the metric for every segment; NaN where it is undefined."""
        values = np.asarray(self.function(counts), np.float64)
        if values.shape != (counts.n_segments,):
            raise InvalidInputError(
                f"metric {self.name!r} returned an array of shape {values.shape}; it has to give "
                f"one number for each of the {counts.n_segments} segments."
            )
        return values


_registry: dict[str, Metric] = {}
_names: dict[str, str] = {}
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

    The first paragraph of its docstring says what it means and, after a colon, gives the formula.
    A metric of your own may be registered again, as when a notebook cell runs twice; the ones
    that balframe ships stay. It has to work on zero segments too: the columns of a lazy frame's
    report are found by running it on no rows.

    Parameters
    ----------
    range : tuple of two floats
        The smallest and the largest value that is possible.
    better : {"higher", "lower"} or None
        Which direction is better; None where neither is.
    needs : sequence of {"pos_label", "class_weight"}
        Options without which the metric has no meaning.
    aliases : sequence of str
        Other names to find it by.
    source : str
        Where the definition comes from.
    interval : kind of interval, optional
        How its limits are found, one of the kinds in `balframe.intervals.kinds`; without, `report`
        gives it null limits.
    chance : number, "uniform" or "majority", optional
        What guessing scores, which charts show: a number; "uniform", 1/K of the K labels present;
        or "majority", the share of the most frequent label.

    Returns
    -------
    decorator
        Takes a function of `bf.ClassCounts` that returns one float for each segment, NaN where
        undefined, registers it and gives it back as it is.

    Raises
    ------
    InvalidInputError
        If a name or an alias belongs to another metric, or an argument is none of the options.

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
    """
    check_choice("better", better, ("higher", "lower", None))
    for argument, values in (("needs", needs), ("aliases", aliases)):
        if isinstance(values, str):
            raise InvalidInputError(f"{argument}={values!r} has to be a list of names.")
    for need in needs:
        check_choice("needs", need, NEEDS)
    if not (chance is None or isinstance(chance, (int, float))):
        check_choice("chance", chance, CHANCES)
    if not (isinstance(range, tuple) and len(range) == 2 and range[0] < range[1]):
        raise InvalidInputError(f"range={range!r} has to be a pair, the smaller value first.")

    def register(function: MetricFunction) -> MetricFunction:
        meaning, _, formula = _first_paragraph(function).rstrip(".").partition(": ")
        one = Metric(
            function.__name__, function, range, better, tuple(needs), tuple(aliases), source,
            meaning, formula, interval, chance,
        )  # fmt: skip
        if not _is_shipped(one):
            _load_shipped()
        with _registering:
            _put(one)
        return function

    return register


def proportion(
    *,
    better: str | None = "higher",
    needs: Sequence[str] = (),
    aliases: Sequence[str] = (),
    source: str = "",
    chance: Chance | None = None,
) -> Callable[[Callable[[ClassCounts], Parts]], MetricFunction]:
    """Register the ratio of two sums of counts that a function gives, as a metric in [0, 1]."""

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
            interval=Proportion(parts),
            chance=chance,
        )(share)

    return register


def _first_paragraph(function: MetricFunction) -> str:
    return " ".join(inspect.cleandoc(function.__doc__ or "").split("\n\n")[0].split())


def _put(one: Metric) -> None:
    """Let a metric be found; those who read meanwhile see whole dictionaries, old or new."""
    global _registry, _names
    _check_free(one)
    kept = {name: owner for name, owner in _names.items() if owner != one.name}
    _registry = _registry | {one.name: one}
    _names = kept | dict.fromkeys((one.name, *one.aliases), one.name)


def _check_free(one: Metric) -> None:
    known = _registry.get(one.name)
    if known is not None and _is_shipped(known) and not _is_shipped(one):
        raise InvalidInputError(f"metric {one.name!r} is one of balframe's; choose another name.")
    for name in (one.name, *one.aliases):
        if name in RESERVED:
            raise InvalidInputError(f"{name!r} names a column of reports; choose another name.")
        owner = _names.get(name, one.name)
        if owner != one.name:
            raise InvalidInputError(
                f"{name!r} already names the metric {owner!r}; choose another name or alias."
            )


def _is_shipped(one: Metric) -> bool:
    return one.function.__module__.startswith("balframe.metrics.")


def _load_shipped() -> None:
    """Let balframe's own metrics register themselves, before any other is looked for or added."""
    import_module("balframe.metrics.catalogue")


def registered() -> list[Metric]:
    """List the metrics in the order in which they were registered."""
    _load_shipped()
    names = _names  # read first: what has a name here is in the registry already
    return [one for name, one in _registry.items() if name in names]


def find(name: object) -> Metric:
    """Look a metric up by its name or an alias; an error suggests the nearest names."""
    if not isinstance(name, str):
        raise UnsupportedTypeError(
            f"metrics= takes names of metrics, not {name!r} of type {type(name).__name__}; "
            "register a function with bf.metric and give its name."
        )
    if name == "all":
        raise InvalidInputError('"all" stands alone, as in metrics="all"; it takes no other names.')
    _load_shipped()
    names = _names
    if name not in names:
        raise not_found("metric", name, names)
    return _registry[names[name]]


def find_all(names: Iterable[object]) -> dict[str, Metric]:
    """Look metrics up, keyed by the names as they were given."""
    if not is_iterable(names):
        raise UnsupportedTypeError(
            f"metrics={names!r} is neither the name of a metric nor a list of names."
        )
    given = list(names)
    found = {str(name): find(name) for name in given}
    if len(found) < len(given):
        raise InvalidInputError(f"metrics= names a metric twice: {listed(given)}.")
    if not found:
        raise InvalidInputError('metrics= is empty; name at least one metric, or "all".')
    return found
