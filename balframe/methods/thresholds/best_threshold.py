"""The verb `best_threshold`."""

from typing import Unpack

import numpy as np

from balframe.api.columns import METRICS, SEGMENTS, Span, count, estimate, place, score
from balframe.api.method import Verb
from balframe.api.metric_selection import Scoring
from balframe.api.options import ClassWeights, Names, OfScores
from balframe.api.run import Columns, answer
from balframe.errors import InvalidInputError, parameter
from balframe.frames.adapter import FrameT, Name
from balframe.frames.query import Reads
from balframe.frames.scores import Scored
from balframe.frames.sources import Scores
from balframe.frames.thresholds import Thresholds, ThresholdsOption
from balframe.methods.thresholds.at_operating_points import class_weights
from balframe.methods.thresholds.best_thresholds import best_thresholds
from balframe.metrics.catalogue import find

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
    instead={
        "cluster": "best_threshold has no limits that clusters would change. For the area under "
        "the ROC curve of rows in clusters, call ranking.",
    },
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
    """Return one row per segment with its best threshold, and the gain over a common threshold.

    The score at the best threshold is optimistic, because the same rows choose the threshold: on
    new rows the score is lower. The column `chance_maximum` shows how high the score can get by
    chance alone. For the same reason, no confidence interval is given.

    Parameters
    ----------
    metric : str, default "balanced_accuracy"
        Name or alias of the metric to optimise. It must have a direction: higher or lower is
        better.
    thresholds : int, list of float, ("quantiles", int) or None, default None
        Thresholds to choose from, as in `curve`; by default every distinct score of a segment.

    Returns
    -------
    frame of the same library
        One row for each segment and [model], in this order. Columns in brackets are present only
        if the options ask for them:

        - the by-columns, [`margin`: the columns that define the segment], [`model`]
        - `n`: number of rows
        - `metric`: its name; `threshold`: the best threshold. It is infinite if it is best to
          predict no row as positive. It is null if the metric is undefined at every threshold. For
          balanced accuracy and its transforms, it is also null if there are no positive or no
          negative rows. If several thresholds are best, the highest is returned. For balanced
          accuracy and its transforms, the one with the smallest difference between recall and
          specificity is preferred. With weights, rounding may break the tie.
        - `plateau_lower`: the next lower score, or on a grid the lowest threshold that the same
          rows reach; minus infinity if all rows reach `threshold`. All thresholds above
          `plateau_lower` and up to `threshold` give the same predictions on these rows.
        - `midpoint`: halfway between `plateau_lower` and `threshold`. Deploy this threshold.
        - `estimate`, `recall`, `specificity`: scores of the segment at its own threshold
        - `common_threshold`: the best threshold for all segments together; `common_estimate`: the
          score of the segment at that threshold
        - `gain`: how much better the segment scores at its own threshold than at the common one,
          on the rows used to choose it. It is never below 0 by construction. Use new rows to show
          that a gain is real.
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
    >>> df = pl.DataFrame({"y": [0, 0, 1, 0, 1], "score": [0.1, 0.3, 0.4, 0.6, 0.8]})
    >>> out = bf.best_threshold(df, "y", "score")
    >>> out.select("threshold", "plateau_lower", "midpoint", "recall").row(0)
    (0.4, 0.3, 0.35, 1.0)
    """
    if not isinstance(metric, str):
        raise InvalidInputError(f"{parameter('metric', metric)} must be the name of one metric.")
    is_directed = find(metric).better is not None
    scoring = Scoring.of([metric], options["class_weight"], ())
    if not is_directed:
        raise InvalidInputError(
            f"metric {metric!r} has no direction (neither higher nor lower is better), so no "
            "threshold is best; choose a metric that has one, such as 'balanced_accuracy'."
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
        reads=Reads(scores=True, coarser="thresholds"),
        source=Scores(Thresholds.of(thresholds)),
        suits=lambda scored: class_weights(scoring, scored),
    )
