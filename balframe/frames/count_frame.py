"""A frame to cells: encode its columns, count, and agree on the labels."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import narwhals as nw
import numpy as np
import polars as pl

from balframe.core import counting_strategy
from balframe.core.array_types import RowIndex
from balframe.core.cells import Cells
from balframe.core.counting_strategy import are_worth_a_guess, step_of_sample
from balframe.core.group_sum import Grouped, aggregate
from balframe.core.integer_codes import Codes, MisjudgedRangeError
from balframe.core.label_set import check_kinds, kind_of
from balframe.core.row_sums import Measures, check_total
from balframe.core.threads import on_all_cores
from balframe.frames.adapter import Adapter, DType, EncodedColumn, Frame, Name
from balframe.frames.counted_frame import ClusterCells, CountedFrame
from balframe.frames.engines import group_by
from balframe.frames.engines.weighted_sums import measures_of
from balframe.frames.fork_detection import is_fork
from balframe.frames.label_agreement import Counted, LabelColumn, agree, cells_of
from balframe.frames.label_warnings import doubts_of
from balframe.frames.query import MODEL, PERIOD, Query
from balframe.frames.rollups import with_clusters
from balframe.frames.row_weights import measures, raise_null

# How the rows of an eager frame are counted: what chooses among the ways, and a hash table.


def encode_or_leave(
    frame: Frame,
    library: Adapter,
    query: Query,
    *,
    guess: bool,
) -> dict[Name, EncodedColumn] | None:
    """Encode the by-columns and labels; None where polars had better group the rows itself.

    That is where many rows need a hash table, or a copy because they are in pieces.
    """
    by = (name for name in query.keys if not query.is_period(name))
    names = [*by, *query.label_columns]
    if not _are_in_pieces(frame, query):
        columns = _encode_direct(frame, names, library, guess=guess)
        if columns is not None:
            return columns | periods(frame, query.time, library, query)
    if isinstance(frame, pl.DataFrame) and counting_strategy.are_many_to_hash(frame.height):
        return None
    return encode(frame, names, library) | periods(frame, query.time, library, query)


def periods(
    frame: Frame, name: Name | None, library: Adapter, query: Query, key: Name = PERIOD
) -> dict[Name, EncodedColumn]:
    """Take the periods of a column of times as codes; nothing where none are asked for."""
    if query.every is None:
        return {}
    days, is_null = library.days(frame, name)
    starts = query.every.starts(days)
    known = starts if is_null is None else starts[~is_null]
    low, high = (int(known.min()), int(known.max())) if len(known) else (0, -1)
    levels = query.every.between(low, high) if len(known) else known
    codes = np.searchsorted(levels, starts)
    if is_null is not None:
        codes[is_null] = len(levels)
    return {key: EncodedColumn(Codes(codes, 0, len(levels) + 1), library.dates(levels))}


def encode(frame: Frame, names: Iterable[Name], library: Adapter) -> dict[Name, EncodedColumn]:
    """Take codes from the values where they allow it, and hash the others."""
    distinct = list(dict.fromkeys(names))
    with_codes = {name for name in distinct if library.has_codes(frame, name)}

    def one(name: Name) -> EncodedColumn:
        direct = library.encode_direct(frame, name, guess=False) if name in with_codes else None
        return direct or library.encode_hashed(frame, name)

    # the hash table of a column alone may be shared out among the cores itself
    is_alone = len(distinct) - len(with_codes) < 2
    if is_alone or not counting_strategy.are_many_to_share(library.height(frame) * len(distinct)):
        return {name: one(name) for name in distinct}
    return dict(zip(distinct, on_all_cores(one, distinct), strict=True))


def count(columns: Sequence[Codes], measures: Measures) -> Grouped:
    """Add up rows with equal codes, as `aggregate` does."""
    if _are_worth_hashing(columns, measures):
        columns, measures = hashed(columns, measures)
    return aggregate(columns, measures)


def _encode_direct(
    frame: Frame,
    names: Iterable[Name],
    library: Adapter,
    *,
    guess: bool,
) -> dict[Name, EncodedColumn] | None:
    """Take codes from the values themselves; None where some column needs a hash table.

    Of long columns, a guess at their range is enough where counting tells if it was wrong.
    """
    distinct = list(dict.fromkeys(names))
    if not all(library.has_codes(frame, name) for name in distinct):
        return None
    guess = guess and counting_strategy.are_worth_a_guess(library.height(frame))
    found = {name: library.encode_direct(frame, name, guess=guess) for name in distinct}
    columns = {name: column for name, column in found.items() if column is not None}
    return columns if len(columns) == len(found) else None


def _are_in_pieces(frame: Frame, query: Query) -> bool:
    """Tell whether counting would have to put many rows of polars together in a copy first."""
    if not isinstance(frame, pl.DataFrame) or not counting_strategy.are_many_to_share(frame.height):
        return False
    is_plain = query.counts is None and query.sample_weight is None
    names = cast(tuple[str, ...], query.columns)
    return is_plain and any(frame.get_column(name).n_chunks() > 1 for name in names)


def _are_worth_hashing(columns: Sequence[Codes], measures: Measures) -> bool:
    """Tell whether many rows would have to be put in order; a fork cannot run a query."""
    are_many = counting_strategy.are_many_to_hash(len(columns[0].values))
    return are_many and not is_fork() and counting_strategy.way_of(columns, measures) == "order"


def hashed(columns: Sequence[Codes], measures: Measures) -> tuple[Sequence[Codes], Measures]:
    """Add up rows with equal codes in a hash table, which leaves few of them to be ordered."""
    check_total(measures.n)
    check_total(measures.missing)
    measures = measures.summable().with_squares()
    keys = {f"key{i}": column.values for i, column in enumerate(columns)}
    arrays = {
        "n": measures.n,
        "missing": measures.missing,
        "weight": measures.weight,
        "weight_sq": measures.weight_sq,
    }
    carried = {name: array for name, array in arrays.items() if array is not None}
    sums = [pl.col(name).sum() for name in carried]
    if measures.n is None:
        sums.append(pl.len().cast(pl.Int64).alias("n"))
    rows = pl.LazyFrame({**keys, **carried})
    cells = rows.group_by(*keys).agg(*sums).collect(engine="streaming")
    codes = [
        Codes(cells.get_column(key).to_numpy(), column.low, column.size)
        for key, column in zip(keys, columns, strict=True)
    ]
    added = {name: cells.get_column(name).to_numpy() for name in ("n", *carried)}
    return codes, replace(measures, **added)  # type: ignore[arg-type]


@dataclass(frozen=True)
class _Part:
    """The rows of one model: which they are, what they carry, and its columns of predictions."""

    rows: RowIndex
    measures: Measures
    outcomes: Sequence[Name]


def read(frame: Frame, library: Adapter, query: Query) -> CountedFrame:
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


def _read(frame: Frame, library: Adapter, query: Query, *, guess: bool) -> CountedFrame:
    columns = encode_or_leave(frame, library, query, guess=guess)
    if columns is None:
        return _by_engine(cast(pl.DataFrame, frame), library, query)
    return read_encoded(columns, measures(frame, library, query), frame, library, query)


def read_encoded(
    columns: Mapping[Name, EncodedColumn],
    carried: Measures,
    frame: Frame,
    library: Adapter,
    query: Query,
) -> CountedFrame:
    """Count the cells of an eager frame whose by-columns and labels are encoded."""
    dtypes = {name: library.dtype(frame, name) for name in query.label_columns}
    parts = [_Part(slice(None), carried, names) for names in query.outcomes]
    return _assemble(columns, query.keys, query.label_columns, parts, library, dtypes, query)


def _may_be_scores(frame: Frame, library: Adapter, query: Query) -> bool:
    """Tell whether a sample of rows could show that scores are given in the place of labels.

    Of rows with counts, those that stand for none would have to be left out first.
    """
    return query.counts is None and any(
        library.label_kind(frame, name) == "number" and not library.has_codes(frame, name)
        for name in query.label_columns
    )


def check_labels(frame: Frame, library: Adapter, query: Query) -> None:
    """Raise where the columns of labels cannot hold labels, or not of one kind."""
    kinds = {f"column {name!r}": library.label_kind(frame, name) for name in query.label_columns}
    check_kinds(kinds | ({"labels=": kind_of(query.labels[0])} if query.labels else {}))


def read_reduced(cells: Frame, library: Adapter, query: Query) -> CountedFrame:
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


def _by_engine(frame: pl.DataFrame, library: Adapter, query: Query) -> CountedFrame:
    """Have polars group the rows by the values themselves."""
    read(frame.clear(), library, query)  # names the columns of a wrong type
    cells = group_by.reduce(nw.from_native(frame.lazy()), query).collect(engine="streaming")
    return read_reduced(cells.to_native(), library, query)


def _assemble(
    columns: Mapping[Name, EncodedColumn],
    by: Sequence[Name],
    holders: Sequence[Name],
    parts: Sequence[_Part],
    library: Adapter,
    dtypes: Mapping[Name, DType],
    query: Query,
) -> CountedFrame:
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
    return CountedFrame(cells, agreed.labels, left, library, query, dtypes, doubts, clusters)


def _count(
    columns: Mapping[Name, EncodedColumn],
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
