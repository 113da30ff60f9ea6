"""The method `ranking`."""

from typing import Any, Unpack

import numpy as np

from balframe.api.columns import (
    N_CLUSTERS,
    SEGMENT_KEYS,
    Span,
    count,
    details,
    estimate,
    limits,
    note,
)
from balframe.api.method import Method
from balframe.api.metric_selection import check_by, warn_of_single_segment
from balframe.api.option_types import ReferenceOption
from balframe.api.options import (
    ClusterOptions,
    DetailOptions,
    IntervalOptions,
    Names,
    ScoreMethodOptions,
)
from balframe.api.run import Columns, run_method
from balframe.core.class_counts import ClassCounts
from balframe.frames.adapter import FrameT, Name
from balframe.frames.query import InputSpec, N, Query
from balframe.frames.scores import ScoredFrame
from balframe.frames.sources import ScoreSource
from balframe.frames.thresholds import Thresholds
from balframe.methods.comparisons.reference import check_reference
from balframe.methods.thresholds.auc import RocAucs
from balframe.methods.thresholds.auc_clustered import ClusteredRocAucs
from balframe.methods.thresholds.auc_differences import AnyRocAucs, auc_difference_columns
from balframe.metrics.definitions.ranking import (
    Ranking,
    average_precision,
    brier_score,
    ks_statistic,
)
from balframe.metrics.score_metrics import metrics_returned_by
from balframe.stats.base import IntervalRequest

_SCORES, _KS = ("average_precision", "brier_score"), "ks_statistic"
_WITHOUT_INTERVAL = (*_SCORES, _KS)

METHOD = Method.of(
    *SEGMENT_KEYS,
    estimate("roc_auc", identifies=True, span=Span.UNIT),
    *limits("roc_auc"),
    estimate("roc_auc_difference", only_with="reference", span=Span.AROUND_ZERO),
    *limits("roc_auc_difference", only_with="reference"),
    *(estimate(name, span=Span.UNIT) for name in _SCORES),
    count(N),
    *details(
        note("reference", only_with="reference"),
        estimate("reference_roc_auc", only_with="reference"),
        estimate(_KS, span=Span.UNIT),
        count("n_positive"),
        N_CLUSTERS,
        *(limit for name in _WITHOUT_INTERVAL for limit in limits(name, only_with="interval")),
    ),
    hints={
        "metrics": f"ranking always returns {', '.join(metrics_returned_by('ranking'))}. "
        "For metrics of labels, call report."
    },
)


class _Options(ClusterOptions, IntervalOptions, ScoreMethodOptions, DetailOptions, total=False): ...


