"""What the notes below a table say."""

from collections.abc import Iterator

from balframe.api.columns import ESTIMATE, Naming
from balframe.frames.adapter import Name
from balframe.frames.query import N
from balframe.tables import format_cells as cells
from balframe.tables.format_cells import HIGHEST_MARK, LOWEST_MARK, BarAxis, CellFormatter
from balframe.tables.row_selection import SupportKind, worst_cells


def table_notes(pen: CellFormatter) -> list[str]:
    """Write what a reader has to know of the cells that are shown."""
    found = [
        _omission_note(pen),
        *_unknown_category_notes(pen),
        _small_category_note(pen),
        _limits_note(pen),
        _worst_note(pen),
        _bars_note(pen),
    ]
    shown = {pen.cell(name, row) for name in pen.layout.value_columns for row in pen.selection.rows}
    if cells.UNDEFINED in shown:
        is_partly_relative = any(one.only_with == "baseline" for one in pen.layout.columns.values())
        of_rule = ", or not part of the rule" if is_partly_relative else ""
        found.append(f"{cells.UNDEFINED}: undefined{of_rule}.")
    return [note for note in found if note]


def _omission_note(pen: CellFormatter) -> str:
    n, by = pen.selection.n_omitted, pen.selection.ranked_by
    if not n:
        return ""
    each = " of each group" if pen.layout.group_columns else ""
    which = f"the first{each}" if by is None else f"the worst and the best{each}"
    which = which if pen.layout.period_column is None else "the last periods"
    ranked = (
        ""
        if by is None
        else f" by {cells.escape_text(cells.column_title(by)).lower()}, worst first"
    )
    n_rows = cells.format_count(n + len(pen.selection.rows))
    return f"{cells.format_count(n)} of {n_rows} rows are not shown. Shown: {which}{ranked}."


def _unknown_category_notes(pen: CellFormatter) -> Iterator[str]:
    """Count the people of unknown category, who are in no row of their table."""
    values = pen.layout.values
    tables: dict[str, list[int]] = {}
    for row in filter(pen.layout.is_unknown_category, range(pen.layout.n_rows)):
        tables.setdefault(pen.heading(row), []).append(row)
    for heading, rows in tables.items():
        n = sum(values[N][row] for row in rows) if N in values else None
        n_selected = sum(values["n_selected"][row] for row in rows)
        of = f"{heading}: " if heading else ""
        people = (
            "Rows are"
            if n is None
            else f"{cells.format_count(n)} row{' is' if n == 1 else 's are'}"
        )
        yield (
            f"{of}{people} not in the table because the category is unknown; "
            f"{cells.format_count(n_selected)} of them selected."
        )


def _small_category_note(pen: CellFormatter) -> str:
    if not any(map(pen.layout.is_small_category, pen.selection.rows)):
        return ""
    return "Italics: a smaller share of the rows than the minimum, so there is no ratio."


def _limits_note(pen: CellFormatter) -> str:
    if not set(pen.layout.limit_columns) & set(pen.layout.value_columns):
        return ""
    column = pen.layout.naming_column(Naming.METHOD)
    values = () if column is None else pen.layout.values[column]
    methods = sorted({str(one) for one in values if one is not None})
    by = f", method {cells.escape_text(' and '.join(methods))}" if methods else ""
    return f"Brackets: confidence interval{by}."


def _worst_note(pen: CellFormatter) -> str:
    """Say which rows are marked, or why none is."""
    if not (pen.compared_scores and pen.worst):
        return ""
    rows = set(pen.selection.rows)
    signs = {sign for (_, row), sign in pen.marks.items() if row in rows}
    ends = {LOWEST_MARK: "lowest", HIGHEST_MARK: "highest"}
    marked = ", ".join(f"{sign} {ends[sign]}" for sign in ends if sign in signs)
    among = f"{'segments' if pen.layout.by else 'rows'}{_support_phrase(pen)}"
    if marked:
        return f"Worst ({marked}) among {among}."
    is_any_left_out = worst_cells(pen.compared_scores, pen.worst, least=0)
    return f"The worst is marked only among {among}." if is_any_left_out else ""


def _support_phrase(pen: CellFormatter) -> str:
    """Say how many rows a segment that is marked has, and which rows are counted."""
    if not pen.min_support:
        return ""
    names: dict[SupportKind, list[str]] = {}
    for one in pen.compared_scores:
        metric = pen.layout.row_value(Naming.METRIC, next(iter(one.values), 0))
        name = cells.column_title(metric) if one.name == ESTIMATE else pen.column_title(one.name)
        names.setdefault(one.support_kind, []).append(name)
    number = f"at least {cells.format_count(pen.min_support)} row{'s' * (pen.min_support != 1)}"
    texts = {
        SupportKind.DENOMINATOR: f"whose smallest denominator has {number}",
        SupportKind.RAREST_LABEL: f"whose rarest label has {number}",
        SupportKind.SEGMENT: f"with {number}",
        SupportKind.UNKNOWN: f"known to have {number}",
    }
    first, *others = [of for of in SupportKind if of in names]
    exceptions = [f"{', '.join(dict.fromkeys(names[of]))}: {texts[of]}" for of in others]
    return f" {texts[first]}" + (f" ({cells.escape_text('; '.join(exceptions))})" if others else "")


def _bars_note(pen: CellFormatter) -> str:
    """Say what bars span, and which, if not all of them span the same."""
    names: dict[BarAxis, list[str]] = {}
    for name in pen.score_columns:
        for row in pen.selection.rows:
            axis = pen.bar_axis(name, row)
            what = _bar_name(pen, name, row)
            if axis is not None and what not in names.setdefault(axis, []):
                names[axis].append(what)
    spans = [
        f"from {_limit_text(axis.low)} to {_limit_text(axis.high)}"
        + (f" ({cells.escape_text(', '.join(drawn))})" if len(names) > 1 else "")
        for axis, drawn in names.items()
    ]
    return f"Bars run {', '.join(spans)}.{_bound_note(pen)}" if spans else ""


def _bound_note(pen: CellFormatter) -> str:
    """Say what the vertical line on bars is, and where it is if that is not shown."""
    bound = next(
        (one for one in map(pen.layout.bound_column, pen.score_columns) if one is not None), None
    )
    if bound is None:
        return ""
    places = {pen.layout.values[bound][row] for row in pen.selection.rows}
    is_shown = bound in pen.layout.value_columns
    at = "" if is_shown else f", {' or '.join(map(_limit_text, sorted(places)))}"
    return f" The vertical line is the bound{at}."


def _bar_name(pen: CellFormatter, name: Name, row: int) -> str:
    """Name what a bar is drawn of."""
    rule, metric = (pen.layout.row_value(one, row) for one in (Naming.RULE, Naming.METRIC))
    if rule is not None:
        return str(rule)
    if (
        metric is None
        or pen.layout.columns[name].placeholder_value
        or len(pen.layout.metric_names) == 1
    ):
        return pen.column_title(name)
    of = cells.column_title(metric)
    return of if name == ESTIMATE else f"{of}: {cells.column_title(name).lower()}"


def _limit_text(value: float) -> str:
    return cells.format_number(value, None)
