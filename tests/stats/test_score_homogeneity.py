import numpy as np
import pytest
from scipy import optimize, special, stats

from balframe.stats.differences import scas_difference
from balframe.stats.homogeneity_tests import score_homogeneity_test
from tests.support.cases import cases
from tests.support.frames.recall_tables import TABLES, evenly, table


class TestOneLabel:
    """The common score is then the share of all rows, and Q that of a contingency table."""

    @cases(("x", "n"), TABLES)
    def test_statistic_equals_conditional_chi_square_of_contingency_table(self, x, n):
        expected = stats.chi2_contingency([x, np.subtract(n, x)], correction=False).statistic
        x, n = table(*zip(x)), table(*zip(n))

        statistic, _ = score_homogeneity_test(x, n, np.ones_like(x))

        assert statistic == pytest.approx(expected * (n.sum() - 1) / n.sum(), rel=1e-10)

    @pytest.mark.parametrize("x", [[18, 20, 22], [20, 21, 17, 22], [10, 30, 15, 25, 20]])
    def test_p_value_at_recall_one_half_equals_chi_square(self, x):
        # recalls of 1/2 vary least beside their variance, so that the chi-square is not scaled
        n = np.full((len(x), 1), 40.0)

        statistic, p = score_homogeneity_test(table(*zip(x)), n, np.ones_like(n))

        assert p == pytest.approx(stats.chi2.sf(statistic, len(x) - 1), rel=1e-12)

    def test_rare_errors_scale_the_chi_square(self):
        n = np.array([130, 200, 300, 5000.0])
        x = n - [1, 3, 1, 40]
        p = x.sum() / n.sum()
        v, share = p * (1 - p), n / n.sum()
        expected = (x / n - p) ** 2 * n / v
        # sum of fourth cumulants, less what the common score takes of the skewness
        kurtosis = (1 - 6 * v) / (v * n) * (1 - share) ** 2
        skewness = (((1 - share) * (1 - 2 * p) / v).sum()) ** 2 / (n.sum() / v)
        scale = 1 + (kurtosis.sum() - skewness) / (2 * 3)

        statistic, result = score_homogeneity_test(x[:, None], n[:, None], np.ones((4, 1)))

        assert scale > 1.2
        assert statistic == pytest.approx(expected.sum() * (n.sum() - 1) / n.sum(), rel=1e-10)
        assert result == pytest.approx(stats.chi2.sf(statistic / scale, 3 / scale), rel=1e-10)


def fit_recalls(x, n, a):
    """Maximise the likelihood of recalls under equal scores: a search that knows no multiplier."""
    start = (x + 0.5) / (n + 1)

    def minus_log_likelihood(p):
        p = p.reshape(x.shape)
        return -(special.xlogy(x, p) + special.xlog1py(n - x, -p)).sum()

    def apart(p):
        return np.diff((a * p.reshape(x.shape)).sum(axis=1))

    result = optimize.minimize(
        minus_log_likelihood,
        start.ravel(),
        jac=lambda p: ((n - x) / (1 - p.reshape(x.shape)) - x / p.reshape(x.shape)).ravel(),
        method="SLSQP",
        bounds=[(1e-9, 1 - 1e-9)] * x.size,
        constraints={"type": "eq", "fun": apart},
        options={"ftol": 1e-15, "maxiter": 500},
    )
    return result.x.reshape(x.shape)


@pytest.mark.parametrize(
    ("x", "n", "a"),
    [
        ([(45, 33), (450, 330), (90, 60)], [(50, 40), (500, 400), (100, 90)], (0.5, 0.5)),
        ([(8, 30), (12, 20), (18, 50)], [(10, 40), (20, 40), (30, 60)], (0.3, 0.7)),
        ([(9, 8, 5), (7, 9, 2), (60, 80, 30)], [(10, 10, 7), (10, 12, 9), (90, 90, 50)], (1, 1, 1)),
    ],
)
def test_statistic_equals_the_score_test_of_rao_at_fitted_recalls(x, n, a):
    x, n = table(*x), table(*n)
    a = np.tile(np.array(a, float) / sum(a), (len(x), 1))
    p = fit_recalls(x, n, a)
    # Rao: the gradient of the likelihood weighed with the inverse of the information
    gradient = x / p - (n - x) / (1 - p)
    of_segment = (gradient**2 * p * (1 - p) / n).sum(axis=1)
    # each variance for the recalls having been fitted, and between labels
    part = a * a / n
    share = part / part.sum(axis=1, keepdims=True)
    others = 1 - (1 / part.sum(axis=1)) / (1 / part.sum(axis=1)).sum()
    plain = (part * p * (1 - p)).sum(axis=1)
    larger = (part * p * (1 - p) * n / (n - 1 + share * others[:, None])).sum(axis=1)
    between = 1 + 0.6 * (share * (1 - share) / n).sum(axis=1)

    statistic, _ = score_homogeneity_test(x, n, a)

    assert statistic == pytest.approx((of_segment * plain / larger / between).sum(), rel=1e-7)


def test_p_value_is_1_if_recalls_are_swapped_between_labels():
    x, n = table((18, 285), (285, 18), (18, 285)), table((30, 300), (300, 30), (30, 300))

    statistic, p = score_homogeneity_test(x, n, evenly(n))

    assert (statistic, p) == (0, 1)


