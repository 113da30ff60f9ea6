"""The verb `curve`."""

from typing import Unpack

import numpy as np

from balframe.api.columns import METRIC, SEGMENTS, Kind, count, key, limits, score
from balframe.api.method import Verb
from balframe.api.metric_selection import Metrics, Scoring
from balframe.api.options import ClassWeights, Intervals, Names, OfScores, Priors
from balframe.api.run import Columns, answer
from balframe.errors import check_choice
from balframe.frames.adapter import FrameT, Name
from balframe.frames.query import Reads
from balframe.frames.scores import Scored
from balframe.frames.sources import Scores
from balframe.frames.thresholds import Thresholds, ThresholdsOption
from balframe.methods.scores import layouts
from balframe.methods.thresholds.at_operating_points import (
    at_points,
    band_half_width,
    class_weights,
)
from balframe.stats.request import Request

_DEFAULT = ("accuracy", "balanced_accuracy", "recall", "specificity")
_BALANCED = "balanced_accuracy"
_BAND = limits(f"{_BALANCED}_band", "band")

VERB = Verb.of(
    *SEGMENTS,
    key("threshold", kind=Kind.FLOAT, tells=True),
    count("n"),
    count("predicted_positive", tells=True),
    score(METRIC),
    *limits(METRIC, "interval"),
    *_BAND,
    instead={
        "cluster": "limits along a curve need independent rows. For the area under the ROC curve "
        "of rows in clusters, call ranking.",
    },
)


class _Options(Intervals, Priors, ClassWeights, OfScores, total=False): ...


@VERB
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
    thresholds : int, list of float, ("quantiles", int) or None, default None
        The thresholds; by default every distinct score of a segment, and infinity, which no row
        reaches. A number n gives the grid 0, 1/(n-1), ..., 1, for scores in [0, 1]. A list gives
        these thresholds. ("quantiles", n) gives n quantiles of all scores together, from the lowest
        score to the highest. On a lazy or distributed frame, the default collects one row per
        distinct score; choose a grid if these are many. Quantiles read the data twice, the first
        time when the method is called, even on a lazy frame.
    metrics : str, list of str or mapping, optional
        Names or aliases of metrics, or presets: "default", "fairness", "all". A mapping renames
        them: `{"hit rate": "recall"}`. By default accuracy, balanced_accuracy, recall and
        specificity, and with `class_weight` also weighted_balanced_accuracy.
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

        - the by-columns, [`margin`: the columns that define the segment], [`model`], `threshold`
        - `n`: number of rows of the segment; `predicted_positive`: number of rows whose score
          reaches the threshold
        - one column per metric, null where undefined; with `interval`, followed by its confidence
          interval, `<metric>_lower` and `<metric>_upper`
        - with `band`, `balanced_accuracy_band_lower` and `balanced_accuracy_band_upper`

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
    scoring = Scoring.of(metrics, options["class_weight"], _DEFAULT)
    request = Request.of(options["interval"], options["level"], options["prior"])
    check_choice("band", band, (False, True))
    shown = {"interval": request is not None, "band": band}

    def compute(scored: Scored) -> Columns:
        points = scored.points()
        columns = scored.reading.by_columns(points.segment)
        columns["threshold"] = points.threshold
        columns["n"] = points.totals().n[points.segment]
        found = at_points(scoring, scored, points, request)
        columns["predicted_positive"] = found.predicted_positive
        columns |= layouts.wide(found.scores, found.limits)
        if band:
            scores = found.scores
            if _BALANCED not in scores:
                scores = at_points(Scoring.of(_BALANCED, None, ()), scored, points, None).scores
            half = band_half_width(points, options["level"])[points.segment]
            sides = np.maximum(scores[_BALANCED] - half, 0), np.minimum(scores[_BALANCED] + half, 1)
            columns |= {one.name: side for one, side in zip(_BAND, sides, strict=True)}
        return columns

    return answer(
        frame,
        VERB,
        {"y_true": y_true, "y_score": y_score, "by": by, **options},
        compute,
        metrics=list(scoring.metrics),
        shown=[option for option, is_asked in shown.items() if is_asked],
        reads=Reads(scores=True, coarser="thresholds"),
        source=Scores(Thresholds.of(thresholds)),
        suits=lambda scored: class_weights(scoring, scored),
    )
