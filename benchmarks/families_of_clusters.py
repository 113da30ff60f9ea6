"""Families of segments whose rows come in clusters, to ask verbs about with `cluster="c"`.

The functions of `benchmarks.families` take such frames in the place of those of independent rows.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from benchmarks.families import Array, Counts, Draws


@dataclass(frozen=True)
class InClusters:
    """Clusters of a segment: how many, the range of their rows, and how correlated these are.

    The share of right rows of a label differs between clusters by a Beta distribution with this
    intraclass correlation. Rows of a cluster have all labels, or `whole` clusters have one label.
    If they are `shared`, all segments of a family have the same clusters, with the same shares.
    """

    n_clusters: int
    rows: tuple[int, int]
    correlation: float
    whole: bool = False
    shared: bool = False

    def frame(self, draws: Draws) -> pl.DataFrame:
        """Draw predictions: one row for each segment, cluster, label and whether it is right."""
        supports, recalls = draws.design.of_segments(draws.n_segments)
        rows, random = self._rows(draws, supports), draws.random
        shape = list(rows.shape)
        shape[1] = 1 if self.shared else shape[1]
        means = recalls[:1] if self.shared else recalls
        share = self._shares(np.broadcast_to(means[None, :, None], shape), random)
        right = random.binomial(rows, np.broadcast_to(share, rows.shape))
        return _table(np.stack([right, rows - right], axis=-1), shared=self.shared)

    def _rows(self, draws: Draws, supports: Counts) -> Counts:
        """Draw the rows of each family, segment, cluster and label."""
        shape = (draws.n_families, draws.n_segments, self.n_clusters)
        size = draws.random.integers(*self.rows, shape, endpoint=True)
        of_labels = supports / supports.sum(axis=-1, keepdims=True)
        if supports.shape[-1] == 1:
            return size[..., None]
        of_clusters = np.broadcast_to(of_labels[None, :, None], (*shape, supports.shape[-1]))
        if self.whole:
            return draws.random.multinomial(1, of_clusters) * size[..., None]
        return draws.random.multinomial(size, of_clusters)

    def _shares(self, mean: Array, random: np.random.Generator) -> Array:
        """Draw the share of right rows of each cluster and label."""
        if not self.correlation:
            return mean
        scale = 1 / self.correlation - 1
        return np.asarray(random.beta(mean * scale, (1 - mean) * scale))


def _table(counts: Counts, *, shared: bool) -> pl.DataFrame:
    """Write counts of right and wrong rows down; those of one label are of the positive one."""
    family, segment, cluster, label, kind = (index.ravel() for index in np.indices(counts.shape))
    n_labels, positive = max(2, counts.shape[3]), 1 if counts.shape[3] == 1 else 0
    y = label + positive
    held = cluster if shared else segment * counts.shape[2] + cluster
    columns = {"family": family, "g": segment, "c": held, "y": y, "yhat": (y - kind) % n_labels}
    return pl.DataFrame(columns | {"n": counts.ravel()}).filter(pl.col("n") > 0)
