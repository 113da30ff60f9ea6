"""Sentences on scores as probabilities, and their table by group."""

import math
from collections.abc import Iterable

from balframe.audit_page.document import Cell, Head, Table, TableRow
from balframe.audit_page.forest_marks import Range
from balframe.audit_page.groups import ColumnOf, GroupOf
from balframe.audit_page.measured_scores import Probabilities, Probability
from balframe.audit_page.numbers import APART, RATIO, Estimate, count, p_value, percent
from balframe.audit_page.request import Asked
from balframe.audit_page.results import OfModel
from balframe.audit_page.sections.same_scores_in_text import Words
from balframe.audit_page.shown_groups import groups_of, heading_of, shown_columns
from balframe.audit_page.tables import PLOT, level_of
from balframe.audit_page.text import sentence

_STEPS = (0.05, 0.1, 0.25, 0.5)  # between ticks of a ratio
_LARGEST = 4  # ratio on an axis
_PROMISE = ", so that differences between them promise"


def claimed(words: Words) -> str:
    """Say what it is for scores to be probabilities."""
    return (
        f"All scores lie between 0 and 1. If they are probabilities, then of the {words.many} with "
        f"a score of 0.3, 30% are {words.happened}, but for chance."
    )


def on_average(found: Probability, words: Words) -> str:
    """Say whether scores, as probabilities, are too high or too low on average."""
    ratio = found.ratio
    if ratio.value is None:
        return ""
    start = (
        f"On average the scores are {percent(found.mean_score)}, and {percent(found.observed)} "
        f"were {words.happened}, {RATIO.written(ratio)} times as many as the scores add up to"
    )
    if ratio.upper is not None and ratio.upper < 1:
        return f"{start}: as probabilities, the scores are shown to be too high on average."
    if ratio.lower is not None and ratio.lower > 1:
        return f"{start}: as probabilities, the scores are shown to be too low on average."
    room = (
        ""
        if ratio.lower is None or ratio.upper is None
        else f"; the data leave room for {APART.text(1 - ratio.lower)}% fewer, and for "
        f"{APART.text(ratio.upper - 1)}% more, than they add up to"
    )
    return (
        f"{start}: as probabilities, the scores are not shown to be too high or too low on "
        f"average{room}."
    )


def are_right(found: Probability, alpha: float) -> str:
    """Say whether scores are too far apart or too close, and what the test of both finds."""
    return f"{spread(found.slope)}{level_and_slope(found.p, alpha)}"


def spread(slope: Estimate) -> str:
    """Say whether differences between scores promise more than comes true, or less."""
    if slope.value is None:
        return (
            "Whether the scores are too far apart cannot be computed: they are all the same, or "
            "tell the outcomes apart without error, or one that is certain is wrong."
        )
    start = f"The calibration slope is {RATIO.written(slope)}, where 1 is right"
    if slope.upper is not None and slope.upper < 0:
        return f"{start}: higher scores are shown to go with fewer, and not with more."
    if slope.upper is not None and slope.upper < 1:
        return f"{start}: the scores are shown to be too far apart{_PROMISE} more than comes true."
    if slope.lower is not None and slope.lower > 1:
        return f"{start}: the scores are shown to be too close{_PROMISE} less than comes true."
    return f"{start}: the scores are not shown to be too far apart or too close."


def level_and_slope(p: float | None, alpha: float) -> str:
    """Say what the test of level and slope together finds."""
    if p is None:
        return ""
    text = p_value(p, alpha)
    written = f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"
    are_off = "are" if p < alpha else "are not shown to be"
    return (
        f" Tested together, level and slope {are_off} off by more than chance explains ({written}; "
        "this compares no groups and is not among the p-values that are adjusted)."
    )


def table_of_ratios(model: OfModel, found: Probabilities, words: Words, asked: Asked) -> Table:
    """Show what happened in each group beside what its scores add up to."""
    shown = shown_columns(model.columns, asked)
    least, first = asked.min_support, model.rates.errors[0]
    span = around_one(
        found.columns[one.column.number][group.value].ratio
        for one in shown
        for group in one.groups
        if not group.is_small(first, least)
    )

    def row(column: ColumnOf, group: GroupOf) -> TableRow:
        of = found.columns[column.number][group.value]
        return TableRow(heading_of(group), _cells(of, span), is_small=group.is_small(first, least))

    heads = [
        Head("Group", "text"),
        Head("Out of"),
        Head("Mean score"),
        Head(sentence(words.happened)),
        Head(f"Ratio ({level_of(asked)} limits)", "estimate"),
        Head(PLOT, "plot", span.axis(RATIO, 1.0)),
    ]
    total = TableRow(f"All {words.many}", _cells(found.overall, span), is_total=True)
    under = (
        "The ratio is the share of what happened over the mean score: above 1, scores of the group "
        "are too low as probabilities; below 1, too high. The limits are of each row alone. "
        "Hollow: too few to rank."
    )
    return Table(
        "Scores as probabilities, by group", heads, groups_of(shown, asked, row), under, total
    )


def _cells(of: Probability, span: Range) -> list[Cell]:
    is_known, has_limits = of.ratio.is_known, of.ratio.has_limits
    return [
        Cell(count(of.n)),
        Cell(percent(of.mean_score)),
        Cell(percent(of.observed)),
        Cell(
            RATIO.estimate(of.ratio) if is_known else "undefined",
            RATIO.limits(of.ratio) if has_limits else "",
        ),
        Cell(bar=span.bar(of.ratio)),
    ]


def around_one(ratios: Iterable[Estimate]) -> Range:
    """Choose a range around 1 that holds ratios with their limits, up to a largest one."""
    known = [x for one in ratios for x in one[:3] if x is not None]
    furthest = max((abs(one - 1) for one in known), default=0.0)
    step = next((one for one in _STEPS if furthest <= 2 * one), None)
    if step is not None:
        return Range(1 - 2 * step, 1 + 2 * step, step)
    high = min(math.ceil(max(known)), _LARGEST)
    return Range(0.0, float(max(high, 2)), 0.5 if high <= 2 else 1.0)
