"""The verb `curve`."""

from collections.abc import Iterable, Sequence

import numpy as np

from balframe.analyses import layouts
from balframe.analyses.at_operating_points import at_points, band_half_width
from balframe.analyses.scoring import ClassWeight, Metrics, Scoring
from balframe.core.labels import Label
from balframe.errors import check_choice
from balframe.frames.library import FrameT, Name
from balframe.frames.query import MAX_CELLS, Options, Query
from balframe.frames.scores import Scored
from balframe.frames.source import Scores
from balframe.frames.thresholds import Thresholds, ThresholdsOption
from balframe.intervals.request import IntervalOption, Prior, Request
from balframe.verbs.answer import Backend, Columns, Margins, Missing, Names, answer

THRESHOLD = "threshold"
_DEFAULT = ("accuracy", "balanced_accuracy", "recall", "specificity")
_COUNTED = (THRESHOLD, "n", "predicted_positive")
_BALANCED = "balanced_accuracy"
_BAND = ("balanced_accuracy_band_lower", "balanced_accuracy_band_upper")


def curve(
    frame: FrameT,
    y_true: Name,
    y_score: Names,
    *,
    by: Names = None,
    thresholds: ThresholdsOption = None,
    metrics: Metrics = None,
    class_weight: ClassWeight | None = None,
    interval: IntervalOption = None,
    level: float = 0.95,
    prior: Prior = "uniform",
    band: bool = False,
    sample_weight: Name | None = None,
    counts: Name | None = None,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
    missing: Missing = "raise",
    margins: Margins = False,
    backend: Backend = None,
    max_cells: int = MAX_CELLS,
) -> FrameT:
    """Score every segment at every threshold of a score.

    A row is called positive where its score reaches the threshold, `score >= threshold`. Some
    texts take `score > threshold`, which gives the same points, each at the next lower score.

    Parameters
    ----------
    frame : pandas, polars or pyarrow frame, or one of Dask, PySpark, DuckDB, Ibis, SQLFrame
        The data; never changed. A polars LazyFrame gives a LazyFrame; the others compute at once.
    y_true : column name
        The true labels. All labels other than the positive one count as negative.
    y_score : column name or list of column names
        The scores, finite numbers that are higher for the positive label; a list compares several
        models and adds a column `model`.
    by : column name or list of column names, optional
        The columns whose combinations are the segments; by default all rows are one segment.
    thresholds : int, list of float, ("quantiles", int) or None, default None
        None takes every distinct score of a segment, and infinity, which no row reaches; of a lazy
        or distributed frame it fetches a row for each of them. A number n takes the grid 0,
        1/(n-1), ..., 1, for scores in [0, 1]. A list takes these thresholds.
        ("quantiles", n) takes n quantiles of all scores together, from the lowest to the highest;
        that reads the data twice, the first time when the verb is called, also on a lazy frame.
    metrics : str or list of str, optional
        Names or aliases of metrics, or "all"; by default accuracy, balanced_accuracy, recall and
        specificity, and with `class_weight` also weighted_balanced_accuracy.
    class_weight : mapping of every label to its weight, "balanced" or "prevalence", optional
        How weighted_balanced_accuracy weighs the labels.
    interval : {True, "score", "wilson", "jeffreys", "exact", "mover", "posterior"}, optional
        Add limits as in `report`, each for its threshold alone (pointwise).
    level : float, default 0.95
        Confidence level of the limits and of the band.
    prior : {"uniform", "jeffreys"}
        Prior of each recall under `interval="posterior"`.
    band : bool, default False
        Add a band that holds the balanced accuracies at all thresholds of a segment together.
    sample_weight : column name, optional
        Weights of the rows, finite and not negative. `n` and `predicted_positive` count rows.
    counts : column name, optional
        How many identical rows each row stands for, whole numbers from 0.
    labels : list of labels, optional
        The labels that may occur; by default those that do.
    pos_label : label, optional
        The label that high scores stand for. Defaults to 1 or True where the labels are among
        {0, 1}, {-1, 1} or {False, True}.
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
        One row for each segment, [model] and threshold, ascending, in this order, with

        - the by-columns, [`margin`: the columns that make the segment], [`model`], `threshold`
        - `n`: rows of the segment; `predicted_positive`: rows whose score reaches the threshold
        - the metrics, null where undefined; with `interval`, `<metric>_lower` and `<metric>_upper`
          behind each
        - with `band`, `balanced_accuracy_band_lower` and `balanced_accuracy_band_upper`

    Raises
    ------
    BalframeError
        If a name, an option or a value cannot be used; the message says what to do.

    References
    ----------
    T. Fawcett, "An introduction to ROC analysis", Pattern Recognition Letters 2006. The band has
    the width of the two-sample statistic of Kolmogorov and Smirnov.

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
    scoring = Scoring.of(metrics, class_weight, _DEFAULT)
    request = Request.of(interval, level, prior)
    check_choice("band", band, (False, True))
    grid = Thresholds.of(thresholds)

    def outputs(query: Query) -> Iterable[Name]:
        yield from (*query.by, *_COUNTED)
        yield from layouts.names("wide", list(scoring.metrics), with_limits=request is not None)
        yield from _BAND if band else ()

    def compute(scored: Scored) -> Columns:
        points = scored.points()
        columns = scored.reading.by_columns(points.segment)
        columns[THRESHOLD] = points.threshold
        columns["n"] = points.totals().n[points.segment]
        found = at_points(scoring, scored, points, request)
        columns["predicted_positive"] = found.predicted_positive
        columns |= layouts.wide(found.scores, found.limits)
        if band:
            scores = found.scores
            if _BALANCED not in scores:
                scores = at_points(Scoring.of(_BALANCED, None, ()), scored, points, None).scores
            half = band_half_width(points, level)[points.segment]
            values = scores[_BALANCED]
            sides = np.maximum(values - half, 0), np.minimum(values + half, 1)
            columns |= dict(zip(_BAND, sides, strict=True))
        return columns

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
    return answer(frame, options, compute, outputs, Scores(grid))
