"""Conditions as numbers, which engines add up."""

import narwhals as nw


def indicator(condition: nw.Expr) -> nw.Expr:
    """Make 1 of true and 0 of all else; not every engine casts a boolean to a number."""
    one, nought = nw.lit(1, nw.Int64), nw.lit(0, nw.Int64)
    return nw.when(condition).then(one).otherwise(nought)
