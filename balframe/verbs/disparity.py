"""The verb `disparity`."""

from typing import Unpack

import numpy as np

from balframe.analyses.extremes import (
    Extremal,
    Extremes,
    check_min_support,
    compared_groups,
    extreme_columns,
)
from balframe.analyses.scoring import COMPARED, Metrics, Scoring, check_by
from balframe.frames.library import FrameT, Name
from balframe.frames.read import Group, Reading
from balframe.intervals.request import check_level
from balframe.verbs.answer import Columns, answer
from balframe.verbs.columns import (
    EXTREMES,
    N_COMPARED,
    ROLLED_UP,
    Kind,
    Naming,
    Span,
    count,
    estimate,
    key,
    limits,
    statistic,
    test,
)
from balframe.verbs.declaration import Verb
from balframe.verbs.options import ClassWeights, Level, Names, OfLabels

_NUMBERS = (
    estimate("lowest", tells=True, span=Span.METRIC),
    estimate("highest", tells=True, span=Span.METRIC),
    estimate("difference", span=Span.EXTREMES),
    *limits("difference"),
    estimate("ratio", span=Span.UNIT),
    *limits("ratio"),
    *N_COMPARED,
    statistic("statistic"),
    count("df"),
    test("p_value"),
)
VERB = Verb.of(*ROLLED_UP, key("metric", tells=True, naming=Naming.METRIC), *EXTREMES, *_NUMBERS)


class _Options(ClassWeights, Level, OfLabels, total=False): ...


@VERB
def disparity(
    frame: FrameT,
    y_true: Name,
    y_pred: Names,
    *,
    by: Names,
    metrics: Metrics = None,
    min_support: int = 1,
    **options: Unpack[_Options],
) -> FrameT:
    """Find the segments that score lowest and highest: how far apart, and are all alike.

    The extremes of many segments look far apart by selection alone. So the limits come from
    limits of all segments that hold together (Bonferroni), and the test asks whether all are alike.

    Parameters
    ----------
    min_support : int, default 1
        Rows that the smallest denominator of a metric must have for a segment to be compared. That
        of a mean of recalls is the rarest of all labels: with the default, a segment that lacks
        one is left out; with 0, it is compared on the labels it has.

    Returns
    -------
    frame of the same library
        One row for each [margin], [model] and metric, in this order, with

        - [`margin`: the columns that make the segments], [`model`], `metric`
        - `lowest_<by>`, `highest_<by>` for each by-column: the segments that score lowest and
          highest, of several the one with the most rows; `lowest`, `highest`: their scores
        - `difference`: highest - lowest, `difference_lower`, `difference_upper`
        - `ratio`: lowest / highest, `ratio_lower`, `ratio_upper`; null where a score is below 0 or
          the highest is 0, the limits also where that of a segment is below 0
        - `n_segments`: segments compared; `n_left_out`: segments that were not, for the score is
          undefined or `min_support` not reached. With fewer than two, nothing is compared.
        - `statistic`, `df`, `p_value`: Q of the test that all segments are alike, its degrees of
          freedom and p-value; null for metrics that are not linear in recalls, the p-value also
          where a support is under 10

    References
    ----------
    W. G. Cochran, "The combination of estimates from different experiments", Biometrics 1954, for
    the form of the statistic; here the variances are of pooled recalls.

    Examples
    --------
    >>> import balframe as bf
    >>> compas = bf.datasets.compas(backend="pandas")
    >>> out = bf.disparity(
    ...     compas, "reoffended", "high_risk", by="race", counts="n",
    ...     metrics=["false_positive_rate"], min_support=100,
    ... )
    >>> print(out.iloc[:, :8].round(3).T.to_string(header=False))
    metric            false_positive_rate
    lowest_race                     Other
    highest_race         African-American
    lowest                          0.148
    highest                         0.448
    difference                      0.301
    difference_lower                0.206
    difference_upper                0.378
    >>> print(out.iloc[:, 8:].round(3).to_string(index=False))
     ratio  ratio_lower  ratio_upper  n_segments  n_left_out  statistic  df  p_value
     0.329        0.209        0.508           4           2    237.762   3      0.0
    """
    scoring = Scoring.of(metrics, options["class_weight"], COMPARED)
    check_level(options["level"])
    check_min_support(min_support)

    def compute(reading: Reading) -> Columns:
        c = scoring.class_counts(reading)
        search = Extremal(options["level"], min_support)
        groups: list[Group] = []
        rows: list[Extremes] = []
        for group, members, cells in compared_groups(c, reading):
            for name, metric in scoring.metrics.items():
                groups.append(group)
                rows.append(search.find(name, metric, members, cells, group.segments))
        columns, segments = extreme_columns(reading, groups, rows)
        names = list(scoring.metrics)
        columns["metric"] = reading.text_column(
            names, np.array([names.index(row.metric) for row in rows], np.int64)
        )
        for one in _NUMBERS:
            dtype = np.int64 if one.kind is Kind.INTEGER else np.float64
            columns[one.name] = np.array([row.numbers[one.name] for row in rows], dtype)
        return columns | segments

    return answer(
        frame,
        VERB,
        {"y_true": y_true, "y_pred": y_pred, "by": by, **options},
        compute,
        check=lambda query: check_by(query, "disparity"),
        suits=scoring.suits,
    )
