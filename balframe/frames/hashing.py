"""Many rows that no table of all possible cells can count: a hash table adds them up."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from balframe.core.aggregate import are_slow
from balframe.core.codes import Codes
from balframe.core.measures import Measures, check_total
from balframe.frames.forks import is_fork

MANY_ROWS = 50_000


def hashed(columns: Sequence[Codes], measures: Measures) -> tuple[Sequence[Codes], Measures]:
    """Add up rows with equal codes, where they are many and would have to be put in order."""
    is_few = len(columns[0].values) < MANY_ROWS
    if is_few or is_fork() or not are_slow(columns, measures):
        return columns, measures
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
