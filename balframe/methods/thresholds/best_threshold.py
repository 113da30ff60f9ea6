"""The method `best_threshold`."""

from typing import Unpack

import numpy as np

from balframe._validate import check_min_support
from balframe.api.columns import (
    METRIC_KEY,
    NOTE,
    SEGMENT_KEYS,
    Span,
    count,
    details,
    estimate,
    note,
    score,
    threshold_or_bound,
)
from balframe.api.method import Method
from balframe.api.metric_selection import MetricSelection, SingleMetric
from balframe.api.options import (
    DEFAULT_MIN_SUPPORT,
    ClassWeightOptions,
    DetailOptions,
    Names,
    ScoreMethodOptions,
)
from balframe.api.run import Columns, run_method
from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.operating_points import OperatingPoints
from balframe.core.ranking import Ranking
from balframe.core.safe_divide import ratio
from balframe.core.score_ties import Ties
from balframe.core.two_labels import NEGATIVE, POSITIVE
from balframe.frames.adapter import FrameT, Name
from balframe.frames.query import InputSpec, N
from balframe.frames.scores import ScoredFrame
from balframe.frames.sources import score_source
from balframe.frames.thresholds import ThresholdsOption
from balframe.methods.thresholds.curve import effective_class_sizes, score_points, two_class_weights
from balframe.methods.thresholds.optimum import Optimum, find_optimum, points_at_threshold
from balframe.metrics.definitions.ranking import roc_auc
from balframe.metrics.registry import Metric
from balframe.stats.lazy_scipy import special

METHOD = Method.of(
    *SEGMENT_KEYS,
    METRIC_KEY,
    threshold_or_bound("threshold", identifies=True),
    threshold_or_bound("midpoint"),
    threshold_or_bound("common_threshold"),
    estimate("estimate", identifies=True, span=Span.METRIC),
    count(N),
    note(NOTE),
    *details(
        score("recall"),
        score("specificity"),
        threshold_or_bound("plateau_lower"),
        estimate("common_estimate"),
        estimate("gain"),
        estimate("chance_maximum"),
        estimate("roc_auc", span=Span.UNIT),
    ),
    hints={
        "cluster": "best_threshold has no limits that clusters would change. For the area under "
        "the ROC curve of rows in clusters, call ranking.",
    },
)


_DEFAULT = "balanced_accuracy"
_NOTES = ("too few rows of a class", "undefined at every threshold")


class _Options(ClassWeightOptions, ScoreMethodOptions, DetailOptions, total=False): ...


