"""The verb `check`: every segment judged by rules."""

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np

from balframe.analyses.extremes import check_min_support
from balframe.analyses.scoring import ClassWeight, Scoring, check_by
from balframe.core.labels import Label
from balframe.errors import (
    InvalidInputError,
    UnknownNameError,
    check_choice,
    listed,
    not_found,
)
from balframe.frames.library import FrameT, Name
from balframe.frames.query import MAX_CELLS, Options, Query
from balframe.frames.read import Reading
from balframe.gates.rules import Rule, RulesOption, read_rules
from balframe.gates.verdicts import STATUS, Judge, Verdicts
from balframe.intervals.request import check_level
from balframe.metrics.catalogue import registered
from balframe.verbs.answer import Backend, Columns, Margins, Missing, Names, answer

Decide = Literal["confident", "estimate"]

_JUDGED = ("estimate", "lower", "upper", "bound", "status")


def check(
    frame: FrameT,
    y_true: Name,
    y_pred: Names,
    *,
    rules: RulesOption,
    by: Names = None,
    decide: Decide = "confident",
    adjust: Literal["bonferroni"] | None = "bonferroni",
    level: float = 0.95,
    min_support: int = 0,
    class_weight: ClassWeight | None = None,
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
    """Judge every segment by rules: it keeps them, it does not, or too few rows can tell.

    A rule compares a metric, or a count (`n`, `n_labels`, `min_support`), with a number:
    "balanced_accuracy >= 0.8". `difference(metric)` is the highest score of a segment minus the
    lowest, `ratio(metric)` the lowest divided by the highest. The comparisons are >=, >, <=, < and
    ==.

    Parameters
    ----------
    frame : pandas, polars or pyarrow frame, or one of Dask, PySpark, DuckDB, Ibis, SQLFrame
        The data; never changed. A polars LazyFrame gives a LazyFrame; the others compute at once.
    y_true : column name
        The true labels: booleans, integers, whole floats, strings, categories or dates.
    y_pred : column name or list of column names
        The predicted labels; a list judges several models.
    rules : str, list, mapping or path
        A rule, or a list of rules; `{"recall": ">= 0.7", "n": ">= 100"}`; or the path of a .toml or
        .yaml file with a list `rules`. An item of a list may be a mapping
        `{"rule": "recall >= 0.7", "where": {"group": ["a", "b"]}, "reason": "as agreed"}`, which
        limits the rule to segments with these values.
    by : column name or list of column names, optional
        The columns whose combinations are the segments; by default all rows are one segment.
    decide : {"confident", "estimate"}
        By the limits: a rule fails where all of the interval violates it, passes where all of the
        interval keeps it, and is inconclusive otherwise. Or by the estimate alone.
    adjust : {"bonferroni"} or None, default "bonferroni"
        Let the limits of a rule hold in all its segments and models at once, at this level; with
        None each holds by itself, and of many segments some would fail by chance.
    level : float, default 0.95
        Confidence level of the limits.
    min_support : int, default 0
        Segments in which the smallest denominator of a metric has fewer rows are inconclusive.
        That of a mean of recalls is the rarest of all labels, 0 where a segment lacks one.
    class_weight : mapping of every label to its weight, "balanced" or "prevalence", optional
        How weighted_balanced_accuracy weighs the labels.
    sample_weight : column name, optional
        Weights of the rows, finite and not negative.
    counts : column name, optional
        How many identical rows each row stands for, whole numbers from 0.
    cells : bool, default False
        Read `frame` as the result of `confusion`: `n`, `weight` and `weight_sq` are totals.
    labels : list of labels, optional
        The label set in the order wanted; by default the sorted labels that occur.
    pos_label : label, optional
        The positive label of binary metrics, with defaults as in `report`.
    missing : {"raise", "drop"}
        What to do about nulls outside of `by`: raise, or leave those rows out.
    margins : {False, "overall", "all"}
        Judge the roll-ups too.
    backend : {"pandas", "polars", "pyarrow"}, optional
        The library of the answer; by default that of the frame, or the one that suits its engine.
    max_cells : int, default 50 million
        The most cells that a lazy or distributed frame may send; more raise.

    Returns
    -------
    frame of the same library
        One row for each segment, [model] and rule, in this order, and behind the segments one for
        each rule on a difference or ratio, with null by-columns:

        - the by-columns, [`margin`: the columns that make the segment], [`model`]
        - `rule`, [`reason`, if a rule has one]
        - `estimate`: the score, count, difference or ratio; `lower`, `upper`: its limits, of counts
          the count itself, null where the estimate decides; `bound`
        - `status`: "pass", "fail" or "inconclusive". Where the score is undefined it is
          inconclusive; a difference or ratio is so too where a segment could not be compared,
          unless it fails and that segment could only make it worse.

        Rules on a difference or ratio leave out the margin "overall", which is one segment.

        A frame without rows has no segments, and nothing to pass: `require` refuses it.

    Raises
    ------
    BalframeError
        If a rule cannot be read, or a name, an option or a value cannot be used; a rule that is
        limited to segments that do not occur; a metric without limits where they decide.

    Examples
    --------
    >>> import balframe as bf
    >>> compas = bf.datasets.compas(backend="pandas").query("race in ['Asian', 'Caucasian']")
    >>> rules = ["balanced_accuracy >= 0.6", "ratio(selection_rate) >= 0.8", "n >= 100"]
    >>> out = bf.check(compas, "reoffended", "high_risk", by="race", counts="n", rules=rules)
    >>> print(out.round(3).to_string(index=False))
         race                         rule  estimate    lower    upper  bound       status
        Asian     balanced_accuracy >= 0.6     0.790    0.589    0.920    0.6 inconclusive
        Asian                     n >= 100    32.000   32.000   32.000  100.0         fail
    Caucasian     balanced_accuracy >= 0.6     0.644    0.622    0.666    0.6         pass
    Caucasian                     n >= 100  2454.000 2454.000 2454.000  100.0         pass
          NaN ratio(selection_rate) >= 0.8     0.718    0.270    1.000    0.8 inconclusive
    """
    known = read_rules(rules)
    check_choice("decide", decide, ("confident", "estimate"))
    check_choice("adjust", adjust, ("bonferroni", None))
    check_level(level)
    check_min_support(min_support)
    if decide == "confident":
        _check_have_limits(known)
    metrics = {rule.quantity: rule.metric for rule in known if rule.metric is not None}
    scoring = Scoring.of(list(metrics) or "accuracy", class_weight, ())
    judge = Judge(decide == "confident", adjust is not None, level, min_support)
    has_reason: bool = any(rule.reason is not None for rule in known)

    def outputs(query: Query) -> Iterable[Name]:
        if any(rule.over is not None for rule in known):
            check_by(query, "a rule on a difference or ratio")
        for rule in known:
            _check_where(rule, query)
        yield from (*query.by, "rule", *(["reason"] if has_reason else []), *_JUDGED)

    def compute(reading: Reading) -> Columns:
        c = scoring.class_counts(reading)
        rows = Verdicts.concat(
            [
                verdicts
                for number, rule in enumerate(known)
                for verdicts in judge.verdicts(rule, number, c, reading)
            ]
        ).in_order(reading)
        _, first = reading.cells.segments
        has_blank = any(rule.over is not None for rule in known)
        columns = reading.by_columns(
            first[rows.segment], rows.is_of_many.astype(bool) if has_blank else None
        )
        columns["rule"] = reading.text_column([rule.text for rule in known], rows.rule)
        if has_reason:
            reasons = [rule.reason for rule in known]
            texts = [reason for reason in reasons if reason is not None]
            codes = [len(texts) if one is None else texts.index(one) for one in reasons]
            columns["reason"] = reading.text_column(texts, np.array(codes)[rows.rule])
        columns |= {"estimate": rows.estimate, "lower": rows.lower, "upper": rows.upper}
        columns["bound"] = np.array([rule.bound for rule in known])[rows.rule]
        columns["status"] = reading.text_column(STATUS, rows.status)
        return columns

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


def _check_have_limits(rules: Iterable[Rule]) -> None:
    for rule in rules:
        if rule.metric is not None and not rule.metric.interval.method_of(None):
            with_limits = [one.name for one in registered() if one.interval.method_of(None)]
            raise InvalidInputError(
                f"metric {rule.quantity!r} has no limits, so that no evidence can decide the rule "
                f'{rule.text!r}. Give decide="estimate", or a metric that has: '
                f"{listed(with_limits, len(with_limits))}."
            )


def _check_where(rule: Rule, query: Query) -> None:
    for name in rule.where:
        if name not in query.by:
            error = not_found("by-column", name, query.by)
            raise UnknownNameError(f"where= of the rule {rule.text!r}: {error}")
