"""The function `audit`: a page on a classifier, to hand to people who do not run code."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from os import PathLike
from typing import Annotated, Any, TypedDict, TypeVar, Unpack

from balframe._file_identity import base_name
from balframe.api.method import Parameter, function_parameters, with_options
from balframe.api.option_types import PARTS_OF_WORDS, WORDS
from balframe.api.options import (
    DEFAULT_MIN_SUPPORT,
    SHARED,
    ClusterOptions,
    CorrectedRowOptions,
    LevelOptions,
    Names,
    Option,
)
from balframe.api.outcomes import OUTCOME, as_predictions
from balframe.audit_page.build import build_page
from balframe.audit_page.cover import CoverOption, without_folders
from balframe.audit_page.page import Page
from balframe.audit_page.request import (
    PREDICTIONS,
    check_request,
    check_without_predictions,
)
from balframe.errors import clipped
from balframe.frames.adapter import Name
from balframe.frames.engines.inputs import InputFrame, materialize, unwrap
from balframe.frames.query import are_cells
from balframe.frames.query_checks import has_repeated_cells, may_be_counts
from balframe.methods.gates.rules import Rule, RulesOption, read_rules
from balframe.methods.impact.impact import Favourable

F = TypeVar("F", bound=Callable[..., Any])

Nouns = tuple[str, str]

_MAX_VALUE_LENGTH = 1_000  # characters of a value in the call that the page shows
_DECLARED = {
    **SHARED,
    "frame": Option("frame of any supported library", "The data, which are never modified."),
    "y_pred": Option(
        "column name or list of column names",
        "The predicted class labels. Several columns are audited as several models.",
    ),
}
_ALTERNATIVES = {
    "metrics": "an audit has the same metrics on every page. For others, call report.",
    "margins": "an audit has all rows and the groups of each column.",
    "interval": "an audit has an interval for every estimate. The level is `level`.",
    "adjust": "an audit adjusts the p-values of all differences on the page together.",
    "backend": "an audit returns a page, not a frame.",
    "out": "an audit returns a page. Save it with page.save.",
}


class WordOptions(TypedDict, total=False):
    """The words of a page, which `words` has."""

    title: Annotated[
        str | None,
        Option(
            "text, optional",
            "The heading of the page; by default it names the columns of predictions.",
            part_of=WORDS,
        ),
    ]
    subtitle: Annotated[
        str | None,
        Option(
            "text, optional", "A line below the heading that describes the data.", part_of=WORDS
        ),
    ]
    truth: Annotated[
        str | None,
        Option(
            "text, optional",
            'Words for the positive label of `y_true` that fit into "45% were ...", such as '
            '"re-arrested within two years"; by default "labelled 1".',
            part_of=WORDS,
        ),
    ]
    selected: Annotated[
        str | None,
        Option(
            "text, optional",
            'Words for the positive label of `y_pred` that fit into "46% had been ...", such as '
            '"called high risk" or "approved"; by default "predicted 1".',
            part_of=WORDS,
        ),
    ]
    unit: Annotated[
        Nouns,
        Option(
            "pair of str",
            "What a row is about, in the singular and in the plural.",
            default=("row", "rows"),
            part_of=WORDS,
        ),
    ]
    prediction_word: Annotated[
        Nouns,
        Option(
            "pair of str",
            "What a prediction is called on the page, in the singular and in the plural.",
            default=PREDICTIONS,
            part_of=WORDS,
        ),
    ]


class _Options(WordOptions, LevelOptions, ClusterOptions, CorrectedRowOptions, total=False): ...


def _with_options(function: F) -> F:
    """Add all options to the function: in its signature, its docstring, and when it is called."""
    return with_options(function, "bf.audit", _DECLARED, "", _ALTERNATIVES)


@_with_options
def audit(
    frame: object,
    y_true: Name = None,
    y_pred: Names = None,
    *,
    outcome: Names = None,
    by: Names = None,
    y_score: Names = None,
    rules: RulesOption | None = None,
    favourable: Favourable | None = None,
    baseline: object = None,
    words: Mapping[str, Any] | None = None,
    cover: CoverOption | None = None,
    min_support: int = DEFAULT_MIN_SUPPORT,
    suppress: int | None = None,
    **options: Unpack[_Options],
) -> Page:
    r"""Return a page that shows how often a classifier is right, for whom, and how sure that is.

    The page is for people who do not run code: one HTML file without scripts, which loads nothing.
    Every sentence on it is composed from results of the other methods, and every estimate has its
    confidence interval. The same data and options give the same page, byte for byte.

    With `missing="correct"`, rates are those of all rows, and the page states what that assumes;
    it cannot be combined with `y_score`, `baseline`, `bf.period`, `cluster`, `sample_weight` and
    `suppress`.

    Parameters
    ----------
    outcome : column name or list of column names, optional
        In place of `y_true` and `y_pred`: 1, true or `pos_label` in rows that passed, such as runs
        of an agent. The page is about their rate. Several columns are several models.
    by : column name or list of column names, optional
        The columns of groups, such as sex, race and age. Each column is examined on its own, and
        `slices` searches their combinations. A null is a group of its own. `bf.bins` cuts a column
        of numbers; uncut, more than 50 different numbers raise an error. `bf.period` adds a section
        on changes over time. Pairs of two or three columns have a table of selection rates each;
        `bf.intersection` names others.
    y_score : column name or list of column names, optional
        The scores that the predictions come from, higher for the positive label: one column for
        each of `y_pred`. More than 1,000 different ones are rounded down, which the page states.
    rules : str, list, mapping or path, optional
        Rules that have been agreed, in any of the forms that `check` reads. The page shows which
        are met.
    favourable : {"selected", "not selected"}, optional
        What is good for a person: to be selected, as for a loan, or not to be. It decides which
        error is a harm, what "worse" means, and whose impact ratio the page shows. Without it, the
        page says "more often" and "less often", and draws no line at four fifths.
    baseline : frame, optional
        The rows of an earlier audit, or its cells. A section compares them with the data, and rules
        may too, such as "recall >= baseline - 0.02".
    words : mapping, optional
        Words of the page: "title" and "subtitle"; "truth", for the positive label of `y_true`,
        which fits into "45% were ...", such as "re-arrested within two years"; "selected", for that
        of `y_pred`, such as "called high risk"; "unit", what a row is about, such as ("person",
        "people"); and "prediction", such as ("decision", "decisions").
    cover : mapping or path, optional
        Facts about the audit, which the page shows below its title: a mapping, or the path of a
        TOML file. The keys organisation, system, version, purpose, period, source,
        distribution_date, auditor, date, excluded (why small categories are) and files have labels;
        other keys are notes. A value is text, a number, a date or a list of texts. `files` are
        paths, shown with their SHA-256.
    min_support : int, default 10
        Rows that the denominator of a rate, and each of two outcomes, needs. Smaller groups are
        shown in tables, but are in no comparison and no sentence.
    suppress : int, optional
        Withhold counts under this number, such as 5, and others that would reveal them. A group
        with such a count is shown without its figures and is in no comparison.

    Returns
    -------
    Page
        Has `save`, `html` and `markdown`, is displayed in a notebook, and returns its numbers and
        sentences as data with `evidence`. Sections are about how often the predictions are right,
        for whom, which errors fall on whom, thresholds, criteria, selection, rules, models and
        changes. Those without input are left out, and so are those whose methods take no weights
        or no clusters, which the page says.

    Raises
    ------
    BalframeError
        If an argument is invalid, or the frame has no rows.

    Notes
    -----
    The p-values of all differences on the page are adjusted together by the method of Benjamini and
    Hochberg, except those of the worst combinations, which `slices` adjusts for its search. The
    intervals of these differences have one higher level, at which they exclude 0 exactly where the
    adjusted p-value is below 1 - level (Benjamini and Yekutieli 2005). With more than two labels,
    the errors are the misses of each label, and the sections on two outcomes are left out.

    Examples
    --------
    >>> import balframe as bf
    >>> people = bf.datasets.compas_by_age_and_sex()
    >>> page = bf.audit(
    ...     people, "reoffended", "high_risk", by=["sex", "race", "age"], counts="n",
    ...     words={
    ...         "title": "COMPAS",
    ...         "truth": "re-arrested within two years",
    ...         "selected": "called high risk",
    ...         "unit": ("person", "people"),
    ...     },
    ... )
    >>> print(page.markdown().split("\n\n")[0])
    # COMPAS
    """
    arguments = {**locals(), **options}
    return audit_frame(frame, arguments, call_text(arguments, function_parameters(audit)))


def audit_frame(frame: object, arguments: Mapping[str, Any], call: str) -> Page:
    """Return the page for the arguments of a call, by name; `call` repeats them for a reader."""
    if arguments[OUTCOME] is not None:
        check_without_predictions(arguments)
        arguments = {**arguments, **as_predictions({**arguments, "frame": frame})}
        frame = arguments["frame"]
    names = [name for name in function_parameters(audit) if name not in ("frame", WORDS)]
    request = check_request({name: arguments[name] for name in names}, call)
    rows, _ = unwrap(frame)
    rows = materialize(rows)
    if request.options["cells"] is None and request.options["counts"] is None:
        data, labels = InputFrame.open(rows), [request.y_true, request.models[0].y_pred]
        cells = request.options["sample_weight"] is None and are_cells(data.column_names, labels)
        cells = cells and may_be_counts(data.schema, data.adapter) and not has_repeated_cells(data)
        request = replace(request, options={**request.options, "cells": cells})
    return Page(*build_page(rows, request))


def call_text(arguments: Mapping[str, Any], parameters: Mapping[str, Parameter]) -> str:
    """Return the call in Python: all that differs from the defaults, in the signature's order."""
    parts = ["frame"]
    if arguments[OUTCOME] is None:
        parts.append(f"{_literal(arguments['y_true'])}, {_literal(arguments['y_pred'])}")
    written_words = {
        word: arguments[name]
        for word, name in PARTS_OF_WORDS.items()
        if not _is_same(arguments[name], parameters[name].default)
    }
    corrected = [
        f"{start}{_literal(arguments[name])}"
        for name, start in (("verdict", ""), ("label_probability", "probability="))
        if arguments[name] is not None
    ]
    for name, declared in parameters.items():
        value: Any = written_words or None if name == WORDS else arguments[name]
        if declared.is_positional or declared.part_of or _is_same(value, declared.default):
            continue
        written = _WRITTEN[name](value) if name in _WRITTEN else value
        text = name if name == "baseline" else _literal(written)
        if name == "missing" and corrected:
            text = f"bf.correct({', '.join(corrected)})"
        parts.append(f"{name}={text}")
    return "".join(
        ["import balframe as bf\n\npage = bf.audit(\n", *(f"    {part},\n" for part in parts), ")"]
    )


