"""The function `audit`: a page on a classifier, to hand to people who do not run code."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, Unpack

from balframe.api.method import function_parameters, with_options
from balframe.api.options import (
    FRAMES,
    SHARED,
    CellOptions,
    LevelOptions,
    Names,
    Option,
    UnweightedRowOptions,
)
from balframe.audit_page.asked_of_options import asked_of
from balframe.audit_page.build import document_of
from balframe.audit_page.call_in_python import call_in_python
from balframe.audit_page.page import Page
from balframe.errors import UnsupportedTypeError
from balframe.frames.adapter import Name
from balframe.frames.engines.inputs import materialize, unwrap
from balframe.methods.gates.rules import RulesOption

F = TypeVar("F", bound=Callable[..., Any])

Unit = tuple[str, str]

_ROWS = ("row", "rows")
_LEAST = 30
_SAID = {
    **SHARED,
    "frame": Option(FRAMES, "The data, which are never modified. A lazy frame is collected."),
    "y_pred": Option(
        "column name or list of column names",
        "The calls: predicted class labels. Several columns are audited as several models.",
    ),
}
_INSTEAD = {
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


def _declared(function: F) -> F:
    """Give the function all options: in its signature, its docstring, and when it is called."""
    return with_options(function, "bf.audit", _SAID, "", UnsupportedTypeError, _INSTEAD)


@_declared
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
    min_support: int = _LEAST,
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
    min_support : int, default 30
        Minimum number of rows in the denominator of a rate. Groups with fewer rows are shown, and
        their p-values count, but they are not ranked.

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
    given = {**locals(), **options}
    return page_of(frame, given, call_in_python(given, function_parameters(audit)))


def page_of(frame: object, given: Mapping[str, Any], call: str) -> Page:
    """Make the page of a call, whose options are given by name."""
    known = {name: given[name] for name in function_parameters(audit) if name != "frame"}
    rows, _ = unwrap(frame)
    return Page(document_of(materialize(rows), asked_of(known, call)))
