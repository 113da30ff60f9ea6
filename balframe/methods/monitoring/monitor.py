"""The method `monitor`."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypedDict, Unpack

import numpy as np

from balframe._validate import check_choice, check_level, is_number, is_whole_number
from balframe.api.columns import (
    BY,
    COUNT_COLUMNS,
    ESTIMATE,
    HEADING_SEPARATOR,
    METRIC_KEY,
    Kind,
    Span,
    Statuses,
    count,
    details,
    estimate,
    key,
    limits,
    note,
    status,
    test,
)
from balframe.api.method import Method
from balframe.api.metric_selection import Metrics, MetricSelection
from balframe.api.option_types import ExcludeOption, StreamBaselineOption
from balframe.api.options import (
    BackendOptions,
    CellOptions,
    ClassWeightOptions,
    DetailOptions,
    LevelOptions,
    Names,
    Option,
    OutcomeOptions,
    UnweightedRowOptions,
)
from balframe.api.run import Columns, run_method
from balframe.errors import OPTION, InvalidInputError, Spelled, parameter, warn
from balframe.frames.adapter import FrameT, Name
from balframe.frames.by_entries import Period, period
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.earlier_cells import CountedPair
from balframe.frames.query import MODEL, PERIOD, Query
from balframe.methods.monitoring.baseline_data import stream_baseline_request
from balframe.methods.monitoring.decide import (
    ALARM,
    INCONCLUSIVE,
    OK,
    MonitorRequest,
    monitor_metric,
)
from balframe.methods.monitoring.excluded_days import parse_excluded_days
from balframe.methods.monitoring.periods import monitor_warnings, period_columns
from balframe.methods.monitoring.stream import build_stream

# The options of monitoring, which the method and its chart share.


TOLERANCE, LOOKS = 0.05, 104


class MonitorOptions(TypedDict, total=False):
    """How much worse matters, and how often an alarm may be false."""

    tolerance: Annotated[
        float,
        Option(
            "float, default 0.05",
            "How much worse than the baseline the score may be. A period is ok only if a larger "
            "loss is ruled out; half to four times this size raises an alarm soonest.",
            TOLERANCE,
        ),
    ]
    looks: Annotated[
        int,
        Option(
            "int, default 104",
            "Number of periods for which `level` is promised: two years of weeks. Choose it before "
            "the first one. The same periods may be evaluated often.",
            LOOKS,
        ),
    ]
    adjust: Annotated[
        Literal["bonferroni"] | None,
        Option(
            '{"bonferroni"} or None, default "bonferroni"',
            "Share 1 - `level` among the segments and metrics. With None, each has this "
            "probability of its own, so some of many raise alarms by chance.",
            "bonferroni",
        ),
    ]
    dispersion: Annotated[
        Literal["estimate"] | None,
        Option(
            '{"estimate"} or None, default "estimate"',
            "Allow for scores that vary by more than chance, as the periods of the baseline do; "
            "with fewer than 13, a warning says that nothing is added. Give None if they differ by "
            "chance alone, or if alarms come too late because periods have few rows.",
            "estimate",
        ),
    ]
    exclude: Annotated[
        ExcludeOption,
        Option(
            "date or list of dates, optional",
            "Periods with these days, such as holidays, are inconclusive, and nothing is compared "
            "with them.",
        ),
    ]


DEFAULT_METRIC, _MIN_LEVEL = "balanced_accuracy", 0.5
METHOD = Method.of(
    key(BY, kind=Kind.BY),
    key(MODEL, only_with="models", heading=HEADING_SEPARATOR),
    METRIC_KEY,
    estimate(ESTIMATE, span=Span.METRIC),  # the lowest of many periods is not a finding: unmarked
    *limits(about=ESTIMATE),
    status("status", identifies=True, statuses=Statuses(OK, ALARM, INCONCLUSIVE, PERIOD)),
    note("since", kind=Kind.DATE_OR_NULL, identifies=True),
    *details(
        *COUNT_COLUMNS,
        estimate("baseline_estimate"),
        estimate("control_limit", hidden=True),
        estimate("difference", hidden=True),
        count("window_n", hidden=True),
        estimate("window_difference", span=Span.AROUND_ZERO),
        *limits("window", about="window_difference"),
        test("dispersion_p_value", hidden=True),
        test("autocorrelation_p_value", hidden=True),
    ),
    hints={
        "reference": "periods are compared with the baseline.",
        "sample_weight": "how often monitor raises alarms is not known for weighted rows.",
        "cluster": "monitor needs none: dispersion='estimate', the default, allows for clusters "
        "whose rows lie in one period.",
        "margins": "monitor the segments that matter; for all rows together, omit by.",
        "interval": "the limits of monitor are those of its tests.",
        "absent": "monitor compares periods with their baseline on the labels that both have.",
    },
)


class _Options(
    OutcomeOptions,
    MonitorOptions,
    LevelOptions,
    ClassWeightOptions,
    UnweightedRowOptions,
    CellOptions,
    BackendOptions,
    DetailOptions,
    total=False,
): ...


@METHOD
def monitor(
    frame: FrameT,
    y_true: Name = None,
    y_pred: Names = None,
    *,
    time: Period,
    baseline: StreamBaselineOption,
    by: Names = None,
    metrics: Metrics = None,
    **options: Unpack[_Options],
) -> FrameT:
    """Return one row per segment and period that shows whether its score got worse.

    Every period is tested for a score that is worse since some earlier period: the periods from it
    on are compared with everything before. All tests share one probability of a false alarm.

    Parameters
    ----------
    time : `bf.period`
        The periods of a column of dates or datetimes, such as `bf.period("day", "1w")`. Cells are
        monitored if one of their by-columns holds days.
    baseline : date, {"until": date}, or result of `confusion`
        What every period is compared with: the rows up to and including a day, such as
        "2026-03-31", or cells, such as those of the launch. Choose a typical one before you look.
        If a period has rows on both sides of the day, the baseline ends before it.
    metrics : str, list of str or mapping, optional
        Names of proportions or means of recalls of which higher or lower is better; a mapping
        renames them. By default balanced_accuracy.
    level : float, default 0.95
        Confidence level of all limits; 1 - level is the probability of any false alarm, over all
        `looks`, segments and metrics together, if nothing got worse.

    Returns
    -------
    frame of the same library
        One row per segment, `period`, [model] and metric; columns in brackets follow from options:

        - the by-columns, `period`: its first day, [`model`]
        - `n`: rows; `n_labels`: labels here and in the baseline; `min_support`: rows of the rarest
        - `metric`, `estimate`: the score over these labels; `lower`, `upper`: its confidence
          interval, for this period alone; `baseline_estimate`
        - `control_limit`: the score at which this period alone would raise an alarm
        - `difference`: estimate - baseline_estimate
        - `since`: first day since which the score most likely is worse, with or without an alarm
        - `window_n`: rows from `since` on; `window_difference`: their score less that of
          everything before, with `window_lower` and `window_upper`, which describe only
        - `dispersion_p_value`: of the test that the periods of the baseline have the same score;
          `autocorrelation_p_value`: that neighbouring ones are independent; null without days
        - `status`: "alarm" if the evidence that the score is worse reaches its threshold, which a
          segment without rows since keeps; "ok" if not, and the lower limit of the difference
          of the last 13 periods from the baseline is above -tolerance, as is the difference of the
          last 4; otherwise "inconclusive", as for a segment that the baseline lacks

    Raises
    ------
    BalframeError
        If an argument is invalid, a metric cannot be monitored, or there are no rows or no
        baseline.

    Notes
    -----
    The detector sums the evidence of all candidates: the mean over d of
    exp(-d z / sqrt(V) - d^2 / (2 V)), where d is 1/2, 1, 2 and 4 tolerances, and z the statistic
    of the skewness-corrected test of equal scores with variance V. It alarms where the sum reaches
    looks * questions / (1 - level); questions are segments times metrics, or 1 without `adjust`.
    The promise is approximate, for independent rows and periods that vary like those of the
    baseline, and does not cover labels that arrive late.

    References
    ----------
    J. Shin, A. Ramdas and A. Rinaldo, "E-detectors", NEJSDS 2023; P. J. Laud, Pharmaceutical
    Statistics 2017, for the test; R. DerSimonian and N. Laird, Controlled Clinical
    Trials 1986, for the variance between periods.

    Examples
    --------
    >>> import polars as pl
    >>> import balframe as bf
    >>> weeks = pl.date_range(pl.date(2026, 1, 5), pl.date(2026, 1, 19), "1w", eager=True)
    >>> launch = pl.DataFrame({"y": [1, 1, 0, 0], "yhat": [1, 0, 0, 1], "n": [900, 100, 900, 100]})
    >>> live = pl.DataFrame({
    ...     "day": weeks.repeat_by(4).explode(), "y": [1, 1, 0, 0] * 3, "yhat": [1, 0, 0, 1] * 3,
    ...     "n": [91, 9, 90, 10, 88, 12, 91, 9, 55, 45, 88, 12],
    ... })
    >>> out = live.bal.monitor(
    ...     "y", "yhat", time=bf.period("day", "1w"), baseline=launch, dispersion=None
    ... )
    >>> out.select(pl.col("estimate", "lower", "upper").round(3), "status").rows()
    [(0.905, 0.856, 0.938, 'ok'), (0.895, 0.845, 0.93, 'ok'), (0.715, 0.654, 0.77, 'alarm')]
    """
    selection = MetricSelection.of(metrics, options["class_weight"], (DEFAULT_METRIC,))
    _check_metrics(selection)
    request = _monitor_request(options)
    if not isinstance(time, Period):
        raise InvalidInputError(
            "{} is not a period; give the column of times and the length of the periods, as in "
            "{time}.",
            parameter("time", time),
            time=Spelled('time=bf.period("day", "1w")', None),
        )
    comparison = stream_baseline_request(baseline, time.column)
    excluded = parse_excluded_days(options["exclude"])

    def compute(counts: CountedFrame | CountedPair) -> Columns:
        stream = build_stream(counts, time.every, comparison.until, selection, excluded)
        results = {
            name: monitor_metric(stream, metric, request, len(selection.metrics))
            for name, metric in selection.metrics.items()
        }
        columns = period_columns(stream, {name: result for name, (result, _) in results.items()})
        dispersions = [dispersion for _, dispersion in results.values()]
        for message in monitor_warnings(stream, dispersions, request):
            warn(message)
        return columns

    def check_query(query: Query) -> None:
        if query.sample_weight is not None:
            raise InvalidInputError(
                "the cells have weights, but monitor counts rows; count them without "
                "{sample_weight} in `confusion`.",
                sample_weight=OPTION,
            )
        comparison.check(query)

    days = (period(time.column, "1d"),)
    names = {"y_true": y_true, "y_pred": y_pred, "by": by, "added_by": days}
    return run_method(
        frame,
        METHOD,
        {**names, **options},
        compute,
        source=comparison.source,
        check_query=check_query,
        check_labels=lambda counts: selection.check_labels(counts.counted_frame),
    )


def _check_metrics(selection: MetricSelection) -> None:
    """Raise if a metric has no test, or no direction that is worse."""
    for name, metric in selection.metrics.items():
        kind = metric.interval
        if not kind.is_linear or kind.labels_depend_on_predictions:
            raise InvalidInputError(
                f"metric {name!r} cannot be monitored, as it is neither a proportion nor a mean of "
                "recalls; choose another metric, such as balanced_accuracy or recall."
            )
        if metric.better is None:
            raise InvalidInputError(
                f"metric {name!r} has no direction (neither higher nor lower is better), so no "
                "change of it is for the worse; choose another metric, such as recall or "
                "false_positive_rate."
            )


def _monitor_request(options: Mapping[str, Any]) -> MonitorRequest:
    """Return the options of monitoring, if they are valid."""
    level = options["level"]
    check_level(level)
    if level <= _MIN_LEVEL:
        raise InvalidInputError(
            "{level} is too low: alarms would be false with a probability of 1 - level. Give a "
            "number above 0.5 and below 1, such as 0.95.",
            level=level,
        )
    check_choice("adjust", options["adjust"], ("bonferroni", None))
    check_choice("dispersion", options["dispersion"], ("estimate", None))
    tolerance, looks = options["tolerance"], options["looks"]
    if not is_number(tolerance) or not 0 < tolerance < np.inf:
        raise InvalidInputError(
            "{tolerance} is not a tolerance; give a number above 0, in the units of the metric, "
            "such as 0.05.",
            tolerance=tolerance,
        )
    if not is_whole_number(looks, 1):
        raise InvalidInputError(
            "{looks} is not a number of periods; give a whole number of at least 1.", looks=looks
        )
    return MonitorRequest(
        float(tolerance),
        float(level),
        int(looks),
        options["adjust"] is not None,
        options["dispersion"] is not None,
    )
