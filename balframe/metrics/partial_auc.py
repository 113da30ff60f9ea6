"""Partial areas under ROC curves, up to a false positive rate: `roc_auc(max_fpr=0.1)`.

References
----------
D. K. McClish, "Analyzing a portion of the ROC curve", Medical Decision Making 1989, for the
standardised area; L. E. Dodd and M. S. Pepe, "Partial AUC estimation and regression", Biometrics
2003, for partial placements.
"""

from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import FloatArray
from balframe.core.ranking import Ranking
from balframe.core.safe_divide import ratio
from balframe.metrics.row_influence import RowInfluence


@dataclass(frozen=True, slots=True)
class PartialAreas:
    """Mean recall over false positive rates from 0 to `max_fpr`, and its influences by row."""

    max_fpr: float
    mean_recall: FloatArray
    influence: RowInfluence

    @classmethod
    def of(cls, r: Ranking, max_fpr: float) -> "PartialAreas":
        """Integrate the ROC curve, which is a straight line across a tie."""
        at = r.segment
        n_positive, n_negative = r.n_positive[at], r.n_negative[at]
        high, high_recall = ratio(r.reaching.fp, n_negative), ratio(r.reaching.tp, n_positive)
        low, low_recall = high - ratio(r.negative, n_negative), r.reaching.tp - r.positive
        low_recall = ratio(low_recall, n_positive)
        is_whole = high <= max_fpr
        is_cut = ~is_whole & (low < max_fpr)
        width = np.where(is_whole, high - low, np.where(is_cut, max_fpr - low, 0))
        share = np.where(is_cut, ratio(width, high - low), 1)  # of a tie that is cut
        end_recall = low_recall + share * (high_recall - low_recall)
        inside = is_whole | is_cut
        area = r.sum(
            lambda ties: np.where(inside, width * (low_recall + end_recall) / 2, 0)[ties.rows]
        )
        last_recall = r.largest(lambda ties: np.where(inside, end_recall, 0)[ties.rows])
        is_undefined = ~((r.n_positive > 0) & (r.n_negative > 0))
        area[is_undefined] = np.nan
        below = np.where(is_whole, max_fpr - (low + high) / 2, width * share / 2)
        above = np.where(
            is_whole,
            (low_recall + high_recall) / 2 - last_recall[at],
            -(high_recall - low_recall) * share**2 / 2,
        )
        influence = RowInfluence(
            ratio(np.where(inside, below, 0) - area[at], n_positive * max_fpr),
            ratio(
                np.where(inside, above, 0) - (area - max_fpr * last_recall)[at],
                n_negative * max_fpr,
            ),
            is_by_class=True,
        )
        return cls(max_fpr, area / max_fpr, influence)

    def standardise(self, mean_recall: FloatArray) -> FloatArray:
        """Return McClish's index: 1/2 for scores that ignore the label, 1 for a perfect ranking."""
        half = self.max_fpr / 2
        return np.asarray((1 + (mean_recall - half) / (1 - half)) / 2)

    @property
    def standardised_influence(self) -> RowInfluence:
        """The influences of rows on McClish's index."""
        scale = 1 - lowest_partial_auc(self.max_fpr)
        return RowInfluence(
            self.influence.positive * scale, self.influence.negative * scale, is_by_class=True
        )


def lowest_partial_auc(max_fpr: float) -> float:
    """Return McClish's index where no positive row reaches the scores of the highest negatives."""
    half = max_fpr / 2
    return (1 - half / (1 - half)) / 2
