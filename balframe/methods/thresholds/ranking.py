"""The method `ranking`."""

from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np

from balframe.api.columns import (
    METRIC,
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
from balframe.api.metric_selection import Metrics, check_by, warn_of_single_segment
from balframe.api.option_types import ReferenceOption
from balframe.api.options import (
    ClusterOptions,
    DetailOptions,
    IntervalOptions,
    Names,
    Option,
    ScoreMethodOptions,
)
from balframe.api.run import Columns, run_method
from balframe.api.score_estimates import ScoreSample
from balframe.core.class_counts import ClassCounts
from balframe.errors import OPTION, InvalidInputError
from balframe.frames.adapter import FrameT, Name
from balframe.frames.query import InputSpec, N, Query
from balframe.frames.scores import ScoredFrame
from balframe.frames.sources import ScoreSource
from balframe.frames.thresholds import Thresholds
from balframe.methods.comparisons.reference import check_reference
from balframe.methods.thresholds.auc import RocAucs
from balframe.methods.thresholds.auc_clustered import ClusteredRocAucs
from balframe.methods.thresholds.auc_differences import AnyRocAucs, auc_difference_columns
from balframe.metrics.lookup import find_ranking_metric, find_ranking_metrics
from balframe.metrics.score_metrics import ScoreMetric
from balframe.stats.base import IntervalRequest
from balframe.stats.proportions import Limits

_AUC, _SCORES, _DETAILS = (
    "roc_auc",
    ("average_precision", "brier_score"),
    ("ks_statistic", "log_loss"),
)
_FURTHER = "metrics"  # the option that adds columns of further metrics

METHOD = Method.of(
    *SEGMENT_KEYS,
    estimate(_AUC, identifies=True, span=Span.UNIT),
    *limits(_AUC),
    estimate("roc_auc_difference", only_with="reference", span=Span.AROUND_ZERO),
    *limits("roc_auc_difference", only_with="reference"),
    *(
        column
        for name in _SCORES
        for column in (estimate(name, span=Span.UNIT), *limits(name, "interval"))
    ),
    estimate(METRIC, only_with=_FURTHER),
    *limits(METRIC, _FURTHER),
    count(N),
    *details(
        note("reference", only_with="reference"),
        estimate("reference_roc_auc", only_with="reference"),
        estimate("ks_statistic", span=Span.UNIT),
        *limits("ks_statistic", "interval"),
        estimate("log_loss"),
        *limits("log_loss", "interval"),
        count("n_positive"),
        N_CLUSTERS,
    ),
    hints={"metric": "further metrics of scores are named in metrics."},
    described={
        "metrics": Option(
            "str, list, or mapping of new names to metrics, optional",
            "Further metrics of scores, each with its confidence interval: partial areas, such as "
            "roc_auc(max_fpr=0.1), up to a false positive rate.",
        )
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
    metrics: Metrics = None,
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
        Add the confidence intervals of the other scores. Those of `roc_auc` and of `metrics` are
        always included. A named method has no effect, because each score has one method.

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
        - with `metrics`, each further metric and its limits. The partial area is standardised: 0.5
          for scores that ignore the label, and 1 for a perfect ranking.
        - `n`: number of rows

        With `detail`, also:

        - with `reference`, `reference`: name of the reference; `reference_roc_auc`: its area
        - `ks_statistic`: largest difference between recall and false positive rate
        - `log_loss`: mean negative log-likelihood of the labels; null if a score is outside [0, 1],
          or a score of exactly 0 or 1 is wrong
        - `n_positive`: number of rows with the positive label
        - with `cluster`, `n_clusters`: number of clusters with rows in the segment

        With `interval`, `<score>_lower` and `<score>_upper` follow each score.

    Notes
    -----
    The intervals are too narrow if a minority of the rarer label scores far from the rest. Suppose
    that some positive rows score below all negative rows, and the others above. At worst, 95%
    intervals then contain the true area in 61% of samples of 5 positive and 100 negative rows, in
    59% of 10 and 200, in 57% of 20 and 500, and in 63% of 200 and 2,000.

    With weights, the intervals use Kish's effective sample sizes of positive and negative rows, and
    weighted means in DeLong's variance. The coverage of these intervals has not been studied. They
    are null if the squares of the weights overflow a float. With `cluster` too, the variance is
    that of weighted sums in each cluster.

    The interval of the average precision is Wilson's, for the number of rows of a proportion that
    varies as much. The variance is that of the influences of rows, and with few positive rows it is
    shrunk towards that of a proportion of the positive rows. The average precision of few rows is
    too high on average; the limit on that side is moved by this bias. In simulated samples, 95%
    intervals contained the value for the population in 96% of samples on average, in 91% at worst
    with five positive rows or more, and in 84% with one or two. It is the precision at the share of
    positive rows that the data have: if positive rows are drawn more often than others, the
    interval is about such data. The partial area has the same kind of interval, without a bias.

    The interval of the Brier score is Wilson's too, after adding one row with the error 1 for the
    upper limit, and 0 for the lower one. That of the log loss allows for its skewness. Variance and
    skewness of few rows are shrunk towards those that the scores predict. Losses are unbounded: an
    interval cannot allow for rare rows with a large loss that the data lack.

    The largest of many differences is too large on average, so `ks_statistic` has an interval from
    a band around both curves. It contains the true value in at least 95% of samples, and is wider
    than necessary. With `cluster`, it is null.

    With `cluster`, `reference="rest"` takes time proportional to the rows times the segments.

    References
    ----------
    J. A. Hanley and B. J. McNeil, "The meaning and use of the area under a receiver operating
    characteristic (ROC) curve", Radiology 1982; R. G. Newcombe, "Confidence intervals for an effect
    size measure based on the Mann-Whitney statistic. Part 2", Statistics in Medicine 2006; E. R.
    DeLong, D. M. DeLong and D. L. Clarke-Pearson, "Comparing the areas under two or more correlated
    receiver operating characteristic curves", Biometrics 1988; G. Y. Zou and A. Donner,
    "Construction of confidence limits about effect measures", Statistics in Medicine 2008; G. W.
    Brier, "Verification of forecasts expressed in terms of probability", Monthly Weather Review
    1950; D. K. McClish, "Analyzing a portion of the ROC curve", Medical Decision Making 1989; K.
    Boyd, K. H. Eng and C. D. Page, "Area under the precision-recall curve: point estimates and
    confidence intervals", ECML PKDD 2013; P. Hall, "On the removal of skewness by transformation",
    Journal of the Royal Statistical Society B 1992.

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
    request = IntervalRequest.of(options["interval"], level, options["cluster"])
    further = {} if metrics is None else find_ranking_metrics(metrics)
    _check_are_further(further)
    optional = {
        "reference": reference is not None,
        "interval": request is not None,
        _FURTHER: bool(further),
    }

    def check(query: Query) -> None:
        if reference is not None:
            check_by(query, "ranking with a reference")
            check_reference(reference, query, {})

    def compute(scored: ScoredFrame) -> Columns:
        columns, aucs, totals = _ranking_columns(
            scored, further, level, with_limits=request is not None
        )
        if reference is not None:
            columns |= auc_difference_columns(reference, scored, aucs, totals, level)
            warn_of_single_segment(scored.counted_frame, "ranking with a reference")
        return scored.counted_frame.by_columns(np.arange(totals.n_segments)) | columns

    return run_method(
        frame,
        METHOD,
        {"y_true": y_true, "y_score": y_score, "by": by, **options},
        compute,
        metrics=list(further),
        input_spec=InputSpec(scores=True),
        source=ScoreSource(Thresholds()),
        optional_columns=[name for name, is_added in optional.items() if is_added],
        check_query=check,
    )


def _ranking_columns(
    scored: ScoredFrame, further: Mapping[str, ScoreMetric], level: float, *, with_limits: bool
) -> tuple[dict[Name, Any], AnyRocAucs, ClassCounts]:
    """Return the columns of all segments, their areas and their counts.

    On return, the arrays of ties, which may be large, are no longer referenced.
    """
    sample = ScoreSample.of(scored.ties, scored.clusters)
    r = sample.ranking
    row_aucs, totals = RocAucs.of(r), r.points.totals()
    columns: dict[Name, Any] = {"n": totals.n, "n_positive": totals.count(totals.n_correct)}
    aucs: AnyRocAucs = row_aucs
    if scored.clusters is not None:
        aucs = ClusteredRocAucs.of(r, row_aucs, scored.clusters)
        columns["n_clusters"] = aucs.n_clusters
    lower, upper = aucs.limits(level)
    columns |= {_AUC: row_aucs.auc, f"{_AUC}_lower": lower, f"{_AUC}_upper": upper}
    others = {name: find_ranking_metric(name) for name in (*_SCORES, *_DETAILS)}
    for name, metric in {**others, **further}.items():
        columns[name] = sample.estimate(metric)
        if with_limits or name in further:
            columns |= _limit_columns(name, sample.limits(metric, columns[name], level))
    return columns, aucs, totals


def _check_are_further(metrics: Mapping[str, ScoreMetric]) -> None:
    """Raise for a metric that has a column already."""
    for name, metric in metrics.items():
        if metric.name in (_AUC, *_SCORES, *_DETAILS):
            raise InvalidInputError(
                "{metrics} names {!r}, which ranking returns in any case, in the column {!r}{}. "
                "{interval} adds its confidence interval. Name further metrics only, such as "
                "roc_auc(max_fpr=0.1).",
                name,
                metric.name,
                " with detail" if metric.name in _DETAILS else "",
                metrics=OPTION,
                interval=True,
            )


def _limit_columns(name: str, limits_: Limits) -> dict[Name, Any]:
    return {f"{name}_lower": limits_[0], f"{name}_upper": limits_[1]}