@METHOD
def best_threshold(
    frame: FrameT,
    y_true: Name,
    y_score: Names,
    *,
    by: Names = None,
    metrics: SingleMetric = _DEFAULT,
    thresholds: ThresholdsOption = None,
    min_support: int = DEFAULT_MIN_SUPPORT,
    **options: Unpack[_Options],
) -> FrameT:
    """Return one row per segment with its best threshold, and the best common threshold.

    The score at the best threshold is optimistic, because the threshold is chosen on the same rows:
    on new rows, the score is lower on average. The column `chance_maximum` shows how high the score
    can get by chance alone. For the same reason, no confidence interval is given.

    Parameters
    ----------
    metrics : metric name, default "balanced_accuracy"
        Name or alias of the one metric to optimise. It must have a direction: higher or lower is
        better.
    thresholds : "all", int, list of float, ("quantiles", int) or None, default None
        Thresholds to choose from, as in `curve`. By default, as with "all", these are every
        distinct score of a segment, and infinity.
    min_support : int, default 10
        Minimum number of rows of the rarer class. A segment with fewer has no threshold of its own,
        and without that many in all segments together, there is no common threshold.

    Returns
    -------
    frame of the same library
        One row for each segment and [model], in this order. Columns in brackets are present only
        if the options ask for them:

        - the by-columns, [`grouped_by`: the columns that define the segment], [`model`]
        - `metric`: its name; `threshold`: the best threshold. It is infinite if it is best to
          predict no row as positive. It is null if the metric is undefined at every threshold, or
          `min_support` is not reached; `note` has the reason. If several thresholds are best, the
          highest is returned. For balanced accuracy and its transforms, the one with the smallest
          difference between recall and specificity is preferred. With weights, rounding may break
          the tie.
        - `midpoint`: halfway between `threshold` and the next lower score. Deploy this threshold.
        - `common_threshold`: the best threshold for all segments together
        - `estimate`: score of the segment at its own threshold
        - `n`: number of rows; `note`: why the threshold is null; null if it is not

        With `detail`, also:

        - `recall`, `specificity`: of the segment at its own threshold
        - `plateau_lower`: the next lower score, or on a grid the lowest threshold that the same
          rows reach; minus infinity if all rows reach `threshold`. All thresholds above
          `plateau_lower` and up to `threshold` give the same predictions on these rows.
        - `common_estimate`: the score of the segment at the common threshold
        - `gain`: how much better the segment scores at its own threshold than at the best threshold
          for all segments together, on the rows used to choose it. It is never below 0 by
          construction. Use new rows to show that a gain is real.
        - `chance_maximum`: the 95% quantile of `estimate` if scores did not depend on the label. An
          optimum at or below it is no evidence of signal. Null for metrics other than balanced
          accuracy and its transforms.
        - `roc_auc`: area under the ROC curve of the scores, or on a grid, of the thresholds that
          they reach

    References
    ----------
    W. J. Youden, "Index for rating diagnostic tests", Cancer 1950.

    The chance maximum is 1/2 + 1/2 min(1, c sqrt(1/P + 1/N)). P and N are the numbers of positive
    and negative rows (with weights, Kish's effective sample sizes). c is sqrt(log(20)/2) = 1.224,
    the 95% quantile of the one-sided Kolmogorov-Smirnov statistic: N. V. Smirnov, Uspekhi
    Matematicheskikh Nauk 1944; Z. W. Birnbaum and F. H. Tingey, Annals of Mathematical Statistics
    1951. With up to 7 distinct scores, Bonferroni's inequality gives a smaller c: half the normal
    quantile of 1 - 0.05/h, where h is the number of distinct scores less 1. For a single score c
    is 0.

    Examples
    --------
    >>> import polars as pl
    >>> import balframe as bf
    >>> rows = {"y": [0, 0, 1, 0, 1] * 5, "score": [0.1, 0.3, 0.4, 0.6, 0.8] * 5}
    >>> df = pl.DataFrame(rows)
    >>> print(bf.best_threshold(df, "y", "score"))
    shape: (1, 7)
    ┌───────────────────┬───────────┬──────────┬──────────────────┬──────────┬─────┬──────┐
    │ metric            ┆ threshold ┆ midpoint ┆ common_threshold ┆ estimate ┆ n   ┆ note │
    │ ---               ┆ ---       ┆ ---      ┆ ---              ┆ ---      ┆ --- ┆ ---  │
    │ str               ┆ f64       ┆ f64      ┆ f64              ┆ f64      ┆ i64 ┆ str  │
    ╞═══════════════════╪═══════════╪══════════╪══════════════════╪══════════╪═════╪══════╡
    │ balanced_accuracy ┆ 0.4       ┆ 0.35     ┆ 0.4              ┆ 0.833333 ┆ 25  ┆ null │
    └───────────────────┴───────────┴──────────┴──────────────────┴──────────┴─────┴──────┘
    """
    selection = MetricSelection.of(metrics, options["class_weight"], (_DEFAULT,))
    name, _ = selection.single("best_threshold", "threshold is best")
    check_min_support(min_support)

    def compute(scored: ScoredFrame) -> Columns:
        counted_frame, n_segments = scored.counted_frame, scored.ties.n_segments
        columns, notes = best_thresholds(scored, selection, name, min_support)
        return (
            counted_frame.by_columns(np.arange(n_segments))
            | {"n": scored.operating_points().totals().n}
            | {"metric": counted_frame.text_column([name], np.zeros(n_segments, np.int64))}
            | {NOTE: counted_frame.text_column(_NOTES, notes)}
            | columns
        )

    return run_method(
        frame,
        METHOD,
        {"y_true": y_true, "y_score": y_score, "by": by, **options},
        compute,
        input_spec=InputSpec(scores=True, coarsening_option="thresholds"),
        source=score_source(thresholds),
        check_labels=lambda scored: two_class_weights(selection, scored),
    )


