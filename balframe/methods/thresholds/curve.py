"""The method `curve`."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Unpack

import numpy as np

from balframe._validate import check_choice
from balframe.api.columns import METRIC, SEGMENT_KEYS, Kind, count, key, limits, score
from balframe.api.interval_estimates import metric_limits
from balframe.api.method import Method
from balframe.api.metric_selection import Metrics, MetricSelection, metric_values
from balframe.api.options import (
    ClassWeightOptions,
    IntervalOptions,
    Names,
    ScoreMethodOptions,
    metrics_option,
)
from balframe.api.run import Columns, run_method
from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.counting_strategy import blocks
from balframe.core.label_set import Label
from balframe.core.operating_points import OperatingPoints
from balframe.core.safe_divide import ratio
from balframe.core.sample import Sample
from balframe.core.thinning import thin_line
from balframe.core.threads import run_on_all_cores
from balframe.core.two_labels import NEGATIVE, POSITIVE
from balframe.errors import OPTION, InvalidInputError
from balframe.frames.adapter import FrameT, Name
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.query import InputSpec
from balframe.frames.scores import ScoredFrame
from balframe.frames.sources import score_source
from balframe.frames.thresholds import ThresholdsOption
from balframe.methods.scores import layouts
from balframe.methods.thresholds.optimum import find_optimum
from balframe.metrics.lookup import find_metric
from balframe.metrics.parametric import metric_of_point
from balframe.stats.base import IntervalRequest
from balframe.stats.effective_sample_size import kish_effective_size
from balframe.stats.lazy_scipy import special
from balframe.stats.proportions import Limits

_DEFAULT_METRICS = ("accuracy", "balanced_accuracy", "recall", "specificity")
_BALANCED = "balanced_accuracy"
_BAND_COLUMNS = limits(f"{_BALANCED}_band", "band")

METHOD = Method.of(
    *SEGMENT_KEYS,
    key("threshold", kind=Kind.FLOAT, identifies=True),
    count("n"),
    count("predicted_positive", identifies=True),
    score(METRIC),
    *limits(METRIC, "interval"),
    *_BAND_COLUMNS,
    hints={
        "cluster": "limits along a curve need independent rows. For the area under the ROC curve "
        "of rows in clusters, call ranking.",
    },
    described={"metrics": metrics_option(_DEFAULT_METRICS)},
)


class _Options(IntervalOptions, ClassWeightOptions, ScoreMethodOptions, total=False): ...


@METHOD
def curve(
    frame: FrameT,
    y_true: Name,
    y_score: Names,
    *,
    by: Names = None,
    metrics: Metrics = None,
    thresholds: ThresholdsOption = None,
    band: bool = False,
    **options: Unpack[_Options],
) -> FrameT:
    """Return one row per segment and threshold with the scores at this operating point.

    A row is predicted positive if its score reaches the threshold: `score >= threshold`. Some
    texts use `score > threshold`, which gives the same operating points, each at the next lower
    score. A row of weight 0 still counts in `n`, and its score is still a threshold.

    Parameters
    ----------
    thresholds : "all", int, list of float, ("quantiles", int) or None, default None
        The thresholds; by default at most 1,000 of the distinct scores of each segment and model.
        The notes below describe the choice. "all" gives every distinct score of a segment, and
        infinity, which no row reaches. A number n gives the grid 0, 1/(n-1), ..., 1, for scores in
        [0, 1]. A list gives the thresholds themselves. ("quantiles", n) gives n quantiles of all
        scores together, from the lowest score to the highest. On a lazy or distributed frame, "all"
        and the default collect one row per distinct score; choose a grid if these are many.
        Quantiles read the data twice, the first time when the method is called, even on a lazy
        frame.
    interval : True or name of a method, optional
        Add pointwise confidence intervals, each for its threshold alone. True uses the default
        method of each metric; the named methods are those of `report`.
    band : bool, default False
        Add a simultaneous confidence band for the balanced accuracy over all thresholds of a
        segment.

    Returns
    -------
    frame of the same library
        One row for each segment, [model] and threshold, in this order, thresholds ascending.
        Columns in brackets are present only if the options ask for them:

        - the by-columns, [`grouped_by`: the columns that define the segment], [`model`],
          `threshold`
        - `n`: number of rows of the segment; `predicted_positive`: number of rows whose score
          reaches the threshold
        - one column per metric, null where undefined; with `interval`, followed by its confidence
          interval, `<metric>_lower` and `<metric>_upper`
        - with `band`, `balanced_accuracy_band_lower` and `balanced_accuracy_band_upper`

    Notes
    -----
    By default, a segment with at most 1,000 operating points has them all. Of a longer curve, at
    most 1,000 are kept, each with the values that it has in the whole curve:

    - the first and the last point, and the best point of each metric and of balanced accuracy,
      which `best_threshold` returns
    - the vertices of the ROC convex hull. So the best score at any costs of the two errors is also
      the best score of the kept points. If there are too many, those that add most to the area of
      the hull are kept.
    - points spread evenly along the ROC curve. Its length is the sum of its steps in false positive
      rate and recall.

    The metric "net_benefit", without a number in its name, is the net benefit at the threshold of
    each row: that of acting on the rows whose probability reaches it, for someone who finds acting
    worthwhile from that probability on. It is null at thresholds below 0, and at 1 or above.

    References
    ----------
    T. Fawcett, "An introduction to ROC analysis", Pattern Recognition Letters 2006. The width of
    the band is that of the two-sample Kolmogorov-Smirnov statistic.

    Examples
    --------
    >>> import polars as pl
    >>> import balframe as bf
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.4, 0.4, 0.8]})
    >>> names = ["recall", "specificity", "balanced_accuracy"]
    >>> for row in bf.curve(df, "y", "score", metrics=names).drop("n").rows():
    ...     print(row)
    (0.1, 4, 1.0, 0.0, 0.5)
    (0.4, 3, 1.0, 0.5, 0.75)
    (0.8, 1, 0.5, 1.0, 0.75)
    (inf, 0, 0.0, 1.0, 0.5)
    """
    selection = MetricSelection.of(
        metrics, options["class_weight"], _DEFAULT_METRICS, of_points=True
    )
    request = IntervalRequest.of(options["interval"], options["level"])
    check_choice("band", band, (False, True))
    options_with_columns = {"interval": request is not None, "band": band}

    def compute(scored: ScoredFrame) -> Columns:
        points = scored.operating_points()
        if thresholds is None:
            points = _thin(selection, scored, points)
        columns = scored.counted_frame.by_columns(points.segment)
        columns["threshold"] = points.threshold
        columns["n"] = points.totals().n[points.segment]
        at_points = score_points(selection, scored, points, request)
        columns["predicted_positive"] = at_points.predicted_positive
        columns |= layouts.wide_columns(at_points.scores, at_points.limits)
        if band:
            scores = at_points.scores
            if _BALANCED not in scores:
                scores = score_points(
                    MetricSelection.of(_BALANCED, None, ()), scored, points, None
                ).scores
            half = band_half_width(points, options["level"])[points.segment]
            estimate = scores[_BALANCED]
            band_limits = np.maximum(estimate - half, 0), np.minimum(estimate + half, 1)
            for column, limit in zip(_BAND_COLUMNS, band_limits, strict=True):
                columns[column.name] = limit
        return columns

    return run_method(
        frame,
        METHOD,
        {"y_true": y_true, "y_score": y_score, "by": by, **options},
        compute,
        metrics=list(selection.metrics),
        optional_columns=[option for option, is_on in options_with_columns.items() if is_on],
        input_spec=InputSpec(scores=True, coarsening_option="thresholds"),
        source=score_source(thresholds),
        check_labels=lambda scored: two_class_weights(selection, scored),
    )


# At most 1,000 operating points a segment


_MAX_POINTS = 1_000


def _thin(
    selection: MetricSelection, scored: ScoredFrame, points: OperatingPoints
) -> OperatingPoints:
    """Keep some points of segments with more than the maximum, and all points of the others.

    The best point of each metric is kept, and so is that of balanced accuracy.
    """
    n_points = np.bincount(points.segment, minlength=scored.ties.n_segments)
    is_long = n_points > _MAX_POINTS
    if not is_long.any():
        return points
    long_points = points
    if not is_long.all():
        long_points = points.select(np.flatnonzero(is_long[points.segment]))
    best = _best_points(selection, scored, long_points)
    c = long_points.counts(1, slice(None))
    is_kept = ~is_long[points.segment]
    long_segments = np.flatnonzero(is_long)
    first = np.cumsum(n_points) - n_points
    starts = np.cumsum(n_points[long_segments]) - n_points[long_segments]
    for segment, start in zip(long_segments.tolist(), starts.tolist(), strict=True):
        line = slice(start, start + n_points[segment])
        required = np.array([at[segment] - start for at in best if at[segment] >= 0], np.int64)
        kept = thin_line(c.fp[line], c.tp[line], required, _MAX_POINTS)
        is_kept[first[segment] + kept] = True
    return points.select(np.flatnonzero(is_kept))


def _best_points(
    selection: MetricSelection, scored: ScoredFrame, points: OperatingPoints
) -> list[Int64Array]:
    """Return the best point of each segment, -1 for none: by balanced accuracy, and by each metric.

    Metrics without a direction have no best point.
    """
    of_counts = find_metric(_BALANCED)
    metrics = {
        name: metric
        for name, metric in selection.metrics.items()
        if metric.better is not None and not metric.interval.rises_with_both_recalls
    }
    scores = score_points(replace(selection, metrics=metrics), scored, points, None).scores
    values = [(of_counts, np.zeros(0)), *((metrics[name], scores[name]) for name in metrics)]
    n_segments = scored.ties.n_segments
    return [find_optimum(points, metric, score, n_segments).point for metric, score in values]


_BLOCK_SIZE = 65_536  # operating points at once, so that intermediate arrays stay in the cache


@dataclass(frozen=True, slots=True)
class PointScores:
    """Number predicted positive, scores and limits of every operating point."""

    predicted_positive: Int64Array
    scores: Mapping[str, FloatArray]
    limits: Mapping[str, Limits]


def two_class_weights(selection: MetricSelection, scored: ScoredFrame) -> FloatArray | str | None:
    """Return the class weights of the negative and the positive label, in this order."""
    weights, labels = selection.class_weight, scored.counted_frame.labels
    if not isinstance(weights, Mapping):
        return weights
    if len(labels) > 2:
        raise InvalidInputError(
            "{class_weight} has weights for single labels, but here all labels other than the "
            'positive one count as negative, and there are {}: {}. Omit it, or give "balanced" or '
            '"prevalence".',
            len(labels),
            labels,
            class_weight=OPTION,
        )
    out = np.zeros(2)
    for code, weight in enumerate(labels.weights(weights)):
        out[POSITIVE if code == scored.counted_frame.pos_label_code() else NEGATIVE] = weight
    return out


def _negative_and_positive(counted_frame: CountedFrame) -> tuple[Label, Label] | None:
    """Return the negative and the positive label; None unless there are two labels."""
    labels, positive = counted_frame.labels.values, counted_frame.pos_label_code()
    if len(labels) != 2 or positive not in (0, 1):
        return None
    return labels[1 - positive], labels[positive]


def score_points(
    selection: MetricSelection,
    scored: ScoredFrame,
    points: OperatingPoints,
    request: IntervalRequest | None,
) -> PointScores:
    """Compute the metrics of every operating point and, with a request, their limits."""
    weights = two_class_weights(selection, scored)
    labels = _negative_and_positive(scored.counted_frame)
    names = list(selection.metrics)
    predicted_positive = np.empty(len(points), np.int64)
    scores = {name: np.empty(len(points)) for name in names}
    with_limits = [] if request is None else names
    limits = {name: (np.empty(len(points)), np.empty(len(points))) for name in with_limits}

    def work(block: slice) -> None:
        c = replace(points.class_counts(block, weights), labels=labels)
        predicted_positive[block] = c.n_predicted[c.label == POSITIVE]
        metrics = {
            name: metric_of_point(metric.name, points.threshold[block]) or metric
            for name, metric in selection.metrics.items()
        }
        block_scores = {name: metric_values(metric, c) for name, metric in metrics.items()}
        for name, values in block_scores.items():
            scores[name][block] = values
        if request is not None:
            sample = Sample(c, partial(points.cells, block))
            for name, metric in metrics.items():
                lower, upper = metric_limits(metric, sample, block_scores[name], request)
                limits[name][0][block], limits[name][1][block] = lower, upper

    run_on_all_cores(work, blocks(slice(0, len(points)), _BLOCK_SIZE))
    return PointScores(predicted_positive, scores, limits)


def effective_class_sizes(points: OperatingPoints) -> tuple[FloatArray, FloatArray]:
    """Return the numbers of positives and negatives, with weights the effective numbers."""
    positives, negatives = (kish_effective_size(n, n_sq) for n, n_sq in points.class_weight_sums())
    return positives, negatives


def band_half_width(points: OperatingPoints, level: float) -> FloatArray:
    """Return half the width of the simultaneous band of balanced accuracy of each segment.

    Half of c sqrt(1/P + 1/N), c the quantile of the Kolmogorov distribution: 1.358 at 95%.
    """
    positives, negatives = effective_class_sizes(points)
    ones = np.ones(len(positives))
    spread = np.sqrt(ratio(ones, positives) + ratio(ones, negatives))
    return np.asarray(0.5 * special.kolmogi(1 - level) * spread)
