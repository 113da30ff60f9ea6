"""What the notes below a table say."""

from collections.abc import Iterator

from balframe.api.columns import ESTIMATE, Naming
from balframe.frames.adapter import Name
from balframe.frames.query import N
from balframe.tables import format_cells as cells
from balframe.tables.format_cells import HIGHEST, LOWEST, Axis, Pen
from balframe.tables.row_selection import Of, worst_cells


def notes(pen: Pen) -> list[str]:
    """Write what a reader has to know of the cells that are shown."""
    found = [_not_shown(pen), *_unknown(pen), _small(pen), _limits(pen), _worst(pen), _bars(pen)]
    shown = {pen.cell(name, row) for name in pen.layout.shown for row in pen.choice.rows}
    if cells.UNDEFINED in shown:
        is_partly_relative = any(one.under == "baseline" for one in pen.layout.columns.values())
        of_rule = ", or not part of the rule" if is_partly_relative else ""
        found.append(f"{cells.UNDEFINED}: undefined{of_rule}.")
    return [note for note in found if note]


def _not_shown(pen: Pen) -> str:
    n, by = pen.choice.n_left_out, pen.choice.ranked_by
    if not n:
        return ""
    each = " of each group" if pen.layout.groups else ""
    which = f"the first{each}" if by is None else f"the worst and the best{each}"
    which = which if pen.layout.time is None else "the last periods"
    ranked = "" if by is None else f" by {cells.safe(cells.words(by)).lower()}, worst first"
    n_rows = cells.count(n + len(pen.choice.rows))
    return f"{cells.count(n)} of {n_rows} rows are not shown. Shown: {which}{ranked}."


def _unknown(pen: Pen) -> Iterator[str]:
    """Count the people of unknown category, who are in no row of their table."""
    values = pen.layout.values
    tables: dict[str, list[int]] = {}
    for row in filter(pen.layout.is_unknown, range(pen.layout.n_rows)):
        tables.setdefault(pen.heading(row), []).append(row)
    for heading, rows in tables.items():
        n = sum(values[N][row] for row in rows) if N in values else None
        n_selected = sum(values["n_selected"][row] for row in rows)
        of = f"{heading}: " if heading else ""
        people = "Rows are" if n is None else f"{cells.count(n)} row{' is' if n == 1 else 's are'}"
        yield (
            f"{of}{people} not in the table because the category is unknown; "
            f"{cells.count(n_selected)} of them selected."
        )


def _small(pen: Pen) -> str:
    if not any(map(pen.layout.is_small, pen.choice.rows)):
        return ""
    return "Italics: a smaller share of the rows than the minimum, so there is no ratio."


def _limits(pen: Pen) -> str:
    if not set(pen.layout.limits) & set(pen.layout.shown):
        return ""
    column = pen.layout.naming(Naming.METHOD)
    values = () if column is None else pen.layout.values[column]
    methods = sorted({str(one) for one in values if one is not None})
    by = f", method {cells.safe(' and '.join(methods))}" if methods else ""
    return f"Brackets: confidence interval{by}."


def _worst(pen: Pen) -> str:
    """Say which rows are marked, or why none is."""
    if not (pen.compared and pen.worst):
        return ""
    rows = set(pen.choice.rows)
    signs = {sign for (_, row), sign in pen.marks.items() if row in rows}
    ends = {LOWEST: "lowest", HIGHEST: "highest"}
    marked = ", ".join(f"{sign} {ends[sign]}" for sign in ends if sign in signs)
    among = f"{'segments' if pen.layout.by else 'rows'}{_with_support(pen)}"
    if marked:
        return f"Worst ({marked}) among {among}."
    is_any_left_out = worst_cells(pen.compared, pen.worst, least=0)
    return f"The worst is marked only among {among}." if is_any_left_out else ""


def _with_support(pen: Pen) -> str:
    """Say how many rows a segment that is marked has, and which rows are counted."""
    if not pen.min_support:
        return ""
    names: dict[Of, list[str]] = {}
    for one in pen.compared:
        metric = pen.layout.named(Naming.METRIC, next(iter(one.values), 0))
        name = cells.words(metric) if one.name == ESTIMATE else pen.words(one.name)
        names.setdefault(one.known, []).append(name)
    number = f"at least {cells.count(pen.min_support)} row{'s' * (pen.min_support != 1)}"
    texts = {
        Of.DENOMINATOR: f"whose smallest denominator has {number}",
        Of.RAREST: f"whose rarest label has {number}",
        Of.SEGMENT: f"with {number}",
        Of.NOTHING: f"known to have {number}",
    }
    first, *others = [of for of in Of if of in names]
    exceptions = [f"{', '.join(dict.fromkeys(names[of]))}: {texts[of]}" for of in others]
    return f" {texts[first]}" + (f" ({cells.safe('; '.join(exceptions))})" if others else "")


def _bars(pen: Pen) -> str:
    """Say what bars span, and which, if not all of them span the same."""
    names: dict[Axis, list[str]] = {}
    for name in pen.scores:
        for row in pen.choice.rows:
            axis = pen.axis(name, row)
            what = _drawn(pen, name, row)
            if axis is not None and what not in names.setdefault(axis, []):
                names[axis].append(what)
    spans = [
        f"from {_end(axis.low)} to {_end(axis.high)}"
        + (f" ({cells.safe(', '.join(drawn))})" if len(names) > 1 else "")
        for axis, drawn in names.items()
    ]
    return f"Bars run {', '.join(spans)}.{_line(pen)}" if spans else ""


def _line(pen: Pen) -> str:
    """Say what the vertical line on bars is, and where it is if that is not shown."""
    bound = next((one for one in map(pen.layout.bound, pen.scores) if one is not None), None)
    if bound is None:
        return ""
    places = {pen.layout.values[bound][row] for row in pen.choice.rows}
    is_shown = bound in pen.layout.shown
    at = "" if is_shown else f", {' or '.join(map(_end, sorted(places)))}"
    return f" The vertical line is the bound{at}."


def _drawn(pen: Pen, name: Name, row: int) -> str:
    """Name what a bar is drawn of."""
    rule, metric = (pen.layout.named(one, row) for one in (Naming.RULE, Naming.METRIC))
    if rule is not None:
        return str(rule)
    if metric is None or pen.layout.columns[name].of or len(pen.layout.metrics) == 1:
        return pen.words(name)
    of = cells.words(metric)
    return of if name == ESTIMATE else f"{of}: {cells.words(name).lower()}"


def _end(value: float) -> str:
    return cells.number(value, None)