# The best threshold of each segment, and that of all segments together


_CLASS_RECALLS = ("recall", "specificity")


def best_thresholds(
    scored: ScoredFrame, selection: MetricSelection, name: str, min_support: int
) -> tuple[dict[Name, FloatArray], Int64Array]:
    """Return the best thresholds, with their scores, and the position of each segment's note."""
    metric = selection.metrics[name]
    points = scored.operating_points()
    values = score_points(selection, scored, points, None).scores[name]
    best = find_optimum(points, metric, values, scored.ties.n_segments)
    is_small = _rows_of_rarer_class(points) < min_support
    notes: Int64Array = np.where(is_small, 0, np.where(best.point < 0, 1, len(_NOTES)))
    best = Optimum(np.where(is_small, -1, best.point))
    has_none = best.point < 0
    at_best = points.one_each(np.where(has_none, points.first, best.point + points.shift))
    recall_selection = MetricSelection.of(list(_CLASS_RECALLS), None, ())
    recalls = score_points(recall_selection, scored, at_best, None).scores
    common = _common_threshold(scored, selection, name, min_support)
    common_estimate = points_at_threshold(points, common).take(values)
    threshold, lower = best.take(points.threshold), _plateau_lower(scored, points, best)
    sign = 1 if metric.better == "higher" else -1
    columns: dict[Name, FloatArray] = {
        "threshold": threshold,
        "plateau_lower": lower,
        "midpoint": _midpoint(threshold, lower),
        "estimate": best.take(values),
        **{recall: np.where(has_none, np.nan, recalls[recall]) for recall in _CLASS_RECALLS},
        "common_threshold": common,
        "common_estimate": common_estimate,
        "gain": np.maximum(sign * (best.take(values) - common_estimate), 0),
        "chance_maximum": np.where(has_none, np.nan, _chance_maximum(scored, points, metric)),
        "roc_auc": roc_auc(Ranking.of(scored.ties)),
    }
    return columns, notes


def _rows_of_rarer_class(points: OperatingPoints) -> Int64Array:
    """Return the number of rows of the rarer class of each segment, 0 if it is absent."""
    totals = points.totals()
    rows = totals.n_support
    smaller: Int64Array = np.minimum(rows[totals.label == POSITIVE], rows[totals.label == NEGATIVE])
    return smaller


def _plateau_lower(scored: ScoredFrame, points: OperatingPoints, best: Optimum) -> FloatArray:
    """Return the lower end of the plateau, minus infinity if all rows reach the best point.

    It is the next lower score, or the lowest threshold of a grid that the same rows reach.
    """
    if not len(points):
        return np.full(len(best.point), np.nan)
    rows = points.counts(0, slice(None))
    n_reaching = rows.tp + rows.fp
    n_segments = len(best.point)
    n_at_best = n_reaching[np.maximum(best.point, 0)]
    has_more = n_reaching > n_at_best[points.segment]
    n_lower_points = np.bincount(points.segment[has_more], minlength=n_segments)
    n_points = np.bincount(points.segment, minlength=n_segments)
    lowest = np.cumsum(n_points) - n_points + n_lower_points
    end = np.maximum(lowest - 1, 0) if scored.thresholds.is_exact else lowest
    lower = points.threshold[np.minimum(end, len(points) - 1)]
    lower = np.where(n_at_best == rows.total[np.maximum(best.point, 0)], -np.inf, lower)
    return np.where(best.point < 0, np.nan, lower)


