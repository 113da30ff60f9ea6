"""Areas under the ROC curves of segments, with what their confidence limits need."""

from dataclasses import dataclass, fields

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.methods.thresholds.at_operating_points import effective_sides
from balframe.methods.thresholds.roc_areas import auc_limits, delong_variance
from balframe.metrics.definitions.ranking import Ranking, roc_auc
from balframe.stats.proportions import Limits


@dataclass(frozen=True, slots=True)
class Areas:
    """Areas, the spreads of the placements of either side, and its effective rows.

    What is undefined is NaN.
    """

    auc: FloatArray
    spread_of_positives: FloatArray
    spread_of_negatives: FloatArray
    n_positive: FloatArray
    n_negative: FloatArray

    @classmethod
    def of(cls, ranking: Ranking) -> "Areas":
        """Take those of all segments."""
        auc = roc_auc(ranking)
        return cls(auc, *ranking.spreads(auc), *effective_sides(ranking.points))

    @classmethod
    def undefined(cls, n_segments: int) -> "Areas":
        """Know nothing of so many segments."""
        return cls(*np.full((len(fields(cls)), n_segments), np.nan))

    def at(self, segments: Int64Array) -> "Areas":
        """Take the segments at these positions, in this order and as often as they are given."""
        return Areas(*(getattr(self, one.name)[segments] for one in fields(self)))

    def put(self, segment: int, other: "Areas") -> None:
        """Replace what is known of a segment by that of the only one of others."""
        for one in fields(self):
            getattr(self, one.name)[segment] = getattr(other, one.name).item()

    def variance(self) -> FloatArray:
        """Estimate the variance of the areas if rows are independent."""
        return delong_variance(
            self.spread_of_positives, self.spread_of_negatives, self.n_positive, self.n_negative
        )

    def limits(self, level: float) -> Limits:
        """Find the confidence limits of the areas."""
        sizes = (self.n_positive, self.n_negative)
        return auc_limits(self.auc, self.variance(), *sizes, level)
