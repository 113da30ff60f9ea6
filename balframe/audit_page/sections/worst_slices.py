"""Where it is worst: the combinations of groups on which an error is shown to be worse."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from balframe._text import format_percent
from balframe.api.value_naming import ValueNaming
from balframe.audit_page.document import (
    Block,
    Cell,
    Head,
    Paragraph,
    RowGroup,
    Section,
    Table,
    TableRow,
)
from balframe.audit_page.numbers import (
    PERCENT,
    POINTS,
    Estimate,
    count,
    p_value,
    percent,
    points_more,
)
from balframe.audit_page.queries import Row, by_name
from balframe.audit_page.rates import Rate
from balframe.audit_page.request import Request
from balframe.audit_page.results import NO_GROUPS, Audit, LeftOut, ModelFigures, report_models
from balframe.audit_page.tables import estimate_cell, plot_head, share_range
from balframe.audit_page.text import (
    capitalize,
    in_quotes,
    join_words,
    label,
    plural,
    quote,
    spell_number,
)
from balframe.errors import InvalidInputError
from balframe.frames.adapter import Name
from balframe.methods.slices.slices import SLICE_MIN_SUPPORT, slices

QUESTION = "Where is it worst?"
SELECTION = (
    "The highest of many rates is high by selection alone. The p-values and limits here allow for "
    "all combinations that were tested."
)
_MAX_DEPTH = 3
_MANY_COLUMNS = 10  # of which all triples would be too many to search
_MAX_SLICES = 6
_MEASURED_ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Search:
    """The rows of `slices` for an error; `problem` says why there was nothing to search.

    `naming` says which groups are named with their column.
    """

    rate: Rate
    slices: Sequence[Row]
    problem: str | None = None
    naming: ValueNaming = field(default_factory=ValueNaming)


def figures(audit: Audit) -> list[list[Search]]:
    """Search the slices with a higher error rate than all other rows, for each model."""
    if not audit.request.by:
        return [[] for _ in audit.models]
    return [[_search(model, rate) for rate in model.defined_errors] for model in audit.models]


def _search(model: ModelFigures, rate: Rate) -> Search:
    request = model.request
    n_columns = len(request.by)
    try:
        rows = model.cells.query(
            slices,
            over=[*map(by_name, range(n_columns))],
            metric=rate.metric,
            pos_label=rate.positive,
            depth=min(n_columns, _MAX_DEPTH if n_columns <= _MANY_COLUMNS else _MAX_DEPTH - 1),
            min_support=_min_support(request),
            level=request.level,
            top=_MAX_SLICES,
        )
    except InvalidInputError as error:
        many = "max_slices" in error.parameters
        return Search(rate, [], "too many combinations" if many else "too few rows")
    groups: dict[Name, list[object]] = {
        by_name(column.number): [group.value for group in column.groups] for column in model.columns
    }
    return Search(rate, rows, naming=ValueNaming.of(groups))


def _min_support(request: Request) -> int:
    """Return the least number of rows of a combination that is searched."""
    return max(request.min_support, SLICE_MIN_SUPPORT)


def section(audit: Audit, searches: Sequence[Sequence[Search]]) -> Section | LeftOut:
    """State on which combinations of groups an error is shown to be worse."""
    if not audit.request.by:
        return LeftOut(QUESTION, NO_GROUPS)
    n_searches = sum(search.problem is None for own in searches for search in own)
    blocks, brief = report_models(
        audit,
        lambda model, own: (_blocks(model, own), [summary(own, n_searches, audit.request)]),
        searches,
    )
    if n_searches:
        blocks.append(Paragraph(error_rate(audit)))
    return Section("worst", QUESTION, blocks, brief)


def summary(searches: Sequence[Search], n_searches: int, request: Request) -> str:
    """Return the answer in one sentence: the worst combination of each search, or that none is.

    The sentence takes the clearest of all searches of a page, so its p-values are multiplied by
    their number. A combination that is left out for this stays in its table.
    """
    listed = [(search, search.slices[0]) for search in searches if search.slices]
    if not listed:
        return "No combination of groups is shown to fare worse than all others together."
    worst = [
        (search, row) for search, row in listed if row["p_adjusted"] * n_searches <= request.alpha
    ]
    if not worst:
        return (
            "A search for one error lists combinations that fare worse than all others; none is "
            f"clear enough to stand out from the {spell_number(n_searches)} searches of this page."
        )
    parts = [
        f"{join_words(_group_texts(search, row, request, quote))}: {percent(row['estimate'])} of "
        f"{search.rate.among} {search.rate.event}, against {percent(row['rest'])} of all others, "
        f"{points_more(_difference(row))}"
        for search, row in worst[:2]
    ]
    return f"Most clearly shown to fare worse than all others, {'; '.join(parts)}."


def error_rate(audit: Audit) -> str:
    """Return the sentence on how often a page errs if nothing differs.

    The rate of all searches together was measured at the level 0.95, with one model and two errors.
    """
    request = audit.request
    start = (
        "This page searches more than once: for groups that differ, and for the worst combinations "
        f"in each error. Each search errs in at most {format_percent(request.alpha)} of audits in "
        "which nothing differs"
    )
    is_measured = request.alpha == _MEASURED_ALPHA and len(audit.models) == 1
    together = "in 7 to 10%, as measured" if is_measured else "so more often"
    return f"{start}; together they do {together}."


def _group_texts(
    search: Search, row: Row, request: Request, write: Callable[[object], str]
) -> list[str]:
    """Return the groups of a combination in the order of the columns, each written by `write`."""
    texts = []
    for number in sorted(int(name.removeprefix("by")) for name in row["on"].split(", ")):
        name, column = by_name(number), request.column(number)
        texts.append(search.naming.text(name, column, row[name], write(row[name])))
    return texts


def _difference(row: Row) -> Estimate:
    return Estimate.from_row(row, "difference", limits="")


def _blocks(model: ModelFigures, searches: Sequence[Search]) -> list[Block]:
    sentences = [" ".join(search_sentence(search, model.request) for search in searches)]
    tables = [_table(model, search) for search in searches if search.slices]
    return [*map(Paragraph, [*sentences, SELECTION] if tables else sentences), *tables]


def search_sentence(search: Search, request: Request) -> str:
    """Return the sentence on one error: what was searched, and how many combinations are listed."""
    start = f"For {in_quotes(search.rate.title)}"
    if search.problem is not None:
        return f"{start} nothing could be searched: {search.problem}."
    enough = f"at least {request.words.rows(_min_support(request))} to count"
    if not search.slices:
        return (
            f"{start} no combination of groups with {enough}, inside and outside of it, is shown "
            "to be worse than all others. Nothing here says that all is well with smaller ones."
        )
    n, n_tests = len(search.slices), search.slices[0]["n_tests"]
    n_explained = sum(row["n_explained"] for row in search.slices)
    explained = (
        f" {capitalize(spell_number(n_explained))} more {'is' if n_explained == 1 else 'are'} left "
        "out, whose errors these explain."
        if n_explained
        else ""
    )
    are = "is" if n == 1 else "are"
    return (
        f"{start} {plural(n_tests, 'combination', 'combinations')} of groups with {enough} "
        f"{'was' if n_tests == 1 else 'were'} tested; {spell_number(n)} {are} listed that {are} "
        f"shown to be worse than all others.{explained}"
    )


def _table(model: ModelFigures, search: Search) -> Table:
    request, overall = model.request, model.overall.rates[search.rate]
    estimates = [Estimate(row["estimate"], None, None) for row in search.slices]
    span = share_range(estimates, overall.value)
    rows = [
        TableRow(
            ", ".join(_group_texts(search, row, request, label)),
            [
                Cell(count(row["min_support"])),
                Cell(percent(estimate.value)),
                Cell(bar=span.bar(estimate)),
                Cell(percent(row["rest"])),
                estimate_cell(_difference(row), POINTS),
                Cell(p_value(row["p_adjusted"], request.alpha)),
            ],
        )
        for row, estimate in zip(search.slices, estimates, strict=True)
    ]
    heads = [
        Head("Combination", "text"),
        Head("Out of"),
        Head("Rate"),
        plot_head(span.axis(PERCENT, overall.value)),
        Head("Rate of all others"),
        Head(f"Points more ({request.percent_level} limits)", "estimate"),
        Head("p"),
    ]
    both = format_percent(max(round(1 - 2 * request.alpha, 12), 0.0))
    note = (
        "Each of the two limits holds for all combinations tested together with "
        f"{request.percent_level}, both together with {both}. p is adjusted for their number."
    )
    return Table(search.rate.title, heads, [RowGroup("", rows)], note)
