"""The verb `best_threshold`."""

from typing import Unpack

import numpy as np

from balframe.analyses.at_operating_points import class_weights
from balframe.analyses.best_thresholds import best_thresholds
from balframe.analyses.scoring import Scoring
from balframe.errors import InvalidInputError, parameter
from balframe.frames.library import FrameT, Name
from balframe.frames.query import Reads
from balframe.frames.scores import Scored
from balframe.frames.source import Scores
from balframe.frames.thresholds import Thresholds, ThresholdsOption
from balframe.verbs.answer import Columns, answer
from balframe.verbs.columns import METRICS, SEGMENTS, Span, count, estimate, place, score
from balframe.verbs.declaration import Verb
from balframe.verbs.options import ClassWeights, Names, OfScores

VERB = Verb.of(
    *SEGMENTS,
    count("n"),
    METRICS,
    place("threshold", tells=True),
    place("plateau_lower"),
    place("midpoint"),
    estimate("estimate", tells=True, span=Span.METRIC),
    score("recall"),
    score("specificity"),
    place("common_threshold"),
    estimate("common_estimate"),
    estimate("gain"),
    estimate("chance_maximum"),
    estimate("roc_auc", span=Span.UNIT),
)


class _Options(ClassWeights, OfScores, total=False): ...


@VERB
def best_threshold(
    frame: FrameT,
    y_true: Name,
    y_score: Names,
    *,
    by: Names = None,
    metric: str = "balanced_accuracy",
    thresholds: ThresholdsOption = None,
    **options: Unpack[_Options],
) -> FrameT:
    """Find the threshold at which each segment scores best, and what it gains over a common one.

    The best of many thresholds on the rows at hand is optimistic: on new rows it scores less. How
    high chance alone would take it is in `chance_maximum`, and no limits are given at a threshold
    chosen by the same rows.

    Parameters
    ----------
    metric : str, default "balanced_accuracy"
        Name or alias of the metric to optimise.
    thresholds : int, list of float, ("quantiles", int) or None, default None
        The thresholds to choose from, as in `curve`; by default every score.

    Returns
    -------
    frame of the same library
        One row for each segment and [model], in this order, with

        - the by-columns, [`margin`: the columns that make the segment], [`model`], `n`: rows
        - `metric`: its name; `threshold`: the best, null where the metric is nowhere defined or,
          for balanced accuracy and its transforms, a side has no row; infinite where it is best to
          call no row positive. Of several the highest; for balanced accuracy and its transforms
          first the one whose recall and specificity are closest. Under weights rounding may decide.
        - `plateau_lower`: the next lower score, or on a grid the lowest threshold that the same
          rows reach; minus infinity where all rows do. All thresholds above it and up to
          `threshold` are the same point on these rows; `midpoint` between the two is the one to
          deploy.
        - `estimate`, `recall`, `specificity`: of the segment at its threshold
        - `common_threshold`: the best of all segments together; `common_estimate`: of the segment
          there
        - `gain`: how much better the segment scores at its own threshold, on the rows that chose
          it. It is never below 0 by construction; a claim of a gain needs new rows.
        - `chance_maximum`: the 95% point of `estimate` if the scores did not depend on the label,
          for balanced accuracy and its transforms; null for other metrics. At or below it the
          optimum is no evidence of signal.
        - `roc_auc`: of the scores, or on a grid of the thresholds that they reach

    References
    ----------
    W. J. Youden, "Index for rating diagnostic tests", Cancer 1950.

    The chance maximum is 1/2 + 1/2 min(1, c sqrt(1/P + 1/N)), with P and N the rows of both sides
    (with weights, Kish's effective sizes). c is sqrt(log(20)/2) = 1.224, the 95% point of the
    one-sided statistic of Kolmogorov and Smirnov: N. V. Smirnov, Uspekhi Matematicheskikh Nauk
    1944; Z. W. Birnbaum and F. H. Tingey, Annals of Mathematical Statistics 1951. With up to 7
    distinct scores it is less, by Bonferroni's inequality over the h distinct scores less 1: half
    the normal quantile of 1 - 0.05/h, and 0 for a single score.

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
        raise InvalidInputError(f"{parameter('metric', metric)} has to be the name of one metric.")
    scoring = Scoring.of([metric], options["class_weight"], ())
    if scoring.metrics[metric].better is None:
        raise InvalidInputError(
            f"metric {metric!r} is not better when it is higher or lower, so no threshold is best."
        )

    def compute(scored: Scored) -> Columns:
        reading, n_segments = scored.reading, scored.ties.n_segments
        return (
            reading.by_columns(np.arange(n_segments))
            | {"n": scored.points().totals().n}
            | {"metric": reading.text_column([metric], np.zeros(n_segments, np.int64))}
            | best_thresholds(scored, scoring, metric)
        )

    return answer(
        frame,
        VERB,
        {"y_true": y_true, "y_score": y_score, "by": by, **options},
        compute,
        reads=Reads(scores=True),
        source=Scores(Thresholds.of(thresholds)),
        suits=lambda scored: class_weights(scoring, scored),
    )
