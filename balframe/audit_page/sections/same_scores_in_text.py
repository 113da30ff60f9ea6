"""Sentences on groups beside others who have the same scores."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from balframe.audit_page.groups import Difference
from balframe.audit_page.numbers import APART, POINTS, count, points, points_more
from balframe.audit_page.text import name, plural, together

_FEW = 30  # different scores, up to which rows of exactly the same score are compared
_MOST_NAMED, _MOST_IN_BRIEF = 12, 4


@dataclass(frozen=True, slots=True)
class Words:
    """The words on a score: of the score, of what happened, of the call and of rows."""

    score: str
    happened: str
    called: str
    many: str


@dataclass(frozen=True, slots=True)
class Compared:
    """A group of a by-column, and its difference from all others with the same scores."""

    column: str
    value: Any
    difference: Difference
    is_small: bool

    @property
    def size(self) -> float:
        """Tell how large the difference is, in either direction."""
        return abs(self.difference.estimate.value or 0.0)


def meaning(n_scores: int, words: Words) -> str:
    """Say what it is for a score to mean the same, and who is compared."""
    alike = "the same score"
    if n_scores > _FEW:
        alike = f"about the same score, since there are {count(n_scores)} different ones"
    return (
        f"If a score means the same for everyone, then of two {words.many} with the same score, "
        f"whatever their groups, one is as likely to be {words.happened} as the other. Here the "
        f"{words.many} of each group are compared with all others with {alike}."
    )


def of_column(by: str, groups: Sequence[Compared], crossing: Difference, alpha: float) -> str:
    """Say which groups of a column differ from others at the same scores."""
    shown = [one for one in groups if one.difference.is_shown(alpha)]
    if shown:
        parts = [part for part in (_listed(shown, 1), _listed(shown, -1)) if part]
        others = (
            " For the others no difference is shown, which is not to say that there is none."
            if len(shown) < len(groups)
            else ""
        )
        return f"By {by} {'; '.join(parts)}.{others}"
    if not any(one.difference.estimate.has_limits for one in groups):
        return f"By {by} no groups with the same scores could be compared."
    if crossing.is_shown(alpha):
        return (
            f"By {by} no group is shown to differ over all scores together, but differences that "
            f"change with the score are shown{_room(groups)}."
        )
    return f"By {by} no difference is shown{_room(groups)}."


def _listed(shown: Sequence[Compared], sign: int) -> str:
    """Name the groups in which it happens more often, or less often."""
    some = [one for one in shown if (one.difference.estimate.value or 0.0) * sign > 0]
    if not some:
        return ""
    some = sorted(some, key=lambda one: (one.is_small, -one.size))
    named = [
        f"{name(one.value)} ({POINTS.estimate(of)}, {APART.limits(of)})"
        for one in some[:_MOST_NAMED]
        for of in [one.difference.estimate]
    ]
    if len(some) > len(named):
        named.append(plural(len(some) - len(named), "more group", "more groups"))
    return f"{'more' if sign > 0 else 'less'} often for {together(named)}"


def _room(groups: Sequence[Compared]) -> str:
    """Say how large a difference may still be, of groups that are large enough to rank."""
    furthest = _furthest(groups)
    if furthest is None:
        return ", and no group is large enough to say how large one may be"
    return f"; the data leave room for up to {points(furthest)}"


def _furthest(groups: Sequence[Compared]) -> float | None:
    ends = [
        abs(end)
        for one in groups
        for end in one.difference.estimate[1:3]
        if end is not None and not one.is_small
    ]
    return max(ends, default=None)


def in_brief(groups: Sequence[Compared], words: Words, alpha: float) -> str:
    """Say in brief which groups differ from others at the same scores, the furthest first."""
    start = f"At the same score, {words.happened}"
    shown = [one for one in groups if one.difference.is_shown(alpha)]
    if not any(one.difference.estimate.has_limits for one in groups):
        return "No groups with the same scores could be compared."
    if not shown:
        return (
            f"At the same score, no group is shown to be {words.happened} more or less often than "
            f"others of its column{_room(groups)}."
        )
    ranked = sorted((one for one in shown if not one.is_small), key=lambda one: -one.size)
    named = ranked[:_MOST_IN_BRIEF]
    more = len(shown) - len(named)
    parts = [
        f"{name(one.value)} ({one.column}) by {points_more(one.difference.estimate)}"
        for one in named
    ]
    if more:
        parts.append(plural(more, "more group", "more groups") if parts else _small(more))
    return f"{start} more or less often than others of the same column: {together(parts)}."


def _small(n: int) -> str:
    return f"{plural(n, 'group', 'groups')} too small to rank"


def of_errors(columns: Sequence[str], words: Words) -> str:
    """Say that errors differ where the outcome does; `columns` are those where that is shown."""
    if not columns:
        return ""
    return (
        "Scores that mean the same for everyone do not make errors equal: where the share "
        f"{words.happened} differs between groups, as it is shown to do by {together(columns)}, "
        "error rates differ at most thresholds."
    )
