"""The method `fairness`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, Unpack, get_args

import numpy as np

from balframe._validate import check_level, check_min_support
from balframe.api.columns import (
    EXTREME_COLUMNS,
    HEADING_SEPARATOR,
    N_CLUSTERS,
    ROLL_UP_KEYS,
    Naming,
    Span,
    count,
    details,
    estimate,
    key,
    limits,
    note,
    test,
)
from balframe.api.method import Method
from balframe.api.metric_selection import MetricSelection, check_by, warn_of_single_segment
from balframe.api.options import (
    DEFAULT_MIN_SUPPORT,
    ClusterOptions,
    DetailOptions,
    LabelMethodOptions,
    LevelOptions,
    Names,
)
from balframe.api.run import Columns, run_method
from balframe.core.sample import Sample
from balframe.frames.adapter import FrameT, Name
from balframe.frames.counted_frame import CountedFrame, SegmentGroup
from balframe.methods.comparisons.extremes import (
    ExtremesSearch,
    SegmentExtremes,
    extreme_columns,
    group_samples,
)

_Measure = Literal["difference", "ratio"]
_MEASURES: tuple[_Measure, ...] = get_args(_Measure)


@dataclass(frozen=True, slots=True)
class Criterion:
    """A named criterion, measured on the metric whose segments are furthest apart."""

    name: str
    metrics: tuple[str, ...]


CRITERIA = (
    Criterion("demographic_parity", ("selection_rate",)),
    Criterion("equal_opportunity", ("recall",)),
    Criterion("equalized_odds", ("recall", "false_positive_rate")),
    Criterion("predictive_parity", ("precision",)),
    Criterion("accuracy_equality", ("accuracy",)),
    Criterion("treatment_equality", ("treatment_ratio",)),
)
METRICS = list(dict.fromkeys(metric for criterion in CRITERIA for metric in criterion.metrics))

METHOD = Method.of(
    *ROLL_UP_KEYS,
    key("criterion", identifies=True, naming=Naming.CRITERION, heading=HEADING_SEPARATOR),
    key("measure", identifies=True, naming=Naming.MEASURE),
    estimate("estimate", identifies=True, span=Span.BY_ROW),
    *limits(about="estimate"),
    *EXTREME_COLUMNS,
    count("n_left_out"),
    *details(
        note("metric", naming=Naming.METRIC),
        test("p_value"),
        estimate("lowest", span=Span.METRIC),
        estimate("highest", span=Span.METRIC),
        count("n_segments"),
        N_CLUSTERS,
    ),
)


class _Options(LevelOptions, ClusterOptions, LabelMethodOptions, DetailOptions, total=False): ...


@METHOD
def fairness(
    frame: FrameT,
    y_true: Name,
    y_pred: Names,
    *,
    by: Names,
    min_support: int = DEFAULT_MIN_SUPPORT,
    **options: Unpack[_Options],
) -> FrameT:
    """Return one row per criterion of group fairness with its largest difference and ratio.

    Each criterion requires that a rate is equal in all segments. It is measured on the two segments
    that are furthest apart.

    | criterion | rate that is equal in all segments |
    | --- | --- |
    | demographic_parity | selection_rate |
    | equal_opportunity | recall |
    | equalized_odds | recall and false_positive_rate; the larger gap of the two counts |
    | predictive_parity | precision |
    | accuracy_equality | accuracy |
    | treatment_equality | treatment_ratio: FN / FP |

    The numbers are the same as in `disparity`. Only the interval and the p-value of equalized_odds
    are adjusted for its two rates (Bonferroni). Most of these criteria cannot hold together if the
    prevalence differs between segments. No criterion says which side is good for a person: for
    ratios of the favourable side, and the four-fifths rule, call `impact`.

    Parameters
    ----------
    min_support : int, default 10
        Minimum number of rows in the denominator of a rate; segments with fewer rows are not
        compared, and counted in `n_left_out`. For treatment_ratio, it is the number of false
        negatives and false positives.

    Returns
    -------
    frame of the same library
        One row for each [margin], [model], criterion and measure, in this order. Columns in
        brackets are present only if the options ask for them:

        - [`grouped_by`: the columns that define the segments], [`model`]
        - `criterion`; `measure`: "difference" (highest - lowest; 0 means equal) or "ratio" (lowest
          / highest; 1 means equal)
        - `estimate`, `lower`, `upper`: the measure and its confidence interval. The interval allows
          for the choice among all segments, but is not adjusted for the other rows of the result.
          All three are null if fewer than two segments can be compared in a rate. Ratios are also
          null if every rate is 0 in all segments.
        - `lowest_<by>`, `highest_<by>` for each by-column: the two segments that are furthest apart
        - `n_left_out`: number of segments not compared, because a rate is undefined or
          `min_support` is not reached

        With `detail`, also:

        - `metric`: the rate whose segments are furthest apart
        - `p_value`: p-value of the test that no two segments differ, from the comparison of all
          pairs that gives the interval. It is below 1 - `level` exactly if the interval excludes
          equality. Null for the ratio of treatment_equality. As in `disparity`, the interval and
          the p-value are null if one of the segments has no interval of its own.
        - `lowest`, `highest`: the rates of the two segments
        - `n_segments`: number of segments compared
        - with `cluster`, `n_clusters`: number of clusters with rows in these segments

    References
    ----------
    M. Hardt, E. Price and N. Srebro, "Equality of opportunity in supervised learning", NeurIPS
    2016; A. Chouldechova, "Fair prediction with disparate impact", Big Data 2017; R. Berk et al.,
    "Fairness in criminal justice risk assessments", Sociological Methods & Research 2021.

    Examples
    --------
    >>> import balframe as bf
    >>> races = ["African-American", "Caucasian"]
    >>> compas = bf.datasets.compas(backend="pandas").query("race in @races")
    >>> out = bf.fairness(compas, "reoffended", "high_risk", by="race", counts="n")
    >>> print(out.query("measure == 'ratio'").round(3).to_string(index=False))
             criterion measure  estimate  lower  upper      lowest_race     highest_race  n_left_out
    demographic_parity   ratio     0.592  0.557  0.628        Caucasian African-American           0
     equal_opportunity   ratio     0.726  0.678  0.775        Caucasian African-American           0
        equalized_odds   ratio     0.523  0.463  0.589        Caucasian African-American           0
     predictive_parity   ratio     0.939  0.879  1.000        Caucasian African-American           0
     accuracy_equality   ratio     0.953  0.918  0.989 African-American        Caucasian           0
    treatment_equality   ratio     0.500  0.375  0.667 African-American        Caucasian           0
    """
    selection = MetricSelection.of(METRICS, None, ())
    check_level(options["level"])
    check_min_support(min_support)

    def compute(counted_frame: CountedFrame) -> Columns:
        warn_of_single_segment(counted_frame, "fairness")
        search = ExtremesSearch(options["level"], min_support)
        rows = [
            row
            for group, members in group_samples(selection.sample(counted_frame), counted_frame)
            for row in measure_criteria(search, selection, members, group)
        ]
        return criteria_columns(counted_frame, rows)

    return run_method(
        frame,
        METHOD,
        {"y_true": y_true, "y_pred": y_pred, "by": by, **options},
        compute,
        check_query=lambda query: check_by(query, "fairness"),
        check_labels=selection.check_labels,
    )


_MEASURE_COLUMNS = ("estimate", "lower", "upper", "p_value")
_CLUSTERS = "n_clusters"
_SEGMENT_COLUMNS = ("lowest", "highest", "n_segments", "n_left_out", _CLUSTERS)


@dataclass(frozen=True, slots=True)
class CriterionRow:
    """A measure of a criterion; `extremes` are those of the metric that is furthest apart."""

    group: SegmentGroup
    criterion: str
    measure: str
    extremes: SegmentExtremes
    values: dict[str, float]


def _criterion_row(
    criterion: Criterion,
    measure: _Measure,
    extremes: Sequence[SegmentExtremes],
    group: SegmentGroup,
) -> CriterionRow:
    """Return the largest difference, or the smallest ratio, of the metrics of a criterion."""
    are_zero = [metric.zero_ratio_limits is not None for metric in extremes]
    sign = -1 if measure == "difference" else 1
    estimates, limits, p_values = zip(
        *(_measured(metric, measure, other_counts=not all(are_zero)) for metric in extremes),
        strict=True,
    )
    worst = int(np.argmin(sign * np.array(estimates)))  # the first NaN, if there is any
    columns = extremes[worst].numeric_columns
    lower, upper = sign * np.min(sign * np.array(limits), axis=0)
    compared_in_all = frozenset.intersection(*(metric.compared for metric in extremes))
    return CriterionRow(
        group,
        criterion.name,
        measure,
        extremes[worst],
        {
            "estimate": columns[measure],
            "lower": float(lower),
            "upper": float(upper),
            "p_value": float(np.minimum(len(p_values) * np.min(p_values), 1)),
            **{name: columns[name] for name in _SEGMENT_COLUMNS},
            "n_left_out": len(group.segments) - len(compared_in_all),
        },
    )


def _measured(
    metric: SegmentExtremes, measure: _Measure, *, other_counts: bool
) -> tuple[float, tuple[float, float], float]:
    """Return a measure with its limits and its p-value.

    Rates of 0 in all segments are equal, so the ratio of another rate counts, and only the limits
    allow for their uncertainty.
    """
    if measure == "difference":
        return metric.difference, metric.difference_limits, metric.p_value
    if metric.zero_ratio_limits is not None and other_counts:
        return np.inf, metric.zero_ratio_limits, 1.0
    return metric.ratio, metric.ratio_limits, metric.ratio_p_value


def measure_criteria(
    search: ExtremesSearch, selection: MetricSelection, sample: Sample, group: SegmentGroup
) -> Iterator[CriterionRow]:
    """Yield every measure of every criterion for a group of segments with this sample."""

    @cache  # several criteria look at the same rate
    def find(name: str, n_metrics: int) -> SegmentExtremes:
        return search.find(name, selection.metrics[name], sample, group.segments, n_metrics)

    for criterion in CRITERIA:
        extremes = [find(name, len(criterion.metrics)) for name in criterion.metrics]
        for measure in _MEASURES:
            yield _criterion_row(criterion, measure, extremes, group)


def criteria_columns(counted_frame: CountedFrame, rows: Sequence[CriterionRow]) -> dict[Name, Any]:
    """Return the columns of one row per group, criterion and measure."""
    columns, segments = extreme_columns(
        counted_frame, [row.group for row in rows], [row.extremes for row in rows]
    )
    texts = {
        "criterion": (
            [criterion.name for criterion in CRITERIA],
            [row.criterion for row in rows],
        ),
        "measure": (_MEASURES, [row.measure for row in rows]),
        "metric": (METRICS, [row.extremes.metric for row in rows]),
    }
    for name, (categories, values) in texts.items():
        codes = np.array([categories.index(value) for value in values], np.int64)
        columns[name] = counted_frame.text_column(categories, codes)
    for name in (*_MEASURE_COLUMNS, *_SEGMENT_COLUMNS):
        if name != _CLUSTERS or counted_frame.clusters is not None:
            dtype = np.int64 if name.startswith("n_") else np.float64
            columns[name] = np.array([row.values[name] for row in rows], dtype)
    return columns | segments
