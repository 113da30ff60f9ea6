"""`slices` lists what is not there as seldom as it says, and finds what is: simulated.

Of R data sets, the share with any slice listed has a standard error of at most 0.22 / sqrt(R) near
0.05; bounds allow three of them.
"""

import math

import pytest

from benchmarks.slices_simulation import (
    NULL,
    PLANTED,
    Quality,
    normal,
    repeated,
    share_with_any,
)

pytestmark = pytest.mark.simulation

REPETITIONS, OF_PLANTED = 250, 100


def standard_error(share, repetitions):
    return math.sqrt(share * (1 - share) / repetitions)


@pytest.mark.parametrize("design", NULL.values(), ids=NULL)
def test_family_wise_error_rate_is_at_most_5_percent(design):
    share = share_with_any(repeated(design, REPETITIONS))

    assert share <= 0.05 + 3 * standard_error(0.05, REPETITIONS)


def test_normal_p_values_exceed_the_family_wise_error_rate():
    design = NULL["recall, 5% wrong"]

    assert share_with_any(repeated(design, 40, normal)) > 0.3


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
