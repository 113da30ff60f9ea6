"""The method `gaps`."""

from typing import Unpack

import numpy as np

from balframe._validate import check_level
from balframe.api.columns import (
    DESIGN_COLUMNS,
    FEWEST_LABELS,
    METRIC_KEY,
    MIN_SUPPORT,
    N_CLUSTERS,
    N_LABELLED,
    P_ADJUSTED,
    SEGMENT_KEYS,
    SUPPORT_COLUMNS,
    UNADJUSTED_TEST_COLUMNS,
    VERDICT,
    Span,
    count,
    details,
    estimate,
    limits,
    metric_estimate,
    note,
)
from balframe.api.method import Method
from balframe.api.metric_selection import (
    COMPARED_METRICS,
    Metrics,
    MetricSelection,
    check_adjust,
    check_by,
    warn_of_single_segment,
)
from balframe.api.option_types import THE_REST, ReferenceOption
from balframe.api.options import (
    AdjustmentOptions,
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
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.query import N, Query
from balframe.methods.comparisons.reference import check_reference, check_unambiguous, compare_group
from balframe.methods.comparisons.segments import Comparison, gap_columns
from balframe.metrics.partly_labelled import check_can_estimate

METHOD = Method.of(
    *SEGMENT_KEYS,
    METRIC_KEY,
    metric_estimate(identifies=True, tested_by=VERDICT.name, support=MIN_SUPPORT),
    estimate("difference", identifies=True, span=Span.AROUND_ZERO, ranks_rows=True),
    *limits(about="difference"),
    P_ADJUSTED,
    VERDICT,
    count(N),
    *details(
        N_LABELLED,
        note("reference"),
        estimate("reference_estimate"),
        estimate("ratio"),
        FEWEST_LABELS,
        *SUPPORT_COLUMNS,
        N_CLUSTERS,
        *DESIGN_COLUMNS,
        *UNADJUSTED_TEST_COLUMNS,
    ),
    hints={
        "baseline": "gaps compares segments with the one that reference names. For another "
        "model, call compare, and for an earlier run, check or monitor.",
    },
)


class _Options(
    OutcomeOptions,
    AdjustmentOptions,
    ClassWeightOptions,
    LevelOptions,
    ClusterOptions,
    PartlyLabelledRowOptions,
    ResultOptions,
    DetailOptions,
    total=False,
): ...


@METHOD
def gaps(
    frame: FrameT,
    y_true: Name = None,
    y_pred: Names = None,
    *,
    by: Names,
    metrics: Metrics = None,
    reference: ReferenceOption = THE_REST,
    **options: Unpack[_Options],
) -> FrameT:
    """Return one row per segment and metric with its difference from the rest or a reference.

    By default, each segment is compared with the rest: all rows outside the segment. The two are
    independent, as a segment and the whole are not. Averages over labels use only the labels
    present on both sides, so that no segment seems better for lack of a difficult label.

    Parameters
    ----------
    reference : "rest", "overall", "largest", "best", "worst", a value, or a mapping
        What each segment is compared with: all other segments together ("rest"), all rows
        ("overall", without interval and p-value), the segment with the most rows ("largest"), the
        segment with the "best" or "worst" score, or the segment with this value in the by-column.
        `{"sex": "F", "race": "A"}` names a segment of several columns. Intervals and p-values
        against the best or worst segment allow for its choice among all segments. A word that is
        also a value of the by-column is refused; by default, segments of any name are compared with
        the rest.

    Returns
    -------
    frame of the same library
        One row per segment, [model] and metric, in this order. Columns in brackets follow from
        options:

        - the by-columns, [`grouped_by`: those that define the segment], [`model`]
        - `metric`, `estimate`: the score over the labels present on both sides, so that an average
          may differ from that of `report`
        - `difference`: estimate less the score of the reference; `lower`, `upper`: its confidence
          interval, not adjusted for multiple testing; null for metrics without an interval, and
          where few rows determine a side, which then has no limits that decide
        - `p_adjusted`: p-value of the two-sided test of equality, adjusted for multiple testing;
          null without limits, and for metrics without a test
        - `verdict`: "better" or "worse" if `p_adjusted` is below 1 - `level`, otherwise "not
          decided"; "higher" or "lower" for a metric without a better direction
        - `n`: rows of the segment

        With `detail`, also:

        - `reference`: its name; `reference_estimate`: its score; `ratio`: estimate /
          reference_estimate, null if either is below 0 or the second is 0
        - with `missing="correct"`, `n_labelled`: rows with a true label; `fewest_labels`: the
          fewest of them in a stratum
        - `n_labels`: labels on both sides; `min_support`: rows of the rarest of these
        - with `cluster`, `n_clusters`; `effective_clusters` and `design_effect` of `estimate`
        - `p_value`: before the adjustment; `n_tests`: p-values in the family

        The row of the reference has the difference 0 and no interval. `reference="rest"` pools
        rows: if segments have equal scores but unequal recalls, that of the rest may differ. To
        test whether all segments are equal, choose one as reference, or call `disparity`.

    Raises
    ------
    BalframeError
        If an argument is invalid, or the reference does not exist.

    References
    ----------
    P. J. Laud, "Equal-tailed confidence intervals for comparison of rates", Pharmaceutical
    Statistics 2017, for proportions and, by extension, means of recalls; R. G. Newcombe, "Interval
    estimation for the difference between independent proportions", Statistics in Medicine 1998,
    for other metrics and with `cluster`, from the limits of both sides; Y. Benjamini and
    Y. Hochberg, "Controlling the false discovery rate", JRSS B 1995.

    Examples
    --------
    >>> import balframe as bf
    >>> races = ["African-American", "Caucasian"]
    >>> compas = bf.datasets.compas(backend="pandas").query("race in @races")
    >>> out = bf.gaps(
    ...     compas, "reoffended", "high_risk", by="race", counts="n",
    ...     metrics="fpr", reference="Caucasian",
    ... )
    >>> print(out.round(4).to_string(index=False))
                race metric  estimate  difference  lower  upper  p_adjusted verdict    n
    African-American    fpr    0.4485      0.2139 0.1822 0.2452         0.0   worse 3696
           Caucasian    fpr    0.2345      0.0000    NaN    NaN         NaN     NaN 2454
    """
    selection = MetricSelection.of(metrics, options["class_weight"], COMPARED_METRICS)
    check_adjust(options["adjust"])
    check_level(options["level"])

    def check(query: Query) -> None:
        check_by(query, "gaps")
        check_can_estimate(selection.metrics, options)
        check_reference(reference, query, selection.metrics)

    def compute(counted_frame: CountedFrame) -> Columns:
        sample = selection.sample(counted_frame)
        check_unambiguous(reference, counted_frame)
        warn_of_single_segment(counted_frame, "gaps")
        groups = counted_frame.groups()
        group_tables = [
            compare_group(
                reference,
                selection.metrics,
                options["level"],
                group,
                sample.at(group.segments),
                counted_frame,
            )
            for group in groups
        ]
        tables = {
            name: Comparison.concat([table[name] for table in group_tables])
            for name in selection.metrics
        }
        if len(groups) > 1:
            order = np.argsort(np.concatenate([group.segments for group in groups]))
            tables = {name: table.at(order) for name, table in tables.items()}
        return gap_columns(
            counted_frame, sample, tables, selection.metrics, options["level"], options["adjust"]
        )

    return run_method(
        frame,
        METHOD,
        {"y_true": y_true, "y_pred": y_pred, "by": by, **options},
        compute,
        check_query=check,
        check_labels=selection.check_labels,
    )
