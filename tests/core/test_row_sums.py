"""What rows carry: counts add up to no more than a 64-bit integer holds."""

import numpy as np
import pytest

import balframe as bf
from balframe.core.row_sums import check_count_total


def test_counts_may_add_up_to_the_largest_integer():
    check_count_total(np.array([2**62, 2**61, 2**61 - 1]))  # 2**63 - 1


def test_the_error_on_too_large_counts_has_their_exact_total():
    with pytest.raises(bf.InvalidInputError) as raised:
        check_count_total(np.array([2**62, 2**62 - 1, 3 * 2**32 - 1]))

    # 2**63 + 3 * 2**32 - 2
    assert str(raised.value) == (
        "the counts add up to 9223372049739677694, more than 9223372036854775807, the largest "
        "64-bit integer; process the data in parts, or scale the counts down."
    )
