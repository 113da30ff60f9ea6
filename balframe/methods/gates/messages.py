"""The messages on rules that do not hold."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from balframe.frames.adapter import Name
from balframe.methods.gates.rules import read_rules

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
