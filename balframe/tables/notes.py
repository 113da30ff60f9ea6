"""The notes below a table."""

from collections.abc import Iterable, Iterator

from balframe.api.columns import CORRECTED, ESTIMATE, Column, Naming
from balframe.frames.adapter import Name
from balframe.frames.query import N
from balframe.tables.format_cells import (
    HIGHEST_MARK,
    LOWEST_MARK,
    UNDEFINED,
    BarAxis,
    CellFormatter,
    column_title,
    escape_text,
    format_count,
    format_number,
)
from balframe.tables.row_selection import SupportKind, worst_cells


def table_notes(formatter: CellFormatter) -> list[str]:
    """Return what a reader has to know of the cells that are shown."""
    notes = [
        _omission_note(formatter),
        *_unknown_category_notes(formatter),
        _small_category_note(formatter),
        _limits_note(formatter),
        _worst_note(formatter),
        _bars_note(formatter),
        correction_note(formatter.layout.columns.values()),
    ]
    texts = {
        formatter.cell(name, row)
        for name in formatter.layout.value_columns
        for row in formatter.selection.rows
    }
    if UNDEFINED in texts:
        is_partly_relative = any(
            column.only_with == "baseline" for column in formatter.layout.columns.values()
        )
        rule_phrase = ", or not part of the rule" if is_partly_relative else ""
        notes.append(f"{UNDEFINED}: undefined{rule_phrase}.")
    return [note for note in notes if note]


def correction_note(columns: Iterable[Column]) -> str:
    """Return what is assumed of rows without a true label, if a result is of such rows."""
    if all(column.only_with != CORRECTED for column in columns):
        return ""
    return (
        "Rows without a true label: a correction assumes that they are like those with the same "
        "prediction and verdict that have one; bounds assume nothing."
    )


def _omission_note(formatter: CellFormatter) -> str:
    n, by = formatter.selection.n_omitted, formatter.selection.ranked_by
    if not n:
        return ""
    group = " of each group" if formatter.layout.group_columns else ""
    kept = f"the first{group}" if by is None else f"the worst and the best{group}"
    kept = kept if formatter.layout.period_column is None else "the last periods"
    order = ""
    if by is not None:
        order = f" by {escape_text(column_title(by)).lower()}, worst first"
    n_rows = format_count(n + len(formatter.selection.rows))
    return f"{format_count(n)} of {n_rows} rows are not shown. Shown: {kept}{order}."


def _unknown_category_notes(formatter: CellFormatter) -> Iterator[str]:
    """Yield how many rows of unknown category are in no row of each table."""
    values = formatter.layout.values
    tables: dict[str, list[int]] = {}
    for row in filter(formatter.layout.is_unknown_category, range(formatter.layout.n_rows)):
        tables.setdefault(formatter.heading(row), []).append(row)
    for heading, rows in tables.items():
        n = sum(values[N][row] for row in rows) if N in values else None
        favourable = values.get("n_favourable")
        start = f"{heading}: " if heading else ""
        subject = (
            "Rows are" if n is None else f"{format_count(n)} row{' is' if n == 1 else 's are'}"
        )
        those = ""
        if favourable is not None:
            n_favourable = format_count(sum(favourable[row] for row in rows))
            those = f"; {n_favourable} of them favourable"
        yield f"{start}{subject} not in the table because the category is unknown{those}."


def _small_category_note(formatter: CellFormatter) -> str:
    if not any(map(formatter.layout.is_small_category, formatter.selection.rows)):
        return ""
    return "Italics: a smaller share of the rows than the minimum, so there is no ratio."


def _limits_note(formatter: CellFormatter) -> str:
    name = formatter.layout.limits_name
    if name is None:
        return ""
    column = formatter.layout.naming_column(Naming.METHOD)
    values = () if column is None else formatter.layout.values[column]
    methods = sorted({str(method) for method in values if method is not None})
    phrase = f", method {escape_text(' and '.join(methods))}" if methods else ""
    return f"Brackets: {name}{phrase}."


