"""The verb `best_threshold`."""

from collections.abc import Iterable, Sequence

import numpy as np

from balframe.analyses.at_operating_points import at_points, effective_sides
from balframe.analyses.optimum import Optimum, optimum, point_at
from balframe.analyses.scoring import ClassWeight, Scoring
from balframe.core.arrays import FloatArray
from balframe.core.division import ratio
from balframe.core.labels import Label
from balframe.core.operating_points import OperatingPoints
from balframe.errors import InvalidInputError
from balframe.frames.library import FrameT, Name
from balframe.frames.query import MAX_CELLS, Options, Query
from balframe.frames.scores import Scored
from balframe.frames.source import Scores
from balframe.frames.thresholds import Thresholds, ThresholdsOption
from balframe.metrics.registry import Metric
from balframe.metrics.units.rankings import Ranking
from balframe.verbs.answer import Backend, Columns, Margins, Missing, Names, answer

_SIDES = ("recall", "specificity")
_FOUND = (
    *("threshold", "plateau_lower", "midpoint", "estimate", *_SIDES),
    *("common_threshold", "common_estimate", "gain", "chance_maximum", "roc_auc"),
)


def best_threshold(
    frame: FrameT,
    y_true: Name,
    y_score: Names,
    *,
    by: Names = None,
    metric: str = "balanced_accuracy",
    thresholds: ThresholdsOption = None,
    class_weight: ClassWeight | None = None,
    sample_weight: Name | None = None,
    counts: Name | None = None,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
    missing: Missing = "raise",
    margins: Margins = False,
    backend: Backend = None,
    max_cells: int = MAX_CELLS,
) -> FrameT:
    """Find the threshold at which each segment scores best, and what it gains over a common one.

    The best of many thresholds on the rows at hand is optimistic: on new rows it scores less. How
    much of it chance alone would give is in `chance_maximum`, and no limits are given at a
    threshold chosen by the same rows.

    Parameters
    ----------
    frame : pandas, polars or pyarrow frame, or one of Dask, PySpark, DuckDB, Ibis, SQLFrame
        The data; never changed. A polars LazyFrame gives a LazyFrame; the others compute at once.
    y_true : column name
        The true labels. All labels other than the positive one count as negative.
    y_score : column name or list of column names
        The scores, finite numbers that are higher for the positive label; a list looks at several
        models and adds a column `model`.
    by : column name or list of column names, optional
        The columns whose combinations are the segments; by default all rows are one segment.
    metric : str, default "balanced_accuracy"
        Name or alias of the metric to optimise.
    thresholds : int, list of float, ("quantiles", int) or None, default None
        The thresholds to choose from, as in `curve`; by default every score.
    class_weight : mapping of every label to its weight, "balanced" or "prevalence", optional
        How weighted_balanced_accuracy weighs the labels.
    sample_weight : column name, optional
        Weights of the rows, finite and not negative. `n` counts rows.
    counts : column name, optional
        How many identical rows each row stands for, whole numbers from 0.
    labels : list of labels, optional
        The labels that may occur; by default those that do.
    pos_label : label, optional
        The label that high scores stand for, with defaults as in `curve`.
    missing : {"raise", "drop"}
        What to do about nulls outside of `by`: raise, or leave those rows out. NaN counts as null.
    margins : {False, "overall", "all"}
        Add roll-ups: over the whole frame, or over every subset of the by-columns.
    backend : {"pandas", "polars", "pyarrow"}, optional
        The library of the answer; by default that of the frame, or the one that suits its engine.
    max_cells : int, default 50 million
        The most cells that a lazy or distributed frame may send; more raise.

    Returns
    -------
    frame of the same library
        One row for each segment and [model], in this order, with

        - the by-columns, [`margin`: the columns that make the segment], [`model`], `n`: rows
        - `metric`: its name; `threshold`: the best, null where the metric is nowhere defined or,
          for balanced accuracy and its images, a side has no row; infinite where it is best to call
          no row positive. Of several the highest; for balanced accuracy and its images first the
          one whose recall and specificity are closest. Under weights rounding may decide.
        - `plateau_lower`: the next lower score, or on a grid the lowest threshold that the same
          rows reach; minus infinity where all rows do. All thresholds above it and up to
          `threshold` are the same point on these rows; `midpoint` between the two is the one to
          deploy.
        - `estimate`, `recall`, `specificity`: of the segment at its threshold
        - `common_threshold`: the best of all segments together; `common_estimate`: of the segment
          there; `gain`: how much better its own threshold is
        - `chance_maximum`: about what the best would be if the scores did not depend on the label,
          for balanced accuracy and its images; null for other metrics
        - `roc_auc`: of the scores, or on a grid of the thresholds that they reach

    Raises
    ------
    BalframeError
        If a name, an option or a value cannot be used; the message says what to do.

    References
    ----------
    W. J. Youden, "Index for rating diagnostic tests", Cancer 1950. The chance maximum is the mean
    of the one-sided statistic of Kolmogorov and Smirnov: 1/2 + 1/2 sqrt(pi/8) sqrt(1/P + 1/N).

    Examples
    --------
    >>> import polars as pl
    >>> import balframe as bf
    >>> df = pl.DataFrame({"y": [0, 0, 1, 0, 1], "score": [0.1, 0.3, 0.4, 0.6, 0.8]})
    >>> out = bf.best_threshold(df, "y", "score")
    >>> out.select("threshold", "plateau_lower", "midpoint", "recall").row(0)
    (0.4, 0.3, 0.35, 1.0)
    """
    if not isinstance(metric, str):
        raise InvalidInputError(f"metric={metric!r} has to be the name of one metric.")
    scoring = Scoring.of([metric], class_weight, ())
    (chosen,) = scoring.metrics.values()
    if chosen.better is None:
        raise InvalidInputError(
            f"metric {metric!r} is not better when it is higher or lower, so no threshold is best."
        )
    both_sides = Scoring.of(list(_SIDES), None, ())

    def outputs(query: Query) -> Iterable[Name]:
        return (*query.by, "n", "metric", *_FOUND)

    def compute(scored: Scored) -> Columns:
        n_segments = scored.ties.n_segments
        points = scored.points()
        values = at_points(scoring, scored, points, None).scores[metric]
        best = optimum(points, chosen, values, n_segments)
        at_best = points.one_each(np.where(best.point < 0, points.first, best.point + points.shift))
        sides = at_points(both_sides, scored, at_best, None).scores
        recall, specificity = (np.where(best.point < 0, np.nan, sides[name]) for name in _SIDES)
        common = _common_threshold(scored, scoring, chosen, metric)
        common_estimate = point_at(points, common).of(values)
        common, common_estimate = (
            np.where(best.point < 0, np.nan, value) for value in (common, common_estimate)
        )
        threshold, lower = best.of(points.threshold), _plateau_lower(scored, points, best)
        sign = 1 if chosen.better == "higher" else -1
        columns = scored.reading.by_columns(np.arange(n_segments))
        columns["n"] = points.totals().n
        columns["metric"] = scored.reading.text_column([metric], np.zeros(n_segments, np.int64))
        found = (
            threshold,
            lower,
            _midpoint(threshold, lower),
            best.of(values),
            recall,
            specificity,
            common,
            common_estimate,
            np.maximum(sign * (best.of(values) - common_estimate), 0),
            np.where(best.point < 0, np.nan, _chance_maximum(points, chosen)),
            Ranking.of(scored.ties).roc_auc(),
        )
        return columns | dict(zip(_FOUND, found, strict=True))

    options = Options(
        y_true,
        y_score,
        by,
        sample_weight,
        counts,
        labels,
        pos_label,
        missing,
        margins,
        backend,
        max_cells,
        scores=True,
    )
    return answer(frame, options, compute, outputs, Scores(Thresholds.of(thresholds)))


