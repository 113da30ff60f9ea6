"""The method `monitor`."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
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
from balframe.core.array_types import FloatArray
from balframe.errors import OPTION, InvalidInputError, Message, Spelled, parameter, warn
from balframe.frames.adapter import FrameT, Name
from balframe.frames.by_entries import Period, period
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.earlier_cells import CountedPair
from balframe.frames.query import MODEL, PERIOD, Query
from balframe.methods.monitoring.baseline_data import parse_excluded_days, stream_baseline_request
from balframe.methods.monitoring.decide import (
    ALARM,
    INCONCLUSIVE,
    OK,
    MonitorRequest,
    PeriodResults,
    monitor_metric,
)
from balframe.methods.monitoring.dispersion import MIN_PERIODS, BaselineDispersion
from balframe.methods.monitoring.stream import Stream, build_stream

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


_STATUSES = sorted((ALARM, INCONCLUSIVE, OK))
_WARNING_ALPHA = 0.05  # of p-values of dispersion or autocorrelation, shared by all of a kind
_NO_DISPERSION = Spelled("dispersion=None", "none", parameter="dispersion")
_UNKNOWN_DISPERSION = Message(
    "the baseline has fewer than {} periods, so it is not known whether scores vary from period "
    "to period by more than chance. If they do, false alarms are more frequent than level "
    "promises. Give a baseline that keeps its days, of about 26 periods or more, or give "
    "{dispersion} if you know that scores of periods differ by chance alone.",
    MIN_PERIODS,
    dispersion=_NO_DISPERSION,
)
_DISPERSED = Message(
    "scores vary between the periods of the baseline by more than chance explains, so false "
    "alarms are more frequent than level promises. Give {dispersion} to allow for it.",
    dispersion="estimate",
)
_AUTOCORRELATED = Message(
    "scores of neighbouring periods of the baseline are more similar than chance explains. The "
    "longer such a memory lasts, the more frequent are false alarms. Give a longer baseline."
)


def period_columns(stream: Stream, results: Mapping[str, PeriodResults]) -> dict[Name, Any]:
    """Return the columns of the results of metrics, by segment, period, model and metric."""
    counted_frame, n_metrics = stream.counted_frame, len(results)
    segment, period = np.divmod(np.arange(stream.n_segments * stream.n_periods), stream.n_periods)
    names = [name for name in counted_frame.by if name != PERIOD]
    keys = dict(zip(names, stream.keys, strict=True))
    model = [keys[MODEL][segment]] if counted_frame.query.has_several_models else []
    segment_keys = [keys[name][segment] for name in names if name != MODEL or not model]
    order = np.lexsort((*model, period, *segment_keys[::-1]))
    rows = np.repeat(order, n_metrics)
    metric = np.tile(np.arange(n_metrics), len(order))
    adapter = counted_frame.adapter
    columns: dict[Name, Any] = {
        name: adapter.take(counted_frame.by[name], keys[name][segment[rows]], nullable=True)
        for name in names
    }
    period_starts = adapter.date_series(stream.period_starts)
    columns[PERIOD] = adapter.take(period_starts, period[rows], nullable=False)
    columns["metric"] = counted_frame.text_column(list(results), metric)
    for name in (field.name for field in fields(PeriodResults)):
        stacked = np.stack([getattr(result, name) for result in results.values()])[metric, rows]
        if name == "status":
            columns[name] = counted_frame.text_column(
                _STATUSES, np.searchsorted(_STATUSES, stacked)
            )
        elif name == "since":
            columns[name] = adapter.take(period_starts, stacked, nullable=True)
        else:
            columns[name] = stacked
    return columns


def monitor_warnings(
    stream: Stream, dispersions: Sequence[BaselineDispersion], request: MonitorRequest
) -> list[Message]:
    """Return the warnings about too many looks, and about scores that vary between periods."""
    messages = []
    has_rows = (stream.counts(1).n > 0).reshape(stream.n_segments, stream.n_periods)
    n_looks = int(has_rows.sum(axis=1).max(initial=0))
    if n_looks > request.looks:
        messages.append(
            Message(
                "{} periods have rows, more than {looks}, for which level is promised. Give a "
                "larger number from the start, or begin again with a new baseline.",
                n_looks,
                looks=request.looks,
            )
        )
    is_unknown = [stream.has_baseline & ~dispersion.is_estimated for dispersion in dispersions]
    if request.estimates_dispersion and any(segments.any() for segments in is_unknown):
        messages.append(_UNKNOWN_DISPERSION)
    if not request.estimates_dispersion and _is_any_significant([d.p_value for d in dispersions]):
        messages.append(_DISPERSED)
    if _is_any_significant([d.autocorrelation_p_value for d in dispersions]):
        messages.append(_AUTOCORRELATED)
    return messages


def _is_any_significant(p_values: Sequence[FloatArray]) -> bool:
    """Return whether the smallest p-value is significant, adjusted for the number of them."""
    defined = np.concatenate(p_values)
    defined = defined[np.isfinite(defined)]
    return bool((defined < _WARNING_ALPHA / max(len(defined), 1)).any())
