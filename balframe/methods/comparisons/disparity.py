"""The method `disparity`."""

from typing import Unpack

import numpy as np

from balframe._validate import check_level, check_min_support
from balframe.api.columns import (
    CORRECTED,
    EXTREME_COLUMNS,
    N_CLUSTERS,
    N_LABELLED,
    NOTE,
    ROLL_UP_KEYS,
    Kind,
    Naming,
    Span,
    count,
    details,
    estimate,
    key,
    limits,
    note,
    statistic,
    test,
)
from balframe.api.method import Method
from balframe.api.metric_selection import COMPARED_METRICS, Metrics, MetricSelection, check_by
from balframe.api.options import (
    DEFAULT_MIN_SUPPORT,
    ClassWeightOptions,
    ClusterOptions,
    DetailOptions,
    LevelOptions,
    Names,
    OutcomeOptions,
    PartlyLabelledRowOptions,
    ResultOptions,
)
from balframe.api.run import Columns, run_method
from balframe.frames.adapter import FrameT, Name
from balframe.frames.counted_frame import CountedFrame, SegmentGroup
from balframe.frames.query import Query
from balframe.methods.comparisons.extremes import (
    ExtremesSearch,
    SegmentExtremes,
    extreme_columns,
    group_samples,
)
from balframe.metrics.partly_labelled import check_can_estimate

METHOD = Method.of(
    *ROLL_UP_KEYS,
    key("metric", identifies=True, naming=Naming.METRIC),
    *EXTREME_COLUMNS,
    estimate("difference", identifies=True, span=Span.EXTREMES),
    *limits(about="difference"),
    test("p_value"),
    count("n_left_out"),
    *details(
        N_LABELLED,
        estimate("lowest", span=Span.METRIC),
        estimate("highest", span=Span.METRIC),
        estimate("ratio", span=Span.UNIT),
        *limits("ratio"),
        count("n_segments"),
        N_CLUSTERS,
        statistic("statistic"),
        count("df"),
        test("p_value_all"),
        test("p_value_recalls"),
        note(NOTE),
    ),
)


class _Options(
    OutcomeOptions,
    ClassWeightOptions,
    LevelOptions,
    ClusterOptions,
    PartlyLabelledRowOptions,
    ResultOptions,
    DetailOptions,
    total=False,
): ...