def _plateau_lower(scored: Scored, points: OperatingPoints, best: Optimum) -> FloatArray:
    """Find down to where the best point stays the same: minus infinity where all rows reach it.

    That is the next lower score, or the lowest threshold of a grid that the same rows reach.
    """
    if not len(points):
        return np.full(len(best.point), np.nan)
    rows = points.counts(0, slice(None))
    reaching, everything = rows.tp + rows.fp, rows.tp + rows.fp + rows.fn + rows.tn
    n_segments = len(best.point)
    own = reaching[np.maximum(best.point, 0)]
    more = reaching > own[points.segment]
    n_more = np.bincount(points.segment[more], minlength=n_segments)
    n_points = np.bincount(points.segment, minlength=n_segments)
    same = np.cumsum(n_points) - n_points + n_more
    below = np.maximum(same - 1, 0) if scored.thresholds.is_exact else same
    lower = points.threshold[np.minimum(below, len(points) - 1)]
    lower = np.where(own == everything[np.maximum(best.point, 0)], -np.inf, lower)
    return np.where(best.point < 0, np.nan, lower)


def _midpoint(threshold: FloatArray, lower: FloatArray) -> FloatArray:
    """Find the middle of a plateau; its threshold where it has no lower end."""
    finite = np.where(np.isneginf(lower), threshold, lower)
    middle = threshold / 2 + finite / 2
    return np.where((finite < middle) & (middle < threshold), middle, threshold)


def _common_threshold(scored: Scored, scoring: Scoring, chosen: Metric, metric: str) -> FloatArray:
    """Find the best threshold of all segments together, for the model of each segment."""
    ties, model = scored.of_models()
    everybody = Scored(scored.reading, ties, scored.thresholds)
    points = everybody.points()
    values = at_points(scoring, everybody, points, None).scores[metric]
    best = optimum(points, chosen, values, ties.n_segments)
    return best.of(points.threshold)[model]


def _chance_maximum(points: OperatingPoints, chosen: Metric) -> FloatArray:
    """Find about the largest value at any threshold of scores that do not depend on the label."""
    positives, negatives = effective_sides(points)
    if not chosen.interval.rises_with_both_recalls:
        return np.full(len(positives), np.nan)
    one = np.ones(len(positives))
    spread = np.sqrt(np.pi / 8 * (ratio(one, positives) + ratio(one, negatives)))
    mean = np.minimum(0.5 + 0.5 * spread, 1)
    return chosen.interval.rescaled(points.totals(), mean)
