"""The figures on thresholds: the one in use, others, the best, and the errors at all of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from balframe.audit_page.groups import ColumnFigures
from balframe.audit_page.numbers import UNDEFINED, Estimate
from balframe.audit_page.queries import Row, by_name, leave_out
from balframe.audit_page.rates import BALANCED, Rate
from balframe.audit_page.results import Audit, ModelFigures
from balframe.audit_page.scores import NEVER, ScoreCounts, Threshold
from balframe.methods.thresholds.best_threshold import best_threshold
from balframe.methods.thresholds.curve import curve
from balframe.methods.thresholds.ranking import ranking

_MAX_POINTS, _QUANTILES = 12, 11
_MAX_CURVE_POINTS, _MAX_CURVES = 100, 6


class InUse(NamedTuple):
    """The threshold that gives the predictions of a model; None where no score does.

    `reason`: it is a score; everybody or nobody is selected; it lies between two rounded scores; or
    no threshold gives the predictions.
    """

    threshold: float | None
    reason: Literal["score", "everybody", "nobody", "rounded", "no threshold"]
    between: tuple[float, float] | None = None


class Point(NamedTuple):
    """What a threshold gives: how many rows reach it, its errors and its balanced accuracy."""

    threshold: Threshold
    n_predicted: int
    rates: Mapping[Rate, Estimate]


class Best(NamedTuple):
    """The threshold with the highest balanced accuracy, whose limits hold at all thresholds.

    `by_chance` is what scores without information exceed in 5% of such data.
    """

    threshold: Threshold
    balanced: Estimate
    by_chance: float | None


class Curve(NamedTuple):
    """The errors of a group at each threshold."""

    value: Any
    rates: Mapping[Rate, Sequence[Estimate]]


class Curves(NamedTuple):
    """The errors of the largest groups of a by-column; the last threshold is never reached."""

    column: ColumnFigures
    thresholds: Sequence[Threshold]
    groups: Sequence[Curve]


@dataclass(frozen=True, slots=True)
class ThresholdFigures:
    """The figures on the thresholds of a score; `area` is the area under the ROC curve."""

    area: Estimate
    in_use: InUse
    points: Sequence[Point]
    best: Best | None
    curves: Curves | None


def figures(audit: Audit) -> list[ThresholdFigures | None]:
    """Measure the thresholds of each model that has scores of one of two labels."""
    return [
        None if model.scores is None else _measure(model, model.scores) for model in audit.models
    ]


def _measure(model: ModelFigures, scores: ScoreCounts) -> ThresholdFigures:
    cells, level = model.cells, model.cells.request.level
    used = threshold_in_use(scores)
    has_several = len(scores.scores) > 1
    best, by_chance = None, None
    if has_several:
        (row,) = cells.query_scores(best_threshold, min_support=cells.request.min_support)
        best, by_chance = row["threshold"], row["chance_maximum"]
    rows = cells.query_scores(
        curve,
        metrics=[*(rate.metric for rate in model.rates.errors), BALANCED],
        thresholds=scores.choose(_MAX_POINTS, _QUANTILES, used.threshold, best),
        interval=True,
        band=True,
        level=level,
    )
    (area,) = cells.query_scores(ranking, level=level)
    best_figures = None
    if best is not None:
        row = next(row for row in rows if row["threshold"] == best)
        balanced = Estimate.from_row(row, BALANCED, limits=f"{BALANCED}_band_", n=None)
        best_figures = Best(scores.threshold(best), balanced, by_chance)
    points = [_point(row, model, scores) for row in rows]
    curves = None
    if model.request.suppress is not None:
        points = withhold_points(points, model.rates.errors, used.threshold, model.request.suppress)
        if best_figures is not None and best_figures.threshold not in [
            point.threshold for point in points
        ]:
            best_figures = None
    elif has_several:
        curves = _curves(model, scores, used.threshold, best)
    return ThresholdFigures(Estimate.from_row(area, "roc_auc"), used, points, best_figures, curves)


def withhold_points(
    points: Sequence[Point], errors: Sequence[Rate], in_use: float | None, least: int
) -> list[Point]:
    """Leave out thresholds between which fewer rows of an outcome lie than a page may show.

    The one in use is kept, whose errors are those of the predictions, and those that select
    nobody or everybody.
    """
    counts = [
        [round((point.rates[rate].value or 0.0) * point.rates[rate].n) for rate in errors]
        for point in points
    ]
    kept = {
        i
        for i, point in enumerate(points)
        if point.threshold.value == in_use
        or all(n in (0, point.rates[rate].n) for n, rate in zip(counts[i], errors, strict=True))
    }
    for i, own in enumerate(counts):
        far = all(
            abs(n - other) >= least for k in kept for n, other in zip(own, counts[k], strict=True)
        )
        kept |= {i} if far else set()
    return [points[i] for i in sorted(kept)]


def threshold_in_use(scores: ScoreCounts) -> InUse:
    """Return the threshold that gives the predictions."""
    rows = list(zip(scores.scores, scores.n_predicted, scores.n, strict=True))
    selected = [score for score, n_predicted, _ in rows if n_predicted]
    others = [score for score, n_predicted, n in rows if n > n_predicted]
    if not selected:
        return InUse(None, "nobody")
    lowest = min(selected)
    if not others:
        return InUse(lowest, "everybody")
    if max(others) < lowest:
        return InUse(lowest, "score")
    if scores.step is not None and max(others) == lowest:
        n_steps = round(lowest / scores.step) + 1
        return InUse(None, "rounded", (lowest, float(f"{n_steps * scores.step:.12g}")))
    return InUse(None, "no threshold")


def _point(row: Row, model: ModelFigures, scores: ScoreCounts) -> Point:
    """Read a row of a curve; a mean over both outcomes needs both.

    What is true of every row by definition has no limits.
    """
    n_positive = model.cells.n_true[model.positive]
    n_negative = model.overall.n - n_positive
    false_positives, false_negatives = model.rates.errors
    n_rarest = min(n_positive, n_negative)
    balanced = Estimate.from_row(row, BALANCED, n=None) if n_rarest else UNDEFINED
    rates = {
        false_positives: Estimate.from_row(row, false_positives.metric)._replace(n=n_negative),
        false_negatives: Estimate.from_row(row, false_negatives.metric)._replace(n=n_positive),
        model.rates.by_metric(BALANCED): balanced._replace(n=n_rarest),
    }
    if row["threshold"] == NEVER:
        rates = {
            rate: estimate._replace(lower=None, upper=None) for rate, estimate in rates.items()
        }
    return Point(scores.threshold(row["threshold"]), row["predicted_positive"], rates)


def _curves(model: ModelFigures, scores: ScoreCounts, *always: float | None) -> Curves | None:
    """Measure the errors of the largest groups of a column at many thresholds."""
    errors, cells = model.rates.errors, model.cells
    column = furthest_column(model.columns, errors[0])
    if column is None:
        return None
    thresholds = scores.choose(_MAX_CURVE_POINTS, _MAX_CURVE_POINTS, *always)
    by = by_name(column.number)
    largest = sorted(column.compared(errors[0]), key=lambda group: -group.n)[:_MAX_CURVES]
    others = [group.value for group in column.groups if group not in largest]
    rows = cells.query_scores(
        curve,
        leave_out(cells.scores_of(column.number), column.number, others),
        by=by,
        metrics=[rate.metric for rate in errors],
        thresholds=thresholds,
        interval=True,
        level=cells.request.level,
    )
    groups = [
        Curve(
            own[0][by],
            {rate: [Estimate.from_row(row, rate.metric) for row in own] for rate in errors},
        )
        for own in (rows[i : i + len(thresholds)] for i in range(0, len(rows), len(thresholds)))
    ]
    return Curves(column, [scores.threshold(value) for value in thresholds], groups)


def furthest_column(columns: Sequence[ColumnFigures], rate: Rate) -> ColumnFigures | None:
    """Return the column whose groups are furthest apart in a rate."""
    distances = [(column.extremes(rate).distance.value, column) for column in columns]
    compared = [(distance, column) for distance, column in distances if distance is not None]
    return max(compared, key=lambda pair: pair[0])[1] if compared else None
