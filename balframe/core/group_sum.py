"""Group rows by integer codes and add up their values: the one loop over rows."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce

import numpy as np

from balframe.core import counting_strategy
from balframe.core.array_types import Counts, Int64Array, IntegerArray
from balframe.core.integer_codes import (
    LARGEST_KEY,
    Codes,
    codes_from_zero,
    key_dtype,
    n_keys,
    narrow_key,
    ravel,
    unravel,
    write_keys,
)
from balframe.core.row_sums import RowSums, check_count_total
from balframe.core.threads import row_spans, run_on_all_cores

Grouped = tuple[tuple[Int64Array, ...], RowSums]


def sum_by_group(columns: Sequence[Codes], measures: RowSums) -> Grouped:
    """Group rows by their codes, in ascending order of the codes, and add up the measures.

    Groups that stand for no row at all are left out. Returns the codes of each column, one for
    each group, and the sums.
    """
    check_count_total(measures.n)
    check_count_total(measures.missing)
    add_up = _WAYS[counting_strategy.choose_strategy(columns, measures)]
    codes, sums = add_up(columns, measures)
    rescaled = sums.summable()
    if rescaled is not sums:
        return add_up(columns, measures.in_units_of(rescaled.exponent))
    return codes, sums


def is_grouped(columns: Sequence[Codes], measures: RowSums) -> bool:
    """Return whether each row is a group, in ascending order, that stands for some rows."""
    rows = len(columns[0].values)
    if n_keys(columns) > LARGEST_KEY or len(_standing_for_rows(measures)) < rows:
        return False
    key = narrow_key(columns, rows)
    return bool((key[1:] > key[:-1]).all())


def _in_table(columns: Sequence[Codes], measures: RowSums) -> Grouped:
    """Add rows up in an array of all possible groups, on all cores if it is small."""
    size, rows = n_keys(columns), len(columns[0].values)

    def add_up(part: slice) -> RowSums:
        sums = _zeros(measures, size)
        most = min(part.stop - part.start, counting_strategy.BLOCK)
        keys = np.empty((2, most), key_dtype(columns))
        places = np.empty(most, np.intp)  # made once: numpy would copy the keys for every sum
        for block in counting_strategy.blocks(part, counting_strategy.BLOCK):
            length = block.stop - block.start
            key, place = keys[0, :length], places[:length]
            write_keys(columns, block, key, keys[1, :length])
            np.copyto(place, key)
            _add_block(sums, place, measures.at(block).with_squares())
        return sums

    shares = row_spans(rows) if counting_strategy.fits_in_cache(size) else [slice(0, rows)]
    sums = reduce(_add_sums, run_on_all_cores(add_up, shares))
    keys = _standing_for_rows(sums)
    return unravel(keys, [column.size for column in columns]), sums.at(keys)


def _in_runs(columns: Sequence[Codes], _: RowSums) -> Grouped:
    """Sort the keys of rows that count as one each; a group is a run of equal keys."""
    rows = len(columns[0].values)
    key: IntegerArray = np.empty(rows, key_dtype(columns))

    def write_sorted(part: slice) -> None:
        spare = np.empty_like(key[: counting_strategy.BLOCK])
        for block in counting_strategy.blocks(part, counting_strategy.BLOCK):
            write_keys(columns, block, key[block], spare[: block.stop - block.start])
        key[part].sort()

    shares = row_spans(rows)
    run_on_all_cores(write_sorted, shares)
    if len(shares) > 1:
        key.sort(kind="stable")  # which merges what is sorted
    starts = _starts(key)
    n = np.empty_like(starts)
    np.subtract(starts[1:], starts[:-1], out=n[:-1])
    n[-1:] = rows - starts[-1:]
    return unravel(key[starts], [column.size for column in columns]), RowSums(n)


def _in_order(columns: Sequence[Codes], measures: RowSums) -> Grouped:
    """Put rows in the order of their keys, and add up those that are equal."""
    key = ravel(columns)
    # Sums of floats depend on their order, which is then that of the rows; it takes twice as long.
    order = np.argsort(key, kind=None if measures.weight is None else "stable")
    starts = _starts(key[order])
    ordered = measures.at(order).with_squares()
    n = np.ones(len(key), np.int64) if ordered.n is None else ordered.n
    with np.errstate(over="ignore"):
        sums = replace(
            ordered,
            n=np.add.reduceat(n, starts),
            missing=_reduced(ordered.missing, starts),
            weight=_reduced(ordered.weight, starts),
            weight_sq=_reduced(ordered.weight_sq, starts),
            weight_max=_reduced(ordered.weight_max, starts, np.maximum),
        )
    kept = _standing_for_rows(sums)
    first = order[starts[kept]]
    return tuple(codes_from_zero(column, first) for column in columns), sums.at(kept)


_WAYS: dict[counting_strategy.Strategy, Callable[[Sequence[Codes], RowSums], Grouped]] = {
    "table": _in_table,
    "runs": _in_runs,
    "order": _in_order,
}


def _reduced(
    values: Counts | None, starts: Int64Array, combine: np.ufunc = np.add
) -> Counts | None:
    return None if values is None else combine.reduceat(values, starts)


def _zeros(measures: RowSums, size: int) -> RowSums:
    is_weighted = measures.weight is not None
    return replace(
        measures,
        n=np.zeros(size, np.int64),
        missing=None if measures.missing is None else np.zeros(size, np.int64),
        weight=np.zeros(size) if is_weighted else None,
        weight_sq=np.zeros(size) if is_weighted and measures.keeps_squares else None,
        weight_max=np.zeros(size) if is_weighted and measures.keeps_squares else None,
    )


def _add_block(sums: RowSums, key: IntegerArray, part: RowSums) -> None:
    _add(sums.row_counts, key, part.n)
    if sums.missing is not None:
        _add(sums.missing, key, part.missing)
    with np.errstate(over="ignore"):
        for total, values in ((sums.weight, part.weight), (sums.weight_sq, part.weight_sq)):
            if total is not None:
                _add(total, key, values)
    if sums.weight_max is not None and part.weight_max is not None:
        np.maximum.at(sums.weight_max, key, part.weight_max)


def _add(total: Counts, key: IntegerArray, values: Counts | None) -> None:
    """Add values, or one for each row, to the totals at the keys; integers never go by a float."""
    is_counted = values is not None and values.dtype.kind != "f"
    if is_counted or len(total) > len(key):
        np.add.at(total, key, 1 if values is None else values)
    else:
        np.add(total, np.bincount(key, values, len(total)), out=total)


def _add_sums(left: RowSums, right: RowSums) -> RowSums:
    """Add sums over the same groups."""

    def plus(a: Counts | None, b: Counts | None, combine: np.ufunc = np.add) -> Counts | None:
        return None if a is None or b is None else combine(a, b)

    with np.errstate(over="ignore"):
        return replace(
            left,
            n=plus(left.n, right.n),
            missing=plus(left.missing, right.missing),
            weight=plus(left.weight, right.weight),
            weight_sq=plus(left.weight_sq, right.weight_sq),
            weight_max=plus(left.weight_max, right.weight_max, np.maximum),
        )


def _starts(key: IntegerArray) -> Int64Array:
    """Find where runs of equal keys begin."""
    changes = np.ones(len(key), np.bool_)
    np.not_equal(key[1:], key[:-1], out=changes[1:])
    return np.flatnonzero(changes)


def _standing_for_rows(sums: RowSums) -> Int64Array:
    n = sums.row_counts
    return np.flatnonzero(n if sums.missing is None else n | sums.missing)
