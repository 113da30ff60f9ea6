"""Tables of selection rates or scoring rates with impact ratios, as rules on selections name them.

They are those of 6 RCNY 5-301, with confidence intervals, and with the ratios that are possible if
unknown categories were known.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from balframe.audit_page.disclosure import WITHHELD
from balframe.audit_page.document import Bar, Cell, Head, RowGroup, Table, TableRow
from balframe.audit_page.groups import MAX_GROUPS, largest
from balframe.audit_page.numbers import PERCENT, RATIO, Estimate, Scale, bounded_scale, count, share
from balframe.audit_page.request import Request
from balframe.audit_page.results import ModelFigures
from balframe.audit_page.sections.impact_figures import BOUND, Category, ImpactTable
from balframe.audit_page.tables import Range, estimate_cell, plot_head
from balframe.audit_page.text import caller_text, capitalize, join_words, label, plural, quote

EXCLUDED = "excluded: under 2%"
EXCLUDED_UNKNOWN = "excluded: unknown"
_ALLOWED = "6 RCNY 5-301 (d) allows leaving them out"
_NONE, _SPACE = "\N{EN DASH}", "\N{NO-BREAK SPACE}"
_AXIS = Range(0.0, 1.0, 0.5)  # few numbers, for a narrow plot


@dataclass(frozen=True, slots=True)
class TableWords:
    """The words of a table: its caption, the headings of a count and its rate, and their meaning.

    The caption is followed by the names of columns.
    """

    caption: str
    n_head: str
    rate_head: str
    meaning: str


def ratio_scale(request: Request) -> Scale:
    """Return the scale of impact ratios, which are compared with the bound if a side is good."""
    return RATIO if request.favourable is None else bounded_scale(BOUND)


def column_names(table_columns: Sequence[int], request: Request, word: str = "and") -> str:
    """Return the names of the columns of a table in a sentence: `sex and race`."""
    return join_words([request.column(column) for column in table_columns], word)


def category_name(category: Category) -> str:
    """Return a category in a sentence, with the values of all columns of its table."""
    return ", ".join(map(quote, category.values))


def impact_table(model: ModelFigures, table: ImpactTable, words: TableWords) -> Table:
    """Show the counts, the rate and the impact ratio of every category of a table."""
    request, has_unknown = model.request, table.n_unknown > 0
    bound = None if request.favourable is None else BOUND
    heads = [
        Head(", ".join(map(request.column_title, table.columns)), "text"),
        Head(capitalize(model.words.plural)),
        Head(words.n_head),
        Head(f"{words.rate_head} ({request.percent_level} interval)", "estimate"),
        Head("Impact ratio (adjusted interval)", "estimate"),
        plot_head(_AXIS.axis(RATIO, 1.0, bound)),
        Head("p"),
        *([Head("Ratio if the unknown were known", "text")] if has_unknown else []),
    ]
    rows = [*_category_rows(table, request), *_withheld_rows(table), *_unknown_rows(table)]
    rows = [_with_width(row, len(heads) - 1) for row in rows]
    caption = f"{words.caption} by {column_names(table.columns, request)}"
    return Table(caption, heads, [RowGroup("", rows)], _note(model, table, words))


def _category_rows(table: ImpactTable, request: Request) -> list[TableRow]:
    """Return the rows of all categories compared, and of the largest of those excluded."""
    chosen = [*map(id, largest(table.excluded, MAX_GROUPS, lambda category: category.n))]
    others = [category for category in table.excluded if id(category) not in chosen]
    rows = [
        _category_row(category, table, request)
        for category in table.categories
        if category.is_compared or id(category) in chosen
    ]
    if others:
        heading = plural(len(others), "more group", "more groups")
        rows.append(_excluded_row(heading, EXCLUDED, *_total(others)))
    return rows


def _total(categories: Sequence[Category]) -> tuple[int, int]:
    """Count the rows of categories, and those on the side measured."""
    return (
        sum(category.n for category in categories),
        sum(category.n_measured for category in categories),
    )


def _category_row(category: Category, table: ImpactTable, request: Request) -> TableRow:
    heading = ", ".join(map(label, category.values))
    cells = [
        Cell(count(category.n)),
        Cell(count(category.n_measured)),
        estimate_cell(category.rate, PERCENT),
        *_ratio_cells(category, ratio_scale(request)),
    ]
    if table.n_unknown and category.is_compared:
        cells.append(Cell(_between(category, ratio_scale(request).number)))
    return TableRow(
        heading,
        cells,
        is_small=category.is_small(request.min_support),
        differs=category.difference.is_significant,
        note="" if category.is_compared else EXCLUDED,
    )


def _ratio_cells(category: Category, scale: Scale) -> list[Cell]:
    """Write an impact ratio, its mark and its p-value."""
    ratio = category.ratio
    if not ratio.is_defined:
        return [Cell(_NONE), Cell(bar=Bar(None, None, None)), Cell(_NONE)]
    has_interval = ratio.has_limits and ratio.lower != ratio.upper
    estimate = ratio if has_interval else Estimate(ratio.value, None, None)
    return [
        estimate_cell(estimate, scale),
        Cell(bar=_AXIS.bar(ratio)),
        Cell(category.difference.p_text),
    ]


def _between(category: Category, number: Callable[[float], str]) -> str:
    lower, upper = category.unknown_bounds
    if lower is None or upper is None:
        return _NONE
    return _SPACE.join([number(lower), "to", number(upper)])


def _withheld_rows(table: ImpactTable) -> list[TableRow]:
    """Return the rows of categories whose figures are withheld."""
    headings = [", ".join(map(label, values or (None,))) for values in table.withheld]
    return [TableRow(heading, [Cell(WITHHELD)], is_small=True) for heading in headings]


def _unknown_rows(table: ImpactTable) -> list[TableRow]:
    """Return the row of unknown category, if there is any such row."""
    if not table.n_unknown:
        return []
    n, n_measured = table.n_unknown, table.n_measured_unknown
    return [_excluded_row(label(None), EXCLUDED_UNKNOWN, n, n_measured)]


def _excluded_row(heading: str, note: str, n: int, n_measured: int) -> TableRow:
    cells = [Cell(count(n)), Cell(count(n_measured)), Cell(share(n_measured, n))]
    blank = [Cell(_NONE), Cell(bar=Bar(None, None, None)), Cell(_NONE)]
    return TableRow(heading, [*cells, *blank], is_small=True, note=note)


def _with_width(row: TableRow, width: int) -> TableRow:
    """Return a row with as many cells as the table has columns."""
    blank = [Cell(_NONE if len(row.cells) > 1 else "")] * (width - len(row.cells))
    return replace(row, cells=[*row.cells, *blank])


def _note(model: ModelFigures, table: ImpactTable, words: TableWords) -> str:
    """State what the columns of a table mean, and what is left out of its ratios."""
    intervals = (
        "Confidence intervals of ratios allow for all comparisons on this page; p is adjusted."
    )
    return " ".join([words.meaning, intervals, *_excluded_notes(model, table)])


def _excluded_notes(model: ModelFigures, table: ImpactTable) -> list[str]:
    request, names = model.request, column_names(table.columns, model.request)
    notes = []
    if table.excluded:
        reason = exclusion_reason(request)
        because = _ALLOWED if reason is None else f"reason: {caller_text(reason)}"
        are = "is" if len(table.columns) == 1 else "are"
        notes.append(
            f"Excluded: groups with less than 2% of the {model.words.plural} whose {names} {are} "
            f"known have no ratio; {because}."
        )
    if table.n_unknown:
        notes.append(
            "If the unknown were known: the lowest and the highest ratio that are possible if each "
            f"of the {model.words.rows(table.n_unknown)} whose "
            f"{column_names(table.columns, request, 'or')} is unknown belonged to one of the "
            "groups compared. This does not allow for chance."
        )
    if any(each.is_compared and each.is_small(request.min_support) for each in table.categories):
        notes.append(f"In italics also: fewer than {model.words.rows(request.min_support)}.")
    return notes


def exclusion_reason(request: Request) -> str | None:
    """Return why small categories are excluded, if the cover of the page states it."""
    reason = request.cover.facts.get("excluded")
    if reason is None:
        return None
    return (reason if isinstance(reason, str) else "; ".join(reason)).rstrip(". ")
