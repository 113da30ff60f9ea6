"""The verb `require`: the frame itself where all rules hold, and an error where not."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from balframe.analyses.scoring import ClassWeight
from balframe.core.labels import Label
from balframe.errors import CheckFailed, check_choice
from balframe.frames.deliver import collected, rows_of
from balframe.frames.library import FrameT, Name
from balframe.frames.query import MAX_CELLS
from balframe.gates.rules import RulesOption
from balframe.verbs.answer import Margins, Missing, Names
from balframe.verbs.check import Decide, check

_SHOWN = 10


def require(
    frame: FrameT,
    y_true: Name,
    y_pred: Names,
    *,
    rules: RulesOption,
    by: Names = None,
    allow_inconclusive: bool = False,
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
    max_cells: int = MAX_CELLS,
) -> FrameT:
    """Raise unless every segment keeps the rules; otherwise give back the frame.

    It stands in a chain: `df.bal.require(...).write_parquet(...)`. On a lazy frame it runs at once.

    Parameters
    ----------
    frame : pandas, polars or pyarrow frame, or one of Dask, PySpark, DuckDB, Ibis, SQLFrame
        The data; never changed.
    y_true : column name
        The true labels: booleans, integers, whole floats, strings, categories or dates.
    y_pred : column name or list of column names
        The predicted labels; a list judges several models.
    rules : str, list, mapping or path
        The rules, as `check` reads them.
    by : column name or list of column names, optional
        The columns whose combinations are the segments; by default all rows are one segment.
    allow_inconclusive : bool, default False
        Let pass what too few rows can tell of; otherwise that raises too.
    decide, adjust, level, min_support : options of the verdicts
        How verdicts are found, as in `check`.
    class_weight, sample_weight, counts, cells, labels : options of the reading
        As in `check`.
    pos_label, missing, margins, max_cells : options of the reading
        As in `check`.

    Returns
    -------
    the frame that was given

    Raises
    ------
    CheckFailed
        If a rule fails, is inconclusive unless that is allowed, or there is no row to judge. The
        message lists the worst violations first, ten at most; `frame` is the result of `check`.
    BalframeError
        If a rule, a name, an option or a value cannot be used.

    Examples
    --------
    >>> import balframe as bf
    >>> compas = bf.datasets.compas(backend="pandas").query("race in ['Asian', 'Caucasian']")
    >>> columns = {"y_true": "reoffended", "y_pred": "high_risk", "by": "race", "counts": "n"}
    >>> bf.require(compas, **columns, rules="balanced_accuracy >= 0.5") is compas
    True
    >>> bf.require(compas, **columns, rules=["recall >= 0.6", "difference(recall) <= 0.5"])
    Traceback (most recent call last):
    balframe.errors.CheckFailed: 1 of 3 verdicts fails and 2 are inconclusive (too few rows):
      fail: recall >= 0.6: 0.5228 [0.4867, 0.5586] where race is Caucasian
      inconclusive: recall >= 0.6: 0.6667 [0.3186, 0.8954] where race is Asian
      inconclusive: difference(recall) <= 0.5: 0.1439 [0, 0.5768]
    """
    check_choice("allow_inconclusive", allow_inconclusive, (False, True))
    found = collected(
        check(
            frame,
            y_true,
            y_pred,
            rules=rules,
            by=by,
            decide=decide,
            adjust=adjust,
            level=level,
            min_support=min_support,
            class_weight=class_weight,
            sample_weight=sample_weight,
            counts=counts,
            cells=cells,
            labels=labels,
            pos_label=pos_label,
            missing=missing,
            margins=margins,
            max_cells=max_cells,
        )
    )
    verdicts = rows_of(found)
    failed = [one for one in verdicts if one["status"] == "fail"]
    unknown = [one for one in verdicts if one["status"] == "inconclusive"]
    if failed or not verdicts or (unknown and not allow_inconclusive):
        listed = [] if allow_inconclusive else unknown
        message = _message(failed, listed, len(verdicts))
        raise CheckFailed(message, found, len(failed), len(unknown))
    return frame


def _message(
    failed: Sequence[Mapping[Name, Any]], unknown: Sequence[Mapping[Name, Any]], n_verdicts: int
) -> str:
    if not n_verdicts:
        return "there is no row to judge, so that no rule can pass."
    parts = []
    if failed:
        parts.append(f"{len(failed)} of {n_verdicts} verdicts fail{'s' * (len(failed) == 1)}")
    if unknown:
        are = "is" if len(unknown) == 1 else "are"
        of_all = "" if failed else f" of {n_verdicts} verdicts"
        parts.append(f"{len(unknown)}{of_all} {are} inconclusive (too few rows)")
    worst = sorted(failed, key=_violation, reverse=True) + list(unknown)
    lines = [_line(one) for one in worst[:_SHOWN]]
    if len(worst) > _SHOWN:
        lines.append(f"and {len(worst) - _SHOWN} more")
    return "\n  ".join([" and ".join(parts) + ":", *lines])


def _violation(verdict: Mapping[Name, Any]) -> float:
    """Measure how far an estimate is from its bound, that of counts relative to it."""
    bound = float(verdict["bound"])
    return abs(float(verdict["estimate"]) - bound) / max(abs(bound), 1)


def _line(verdict: Mapping[Name, Any]) -> str:
    """Write a verdict down: the rule, what was found, and where."""
    estimate, lower, upper = (
        None if verdict[name] is None else _number(verdict[name], verdict["bound"])
        for name in ("estimate", "lower", "upper")
    )
    found = "undefined" if estimate is None else estimate
    if verdict["lower"] != verdict["upper"]:
        found += f" [{lower}, {upper}]"
    names = list(verdict)
    by = names[: names.index("rule")]
    reason = None if "reason" in by else verdict.get("reason")
    if "(" in verdict["rule"]:  # it is about many segments, and these columns are null
        by = [name for name in by if verdict[name] is not None]
    where = ", ".join(f"{name} is {_text(verdict[name])}" for name in by)
    return (
        f"{verdict['status']}: {verdict['rule']}: {found}"
        + (f" where {where}" if where else "")
        + (f" ({reason})" if reason else "")
    )


def _number(value: float, bound: float) -> str:
    """Write a number down: whole ones exactly, and none rounded to the bound that it is not."""
    text = str(int(value)) if float(value).is_integer() else f"{value:.4g}"
    return text if float(text) != bound or value == bound else repr(float(value))


def _text(value: object) -> str:
    return "null" if value is None else str(value)
