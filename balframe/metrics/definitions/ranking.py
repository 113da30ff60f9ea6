"""How well scores rank positive rows above negative ones, and how far they are from the labels."""

from dataclasses import replace

import numpy as np

from balframe.core.array_types import FloatArray
from balframe.core.ranking import Ranking, weigh
from balframe.core.safe_divide import ratio
from balframe.metrics.partial_auc import PartialAreas, lowest_partial_auc
from balframe.metrics.row_influence import (
    ClassSizes,
    RowInfluence,
    auc_influence,
    average_precision_bias,
    average_precision_influence,
)
from balframe.metrics.score_intervals import (
    AucInterval,
    KsInterval,
    LossInterval,
    MeanInterval,
    RankInterval,
    RowValues,
)
from balframe.metrics.score_metrics import ScoreMetric, score_family, score_metric


@score_metric(
    range=(0, 1),
    aliases=("auc", "auroc", "roc_auc_score"),
    source="Hanley, McNeil 1982",
    interval=AucInterval(auc_influence),
)
def roc_auc(r: Ranking) -> FloatArray:
    """Probability that a positive row scores above a negative one: P(S+ > S-) + P(S+ = S-) / 2.

    It is the area under the ROC curve. Ties count half.
    """
    placed = r.sum(lambda ties: weigh(ties.positive, ties.positive_placements))
    return ratio(placed, r.n_positive)


@score_metric(
    range=(0, 1),
    aliases=("average_precision_score",),
    interval=RankInterval(average_precision_influence, bias=average_precision_bias),
)
def average_precision(r: Ranking) -> FloatArray:
    """Mean of the precisions P at all thresholds t: sum_t P_t (R_t - R_{t-1}).

    The weight of a threshold is the increase in recall R that it adds.
    """

    def weighted_precision(ties: Ranking) -> FloatArray:
        precision = ratio(ties.reaching.tp, ties.reaching.tp + ties.reaching.fp)
        return weigh(ties.positive, precision)

    return ratio(r.sum(weighted_precision), r.n_positive)


@score_metric(range=(0, 1), aliases=("ks",), interval=KsInterval())
def ks_statistic(r: Ranking) -> FloatArray:
    """Largest difference between recall and false positive rate: max_t abs(TPR_t - FPR_t).

    It is the statistic of the Kolmogorov-Smirnov test that positive and negative rows have the same
    distribution of scores.
    """

    def distance(ties: Ranking) -> FloatArray:
        of_positives = ratio(ties.reaching.tp, r.n_positive.take(ties.segment))
        of_negatives = ratio(ties.reaching.fp, r.n_negative.take(ties.segment))
        return np.abs(of_positives - of_negatives)

    return np.where((r.n_positive > 0) & (r.n_negative > 0), r.largest(distance), np.nan)


def _squared_errors(r: Ranking) -> RowValues:
    share = _probabilities(r)
    return (1 - share) ** 2, share**2


@score_metric(
    range=(0, 1),
    better="lower",
    aliases=("brier", "brier_score_loss"),
    source="Brier 1950",
    interval=MeanInterval(_squared_errors),
)
def brier_score(r: Ranking) -> FloatArray:
    """Mean squared difference between score and label: sum_i (s_i - y_i)^2 / n.

    y is 1 for positive and 0 for negative rows. It is undefined where a score is outside [0, 1].
    """

    def errors(ties: Ranking) -> FloatArray:
        of_positive, of_negative = _squared_errors(ties)
        lost: FloatArray = ties.positive * of_positive + ties.negative * of_negative
        return lost

    return ratio(r.sum(errors), r.n_positive + r.n_negative)


def _log_losses(r: Ranking) -> RowValues:
    share = _probabilities(r)
    with np.errstate(divide="ignore"):
        return -np.log(share), -np.log1p(-share)


@score_metric(
    range=(0, np.inf),
    better="lower",
    aliases=("cross_entropy",),
    source="scikit-learn, log_loss",
    interval=LossInterval(_log_losses),
)
def log_loss(r: Ranking) -> FloatArray:
    """Mean negative log-likelihood of the labels: -sum_i log(y_i s_i + (1 - y_i) (1 - s_i)) / n.

    It is undefined where a score is outside [0, 1], or a score of exactly 0 or 1 is wrong.
    """

    def losses(ties: Ranking) -> FloatArray:
        of_positive, of_negative = _log_losses(ties)
        return weigh(ties.positive, of_positive) + weigh(ties.negative, of_negative)

    loss = ratio(r.sum(losses), r.n_positive + r.n_negative)
    return np.where(np.isfinite(loss), np.maximum(loss, 0), np.nan)


def _probabilities(r: Ranking) -> FloatArray:
    """Return the scores of ties, NaN for those that are not probabilities."""
    score = r.ties.score[r.rows]
    return np.where((score < 0) | (score > 1), np.nan, score)


def _partial_roc_auc(max_fpr: float) -> ScoreMetric:
    """Return the partial area up to a false positive rate, on McClish's scale."""

    def partial_roc_auc(r: Ranking) -> FloatArray:
        """Partial area under the ROC curve, standardised: (1 + (A - m) / (max_fpr - m)) / 2.

        A is the area where the false positive rate is at most max_fpr, and m = max_fpr^2 / 2 the
        area of scores that ignore the label.
        """
        areas = PartialAreas.of(r, max_fpr)
        return areas.standardise(areas.mean_recall)

    def influence(r: Ranking, estimate: FloatArray) -> RowInfluence:
        return PartialAreas.of(r, max_fpr).standardised_influence

    def fewest_rows(sizes: ClassSizes) -> FloatArray:
        return np.minimum(sizes.n_positive, np.maximum(max_fpr * sizes.n_negative, 1))

    low = lowest_partial_auc(max_fpr)
    interval = RankInterval(influence, fewest_rows=fewest_rows, low=low)
    return ScoreMetric(
        f"roc_auc(max_fpr={max_fpr:g})",
        partial_roc_auc,
        (low, 1),
        "higher",
        (),
        "McClish 1989",
        "ranking",
        interval.of_metric(partial_roc_auc),
    )


score_family(
    ("roc_auc", "auc", "auroc", "roc_auc_score"),
    "max_fpr",
    replace(_partial_roc_auc(1), name="roc_auc(max_fpr)"),
    _partial_roc_auc,
    highest=1,
)
