"""The method `diff`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypedDict, Unpack

import numpy as np

from balframe._validate import check_level
from balframe.api.columns import (
    DESIGN_COLUMNS,
    METRIC_KEY,
    MIN_SUPPORT,
    N_CLUSTERS,
    P_ADJUSTED,
    SEGMENT_KEYS,
    SUPPORT_COLUMNS,
    UNADJUSTED_TEST_COLUMNS,
    VERDICT,
    VERDICTS,
    Span,
    count,
    details,
    estimate,
    limits,
    metric_estimate,
)
from balframe.api.interval_estimates import cluster_counts
from balframe.api.method import Method
from balframe.api.metric_selection import COMPARED_METRICS, Metrics, MetricSelection, check_adjust
from balframe.api.option_types import RunOption
from balframe.api.options import (
    AdjustmentOptions,
    ClassWeightOptions,
    ClusterOptions,
    DetailOptions,
    LabelMethodOptions,
    LevelOptions,
    Names,
    Option,
)
from balframe.api.run import Columns, run_method, without_label_warnings
from balframe.core.array_types import Int64Array
from balframe.errors import NAME, OPTION, BalframeError, InvalidInputError, Message
from balframe.frames.adapter import FrameT, Name
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.earlier_cells import CountedPair
from balframe.frames.engines.inputs import InputFrame, materialize, unwrap
from balframe.frames.matched_rows import (
    MatchedCounts,
    MatchedRows,
    MatchedRowSource,
    match_rows,
    result_backend,
    wrap_result,
)
from balframe.frames.query import MODEL, InputSpec, N, name_list
from balframe.frames.sources import with_edges
from balframe.methods.comparisons.baseline_input import (
    BaselineInput,
    cell_input,
    cell_labels,
    check_no_key,
    column_input,
    is_frame,
)
from balframe.methods.comparisons.models import PairedModels
from balframe.methods.comparisons.run_differences import (
    PairedRuns,
    Runs,
    Table,
    UnpairedRuns,
    decide_differences,
)
from balframe.methods.scores.confusion import confusion

METHOD = Method.of(
    *SEGMENT_KEYS,
    METRIC_KEY,
    metric_estimate(support=MIN_SUPPORT),
    estimate("baseline_estimate", identifies=True),
    estimate("difference", identifies=True, span=Span.AROUND_ZERO, ranks_rows=True),
    *limits(about="difference"),
    replace(VERDICT, identifies=True),
    *details(
        count(N),
        count("baseline_n"),
        count("n_only_new", only_with="key"),
        count("n_only_baseline", only_with="key"),
        *SUPPORT_COLUMNS,
        N_CLUSTERS,
        *DESIGN_COLUMNS,
        P_ADJUSTED,
        *UNADJUSTED_TEST_COLUMNS,
    ),
    hints={
        "reference": "diff compares with an earlier run, given as baseline. To compare segments "
        "with each other, call gaps.",
    },
)


class RunOptions(TypedDict, total=False):
    """What the new run is compared with."""

    key: Annotated[
        Name | None,
        Option(
            "column name, optional",
            "A column that names a row, such as an id, in the data and in `baseline`. Rows with "
            "the same value are compared as pairs. Its values must be distinct and not null in "
            "both.",
        ),
    ]


class _Options(
    RunOptions,
    AdjustmentOptions,
    ClassWeightOptions,
    LevelOptions,
    ClusterOptions,
    LabelMethodOptions,
    DetailOptions,
    total=False,
): ...


@METHOD
def diff(
    frame: FrameT,
    y_true: Name,
    y_pred: Names,
    *,
    baseline: RunOption,
    by: Names = None,
    metrics: Metrics = None,
    **options: Unpack[_Options],
) -> FrameT:
    """Return one row per segment and metric with its change since an earlier run: better or worse.

    The frame is the new run, and `baseline` the earlier one. If both have the same rows, compare
    them as pairs, which detects smaller differences: name the column of the earlier predictions, or
    give the earlier rows and a `key`. Otherwise, the runs are compared as independent samples.

    Parameters
    ----------
    baseline : column name, or frame
        The earlier run. Give the name of another column of predictions of the same rows, a result
        of `confusion`, or a frame of rows with the same columns. Cells of more by-columns are added
        up.

    Returns
    -------
    frame of the same library
        One row per segment, [model] and metric, in this order, also for a segment that only one run
        has. Columns in brackets follow from options:

        - the by-columns, [`grouped_by`: those that define the segment], [`model`]
        - `metric`; `estimate`, `baseline_estimate`: the scores of the new and of the earlier run,
          over the labels present in both
        - `difference`: `estimate` less `baseline_estimate`
        - `lower`, `upper`: its limits, which exclude 0 exactly if `p_adjusted` is below 1 - level,
          so they are wider than those of `gaps` and `compare` for several segments
        - `p_adjusted`: p-value of the two-sided test of equality, adjusted for multiple testing
        - `verdict`: "better" or "worse" if `p_adjusted` is below 1 - `level`, otherwise "not
          decided"; "higher" or "lower" for a metric without a direction; null without p-value and
          limits

        With `detail`, also:

        - `n`, `baseline_n`: rows compared; with `key`, `n_only_new`, `n_only_baseline`: rows that
          only one run has, which are left out
        - `n_labels`: labels present in both runs; `min_support`: rows of the rarest of these in
          the new run
        - with `cluster`, `n_clusters`; `effective_clusters` and `design_effect` of the difference
        - `p_value`: before the adjustment; `n_tests`: p-values in the family

        The tests are those of `compare` for pairs, and of `gaps` for independent samples. With m
        tests, of which k are significant, the limits have the level 1 - (1 - `level`) k / m with
        "bh" (k is at least 1), and 1 - (1 - `level`) / (m - k) with "holm" (m - k is at least 1).
        Metrics with limits and no test in independent samples, such as f1, have the level
        1 - (1 - `level`) / m, and their verdict follows from these. Kappa, `f1_macro` and the like
        have no limits and no test where fewer than about 16 rows determine them. Pairs have no
        limits for metrics whose denominator depends on the predictions. With `key`, the by-columns
        are those of the new run.

    Raises
    ------
    BalframeError
        If an argument is invalid, a key is null or repeated, or rows with the same key have
        different true labels.

    References
    ----------
    Y. Benjamini and D. Yekutieli, "False discovery rate-adjusted multiple confidence intervals for
    selected parameters", JASA 2005. The tests have the references of `gaps` and `compare`.

    Examples
    --------
    Both releases predict the same 100 rows of each group. In group a, only the new one gets 12 rows
    right, and only the old one 3. McNemar's statistic is (12 - 3)^2 / (12 + 3) = 5.4. In group b,
    each gets 5 rows right that the other does not:

    >>> import polars as pl
    >>> import balframe as bf
    >>> df = pl.DataFrame(
    ...     {
    ...         "group": ["a"] * 4 + ["b"] * 4,
    ...         "y": [1] * 8,
    ...         "new": [1, 1, 0, 0] * 2,
    ...         "old": [1, 0, 1, 0] * 2,
    ...         "n": [70, 12, 3, 15, 80, 5, 5, 10],
    ...     }
    ... )
    >>> out = bf.diff(
    ...     df, "y", "new", baseline="old", by="group", counts="n", metrics="accuracy", detail=True
    ... )
    >>> out.select("group", "difference", "p_adjusted", "verdict").to_pandas().round(4)
      group  difference  p_adjusted      verdict
    0     a        0.09      0.0403       better
    1     b        0.00      1.0000  not decided

    Last month had other rows:

    >>> may = pl.DataFrame({"y": [1] * 200, "yhat": [1] * 180 + [0] * 20})
    >>> june = pl.DataFrame({"y": [1] * 200, "yhat": [1] * 150 + [0] * 50})
    >>> bf.diff(june, "y", "yhat", baseline=may, metrics="recall")["verdict"].to_list()
    ['worse']
    """
    selection = MetricSelection.of(metrics, options["class_weight"], COMPARED_METRICS)
    adjust, level = options["adjust"], options["level"]
    check_adjust(adjust)
    check_level(level)
    key = options.pop("key")
    frame, by = with_edges(frame, by, {"y_true": y_true, "y_pred": y_pred, **options})
    request = _read_baseline(frame, baseline, y_true, y_pred, by, key, options)
    rows = request.rows

    def compute(source_counts: Any) -> Columns:  # noqa: ANN401 (as the baseline has it)
        counted_frame: CountedFrame = source_counts.counted_frame
        runs = request.make_runs(source_counts, selection)
        family = counted_frame.segment_margins()
        tables = {
            name: decide_differences(runs, metric, family, level, adjust)
            for name, metric in selection.metrics.items()
        }
        columns = difference_columns(counted_frame, runs, tables)
        if isinstance(source_counts, MatchedCounts):
            columns |= {
                "n_only_new": np.repeat(source_counts.n_only_new, len(tables)),
                "n_only_baseline": np.repeat(source_counts.n_only_earlier, len(tables)),
            }
        return columns

    by_columns = by if rows is None else list(rows.by) or None
    backend = options["backend"]
    own = {} if rows is None or backend is not None else {"backend": result_backend(rows.opened)}
    result = run_method(
        frame if rows is None else rows.frame,
        METHOD,
        {"y_true": y_true, "y_pred": y_pred, "by": by_columns, **options, **own},
        compute,
        optional_columns=[] if key is None else ["key"],
        input_spec=request.input.input_spec,
        source=request.input.source,
        check_query=request.input.check,
        check_labels=lambda source_counts: selection.check_labels(source_counts.counted_frame),
    )
    if rows is None:
        return result
    wrapped: FrameT = wrap_result(rows.opened, result, is_eager=backend is not None)
    return wrapped


def difference_columns(
    counted_frame: CountedFrame, runs: Runs, tables: Mapping[str, Table]
) -> dict[Name, Any]:
    """Return the columns of one row per segment and metric."""
    _, first_cells = counted_frame.cells.segments
    n_metrics, n_segments = len(tables), len(first_cells)
    metric = np.tile(np.arange(n_metrics), n_segments)
    stacked = {
        name: np.column_stack([table[name] for table in tables.values()]).ravel()
        for name in next(iter(tables.values()))
    }
    by_segment: dict[str, Int64Array] = {
        "n": runs.new.counts.n,
        "baseline_n": runs.earlier.counts.n,
        **cluster_counts(runs.new),
    }
    return (
        counted_frame.by_columns(np.repeat(first_cells, n_metrics))
        | stacked
        | {name: np.repeat(values, n_metrics) for name, values in by_segment.items()}
        | {
            "metric": counted_frame.text_column(list(tables), metric),
            "verdict": counted_frame.text_column(VERDICTS, stacked["verdict"]),
        }
    )


@dataclass(frozen=True, slots=True)
class _BaselineRequest:
    """How the two runs are read; `rows` are those of both, matched, if there is a key."""

    input: BaselineInput
    make_runs: Callable[[Any, MetricSelection], Runs]
    rows: MatchedRows | None = None


def _read_baseline(
    frame: object,
    baseline: object,
    y_true: Name,
    y_pred: Names,
    by: Names,
    key: Name | None,
    options: Mapping[str, Any],
) -> _BaselineRequest:
    native, _ = unwrap(baseline)
    if not is_frame(native):
        check_no_key(key, native)
        return _BaselineRequest(column_input(native, options), _paired_runs)
    if key is not None:
        return _match(frame, native, y_true, y_pred, by, key, options)
    if options["cluster"] is not None:
        raise InvalidInputError(
            "{cluster} cannot be combined with an earlier run on other rows: there are no "
            "confidence intervals for the difference between such runs if rows are in clusters. "
            "Omit {cluster} or, if both runs have the same rows, give the column that names a "
            "row as {key}.",
            cluster=options["cluster"],
            key=OPTION,
        )
    cells = _count_earlier(frame, native, y_true, y_pred, by, options)
    return _BaselineRequest(cell_input(cells), _unpaired_runs)


def _paired_runs(counts: CountedFrame, selection: MetricSelection) -> Runs:
    return PairedRuns(PairedModels.of(counts, selection))


def _unpaired_runs(counts: CountedPair, selection: MetricSelection) -> Runs:
    return UnpairedRuns(
        selection.sample(counts.aligned_current), selection.sample(counts.aligned_earlier)
    )


def _match(
    frame: object,
    native: object,
    y_true: Name,
    y_pred: Names,
    by: Names,
    key: Name,
    options: Mapping[str, Any],
) -> _BaselineRequest:
    """Match the rows of both runs, which are then two models on the same rows."""
    if options["cells"]:
        raise InvalidInputError(
            "{key} names rows, but cells have none. Give the rows of both runs, or omit {key}.",
            key=key,
        )
    if isinstance(y_pred, list):
        raise InvalidInputError(
            "{y_pred} is a list of models, but {key} matches the rows of one. Name one column of "
            "predictions, and compare each model in a call of its own.",
            y_pred=y_pred,
            key=NAME,
        )
    others = [options[name] for name in ("cluster", "counts", "sample_weight")]
    columns = [name for name in others if name is not None]
    rows = match_rows(frame, native, key, y_true, y_pred, by, columns)
    spec = InputSpec(baseline=rows.prediction)
    return _BaselineRequest(
        replace(BaselineInput(), input_spec=spec, source=MatchedRowSource()),
        lambda counts, selection: _paired_runs(counts.counted_frame, selection),
        rows,
    )


def _count_earlier(
    frame: object,
    native: Any,  # noqa: ANN401 (of any library or engine)
    y_true: Name,
    y_pred: Names,
    by: Names,
    options: Mapping[str, Any],
) -> Any:  # noqa: ANN401
    """Return the cells of an earlier run in the by-columns, of its rows or of finer cells."""
    data = InputFrame.open(frame)
    by = data.adapter.expand_selector(data.schema, by)
    native = materialize(native)
    names = InputFrame.open(native).column_names
    label_columns = cell_labels(names, y_true, y_pred)
    shared = {name: options[name] for name in ("labels", "max_cells")}
    try:
        with without_label_warnings():
            if not label_columns:
                row_options = {
                    name: options[name] for name in ("missing", "counts", "sample_weight")
                }
                return confusion(native, y_true, y_pred, by=by, **shared, **row_options)
            segments = name_list(by)
            if MODEL in names and isinstance(y_pred, list):
                segments = [*segments, MODEL]
            return confusion(native, *label_columns, by=segments or None, cells=True, **shared)
    except BalframeError as error:
        raise type(error)(Message("in {baseline}: {}", error, baseline=NAME)) from error
