"""Sums over several segments: all of them, and all but one."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from balframe.core.array_types import Counts, FloatArray, Int64Array
from balframe.core.cells import LEFT_OUT, Cells, is_segment_start, segment_ranges
from balframe.core.class_counts import ClassCounts, regrouped
from balframe.core.maxima import Maxima
from balframe.core.row_sums import RowSums
from balframe.core.sample import Clusters

# The clusters of all segments but one, for each of them.


@dataclass(frozen=True)
class ClusterTotals:
    """The cells of each cluster over all segments; clusters with the same cells have one pattern.

    `example` is the position of a cluster of each pattern among all `codes`. `others` are the cells
    of pairs with the sums of the other segments of their cluster.
    """

    clusters: Clusters
    cells: Cells
    others: Cells
    codes: Int64Array
    pattern: Int64Array
    example: Int64Array

    @classmethod
    def of(cls, clusters: Clusters) -> "ClusterTotals":
        """Add up the cells of each cluster."""
        cluster_cells = clusters.pairs.cells()
        cluster = clusters.cluster[cluster_cells.segments[0]]
        total = Cells(
            (cluster,), cluster_cells.actual, cluster_cells.outcome, cluster_cells.sums
        ).regrouped()
        total = Cells(total.by, total.actual, total.outcome, total.sums.with_squares())
        others = _sums_of_others(clusters, total.sums.exponent)
        return cls(clusters, total, others, total.by[0][total.segments[1]], *_patterns(total))

    def rest(self, segments: Int64Array, like: ClassCounts) -> Clusters:
        """Return the rows of all segments but each one given, in every cluster.

        Clusters without rows in a segment stay as they are in its rest. There those with the same
        rows stand together, so that their number does not multiply with that of the segments.
        `like` are the class counts of the complements.
        """
        own = self.clusters
        inside, segment = segment_ranges(own.segment, own.n_segments, segments)
        touched = np.searchsorted(self.codes, own.cluster[inside])
        size = (len(segments), len(self.example))
        here = np.bincount(segment * size[1] + self.pattern[touched], minlength=size[0] * size[1])
        left = np.bincount(self.pattern, minlength=size[1]) - here.reshape(size)
        of_segment, of_pattern = np.nonzero(left)
        untouched = self.cells.at(self.example[of_pattern])
        changed = _with_sums_of(self.others.at(inside), self.cells.at(touched))
        n_codes = 1 + int(self.codes.max(initial=0))
        cells = Cells.concat(
            [
                _placed(untouched, of_segment, n_codes + of_pattern),
                _placed(changed, segment, own.cluster[inside]),
            ]
        ).regrouped()
        placed, code = (codes[cells.segments[1]] for codes in cells.by)
        is_pattern = code >= n_codes
        times = np.ones(len(code), np.int64)
        times[is_pattern] = left[placed[is_pattern], code[is_pattern] - n_codes]
        return Clusters.of_pairs(cells, times, like)


def _placed(cells: Cells, segment: Int64Array, cluster: Int64Array) -> Cells:
    """Let the cells of each pair be those of a segment and a cluster."""
    pair = cells.by[0]
    return Cells((segment[pair], cluster[pair]), cells.actual, cells.outcome, cells.sums)


def _sums_of_others(clusters: Clusters, exponent: int) -> Cells:
    """Return the cells of each pair with the sums of the cluster's equal cells in other segments.

    They are added up to full digits: no cell that has most of a weight is subtracted. Weights are
    in units of 2**exponent.
    """
    cells = clusters.pairs.cells()
    columns = (clusters.cluster[cells.segments[0]], cells.actual, cells.outcome)
    order = np.lexsort(columns[::-1])
    starts = is_segment_start([column[order] for column in columns], len(order))
    group, n_groups = np.empty(len(order), np.int64), int(starts.sum())
    group[order] = np.cumsum(starts) - 1
    total = np.zeros(n_groups, np.int64)
    np.add.at(total, group, cells.n)
    sums = cells.sums.with_squares().in_units_of(exponent)
    weight, weight_sq = (
        None if values is None else _sum_of_others(values, group, n_groups)
        for values in (sums.weight, sums.weight_sq)
    )
    weight_max = None
    if sums.weight_max is not None:
        weight_max = np.asarray(Maxima.of(sums.weight_max).others_in_group(group, n_groups))
    rest = replace(
        sums,
        n=total[group] - cells.n,
        missing=None,
        weight=weight,
        weight_sq=weight_sq,
        weight_max=weight_max,
    )
    return Cells(cells.by, cells.actual, cells.outcome, rest)


def _sum_of_others(values: FloatArray, group: Int64Array, n_groups: int) -> FloatArray:
    """Return, for each value, the sum of the others of its group."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.bincount(group, values, n_groups)[group]
        is_most = values > total / 2
        without_most = np.bincount(group, np.where(is_most, 0, values), n_groups)[group]
        return np.where(is_most, without_most, total - values)


def _with_sums_of(others: Cells, total: Cells) -> Cells:
    """Return cells of pairs with the sums of others in their place; a pair may lose all cells.

    `others` are some of the cells in `total`, in the same order.
    """
    n_labels = 1 + max(total.actual.max(initial=0), total.outcome.max(initial=0))
    keys, sought = (
        (side.by[0] * n_labels + side.actual) * n_labels + side.outcome for side in (total, others)
    )
    position = np.searchsorted(keys, sought)
    columns: dict[str, Any] = {}
    for name in ("n", "weight", "weight_sq", "weight_max"):
        values, replacements = (getattr(side.sums, name) for side in (total, others))
        if values is not None:
            values = values.copy()
            values[position] = replacements
        columns[name] = values
    sums = replace(total.sums, missing=None, **columns)
    kept = np.flatnonzero(sums.row_counts > 0)
    return Cells((total.by[0][kept],), total.actual[kept], total.outcome[kept], sums.at(kept))


