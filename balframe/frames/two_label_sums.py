"""Counts of two labels by sums of booleans, which several by-columns group by sooner in polars."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from balframe.core.counting_strategy import sample_step
from balframe.frames.engines.group_by import ACTUAL, by_key, outcome_key
from balframe.frames.polars_encoding import unnamed
from balframe.frames.query import Query

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
