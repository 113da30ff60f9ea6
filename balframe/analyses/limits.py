"""From the interval that a metric declares to its limits in every segment."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from balframe.core.arrays import FloatArray, Int64Array
from balframe.core.cells import LEFT_OUT, Cells
from balframe.core.class_counts import ClassCounts
from balframe.core.division import ratio
from balframe.errors import InvalidInputError, check_choice, parameter
from balframe.intervals import coefficients, proportions, recalls
from balframe.intervals.kinds import (
    Delta,
    GeometricMeanOfRecalls,
    Interval,
    MeanOfRecalls,
    Proportion,
    Recalls,
    recalls_of_labels,
)
from balframe.intervals.proportions import Limits
from balframe.intervals.sums_of_betas import PRIORS, Posterior
from balframe.metrics.registry import Metric

Method = Literal["score", "wilson", "jeffreys", "exact", "mover", "posterior"]
IntervalOption = bool | Method | None
Prior = Literal["uniform", "jeffreys"]

_METHODS = ("score", "wilson", "jeffreys", "exact", "mover", "posterior")
_OF_PROPORTIONS = {
    "wilson": proportions.wilson,
    "jeffreys": proportions.jeffreys,
    "exact": proportions.exact,
}
_OF_COEFFICIENTS = {"kappa": coefficients.kappa, "correlation": coefficients.correlation}


@dataclass(frozen=True, slots=True)
class Request:
    """The method asked for (None: each metric's default), the level and the prior."""

    method: str | None
    level: float
    prior: str

    @classmethod
    def of(cls, interval: object, level: object, prior: object) -> "Request | None":
        """Check what a caller asked for; None where no limits are wanted."""
        check_choice("interval", interval, (None, False, True, *_METHODS))
        check_choice("prior", prior, PRIORS)
        check_level(level)
        if interval is None or interval is False:
            return None
        return cls(None if interval is True else str(interval), float(level), str(prior))  # type: ignore[arg-type]


def check_level(level: object) -> None:
    """Raise unless the level is a probability."""
    is_number = isinstance(level, (int, float, np.floating)) and not isinstance(level, bool)
    if not is_number or not 0 < level < 1:  # type: ignore[operator]
        raise InvalidInputError(
            f"{parameter('level', level)} has to be a number between 0 and 1, as 0.95 is."
        )


def method_of(interval: Interval | None, asked: str | None) -> str:
    """Name the method that applies: the one asked for where it is defined, else the default."""
    if isinstance(interval, Proportion):
        return _method_of_proportions(asked)
    if isinstance(interval, MeanOfRecalls):
        return asked if asked in ("mover", "posterior") else "score"
    if isinstance(interval, GeometricMeanOfRecalls):
        return "score"
    return "" if interval is None else "delta"


def _method_of_proportions(asked: str | None) -> str:
    return asked if asked in _OF_PROPORTIONS else "wilson"


def limits_of(
    metrics: Mapping[str, Metric],
    c: ClassCounts,
    cells: Callable[[], Cells],
    scores: Mapping[str, FloatArray],
    request: Request,
) -> dict[str, Limits]:
    """Find the limits of metrics in every segment, NaN where one has none or is undefined."""
    known: dict[object, list[FloatArray]] = {}
    return {
        name: _limits(one.interval, c, cells, scores[name], one.range, request, known)
        for name, one in metrics.items()
    }


def _limits(
    interval: Interval | None,
    c: ClassCounts,
    cells: Callable[[], Cells],
    estimate: FloatArray,
    range_: tuple[float, float],
    request: Request,
    known: dict[object, list[FloatArray]],
) -> Limits:
    """Find the limits of one metric; `known` keeps those of the means that it is an image of."""
    method = method_of(interval, request.method)
    nothing = np.full(c.n_segments, np.nan)
    if interval is None or not c.n_segments:
        return nothing, nothing
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        if isinstance(interval, Proportion):
            x, n = effective(*interval.parts(c), interval.parts(c.squared)[1])
            found = proportion_limits(x, n, request)
            low, high = (interval.image(c, limit) for limit in found)
        elif isinstance(interval, MeanOfRecalls):
            if interval.recalls not in known:
                r = interval.recalls(c)
                known[interval.recalls] = _of_means(r, c.n_segments, method, request)
            low, high = (interval.image(c, limit) for limit in known[interval.recalls])
        elif isinstance(interval, GeometricMeanOfRecalls):
            low, high = _of_means(recalls_of_labels(c), c.n_segments, "geometric", request)
            by_convention = (c.absent == "zero") & (c.n_present < c.n_labels)
            low, high = (np.where(by_convention, np.nan, limit) for limit in (low, high))
        else:
            low, high = _of_coefficient(interval, c, cells(), estimate, request.level)
    return kept(low, high, estimate, range_, around=method != "posterior")


def effective(x: FloatArray, n: FloatArray, n_sq: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Turn sums of weights into Kish's effective counts: n_eff = (sum w)^2 / sum w^2.

    Undefined where the squares left the range of a float.
    """
    usable = (n > 0) & (n_sq >= np.finfo(np.float64).tiny) & np.isfinite(n_sq)
    with np.errstate(over="ignore"):
        size = np.where(usable, n / np.where(usable, n_sq, 1) * n, np.nan)
    size = np.where(np.isfinite(size), size, np.nan)
    return ratio(x, n) * size, size


def proportion_limits(x: FloatArray, n: FloatArray, request: Request) -> Limits:
    """Find the limits of proportions, NaN where n is."""
    method = _method_of_proportions(request.method)
    known = np.isfinite(n) & (n > 0)
    low, high = np.full(len(n), np.nan), np.full(len(n), np.nan)
    low[known], high[known] = _OF_PROPORTIONS[method](x[known], n[known], request.level)
    return low, high


def kept(
    low: FloatArray,
    high: FloatArray,
    estimate: FloatArray,
    range_: tuple[float, float],
    *,
    around: bool,
) -> Limits:
    """Keep limits inside the range, and around the estimate; both or none, none without it."""
    is_unknown = np.isnan(estimate) | np.isnan(low) | np.isnan(high)
    low, high = (np.where(is_unknown, np.nan, limit) for limit in (low, high))
    if around:
        low, high = np.minimum(low, estimate), np.maximum(high, estimate)
    return np.clip(low, *range_), np.clip(high, *range_)


def shares(r: Recalls, n_segments: int) -> FloatArray:
    """Let the weights of each segment sum to 1."""
    total = np.bincount(r.segment, weights=r.weight, minlength=n_segments)
    return np.asarray(r.weight / total[r.segment])


def by_number_of_labels(
    segment: Int64Array, n_segments: int, order: Int64Array
) -> Iterator[tuple[Int64Array, Int64Array]]:
    """Put segments of equally many entries together, and the positions of these into a matrix.

    `order` sorts the entries by segment.
    """
    n_labels = np.bincount(segment, minlength=n_segments)
    first = np.cumsum(n_labels) - n_labels
    for size in np.unique(n_labels[n_labels > 0]):
        segments = np.flatnonzero(n_labels == size)
        yield segments, order[first[segments][:, None] + np.arange(size)]


Rows = Callable[[FloatArray, FloatArray, FloatArray], list[FloatArray]]


def over_segments(r: Recalls, n_segments: int, columns: int, compute: Rows) -> list[FloatArray]:
    """Compute for every segment from its recalls, equal segments once.

    `compute` takes x, n and weights of the shape (segments, labels) and gives as many arrays of
    the shape (segments,) as `columns` says. Segments without limits get NaN.
    """
    x, n = effective(r.correct, r.support, r.support_sq)
    out = np.full((columns, n_segments), np.nan)
    order = np.lexsort((x, n, r.weight, r.segment))  # the order of labels makes no difference
    share = shares(r, n_segments)
    for segments, entries in by_number_of_labels(r.segment, n_segments, order):
        rows = np.hstack([x[entries], n[entries], share[entries]])
        known = np.isfinite(rows).all(axis=1)
        distinct, copies = np.unique(rows[known], axis=0, return_inverse=True)
        if len(distinct):
            found = compute(*np.hsplit(distinct, 3))
            out[:, segments[known]] = np.array(found)[:, copies.ravel()]
    return list(out)


def _of_means(r: Recalls, n_segments: int, method: str, request: Request) -> list[FloatArray]:
    level = request.level

    def compute(x: FloatArray, n: FloatArray, a: FloatArray) -> list[FloatArray]:
        if method == "geometric":
            return list(recalls.geometric(x, n, level))
        if method == "mover":
            return list(recalls.mover(x, n, a, level))
        if method == "posterior":
            tail = (1 - level) / 2
            return Posterior.of(x, n, a, request.prior).quantiles((tail, 1 - tail))
        return list(recalls.score(x, n, a, level))

    found = over_segments(r, n_segments, 2, compute)
    if method == "geometric":
        return found
    part = np.bincount(r.segment, weights=r.weight, minlength=n_segments) / r.whole
    return [limit * part for limit in found]


def _of_coefficient(
    interval: Delta, c: ClassCounts, cells: Cells, estimate: FloatArray, level: float
) -> Limits:
    segment, _ = cells.segments
    counted = np.flatnonzero(cells.actual != LEFT_OUT)
    segment = segment[counted]
    keys = c.segment * c.n_labels + c.label

    def entry(labels: Int64Array) -> Int64Array:
        return np.searchsorted(keys, segment * c.n_labels + labels[counted])

    true, predicted = entry(cells.actual), entry(cells.outcome)
    total = c.spread(c.total)
    of_truth, of_prediction = ratio(c.support, total), ratio(c.predicted, total)
    not_truth, not_prediction = (ratio(c.others(v), total) for v in (c.support, c.predicted))
    weight = np.asarray((cells.n if cells.weight is None else cells.weight)[counted], np.float64)
    shares = coefficients.Shares(
        segment,
        ratio(weight, c.total[segment]),
        true == predicted,
        of_truth[true],
        of_truth[predicted],
        of_prediction[true],
        of_prediction[predicted],
        not_truth[true],
        not_prediction[true],
        not_prediction[predicted],
    )
    _, n = effective(c.total, c.total, c.squared.total)
    return _OF_COEFFICIENTS[interval.coefficient](shares, estimate, n, level)
