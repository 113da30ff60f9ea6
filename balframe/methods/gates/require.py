"""The verb `require`."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Unpack

from balframe.api.method import Method
from balframe.api.options import CellsOrRows, Clustering, Names, RollUps
from balframe.errors import CheckFailed, InvalidInputError, check_choice, listed
from balframe.frames.adapter import FrameT, Name
from balframe.frames.convert_result import collected, rows_of, values_of
from balframe.methods.gates.check import Decisions, check
from balframe.methods.gates.rules import RulesOption, read_rules
from balframe.methods.gates.verdicts import STATUS

# The messages on rules that do not hold.


_SHOWN = 10


def message(
    failed: Sequence[Mapping[Name, Any]],
    unknown: Sequence[Mapping[Name, Any]],
    n_verdicts: int,
    of_many: Collection[str],
) -> str:
    """Describe how many verdicts fail or are inconclusive, and list the worst.

    `of_many` are the rules on a difference or ratio of segments.
    """
    if not n_verdicts:
        return "there is no row to judge, so no rule can pass."
    parts = []
    if failed:
        parts.append(f"{len(failed)} of {n_verdicts} verdicts fail{'s' * (len(failed) == 1)}")
    if unknown:
        are = "is" if len(unknown) == 1 else "are"
        of_all = "" if failed else f" of {n_verdicts} verdicts"
        is_defined = all(one["estimate"] is not None for one in unknown)
        why = "too few rows" if is_defined else "too few rows, or undefined"
        parts.append(f"{len(unknown)}{of_all} {are} inconclusive ({why})")
    worst = sorted(failed, key=_violation, reverse=True) + list(unknown)
    lines = [_line(one, of_many) for one in worst[:_SHOWN]]
    if len(worst) > _SHOWN:
        lines.append(f"and {len(worst) - _SHOWN} more")
    return "\n  ".join([" and ".join(parts) + ":", *lines])


def _violation(verdict: Mapping[Name, Any]) -> float:
    """Measure how far an estimate is from its bound; for a bound above 1, relative to it."""
    bound = float(verdict["bound"])
    return abs(float(verdict["estimate"]) - bound) / max(abs(bound), 1)


def _line(verdict: Mapping[Name, Any], of_many: Collection[str]) -> str:
    """Format a verdict: the rule, the estimate with its interval, and the segment."""
    found = beside_baseline(verdict) or _alone(verdict)
    names = list(verdict)
    by = names[: names.index("rule")]
    reason = None if "reason" in by else verdict.get("reason")
    if verdict["rule"] in of_many:  # these columns are null
        by = [name for name in by if verdict[name] is not None]
    where = ", ".join(f"{name} is {_text(verdict[name])}" for name in by)
    return (
        f"{verdict['status']}: {verdict['rule']}: {found}"
        + (f" where {where}" if where else "")
        + (f" ({reason})" if reason else "")
    )


def _alone(verdict: Mapping[Name, Any]) -> str:
    """Format an estimate with its interval."""
    estimate, lower, upper = (
        None if verdict[name] is None else _number(verdict[name], verdict["bound"])
        for name in ("estimate", "lower", "upper")
    )
    found = "undefined" if estimate is None else estimate
    return found if verdict["lower"] == verdict["upper"] else f"{found} [{lower}, {upper}]"


def beside_baseline(verdict: Mapping[Any, Any]) -> str | None:
    """Format a score, its baseline, and how much worse it is; None for rules without a baseline.

    What is said of the difference is the limit that decides, or both where none does.
    """
    rule = read_rules([verdict["rule"]])[0]
    if not rule.is_relative:
        return None
    score, before = (
        None if verdict[name] is None else f"{verdict[name]:.4g}"
        for name in ("score", "baseline_score")
    )
    named = f"{rule.quantity} {score}" if score is not None else "no score"
    if verdict["n"] == 0:
        named = "no rows"
    scores = f"{named}, {'no baseline' if before is None else f'baseline {before}'}"
    if verdict["estimate"] is None:
        return scores
    sign = 1 if rule.operator in (">=", ">") else -1

    def said(gain: float) -> str:
        size = _number(abs(gain), abs(verdict["bound"]))
        return f"{size} {'better' if gain > 0 else 'worse'}"

    if verdict["lower"] is None:
        return f"{scores}, {said(sign * verdict['estimate'])}"
    least, most = sorted(sign * verdict[name] for name in ("lower", "upper"))
    if verdict["status"] == "fail":
        return f"{scores}, {'at least' if most < 0 else 'at most'} {said(most)}"
    if verdict["status"] == "pass":
        return f"{scores}, {'at most' if least < 0 else 'at least'} {said(least)}"
    return f"{scores}, between {said(least)} and {said(most)}"


def _number(value: float, bound: float) -> str:
    """Format a number so that it never rounds to a bound that it does not equal."""
    text = str(int(value)) if float(value).is_integer() else f"{value:.4g}"
    return text if float(text) != bound or value == bound else repr(float(value))


def _text(value: object) -> str:
    return "null" if value is None else str(value)


# The function `passed`.


def passed(verdicts: object, *, allow_inconclusive: bool = False) -> bool:
    """Return True if `check` returned at least one verdict and every verdict is a pass.

    It is False for a frame without rows, where `(verdicts["status"] == "pass").all()` is True.
    `require` raises where this is False.

    Parameters
    ----------
    verdicts : frame
        The result of `check`, on any library or engine. A lazy frame is collected.
    allow_inconclusive : bool, default False
        Treat inconclusive verdicts as passes.

    Returns
    -------
    bool
        True if there is at least one verdict and all of them are "pass".

    Raises
    ------
    InvalidInputError
        If the frame is not a result of `check`.

    Examples
    --------
    >>> import balframe as bf
    >>> compas = bf.datasets.compas(backend="pandas")
    >>> columns = {"y_true": "reoffended", "y_pred": "high_risk", "counts": "n"}
    >>> bf.passed(bf.check(compas, **columns, by="race", rules="recall >= 0.3"))
    False
    >>> bf.passed(bf.check(compas, **columns, rules="recall >= 0.3"))
    True
    >>> bf.passed(bf.check(compas.head(0), **columns, by="race", rules="recall >= 0.3"))
    False
    """
    check_choice("allow_inconclusive", allow_inconclusive, (False, True))
    statuses = dict.fromkeys(values_of(collected(verdicts), "status"))
    if not set(statuses) <= set(STATUS):
        raise InvalidInputError(
            f"column 'status' holds {listed(map(repr, statuses), 3)}; give a result of `check`, "
            f"whose statuses are {listed(map(repr, STATUS))}."
        )
    kept = {"pass", "inconclusive"} if allow_inconclusive else {"pass"}
    return bool(statuses) and set(statuses) <= kept


VERB = Method({})


class _Options(Decisions, Clustering, CellsOrRows, RollUps, total=False): ...


@VERB
def require(
    frame: FrameT,
    y_true: Name,
    y_pred: Names,
    *,
    rules: RulesOption,
    by: Names = None,
    allow_inconclusive: bool = False,
    **options: Unpack[_Options],
) -> FrameT:
    """Return the data unchanged if every segment satisfies the rules, and fail otherwise.

    It returns `df`, or raises CheckFailed. Use it in a chain of methods, such as
    `df.bal.require(...).write_parquet(...)`. A lazy frame is computed immediately.

    Parameters
    ----------
    rules : str, list, mapping or path
        The rules that every segment must satisfy, in any of the forms that `check` reads.
    allow_inconclusive : bool, default False
        Treat inconclusive verdicts as success. By default they are failures, because too few rows
        are no evidence that a rule holds.

    Returns
    -------
    frame
        The frame given, unchanged.

    Raises
    ------
    CheckFailed
        If a rule fails, if a verdict is inconclusive and `allow_inconclusive` is False, or if there
        is no row to judge. The message lists up to ten verdicts, the worst violations first. For a
        rule with a baseline, it states both scores and the limit that decides. The attribute
        `frame` of the error is the result of `check`.
    BalframeError
        If a rule, a name, an option or a value is invalid.

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
      fail: recall >= 0.6: 0.5228 [0.4862, 0.5592] where race is Caucasian
      inconclusive: recall >= 0.6: 0.6667 [0.2611, 0.9421] where race is Asian
      inconclusive: difference(recall) <= 0.5: 0.1439 [0, 0.6811]

    A new model that is worse than an old one on the same rows, by more than a margin of 0.05:

    >>> import polars as pl
    >>> rows = {"y": [1] * 4, "old": [1, 1, 0, 0], "new": [1, 0, 1, 0], "n": [800, 90, 10, 100]}
    >>> cases = pl.DataFrame(rows)
    >>> rule = "recall >= baseline - 0.05"
    >>> bf.require(cases, "y", "new", counts="n", baseline="old", rules=rule)
    Traceback (most recent call last):
    balframe.errors.CheckFailed: 1 of 1 verdicts fails:
      fail: recall >= baseline - 0.05: recall 0.81, baseline 0.89, at least 0.06203 worse
    """
    check_choice("allow_inconclusive", allow_inconclusive, (False, True))
    known = read_rules(rules)
    found = collected(check(frame, y_true, y_pred, rules=known, by=by, **options))
    if passed(found, allow_inconclusive=allow_inconclusive):
        return frame
    verdicts = rows_of(found)
    failed = [one for one in verdicts if one["status"] == "fail"]
    unknown = [one for one in verdicts if one["status"] == "inconclusive"]
    of_many = [rule.text for rule in known if rule.over is not None]
    text = message(failed, [] if allow_inconclusive else unknown, len(verdicts), of_many)
    raise CheckFailed(text, found, len(failed), len(unknown))
