"""Groupings: the subsets of columns that rows are added up by, for margins and for slices."""

from collections.abc import Iterable
from itertools import combinations
from math import comb

Grouping = tuple[int, ...]  # the positions of the columns that are kept, ascending


def column_subsets(n_columns: int, sizes: Iterable[int]) -> list[Grouping]:
    """List the subsets of these sizes, one size after the other."""
    columns = range(n_columns)
    return [kept for size in sizes for kept in combinations(columns, size)]


def n_column_subsets(n_columns: int, sizes: Iterable[int]) -> int:
    """Count them."""
    return sum(comb(n_columns, size) for size in sizes)
