"""How rows are counted: the sizes from which each strategy is faster, and the choice of one.

The sizes are measured. They decide what is fast, and never what the counts are.
"""

from collections.abc import Sequence
from typing import Any, Literal

import numpy.typing as npt

from balframe.core.integer_codes import LARGEST_KEY, Codes, MisjudgedRangeError, n_keys
from balframe.core.row_sums import RowSums

FEW_LEVELS = 2**16  # a range so small that its values are codes in a column of any length
LONG_COLUMN = 2**18  # rows from which looking at a sample first saves time
SAMPLE = 2**14  # the most values in that sample
SMALL_TABLE = 2**16  # groups whose sums stay in cache, so that each core can have its own
BLOCK = 2**18  # rows at a time: keys stay in cache, and threads seldom wait for each other
MIN_TO_SHARE = 2**21  # rows from which several cores gain more than their threads cost
LARGEST_TABLE = 2**22  # counts in a table; past it only those that occur are kept
GROUPS_OF_A_ROW = 4  # so many times more groups than rows are still added up in a table
WIDE_TABLE = 2**26  # the most groups of such a table
MERGED = 64  # levels of columns that are counted together: more leave the table less in cache
MIN_TO_HASH = 50_000  # rows from which a hash table or an engine beats putting them in order
TIES = 2**16  # ties at a time: fewer would have threads wait for each other, more leave the cache
SEGMENTS = 2**13  # segments at a time: what their limits need stays in cache
MIN_SEGMENTS = 2**14  # from which scoring equal ones once may gain more than finding them costs

Strategy = Literal["table", "runs", "order"]


def choose_strategy(columns: Sequence[Codes], measures: RowSums) -> Strategy:
    """Choose how to add up rows with equal codes.

    A table of all possible groups is quickest, and may be larger if rows have counts or weights:
    putting those in order takes longer. Rows without them need no order: their keys are sorted
    alone. Only merging columns into a table or into runs checks a guess, so no guess is put in
    order.
    """
    size, rows = n_keys(columns), len(columns[0].values)
    if suits_key_table(size, rows) and size <= LARGEST_TABLE:
        return "table"
    if not measures.is_plain and suits_group_table(size, rows):
        return "table"
    if measures.is_plain and size <= LARGEST_KEY:
        return "runs"
    if any(column.is_guess for column in columns):
        raise MisjudgedRangeError
    return "order"


def most_levels(rows: int) -> int:
    """Return the largest range that integers may span and be their own codes."""
    return max(rows, FEW_LEVELS)


def most_categories(rows: int) -> int:
    """Return the same for categories in order of first use, whose whole range has to be sorted."""
    return rows


def fits_in_cache(groups: int) -> bool:
    """Return whether the sums of so many groups stay in cache, so that each core has its own."""
    return groups <= SMALL_TABLE


def suits_group_table(groups: int, rows: int) -> bool:
    """Return whether adding up in a table of all groups beats putting the rows in order."""
    return groups <= max(rows, min(GROUPS_OF_A_ROW * rows, WIDE_TABLE))


def suits_key_table(keys: int, rows: int) -> bool:
    """Return whether a table of all keys beats putting the rows in order."""
    return keys <= max(rows, SMALL_TABLE)


def should_sample(rows: int) -> bool:
    """Return whether a column is so long that looking at a sample first pays."""
    return rows >= LONG_COLUMN


def sample(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Take some values of a long column, evenly spread, to guess the range of all."""
    return values[:: sample_step(len(values))]


def sample_step(rows: int) -> int:
    """Return how far apart the rows of a sample are."""
    return rows // SAMPLE + 1


def should_share(rows: int) -> bool:
    """Return whether sharing rows out among the cores pays."""
    return rows >= MIN_TO_SHARE


def should_hash(rows: int) -> bool:
    """Return whether a hash table pays for rows that would have to be put in order."""
    return rows >= MIN_TO_HASH


def should_find_equal_segments(segments: int) -> bool:
    """Return whether it pays to look for segments that are equal, to score them once."""
    return segments >= MIN_SEGMENTS


def blocks(part: slice, size: int) -> list[slice]:
    """Cut a span of rows into blocks of so many."""
    return [
        slice(start, min(start + size, part.stop)) for start in range(part.start, part.stop, size)
    ]
