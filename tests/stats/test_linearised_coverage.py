"""How often limits of averages, F-scores, kappas and ratios hold the truth, by simulation.

Of 1,200 segments, a share near .95 has a standard error of .006; of 20 families, one near .05 has
.049.
"""

import pytest

from benchmarks.smooth_simulation import DESIGNS, Design, simulate

pytestmark = pytest.mark.simulation


@pytest.mark.parametrize(
    "design", [DESIGNS[0], Design((60, 25, 15), (0.85, 0.75, 0.65))], ids=lambda design: design.name
)
def test_limits_hold_the_truth_and_rarely_decide_wrongly(design):
    for name, result in simulate(design, 1_200).items():
        assert 0.93 < result.coverage < 0.99, name
        assert result.alone < 0.05, name
        assert result.together <= 0.2, name
        assert result.undecided < 0.3, name


def test_a_label_that_is_hardly_found_is_not_decided():
    """Of 20 rows of the second label, two are right on average: their number decides."""
    result = simulate(Design((500, 20), (0.95, 0.1)), 1_000)["f1_macro"]

    assert 0.83 < result.coverage < 0.91
    assert result.undecided > 0.9
    assert result.alone < 0.05
