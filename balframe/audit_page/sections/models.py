"""How the predictions of several models differ on the same rows."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from balframe._text import metric_title
from balframe.audit_page.document import (
    Block,
    Head,
    Paragraph,
    RowGroup,
    Section,
    Table,
    TableRow,
)
from balframe.audit_page.groups import Difference, possible_difference
from balframe.audit_page.numbers import points_more
from balframe.audit_page.queries import query
from balframe.audit_page.rates import BALANCED
from balframe.audit_page.results import Audit, LeftOut
from balframe.audit_page.tables import difference_cells, difference_heads, difference_range
from balframe.audit_page.text import capitalize, label, quote
from balframe.methods.comparisons.compare import compare

QUESTION = "How do the models differ?"
METRICS = ("accuracy", BALANCED)
_MAX_PAIRS = 20
_MAX_BRIEF = 3


class Pair(NamedTuple):
    """Two models on the same rows: the differences of the first less the second, by metric."""

    first: str
    second: str
    differences: Mapping[str, Difference]


def measure(audit: Audit, level: float) -> list[Pair]:
    """Compare the models with each other; cells of single models cannot be paired."""
    request = audit.request
    if len(request.models) < 2 or request.options["cells"]:
        return []
    rows = query(
        compare,
        audit.frame,
        request.y_true,
        [model.y_pred for model in request.models],
        metrics=list(METRICS),
        adjust=None,
        level=level,
        backend="polars",
        **{name: value for name, value in request.options.items() if name != "cells"},
    )
    pairs: dict[tuple[str, str], dict[str, Difference]] = {}
    for row in rows:
        pair = pairs.setdefault((row["model"], row["baseline"]), {})
        pair[row["metric"]] = Difference.from_row(row)
    return [Pair(*names, differences) for names, differences in pairs.items()]


def differences(pairs: Sequence[Pair]) -> Iterator[Difference]:
    """Return the differences whose p-values are adjusted with all others."""
    for pair in pairs:
        yield from pair.differences.values()


def section(audit: Audit, pairs: Sequence[Pair]) -> Section | LeftOut:
    """State how the models differ on the same rows."""
    request = audit.request
    if len(audit.models) < 2:
        return LeftOut(QUESTION, "one model was given", is_listed=False)
    if not pairs:
        return LeftOut(
            QUESTION, "cells were given, which do not say what two models predict for one row"
        )
    pairs = pairs[:_MAX_PAIRS]
    introduction = (
        f"The models predict the same {request.words.plural}, so they are compared row by row: a "
        "difference comes only from those for whom one model is right and the other is not."
    )
    results = [result(pair) for pair in pairs]
    blocks: list[Block] = [*map(Paragraph, [introduction, *results])]
    blocks += [_table(pairs, metric) for metric in METRICS]
    return Section("models", QUESTION, blocks, results[:_MAX_BRIEF])


def result(pair: Pair) -> str:
    """State which of two models is right significantly more often, if any is."""
    accuracy = pair.differences["accuracy"]
    first, second, estimate = quote(pair.first), quote(pair.second), accuracy.estimate
    if not accuracy.is_significant or estimate.value is None:
        end = f"; {possible_difference(estimate.furthest_limit)}" if estimate.has_limits else ""
        return f"{first} and {second}: no difference in accuracy is established{end}."
    more = "more" if estimate.value > 0 else "less"
    return f"{first} is right {more} often than {second}: {points_more(estimate)}."


def _table(pairs: Sequence[Pair], metric: str) -> Table:
    span = difference_range(pair.differences[metric].estimate for pair in pairs)
    rows = [
        TableRow(
            f"{label(pair.first)} less {label(pair.second)}",
            difference_cells(pair.differences[metric], span),
            differs=pair.differences[metric].is_significant,
        )
        for pair in pairs
    ]
    heads = [Head("Model, less the other", "text"), *difference_heads("Points", span)]
    return Table(
        capitalize(metric_title(metric)),
        heads,
        [RowGroup("", rows)],
        "Diamonds, or bold: established.",
    )
