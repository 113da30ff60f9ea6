"""The verb `ranking`."""

from typing import Unpack

import numpy as np

from balframe.analyses.at_operating_points import effective_sides
from balframe.frames.library import FrameT, Name
from balframe.frames.query import Reads
from balframe.frames.scores import Scored
from balframe.frames.source import Scores
from balframe.frames.thresholds import Thresholds
from balframe.intervals.delong import delong
from balframe.intervals.request import check_level
from balframe.metrics.units.rankings import Ranking
from balframe.verbs.answer import Columns, answer
from balframe.verbs.columns import SEGMENTS, Span, count, estimate, limits
from balframe.verbs.declaration import Verb
from balframe.verbs.options import Level, Names, OfScores

VERB = Verb.of(
    *SEGMENTS,
    count("n"),
    count("n_positive"),
    estimate("roc_auc", tells=True, span=Span.UNIT),
    *limits("roc_auc"),
    estimate("average_precision", span=Span.UNIT),
    estimate("ks_statistic", span=Span.UNIT),
    estimate("brier_score", span=Span.UNIT),
)


class _Options(Level, OfScores, total=False): ...


@VERB
def ranking(
    frame: FrameT,
    y_true: Name,
    y_score: Names,
    *,
    by: Names = None,
    **options: Unpack[_Options],
) -> FrameT:
    """Score how well each segment's scores rank positives above negatives, at no threshold.

    Returns
    -------
    frame of the same library
        One row for each segment and [model], in this order, with

        - the by-columns, [`margin`: the columns that make the segment], [`model`]
        - `n`: rows; `n_positive`: rows with the positive label
        - `roc_auc`: area under the ROC curve, the chance that a positive scores above a negative,
          ties counting half; `roc_auc_lower`, `roc_auc_upper`: DeLong's limits, null where the
          estimated variance is 0 or a side has a single row
        - `average_precision`: sum of the precisions at the thresholds, weighted by the recall that
          each adds; null without a positive
        - `ks_statistic`: largest distance between recall and false positive rate
        - `brier_score`: mean squared distance of score and label, null where a score is outside of
          [0, 1]

    References
    ----------
    J. A. Hanley and B. J. McNeil, "The meaning and use of the area under a receiver operating
    characteristic (ROC) curve", Radiology 1982; E. R. DeLong, D. M. DeLong and D. L.
    Clarke-Pearson, "Comparing the areas under two or more correlated receiver operating
    characteristic curves", Biometrics 1988; G. W. Brier, "Verification of forecasts expressed in
    terms of probability", Monthly Weather Review 1950.

    Examples
    --------
    >>> import polars as pl
    >>> import balframe as bf
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.4, 0.4, 0.8]})
    >>> bf.ranking(df, "y", "score").select("roc_auc", "ks_statistic").row(0)
    (0.875, 0.5)
    """
    level = options["level"]
    check_level(level)

    def compute(scored: Scored) -> Columns:
        r = Ranking.of(scored.ties)
        auc, totals = r.roc_auc(), r.points.totals()
        lower, upper = delong(auc, *r.spreads(auc), *effective_sides(r.points), level)
        return scored.reading.by_columns(np.arange(scored.ties.n_segments)) | {
            "n": totals.n,
            "n_positive": totals.count(totals.n_correct),
            "roc_auc": auc,
            "roc_auc_lower": lower,
            "roc_auc_upper": upper,
            "average_precision": r.average_precision(),
            "ks_statistic": r.ks_statistic(),
            "brier_score": r.brier_score(),
        }

    return answer(
        frame,
        VERB,
        {"y_true": y_true, "y_score": y_score, "by": by, **options},
        compute,
        reads=Reads(scores=True),
        source=Scores(Thresholds()),
    )
