"""Areas under the ROC curves of segments, and their confidence limits."""

from dataclasses import dataclass, fields

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.ranking import Ranking
from balframe.methods.thresholds.curve import effective_class_sizes
from balframe.metrics.definitions.ranking import roc_auc
from balframe.stats.proportions import Limits
from balframe.stats.roc_auc_limits import auc_limits, delong_variance


@dataclass(frozen=True, slots=True)
class RocAucs:
    """Areas, the spreads of the placements of each class, and its effective rows.

    Undefined values are NaN.
    """

    auc: FloatArray
    positive_spread: FloatArray
    negative_spread: FloatArray
    n_positive: FloatArray
    n_negative: FloatArray

    @classmethod
    def of(cls, ranking: Ranking) -> "RocAucs":
        """Return the areas of all segments of a ranking."""
        auc = roc_auc(ranking)
        return cls(auc, *ranking.placement_variances(auc), *effective_class_sizes(ranking.points))

    @classmethod
    def undefined(cls, n_segments: int) -> "RocAucs":
        """Return undefined areas."""
        return cls(*np.full((len(fields(cls)), n_segments), np.nan))

    def at(self, segments: Int64Array) -> "RocAucs":
        """Return the segments at these positions, which may repeat."""
        return RocAucs(*(getattr(self, field.name)[segments] for field in fields(self)))

    def replace_segment(self, segment: int, other: "RocAucs") -> None:
        """Overwrite a segment with the only segment of other areas."""
        for field in fields(self):
            getattr(self, field.name)[segment] = getattr(other, field.name).item()

    def variance(self) -> FloatArray:
        """Return DeLong's variance of the areas, for independent rows."""
        return delong_variance(
            self.positive_spread, self.negative_spread, self.n_positive, self.n_negative
        )

    def limits(self, level: float) -> Limits:
        """Return the confidence limits of the areas, for independent rows."""
        sizes = (self.n_positive, self.n_negative)
        return auc_limits(self.auc, self.variance(), *sizes, level)
