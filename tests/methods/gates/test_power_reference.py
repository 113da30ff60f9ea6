"""Power of gates against numbers computed by independent code, as gates.json says."""

import numpy as np
import pytest
from scipy import stats

from balframe.methods.gates import power_functions
from balframe.methods.gates.power_designs import PairedDesign, RecallDesign
from balframe.methods.gates.power_functions import ScorePower, skewness_corrected_critical_value
from balframe.stats.constrained_mle_paired import PairedCounts
from balframe.stats.differences import difference_as_mean_recall
from tests.support.cases import cases
from tests.support.reference_values import reference

CASES = reference("gates")["power"]
CLOSE = 1e-6


def row(values):
    return np.array([values], float)


def design_and_bound(case):
    """Give the rows, the bound of their score, and what a difference of it is multiplied by."""
    n = row(case["support"])
    a = np.full(n.shape, 1 / n.shape[1])
    if case["kind"] == "paired":
        half = n * row(case["disagreement"]) / 2
        return PairedDesign(PairedCounts.of(half, half, n, a)), -case["bound"], 1
    right = n * row(case["rates"])
    if case["kind"] == "absolute":
        return RecallDesign.of(right, n, a), case["bound"], 1
    m = row(case["rows_of_baseline"])
    both = difference_as_mean_recall(right, n, m * row(case["rates"]), m, a)
    return RecallDesign.of(*both), (1 - case["bound"]) / 2, 2


@cases("case", CASES)
def test_power_and_detectable_difference_equal_the_reference(case, monkeypatch):
    # the reference has limits that are corrected for skewness even where this makes them narrower
    monkeypatch.setattr(power_functions, "wider_critical_value", skewness_corrected_critical_value)
    design, bound, scale = design_and_bound(case)
    z = stats.norm.ppf((1 + case["level"]) / 2)

    plan = ScorePower(design, np.array([bound]), np.array([z]))

    drop = scale * plan.detectable_difference(case["power"])
    assert drop == pytest.approx([case["detectable_drop"]], abs=CLOSE)
    assert plan.pass_probability() == pytest.approx([case["power_at_zero"]], abs=CLOSE)
    assert plan.sample_size_factor(case["power"]) == pytest.approx([case["factor"]], rel=CLOSE)
