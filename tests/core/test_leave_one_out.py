"""The clusters of all other segments, beside loops over rows; their number does not multiply."""

from collections import Counter, defaultdict

import numpy as np

from balframe.core.cells import Cells
from balframe.core.class_counts import ClassCounts
from balframe.core.label_counts import LabelCounts
from balframe.core.leave_one_out import ClusterTotals, sum_other_segments
from balframe.core.row_sums import RowSums
from balframe.core.sample import Clusters
from tests.support.cases import cases

N_SEGMENTS, N_LABELS = 5, 3


def drawn(rng, n, n_clusters, n_segments=N_SEGMENTS):
    """Draw rows (segment, cluster, true, predicted)."""
    sizes = (n_segments, n_clusters, N_LABELS, N_LABELS)
    rows = np.stack([rng.integers(size, size=n) for size in sizes])
    rows[0, :n_segments] = range(n_segments)
    return rows


def counted(rows):
    """Count cells of segments, and of segments and clusters."""
    segment, cluster, *both = rows
    each = RowSums(np.ones(len(segment), np.int64))
    cells = Cells((segment, cluster), *both, each).regrouped()
    of_segments = Cells((segment,), *both, each).regrouped()
    counts = ClassCounts.of(LabelCounts.of(of_segments, N_LABELS))
    return counts, Clusters.of(cells, counts)


def patterns(rows):
    """Count how many clusters have the same rows."""
    held = defaultdict(Counter)
    for _, cluster, *both in rows.T.tolist():
        held[cluster][tuple(both)] += 1
    return Counter(frozenset(own.items()) for own in held.values())


@cases("n_clusters", [1, 4, 60])
@cases("parts", [[[0, 1, 2, 3, 4]], [[0, 1], [2, 4]]])
def test_the_rest_has_the_rows_of_all_other_segments(n_clusters, parts):
    rows = drawn(np.random.default_rng(n_clusters), 100, n_clusters)
    counts, clusters = counted(rows)
    totals = ClusterTotals.of(clusters)

    for segments in map(np.array, parts):
        found = totals.rest(segments, sum_other_segments(counts, segments))

        held = found.pairs.cells()
        own = defaultdict(Counter)
        for pair, *both, n in zip(held.segments[0], held.actual, held.outcome, held.n, strict=True):
            own[int(pair)][tuple(map(int, both))] += int(n)
        got = defaultdict(Counter)
        for pair, (segment, times) in enumerate(zip(found.segment, found.times, strict=True)):
            got[int(segment)][frozenset(own[pair].items())] += int(times)
        for position, segment in enumerate(segments):
            assert got[position] == patterns(rows[:, rows[0] != segment])


def test_clusters_with_equal_rows_are_merged_in_the_rest():
    rng = np.random.default_rng(0)
    n_clusters, n_segments = 3000, 100
    nested = np.arange(n_clusters) % n_segments, np.arange(n_clusters)
    rows = np.stack([*nested, *rng.integers(N_LABELS, size=(2, n_clusters))])
    counts, clusters = counted(rows)
    everything = np.arange(n_segments)

    found = ClusterTotals.of(clusters).rest(everything, sum_other_segments(counts, everything))

    assert found.n.tolist() == [n_clusters - n_clusters // n_segments] * n_segments
    assert len(found.segment) <= n_segments * N_LABELS**2 + n_clusters
