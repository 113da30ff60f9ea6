"""Numeric columns of groups, cut into bins after their values have been counted."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from balframe.audit_page.left_out_rows import IN_DATA, STEPS
from balframe.audit_page.queries import ModelCells, N, by_name
from balframe.audit_page.request import Request
from balframe.core.array_types import Int64Array
from balframe.core.binning import Values
from balframe.errors import InvalidInputError, listed
from balframe.frames.adapter import Name
from balframe.frames.by_entries import BINS_ENTRY, MAX_NUMBERS, Bins
from balframe.frames.polars_cells import cut_column, is_numeric, values_with_counts
from balframe.frames.query import WEIGHT, WEIGHT_MAX, WEIGHT_SQ
from balframe.frames.query_checks import example_edges, many_numbers_message

_SUMS = (N, WEIGHT, WEIGHT_SQ, WEIGHT_MAX)


def cut_into_bins(models: Sequence[ModelCells]) -> list[ModelCells]:
    """Cut numeric by-columns of all models at the same edges, as `bf.bins` says.

    Edges between bins of equally many rows are those of all rows in the data, whatever is missing.
    """
    request = models[0].request
    bins: dict[int, Bins] = {}
    for column, name in enumerate(request.by):
        entry = request.bins.get(name)
        if not is_numeric(models[0].frame, by_name(column)):
            if entry is not None:
                raise entry.type_error(models[0].frame[by_name(column)].dtype)
            continue
        values, n = _values(models[0], column)
        if entry is None:
            _check_few(name, values, n)
        else:
            bins[column] = entry if entry.edges is not None else entry.at_quantiles(values, n)
    _check_values(request, bins)
    return [cut_cells(cells, bins) for cells in models] if bins else list(models)


def _values(cells: ModelCells, column: int) -> tuple[Values, Int64Array]:
    """Return the different values of a by-column in the data, and the number of rows of each."""
    if cells.row_counts is None:
        return values_with_counts(cells.frame, by_name(column), N)
    return values_with_counts(cells.row_counts.frame, by_name(column), IN_DATA)


def cut_cells(cells: ModelCells, bins: Mapping[int, Bins]) -> ModelCells:
    """Cut the by-columns of all counts of a model."""

    def cut(counts: Any, sums: Sequence[str]) -> Any:  # noqa: ANN401 (frames)
        for column, entry in bins.items():
            counts = cut_column(counts, by_name(column), entry, sums)
        return counts

    def cut_if_counted(counts: Any) -> Any:  # noqa: ANN401 (frames)
        return None if counts is None else cut(counts, _SUMS)

    row_counts = cells.row_counts
    if row_counts is not None:
        row_counts = replace(row_counts, frame=cut(row_counts.frame, STEPS))
    return replace(
        cells,
        frame=cut(cells.frame, _SUMS),
        selections=cut_if_counted(cells.selections),
        row_counts=row_counts,
        weighted_scores=cut_if_counted(cells.weighted_scores),
        scored=cut_if_counted(cells.scored),
        bins=bins,
        _computed={},
    )


def _check_few(name: Name, values: Values, n: Int64Array) -> None:
    """Raise where a column that is not cut has very many different numbers."""
    if len(values) > MAX_NUMBERS:
        raise InvalidInputError(many_numbers_message(name, len(values), example_edges(values, n)))


def _check_values(request: Request, bins: Mapping[int, Bins]) -> None:
    """Raise where a rule is about a value of a column that is cut, and not one of its bins."""
    for column, entry in bins.items():
        name, texts = request.by[column], entry.texts
        expected = [value for part in request.expected for value in part.get(name, ())]
        for values, what in [
            *((rule.where.get(name, ()), f"rule {rule.text!r}") for rule in request.rules),
            (expected, "an expected segment of the rules"),
        ]:
            for value in values:
                if value is not None and value not in texts:
                    raise InvalidInputError(
                        "{} is about {} {!r}, but {} cuts this column. Name one of its bins: {}.",
                        what,
                        name,
                        value,
                        BINS_ENTRY,
                        listed(map(repr, texts)),
                    )
