"""A frame to cells: encode its columns, count, and agree on the labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import narwhals as nw
import numpy as np
import polars as pl

from balframe.core.array_types import RowIndex
from balframe.core.cells import Cells
from balframe.core.counting_strategy import are_worth_a_guess, step_of_sample
from balframe.core.integer_codes import MisjudgedRangeError
from balframe.core.label_set import check_kinds, kind_of
from balframe.core.row_sums import Measures
from balframe.frames.adapter import Column, DType, Frame, Library, Name
from balframe.frames.counted_frame import ClusterCells, Reading
from balframe.frames.counting import count, encode, encode_or_leave, periods
from balframe.frames.engines import group_by
from balframe.frames.engines.weighted_sums import measures_of
from balframe.frames.label_agreement import Counted, LabelColumn, agree, cells_of
from balframe.frames.label_warnings import doubts_of
from balframe.frames.query import MODEL, PERIOD, Query
from balframe.frames.rollups import with_clusters
from balframe.frames.row_weights import measures, raise_null


@dataclass(frozen=True)
class _Part:
    """The rows of one model: which they are, what they carry, and its columns of predictions."""

    rows: RowIndex
    measures: Measures
    outcomes: Sequence[Name]


def read(frame: Frame, library: Library, query: Query) -> Reading:
    """Count the cells of an eager frame."""
    check_labels(frame, library, query)
    n = library.height(frame)
    if are_worth_a_guess(n) and _may_be_scores(frame, library, query):
        sample = replace(
            query, by=(), cluster=None, margins=False, missing="drop", sample_weight=None
        )
        rows = library.every(frame, step_of_sample(n))
        _read(rows, library, sample, guess=False)  # whatever else is wrong with them
    try:
        return _read(frame, library, query, guess=True)
    except MisjudgedRangeError:
        return _read(frame, library, query, guess=False)


def _read(frame: Frame, library: Library, query: Query, *, guess: bool) -> Reading:
    columns = encode_or_leave(frame, library, query, guess=guess)
    if columns is None:
        return _by_engine(cast(pl.DataFrame, frame), library, query)
    return read_encoded(columns, measures(frame, library, query), frame, library, query)


def read_encoded(
    columns: Mapping[Name, Column],
    carried: Measures,
    frame: Frame,
    library: Library,
    query: Query,
) -> Reading:
    """Count the cells of an eager frame whose by-columns and labels are encoded."""
    dtypes = {name: library.dtype(frame, name) for name in query.label_columns}
    parts = [_Part(slice(None), carried, names) for names in query.outcomes]
    return _assemble(columns, query.keys, query.label_columns, parts, library, dtypes, query)


def _may_be_scores(frame: Frame, library: Library, query: Query) -> bool:
    """Tell whether a sample of rows could show that scores are given in the place of labels.

    Of rows with counts, those that stand for none would have to be left out first.
    """
    return query.counts is None and any(
        library.label_kind(frame, name) == "number" and not library.has_codes(frame, name)
        for name in query.label_columns
    )


def check_labels(frame: Frame, library: Library, query: Query) -> None:
    """Raise where the columns of labels cannot hold labels, or not of one kind."""
    kinds = {f"column {name!r}": library.label_kind(frame, name) for name in query.label_columns}
    check_kinds(kinds | ({"labels=": kind_of(query.labels[0])} if query.labels else {}))


def read_reduced(cells: Frame, library: Library, query: Query) -> Reading:
    """Count the cells that an engine has summed already."""
    carried = measures_of(cells, library, query)
    by = [group_by.by_key(i) for i in range(len(query.keys))]
    outcomes = [group_by.outcome_key(model) for model in range(len(query.y_pred))]
    holders = (group_by.ACTUAL, *outcomes) if query.has_truth else tuple(outcomes)
    key_of = dict(zip(query.keys, by, strict=True))
    period = key_of.get(PERIOD) if query.every is not None else None
    columns = encode(cells, [key for key in (*by, *holders) if key != period], library)
    if period is not None:
        columns |= periods(cells, period, library, query, period)
    batches, parts = group_by.batches(query), []
    batch_of_row = None if len(batches) == 1 else library.numbers(cells, group_by.BATCH)[0]
    for number, batch in enumerate(batches):
        rows = slice(None) if batch_of_row is None else np.flatnonzero(batch_of_row == number)
        sums = carried.at(rows)
        for position in batch:
            keys = [group_by.outcome_key(query.y_pred.index(n)) for n in query.outcomes[position]]
            parts.append(_Part(rows, sums, keys))
    of_labels = zip(query.label_columns, holders, strict=True)
    dtypes = {name: library.dtype(cells, key) for name, key in of_labels}
    return _assemble(columns, by, holders, parts, library, dtypes, query)


def _by_engine(frame: pl.DataFrame, library: Library, query: Query) -> Reading:
    """Have polars group the rows by the values themselves."""
    read(frame.clear(), library, query)  # names the columns of a wrong type
    cells = group_by.reduce(nw.from_native(frame.lazy()), query).collect(engine="streaming")
    return read_reduced(cells.to_native(), library, query)


def _assemble(
    columns: Mapping[Name, Column],
    by: Sequence[Name],
    holders: Sequence[Name],
    parts: Sequence[_Part],
    library: Library,
    dtypes: Mapping[Name, DType],
    query: Query,
) -> Reading:
    """Count each model's rows, agree on the labels, and put the models together.

    The keys of `columns` are `by`, of which the last may be that of clusters, and `holders`, the
    columns of labels; the query has their names.
    """
    of_labels = [
        LabelColumn(name, columns[key].levels, dtypes[name])
        for name, key in zip(query.label_columns, holders, strict=True)
    ]
    counted = [_count(columns, by, holders, part, query) for part in parts]
    agreed = agree(counted, of_labels, library, query)
    models = cells_of(counted, agreed)
    levels = {name: columns[key].levels for name, key in zip(query.keys, by, strict=True)}
    if query.several:
        levels[MODEL] = library.text(query.models)
        models = [cells.labelled(model, first=False) for model, cells in enumerate(models)]
    cells = Cells.concat(models).regrouped()
    cells, left, held = with_clusters(cells, levels, library, query)
    clusters = None if held is None else ClusterCells(held, levels[query.cluster])
    is_doubtful = query.has_truth and query.labels is None
    doubts = doubts_of(counted, of_labels, agreed) if is_doubtful else ()
    return Reading(cells, agreed.labels, left, library, query, dtypes, doubts, clusters)


def _count(
    columns: Mapping[Name, Column],
    by: Sequence[Name],
    holders: Sequence[Name],
    part: _Part,
    query: Query,
) -> Counted:
    """Count rows by positions among the levels; those of no cluster are left out."""
    of_labels = (holders[0] if query.has_truth else part.outcomes[0], *part.outcomes)
    encoded = {key: columns[key] for key in (*by, *of_labels)}
    codes = [replace(o.codes, values=o.codes.values[part.rows]) for o in encoded.values()]
    counted, sums = count(codes, part.measures)
    positions = {
        key: one.ranked(code) for (key, one), code in zip(encoded.items(), counted, strict=True)
    }
    if query.cluster is not None:
        in_none = positions[by[-1]] == len(columns[by[-1]].levels)
        if not query.drops_missing:
            raise_null(query.cluster, int(sums.counted[in_none].sum()))
        sums = sums.losing(in_none) if in_none.any() else sums
    return Counted(
        tuple(positions[key] for key in by),
        tuple(positions[key] for key in of_labels),
        tuple(holders.index(key) for key in of_labels),
        sums,
    )
