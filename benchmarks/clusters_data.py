"""Simulated predictions of rows in clusters, whose true scores are known."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import special

SHARE_POSITIVE = 0.2
BEHIND = 0.05  # by which the recalls of the second of two models are lower
SHARED_BY_MODELS = 0.5  # correlation of what makes a cluster easy for each of two models
CLUSTERS = (10, 20, 50)
SIZES = ((5, 5), (20, 20), (5, 20))
CORRELATIONS = (0.0, 0.05, 0.2, 0.5)
RECALLS = (0.6, 0.8, 0.95)

Random = np.random.Generator
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Design:
    """Rows in clusters: both labels have the same recall, which differs between clusters.

    `sizes` are the smallest and the largest number of rows of a cluster. `correlation` is that of
    the correctness of two rows of one cluster and label.
    """

    n_clusters: int
    sizes: tuple[int, int]
    correlation: float
    recall: float

    def ease(self, normal: FloatArray, recall: float) -> FloatArray:
        """Turn normal numbers into the recalls of clusters, which have a beta distribution."""
        if self.correlation == 0:
            return np.full(normal.shape, recall)
        size = 1 / self.correlation - 1
        quantile = special.betaincinv(recall * size, (1 - recall) * size, special.ndtr(normal))
        return np.asarray(quantile, np.float64)

    def supports(self, shape: tuple[int, ...], random: Random) -> IntArray:
        """Draw the rows of both labels of clusters, one more axis."""
        n = random.integers(self.sizes[0], self.sizes[1] + 1, shape)
        positive = random.binomial(n, SHARE_POSITIVE)
        return np.stack([n - positive, positive], axis=-1)

    def of_segments(
        self, n_sets: int, n_segments: int, random: Random, *, shared: bool = False
    ) -> pl.DataFrame:
        """Draw data sets of segments with equal recalls; all have the same clusters if `shared`."""
        shape = (n_sets, n_segments, self.n_clusters)
        normal = random.standard_normal((n_sets, 1 if shared else n_segments, self.n_clusters))
        rows = self.supports(shape, random)
        right = random.binomial(rows, self.ease(normal, self.recall)[..., None])
        out = _table(np.stack([right, rows - right], axis=-1), ("set", "segment", "cluster"))
        if not shared:
            cluster = pl.col("segment") * self.n_clusters + pl.col("cluster")
            out = out.with_columns(cluster=cluster)
        return out.with_columns(yhat=_predicted(pl.col("kind") == 0))

    def of_models(self, n_sets: int, random: Random) -> pl.DataFrame:
        """Draw data sets with the predictions `a` and `b` of two models."""
        shape = (n_sets, self.n_clusters)
        first, second = random.standard_normal((2, *shape))
        of_second = SHARED_BY_MODELS * first + np.sqrt(1 - SHARED_BY_MODELS**2) * second
        a, b = self.ease(first, self.recall), self.ease(of_second, self.recall - BEHIND)
        chances = np.stack([a * b, a * (1 - b), (1 - a) * b, (1 - a) * (1 - b)], axis=-1)
        chances /= chances.sum(axis=-1, keepdims=True)
        rows = self.supports(shape, random)
        counts = random.multinomial(rows, chances[:, :, None, :])
        kind = pl.col("kind")
        return _table(counts, ("set", "cluster")).with_columns(
            a=_predicted(kind <= 1), b=_predicted(kind.is_in([0, 2]))
        )

    def of_scores(self, n_sets: int, random: Random, *, one_label: bool = False) -> pl.DataFrame:
        """Draw data sets of scores, whose area under the ROC curve is `recall`.

        Of all clusters, or with `one_label` of pairs of clusters with different labels. The
        correlation is that of scores.
        """
        shape = (n_sets, self.n_clusters)
        rows = self.supports(shape, random)
        if one_label:
            label = np.arange(self.n_clusters) % 2
            rows = rows.sum(axis=-1, keepdims=True) * np.stack([1 - label, label], axis=-1)
        drawn, cluster, y = (
            np.repeat(index.ravel(), rows.ravel()) for index in np.indices(rows.shape)
        )
        of_cluster = random.standard_normal(shape)[drawn, cluster] * np.sqrt(self.correlation)
        of_row = random.standard_normal(len(y)) * np.sqrt(1 - self.correlation)
        score = np.sqrt(2) * special.ndtri(self.recall) * y + of_cluster + of_row
        return pl.DataFrame({"set": drawn, "cluster": cluster, "y": y, "score": score})


DESIGNS = tuple(Design(*one) for one in product(CLUSTERS, SIZES, CORRELATIONS, RECALLS))


def _predicted(is_right: pl.Expr) -> pl.Expr:
    return pl.when(is_right).then("y").otherwise(1 - pl.col("y"))


def _table(counts: IntArray, names: tuple[str, ...]) -> pl.DataFrame:
    """Write counts down: one row for each cluster, label and kind of row."""
    indices = (index.ravel() for index in np.indices(counts.shape))
    columns = dict(zip((*names, "y", "kind"), indices, strict=True))
    return pl.DataFrame(columns | {"n": counts.ravel()}).filter(pl.col("n") > 0)
