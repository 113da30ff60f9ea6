"""Where errors are most frequent: combinations of groups with more of an error than all others.

Of outcomes, these are combinations with a lower pass rate.
Single groups are compared with all others elsewhere, by one test; here are only combinations.
"""

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
from balframe.audit_page.groups import MAX_GROUPS, GroupFigures, largest
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
    first_names,
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

ONE_COLUMN = "combinations need two columns of groups"
_MAX_DEPTH = 3
_MANY_COLUMNS = 10  # of which all triples would be too many to search
_MAX_SLICES = 6  # in a table
_MAX_NAMED = 3  # in brief, beside the clearest
_MAX_LISTED = 1_000  # of which single groups are taken out


_ALLOWED_FOR = (
    "The p-values and confidence intervals here allow for all combinations that were tested."
)
SELECTION = f"The highest of many rates is high by selection alone. {_ALLOWED_FOR}"


@dataclass(frozen=True, slots=True)
class _Words:
    """The words on what is worse: errors that are more frequent, or a pass rate that is lower."""

    question: str
    what: str
    worse: str
    selection: str
    points: str
    of_outcome: str = ""


_OF_ERRORS = _Words(
    "In which combinations of groups are errors more frequent?",
    "more errors",
    "higher",
    SELECTION,
    "Points more",
    " of that outcome",
)
_OF_OUTCOMES = _Words(
    "Which combinations of groups have a lower pass rate?",
    "a lower pass rate",
    "lower",
    f"The lowest of many rates is low by selection alone. {_ALLOWED_FOR}",
    "Points",
)


def _words(request: Request) -> _Words:
    return _OF_OUTCOMES if request.is_of_outcomes else _OF_ERRORS


def question(request: Request) -> str:
    """Return the question of the section."""
    return _words(request).question


@dataclass(frozen=True, slots=True)
class Search:
    """The rows of `slices` for a rate; `problem` is why there was nothing to search.

    `naming` decides which groups are named with their column.
    """

    rate: Rate
    slices: Sequence[Row]
    problem: str | None = None
    naming: ValueNaming = field(default_factory=ValueNaming)


def figures(audit: Audit) -> list[list[Search]]:
    """Search the slices that are worse in a rate than all other rows, for each model."""
    if len(audit.request.by) < 2:
        return [[] for _ in audit.models]
    return [[_search(model, rate) for rate in model.defined_tested] for model in audit.models]


def _search(model: ModelFigures, rate: Rate) -> Search:
    request = model.request
    n_columns = len(request.by)
    try:
        rows = model.cells.query(
            slices,
            over=[*map(by_name, range(n_columns))],
            metrics=rate.metric,
            pos_label=rate.positive,
            depth=min(n_columns, _MAX_DEPTH if n_columns <= _MANY_COLUMNS else _MAX_DEPTH - 1),
            min_support=_min_support(request),
            level=request.level,
            top=_MAX_LISTED,
        )
    except InvalidInputError as error:
        many = "max_slices" in error.parameters
        return Search(rate, [], "too many combinations" if many else "too few rows")
    groups: dict[Name, list[object]] = {
        by_name(number): [group.value for group in some]
        for number, some in enumerate(model.groups_by_column)
    }
    named = [_large_groups(some, rate) for some in model.groups_by_column]
    combinations = [
        row
        for row in rows
        if len(columns := slice_columns(row)) > 1
        and all(row[by_name(number)] in named[number] for number in columns)
        and not _is_withheld(row, model, rate)
    ]
    return Search(rate, combinations[:_MAX_SLICES], naming=ValueNaming.of(groups))


def _large_groups(groups: Sequence[GroupFigures], rate: Rate) -> list[object]:
    """Return the groups of a column that sentences may name: the largest, if not small."""
    largest_groups = largest(groups, MAX_GROUPS, lambda group: group.n)
    return [group.value for group in largest_groups if not group.is_small(rate)]


def _is_withheld(row: Row, model: ModelFigures, rate: Rate) -> bool:
    """Return whether a combination, less from one of its groups, would reveal a small count."""
    least = model.request.suppress
    if least is None:
        return False
    n: int = row["min_support"]
    n_errors = round(row["estimate"] * n)
    counts = [n_errors, n - n_errors]
    for number in slice_columns(row):
        value = row[by_name(number)]
        group = next(
            candidate for candidate in model.groups_by_column[number] if candidate.value == value
        )
        if group.is_withheld:
            return True
        whole = group.rates[rate]
        n_whole = round((whole.value or 0.0) * whole.n)
        counts += [n_whole - n_errors, whole.n - n - (n_whole - n_errors)]
    return any(n_rows < least for n_rows in counts)


def slice_columns(row: Row) -> list[int]:
    """Return the columns that a slice has a condition on."""
    return sorted(int(name.removeprefix("by")) for name in row["on"].split(", "))


def _min_support(request: Request) -> int:
    """Return the least number of rows of a combination that is searched."""
    return max(request.min_support, SLICE_MIN_SUPPORT)