@METHOD
def ranking(
    frame: FrameT,
    y_true: Name,
    y_score: Names,
    *,
    by: Names = None,
    reference: ReferenceOption = None,
    **options: Unpack[_Options],
) -> FrameT:
    """Return one row per segment with its ROC AUC and other scores that need no threshold.

    Parameters
    ----------
    reference : "rest", "overall", "largest", "best", "worst", a value, or a mapping, optional
        Compare the area under the ROC curve of each segment with that of a reference. The
        reference is all other rows ("rest"), all rows ("overall", without interval), the segment
        with the most rows ("largest"), the segment with the "best" or "worst" area, or the segment
        with this value in the by-column. `{"sex": "F", "race": "A"}` names a segment of several
        columns, and `{"sex": None}` the segment where the column is null. Intervals against the
        best or worst segment allow for its choice among all segments. By default, nothing is
        compared.
    interval : True, optional
        Add the limits of the other scores, as `report` does for metrics without an interval: they
        are null. The limits of `roc_auc` are always there. A named method has no effect, because
        the area has one method.

    Returns
    -------
    frame of the same library
        One row for each segment and [model], in this order. Columns in brackets are present only
        if the options ask for them:

        - the by-columns, [`grouped_by`: the columns that define the segment], [`model`]
        - `roc_auc`: area under the ROC curve, which is the probability that a positive row scores
          higher than a negative row, ties counting half; null without positive or negative rows
        - `roc_auc_lower`, `roc_auc_upper`: its confidence interval, by Newcombe's method 5. The
          variance is scaled towards DeLong's as the number of rows grows. With `cluster`, it is
          computed on the logit scale with Obuchowski's variance, and null if all positive or all
          negative rows are in one cluster, or the area is 0 or 1.
        - with `reference`, `roc_auc_difference`: roc_auc less the area of the reference;
          `roc_auc_difference_lower`, `roc_auc_difference_upper`: its confidence interval, computed
          from the intervals of both areas. The row of the reference itself has the difference 0 and
          no interval. There is no p-value.
        - `average_precision`: mean of the precisions at all thresholds, weighted by the increase in
          recall at each; null without positive rows
        - `brier_score`: mean squared difference between score and label; null if a score is outside
          [0, 1]
        - `n`: number of rows

        With `detail`, also:

        - with `reference`, `reference`: name of the reference; `reference_roc_auc`: its area
        - `ks_statistic`: largest difference between recall and false positive rate
        - `n_positive`: number of rows with the positive label
        - with `cluster`, `n_clusters`: number of clusters with rows in the segment
        - with `interval`, `<score>_lower` and `<score>_upper` of the three scores without an
          interval: null

    Notes
    -----
    The intervals are too narrow if a minority of the rarer label scores far from the rest. Suppose
    that some positive rows score below all negative rows, and the others above. At worst, 95%
    intervals then contain the true area in 61% of samples of 5 positive and 100 negative rows, in
    59% of 10 and 200, in 57% of 20 and 500, and in 63% of 200 and 2,000.

    With weights, the intervals use Kish's effective sample sizes of positive and negative rows, and
    weighted means in DeLong's variance. The coverage of these intervals has not been studied. They
    are null if the squares of the weights overflow a float.

    With `cluster`, `reference="rest"` takes time in proportion to the rows times the segments.

    References
    ----------
    J. A. Hanley and B. J. McNeil, "The meaning and use of the area under a receiver operating
    characteristic (ROC) curve", Radiology 1982; R. G. Newcombe, "Confidence intervals for an effect
    size measure based on the Mann-Whitney statistic. Part 2", Statistics in Medicine 2006; E. R.
    DeLong, D. M. DeLong and D. L. Clarke-Pearson, "Comparing the areas under two or more correlated
    receiver operating characteristic curves", Biometrics 1988; G. Y. Zou and A. Donner,
    "Construction of confidence limits about effect measures", Statistics in Medicine 2008; G. W.
    Brier, "Verification of forecasts expressed in terms of probability", Monthly Weather Review
    1950.

    Examples
    --------
    >>> import polars as pl
    >>> import balframe as bf
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.4, 0.4, 0.8]})
    >>> print(bf.ranking(df, "y", "score"))
    shape: (1, 6)
    ┌─────────┬───────────────┬───────────────┬───────────────────┬─────────────┬─────┐
    │ roc_auc ┆ roc_auc_lower ┆ roc_auc_upper ┆ average_precision ┆ brier_score ┆ n   │
    │ ---     ┆ ---           ┆ ---           ┆ ---               ┆ ---         ┆ --- │
    │ f64     ┆ f64           ┆ f64           ┆ f64               ┆ f64         ┆ i64 │
    ╞═════════╪═══════════════╪═══════════════╪═══════════════════╪═════════════╪═════╡
    │ 0.875   ┆ 0.300633      ┆ 0.990624      ┆ 0.833333          ┆ 0.1425      ┆ 4   │
    └─────────┴───────────────┴───────────────┴───────────────────┴─────────────┴─────┘
    """
    level = options["level"]
    request = IntervalRequest.of(options["interval"], level, "uniform", options["cluster"])
    optional = {"reference": reference is not None, "interval": request is not None}

    def check(query: Query) -> None:
        if reference is not None:
            check_by(query, "ranking with a reference")
            check_reference(reference, query, {})

    def compute(scored: ScoredFrame) -> Columns:
        columns, aucs, totals = _ranking_columns(scored, level)
        if reference is not None:
            columns |= auc_difference_columns(reference, scored, aucs, totals, level)
            warn_of_single_segment(scored.counted_frame, "ranking with a reference")
        if request is not None:
            undefined = np.full(totals.n_segments, np.nan)
            ends = [f"{name}_{end}" for name in _WITHOUT_INTERVAL for end in ("lower", "upper")]
            columns |= dict.fromkeys(ends, undefined)
        return scored.counted_frame.by_columns(np.arange(totals.n_segments)) | columns

    return run_method(
        frame,
        METHOD,
        {"y_true": y_true, "y_score": y_score, "by": by, **options},
        compute,
        input_spec=InputSpec(scores=True),
        source=ScoreSource(Thresholds()),
        optional_columns=[name for name, is_added in optional.items() if is_added],
        check_query=check,
    )


def _ranking_columns(
    scored: ScoredFrame, level: float
) -> tuple[dict[Name, Any], AnyRocAucs, ClassCounts]:
    """Return the columns of all segments, their areas and their counts.

    On return, the arrays of ties, which may be large, are no longer referenced.
    """
    r = Ranking.of(scored.ties)
    row_aucs, totals = RocAucs.of(r), r.points.totals()
    columns: dict[Name, Any] = {"n": totals.n, "n_positive": totals.count(totals.n_correct)}
    aucs: AnyRocAucs = row_aucs
    if scored.clusters is not None:
        aucs = ClusteredRocAucs.of(r, row_aucs, scored.clusters)
        columns["n_clusters"] = aucs.n_clusters
    lower, upper = aucs.limits(level)
    columns |= {
        "roc_auc": row_aucs.auc,
        "roc_auc_lower": lower,
        "roc_auc_upper": upper,
        "average_precision": average_precision(r),
        "ks_statistic": ks_statistic(r),
        "brier_score": brier_score(r),
    }
    return columns, aucs, totals