def _midpoint(threshold: FloatArray, lower: FloatArray) -> FloatArray:
    """Return the middle of a plateau, or its threshold if it has no lower end."""
    finite = np.where(np.isneginf(lower), threshold, lower)
    middle = threshold / 2 + finite / 2
    return np.where((finite < middle) & (middle < threshold), middle, threshold)


def _common_threshold(
    scored: ScoredFrame, selection: MetricSelection, name: str, min_support: int
) -> FloatArray:
    """Return, for each segment, the best threshold of all segments of its model together."""
    ties, model = scored.ties_by_model()
    overall = ScoredFrame(scored.counted_frame, ties, scored.thresholds)
    points = overall.operating_points()
    values = score_points(selection, overall, points, None).scores[name]
    best = find_optimum(points, selection.metrics[name], values, ties.n_segments)
    is_small = _rows_of_rarer_class(points) < min_support
    return np.where(is_small, np.nan, best.take(points.threshold))[model]


# The best score by chance, of scores that ignore the label


def _chance_maximum(scored: ScoredFrame, points: OperatingPoints, metric: Metric) -> FloatArray:
    """Return a bound of the best score by chance, which about 5% of samples exceed."""
    positives, negatives = effective_class_sizes(points)
    if not metric.interval.rises_with_both_recalls:
        return np.full(len(positives), np.nan)
    highest = highest_chance_accuracy(positives, negatives, _n_cuts(scored.ties), 0.95)
    return metric.interval.rescaled(points.totals(), highest)


def _n_cuts(ties: Ties) -> Int64Array:
    """Return the number of thresholds of each segment with scores on both sides."""
    weights = (ties.positive.weight, ties.negative.weight)
    weight_columns = [weight for weight in weights if weight is not None]
    is_used = (
        np.add(*weight_columns) > 0 if weight_columns else np.ones(len(ties.segment), np.bool_)
    )
    n_scores = np.bincount(ties.segment[is_used], minlength=ties.n_segments)
    return np.maximum(n_scores - 1, 0)


def highest_chance_accuracy(
    positives: FloatArray, negatives: FloatArray, n_cuts: Int64Array, level: float
) -> FloatArray:
    """Return a bound of the highest balanced accuracy, over all thresholds, of such scores.

    1/2 + 1/2 min(1, c sqrt(1/P + 1/N)). With a tail of 1 - level, c is the smaller of two values.
    One is sqrt(-log(tail) / 2), from the distribution of the one-sided Kolmogorov-Smirnov
    statistic. The other is half the normal quantile of 1 - tail / n_cuts, by Bonferroni's
    inequality, since the standard deviation at one cut is at most half the root.

    Parameters
    ----------
    positives, negatives : float arrays, shape (segments,)
        Rows of each class; with weights, effective rows.
    n_cuts : int64 array, shape (segments,)
        Thresholds with scores on both sides: the number of distinct scores less 1.
    level : float
        Probability of a maximum at or below the bound, such as 0.95.

    Returns
    -------
    float array, shape (segments,)
        1/2 without a cut; NaN if a class has no rows.

    References
    ----------
    N. V. Smirnov, "Approximate laws of distribution of random variables from empirical data",
    Uspekhi Matematicheskikh Nauk 1944. Z. W. Birnbaum and F. H. Tingey, "One-sided confidence
    contours for probability distribution functions", Annals of Mathematical Statistics 1951.
    """
    tail = 1 - level
    smirnov = np.sqrt(-np.log(tail) / 2)
    bonferroni = -special.ndtri(tail / np.maximum(n_cuts, 1)) / 2
    c = np.where(n_cuts > 0, np.minimum(smirnov, bonferroni), 0)
    ones = np.ones(len(positives))
    spread = np.sqrt(ratio(ones, positives) + ratio(ones, negatives))
    return np.asarray(0.5 + 0.5 * np.minimum(c * spread, 1))
