"""Conditions as numbers, which engines add up."""

import narwhals as nw


def indicator(condition: nw.Expr) -> nw.Expr:
    """Write 1 where true and 0 elsewhere; not every engine casts a boolean to a number."""
    return nw.when(condition).then(nw.lit(1, nw.Int64)).otherwise(nw.lit(0, nw.Int64))