def _patterns(total: Cells) -> tuple[Int64Array, Int64Array]:
    """Find which clusters have the same rows: the pattern of each, and an example of each."""
    pattern = np.empty(len(total.segments[1]), np.int64)
    examples = [np.zeros(0, np.int64)]
    for clusters, table in _tables(total):
        _, first, same = np.unique(table, axis=0, return_index=True, return_inverse=True)
        pattern[clusters] = sum(map(len, examples)) + same.ravel()
        examples.append(clusters[first])
    return pattern, np.concatenate(examples)


def _tables(total: Cells) -> Iterator[tuple[Int64Array, Int64Array]]:
    """Put clusters of equally many cells together, with a row of labels and sums for each."""
    segment, first = total.segments
    length = np.bincount(segment, minlength=len(first))
    for size in np.unique(length):
        clusters = np.flatnonzero(length == size)
        cells, _ = segment_ranges(segment, len(first), clusters)
        sums = total.sums.at(cells)
        weights = (sums.weight, sums.weight_sq, sums.weight_max)
        columns = [total.actual[cells], total.outcome[cells], sums.row_counts]
        columns += [values.view(np.int64) for values in weights if values is not None]
        yield clusters, np.hstack([column.reshape(-1, size) for column in columns])


def sum_segments(c: ClassCounts) -> ClassCounts:
    """Add up all segments into one."""
    keys = _Keys.of(c.segment, c.label, c.n_segments, np.zeros(0, np.int64))
    return regrouped(c, keys.total, 1, np.zeros_like(keys.distinct), keys.distinct)


def sum_other_segments(c: ClassCounts, segments: Int64Array) -> ClassCounts:
    """Add up all segments but one, for each one at these positions.

    Memory goes with the number of positions times the labels of all segments.
    """
    keys = _Keys.of(c.segment, c.label, c.n_segments, segments)
    return regrouped(c, keys.but_one, len(segments), *keys.spread())


def sum_other_cells(cells: Cells, segments: Int64Array) -> Cells:
    """Add up the cells of all segments but one, for each one given, which is the only by-column."""
    kept = np.flatnonzero(cells.actual != LEFT_OUT)
    segment, outcome = cells.segments[0][kept], cells.outcome[kept]
    size = int(outcome.max(initial=0)) + 1
    of_labels = cells.actual[kept] * size + outcome
    keys = _Keys.of(segment, of_labels, len(cells.segments[1]), segments)
    sums = cells.sums.at(kept)
    position, key = keys.spread()
    rows = RowSums(
        keys.but_one(cells.n[kept]),
        weight=None if sums.weight is None else keys.but_one(sums.weight),
        weight_sq=None if sums.weight_sq is None else keys.but_one(sums.weight_sq),
        weight_max=None if sums.weight_max is None else keys.but_one(Maxima.of(sums.weight_max)),
        exponent=sums.exponent,
    )
    return Cells((position,), key // size, key % size, rows)


@dataclass(frozen=True, slots=True)
class _Keys:
    """The distinct keys of all segments, and where the entries stand among them.

    `of_entry` is the key of each entry; `inside` are the entries of the segments left out and `own`
    their places in a table of these segments by keys.
    """

    distinct: Int64Array
    of_entry: Int64Array
    inside: Int64Array
    own: Int64Array
    n_segments: int

    @classmethod
    def of(
        cls, segment: Int64Array, key: Int64Array, n_segments: int, left_out: Int64Array
    ) -> "_Keys":
        distinct, of_entry = np.unique(key, return_inverse=True)
        inside, position = segment_ranges(segment, n_segments, left_out)
        own = position * len(distinct) + of_entry[inside]
        return cls(distinct, of_entry, inside, own, len(left_out))

    def spread(self) -> tuple[Int64Array, Int64Array]:
        """Pair every segment left out with every key."""
        segment = np.repeat(np.arange(self.n_segments), len(self.distinct))
        return segment, np.tile(self.distinct, self.n_segments)

    def total(self, values: Counts) -> Counts:
        """Add up over all segments."""
        out = np.zeros_like(values, shape=len(self.distinct))
        with np.errstate(over="ignore"):
            np.add.at(out, self.of_entry, values)
        return out

    def but_one(self, values: Counts) -> Counts:
        """Add up over all segments but one, to full digits: none that is most is subtracted."""
        if isinstance(values, Maxima):
            return self._largest_but_one(values)
        total = self.total(values)
        own = np.zeros(self.n_segments * len(self.distinct), values.dtype)
        own[self.own] = values[self.inside]
        with np.errstate(invalid="ignore"):  # where squares of weights left the range of a float
            is_most = values > total[self.of_entry] - values
            others = np.tile(total, self.n_segments) - own
        without_most = self.total(np.where(is_most, 0, values))
        return np.where(own > others, np.tile(without_most, self.n_segments), others)

    def _largest_but_one(self, values: Maxima) -> Maxima:
        """Return the largest value over all segments but one: the second if it has the first."""
        largest, owner, second = values.two_largest(self.of_entry, len(self.distinct))
        out = np.tile(largest, self.n_segments)
        is_owner = owner[self.of_entry[self.inside]] == self.inside
        out[self.own[is_owner]] = second[self.of_entry[self.inside[is_owner]]]
        return Maxima.of(out)
