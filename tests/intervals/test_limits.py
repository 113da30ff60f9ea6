import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats import proportion

from balframe.intervals.proportions import exact, jeffreys, wilson
from balframe.intervals.recalls import geometric, mover, score

REFERENCE = json.loads((Path(__file__).parent / "reference.json").read_text())


def row(*values):
    return np.array([values], dtype=float)


def limits_of(method, case):
    x, n, a = (row(*case[key]) for key in ("correct", "support", "weights"))
    return np.ravel(method(x, n, a, 0.95))


@pytest.mark.parametrize("case", REFERENCE["linear"], ids=lambda case: case["name"])
def test_mean_of_recalls_has_the_reference_limits(case):
    assert limits_of(score, case) == pytest.approx(case["score_adj"], abs=1e-6)
    assert limits_of(mover, case) == pytest.approx(case["mover_jeffreys"], abs=1e-6)
    of_wilson = limits_of(partial(mover, limits=wilson), case)
    assert of_wilson == pytest.approx(case["mover_wilson"], abs=1e-6)


@pytest.mark.parametrize("case", REFERENCE["geometric"], ids=lambda case: str(case["correct"]))
def test_geometric_mean_has_the_reference_limits(case):
    found = geometric(row(*case["correct"]), row(*case["support"]), 0.95)

    assert np.ravel(found) == pytest.approx(case["score"], abs=1e-6)


@pytest.mark.parametrize("x", range(13))
@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
def test_proportions_equal_scipy(x, level):
    test = stats.binomtest(x, 12)
    counts = np.array([float(x)]), np.array([12.0]), level

    for method, name in ((wilson, "wilson"), (exact, "exact")):
        expected = test.proportion_ci(level, name)
        assert np.ravel(method(*counts)) == pytest.approx([expected.low, expected.high], abs=1e-12)
    low, high = stats.beta.interval(level, x + 0.5, 12 - x + 0.5)
    ends = [0.0 if x == 0 else low, 1.0 if x == 12 else high]
    assert np.ravel(jeffreys(*counts)) == pytest.approx(ends, abs=1e-12)


@pytest.mark.parametrize("x", range(13))
@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
def test_proportions_equal_statsmodels(x, level):
    counts = np.array([float(x)]), np.array([12.0]), level

    for method, name in ((wilson, "wilson"), (jeffreys, "jeffreys"), (exact, "beta")):
        low, high = proportion.proportion_confint(x, 12, 1 - level, name)
        # where all or none are right, statsmodels leaves the tail of Jeffreys' limits outside
        expected = [0.0 if x == 0 else low, 1.0 if x == 12 else high]
        assert np.ravel(method(*counts)) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("table", [(40, 45, 2, 10), (3, 3, 0, 7), (9, 10, 199, 200), (5, 9, 4, 8)])
def test_mover_with_wilsons_limits_is_newcombes_interval(table):
    x1, n1, x2, n2 = table
    # J = p1 - (1 - p2), and the balanced accuracy is (1 + J) / 2
    low, high = proportion.confint_proportions_2indep(x1, n1, n2 - x2, n2, method="newcomb")

    found = mover(row(x1, x2), row(n1, n2), row(0.5, 0.5), 0.95, wilson)

    assert np.ravel(found) == pytest.approx([(1 + low) / 2, (1 + high) / 2], abs=1e-10)


def test_score_with_one_label_is_wilsons():
    x, n = np.arange(13.0), np.full(13, 12.0)

    found = score(x[:, None], n[:, None], np.ones((13, 1)), 0.9)

    assert np.transpose(found) == pytest.approx(np.transpose(wilson(x, n, 0.9)), abs=1e-12)


def coverage(supports):
    """Enumerate all results: the probability that the limits hold the balanced accuracy."""
    first, second = (np.arange(n + 1) for n in supports)
    x = np.stack(np.meshgrid(first, second, indexing="ij"), axis=-1).reshape(-1, 2).astype(float)
    low, high = score(x, np.tile(row(*supports), (len(x), 1)), np.full_like(x, 0.5), 0.95)
    recalls = np.linspace(0.5, 1, 26)
    mass = [stats.binom.pmf(np.arange(n + 1)[:, None], n, recalls) for n in supports]
    covered = []
    for i, p in enumerate(recalls):
        for j, q in enumerate(recalls):
            if p < 1 or q < 1:
                holds = (low <= (p + q) / 2 + 1e-12) & ((p + q) / 2 - 1e-12 <= high)
                covered.append((np.outer(mass[0][:, i], mass[1][:, j]).ravel() * holds).sum())
    return np.mean(covered), np.min(covered)


@pytest.mark.parametrize(
    ("supports", "worst"), [((5, 5), 0.89), ((10, 50), 0.89), ((3, 100), 0.82)]
)
def test_score_covers_the_balanced_accuracy(supports, worst):
    mean, least = coverage(supports)

    assert mean >= 0.95
    assert least >= worst


@pytest.mark.parametrize("method", [score, mover, lambda x, n, a, level: geometric(x, n, level)])
class TestAnyMeanOfRecalls:
    rng = np.random.default_rng(5)
    n = rng.integers(1, 400, (500, 3)).astype(float)
    x = np.floor(n * rng.uniform(0, 1.2, (500, 3))).clip(max=n)
    a = np.full((500, 3), 1 / 3)

    def test_limits_stand_around_the_estimate_within_0_and_1(self, method):
        low, high = method(self.x, self.n, self.a, 0.95)
        p = self.x / self.n
        is_geometric = method not in (score, mover)
        estimate = np.prod(p, axis=1) ** (1 / 3) if is_geometric else p.mean(axis=1)

        assert (low >= 0).all()
        assert (high <= 1).all()
        # the geometric mean treats a recall of 1 as 1 - 1e-7
        assert (low <= estimate + 1e-12).all()
        assert (high >= estimate - (1e-7 if is_geometric else 1e-12)).all()

    def test_limits_widen_with_the_level(self, method):
        low, high = method(self.x, self.n, self.a, 0.8)
        lower, higher = method(self.x, self.n, self.a, 0.99)

        assert (lower <= low).all()
        assert (higher >= high).all()

    def test_limits_narrow_with_the_counts(self, method):
        low, high = method(self.x, self.n, self.a, 0.95)
        lower, higher = method(100 * self.x, 100 * self.n, self.a, 0.95)

        assert (higher - lower <= high - low).all()

    def test_the_order_of_labels_does_not_matter(self, method):
        order = [2, 0, 1]
        found = method(self.x[:, order], self.n[:, order], self.a, 0.95)

        assert np.asarray(found) == pytest.approx(
            np.asarray(method(self.x, self.n, self.a, 0.95)), abs=1e-12
        )
