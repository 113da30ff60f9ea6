"""The verb `fairness`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from balframe.analyses.extremes import (
    Extremal,
    Extremes,
    check_min_support,
    extreme_columns,
    extreme_names,
)
from balframe.analyses.scoring import Scoring, check_by
from balframe.core.labels import Label
from balframe.core.selection import segments_at
from balframe.frames.library import FrameT, Name
from balframe.frames.query import MAX_CELLS, Options, Query
from balframe.frames.read import Group, Reading
from balframe.intervals.request import check_level
from balframe.verbs.answer import Backend, Columns, Margins, Missing, Names, answer

_Measure = Literal["difference", "ratio"]


@dataclass(frozen=True, slots=True)
class _Criterion:
    """A named criterion: it looks at the metric whose segments are furthest apart."""

    name: str
    metrics: tuple[str, ...]
    measures: tuple[_Measure, ...] = ("difference", "ratio")
    bound: float = np.nan


_CRITERIA = (
    _Criterion("demographic_parity", ("selection_rate",)),
    _Criterion("equal_opportunity", ("recall",)),
    _Criterion("equalized_odds", ("recall", "false_positive_rate")),
    _Criterion("predictive_parity", ("precision",)),
    _Criterion("accuracy_equality", ("accuracy",)),
    _Criterion("treatment_equality", ("treatment_ratio",)),
    _Criterion("four_fifths_rule", ("selection_rate",), ("ratio",), 0.8),
)
_METRICS = tuple(dict.fromkeys(metric for one in _CRITERIA for metric in one.metrics))


def fairness(
    frame: FrameT,
    y_true: Name,
    y_pred: Names,
    *,
    by: Names,
    min_support: int = 1,
    level: float = 0.95,
    sample_weight: Name | None = None,
    counts: Name | None = None,
    cells: bool = False,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
    missing: Missing = "raise",
    margins: Margins = False,
    backend: Backend = None,
    max_cells: int = MAX_CELLS,
) -> FrameT:
    """Measure the named criteria of group fairness, each by the segments furthest apart.

    | criterion | what is equal in all segments |
    | --- | --- |
    | demographic_parity | selection_rate |
    | equal_opportunity | recall |
    | equalized_odds | recall and false_positive_rate: the larger gap of the two |
    | predictive_parity | precision |
    | accuracy_equality | accuracy |
    | treatment_equality | treatment_ratio, FN / FP |
    | four_fifths_rule | selection_rate: the lowest is at least 0.8 of the highest |

    The numbers are those of `disparity`. Most of these criteria exclude each other wherever the
    prevalence differs between segments.

    Parameters
    ----------
    frame : pandas, polars or pyarrow frame, or one of Dask, PySpark, DuckDB, Ibis, SQLFrame
        The data; never changed. A polars LazyFrame gives a LazyFrame; the others compute at once.
    y_true : column name
        The true labels: booleans, integers, whole floats, strings, categories or dates.
    y_pred : column name or list of column names
        The predicted labels; a list gives rows for each of several models.
    by : column name or list of column names
        The columns whose combinations are the segments.
    min_support : int, default 1
        Rows that the denominator of a rate must have for a segment to be compared; of
        treatment_ratio, the errors of both kinds.
    level : float, default 0.95
        Confidence level of the limits of each row.
    sample_weight : column name, optional
        Weights of the rows, finite and not negative.
    counts : column name, optional
        How many identical rows each row stands for, whole numbers from 0.
    cells : bool, default False
        Read `frame` as the result of `confusion`: `n`, `weight` and `weight_sq` are totals.
    labels : list of labels, optional
        The label set in the order wanted; by default the sorted labels that occur.
    pos_label : label, optional
        The positive label, with defaults as in `report`.
    missing : {"raise", "drop"}
        What to do about nulls outside of `by`: raise, or leave those rows out.
    margins : {False, "overall", "all"}
        Add rows for roll-ups; segments are compared within each.
    backend : {"pandas", "polars", "pyarrow"}, optional
        The library of the answer; by default that of the frame, or the one that suits its engine.
    max_cells : int, default 50 million
        The most cells that a lazy or distributed frame may send; more raise.

    Returns
    -------
    frame of the same library
        One row for each [margin], [model], criterion and measure, in this order, with

        - [`margin`: the columns that make the segments], [`model`]
        - `criterion`; `measure`: "difference" (highest - lowest; 0 is equal) or "ratio" (lowest /
          highest; 1 is equal); `metric`: the rate that is furthest apart
        - `estimate`, `lower`, `upper`: the measure and its limits, null where fewer than two
          segments can be compared or, for ratios, the highest rate is 0
        - `bound`: the least ratio that the four-fifths rule allows
        - `lowest_<by>`, `highest_<by>` for each by-column; `lowest`, `highest`: their rates
        - `n_segments`: segments compared; `n_left_out`: segments that were not, for the rate is
          undefined or `min_support` not reached

    Raises
    ------
    BalframeError
        If a name, an option or a value cannot be used; the message says what to do.

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
    >>> shown = out.query("measure == 'ratio'")[["criterion", "metric", "estimate", "bound"]]
    >>> print(shown.round(3).to_string(index=False))
             criterion              metric  estimate  bound
    demographic_parity      selection_rate     0.592    NaN
     equal_opportunity              recall     0.726    NaN
        equalized_odds false_positive_rate     0.523    NaN
     predictive_parity           precision     0.939    NaN
     accuracy_equality            accuracy     0.953    NaN
    treatment_equality     treatment_ratio     0.500    NaN
      four_fifths_rule      selection_rate     0.592    0.8
    """
    scoring = Scoring.of(list(_METRICS), None, ())
    check_level(level)
    check_min_support(min_support)

    def outputs(query: Query) -> Iterable[Name]:
        check_by(query, "fairness")
        return (*_FIRST, *extreme_names(query), *_LAST)

    def compute(reading: Reading) -> Columns:
        c = scoring.class_counts(reading)
        search = Extremal(level, min_support)
        rows: list[_Row] = []
        for group in reading.groups() if c.n_segments else []:
            members, cells_of = segments_at(c, group.segments), reading.cells_of(group)
            for criterion in _CRITERIA:
                found = [
                    search.find(
                        name,
                        scoring.metrics[name],
                        members,
                        cells_of,
                        group.segments,
                        len(criterion.metrics),
                    )
                    for name in criterion.metrics
                ]
                rows += [_row(criterion, measure, found, group) for measure in criterion.measures]
        return _columns(reading, rows)

    options = Options(
        y_true,
        y_pred,
        by,
        sample_weight,
        counts,
        labels,
        pos_label,
        missing,
        margins,
        backend,
        max_cells,
        cells=cells,
    )
    return answer(frame, options, compute, outputs)


_FIRST = ("criterion", "measure", "metric", "estimate", "lower", "upper", "bound")
_LAST = ("lowest", "highest", "n_segments", "n_left_out")


@dataclass(frozen=True, slots=True)
class _Row:
    """A measure of a criterion; `realised` is the metric that is furthest apart."""

    group: Group
    criterion: str
    measure: str
    realised: Extremes
    numbers: dict[str, float]


def _row(criterion: _Criterion, measure: _Measure, found: Sequence[Extremes], group: Group) -> _Row:
    """Take the larger difference, or the smaller ratio, where a criterion has several metrics."""
    numbers = [one.numbers for one in found]
    sign = -1 if measure == "difference" else 1
    values = np.array([sign * one[measure] for one in numbers])
    worst = int(np.argmin(values))  # the first undefined one, if any is

    def least(name: str) -> float:
        return float(sign * np.min([sign * one[name] for one in numbers]))

    return _Row(
        group,
        criterion.name,
        measure,
        found[worst],
        {
            "estimate": numbers[worst][measure],
            "lower": least(f"{measure}_lower"),
            "upper": least(f"{measure}_upper"),
            "bound": criterion.bound,
            **{name: numbers[worst][name] for name in _LAST},
        },
    )


def _columns(reading: Reading, rows: Sequence[_Row]) -> Columns:
    columns, segments = extreme_columns(
        reading, [row.group for row in rows], [row.realised for row in rows]
    )
    texts = {
        "criterion": ([one.name for one in _CRITERIA], [row.criterion for row in rows]),
        "measure": (["difference", "ratio"], [row.measure for row in rows]),
        "metric": (list(_METRICS), [row.realised.metric for row in rows]),
    }
    for name, (known, values) in texts.items():
        codes = np.array([known.index(value) for value in values], np.int64)
        columns[name] = reading.text_column(known, codes)
    for name in (*_FIRST[len(texts) :], *_LAST):
        dtype = np.int64 if name.startswith("n_") else np.float64
        numbers = np.array([row.numbers[name] for row in rows], dtype)
        if name == _LAST[0]:
            columns |= segments
        columns[name] = numbers
    return columns
