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
from balframe.api.interval_estimates import clip_limits
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
from balframe.core.array_types import FloatArray
from balframe.core.class_counts import ClassCounts, segments_at
from balframe.core.cluster_ties import cluster_segments
from balframe.core.ranking import Ranking
from balframe.core.score_ties import Ties
from balframe.errors import OPTION, InvalidInputError
from balframe.frames.adapter import FrameT, Name
from balframe.frames.query import InputSpec, N, Query
from balframe.frames.scores import ScoredFrame
from balframe.frames.sources import ScoreSource
from balframe.frames.thresholds import Thresholds
from balframe.methods.comparisons.reference import (
    SegmentReference,
    check_reference,
    check_unambiguous,
    find_reference,
    n_candidates,
)
from balframe.methods.thresholds.auc import (
    ClusteredRocAucs,
    RocAucs,
    clustered_complement_aucs,
    complement_aucs,
)
from balframe.metrics.lookup import find_ranking_metric, find_ranking_metrics
from balframe.metrics.score_metrics import ScoreMetric
from balframe.stats.base import IntervalRequest
from balframe.stats.cluster_influence import influence_correlation
from balframe.stats.differences import mover_difference

# Differences of areas under ROC curves between segments and their references.


AnyRocAucs = RocAucs | ClusteredRocAucs

_COLUMNS = (
    *("reference_roc_auc", "roc_auc_difference"),
    *("roc_auc_difference_lower", "roc_auc_difference_upper"),
)


def auc_difference_columns(
    option: object, scored: ScoredFrame, aucs: AnyRocAucs, c: ClassCounts, level: float
) -> dict[Name, Any]:
    """Return the columns that compare the segments of each group with a reference."""
    counted_frame = scored.counted_frame
    check_unambiguous(option, counted_frame)
    values = np.full((len(_COLUMNS), c.n_segments), np.nan)
    names, name_codes = [], np.zeros(c.n_segments, np.int64)
    for code, group in enumerate(counted_frame.groups()):
        group_aucs, group_counts = aucs.at(group.segments), segments_at(c, group.segments)
        reference = find_reference(
            option, group_aucs.auc, "higher", group, group_counts, counted_frame
        )
        request = IntervalRequest(None, level).bonferroni(n_candidates(option, group_counts))
        ties, cluster_ties = scored.ties.at(group.segments), scored.clusters
        if cluster_ties is not None:
            is_member = np.isin(cluster_segments(cluster_ties), group.segments)
            cluster_ties = cluster_ties.at(np.flatnonzero(is_member))
        values[:, group.segments] = _compare(
            group_aucs, reference, (ties, cluster_ties), request.level
        )
        name_codes[group.segments] = code
        names.append(reference.name)
    reference_column = {"reference": counted_frame.text_column(names, name_codes)}
    return reference_column | dict(zip(_COLUMNS, values, strict=True))


def _compare(
    aucs: AnyRocAucs, reference: SegmentReference, ties: tuple[Ties, Ties | None], level: float
) -> tuple[FloatArray, ...]:
    """Return the reference's areas, the differences and their limits.

    A segment that shares rows with the reference has no limits.
    """
    reference_aucs = _reference_aucs(aucs, reference, *ties)
    difference = aucs.auc - reference_aucs.auc
    r: FloatArray | float = 0
    if isinstance(aucs, ClusteredRocAucs) and isinstance(reference_aucs, ClusteredRocAucs):
        r = influence_correlation(aucs.influence, reference_aucs.influence)
    limits = mover_difference(
        aucs.auc, aucs.limits(level), reference_aucs.auc, reference_aucs.limits(level), r
    )
    lower, upper = clip_limits(*limits, difference, (-1, 1), around_estimate=True)
    shares_rows = reference.shares_rows(np.arange(len(difference)))
    lower, upper = (np.where(shares_rows, np.nan, limit) for limit in (lower, upper))
    return reference_aucs.auc, difference, lower, upper


