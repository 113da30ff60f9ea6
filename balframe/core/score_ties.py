"""Ties: rows of a segment that share a score, counted by whether they are positive."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from balframe.core.array_types import BoolArray, FloatArray, Int64Array, IntegerArray
from balframe.core.cells import segment_ranges
from balframe.core.counting_strategy import should_share
from balframe.core.integer_codes import Codes, codes_from_zero, narrow_key
from balframe.core.row_sums import RowSums
from balframe.core.threads import run_on_all_cores

_SAMPLE = 101  # every so many rows estimate the median key


@dataclass(frozen=True, slots=True)
class Ties:
    """Sums over the rows of each segment with the same score, ascending by segment, then score.

    `by` has the codes of each segment and `missing` the rows that were left out of it; the other
    arrays have one entry for each tie, segments and counts in as few bytes as hold them. A segment
    without a row left has no tie.
    """

    by: tuple[Int64Array, ...]
    missing: Int64Array
    segment: IntegerArray
    score: FloatArray
    positive: RowSums
    negative: RowSums

    @property
    def n_segments(self) -> int:
        """Count the segments."""
        return len(self.missing)

    @property
    def n(self) -> Int64Array:
        """Rows of each tie."""
        return np.add(self.positive.row_counts, self.negative.row_counts, dtype=np.int64)

    def in_own_units(self) -> "Ties":
        """Let the weights of each segment be in units of about their sum.

        So running sums over segments keep the digits of the lightest. Where squares of weights
        have left the range of a float, those of the whole segment become 0.
        """
        both = (self.positive.with_squares(), self.negative.with_squares())
        weights = [side.weight for side in both if side.weight is not None]
        squares = [side.weight_sq for side in both if side.weight_sq is not None]
        largest = [side.weight_max for side in both if side.weight_max is not None]
        if not weights:
            return self
        total, is_beyond = np.zeros(self.n_segments), np.zeros(self.n_segments, np.bool_)
        for weight, square in zip(weights, squares, strict=True):
            np.add.at(total, self.segment, weight)
            np.logical_or.at(is_beyond, self.segment, np.isinf(square))
        exponent = np.frexp(total)[1][self.segment]
        scale = -2 * (exponent + self.positive.exponent)
        with np.errstate(over="ignore", under="ignore"):
            weights = [np.ldexp(weight, -exponent) for weight in weights]
            largest = [np.ldexp(weight, -exponent) for weight in largest]
            squares = [np.ldexp(np.where(is_beyond[self.segment], 0, s), scale) for s in squares]
        positive, negative = (
            RowSums(side.n, None, weight, square, weight_max)
            for side, weight, square, weight_max in zip(
                both, weights, squares, largest, strict=True
            )
        )
        return replace(self, positive=positive, negative=negative)

    def in_common_units(self) -> "Ties":
        """Let the weights of all segments be in units of about their sum, as `in_own_units` does.

        Where a square has left the range of a float, all squares become 0.
        """
        as_one = replace(self, segment=np.zeros_like(self.segment)).in_own_units()
        return replace(as_one, segment=self.segment)

    def at(self, segments: Int64Array) -> "Ties":
        """Take the segments at these positions, in this order."""
        ties, segment = segment_ranges(self.segment, self.n_segments, segments)
        return Ties(
            tuple(codes[segments] for codes in self.by),
            self.missing[segments],
            segment,
            self.score[ties],
            self.positive.at(ties),
            self.negative.at(ties),
        )

    def rolled_up(self, kept: Sequence[int], codes: Sequence[int | None]) -> "Ties":
        """Add up over by-columns: all but those `kept` get the one code given for them.

        A column whose code is None is never rolled up.
        """
        by = [
            column if code is None or i in kept else np.full_like(column, code)
            for i, (column, code) in enumerate(zip(self.by, codes, strict=True))
        ]
        lost = np.flatnonzero(self.missing)
        rows = np.concatenate([self.segment, lost])
        n_ties, n_lost = len(self.segment), len(lost)
        columns = [Codes.spanning(column[rows]) for column in by]
        ties = group_ties(
            columns,
            np.append(self.score, np.zeros(n_lost)),
            _padded(self.positive, n_lost),
            _padded(self.negative, n_lost),
            np.arange(n_ties + n_lost) < n_ties,
            np.append(np.zeros(n_ties, np.int64), self.missing[lost]),
        )
        lows = (column.low for column in columns)
        shifted = [column + low for column, low in zip(ties.by, lows, strict=True)]
        return replace(ties, by=tuple(shifted))

    def sorted_by(self, columns: Sequence[int]) -> "Ties":
        """Keep these by-columns only, in this order, and add up over the others."""
        ties = self
        if len(columns) < len(self.by):
            ties = self.rolled_up(columns, [0] * len(self.by))
        ties = replace(ties, by=tuple(ties.by[column] for column in columns))
        return ties.at(np.lexsort(ties.by[::-1])) if columns else ties

    def with_constant_column(self, code: int, *, first: bool) -> "Ties":
        """Add a by-column that holds the same code in all segments."""
        column = np.full_like(self.missing, code)
        return replace(self, by=(column, *self.by) if first else (*self.by, column))

    @classmethod
    def concat(cls, parts: Sequence["Ties"]) -> "Ties":
        """Put the segments of several parts together, ascending by their codes."""
        if len(parts) == 1:
            return parts[0]
        counts = np.cumsum([0, *(part.n_segments for part in parts)])
        joined = cls(
            tuple(
                np.concatenate(codes) for codes in zip(*(part.by for part in parts), strict=True)
            ),
            np.concatenate([part.missing for part in parts]),
            np.concatenate(
                [part.segment.astype(np.int64) + n for part, n in zip(parts, counts, strict=False)]
            ),
            np.concatenate([part.score for part in parts]),
            RowSums.concat([part.positive for part in parts]),
            RowSums.concat([part.negative for part in parts]),
        )
        return joined.at(np.lexsort(joined.by[::-1]))


def group_ties(
    by: Sequence[Codes],
    score: FloatArray,
    positive: RowSums,
    negative: RowSums,
    is_kept: BoolArray | None,
    missing: Int64Array | None,
) -> Ties:
    """Sort rows by segment and score, and add up those that are equal in both.

    Parameters
    ----------
    by, score : one of each for every row
    positive, negative : Measures
        What each row adds to the positives and to the negatives of its tie.
    is_kept : bool array or None
        Which rows are not left out; None for all.
    missing : int64 array or None
        How many rows each row that is left out stands for.
    """
    key = narrow_key(by, len(score))
    order = _sorted(key, score, is_kept)
    ordered_key, ordered_score = key[order], score[order]
    changes = np.ones(len(order), np.bool_)
    changes[1:] = ordered_key[1:] != ordered_key[:-1]
    begins = np.flatnonzero(changes)
    changes[1:] |= ordered_score[1:] != ordered_score[:-1]
    starts = None if changes.all() else np.flatnonzero(changes)
    keys, rows = ordered_key[begins], order[begins]
    ties_begin = begins if starts is None else np.searchsorted(starts, begins)
    n_ties = len(order) if starts is None else len(starts)
    lost = np.zeros(0, np.int64) if missing is None else np.flatnonzero(missing)
    every, position = np.unique(np.concatenate([keys, key[lost]]), return_inverse=True)
    example = np.zeros(len(every), np.int64)
    example[position] = np.concatenate([rows, lost])
    n_missing = np.zeros(len(every), np.int64)
    if missing is not None:
        np.add.at(n_missing, position[len(keys) :], missing[lost])
    narrow = np.min_scalar_type(len(every))
    segments = position[: len(keys)].astype(narrow)
    ordered_score = ordered_score if starts is None else ordered_score[starts]
    ordered_score += 0.0  # 0.0 for -0.0
    return Ties(
        tuple(codes_from_zero(codes, example) for codes in by),
        n_missing,
        np.repeat(segments, np.diff(np.append(ties_begin, n_ties))),
        ordered_score,
        _summed(positive, order, starts),
        _summed(negative, order, starts),
    )


def split_by_label(measures: RowSums, is_positive: BoolArray) -> tuple[RowSums, RowSums]:
    """Let rows add to the positives or to the negatives."""
    measures = measures.summable().with_squares()
    return _where(measures, is_positive), _where(measures, ~is_positive)


def _where(measures: RowSums, rows: BoolArray) -> RowSums:
    return RowSums(
        rows if measures.n is None else np.where(rows, measures.n, 0),  # type: ignore[arg-type]
        weight=None if measures.weight is None else np.where(rows, measures.weight, 0),
        weight_sq=None if measures.weight_sq is None else np.where(rows, measures.weight_sq, 0),
        weight_max=None if measures.weight_max is None else np.where(rows, measures.weight_max, 0),
        exponent=measures.exponent,
    )


def _sorted(key: IntegerArray, score: FloatArray, is_kept: BoolArray | None) -> Int64Array:
    """Order the rows that count by key, then score; many rows in two halves at once."""
    halves: list[BoolArray | None] = [is_kept]
    if should_share(len(key)):
        is_high = key >= np.median(key[::_SAMPLE])
        halves = [half if is_kept is None else half & is_kept for half in (~is_high, is_high)]
    order = [np.zeros(0, np.int64)] * len(halves)

    def sort(position: int) -> None:
        half = halves[position]
        order[position] = _sorted_rows(key, score, None if half is None else np.flatnonzero(half))

    run_on_all_cores(sort, range(len(halves)))
    return order[0] if len(order) == 1 else np.concatenate(order)


def _sorted_rows(key: IntegerArray, score: FloatArray, rows: Int64Array | None) -> Int64Array:
    """Sort by score first, then in a stable way by keys, in one pass if they have 16 bits."""
    order = np.argsort(score if rows is None else score[rows])
    if rows is not None:
        order = rows[order]
    if len(order) and key[order].any():
        order = order[np.argsort(key[order], kind="stable")]
    return np.asarray(order)


def _summed(measures: RowSums, order: Int64Array, starts: Int64Array | None) -> RowSums:
    """Add up what begins at `starts`; None where no two rows are tied."""

    def added(
        values: npt.NDArray[Any] | None, combine: np.ufunc = np.add
    ) -> npt.NDArray[Any] | None:
        if values is None or starts is None:
            return None if values is None else values[order]
        dtype = np.float64 if values.dtype.kind == "f" else np.int64
        sums: npt.NDArray[Any] = combine.reduceat(values[order], starts, dtype=dtype)
        return sums

    n = measures.row_counts
    with np.errstate(over="ignore"):
        return RowSums(
            added(n.view(np.uint8) if n.dtype == np.bool_ else n),
            weight=added(measures.weight),
            weight_sq=added(measures.weight_sq),
            weight_max=added(measures.weight_max, np.maximum),
            exponent=measures.exponent,
        )


def _padded(measures: RowSums, rows: int) -> RowSums:
    nothing = np.zeros(rows)
    return RowSums(
        np.append(measures.row_counts, np.zeros(rows, np.int64)),
        weight=None if measures.weight is None else np.append(measures.weight, nothing),
        weight_sq=None if measures.weight_sq is None else np.append(measures.weight_sq, nothing),
        weight_max=None if measures.weight_max is None else np.append(measures.weight_max, nothing),
        exponent=measures.exponent,
    )
