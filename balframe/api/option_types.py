"""The types of options that take several forms, and the values of options that belong together.

The command line has a flat option for each part of such a value, and methods read the parts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from types import EllipsisType, UnionType
from typing import Any, ClassVar, Literal, Union, get_args, get_origin

from balframe._validate import check_choice
from balframe.api.checked_arguments import checked_arguments
from balframe.api.settings import Backend, Layout, SettingsBlock
from balframe.core.label_set import Label
from balframe.errors import InvalidInputError, listed
from balframe.frames import by_entries
from balframe.frames.adapter import Name

bins, period = checked_arguments(by_entries.bins), checked_arguments(by_entries.period)

_Keyword = Literal["rest", "overall", "largest", "best", "worst"]
REFERENCE_KEYWORDS: tuple[str, ...] = get_args(_Keyword)
ReferenceOption = _Keyword | Mapping[Name, Any] | Any  # a keyword, or a segment


class DefaultKeyword(str):
    """A keyword that is the default of an option, so that no caller means a value by it."""

    __slots__ = ()


THE_REST: ReferenceOption = DefaultKeyword("rest")
BaselineOption = Name | object | None  # a column, or an earlier run
RunOption = Name | object  # a column, rows of an earlier run, or its cells
RowsOption = Name | Any  # a column, or rows of an earlier run
StreamBaselineOption = date | str | Mapping[str, Any] | object  # a day, or cells
ExpectOption = Sequence[Any] | Mapping[Name, Any] | object | None  # segments, in any form
ExcludeOption = Sequence[date | str] | date | str | None  # days, or texts of ISO 8601


@dataclass(frozen=True, slots=True)
class OptionValue:
    """The value of an option with its parts, by the names that methods read; None is the default.

    `option` is the parameter that takes it, and `written` how a caller makes it. One that
    `has_plain_form` takes values without parts too.
    """

    parts: Mapping[str, Any]
    option: ClassVar[str] = ""
    written: ClassVar[str] = ""
    has_plain_form: ClassVar[bool] = True


class Correction(OptionValue):
    """What `correct` returns."""

    __slots__ = ()
    option, written = "missing", "bf.correct"


class LabelSetting(OptionValue):
    """What `label_set` returns."""

    __slots__ = ()
    option, written = "labels", "bf.label_set"


class ExpectedSegments(OptionValue):
    """What `expected` returns."""

    __slots__ = ()
    option, written = "expect", "bf.expected"


class PlannedDesign(OptionValue):
    """What `design` returns."""

    __slots__ = ()
    option, written = "design", "bf.design"
    has_plain_form = False


WORDS = "words"  # of a page, a mapping with these keys
PARTS_OF_WORDS = {
    **{name: name for name in ("title", "subtitle", "truth", "selected", "unit")},
    "prediction": "prediction_word",
}
PARTS = frozenset({"verdict", "label_probability", "doubt", "absent", "absent_segments"})
OPTION_VALUES = {kind.option: kind for kind in OptionValue.__subclasses__()}


def parts_of_words(words: object) -> dict[str, Any]:
    """Return the parts of a mapping of words, by the names that the command line has."""
    keys = words.keys() if isinstance(words, Mapping) else ()
    unknown = [key for key in keys if key not in PARTS_OF_WORDS]
    if not isinstance(words, Mapping) or unknown:
        raise InvalidInputError(
            "{words} is not a mapping of {}{}; give {}.",
            listed(map(repr, PARTS_OF_WORDS), len(PARTS_OF_WORDS)),
            f", but has {unknown[0]!r}" if unknown else "",
            'words such as {"title": "COMPAS", "unit": ("person", "people")}',
            words=words,
        )
    return {PARTS_OF_WORDS[key]: value for key, value in words.items() if value is not None}


def without_option_values(of_type: Any) -> Any:  # noqa: ANN401 (any annotation)
    """Return a type without the values that have parts, as the command line reads it."""
    if get_origin(of_type) not in (Union, UnionType):
        return of_type
    members = [m for m in get_args(of_type) if m not in OPTION_VALUES.values()]
    return Union[tuple(members)] if len(members) < len(get_args(of_type)) else of_type  # noqa: UP007


@checked_arguments
def correct(
    verdict: Name | Sequence[Name] | None = None,
    *,
    probability: Name | None = None,
    doubt: float | None = None,
) -> Correction:
    """Return how to let rows with a true label stand for those without: for `missing=`.

    Parameters
    ----------
    verdict : column name or list of column names, optional
        Verdicts that all rows have, such as those of a judge, or other columns that may have
        influenced which rows were labelled. Among rows with the same prediction and verdicts, those
        with and those without a true label are assumed to have the same true labels.
    probability : column name, optional
        The probability with which each row was chosen to be labelled, above 0 and up to 1, if it
        differs between rows with the same prediction and verdicts. It may be null for rows without
        a true label.
    doubt : float, optional
        The largest factor by which the odds of being right may differ between rows with and without
        a true label. A larger factor widens the limits; 1 means no difference.

    Returns
    -------
    value of `missing`

    Examples
    --------
    >>> import balframe as bf
    >>> import polars as pl
    >>> df = pl.DataFrame({"y": [1, 0, 1, None] * 5, "yhat": [1, 1, 0, 0] * 5})
    >>> out = bf.report(df, "y", "yhat", metrics="accuracy", missing=bf.correct())
    >>> out.select("n", "n_labelled").rows()
    [(20, 15)]
    """
    parts = {"missing": "correct", "verdict": verdict, "label_probability": probability}
    return Correction({**parts, "doubt": doubt})


@checked_arguments
def label_set(
    labels: Sequence[Label] | None = None, *, absent: Literal["skip", "null", "zero"] | None = None
) -> LabelSetting:
    """Return the label set, and how averages treat a label that a segment lacks: for `labels=`.

    Parameters
    ----------
    labels : list of labels, optional
        The class labels, in order; by default the sorted labels that occur.
    absent : {"skip", "null", "zero"}, optional
        How an average over labels treats a label whose value is undefined in a segment, such as the
        recall of a label without rows: skip the label, make the average null, or count the value as
        0 and average over the whole label set. By default "skip", and "null" in gates.

    Returns
    -------
    value of `labels`

    Examples
    --------
    >>> import balframe as bf
    >>> import polars as pl
    >>> df = pl.DataFrame({"y": ["a", "a"], "yhat": ["a", "b"]})
    >>> labels = bf.label_set(["a", "b"], absent="zero")
    >>> bf.report(df, "y", "yhat", labels=labels, metrics="balanced_accuracy").item(0, -1)
    0.25
    """
    check_choice("absent", absent, (None, "skip", "null", "zero"))
    return LabelSetting({"labels": labels, "absent": absent})


@checked_arguments
def expected(
    segments: ExpectOption, *, absent: Literal["inconclusive", "fail"] | None = None
) -> ExpectedSegments:
    """Return the segments that must have rows, and the verdict on one without: for `expect=`.

    Parameters
    ----------
    segments : list, mapping or frame, optional
        The segments, as `expect` of `bf.check` takes them. None for those that a file of rules or a
        baseline expects.
    absent : {"inconclusive", "fail"}, optional
        The verdict on an expected segment without rows, and on rules over several segments that
        include one; by default "inconclusive".

    Returns
    -------
    value of `expect`

    Examples
    --------
    >>> import balframe as bf
    >>> import polars as pl
    >>> df = pl.DataFrame({"g": ["a", "a"], "y": [1, 0], "yhat": [1, 0]})
    >>> regions = bf.expected(["a", "b"], absent="fail")
    >>> bf.check(df, "y", "yhat", by="g", rules="n >= 1", expect=regions)["status"].to_list()
    ['pass', 'fail']
    """
    check_choice("absent", absent, (None, "inconclusive", "fail"))
    return ExpectedSegments({"expect": segments, "absent_segments": absent})


@checked_arguments
def design(
    *,
    disagreement: float | None = None,
    design_effect: float | None = None,
    trials: int | None = None,
) -> PlannedDesign:
    """Return what `bf.power` assumes of rows that do not exist yet: for `design=`.

    Parameters
    ----------
    disagreement : float, optional
        The expected share of the rows of each label that only one of two models gets right, in
        (0, 1]. Give it instead of `baseline` to plan rules on two models and the same rows before
        the predictions of one of them exist. Both models are assumed to have the same score.
    design_effect : float, optional
        The variance of the score over that of as many independent rows, at least 1. With m rows in
        each cluster and an intraclass correlation of r, it is 1 + (m - 1) r. Give it instead of
        `cluster` to plan before there are rows to estimate it from.
    trials : int, optional
        The planned number of rows of each cluster, such as trials of each item, by default the
        observed average. Give it to see whether more trials help, or only more items.

    Returns
    -------
    value of `design`

    Examples
    --------
    >>> import balframe as bf
    >>> import polars as pl
    >>> df = pl.DataFrame({"y": [1, 1], "yhat": [1, 0], "n": [92, 8]})
    >>> rule, plan = "recall >= baseline - 0.05", bf.design(disagreement=0.1)
    >>> bf.power(df, "y", "yhat", counts="n", rules=rule, design=plan)["rows_needed"].item()
    350
    """
    parts = {"disagreement": disagreement, "design_effect": design_effect, "trials": trials}
    return PlannedDesign(parts)


@checked_arguments
def options(
    *,
    detail: bool | EllipsisType = ...,
    layout: Layout | EllipsisType = ...,
    backend: Backend | EllipsisType = ...,
    max_cells: int | EllipsisType | None = ...,
) -> SettingsBlock:
    """Set what all following calls do, or those of a `with` block.

    Every method also takes these as keywords, for one call. They hold for all threads. Pages,
    charts and tables read `max_cells` only.

    Parameters
    ----------
    detail : bool, optional
        Add the columns of details after the others: supports, raw p-values, the score of the
        reference and similar ones. False at first.
    layout : {"wide", "long"}, optional
        Of a report, one column per metric ("wide", at first), or one row per metric with the
        columns `metric` and `estimate` ("long").
    backend : {"pandas", "polars", "pyarrow"} or None, optional
        Library of returned frames. None, as at first, is that of the input frame, or the one that
        suits its engine.
    max_cells : int or None, optional
        Maximum number of confusion cells collected from a lazy or distributed frame, and of those
        in the roll-ups of `margins="all"`. A query that needs more raises an error. None, as at
        first, is 50 million.

    Returns
    -------
    context manager

    Raises
    ------
    InvalidInputError
        If a value is not one of these.

    Examples
    --------
    >>> import balframe as bf
    >>> import polars as pl
    >>> df = pl.DataFrame({"y": [1, 0], "yhat": [1, 1]})
    >>> with bf.options(detail=True):
    ...     print(bf.report(df, "y", "yhat", metrics="recall").columns)
    ['n', 'recall', 'n_labels', 'min_support']
    >>> bf.report(df, "y", "yhat", metrics="recall").columns
    ['n', 'recall']
    """
    named = {"detail": detail, "layout": layout, "backend": backend, "max_cells": max_cells}
    return SettingsBlock({name: value for name, value in named.items() if value is not ...})