def _reference_aucs(
    aucs: AnyRocAucs, reference: SegmentReference, ties: Ties, cluster_ties: Ties | None
) -> AnyRocAucs:
    """Return the area of the reference for each segment of a group."""
    zeros = np.zeros(ties.n_segments, np.int64)
    if reference.position is not None:
        return aucs.at(zeros + reference.position)
    if reference.name == "rest" and cluster_ties is not None and len(zeros) > 1:
        return clustered_complement_aucs(ties, cluster_ties)
    if reference.name == "rest" or not len(zeros):
        return complement_aucs(ties)
    return RocAucs.of(Ranking.of(ties.rolled_up((), [0] * len(ties.by)))).at(zeros)


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
        Compare the area under the ROC curve of each segment with that of all other rows ("rest"),
        all rows ("overall", without interval), the segment with the most rows ("largest"), the
        "best" or "worst" one, whose interval allows for its choice, or a segment: a value of the
        by-column, or `{"sex": "F", "race": "A"}` of several. By default, nothing is compared.
    interval : True, optional
        Add the confidence intervals of the other scores; those of `roc_auc` and of `metrics` are
        always there. Each score has one method.

    Returns
    -------
    frame of the same library
        One row per segment and [model], in this order. Columns in brackets follow from options:

        - the by-columns, [`grouped_by`: those that define the segment], [`model`]
        - `roc_auc`: area under the ROC curve, the probability that a positive row scores higher
          than a negative one, ties counting half; null without rows of either
        - `roc_auc_lower`, `roc_auc_upper`: its confidence interval, by Newcombe's method 5, scaled
          towards DeLong's variance as rows grow; with `cluster`, on the logit scale with
          Obuchowski's variance, and null if a label is in one cluster, or the area is 0 or 1
        - with `reference`, `roc_auc_difference`: roc_auc less that of the reference;
          `roc_auc_difference_lower`, `roc_auc_difference_upper`: its confidence interval, from
          those of both areas. There is no p-value.
        - `average_precision`: mean of the precisions at all thresholds, weighted by the increase
          in recall
        - `brier_score`: mean squared difference between score and label; null if a score is
          outside [0, 1]
        - with `metrics`, each further metric and its limits; the partial area is 0.5 for scores
          that ignore the label, and 1 for a perfect ranking
        - `n`: number of rows

        With `detail`, also:

        - with `reference`, `reference`: its name; `reference_roc_auc`: its area
        - `ks_statistic`: largest difference between recall and false positive rate
        - `log_loss`: mean negative log-likelihood; null if a score is outside [0, 1], or one of
          exactly 0 or 1 is wrong
        - `n_positive`: rows with the positive label; with `cluster`, `n_clusters`

        With `interval`, `<score>_lower` and `<score>_upper` follow each score.

    Notes
    -----
    Intervals of areas are too narrow if a minority of the rarer label scores far from the rest.
    Those of average precision, of the Brier score and of the partial area are Wilson's for as many
    rows as have the same variance, that of the log loss allows for skewness, and that of the KS
    statistic comes from a band around both curves: it is wider than necessary, and null with
    `cluster`. With weights, effective sample sizes are used, and coverage has not been studied.
    With `cluster`, `reference="rest"` takes time proportional to the rows times the segments.

    References
    ----------
    J. A. Hanley and B. J. McNeil, Radiology 1982; R. G. Newcombe, Statistics in Medicine 2006, for
    the area; E. R. DeLong and others, Biometrics 1988, for its variance; G. Y. Zou and A. Donner,
    Statistics in Medicine 2008, for differences; G. W. Brier, Monthly Weather Review 1950; D. K.
    McClish, Medical Decision Making 1989, for partial areas; K. Boyd and others, ECML PKDD 2013,
    for average precision; P. Hall, JRSS B 1992, for skewness.

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
    further = _without_returned(further, detail=options["detail"])
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
        if metric.name == _AUC:  # under another name
            columns |= {f"{name}{end}": columns[f"{_AUC}{end}"] for end in ("", "_lower", "_upper")}
            continue
        columns[name] = sample.estimate(metric)
        if with_limits or name in further:
            lower, upper = sample.limits(metric, columns[name], level)
            columns |= {f"{name}_lower": lower, f"{name}_upper": upper}
    return columns, aucs, totals


def _without_returned(
    metrics: Mapping[str, ScoreMetric], *, detail: bool
) -> dict[str, ScoreMetric]:
    """Leave out metrics that have a column of the same name anyway."""
    for name in () if detail else _DETAILS:
        if name in metrics:
            raise InvalidInputError(
                "{metrics} names {!r}, which ranking returns with {detail}; give this instead.",
                name,
                metrics=OPTION,
                detail=True,
            )
    returned = (_AUC, *_SCORES, *_DETAILS)
    return {name: metric for name, metric in metrics.items() if name not in returned}
