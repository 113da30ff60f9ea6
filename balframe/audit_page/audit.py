"""The function `audit`: a page on a classifier, to hand to people who do not run code."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike, fspath
from typing import Any, TypeVar, Unpack

from balframe.api.method import Parameter, function_parameters, with_options
from balframe.api.options import (
    DEFAULT_MIN_SUPPORT,
    FRAMES,
    SHARED,
    CellOptions,
    LevelOptions,
    Names,
    Option,
    UnweightedRowOptions,
)
from balframe.audit_page.build import build_document
from balframe.audit_page.page import Page
from balframe.audit_page.request import check_request
from balframe.errors import UnsupportedTypeError, clipped
from balframe.frames.adapter import Name
from balframe.frames.engines.inputs import materialize, unwrap
from balframe.methods.gates.rules import Rule, RulesOption, read_rules

F = TypeVar("F", bound=Callable[..., Any])

Unit = tuple[str, str]

_ROWS = ("row", "rows")
_MAX_VALUE_LENGTH = 1_000  # characters of a value in the call that the page shows
_DECLARED = {
    **SHARED,
    "frame": Option(FRAMES, "The data, which are never modified. A lazy frame is collected."),
    "y_pred": Option(
        "column name or list of column names",
        "The calls: predicted class labels. Several columns are audited as several models.",
    ),
}
_ALTERNATIVES = {
    "sample_weight": "an audit counts rows, and its sentences are about rows. For weighted scores, "
    "call report and gaps.",
    "cluster": "an audit takes rows as independent. For rows that belong together, call report and "
    "gaps with cluster.",
    "baseline": "an audit has no baseline. Call check with baseline.",
    "metrics": "an audit has the same metrics on every page. For others, call report.",
    "margins": "an audit has all rows and the groups of each column.",
    "interval": "an audit has an interval for every estimate. The level is `level`.",
    "adjust": "an audit adjusts the p-values of all differences on the page together.",
    "backend": "an audit returns a page, not a frame.",
    "out": "an audit returns a page. Save it with page.save.",
}


class _Options(LevelOptions, UnweightedRowOptions, CellOptions, total=False): ...


def _with_options(function: F) -> F:
    """Add all options to the function: in its signature, its docstring, and when it is called."""
    return with_options(function, "bf.audit", _DECLARED, "", UnsupportedTypeError, _ALTERNATIVES)


@_with_options
def audit(
    frame: object,
    y_true: Name,
    y_pred: Names,
    *,
    by: Names = None,
    y_score: Names = None,
    rules: RulesOption | None = None,
    title: str | None = None,
    subtitle: str | None = None,
    truth: str | None = None,
    call: str | None = None,
    unit: Unit = _ROWS,
    min_support: int = DEFAULT_MIN_SUPPORT,
    **options: Unpack[_Options],
) -> Page:
    r"""Return a page that says how often a classifier is right, for whom, and how sure that is.

    The page is for people who do not run code. It is one HTML file without scripts, which loads
    nothing. Every sentence on it is composed from results of the other methods, and every
    estimate that it reports has its confidence interval. The same data and options give the same
    page, byte for byte.

    Parameters
    ----------
    by : column name or list of column names, optional
        The columns of groups, such as sex, race and age. Each column is examined on its own, and
        `slices` searches their combinations. A null is a group of its own.
    y_score : column name or list of column names, optional
        The scores that the calls come from, higher for the positive label: one column for each of
        `y_pred`. With more than 1,000 different scores, they are rounded down to multiples of a
        power of ten, which the page states.
    rules : str, list, mapping or path, optional
        Rules that have been agreed, in any of the forms that `check` reads. The page says which are
        met.
    title : text, optional
        The heading of the page; by default it names the columns of calls.
    subtitle : text, optional
        A line below the heading that says what the data are.
    truth : text, optional
        Words for the positive label of `y_true` that fit into "45% were ...", such as "re-arrested
        within two years"; by default "labelled 1". Raises with more than two labels.
    call : text, optional
        Words for the positive label of `y_pred` that fit into "46% had been ...", such as "called
        high risk"; by default "predicted 1". Raises with more than two labels.
    unit : pair of str, default ("row", "rows")
        What a row is about, in the singular and in the plural. An example is
        ("person", "people").
    min_support : int, default 10
        Minimum number of rows in the denominator of a rate. Groups with fewer rows are shown, and
        their p-values count, but they are not ranked. Combinations of groups are searched with at
        least 30 rows, as in `slices`.

    Returns
    -------
    Page
        Has `save`, `html` and `markdown`, and shows itself in a notebook. Its sections: what was
        examined; how often the calls are right; for whom; which errors fall on whom; whether that
        is more than chance; where it is worst; other thresholds; what scores mean in each group;
        named criteria; how often each group is selected; the rules; several models; what cannot be
        said; how it was computed. Sections without input are left out, and the page says so.

    Raises
    ------
    BalframeError
        If a name, an option or a value is invalid, or the frame has no rows. The message says what
        to do.

    Notes
    -----
    The p-values of all differences on the page are adjusted together by the method of Benjamini and
    Hochberg, except those of the worst combinations, which `slices` adjusts for its search. With
    more than two labels, the errors are the misses of each label, and the sections on two outcomes
    are left out.

    Examples
    --------
    >>> import balframe as bf
    >>> people = bf.datasets.compas_by_age_and_sex()
    >>> page = bf.audit(
    ...     people, "reoffended", "high_risk", by=["sex", "race", "age"], counts="n",
    ...     title="COMPAS", truth="re-arrested within two years", call="called high risk",
    ...     unit=("person", "people"),
    ... )
    >>> print(page.markdown().split("\n\n")[0])
    # COMPAS
    """
    arguments = {**locals(), **options}
    return audit_frame(frame, arguments, call_text(arguments, function_parameters(audit)))


def audit_frame(frame: object, arguments: Mapping[str, Any], call: str) -> Page:
    """Return the page for the arguments of a call, by name; `call` repeats them for a reader."""
    names = [name for name in function_parameters(audit) if name != "frame"]
    request = check_request({name: arguments[name] for name in names}, call)
    rows, _ = unwrap(frame)
    return Page(build_document(materialize(rows), request))


def call_text(arguments: Mapping[str, Any], parameters: Mapping[str, Parameter]) -> str:
    """Return the call in Python: all that differs from the defaults, in the signature's order."""
    parts = ["frame", f"{_literal(arguments['y_true'])}, {_literal(arguments['y_pred'])}"]
    for name, declared in parameters.items():
        value = arguments[name]
        if not declared.is_positional and not _is_same(value, declared.default):
            parts.append(f"{name}={_literal(_literal_rules(value) if name == 'rules' else value)}")
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
    """Return rules in a form that can be written: a path as it is, others as texts and mappings."""
    if isinstance(rules, (str, PathLike)):
        return fspath(rules)
    if isinstance(rules, Mapping) and "rules" in rules:
        return {**rules, "rules": _literal_rules(rules["rules"])}
    written = [_literal_rule(rule) for rule in read_rules(rules)]
    return written[0] if len(written) == 1 and isinstance(written[0], str) else written


def _literal_rule(rule: Rule) -> str | Mapping[str, Any]:
    if not rule.where and rule.reason is None:
        return rule.text
    where = {name: _item_or_list(values) for name, values in rule.where.items()}
    reason = {} if rule.reason is None else {"reason": rule.reason}
    return {"rule": rule.text, **({"where": where} if where else {}), **reason}


def _item_or_list(values: Sequence[Any]) -> Any:  # noqa: ANN401
    return values[0] if len(values) == 1 else list(values)
