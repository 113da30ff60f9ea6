"""How the calls of several models differ on the same rows."""

from collections.abc import Sequence

from balframe._text import capitalize_first, metric_title
from balframe.audit_page.document import (
    Block,
    Cell,
    Group,
    Head,
    Paragraph,
    Section,
    Table,
    TableRow,
)
from balframe.audit_page.forest_marks import around_zero
from balframe.audit_page.groups import Difference
from balframe.audit_page.measured_models import METRICS, Pair
from balframe.audit_page.numbers import APART, POINTS, p_value, points, points_more
from balframe.audit_page.request import Asked
from balframe.audit_page.results import Answer, Audited, LeftOut
from balframe.audit_page.tables import PLOT, level_of
from balframe.audit_page.text import marked, name, text_of

QUESTION = "How do the models differ?"
_MOST = 20


def models(audited: Audited) -> Answer:
    """Say how the models differ on the same rows."""
    asked = audited.asked
    if len(audited.models) < 2:
        return LeftOut(QUESTION, "one model was given")
    if not audited.pairs:
        return LeftOut(QUESTION, "cells were given, which do not say what two models call one row")
    pairs = audited.pairs[:_MOST]
    said = (
        "The models called the same "
        f"{asked.words.many}, so they are compared row by row: a difference comes only from those "
        "that one model calls rightly and the other does not."
    )
    findings = [finding(pair, asked) for pair in pairs]
    tables = [_table(pairs, metric, at, asked) for at, metric in enumerate(METRICS)]
    blocks: list[Block] = [Paragraph(said), *map(Paragraph, findings), *tables]
    return Section("models", QUESTION, blocks, findings[:3])


def finding(pair: Pair, asked: Asked) -> str:
    """Say which of two models is shown to be right more often, if any is."""
    accuracy = pair.differences[0]
    first, second = name(pair.first), name(pair.second)
    of = accuracy.estimate
    if not accuracy.is_shown(asked.alpha) or of.value is None:
        return f"{first} and {second}: no difference in accuracy is shown{_room(accuracy)}."
    return (
        f"{first} is right {'more' if of.value > 0 else 'less'} often than {second}: "
        f"{points_more(of)}."
    )


def _room(difference: Difference) -> str:
    of = difference.estimate
    if of.lower is None or of.upper is None:
        return ""
    furthest = max(abs(of.lower), abs(of.upper))
    return f"; the data leave room for up to {points(furthest)}"


def _table(pairs: Sequence[Pair], metric: str, at: int, asked: Asked) -> Table:
    span = around_zero(pair.differences[at].estimate for pair in pairs)
    rows = [
        _row(pair, pair.differences[at], span.bar(pair.differences[at].estimate), asked)
        for pair in pairs
    ]
    heads = [
        Head("Model, less the other", "text"),
        Head(f"Points ({level_of(asked)} limits)", "estimate"),
        Head(PLOT, "plot", span.axis(POINTS, 0.0)),
        Head("p"),
    ]
    return Table(capitalize_first(metric_title(metric)), heads, [Group("", rows)], "p is adjusted.")


def _row(pair: Pair, difference: Difference, bar: object, asked: Asked) -> TableRow:
    of = difference.estimate
    return TableRow(
        f"{marked(text_of(pair.first))} less {marked(text_of(pair.second))}",
        [
            Cell(
                POINTS.estimate(of),
                APART.limits(of) if of.has_limits else "",
            ),
            Cell(bar=bar),  # type: ignore[arg-type]
            Cell(p_value(difference.adjusted, asked.alpha)),
        ],
        differs=difference.is_shown(asked.alpha),
    )
