"""Sentences on the groups that are furthest apart in a rate."""

from collections.abc import Sequence

from balframe.audit_page.groups import ColumnOf, Extremes
from balframe.audit_page.numbers import APART, percent, points
from balframe.audit_page.rates import Rate
from balframe.audit_page.text import in_words, name, together

_MOST = 2  # errors that a sentence in brief spells out


def room(found: Extremes) -> str:
    """Say how far apart groups may still be that are not shown to differ."""
    return f"no difference is shown; the data leave room for up to {points(found.apart.upper)}"


def distance(found: Extremes) -> str:
    """Say how far apart the two furthest groups are: `30 points (21 to 38)`."""
    return f"{points(found.apart.value)} ({APART.limits(found.apart)})"


def ends(column: ColumnOf, found: Extremes) -> str:
    """Name the two furthest groups: `from 15% for Other to 45% for African-American`."""
    assert found.lowest is not None, "two groups are compared"
    assert found.highest is not None, "two groups are compared"
    lowest, highest = (name(column.groups[at].value) for at in (found.lowest, found.highest))
    return f"from {percent(found.low)} for {lowest} to {percent(found.high)} for {highest}"


def in_section(column: ColumnOf, title: str, found: Extremes) -> str:
    """Say how far apart the groups of a column are in one rate."""
    if found.lowest is None or found.apart.upper is None:
        return f"By {title} fewer than two groups are large enough to compare."
    if not found.is_shown:
        return f"By {title} {room(found)}."
    return f"By {title} {distance(found)}, {ends(column, found)}."


def in_brief(column: ColumnOf, title: str, errors: Sequence[Rate]) -> str:
    """Say how far apart the groups of a column are in all errors."""
    found = {rate: column.extremes[rate] for rate in errors}
    known = {rate: one for rate, one in found.items() if one.apart.upper is not None}
    if not known:
        return f"{title}: fewer than two groups are large enough to compare."
    shown = [rate for rate, one in known.items() if one.is_shown]
    others = [rate for rate in known if rate not in shown]
    if not shown:
        return f"{title}: no difference in these errors is shown; {_left_open(known)}."
    furthest = sorted(shown, key=lambda rate: -(known[rate].apart.value or 0))[:_MOST]
    parts = [
        f"of {rate.of}, {ends(column, known[rate])} {rate.befell}, "
        f"{points(known[rate].apart.value)} apart ({APART.limits(known[rate].apart)})"
        for rate in errors
        if rate in furthest
    ]
    if len(shown) > _MOST:
        parts.append(f"in {in_words(len(shown) - _MOST)} more of the errors a difference is shown")
    if others:
        which = f"of {others[0].of}, " if len(others) == 1 else "in the other errors "
        parts.append(f"{which}no difference is shown; {_left_open({r: known[r] for r in others})}")
    return f"{title}: {'; '.join(parts)}."


def _left_open(found: dict[Rate, Extremes]) -> str:
    uppers = [one.apart.upper for one in found.values() if one.apart.upper is not None]
    if len(uppers) > _MOST:
        return f"the data leave room for up to {points(max(uppers))}"
    *first, last = uppers
    return f"the data leave room for up to {together([*map(APART.text, first), points(last)])}"
