"""The method `diff_slices`."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypedDict, Unpack

import numpy as np

from balframe._validate import check_level, is_whole_number
from balframe.api.columns import (
    BY,
    METRIC_KEY,
    P_ADJUSTED,
    PREDICTED_OF_MODELS,
    UNADJUSTED_TEST_COLUMNS,
    Kind,
    Span,
    count,
    details,
    estimate,
    key,
    metric_estimate,
    note,
)
from balframe.api.method import Method
from balframe.api.metric_selection import MetricSelection, SingleMetric
from balframe.api.option_types import RowsOption
from balframe.api.options import (
    BackendOptions,
    DetailOptions,
    LabelOptions,
    LevelOptions,
    Names,
    Option,
)
from balframe.api.run import Columns, run_method
from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.safe_divide import ratio
from balframe.errors import NAME, OPTION, InvalidInputError, Message, parameter, warn
from balframe.frames.adapter import FrameT, Name
from balframe.frames.engines.inputs import InputFrame, materialize, unwrap
from balframe.frames.matched_rows import (
    collect_rows,
    match_rows,
    result_backend,
    stack_rows,
    wrap_result,
)
from balframe.frames.query import MAX_CELLS, InputSpec, N
from balframe.frames.run_features import RunFeatures, RunFeatureSource
from balframe.frames.slice_binning import Bins, BinsOption
from balframe.frames.slice_features import SliceFeatureSource
from balframe.methods.comparisons.baseline_input import cell_labels, check_no_key, is_frame
from balframe.methods.slices.result_rows import condition_text, level_columns
from balframe.methods.slices.run_search import RunRows, RunSearch
from balframe.methods.slices.slices import BINS, SLICE_MIN_SUPPORT
from balframe.metrics.registry import Metric

METHOD = Method.of(
    key("slice", identifies=True),
    METRIC_KEY,
    metric_estimate(),
    estimate("baseline_estimate", identifies=True),
    estimate("difference", identifies=True, span=Span.AROUND_ZERO),
    P_ADJUSTED,
    count(N),
    *details(
        key("rank", kind=Kind.INTEGER),
        note("on", hidden=True),
        note(BY, kind=Kind.BY, hidden=True),
        count("depth", hidden=True),
        count("baseline_n"),
        count("wrong"),
        count("baseline_wrong"),
        *UNADJUSTED_TEST_COLUMNS,
        count("n_explained"),
    ),
    hints={
        "by": "diff_slices searches the columns of over.",
        "cluster": "the tests of slices need independent rows. For rows in clusters, call diff on "
        "chosen columns, or keep one row of each cluster.",
        "counts": "diff_slices reads rows. Repeat the rows.",
        "cells": "diff_slices reads rows, which cells do not have.",
    },
)


class RunSearchOptions(TypedDict, total=False):
    """Which slices are searched, and which of them are listed."""

    metrics: Annotated[
        SingleMetric,
        Option(
            'metric name, default "accuracy"',
            "Name or alias of the one metric by which slices got worse: a proportion, such as "
            "accuracy, recall or false_positive_rate.",
            "accuracy",
        ),
    ]
    key: Annotated[
        Name | None,
        Option(
            "column name, optional",
            "A column that names a row, such as an id, in the data and in `baseline`. Rows with "
            "the same value are compared as pairs. Its values must be distinct and not null in "
            "both.",
        ),
    ]
    depth: Annotated[
        int, Option("int, default 3", "Maximum number of conditions in a slice.", default=3)
    ]
    top: Annotated[int, Option("int, default 10", "Maximum number of slices listed.", default=10)]
    bins: Annotated[
        BinsOption,
        Option(
            "int, mapping or None, default 4",
            "How numeric columns are cut: the number of bins of about equally many rows, or the "
            'edges between bins. A mapping sets this by column: `{"age": [18, 25, 45]}`.',
            default=BINS,
        ),
    ]
    min_support: Annotated[
        int,
        Option(
            f"int, default {SLICE_MIN_SUPPORT}",
            "Minimum number of rows of a slice in each run, among those that the metric counts.",
            default=SLICE_MIN_SUPPORT,
        ),
    ]
    max_slices: Annotated[
        int,
        Option(
            "int, default 2 million",
            "Maximum number of slices to test. A search that needs more raises an error.",
            default=2_000_000,
        ),
    ]


class _Options(
    RunSearchOptions, LevelOptions, LabelOptions, BackendOptions, DetailOptions, total=False
): ...


@METHOD
def diff_slices(
    frame: FrameT,
    y_true: Name,
    y_pred: Name,
    *,
    baseline: RowsOption,
    over: Names,
    **options: Unpack[_Options],
) -> FrameT:
    """Return one row per slice on which a model got significantly worse since an earlier run.

    A slice is a conjunction of conditions on columns, such as "sex = F and age 25 to 45". Worse
    means worse than in the earlier run, not worse than elsewhere: if all rows got worse, so did
    their slices. The p-values are adjusted for all slices tested. Rows are collected into memory.

    Parameters
    ----------
    y_pred : column name
        The predicted class labels of the new run.
    baseline : column name, or frame
        The earlier run. Give the name of another column of predictions of the same rows, or a frame
        of rows with the same columns. Cells, such as a result of `confusion` or a stored run, raise
        an error.
    over : column name or list of column names
        The columns to search. A null is a level of its own. Levels with fewer rows than
        `min_support` are not searched.
    level : float, default 0.95
        Confidence level, in (0, 1). If no slice got worse, any is listed with a probability of at
        most 1 - level.

    Returns
    -------
    frame of the same library
        One row for each slice listed, the smallest adjusted p-value first:

        - `slice`: its conditions in words
        - `metric`, `estimate`: the score of the slice in the new run; `baseline_estimate`: its
          score in the earlier run; `difference`: the first less the second
        - `p_adjusted`: p-value of the one-sided test that the slice did not get worse, times the
          number of slices of this depth that can be significant, times the number of depths, at
          most 1
        - `n`: number of rows of the new run that the metric counts

        With `detail`, also:

        - `rank`: position in the list; `on`: the columns that the conditions are on
        - the columns searched: the level in the slice, null if any. Numeric columns are text.
        - `depth`: number of conditions; `baseline_n`: number of rows of the earlier run that the
          metric counts; `wrong`, `baseline_wrong`: number of these rows that are wrong in each run
        - `p_value`: the p-value before the adjustment; `n_tests`: number of slices tested
        - `n_explained`: number of significant slices left out because of this one

        If no slice is listed, a warning says how many were tested.

    Notes
    -----
    The tests are exact. With pairs, only rows that exactly one of the runs gets right count. If the
    slice did not change, each of them is equally likely to be lost or gained, and the number lost
    is binomial. Otherwise, it is Fisher's test of the wrong rows of both runs in the slice. A test
    that cannot become significant, whatever its rows are, is not counted in the adjustment
    (Tarone).

    With `key`, the columns searched are those of the new run. A warning says how many rows have
    another value in the earlier one.

    A slice is left out if its rows outside of the slices before it did not get significantly worse.
    The differences are exaggerated, because slices are selected for being worse.

    References
    ----------
    R. E. Tarone, "A modified Bonferroni method for discrete data", Biometrics 1990. Q. McNemar,
    "Note on the sampling error of the difference between correlated proportions or percentages",
    Psychometrika 1947.

    Examples
    --------
    Of 40 old people, the new release gets ten wrong that the earlier one got right. If nothing had
    changed, the probability of ten lost and none gained would be 1 / 2^10. There are two slices:

    >>> import polars as pl
    >>> import balframe as bf
    >>> df = pl.DataFrame(
    ...     {
    ...         "age": ["young"] * 40 + ["old"] * 40,
    ...         "y": [1] * 80,
    ...         "old": [1] * 80,
    ...         "new": [1] * 70 + [0] * 10,
    ...     }
    ... )
    >>> out = bf.diff_slices(df, "y", "new", baseline="old", over="age", detail=True)
    >>> out.select("slice", "difference", "p_value", "n").rows()
    [('age = old', -0.25, 0.0009765625, 40)]
    """
    selection = MetricSelection.of(options["metrics"], None, ("accuracy",))
    name, metric = selection.single("diff_slices", "slice got worse by it")
    check_level(options["level"])
    _check_numbers(options)
    log_level = float(np.log(1 - options["level"]))
    key, backend = options.pop("key"), options["backend"]
    rows, prediction, is_new, opened = _read_runs(frame, baseline, y_true, y_pred, over, key)

    def compute(runs: RunFeatures) -> Columns:
        run_rows = RunRows.of(runs, is_new, metric, selection, options["min_support"])
        search = RunSearch(
            run_rows, run_rows.search(options["depth"], options["max_slices"]), log_level
        )
        columns = _slice_columns(search, options["top"], name, metric)
        if not len(columns["depth"]):
            nearest = float(np.exp(search.log_adjusted.min()))
            warn(
                f"no slice is listed: of {len(search.depth):,} tested, none got significantly "
                f"worse at level {options['level']:.6g}. The smallest adjusted p-value is "
                f"{nearest:.2g}."
            )
        return columns

    own = {
        "missing": "raise",
        "max_cells": MAX_CELLS,
        "counts": None,
        "by": InputFrame.open(rows).names(over),
    }
    result = run_method(
        rows,
        METHOD,
        {"y_true": y_true, "y_pred": y_pred, **options, **own}
        | ({} if backend is not None else {"backend": result_backend(opened)}),
        compute,
        input_spec=InputSpec(squares=False, by_parameter="over", baseline=prediction),
        source=RunFeatureSource(SliceFeatureSource(Bins.from_option(options["bins"], BINS))),
        check_labels=lambda runs: selection.check_labels(runs.counted_frame),
    )
    wrapped: FrameT = wrap_result(opened, result, is_eager=backend is not None)
    return wrapped


def _check_numbers(options: Mapping[str, Any]) -> None:
    """Raise where an option is not a whole number of at least 1."""
    for name in ("depth", "top", "min_support", "max_slices"):
        if not is_whole_number(options[name], 1):
            raise InvalidInputError(
                "{} is not valid; give a whole number of at least 1.",
                parameter(name, options[name]),
            )


def _read_runs(
    frame: object,
    baseline: object,
    y_true: Name,
    y_pred: Any,  # noqa: ANN401 (a list is refused)
    over: Names,
    key: Name | None,
) -> tuple[Any, Name | None, BoolArray | None, InputFrame]:
    """Return the rows of both runs, and how to know the predictions of each.

    These are a column of earlier predictions, or of which run each row is.
    """
    if isinstance(y_pred, list):
        raise InvalidInputError(
            "{y_pred} is a list, but diff_slices compares one model; give one column name.",
            y_pred=y_pred,
        )
    _check_rows(frame, y_true, y_pred, "the data are")
    native, _ = unwrap(baseline)
    columns = InputFrame.open(frame).names(over)
    if not is_frame(native):
        check_no_key(key, native)
        opened = InputFrame.open(materialize(frame))
        return collect_rows(opened, opened.column_names), native, None, opened
    native = materialize(native)
    _check_rows(native, y_true, y_pred, "in {baseline}: these are")
    if key is not None:
        matched = match_rows(frame, native, key, y_true, y_pred, columns, [])
        return matched.in_both_runs, matched.prediction, None, matched.opened
    stacked = stack_rows(frame, native, [*columns, y_true, y_pred])
    return stacked.frame, None, stacked.is_new, stacked.opened


def _check_rows(frame: object, y_true: Name, y_pred: Name, subject: str) -> None:
    """Raise if a frame has the columns of a result of `confusion`, each row of which counts many.

    The subject begins the message, and may name the baseline.
    """
    labels = cell_labels(InputFrame.open(frame).column_names, y_true, y_pred)
    if labels in ([y_true, y_pred], [y_true, PREDICTED_OF_MODELS]):
        true_column, predicted_column = labels
        raise InvalidInputError(
            Message(
                "{} cells, with the columns {!r}, {!r} and {!r} of a result of `confusion` or of "
                "a stored run, but diff_slices reads rows. Give the rows of both runs, or a "
                "column of predictions of the same rows as {baseline}; if each is a row, rename "
                "column {!r} or move it.",
                Message(subject, baseline=NAME) if "{" in subject else subject,
                true_column,
                predicted_column,
                N,
                N,
                baseline=OPTION,
            )
        )


def _slice_columns(search: RunSearch, top: int, name: str, metric: Metric) -> dict[Name, Any]:
    """Return the columns of the result."""
    positions, n_explained = search.list_worst(top)
    features, order = search.rows.features, np.arange(len(positions))
    counted_frame = features.counted_frame
    slices = [
        [
            (int(column), int(search.rows.levels[column][level]))
            for column, level in zip(*search.conditions(position), strict=True)
        ]
        for position in positions
    ]
    on = [
        ", ".join(str(counted_frame.query.by[column]) for column, _ in conditions)
        for conditions in slices
    ]
    n, wrong, baseline_n, baseline_wrong = search.rows.outcomes.rows_and_wrong(
        search.counts[positions]
    )
    mean = search.rows.mean

    def score(wrong_rows: Int64Array, rows: Int64Array) -> FloatArray:
        rate = ratio(wrong_rows, rows)
        share = rate if metric.better == "lower" else 1 - rate
        return np.asarray(mean.at_0 + mean.slope * share, np.float64)

    estimate_now, estimate_before = score(wrong, n), score(baseline_wrong, baseline_n)
    texts: Sequence[str] = [condition_text(conditions, features) for conditions in slices]
    return {
        "rank": order + 1,
        "slice": counted_frame.text_column(texts, order),
        "on": counted_frame.text_column(on, order),
        **level_columns(slices, features),
        "depth": search.depth[positions],
        "metric": counted_frame.text_column([name], np.zeros_like(order)),
        "estimate": estimate_now,
        "baseline_estimate": estimate_before,
        "difference": estimate_now - estimate_before,
        "n": n,
        "baseline_n": baseline_n,
        "wrong": wrong,
        "baseline_wrong": baseline_wrong,
        "p_value": np.exp(search.log_p[positions]),
        "p_adjusted": np.exp(search.log_adjusted[positions]),
        "n_tests": np.full(len(positions), len(search.depth)),
        "n_explained": n_explained,
    }
