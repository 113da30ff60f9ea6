"""The method `require`."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Unpack

from balframe._validate import check_choice
from balframe.api.checked_arguments import checked_arguments
from balframe.api.columns import NOTE
from balframe.api.method import Method
from balframe.api.options import (
    ClusterOptions,
    Names,
    OutcomeOptions,
    PartlyLabelledRowOptions,
)
from balframe.errors import CheckFailed, InvalidInputError, listed, warn
from balframe.frames.adapter import FrameT, Name
from balframe.frames.concat import column_names
from balframe.frames.convert_result import collect_result, column_values, row_dicts
from balframe.methods.gates.check import DecisionOptions, check
from balframe.methods.gates.rules import N_SEGMENTS, RulesOption, read_rule_set, read_rules
from balframe.methods.gates.verdicts import ABSENT, PART_ABSENT, SEVERITY, STATUSES, is_warning

# The messages on rules that fail or are inconclusive.


_MAX_VERDICTS = 10
_READ = ("rule", "estimate", "n", NOTE)  # columns that show whether a verdict is on rows
NO_VERDICT = "there is no row to judge, so no rule can pass."


def failure_message(
    failed: Sequence[Mapping[Name, Any]],
    inconclusive: Sequence[Mapping[Name, Any]],
    n_verdicts: int,
    disparity_rules: Collection[str],
) -> str:
    """Describe how many verdicts fail or are inconclusive, and list the worst.

    If none is, there is no row to judge. `disparity_rules` are the rules on a difference or ratio
    of segments.
    """
    if not failed and not inconclusive:
        return NO_VERDICT
    worst = worst_first(failed, inconclusive)
    lines = [_verdict_line(verdict, disparity_rules) for verdict in worst[:_MAX_VERDICTS]]
    if len(worst) > _MAX_VERDICTS:
        lines.append(f"and {len(worst) - _MAX_VERDICTS} more")
    return "\n  ".join([f"{count_failures(failed, inconclusive, n_verdicts)}:", *lines])


def count_failures(
    failed: Sequence[Mapping[Name, Any]],
    inconclusive: Sequence[Mapping[Name, Any]],
    n_verdicts: int,
) -> str:
    """Return how many verdicts fail or are inconclusive: at least one of them does or is."""
    parts = []
    if failed:
        parts.append(f"{len(failed)} of {n_verdicts} verdicts fail{'s' * (len(failed) == 1)}")
    if inconclusive:
        verb = "is" if len(inconclusive) == 1 else "are"
        total = "" if failed else f" of {n_verdicts} verdicts"
        parts.append(f"{len(inconclusive)}{total} {verb} inconclusive ({_causes(inconclusive)})")
    return " and ".join(parts)


def worst_first(
    failed: Sequence[Mapping[Name, Any]], inconclusive: Sequence[Mapping[Name, Any]]
) -> list[Mapping[Name, Any]]:
    """Return the verdicts that fail, the worst violations first, and then the inconclusive."""
    return sorted(failed, key=_violation, reverse=True) + list(inconclusive)


def _causes(inconclusive: Sequence[Mapping[Name, Any]]) -> str:
    """List why verdicts may be inconclusive."""
    present = [verdict for verdict in inconclusive if not _is_absent(verdict)]
    causes = ["too few rows"] if present else []
    if any(verdict["estimate"] is None for verdict in present):
        causes.append("undefined")
    if len(present) < len(inconclusive):
        causes.append("absent")
    return ", or ".join([", ".join(causes[:-1]), causes[-1]] if len(causes) > 1 else causes)


def _is_absent(verdict: Mapping[Name, Any]) -> bool:
    """Return whether a segment is expected and has no rows, or one of those compared."""
    return verdict.get(NOTE) in (ABSENT, PART_ABSENT)


def _violation(verdict: Mapping[Name, Any]) -> float:
    """Return the distance of an estimate from its bound, relative to it if it is above 1.

    It is infinite for what is absent.
    """
    if verdict["estimate"] is None:
        return float("inf")
    bound = float(verdict["bound"])
    return abs(float(verdict["estimate"]) - bound) / max(abs(bound), 1)


def _verdict_line(verdict: Mapping[Name, Any], disparity_rules: Collection[str]) -> str:
    """Format a verdict: the rule, the estimate with its interval, and the segment."""
    is_over_segments = verdict["rule"] in disparity_rules
    if _is_absent(verdict):
        evidence = verdict[NOTE] if is_over_segments else "no rows"
    else:
        evidence = format_baseline_difference(verdict) or _format_estimate(verdict)
    names = list(verdict)
    by = names[: names.index("rule")]
    reason = None if "reason" in by else verdict.get("reason")
    if is_over_segments:  # these columns are null
        by = [name for name in by if verdict[name] is not None]
    where = ", ".join(f"{name} is {_format_value(verdict[name])}" for name in by)
    return (
        f"{verdict['status']}: {verdict['rule']}: {evidence}"
        + (f" where {where}" if where else "")
        + (f" ({reason})" if reason else "")
    )


def _format_estimate(verdict: Mapping[Name, Any]) -> str:
    """Format an estimate with its interval."""
    estimate, lower, upper = (
        None if verdict[name] is None else _format_number(verdict[name], verdict["bound"])
        for name in ("estimate", "lower", "upper")
    )
    text = "undefined" if estimate is None else estimate
    return text if verdict["lower"] == verdict["upper"] else f"{text} [{lower}, {upper}]"


def format_baseline_difference(verdict: Mapping[Any, Any]) -> str | None:
    """Format a score, its baseline, and how much worse it is; None for rules without a baseline.

    Of the difference, it has the limit that decides, or both if none does.
    """
    rule = read_rules([verdict["rule"]])[0]
    if not rule.is_relative:
        return None
    score, baseline_score = (
        None if verdict[name] is None else f"{verdict[name]:.4g}"
        for name in ("score", "baseline_score")
    )
    score_text = f"{rule.quantity} {score}" if score is not None else "no score"
    if verdict["n"] == 0:
        score_text = "no rows"
    scores = (
        f"{score_text}, {'no baseline' if baseline_score is None else f'baseline {baseline_score}'}"
    )
    if verdict["estimate"] is None:
        return scores
    sign = 1 if rule.operator in (">=", ">") else -1

    def describe(gain: float) -> str:
        size = _format_number(abs(gain), abs(verdict["bound"]))
        return f"{size} {'better' if gain > 0 else 'worse'}"

    if verdict["lower"] is None:
        return f"{scores}, {describe(sign * verdict['estimate'])}"
    lower, upper = sorted(sign * verdict[name] for name in ("lower", "upper"))
    if verdict["status"] == "fail":
        return f"{scores}, {'at least' if upper < 0 else 'at most'} {describe(upper)}"
    if verdict["status"] == "pass":
        return f"{scores}, {'at most' if lower < 0 else 'at least'} {describe(lower)}"
    return f"{scores}, between {describe(lower)} and {describe(upper)}"


def _format_number(value: float, bound: float) -> str:
    """Format a number so that it never rounds to a bound that it does not equal."""
    text = str(int(value)) if float(value).is_integer() else f"{value:.4g}"
    return text if float(text) != bound or value == bound else repr(float(value))


def _format_value(value: object) -> str:
    return "null" if value is None else str(value)


@checked_arguments
def passed(verdicts: object, *, allow_inconclusive: bool = False) -> bool:
    """Return True if `check` returned at least one verdict and every verdict is a pass.

    Verdicts with the severity "warn" do not count. It is False for a frame without rows, where
    `(verdicts["status"] == "pass").all()` is True. `require` raises where this is False.

    A frame without rows has verdicts if segments are expected or a baseline has them. None of them
    is judged, so it is False even with `allow_inconclusive`. Without the column `n`, which `detail`
    adds, a rule with a baseline counts as judged if it has an estimate.

    Parameters
    ----------
    verdicts : frame
        The result of `check`, on any library or engine. A lazy frame is collected.
    allow_inconclusive : bool, default False
        Treat inconclusive verdicts as passes.

    Returns
    -------
    bool
        True if there is at least one verdict and all of them are "pass", apart from warnings.

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
    result = collect_result(verdicts)
    all_statuses = column_values(result, "status")
    statuses = dict.fromkeys(all_statuses)
    if not set(statuses) <= set(STATUSES):
        raise InvalidInputError(
            f"column 'status' holds {listed(map(repr, statuses), 3)}; give a result of `check`, "
            f"whose statuses are {listed(map(repr, STATUSES))}."
        )
    passing = {"pass", "inconclusive"} if allow_inconclusive else {"pass"}
    deciding = {
        status
        for status, is_warned in zip(
            all_statuses, _are_warnings(result, len(all_statuses)), strict=True
        )
        if not is_warned
    }
    return has_judged_rows(result) and deciding <= passing