@METHOD
def disparity(
    frame: FrameT,
    y_true: Name = None,
    y_pred: Names = None,
    *,
    by: Names,
    metrics: Metrics = None,
    min_support: int = DEFAULT_MIN_SUPPORT,
    **options: Unpack[_Options],
) -> FrameT:
    """Return one row per metric with its lowest and highest segment, and tests of equality.

    The extremes of many segments look far apart by selection alone. The confidence intervals and
    the p-value allow for this: they come from a comparison of all pairs of segments, with intervals
    that hold simultaneously. For two segments, they are those of `gaps`. Metrics that are not
    linear in recalls, segments with different labels and rows in clusters are compared by intervals
    of each segment, which are those of `check`.

    Parameters
    ----------
    min_support : int, default 10
        Minimum number of rows in the smallest denominator of a metric; segments with fewer rows are
        not compared, and counted in `n_left_out`. For a mean of recalls, this denominator is the
        support of the rarest label. With 1 or more, a segment that lacks a label of another segment
        is not compared on such a mean. With 0, it is compared on the labels it has.

    Returns
    -------
    frame of the same library
        One row for each [margin], [model] and metric, in this order. Columns in brackets are
        present only if the options ask for them:

        - [`grouped_by`: the columns that define the segments], [`model`], `metric`
        - `lowest_<by>`, `highest_<by>` for each by-column: the segments with the lowest and the
          highest score; in a tie, the one with the most rows
        - `difference`: highest - lowest; `lower`, `upper`: its confidence interval; `p_value`:
          p-value of the test that no two segments differ. It is below 1 - `level` exactly if this
          interval excludes 0. With more than 35 segments, the 600 most different pairs are
          compared; the pairs left out could only raise the lower limit. p_value and both limits are
          null if one of these segments has no interval, as for metrics without intervals. With
          `cluster`, a segment has none if all its rows of a label or a denominator are in one
          cluster; a larger `min_support` may leave it out.
        - `n_left_out`: number of segments not compared, because the score is undefined or
          `min_support` is not reached. With fewer than two segments, nothing is compared.

        With `detail`, also:

        - with `missing="correct"`, `n_labelled`: number of rows with a true label in the segments
          compared
        - `lowest`, `highest`: the scores of the two segments
        - `ratio`: lowest / highest; `ratio_lower`, `ratio_upper`: its confidence interval. They are
          null if a score is below 0 or the highest is 0. For a metric that is linear in recalls,
          the interval excludes 1 exactly if that of the difference excludes 0. For other metrics,
          it is derived from simultaneous intervals of all segments (Bonferroni), and null if the
          lower limit of one is below 0.
        - `n_segments`: number of segments compared
        - with `cluster`, `n_clusters`: number of clusters with rows in these segments
        - `statistic`, `df`, `p_value_all`: statistic Q, degrees of freedom and p-value of the test
          that all segments have the same score, where each has its own recalls. It adds up all
          deviations, and is not about the two extremes. Null for metrics that are not linear in
          recalls, and if segments have different labels. The test has little power if the rarest
          label has fewer than about one expected error. With one label, segments that expect less
          than one error are also compared in pools, and the larger p-value is taken.
        - `p_value_recalls`: p-value of the test of equal recalls. It also compares scores, but with
          standard errors from recalls pooled over the segments. It has more power if errors are
          rare, but rejects too often if scores are equal and recalls are not. Also null if a
          support is under 10 (effective) rows, and with `cluster`.
        - `note`: why a p-value is null; null if all are defined

        The intervals and p-values are not adjusted for the number of rows of the result. With
        `cluster`, Q is compared with an F distribution whose degrees of freedom are estimated from
        the variation between clusters, and which may be fewer than `df`.

    References
    ----------
    P. J. Laud, "Equal-tailed confidence intervals for comparison of rates", Pharmaceutical
    Statistics 2017, for the intervals of pairs; J. W. Tukey, "The problem of multiple comparisons",
    1953, for their critical value; J. J. Gart and J. Nam, "Approximate interval estimation of the
    ratio of binomial parameters", Biometrics 1988, for ratios; C. R. Rao, "Large sample tests of
    statistical hypotheses concerning several parameters with applications to problems of
    estimation", 1948, for the test of equal scores; F. E. Satterthwaite, "An approximate
    distribution of estimates of variance components", Biometrics Bulletin 1946; W. G. Cochran, "The
    combination of estimates from different experiments", Biometrics 1954, for the test of equal
    recalls; J. N. K. Rao and A. J. Scott, "The analysis of categorical data from complex sample
    surveys", JASA 1981, for rows in clusters.

    Examples
    --------
    >>> import balframe as bf
    >>> compas = bf.datasets.compas(backend="pandas")
    >>> out = bf.disparity(
    ...     compas, "reoffended", "high_risk", by="race", counts="n",
    ...     metrics="false_positive_rate", min_support=100, detail=True,
    ... )
    >>> print(out.round(3).T.to_string(header=False))
    metric           false_positive_rate
    lowest_race                    Other
    highest_race        African-American
    difference                     0.301
    lower                           0.23
    upper                          0.362
    p_value                          0.0
    n_left_out                         2
    lowest                         0.148
    highest                        0.448
    ratio                          0.329
    ratio_lower                    0.213
    ratio_upper                    0.477
    n_segments                         4
    statistic                    237.701
    df                                 3
    p_value_all                      0.0
    p_value_recalls                  0.0
    note                             NaN
    """
    selection = MetricSelection.of(metrics, options["class_weight"], COMPARED_METRICS)
    check_level(options["level"])
    check_min_support(min_support)

    def check(query: Query) -> None:
        check_by(query, "disparity")
        check_can_estimate(selection.metrics, options)

    def compute(counted_frame: CountedFrame) -> Columns:
        search = ExtremesSearch(
            options["level"],
            min_support,
            tests_all=options["detail"],
            has_ratios=options["detail"],
        )
        groups: list[SegmentGroup] = []
        rows: list[SegmentExtremes] = []
        for group, members in group_samples(selection.sample(counted_frame), counted_frame):
            for name, metric in selection.metrics.items():
                groups.append(group)
                rows.append(search.find(name, metric, members, group.segments))
        columns, segments = extreme_columns(counted_frame, groups, rows)
        names = list(selection.metrics)
        columns["metric"] = counted_frame.text_column(
            names, np.array([names.index(row.metric) for row in rows], np.int64)
        )
        has_column = {
            None: True,
            "cluster": counted_frame.clusters is not None,
            CORRECTED: counted_frame.strata is not None,
        }
        for column in METHOD.layouts[""]:
            is_numeric = column.kind in (Kind.INTEGER, Kind.FLOAT)
            if is_numeric and has_column[column.only_with]:
                dtype = np.int64 if column.kind is Kind.INTEGER else np.float64
                values = [row.numeric_columns[column.name] for row in rows]
                columns[column.name] = np.array(values, dtype)
        notes = sorted({row.note for row in rows if row.note is not None})
        codes = [len(notes) if row.note is None else notes.index(row.note) for row in rows]
        columns[NOTE] = counted_frame.text_column(notes, np.array(codes, np.int64))
        return columns | segments

    return run_method(
        frame,
        METHOD,
        {"y_true": y_true, "y_pred": y_pred, "by": by, **options},
        compute,
        check_query=check,
        check_labels=selection.check_labels,
    )
