"""What methods answer about thresholds of a score: the one in use, others, and the best."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from balframe.audit_page.counted import CALL, SCORE, TRUTH, Counted, N, key_of
from balframe.audit_page.groups import ColumnOf
from balframe.audit_page.numbers import Estimate
from balframe.audit_page.queries import Asking, Row, quietly
from balframe.audit_page.rates import BALANCED, Rate, Rates
from balframe.audit_page.shown_groups import MOST_COLUMNS
from balframe.frames.convert_result import row_dicts
from balframe.frames.thresholds import Thresholds
from balframe.methods.thresholds.best_threshold import best_threshold
from balframe.methods.thresholds.curve import curve
from balframe.methods.thresholds.ranking import ranking

NEVER = float("inf")
_FEW, _QUANTILES = 12, 11
_MOST_ON_CURVES, _MOST_CURVES = 100, 6
_CLOSE = 100  # parts of the range of scores


@dataclass(frozen=True, slots=True)
class Threshold:
    """A score. Any number greater than `above` and up to it, as a threshold, gives its calls."""

    value: float
    above: float


@dataclass(frozen=True, slots=True)
class InUse:
    """The threshold that gives the calls of a model; None where no score does.

    `why`: it is found; everybody or nobody is called; it lies between two rounded scores; or no
    threshold gives the calls.
    """

    threshold: float | None
    why: Literal["found", "everybody", "nobody", "rounded", "no threshold"]
    between: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """What a threshold gives: how many rows reach it, its errors and its balanced accuracy."""

    threshold: Threshold
    n_called: int
    rates: Mapping[Rate, Estimate]


@dataclass(frozen=True, slots=True)
class Best:
    """The threshold with the highest balanced accuracy, whose limits hold at all thresholds.

    `by_chance` is what scores without information exceed in 5% of such data.
    """

    threshold: Threshold
    balanced: Estimate
    by_chance: float | None


@dataclass(frozen=True, slots=True)
class CurveOf:
    """The errors of a group at each threshold."""

    value: Any
    rates: Mapping[Rate, Sequence[Estimate]]


@dataclass(frozen=True, slots=True)
class Curves:
    """The errors of the largest groups of a by-column; the last threshold is never reached."""

    column: int
    thresholds: Sequence[Threshold]
    groups: Sequence[CurveOf]


@dataclass(frozen=True, slots=True)
class OfThresholds:
    """The answers about thresholds; `area` is the area under the ROC curve."""

    area: Estimate
    in_use: InUse
    points: Sequence[Point]
    best: Best | None
    curves: Curves | None


@dataclass(frozen=True)
class Spread:
    """The different scores of a model, ascending, each with its rows called positive, and all."""

    scores: Sequence[float]
    n_called: Sequence[int]
    n: Sequence[int]
    step: float | None

    @classmethod
    def of(cls, counted: Counted) -> "Spread":
        """Count the rows of each score."""
        found: dict[float, tuple[int, int]] = {}
        rows = row_dicts(counted.cells.select(SCORE, CALL, N).group_by(SCORE, CALL).sum())
        for row in rows:
            called, n = found.get(row[SCORE], (0, 0))
            is_called = row[CALL] == counted.positive
            found[row[SCORE]] = (called + row[N] * is_called, n + row[N])
        scores = sorted(one for one, (_, n) in found.items() if n)
        counts = [found[one] for one in scores]
        return cls(
            [float(one) for one in scores],
            [called for called, _ in counts],
            [n for _, n in counts],
            counted.step,
        )

    def threshold(self, value: float) -> Threshold:
        """Find the numbers that give the same calls as a score; but for rounding, only it does."""
        if value == NEVER or self.step is not None:
            return Threshold(value, value)
        at = self.scores.index(value)
        near = value - (self.scores[-1] - self.scores[0]) / _CLOSE
        return Threshold(value, near if at == 0 else max(near, self.scores[at - 1]))

    def chosen(self, most: int, quantiles: int, *others: float | None) -> list[float]:
        """Choose all scores if they are few, and quantiles otherwise; others and never with it."""
        some = list(self.scores)
        if len(some) > most:
            values = Thresholds(quantiles=quantiles).at_quantiles(
                np.array(some), np.array(self.n, np.int64)
            )
            assert values.values is not None
            some = values.values.tolist()
        return sorted({*some, *(one for one in others if one is not None), NEVER})


def in_use(spread: Spread) -> InUse:
    """Find the threshold that gives the calls."""
    rows = list(zip(spread.scores, spread.n_called, spread.n, strict=True))
    called = [score for score, n_called, _ in rows if n_called]
    others = [score for score, n_called, n in rows if n > n_called]
    if not called:
        return InUse(None, "nobody")
    if not others:
        return InUse(min(called), "everybody")
    if max(others) < min(called):
        return InUse(min(called), "found")
    if spread.step is not None and max(others) == min(called):
        at = min(called)
        multiples = round(at / spread.step) + 1
        return InUse(None, "rounded", (at, float(f"{multiples * spread.step:.12g}")))
    return InUse(None, "no threshold")


def thresholds_of(
    asking: Asking, rates: Rates, columns: Sequence[ColumnOf], spread: Spread
) -> OfThresholds:
    """Measure the thresholds of a score."""
    used = in_use(spread)
    has_several = len(spread.scores) > 1
    best, by_chance = _best(asking) if has_several else (None, None)
    rows = _at(asking, spread.chosen(_FEW, _QUANTILES, used.threshold, best))
    points = [_point(row, rates, asking.counted, spread) for row in rows]
    chosen = spread.chosen(_MOST_ON_CURVES, _MOST_ON_CURVES, used.threshold, best)
    of_best = None
    if best is not None:
        row = next(one for one in rows if one["threshold"] == best)
        of_best = Best(spread.threshold(best), _estimate(row, BALANCED, 0, "_band"), by_chance)
    curves = _curves(asking, rates, columns, spread, chosen) if has_several else None
    return OfThresholds(_area(asking), used, points, of_best, curves)


def _options(asking: Asking) -> dict[str, Any]:
    return {"counts": N, "pos_label": asking.counted.positive}


def _area(asking: Asking) -> Estimate:
    cells, level = asking.counted.cells, asking.asked.level
    (row,) = quietly(ranking, cells, TRUTH, SCORE, level=level, **_options(asking))
    return _estimate(row, "roc_auc", row["n"])


def _best(asking: Asking) -> tuple[float | None, float | None]:
    (row,) = quietly(best_threshold, asking.counted.cells, TRUTH, SCORE, **_options(asking))
    return row["threshold"], row["chance_maximum"]


def _at(asking: Asking, thresholds: Sequence[float]) -> Sequence[Row]:
    return quietly(
        curve,
        asking.counted.cells,
        TRUTH,
        SCORE,
        metrics=["false_positive_rate", "false_negative_rate", BALANCED],
        thresholds=list(thresholds),
        interval=True,
        band=True,
        level=asking.asked.level,
        **_options(asking),
    )


def _estimate(row: Row, metric: str, n: int, kind: str = "") -> Estimate:
    return Estimate(row[metric], row[f"{metric}{kind}_lower"], row[f"{metric}{kind}_upper"], n)


def _point(row: Row, rates: Rates, counted: Counted, spread: Spread) -> Point:
    """Read a row of a curve; a mean over both outcomes needs both.

    What is true of every row by definition has no limits.
    """
    assert counted.positive is not None, "scores are of two labels"
    n_positive = counted.n_true[counted.positive]
    n_negative = sum(counted.n_true.values()) - n_positive
    first, second, balanced = *rates.errors, rates.named(BALANCED)
    n_rarest = min(n_positive, n_negative)
    both = _estimate(row, BALANCED, n_rarest) if n_rarest else Estimate(None, None, None)
    found = {
        first: _estimate(row, first.metric, n_negative),
        second: _estimate(row, second.metric, n_positive),
        balanced: both,
    }
    if row["threshold"] == NEVER:
        found = {rate: Estimate(of.value, None, None, of.n) for rate, of in found.items()}
    return Point(spread.threshold(row["threshold"]), row["predicted_positive"], found)


def furthest(columns: Sequence[ColumnOf], rate: Rate) -> ColumnOf | None:
    """Find the column whose groups are furthest apart in a rate."""
    known = [one for one in columns[:MOST_COLUMNS] if one.extremes[rate].apart.value is not None]
    return max(known, key=lambda one: one.extremes[rate].apart.value or 0.0, default=None)


def _curves(
    asking: Asking,
    rates: Rates,
    columns: Sequence[ColumnOf],
    spread: Spread,
    thresholds: Sequence[float],
) -> Curves | None:
    """Measure the errors of the largest groups of a column at many thresholds."""
    column = furthest(columns, rates.errors[0])
    if column is None:
        return None
    asked, counted, by = asking.asked, asking.counted, key_of(column.number)
    large = [one for one in column.groups if not one.is_small(rates.errors[0], asked.min_support)]
    kept = sorted(large, key=lambda one: -one.n)[:_MOST_CURVES]
    left_out = [one.value for one in column.groups if one not in kept]
    rows = quietly(
        curve,
        Asking(counted, asked, counted.cells).without(column.number, left_out).cells,
        TRUTH,
        SCORE,
        by=by,
        metrics=[one.metric for one in rates.errors],
        thresholds=list(thresholds),
        interval=True,
        level=asked.level,
        **_options(asking),
    )
    starts = range(0, len(rows) + 1, len(thresholds))
    groups = [_curve_of(rows[start:end], by, rates) for start, end in pairwise(starts)]
    return Curves(column.number, [spread.threshold(one) for one in thresholds], groups)


def _curve_of(rows: Sequence[Row], by: str, rates: Rates) -> CurveOf:
    found = {rate: [_estimate(row, rate.metric, row["n"]) for row in rows] for rate in rates.errors}
    return CurveOf(rows[0][by], found)