def has_judged_rows(verdicts: object) -> bool:
    """Return whether any verdict of a frame is on rows of the data.

    Those of expected segments, and of segments of a baseline, need no rows.
    """
    names = column_names(verdicts)
    n_verdicts = len(column_values(verdicts, "status"))
    if "rule" not in names:
        return n_verdicts > 0
    blank = [None] * n_verdicts
    behind = names[names.index("rule") :]  # by-columns stand before it
    columns = {name: column_values(verdicts, name) if name in behind else blank for name in _READ}
    rows = zip(*columns.values(), strict=True)
    return any(_is_on_rows(*row, has_notes=NOTE in behind) for row in rows)


def _is_on_rows(text: str, estimate: object, n: object, note: object, *, has_notes: bool) -> bool:
    """Return whether a verdict is on rows of the data, as far as its columns show it."""
    rule = read_rules([text])[0]
    if _is_number(n):
        return n != 0
    if rule.quantity == N_SEGMENTS:
        return estimate != 0
    if note == ABSENT:
        return False
    needs_estimate = rule.is_relative or (has_notes and rule.is_over_segments)
    return _is_number(estimate) or not needs_estimate


def _is_number(value: object) -> bool:
    """Return whether a value is neither null nor NaN."""
    return value is not None and (value == value) is True


