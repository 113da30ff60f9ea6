"""How the rows of an eager frame are counted: what chooses among the ways, and a hash table.

Columns become codes by their values, or by a hash table of these; or polars groups the rows by
the values themselves. Rows of equal codes are added up in one of the ways of the core, or in a
hash table. The sizes that decide are those of `balframe.core.counting_strategy`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import cast

import numpy as np
import polars as pl

from balframe.core import counting_strategy
from balframe.core.group_sum import Grouped, aggregate
from balframe.core.integer_codes import Codes
from balframe.core.row_sums import Measures, check_total
from balframe.core.threads import on_all_cores
from balframe.frames.adapter import Column, Frame, Library, Name
from balframe.frames.forks import is_fork
from balframe.frames.query import PERIOD, Query


def encode_or_leave(
    frame: Frame,
    library: Library,
    query: Query,
    *,
    guess: bool,
) -> dict[Name, Column] | None:
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
    frame: Frame, name: Name | None, library: Library, query: Query, key: Name = PERIOD
) -> dict[Name, Column]:
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
    return {key: Column(Codes(codes, 0, len(levels) + 1), library.dates(levels))}


def encode(frame: Frame, names: Iterable[Name], library: Library) -> dict[Name, Column]:
    """Take codes from the values where they allow it, and hash the others."""
    distinct = list(dict.fromkeys(names))
    with_codes = {name for name in distinct if library.has_codes(frame, name)}

    def one(name: Name) -> Column:
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
    library: Library,
    *,
    guess: bool,
) -> dict[Name, Column] | None:
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