def _is_same(value: object, default: object) -> bool:
    return type(value) is type(default) and value == default


def _literal(value: Any) -> str:  # noqa: ANN401 (of any option)
    """Return a value as Python reads it; a very long text is shortened."""
    if hasattr(value, "tolist"):  # of numpy
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        inside = ", ".join(map(_literal, value))
        return f"({inside})" if isinstance(value, tuple) and len(value) > 1 else f"[{inside}]"
    if isinstance(value, Mapping):
        pairs = (f"{_literal(key)}: {_literal(item)}" for key, item in value.items())
        return f"{{{', '.join(pairs)}}}"
    return clipped(repr(value), _MAX_VALUE_LENGTH)


def _literal_rules(rules: RulesOption) -> object:
    """Return rules in a form that can be written: a file by its name, others as texts."""
    if isinstance(rules, (str, PathLike)):
        return base_name(rules)  # the text of a rule has no folders
    if isinstance(rules, Mapping) and "rules" in rules:
        return {**rules, "rules": _literal_rules(rules["rules"])}
    written = [_literal_rule(rule) for rule in read_rules(rules)]
    return written[0] if len(written) == 1 and isinstance(written[0], str) else written


def _literal_rule(rule: Rule) -> str | Mapping[str, Any]:
    if not rule.where and rule.reason is None and rule.severity == "error":
        return rule.text
    where = {
        name: values[0] if len(values) == 1 else [*values] for name, values in rule.where.items()
    }
    reason = {} if rule.reason is None else {"reason": rule.reason}
    severity = {} if rule.severity == "error" else {"severity": rule.severity}
    return {"rule": rule.text, **({"where": where} if where else {}), **reason, **severity}


_WRITTEN = {"rules": _literal_rules, "cover": without_folders}  # options that may name files
