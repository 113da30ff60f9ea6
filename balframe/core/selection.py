"""Class counts of other segments or labels than those counted."""

from dataclasses import replace

from balframe.core.array_types import BoolArray, Counts, Int64Array, Regroup
from balframe.core.cells import ranges_of
from balframe.core.class_counts import ClassCounts


def segments_at(c: ClassCounts, segments: Int64Array) -> ClassCounts:
    """Take the segments at these positions, in this order and as often as they are given."""
    entries, segment = ranges_of(c.segment, c.n_segments, segments)

    def taken(values: Counts) -> Counts:
        return values[entries]

    found = regrouped(c, taken, len(segments), segment, c.label[entries])
    compared = None if c.compared is None else c.compared[entries]
    return replace(_confused_at(c, entries, found), compared=compared)


def _confused_at(c: ClassCounts, entries: Int64Array, taken: ClassCounts) -> ClassCounts:
    """Complete entries that were taken: only of whole segments is `confused` known."""
    squares = taken.squares
    if squares is not None and c.squares is not None:
        squares = _confused_at(c.squares, entries, squares)
    confused = None if c.confused is None else c.confused[entries]
    return replace(taken, squares=squares, confused=confused)


def comparing(c: ClassCounts, entries: BoolArray) -> ClassCounts:
    """Let averages over labels look at these entries only."""
    squares = None if c.squares is None else comparing(c.squares, entries)
    return replace(c, compared=entries, squares=squares)


def regrouped(
    c: ClassCounts, sums: Regroup, n_segments: int, segment: Int64Array, label: Int64Array
) -> ClassCounts:
    """Put other entries in the place of these; `sums` turns counts into theirs."""
    squares, distances = c.squares, c.distances
    if squares is not None:
        squares = regrouped(squares, sums, n_segments, segment, label)
    return replace(
        c,
        n_segments=n_segments,
        segment=segment,
        label=label,
        n_correct=sums(c.n_correct),
        n_missed=sums(c.n_missed),
        n_false_alarms=sums(c.n_false_alarms),
        correct=sums(c.correct),
        missed=sums(c.missed),
        false_alarms=sums(c.false_alarms),
        squares=squares,
        compared=None,
        confused=None,
        distances=None if distances is None else lambda power: sums(distances(power)),
    )
