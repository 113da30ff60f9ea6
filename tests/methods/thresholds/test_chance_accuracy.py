"""The 95% point of the best balanced accuracy of scores that ignore the label."""

import math

import numpy as np
import pytest

from balframe.methods.thresholds.best_threshold import highest_chance_accuracy
from tests.support.cases import cases
from tests.support.reference_values import reference

CASES = reference("inference")["chance_maximum_95"]


def bound(positives, negatives, cuts, level=0.95):
    sides = (np.array([float(n)]) for n in (positives, negatives))
    return highest_chance_accuracy(*sides, np.array([cuts]), level).item()


@cases("case", CASES)
def test_bound_equals_reference_values(case):
    result = bound(case["n_positive"], case["n_negative"], case["cuts"])

    assert result == pytest.approx(case["value"], abs=1e-12)


@cases(
    ("cuts", "c"),
    [(0, 0), (1, 0.822), (2, 0.980), (3, 1.064), (5, 1.163), (7, 1.2239), (99, 1.2239)],
)
def test_the_factor_rises_with_cuts_to_that_of_kolmogorov_smirnov(cuts, c):
    assert bound(50, 50, cuts) == pytest.approx(0.5 + 0.5 * c / 5, abs=5e-5)


def test_the_bound_is_at_most_1_and_undefined_without_a_class():
    assert bound(1, 1, 9) == 1
    assert math.isnan(bound(0, 5, 9))


def scores_at_random(rng, positives, negatives, cuts, draws):
    """Count the positives and negatives of each score, none of which depends on the label.

    Without `cuts` every row has a score of its own; else all cuts + 1 scores are equally likely.
    """
    if cuts is None:
        is_positive = np.arange(positives + negatives) < positives
        shuffled = rng.permuted(np.tile(is_positive, (draws, 1)), axis=1).astype(int)
        return shuffled, 1 - shuffled
    share = np.full(cuts + 1, 1 / (cuts + 1))
    return tuple(rng.multinomial(n, share, draws) for n in (positives, negatives))


@pytest.mark.simulation
@cases("cuts", [1, 2, 7, 40, None])
@pytest.mark.parametrize(("positives", "negatives"), [(5, 5), (30, 300), (500, 500)])
def test_scores_that_ignore_the_label_rarely_exceed_the_bound(positives, negatives, cuts):
    rng, draws = np.random.default_rng(1), 20_000

    score_counts = scores_at_random(rng, positives, negatives, cuts, draws)

    sizes = [np.full(draws, float(n)) for n in (positives, negatives)]
    recall, fall_out = (n.cumsum(axis=1) / n.sum(axis=1)[:, None] for n in score_counts)
    best = 0.5 + 0.5 * np.maximum((recall - fall_out).max(axis=1), 0)
    n_cuts = (sum(score_counts) > 0).sum(axis=1) - 1
    exceeded = (best > highest_chance_accuracy(*sizes, n_cuts, 0.95) + 1e-12).mean()
    assert exceeded <= 0.055 + 2 * math.sqrt(0.055 * 0.945 / draws)
    assert exceeded >= 0.01  # nor is it out of reach


def test_share_of_all_orders_that_exceed_the_bound_is_exact():
    """All 252 orders of five positives and five negatives: P(D+ >= 4/5) = C(10, 1) / C(10, 5)."""
    masks = np.array([[i >> b & 1 for b in range(10)] for i in range(2**10)])
    orders = masks[masks.sum(axis=1) == 5]
    informedness = (2 * orders - 1).cumsum(axis=1).max(axis=1) / 5

    share = (0.5 + 0.5 * informedness > bound(5, 5, 9)).mean()

    assert 3 / 5 < 2 * bound(5, 5, 9) - 1 < 4 / 5
    assert share == pytest.approx(10 / 252)
