"""Methods without `cluster=` err where rows belong together, and `monitor` does not."""

import pytest

from benchmarks.ignored_clusters import METHODS, errors

pytestmark = pytest.mark.thorough

SLICES, CALIBRATION, MONITOR = METHODS
REPETITIONS = 100


def test_slices_and_calibration_err_and_monitor_does_not():
    slices = errors(SLICES, 0.2, REPETITIONS, seed=11)
    calibration = errors(CALIBRATION, 0.2, REPETITIONS, seed=12)
    estimated, ignored = errors(MONITOR, 0.2, REPETITIONS, seed=13)

    assert slices[0] > 0.45
    assert min(calibration) > 0.05
    assert estimated <= 0.05 < ignored


def test_independent_rows_are_judged_at_the_level():
    for method in METHODS:
        assert max(errors(method, 0.0, REPETITIONS, seed=14)) <= 0.12, method
