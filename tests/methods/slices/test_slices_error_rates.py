"""`slices` lists what is not there as seldom as it says, and finds what is: simulated.

Of R data sets, the share with any slice listed has a standard error of at most 0.22 / sqrt(R) near
0.05; bounds allow three of them.
"""

import math

import numpy as np
import polars as pl
import pytest
from scipy import stats

import balframe as bf
from balframe.methods.slices.significance import StratifiedCounts
from benchmarks.slices_simulation import NULL, PLANTED, Quality, normal, repeated, share_with_any

REPETITIONS, OF_PLANTED = 250, 100


def standard_error(share, repetitions):
    return math.sqrt(share * (1 - share) / repetitions)


@pytest.mark.simulation
@pytest.mark.parametrize("design", NULL.values(), ids=NULL)
def test_family_wise_error_rate_is_at_most_5_percent(design):
    share = share_with_any(repeated(design, REPETITIONS))

    assert share <= 0.05 + 3 * standard_error(0.05, REPETITIONS)


@pytest.mark.simulation
def test_normal_p_values_exceed_the_family_wise_error_rate():
    design = NULL["recall, 5% wrong"]

    assert share_with_any(repeated(design, 40, normal)) > 0.3


@pytest.mark.thorough
@pytest.mark.parametrize("design", PLANTED.values(), ids=PLANTED)
def test_planted_slices_are_listed_and_few_others(design):
    quality = Quality.of(repeated(design, OF_PLANTED), design)

    def least(share):
        return share - 3 * standard_error(share, OF_PLANTED)

    assert quality.precision >= least(0.93)
    assert quality.listed >= least(0.94)
    assert quality.first >= least(0.78)
    assert quality.n_planted >= 0.95 * len(design.planted) - 0.1
    assert quality.n_listed <= len(design.planted) + 0.3


# Few slices and few errors, where all outcomes can be counted


def lists_any(n_rows, wrong):
    """Return whether a slice is listed, of levels with these rows and wrong rows."""
    groups = [str(i) for i in range(len(n_rows))]
    right = np.subtract(n_rows, wrong).tolist()
    frame = pl.DataFrame(
        {
            "g": groups * 2,
            "y": [1] * 2 * len(groups),
            "yhat": [0] * len(groups) + [1] * len(groups),
            "n": [*wrong, *right],
        }
    )
    return (
        bf.slices(frame, "y", "yhat", over="g", metrics="recall", counts="n", detail=True).height
        > 0
    )


TWO_LEVELS = [((300, 300), 4), ((50, 50), 10), ((30, 30), 50), ((100, 900), 1)]


@pytest.mark.simulation
@pytest.mark.filterwarnings("ignore:no slice is listed")
@pytest.mark.parametrize(("n_rows", "wrong"), TWO_LEVELS)
def test_two_levels_and_few_errors_are_listed_in_at_most_5_percent(n_rows, wrong):
    """The sum of the probabilities of all outcomes in which any level is listed."""
    first, second = n_rows
    size = sum(
        stats.hypergeom.pmf(e, first + second, wrong, first)
        for e in range(max(0, wrong - second), min(first, wrong) + 1)
        if lists_any(n_rows, (e, wrong - e))
    )

    assert size <= 0.05


# Limits of all slices tested together


def share_with_a_wrong_limit(n_labels, rate, n_searches):
    """Return the shares of searches with any lower, and with any upper limit on the wrong side.

    A hundred levels have 30 rows of each label, of which the share `rate` is wrong.
    """
    random = np.random.default_rng(n_labels)
    n_levels, n = 100, 30.0
    weight = np.full(n_labels, 1 / n_labels)
    wrong_sides = np.zeros(2)
    for _ in range(n_searches):
        wrong = random.binomial(int(n), rate, (n_levels, n_labels)).astype(np.float64)
        total = np.tile(wrong.sum(axis=0), (n_levels, 1))
        slices = StratifiedCounts(
            np.full_like(wrong, n), wrong, np.full_like(wrong, n * n_levels), total, weight
        )
        lower, upper = slices.limits(0.05 / n_levels)
        wrong_sides += (lower > 0).any(), (upper < 0).any()
    return wrong_sides / n_searches


@pytest.mark.simulation
@pytest.mark.parametrize("n_labels", [1, 2, 3, 5])
def test_limits_hold_for_all_slices_together(n_labels):
    """Nothing differs, so that a limit is on the wrong side where it excludes 0."""
    n_searches = 60
    shares = share_with_a_wrong_limit(n_labels, 0.02, n_searches)

    assert (shares <= 0.05 + 3 * standard_error(0.05, n_searches)).all()
