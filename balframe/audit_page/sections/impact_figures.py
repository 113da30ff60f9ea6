"""Selection rates and impact ratios: of the groups of each column, and of intersections."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from balframe.audit_page.disclosure import withheld_crossings, withheld_parts
from balframe.audit_page.groups import MAX_COLUMNS, Difference
from balframe.audit_page.numbers import Estimate
from balframe.audit_page.queries import PREDICTION, SCORE, ModelCells, N, Row, by_name, query
from balframe.audit_page.request import Request
from balframe.audit_page.results import Audit, ModelFigures
from balframe.core.binning import weighted_median
from balframe.errors import InvalidInputError
from balframe.frames.convert_result import row_dicts
from balframe.frames.polars_cells import values_with_counts
from balframe.frames.query import GROUPED_BY, margin_name
from balframe.methods.impact.impact import impact
from balframe.methods.impact.ratios import COMPARED, UNKNOWN

# Which categories of tables of impact ratios are withheld, so that no small count is revealed.
#
# The tables share their rows: those of an intersection sum up to those of its columns.


UNKNOWN_VALUES: tuple[Any, ...] = ()  # stand for all rows of unknown category

Values = tuple[Any, ...]
Withheld = Mapping[tuple[int, ...], Collection[Values]]  # values of categories by columns


def withheld_categories(
    rows: Sequence[Row],
    is_measured: str,
    tables: Sequence[tuple[int, ...]],
    least: int,
    withheld_groups: Mapping[int, Collection[Any]],
) -> Withheld:
    """Return the values of the categories that each table withholds.

    `rows` count the rows of each combination of groups by the column `is_measured`. A category is
    withheld where either count is under `least`, where the page withholds one of its groups
    elsewhere, and where it would reveal another one.
    """
    withheld: dict[tuple[int, ...], set[Values]] = {}
    for columns in sorted(tables, key=len):
        counts = _count(rows, columns, is_measured)
        names = list(counts)
        also = {i for i, values in enumerate(names) if _is_part_withheld(values, columns, withheld)}
        if len(columns) == 1:
            groups = withheld_groups.get(columns[0], ())
            also |= {i for i, values in enumerate(names) if (values or (None,))[0] in groups}
            positions = withheld_parts(list(counts.values()), least, also)
        else:
            lines = [*_lines(names, len(columns)), range(len(names))]
            positions = withheld_crossings(list(counts.values()), lines, least, also)
        withheld[columns] = {names[i] for i in positions}
    return withheld


def category_values(row: Row, columns: Sequence[int]) -> Values:
    """Return the values of the category of a row in a table."""
    values = tuple(row[by_name(column)] for column in columns)
    return UNKNOWN_VALUES if None in values else values


def _count(
    rows: Sequence[Row], columns: tuple[int, ...], is_measured: str
) -> dict[Values, list[int]]:
    """Count the rows of each category on the side measured, and on the other."""
    counts: dict[Values, list[int]] = defaultdict(lambda: [0, 0])
    for row in rows:
        counts[category_values(row, columns)][not row[is_measured]] += row[N]
    return dict(counts)


def _is_part_withheld(
    values: Values, columns: tuple[int, ...], withheld: Mapping[tuple[int, ...], set[Values]]
) -> bool:
    """Return whether the table of some of the columns withholds what a category is part of."""
    by_column = dict(zip(columns, values, strict=False))
    return bool(by_column) and any(
        tuple(by_column[column] for column in others) in own
        for others, own in withheld.items()
        if set(others) < set(columns)
    )


def _lines(names: Sequence[Values], n_columns: int) -> Iterator[list[int]]:
    """Iterate over the positions of categories whose sum a table of fewer columns may show."""
    for size in range(1, n_columns):
        for places in combinations(range(n_columns), size):
            lines = defaultdict(list)
            for i, values in enumerate(names):
                if values:
                    lines[tuple(values[place] for place in places)].append(i)
            yield from lines.values()


BOUND = 0.8  # of the four-fifths rule
_MEASURED = "measured"  # the side of predictions, or of scores, whose rate is measured


@dataclass(frozen=True, slots=True)
class Category:
    """A group of a table, with its counts, its rate and its impact ratio.

    `n_measured` rows are on the side whose rate is measured, such as those selected. The difference
    is that of the test on the ratio. `unknown_bounds` are those of the ratio if every row of
    unknown category belonged to any of the categories compared.
    """

    values: tuple[Any, ...]
    role: str
    n: int
    n_measured: int
    rate: Estimate
    difference: Difference
    unknown_bounds: tuple[float | None, float | None]

    @property
    def ratio(self) -> Estimate:
        """Return the impact ratio."""
        return self.difference.estimate

    @property
    def is_compared(self) -> bool:
        """Return whether it has the minimum share of rows, so that it has a ratio."""
        return self.role == COMPARED

    def is_small(self, min_support: int) -> bool:
        """Return whether it has too few rows for a sentence, or for a ratio."""
        return not self.is_compared or self.n < min_support


@dataclass(frozen=True, slots=True)
class ImpactTable:
    """The categories of a by-column, or of the intersection of several.

    `highest` is the category with the highest rate of those compared. Rows of unknown category are
    in none: `n_unknown` of them, `n_measured_unknown` of which are on the side measured. `withheld`
    are the values of categories whose figures are withheld.
    """

    columns: tuple[int, ...]
    categories: Sequence[Category]
    highest: Category
    n_unknown: int
    n_measured_unknown: int
    withheld: Sequence[Values] = ()

    @property
    def excluded(self) -> list[Category]:
        """Return the categories that are too small for a ratio."""
        return [category for category in self.categories if not category.is_compared]

    def others(self, min_support: int) -> list[Category]:
        """Return the categories compared with the highest that are large enough for a sentence."""
        return [
            category
            for category in self.categories
            if category is not self.highest
            and category.ratio.has_limits
            and not category.is_small(min_support)
        ]


@dataclass(frozen=True, slots=True)
class ScoringRates:
    """The tables of the share above the median score, or at or below it, and that median.

    `n_above` of `n` rows have a score above the median.
    """

    tables: Sequence[ImpactTable]
    median: float
    n_above: int
    n: int


@dataclass(frozen=True, slots=True)
class ImpactFigures:
    """The tables of a model; `scoring` is None without scores, or without a favourable side.

    `not_compared` are the columns, and intersections, in which no two categories can be compared.
    """

    tables: Sequence[ImpactTable]
    not_compared: Sequence[tuple[int, ...]]
    scoring: ScoringRates | None


def measure(audit: Audit, level: float) -> list[ImpactFigures]:
    """Measure selection rates and impact ratios of each model, with limits of ratios at a level."""
    return [_measure_model(model, level) for model in audit.models]


def differences(models: Sequence[ImpactFigures]) -> Iterator[Difference]:
    """Return the differences whose p-values are adjusted with all others."""
    for model in models:
        scoring = [] if model.scoring is None else model.scoring.tables
        for table in [*model.tables, *scoring]:
            yield from (category.difference for category in table.categories)


def _measure_model(model: ModelFigures, level: float) -> ImpactFigures:
    if not model.cells.is_binary:
        return ImpactFigures([], [], None)
    request = model.request
    columns = [(column,) for column in range(min(len(request.by), MAX_COLUMNS))]
    tables = _impact_tables(
        _count_selected(model.cells), [*columns, *map(tuple, request.intersections)], model, level
    )
    compared = [table for table in tables.values() if table is not None]
    not_compared = [columns for columns, table in tables.items() if table is None]
    scoring = None
    if model.scores is not None and request.favourable is not None:
        scoring = _measure_scores(model, [table.columns for table in compared], level)
    return ImpactFigures(compared, not_compared, scoring)


def _measure_scores(
    model: ModelFigures, columns: Sequence[tuple[int, ...]], level: float
) -> ScoringRates | None:
    """Measure the share above the median of all scores, or its complement if that is favourable."""
    assert model.scores is not None, "there are scores"
    cells, least = model.cells, model.request.suppress
    scored = cells.frame if cells.scored is None else cells.scored
    scores, n = values_with_counts(scored, SCORE, N)
    median = weighted_median(scores, n)
    n_above, n_all = int(n[scores > median.low].sum()), int(n.sum())
    if least is not None and min(n_above, n_all - n_above) < least:
        return None
    counts = _count_measured(scored, scored[SCORE] > median.low, cells.request)
    tables = _impact_tables(counts, columns, model, level)
    compared = [table for table in tables.values() if table is not None]
    return ScoringRates(compared, median.median, n_above, n_all)


def _count_selected(cells: ModelCells) -> Any:  # noqa: ANN401 (a frame)
    """Count the rows of each combination of groups by whether they are selected."""
    frame = cells.by_labels if cells.selections is None else cells.selections
    predictions = frame[PREDICTION]
    positive = [label for label in predictions.unique() if label == cells.positive]
    return _count_measured(frame, predictions.is_in(positive), cells.request)


def _count_measured(frame: Any, is_positive: Any, request: Request) -> Any:  # noqa: ANN401
    """Count the rows of each combination of groups by whether they are on the side measured.

    That is the positive one, unless the other is favourable.
    """
    is_measured = ~is_positive if request.favourable == "not selected" else is_positive
    keys = [*map(by_name, range(len(request.by))), _MEASURED]
    frame = frame.with_columns(is_measured.alias(_MEASURED)).select(*keys, N)
    return frame.group_by(keys, maintain_order=True).sum()


def _impact_tables(
    counts: Any,  # noqa: ANN401
    tables: Sequence[tuple[int, ...]],
    model: ModelFigures,
    level: float,
) -> dict[tuple[int, ...], ImpactTable | None]:
    """Return the table of each by-column or intersection; None without two categories."""
    request = model.request
    withheld: Withheld = {}
    if request.suppress is not None:
        groups = {
            column: [group.value for group in own if group.is_withheld]
            for column, own in enumerate(model.groups_by_column)
        }
        rows = row_dicts(counts)
        withheld = withheld_categories(rows, _MEASURED, tables, request.suppress, groups)
    return {
        columns: _impact_table(counts, columns, withheld.get(columns, ()), request.level, level)
        for columns in tables
    }


def _impact_table(
    counts: Any,  # noqa: ANN401
    columns: tuple[int, ...],
    withheld: Collection[Values],
    rate_level: float,
    ratio_level: float,
) -> ImpactTable | None:
    """Compare the categories that are not withheld; None where there are no two to compare."""
    by = [*map(by_name, columns)]
    if withheld:
        kept = [category_values(row, columns) not in withheld for row in row_dicts(counts)]
        counts = counts.filter(kept)
    try:
        rows = _query_impact(counts, by, ratio_level)
        rate_rows = rows if rate_level == ratio_level else _query_impact(counts, by, rate_level)
    except InvalidInputError:  # there is one category
        return None
    categories = [
        _category(row, rate_row, by)
        for row, rate_row in zip(rows, rate_rows, strict=True)
        if row["role"] != UNKNOWN
    ]
    compared = [category for category in categories if category.ratio.is_defined]
    if not compared:
        return None
    highest_values = tuple(rows[0][f"highest_{name}"] for name in by)
    unknown = [row for row in rows if row["role"] == UNKNOWN]
    return ImpactTable(
        columns,
        categories,
        next(category for category in compared if category.values == highest_values),
        sum(row["n"] for row in unknown),
        sum(row["n_favourable"] for row in unknown),
        sorted(withheld, key=repr),
    )


def _query_impact(counts: Any, by: Sequence[str], level: float) -> list[Row]:  # noqa: ANN401
    """Return the rows of `impact` for the categories of all columns together."""
    options = {"labels": [False, True], "adjust": None, "level": level, "favourable": "selected"}
    rows = query(impact, counts, _MEASURED, by=list(by), counts=N, **options)
    return [row for row in rows if row[GROUPED_BY] == margin_name(by)]


def _category(row: Row, rate_row: Row, by: Sequence[str]) -> Category:
    return Category(
        tuple(row[name] for name in by),
        row["role"],
        row["n"],
        row["n_favourable"],
        Estimate.from_row(rate_row, "rate"),
        Difference(Estimate.from_row(row, "impact_ratio", limits=""), row["p_value"]),
        (row["unknown_lower"], row["unknown_upper"]),
    )