def _worst_note(formatter: CellFormatter) -> str:
    """Return which rows are marked, or why none is."""
    if not (formatter.compared_scores and formatter.worst):
        return ""
    rows = set(formatter.selection.rows)
    signs = {sign for (_, row), sign in formatter.marks.items() if row in rows}
    ends = {LOWEST_MARK: "lowest", HIGHEST_MARK: "highest"}
    marked = ", ".join(f"{sign} {ends[sign]}" for sign in ends if sign in signs)
    segments = "segments" if formatter.layout.by else "rows"
    among = f"{segments}{_support_phrase(formatter)}"
    test = "significantly worse than the reference"
    if marked:
        return f"Worst ({marked}) of the {segments} that are {test}, among {among}."
    has_small = worst_cells(formatter.compared_scores, formatter.worst, min_support=0)
    return f"The worst is marked only among {among}." if has_small else f"None is {test}."


def _support_phrase(formatter: CellFormatter) -> str:
    """Return how many rows a marked segment has at least, and which rows those are."""
    if not formatter.min_support:
        return ""
    names: dict[SupportKind, list[str]] = {}
    for scores in formatter.compared_scores:
        metric = formatter.layout.row_value(Naming.METRIC, next(iter(scores.values), 0))
        is_estimate = scores.name == ESTIMATE
        name = column_title(metric) if is_estimate else formatter.column_title(scores.name)
        names.setdefault(scores.support_kind, []).append(name)
    n = formatter.min_support
    number = f"at least {format_count(n)} row{'s' * (n != 1)}"
    texts = {
        SupportKind.DENOMINATOR: f"whose smallest denominator has {number}",
        SupportKind.RAREST_LABEL: f"whose rarest label has {number}",
        SupportKind.SEGMENT: f"with {number}",
        SupportKind.UNKNOWN: f"known to have {number}",
    }
    first, *others = [kind for kind in SupportKind if kind in names]
    exceptions = [f"{', '.join(dict.fromkeys(names[kind]))}: {texts[kind]}" for kind in others]
    return f" {texts[first]}" + (f" ({escape_text('; '.join(exceptions))})" if others else "")


def _bars_note(formatter: CellFormatter) -> str:
    """Return what bars span, and which, if not all of them span the same."""
    names: dict[BarAxis, list[str]] = {}
    for name in formatter.score_columns:
        for row in formatter.selection.rows:
            axis = formatter.bar_axis(name, row)
            bar = _bar_name(formatter, name, row)
            if axis is not None and bar not in names.setdefault(axis, []):
                names[axis].append(bar)
    spans = [
        f"from {_limit_text(axis.low)} to {_limit_text(axis.high)}"
        + (f" ({escape_text(', '.join(bars))})" if len(names) > 1 else "")
        for axis, bars in names.items()
    ]
    return f"Bars run {', '.join(spans)}.{_bound_note(formatter)}" if spans else ""


def _bound_note(formatter: CellFormatter) -> str:
    """Return what the vertical line on bars is, and where it is if that has no column."""
    bounds = map(formatter.layout.bound_column, formatter.score_columns)
    bound = next((column for column in bounds if column is not None), None)
    if bound is None:
        return ""
    positions = {formatter.layout.values[bound][row] for row in formatter.selection.rows} - {None}
    has_column = bound in formatter.layout.value_columns
    is_named = has_column or not positions
    at = "" if is_named else f", {' or '.join(map(_limit_text, sorted(positions)))}"
    return f" The vertical line is the bound{at}."


def _bar_name(formatter: CellFormatter, name: Name, row: int) -> str:
    """Return the name of what a bar shows."""
    rule, metric = (
        formatter.layout.row_value(naming, row) for naming in (Naming.RULE, Naming.METRIC)
    )
    if rule is not None:
        return str(rule)
    if (
        metric is None
        or formatter.layout.columns[name].placeholder_value
        or len(formatter.layout.metric_names) == 1
    ):
        return formatter.column_title(name)
    title = column_title(metric)
    return title if name == ESTIMATE else f"{title}: {column_title(name).lower()}"


def _limit_text(value: float) -> str:
    return format_number(value, None)