def _are_warnings(result: object, n: int) -> list[bool]:
    """Return whether each of the verdicts is that of a rule that only warns."""
    names = column_names(result)
    if SEVERITY not in names:
        return [False] * n
    blank = dict.fromkeys(names)
    return [is_warning({**blank, SEVERITY: value}) for value in column_values(result, SEVERITY)]


METHOD = Method({}, {"margins": "call check with it, and give its result to bf.passed."})


class _Options(
    OutcomeOptions,
    DecisionOptions,
    ClusterOptions,
    PartlyLabelledRowOptions,
    total=False,
): ...


@METHOD
def require(
    frame: FrameT,
    y_true: Name = None,
    y_pred: Names = None,
    *,
    rules: RulesOption,
    y_score: Names = None,
    by: Names = None,
    allow_inconclusive: bool = False,
    **options: Unpack[_Options],
) -> FrameT:
    """Return the data unchanged if every segment satisfies the rules, and fail otherwise.

    It returns `df`, or raises CheckFailed. A rule with the severity "warn" does not make it raise:
    where others would, it issues a BalframeWarning. Use it in a chain of methods, such as
    `df.bal.require(...).write_parquet(...)`. A lazy frame is computed immediately.

    Parameters
    ----------
    y_pred : column name or list of column names, optional
        The predicted class labels. Several columns are treated as several models. Give either
        `y_pred` or `y_score`.
    y_score : column name or list of column names, optional
        The scores, in place of predicted labels, for rules on metrics of scores such as
        "roc_auc >= 0.8".
    rules : str, list, mapping or path
        The rules that every segment must satisfy, in any of the forms that `check` reads.
    allow_inconclusive : bool, default False
        Treat inconclusive verdicts as success. By default they are failures, because too few rows
        are not evidence that a rule holds.

    Returns
    -------
    frame
        The input frame, unchanged.

    Raises
    ------
    CheckFailed
        If a rule fails, if a verdict is inconclusive and `allow_inconclusive` is False, or if there
        is no row to judge. The message lists up to ten verdicts, the worst violations first. For a
        rule with a baseline, it states both scores and the limit that decides. The attribute
        `frame` of the error is the result of `check` with `detail`.
    BalframeError
        If a rule, a name, an option or a value is invalid.

    Examples
    --------
    >>> import balframe as bf
    >>> compas = bf.datasets.compas(backend="pandas").query("race in ['Asian', 'Caucasian']")
    >>> columns = {"y_true": "reoffended", "y_pred": "high_risk", "by": "race", "counts": "n"}
    >>> bf.require(compas, **columns, rules="balanced_accuracy >= 0.5") is compas
    True
    >>> bf.require(compas, **columns, rules=["recall >= 0.6", "difference(recall) <= 0.3"])
    Traceback (most recent call last):
    balframe.errors.CheckFailed: 1 of 3 verdicts fails and 2 are inconclusive (too few rows):
      fail: recall >= 0.6: 0.5228 [0.4862, 0.5592] where race is Caucasian
      inconclusive: recall >= 0.6: 0.6667 [0.2611, 0.9421] where race is Asian
      inconclusive: difference(recall) <= 0.3: 0.1439 [0, 0.3834]

    A new model that is worse than an old one on the same rows, by more than a margin of 0.05:

    >>> import polars as pl
    >>> rows = {"y": [1] * 4, "old": [1, 1, 0, 0], "new": [1, 0, 1, 0], "n": [800, 90, 10, 100]}
    >>> cases = pl.DataFrame(rows)
    >>> rule = "recall >= baseline - 0.05"
    >>> bf.require(cases, "y", "new", counts="n", baseline="old", rules=rule)
    Traceback (most recent call last):
    balframe.errors.CheckFailed: 1 of 1 verdicts fails:
      fail: recall >= baseline - 0.05: recall 0.81, baseline 0.89, at least 0.06178 worse
    """
    check_choice("allow_inconclusive", allow_inconclusive, (False, True))
    rule_set = read_rule_set(rules)
    verdicts_of_all = check(
        frame, y_true, y_pred, rules=rule_set, y_score=y_score, by=by, detail=True, **options
    )
    result = collect_result(verdicts_of_all)
    verdicts = row_dicts(result)
    disparity_rules = [rule.text for rule in rule_set.rules if rule.is_over_segments]
    warned = [verdict for verdict in verdicts if is_warning(verdict)]
    warning = _warning_message(warned, disparity_rules, allow_inconclusive=allow_inconclusive)
    if passed(result, allow_inconclusive=allow_inconclusive):
        if warning is not None:
            warn(warning)
        return frame
    deciding = [verdict for verdict in verdicts if not is_warning(verdict)]
    failed = [verdict for verdict in deciding if verdict["status"] == "fail"]
    inconclusive = [verdict for verdict in deciding if verdict["status"] == "inconclusive"]
    message = failure_message(
        failed, [] if allow_inconclusive else inconclusive, len(deciding), disparity_rules
    )
    message += "" if warning is None else f"\n  {warning}"
    raise CheckFailed(message, result, len(failed), len(inconclusive))


def _warning_message(
    verdicts: Sequence[Mapping[Name, Any]],
    disparity_rules: Collection[str],
    *,
    allow_inconclusive: bool,
) -> str | None:
    """Describe the verdicts of rules that only warn, in one line; None if they are as agreed."""
    failed = [verdict for verdict in verdicts if verdict["status"] == "fail"]
    inconclusive = [
        verdict
        for verdict in verdicts
        if verdict["status"] == "inconclusive" and not allow_inconclusive
    ]
    if not failed and not inconclusive:
        return None
    head, *lines = failure_message(failed, inconclusive, len(verdicts), disparity_rules).split(
        "\n  "
    )
    return f"of the rules that only warn, {head} {'; '.join(lines)}"