def section(audit: Audit, searches: Sequence[Sequence[Search]]) -> Section | LeftOut:
    """State in which combinations of groups an error is more frequent, or fewer rows passed."""
    heading = question(audit.request)
    if not audit.request.by:
        return LeftOut(heading, NO_GROUPS)
    if len(audit.request.by) < 2:
        return LeftOut(heading, ONE_COLUMN, is_listed=False)
    n_searches = count_searches(searches)
    blocks, brief = report_models(
        audit,
        lambda model, own: (_blocks(model, own), [summary(own, n_searches, audit.request)]),
        searches,
    )
    return Section("worst", heading, blocks, brief)


def count_searches(searches: Sequence[Sequence[Search]]) -> int:
    """Count the searches that were made."""
    return sum(search.problem is None for own in searches for search in own)


def summary(searches: Sequence[Search], n_searches: int, request: Request) -> str:
    """Return the answer in one sentence: the clearest combination of each search, or that none is.

    The sentence takes the clearest of all searches of a page, so its p-values are multiplied by
    their number. A combination that is left out for this stays in its table.
    """
    what = _words(request).what
    listed = [(search, search.slices[0]) for search in searches if search.slices]
    if not listed:
        return (
            f"Combinations of groups: none is established to have {what} than its single "
            "groups explain."
        )
    clear = [(search, row) for search, row in listed if is_clear(row, n_searches, request)]
    if not clear:
        return (
            f"Combinations of groups: {spell_number(len(listed))} "
            f"{'search lists' if len(listed) == 1 else 'searches list'} some with {what} than "
            "all others; none is clear enough to stand out from the "
            f"{spell_number(n_searches)} searches of this page."
        )
    parts = [
        f"{join_words(_group_texts(search, row, request, quote))}: {percent(row['estimate'])} of "
        f"{search.rate.among} {search.rate.event}, against {percent(row['rest'])} of all others "
        f"together, {points_more(_difference(row))}{_side(search, request)}"
        for search, row in clear[:2]
    ]
    start = f"Combinations of groups with {what} than their single groups explain"
    return f"{start}: {'; '.join(parts)}."


def _side(search: Search, request: Request) -> str:
    """Return whether an error harms, where that is known, and which other ones are listed."""
    side = ""
    if request.favourable is not None:
        side = ", which is worse for them" if search.rate.is_harm else ", an error in their favour"
    names = [join_words(_group_texts(search, row, request, quote)) for row in search.slices[1:]]
    listed = "; ".join(first_names(names, _MAX_NAMED, lambda n: f"{n} more"))
    return f"{side} (also in the table: {listed})" if names else side


def is_clear(row: Row, n_searches: int, request: Request) -> bool:
    """Return whether a combination is established among all searches of the page together."""
    return bool(row["p_adjusted"] * n_searches <= request.alpha)


def _group_texts(
    search: Search, row: Row, request: Request, write: Callable[[object], str]
) -> list[str]:
    """Return the groups of a combination in the order of the columns, each written by `write`."""
    texts = []
    for number in slice_columns(row):
        name, column = by_name(number), request.column(number)
        texts.append(search.naming.text(name, column, row[name], write(row[name])))
    return texts


def _difference(row: Row) -> Estimate:
    return Estimate.from_row(row, "difference", limits="")


def _blocks(model: ModelFigures, searches: Sequence[Search]) -> list[Block]:
    sentences = [" ".join(search_sentence(search, model.request) for search in searches)]
    tables = [_table(model, search) for search in searches if search.slices]
    if tables:
        sentences.append(_words(model.request).selection)
    return [*map(Paragraph, sentences), *tables]


def search_sentence(search: Search, request: Request) -> str:
    """Return the sentence on one rate: what was searched, and how many combinations are listed."""
    words = _words(request)
    start = f"For {in_quotes(search.rate.caption)}"
    if search.problem is not None:
        return f"{start}, nothing could be searched: {search.problem}."
    enough = f"at least {request.words.rows(_min_support(request))}{words.of_outcome}"
    if not search.slices:
        return (
            f"{start}, no combination with {enough}, inside and outside of it, is established to "
            f"have a {words.worse} rate than its single groups explain."
        )
    n = len(search.slices)
    noun = "combination is" if n == 1 else "combinations are"
    return (
        f"{start}, {plural(search.slices[0]['n_tests'], 'group', 'groups')} and combinations with "
        f"{enough} were searched. "
        f"{capitalize(spell_number(n))} {noun} established to have a {words.worse} rate "
        "than all others, and not explained by the ones listed before or by a single group."
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
        Head(f"{_words(request).points} (adjusted interval)", "estimate"),
        Head("p"),
    ]
    both = format_percent(max(round(1 - 2 * request.alpha, 12), 0.0))
    note = (
        "Confidence intervals and p allow for all combinations that were searched: each limit "
        f"holds for all of them together with {request.percent_level}, both limits with {both}."
    )
    return Table(search.rate.title, heads, [RowGroup("", rows)], note)
