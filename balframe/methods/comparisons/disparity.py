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

    The extremes of many segments look far apart by selection alone. The intervals and the p-value
    allow for this: they hold simultaneously for all pairs of segments. For two segments, they are
    those of `gaps`. Metrics that are not linear in recalls, segments with different labels and rows
    in clusters have intervals of each segment, as in `check`.

    Parameters
    ----------
    min_support : int, default 10
        Rows that the smallest denominator of a metric needs, or the rarest label of a mean of
        recalls; other segments are counted in `n_left_out`. With 0, segments are compared on the
        labels that they have.

    Returns
    -------
    frame of the same library
        One row per [margin], [model] and metric, in this order. Columns in brackets follow from
        options:

        - [`grouped_by`: the columns that define the segments], [`model`], `metric`
        - `lowest_<by>`, `highest_<by>` for each by-column: the segments with the lowest and the
          highest score; in a tie, the one with the most rows
        - `difference`: highest - lowest; `lower`, `upper`: its confidence interval; `p_value`: of
          the test that no two segments differ, below 1 - `level` exactly if the interval excludes
          0. They are null if one of these segments has no interval. Of more than 35 segments, the
          600 most different pairs are compared; others could only raise the lower limit.
        - `n_left_out`: segments not compared, because the score is undefined or `min_support` is
          not reached

        With `detail`, also:

        - with `missing="correct"`, `n_labelled`: rows with a true label in the segments compared
        - `lowest`, `highest`: the two scores
        - `ratio`: lowest / highest; `ratio_lower`, `ratio_upper`: its confidence interval, null if
          a score is below 0 or the highest is 0. If the metric is linear in recalls, it excludes 1
          exactly if that of the difference excludes 0.
        - `n_segments`: segments compared; with `cluster`, `n_clusters` in them
        - `statistic`, `df`, `p_value_all`: statistic Q, degrees of freedom and p-value of the test
          that all segments have the same score, which adds up all deviations. Null for metrics
          that are not linear in recalls, and if segments have different labels. It has little
          power if the rarest label expects less than about one error.
        - `p_value_recalls`: of the test of equal recalls, with more power if errors are rare, but
          too many rejections if scores are equal and recalls are not. Also null if a support is
          under 10 (effective) rows, and with `cluster`.
        - `note`: why a p-value is null

        Nothing is adjusted for the number of rows of the result. With `cluster`, Q is compared with
        an F distribution.

    References
    ----------
    P. J. Laud, Pharmaceutical Statistics 2017, for the intervals of pairs; J. W. Tukey, "The
    problem of multiple comparisons", 1953, for their critical value; J. J. Gart and J. Nam,
    Biometrics 1988, for ratios; C. R. Rao, "Large sample tests of statistical hypotheses", 1948,
    for the test of equal scores; F. E. Satterthwaite, Biometrics Bulletin 1946; W. G. Cochran,
    Biometrics 1954, for the test of equal recalls; J. N. K. Rao and A. J. Scott, JASA 1981, for
    rows in clusters.

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