@cases(
    ("x", "n"),
    [
        (table([46, 33], [450, 330]), table([50, 40], [500, 400])),
        (table([3], [90]), table([10], [100])),
        (table([5, 5], [6, 9]), table([5, 5], [10, 10])),
        (table([1, 0, 4], [2, 9, 8]), table([1, 2, 5], [3, 10, 10])),
    ],
)
def test_p_value_of_two_segments_is_that_of_their_difference(x, n):
    a = evenly(n)

    _, p = score_homogeneity_test(x, n, a)

    _, _, (expected,) = scas_difference(x[:1], n[:1], x[1:], n[1:], a[:1], 0.95)
    assert p == expected


def random_family(segments, labels, seed):
    rng = np.random.default_rng(seed)
    n = np.rint(np.exp(rng.uniform(np.log(2), np.log(200), (segments, labels))))
    return rng.binomial(n.astype(int), rng.uniform(0.5, 1, labels)).astype(float), n, evenly(n)


@pytest.mark.parametrize("segments", [2, 3, 12])
@pytest.mark.parametrize("labels", [1, 2, 4])
class TestAnyFamily:
    def test_the_order_of_segments_and_labels_does_not_matter(self, segments, labels):
        x, n, a = random_family(segments, labels, 1)

        result = score_homogeneity_test(x[::-1, ::-1], n[::-1, ::-1], a)

        assert result == pytest.approx(score_homogeneity_test(x, n, a), rel=1e-8)

    def test_swapping_correct_and_wrong_does_not_change_the_p_value(self, segments, labels):
        x, n, a = random_family(segments, labels, 2)

        assert score_homogeneity_test(n - x, n, a) == pytest.approx(
            score_homogeneity_test(x, n, a), rel=1e-8
        )

    def test_p_value_falls_if_a_segment_moves_away_from_the_others(self, segments, labels):
        x, n, a = random_family(segments, labels, 3)
        best = np.argmax((a * x / n).sum(axis=1))
        apart = x.copy()
        apart[best] = 0

        assert score_homogeneity_test(apart, n, a)[1] < score_homogeneity_test(x, n, a)[1]


@pytest.mark.parametrize("right", [0, 0.5, 1])
def test_p_value_of_equal_scores_is_1(right):
    n = table([10, 40], [20, 400], [36, 12])

    assert score_homogeneity_test(right * n, n, evenly(n)) == (0, 1)


def test_statistic_and_p_value_of_a_single_segment_are_nan():
    assert np.isnan(
        score_homogeneity_test(table([8, 30]), table([10, 40]), table([0.5, 0.5]))
    ).all()


@cases(
    ("x", "n"),
    [
        # one always answers one label: nothing varies at its own score of a half
        ([(5, 0), (8, 7), (2, 3)], [(5, 5), (10, 10), (10, 10)]),
        ([(5, 0), (5, 0), (8, 3)], [(5, 5), (5, 5), (10, 10)]),
        ([(5, 0), (10, 0), (9, 1)], [(5, 5), (10, 10), (10, 10)]),
        ([(0, 1), (0, 0), (1, 1)], [(1, 1)] * 3),
        ([(5, 5), (5, 0), (0, 0)], [(5, 5)] * 3),
        # from which the search for the common score starts
        ([(1, 0), (90, 90), (20, 0)], [(1, 1), (100, 100), (100, 100)]),
    ],
)
def test_statistic_is_finite_if_segments_have_no_variance(x, n):
    x, n = table(*x), table(*n)

    statistic, p = score_homogeneity_test(x, n, evenly(n))

    assert 0 <= statistic < len(x) * n.sum()
    assert 0 < p <= 1


def test_a_segment_without_variance_adds_nothing_to_the_statistic():
    x, n = table((5, 0), (8, 7), (2, 3)), table((5, 5), (10, 10), (10, 10))
    # by symmetry the common score is a half; recalls of (.8, .7) fall to those with a sum of 1
    multiplier = optimize.brentq(lambda v: sum(_recall(k, 10, v) for k in (8, 7)) - 1, 0.1, 100)
    spread = sum(p * (1 - p) for p in (_recall(8, 10, multiplier), _recall(7, 10, multiplier)))
    # each of the two holds a share of 10 / 25 in the common score
    variance = 0.25 * spread / (10 - 1 + 0.5 * (1 - 10 / 25))
    expected = 2 * 0.25**2 / variance / (1 + 0.6 * 2 * 0.25 / 10)

    assert score_homogeneity_test(x, n, evenly(n))[0] == pytest.approx(expected, rel=1e-10)


def _recall(x, n, multiplier):
    """Solve x / p - (n - x) / (1 - p) = l."""
    return optimize.brentq(lambda p: x * (1 - p) - (n - x) * p - multiplier * p * (1 - p), 0, 1)


@cases(
    ("few", "many", "errors"),
    [((1, 1), 10**6, 100), ((1,) * 5, 10**6, 100), ((10, 10), 10**5, 10), ((5, 5), 10**6, 1000)],
)
def test_few_correct_rows_beside_rare_errors_are_not_significant(few, many, errors):
    n = np.array([*few, many], float)[:, None]
    x = n - np.array([0] * len(few) + [errors])[:, None]

    # fewer than .02 errors were expected in the small ones
    assert score_homogeneity_test(x, n, np.ones_like(n))[1] > 0.9
