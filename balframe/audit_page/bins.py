"""Numeric columns of groups, cut into bins after their values have been counted."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from balframe.audit_page.left_out_rows import IN_DATA, STEPS
from balframe.audit_page.queries import ModelCells, N, by_name
from balframe.audit_page.request import Request
from balframe.core.array_types import Int64Array
from balframe.core.binning import Values, format_bins, quantiles, with_few_decimals
from balframe.errors import NAME, InvalidInputError, Spelled, listed
from balframe.frames.adapter import Name
from balframe.frames.polars_cells import cut_column, is_numeric, values_with_counts
from balframe.frames.query import WEIGHT, WEIGHT_MAX, WEIGHT_SQ
from balframe.methods.gates.rules import Rule

MAX_NUMBERS = 50  # different ones in a column of groups that is not cut
_EXAMPLE_BINS = 4
_SUMS = (N, WEIGHT, WEIGHT_SQ, WEIGHT_MAX)


def cut_into_bins(models: Sequence[ModelCells]) -> list[ModelCells]:
    """Cut numeric by-columns of all models at the same edges, as the option `bins` says.

    Edges between bins of equally many rows are those of all rows in the data, whatever is missing.
    """
    request = models[0].request
    numbers = {
        column: _values(models[0], column)
        for column in range(len(request.by))
        if is_numeric(models[0].frame, by_name(column))
    }
    request.bins.check(request.by, {request.by[column] for column in numbers})
    edges: dict[int, Values] = {}
    for column, (values, n) in numbers.items():
        cut = request.bins.cut(request.by[column], values, n)
        if cut.edges is not None:
            edges[column] = cut.edges
        elif request.by[column] not in request.bins.by_column:
            _check_few(request.by[column], values, n)
    bins = {column: format_bins(column_edges) for column, column_edges in edges.items()}
    _check_values(request, bins)
    return [cut_cells(cells, edges, bins) for cells in models] if edges else list(models)


def _values(cells: ModelCells, column: int) -> tuple[Values, Int64Array]:
    """Return the different values of a by-column in the data, and the number of rows of each."""
    if cells.row_counts is None:
        return values_with_counts(cells.frame, by_name(column), N)
    return values_with_counts(cells.row_counts.frame, by_name(column), IN_DATA)


def cut_cells(
    cells: ModelCells, edges: Mapping[int, Values], bins: Mapping[int, Sequence[str]]
) -> ModelCells:
    """Cut the by-columns of all counts of a model."""

    def cut(counts: Any, sums: Sequence[str]) -> Any:  # noqa: ANN401 (frames)
        for column, column_edges in edges.items():
            counts = cut_column(counts, by_name(column), column_edges, sums)
        return counts

    selections, row_counts, scores = cells.selections, cells.row_counts, cells.weighted_scores
    if row_counts is not None:
        row_counts = replace(row_counts, frame=cut(row_counts.frame, STEPS))
    return replace(
        cells,
        frame=cut(cells.frame, _SUMS),
        selections=None if selections is None else cut(selections, _SUMS),
        row_counts=row_counts,
        weighted_scores=None if scores is None else cut(scores, _SUMS),
        bins=bins,
        edges=edges,
        _computed={},
    )


def _check_few(name: Name, values: Values, n: Int64Array) -> None:
    """Raise where a column that is not cut has very many different numbers."""
    if len(values) <= MAX_NUMBERS:
        return
    edges = with_few_decimals(quantiles(values, n, _EXAMPLE_BINS), values).tolist()
    edges = [int(edge) if float(edge).is_integer() else edge for edge in edges]
    raise InvalidInputError(
        "column {!r} in {by} has {} different numbers, too many to be groups. Cut it into bins of "
        "about equally many rows with {}, or at edges of yours with {}. To keep each number as a "
        "group, give {}.",
        name,
        f"{len(values):,}",
        _bins_option(name, _EXAMPLE_BINS, str(_EXAMPLE_BINS)),
        _bins_option(name, edges, f"{','.join(map(str, edges))}{',' * (len(edges) == 1)}"),
        _bins_option(name, None, "none"),
        by=NAME,
    )


def _bins_option(name: Name, value: object, text: str) -> Spelled:
    """Return the option for one column, in Python and in a shell."""
    return Spelled(f"bins={{{name!r}: {value!r}}}", shlex.quote(f"{name}={text}"), parameter="bins")


def _check_values(request: Request, bins: Mapping[int, Sequence[str]]) -> None:
    """Raise where a rule is about a value of a column that is cut, and not one of its bins."""
    for column, texts in bins.items():
        name = request.by[column]
        expected = [value for part in request.expected for value in part.get(name, ())]
        for values, what in [
            *((rule.where.get(name, ()), _rule_text(rule)) for rule in request.rules),
            (expected, "an expected segment of the rules"),
        ]:
            for value in values:
                if value is not None and value not in texts:
                    raise InvalidInputError(
                        "{} is about {} {!r}, but {bins} cuts this column. Name one of its bins: "
                        "{}.",
                        what,
                        name,
                        value,
                        listed(map(repr, texts)),
                        bins=NAME,
                    )


def _rule_text(rule: Rule) -> str:
    return f"rule {rule.text!r}"
