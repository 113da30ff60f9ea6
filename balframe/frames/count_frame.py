"""Count a frame: encode its columns, count rows, and agree on the labels."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import narwhals as nw
import numpy as np
import polars as pl

from balframe.core import counting_strategy
from balframe.core.array_types import RowIndex
from balframe.core.cells import Cells
from balframe.core.counting_strategy import sample_step, should_sample
from balframe.core.group_sum import Grouped, sum_by_group
from balframe.core.integer_codes import Codes, MisjudgedRangeError
from balframe.core.row_sums import RowSums, check_count_total
from balframe.core.threads import run_on_all_cores
from balframe.errors import Message
from balframe.frames.adapter import (
    Adapter,
    DType,
    EncodedColumn,
    Frame,
    Name,
    odd_days_error,
)
from balframe.frames.counted_frame import ClusterCells, CountedFrame
from balframe.frames.engines import group_by
from balframe.frames.engines.group_by import ACTUAL, by_key, outcome_key
from balframe.frames.engines.weighted_sums import read_sums
from balframe.frames.fork_detection import is_fork
from balframe.frames.label_agreement import (
    LabelColumn,
    LevelCounts,
    agree_on_labels,
    check_label_kinds,
    to_cells,
)
from balframe.frames.label_warnings import label_mismatch_warnings
from balframe.frames.polars_encoding import unnamed
from balframe.frames.query import MODEL, Query
from balframe.frames.rollups import add_margins_by_cluster
from balframe.frames.row_weights import raise_null, read_row_sums

# Counts of two labels by sums of booleans, which several by-columns group by sooner in polars.


_N = "n_low"  # as the group-by of engines names numbers of rows
_LABELS = ACTUAL, outcome_key(0)


def sum_two_labels(frame: pl.DataFrame, query: Query) -> pl.DataFrame | None:
    """Return the cells of rows whose labels are two numbers or flags; None if they are not.

    A few rows show which labels there are. If all pairs of these are not all rows, there are more.
    """
    if len(query.keys) < 2 or len(query.y_pred) > 1 or not query.has_truth:
        return None
    if query.counts is not None or query.sample_weight is not None:
        return None
    label_columns = [unnamed(frame, str(name)) for name in query.label_columns]
    labels = _two_labels(label_columns)
    if labels is None:
        return None
    keys = {by_key(i): unnamed(frame, str(name)) for i, name in enumerate(query.key_columns)}
    columns = keys | dict(zip(_LABELS, label_columns, strict=True))
    pairs = {f"pair{i}": pair for i, pair in enumerate((a, b) for a in labels for b in labels)}
    sums = {
        name: ((pl.col(_LABELS[0]) == actual) & (pl.col(_LABELS[1]) == outcome)).sum()
        for name, (actual, outcome) in pairs.items()
    }
    groups = pl.LazyFrame(columns).group_by(*keys).agg(**sums).collect(engine="streaming")
    if groups.select(*pairs).sum().sum_horizontal().item() != frame.height:
        return None
    parts = [
        groups.select(
            *keys,
            *(
                pl.lit(label).cast(columns[column].dtype).alias(column)
                for column, label in zip(_LABELS, pair, strict=True)
            ),
            pl.col(name).cast(pl.Int64).alias(_N),
        )
        for name, pair in pairs.items()
    ]
    cells = pl.concat(parts)
    return cells.filter(cells[_N] > 0)


def _two_labels(columns: Sequence[pl.Series]) -> list[Any] | None:
    """Return the labels of a few rows, if they are two."""
    if any(
        not (column.dtype.is_integer() or column.dtype == pl.Boolean) or column.null_count()
        for column in columns
    ):
        return None
    samples = [column.gather_every(sample_step(len(column))).unique() for column in columns]
    labels = sorted({label for some in samples for label in some})
    return labels if len(labels) == 2 else None


def count_frame(frame: Frame, adapter: Adapter, query: Query) -> CountedFrame:
    """Count the cells of an eager frame."""
    check_label_columns(frame, adapter, query)
    n = adapter.n_rows(frame)
    if should_sample(n) and _may_be_scores(frame, adapter, query):
        sample = replace(
            query, by=(), cluster=None, margins=False, missing="drop", sample_weight=None
        )
        rows = adapter.gather_every(frame, sample_step(n))
        _encode_and_count(rows, adapter, sample, guess=False)  # raises if they are scores
    try:
        return _encode_and_count(frame, adapter, query, guess=True)
    except MisjudgedRangeError:
        return _encode_and_count(frame, adapter, query, guess=False)


def _may_be_scores(frame: Frame, adapter: Adapter, query: Query) -> bool:
    """Return whether a sample of rows could show that scores are given in place of labels.

    Not with `counts`: rows with a count of 0 would have to be left out first.
    """
    return query.counts is None and any(
        adapter.label_kind(frame, name) == "number" and not adapter.has_direct_codes(frame, name)
        for name in query.label_columns
    )


def check_label_columns(frame: Frame, adapter: Adapter, query: Query) -> None:
    """Raise if the columns of labels cannot hold labels, or not of one kind."""
    check_label_kinds(
        {name: adapter.label_kind(frame, name) for name in query.label_columns}, query
    )


def _encode_and_count(frame: Frame, adapter: Adapter, query: Query, *, guess: bool) -> CountedFrame:
    columns = _encode_unless_grouped(frame, adapter, query, guess=guess)
    if columns is None:
        return _count_in_polars(cast(pl.DataFrame, frame), adapter, query)
    return count_encoded(columns, read_row_sums(frame, adapter, query), frame, adapter, query)


def _count_in_polars(frame: pl.DataFrame, adapter: Adapter, query: Query) -> CountedFrame:
    """Count by a group-by of polars on the values themselves."""
    count_frame(frame.clear(), adapter, query)  # raises for wrong types
    cells = sum_two_labels(frame, query)
    if cells is None:
        by = query.key_columns
        plain = replace(query, by=by if query.cluster is None else by[:-1], computed={})
        reduced = group_by.reduce(nw.from_native(frame.lazy()), plain)
        cells = reduced.collect(engine="streaming").to_native()
    return count_reduced(cells, adapter, query)


def _encode_unless_grouped(
    frame: Frame,
    adapter: Adapter,
    query: Query,
    *,
    guess: bool,
) -> dict[Name, EncodedColumn] | None:
    """Encode the by-columns and labels; None if a group-by of polars is faster.

    It is if many rows need a hash table, or a copy because they are in several chunks.
    """
    names = [*query.key_columns, *query.label_columns]
    if not _is_chunked(frame, query):
        columns = _encode_direct(frame, names, adapter, guess=guess)
        if columns is not None:
            return columns
    if isinstance(frame, pl.DataFrame) and counting_strategy.should_hash(frame.height):
        return None
    return encode_columns(frame, names, adapter)


def _encode_direct(
    frame: Frame,
    names: Iterable[Name],
    adapter: Adapter,
    *,
    guess: bool,
) -> dict[Name, EncodedColumn] | None:
    """Take codes from the values themselves; None if a column needs a hash table.

    Of long columns, a guess at the range is enough, because counting notices a wrong one.
    """
    distinct = list(dict.fromkeys(names))
    if not all(adapter.has_direct_codes(frame, name) for name in distinct):
        return None
    guess = guess and counting_strategy.should_sample(adapter.n_rows(frame))
    attempts = {name: adapter.encode_direct(frame, name, guess=guess) for name in distinct}
    columns = {name: column for name, column in attempts.items() if column is not None}
    return columns if len(columns) == len(attempts) else None


def _is_chunked(frame: Frame, query: Query) -> bool:
    """Return whether counting would have to copy many rows of polars into one chunk first."""
    if not isinstance(frame, pl.DataFrame) or not counting_strategy.should_share(frame.height):
        return False
    is_plain = query.counts is None and query.sample_weight is None
    names = cast(tuple[str, ...], query.columns)
    return is_plain and any(frame.get_column(name).n_chunks() > 1 for name in names)


def encode_columns(
    frame: Frame, names: Iterable[Name], adapter: Adapter
) -> dict[Name, EncodedColumn]:
    """Encode columns: take codes from the values where possible, and hash the others."""
    distinct = list(dict.fromkeys(names))
    with_codes = {name for name in distinct if adapter.has_direct_codes(frame, name)}

    def encode(name: Name) -> EncodedColumn:
        direct = adapter.encode_direct(frame, name, guess=False) if name in with_codes else None
        return direct or adapter.encode_hashed(frame, name)

    # a single hash table may itself be divided among the cores
    is_alone = len(distinct) - len(with_codes) < 2
    if is_alone or not counting_strategy.should_share(adapter.n_rows(frame) * len(distinct)):
        return {name: encode(name) for name in distinct}
    return dict(zip(distinct, run_on_all_cores(encode, distinct), strict=True))


def with_computed(frame: Frame, adapter: Adapter, query: Query) -> Frame:
    """Add the by-columns that are computed to an eager frame; raise for dates beyond Python."""
    check_days(frame, {name: name for name in query.key_and_label_columns}, adapter)
    columns: dict[str, Any] = {
        query.added_column(key): entry.column_of(frame, adapter)
        for key, entry in query.computed.items()
    }
    return adapter.with_columns(frame, columns) if columns else frame


def with_computed_cells(cells: Frame, adapter: Adapter, query: Query) -> Frame:
    """Replace what an engine has grouped by, in place of computed by-columns, by their values."""
    names = {by_key(i): query.source_column(name) for i, name in enumerate(query.keys)}
    outcomes = () if query.scores else map(outcome_key, range(len(query.y_pred)))
    keys = (ACTUAL, *outcomes) if query.has_truth else outcomes
    names |= dict(zip(keys, query.label_columns, strict=True))
    check_days(cells, names, adapter)
    columns: dict[str, Any] = {
        key: query.computed[name].column_of_cells(cells, key, adapter)
        for name, key in zip(query.keys, map(group_by.by_key, range(len(query.keys))), strict=True)
        if name in query.computed
    }
    return adapter.with_columns(cells, columns) if columns else cells


def check_days(frame: Frame, names: Mapping[Any, Name], adapter: Adapter) -> None:
    """Raise for dates that Python cannot show; `names` has those of the columns in errors."""
    for column in adapter.column_names(frame):
        if column in names and adapter.has_odd_days(frame, column):
            raise odd_days_error(names[column])


@dataclass(frozen=True)
class _ModelRows:
    """The rows of one model: their positions, their sums, and its columns of predictions."""

    rows: RowIndex
    row_sums: RowSums
    outcomes: Sequence[Name]


def count_encoded(
    columns: Mapping[Name, EncodedColumn],
    row_sums: RowSums,
    frame: Frame,
    adapter: Adapter,
    query: Query,
) -> CountedFrame:
    """Count the cells of an eager frame whose by-columns and labels are encoded."""
    dtypes = {name: adapter.dtype(frame, name) for name in query.label_columns}
    parts = [_ModelRows(slice(None), row_sums, names) for names in query.outcomes]
    return _assemble(columns, query.key_columns, query.label_columns, parts, adapter, dtypes, query)


def count_reduced(cells: Frame, adapter: Adapter, query: Query) -> CountedFrame:
    """Count the cells that an engine has summed."""
    row_sums = read_sums(cells, adapter, query)
    by = [group_by.by_key(i) for i in range(len(query.keys))]
    outcomes = [group_by.outcome_key(model) for model in range(len(query.y_pred))]
    label_keys = (group_by.ACTUAL, *outcomes) if query.has_truth else tuple(outcomes)
    columns = encode_columns(cells, [*by, *label_keys], adapter)
    batches, parts = group_by.model_batches(query), []
    row_batches = None if len(batches) == 1 else adapter.numbers(cells, group_by.BATCH)[0]
    for number, batch in enumerate(batches):
        rows = slice(None) if row_batches is None else np.flatnonzero(row_batches == number)
        sums = row_sums.at(rows)
        for position in batch:
            keys = [group_by.outcome_key(query.y_pred.index(n)) for n in query.outcomes[position]]
            parts.append(_ModelRows(rows, sums, keys))
    dtypes = {
        name: adapter.dtype(cells, key)
        for name, key in zip(query.label_columns, label_keys, strict=True)
    }
    return _assemble(columns, by, label_keys, parts, adapter, dtypes, query)


def _assemble(
    columns: Mapping[Name, EncodedColumn],
    by: Sequence[Name],
    label_keys: Sequence[Name],
    parts: Sequence[_ModelRows],
    adapter: Adapter,
    dtypes: Mapping[Name, DType],
    query: Query,
) -> CountedFrame:
    """Count the rows of each model, agree on the labels, and join the models.

    The keys of `columns` are `by`, of which the last may be the clusters, and `label_keys`, the
    columns of labels; the query has their names.
    """
    label_columns = [
        LabelColumn(name, columns[key].levels, dtypes[name])
        for name, key in zip(query.label_columns, label_keys, strict=True)
    ]
    counts = [_count_levels(columns, by, label_keys, part, query) for part in parts]
    agreement = agree_on_labels(counts, label_columns, adapter, query)
    models = to_cells(counts, agreement)
    warnings: tuple[Message, ...] = ()
    if query.has_truth and query.labels is None and not query.strata:
        own = {name: columns[key].levels for name, key in zip(query.by, by, strict=False)}
        warnings = label_mismatch_warnings(models, query, agreement.labels, own, adapter)
    levels = {name: columns[key].levels for name, key in zip(query.keys, by, strict=True)}
    if query.has_several_models:
        levels[MODEL] = adapter.text_series(query.model_names)
        models = [
            cells.with_constant_column(model, first=False) for model, cells in enumerate(models)
        ]
    cells = Cells.concat(models).regrouped()
    cells, by_levels, cluster_cells = add_margins_by_cluster(cells, levels, adapter, query)
    clusters = None if cluster_cells is None else ClusterCells(cluster_cells, levels[query.cluster])
    return CountedFrame(
        cells, agreement.labels, by_levels, adapter, query, dtypes, warnings, clusters
    )


def _count_levels(
    columns: Mapping[Name, EncodedColumn],
    by: Sequence[Name],
    label_keys: Sequence[Name],
    part: _ModelRows,
    query: Query,
) -> LevelCounts:
    """Count rows by positions among the levels; rows without a cluster are left out."""
    outcome_keys = (label_keys[0] if query.has_truth else part.outcomes[0], *part.outcomes)
    encoded = {key: columns[key] for key in (*by, *outcome_keys)}
    codes = [
        replace(column.codes, values=column.codes.values[part.rows]) for column in encoded.values()
    ]
    group_codes, sums = count_rows(codes, part.row_sums)
    positions = {
        key: column.level_positions(codes)
        for (key, column), codes in zip(encoded.items(), group_codes, strict=True)
    }
    if query.cluster is not None:
        is_null = positions[by[-1]] == len(columns[by[-1]].levels)
        if not query.drops_missing:
            raise_null(query.cluster, int(sums.row_counts[is_null].sum()))
        sums = sums.losing(is_null) if is_null.any() else sums
    return LevelCounts(
        tuple(positions[key] for key in by),
        tuple(positions[key] for key in outcome_keys),
        tuple(label_keys.index(key) for key in outcome_keys),
        sums,
    )


def count_rows(columns: Sequence[Codes], row_sums: RowSums) -> Grouped:
    """Add up rows with equal codes, as `sum_by_group` does; many in a hash table first."""
    if _are_worth_hashing(columns, row_sums):
        columns, row_sums = hash_rows(columns, row_sums)
    return sum_by_group(columns, row_sums)


def _are_worth_hashing(columns: Sequence[Codes], row_sums: RowSums) -> bool:
    """Return whether many rows would have to be sorted; a fork cannot run a query."""
    are_many = counting_strategy.should_hash(len(columns[0].values))
    return (
        are_many
        and not is_fork()
        and counting_strategy.choose_strategy(columns, row_sums) == "order"
    )


def hash_rows(columns: Sequence[Codes], row_sums: RowSums) -> tuple[Sequence[Codes], RowSums]:
    """Add up rows with equal codes in a hash table of polars, so that fewer are left to sort."""
    check_count_total(row_sums.n)
    check_count_total(row_sums.missing)
    row_sums = row_sums.summable().with_squares()
    keys = {f"key{i}": column.values for i, column in enumerate(columns)}
    arrays = {
        "n": row_sums.n,
        "missing": row_sums.missing,
        "weight": row_sums.weight,
        "weight_sq": row_sums.weight_sq,
        "weight_max": row_sums.weight_max,
    }
    summed = {name: array for name, array in arrays.items() if array is not None}
    sums = [pl.col(name).max() if name == "weight_max" else pl.col(name).sum() for name in summed]
    if row_sums.n is None:
        sums.append(pl.len().cast(pl.Int64).alias("n"))
    rows = pl.LazyFrame({**keys, **summed})
    cells = rows.group_by(*keys).agg(*sums).collect(engine="streaming")
    codes = [
        Codes(cells.get_column(key).to_numpy(), column.low, column.size)
        for key, column in zip(keys, columns, strict=True)
    ]
    added = {name: cells.get_column(name).to_numpy() for name in ("n", *summed)}
    return codes, replace(row_sums, **added)  # type: ignore[arg-type]
