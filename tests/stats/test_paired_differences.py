import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, special
from statsmodels.stats.contingency_tables import mcnemar

from balframe.stats.effective_sample_size import effective_paired_counts
from balframe.stats.paired_differences import (
    paired_gate_limits,
    paired_limits,
    paired_limits_at,
    paired_p_value,
)
from tests.support.cases import cases
from tests.support.oracles import paired_recalls as tango
from tests.support.reference_values import reference

REFERENCE = reference("inference")
GATES = reference("paired_gates")
LEVELS = (0.001, 0.5, 0.8, 0.95, 0.999, 0.9999999)
Z = 1.959963984540054


def row(*values):
    return np.array([values], dtype=float)


def table(b, c, n, a=None):
    """Give the arrays of one segment; labels weigh alike by default."""
    return row(*b), row(*c), row(*n), row(*(a or [1 / len(b)] * len(b)))


def limits_and_p_value(b, c, n, a=None, level=0.95):
    """Give lower, upper and p of one segment."""
    rows = table(b, c, n, a)
    (low,), (high,) = paired_limits(*rows, level)
    return [low, high, *paired_p_value(*rows)]


@cases("case", REFERENCE["paired"])
def test_limits_and_p_values_are_those_of_the_reference(case):
    result = limits_and_p_value(
        case["only_one"], case["only_other"], case["support"], level=case["level"]
    )

    assert result == pytest.approx([case[k] for k in ("lower", "upper", "p_value")], abs=1e-12)


@pytest.mark.parametrize(
    ("b", "c", "n", "level", "published"),
    [(9, 3, 32, 0.95, (-0.027, 0.390)), (0, 1, 44, 0.9, (-0.096, 0.037))],
)
def test_one_label_has_the_limits_that_tango_published(b, c, n, level, published):
    assert limits_and_p_value([b], [c], [n], level=level)[:2] == pytest.approx(published, abs=5e-4)


@cases("case", GATES["cases"])
def test_gate_limits_are_those_of_the_reference(case):
    rows = table(case["only_new"], case["only_baseline"], case["support"])
    z = np.array([case["z"]])

    result = np.ravel([paired_limits_at(*rows, z), paired_limits_at(*rows, z, wider=True)])

    names = ("tango_lower", "tango_upper", "lower", "upper")
    assert result == pytest.approx([case[name] for name in names], abs=1e-12)


def tangos_share(b, c, n, difference):
    """Give p_c of largest likelihood where p_b - p_c is this: Tango's quadratic equation."""
    half = (2 * n - b + c) * difference - b - c
    root = math.sqrt(half**2 + 8 * n * c * difference * (1 - difference))
    return (
        (root - half) / (4 * n)
        if half < 0
        else 2 * c * difference * (1 - difference) / (root + half or 1)
    )


def variance(b, c, n, difference):
    p = tangos_share(b, c, n, difference)
    return 2 * p + difference - difference**2


@cases(("b", "c", "n"), [(9, 3, 32), (0, 1, 44), (40, 2, 60), (1.5, 0.2, 2.4)])
@cases("level", [0.5, 0.95, 0.9999])
def test_limits_of_one_label_solve_tangos_equation(b, c, n, level):
    low, high, _ = limits_and_p_value([b], [c], [n], level=level)

    z = math.sqrt(2) * float(optimize.brentq(lambda x: math.erf(x) - level, 0, 9, xtol=1e-15))
    # in terms of the other model where the difference is below 0, so that p_c is not cut off at 0
    for limit, sign in ((low, 1), (high, -1)):
        arguments = (b, c, n, limit) if limit > 0 else (c, b, n, -limit)
        statistic = (b - c - n * limit) / math.sqrt(n * variance(*arguments))
        assert statistic == pytest.approx(sign * z, rel=1e-9)


@pytest.mark.parametrize(
    ("b", "c", "n", "a"),
    [
        ((3, 2), (5, 4), (40, 25), (0.5, 0.5)),
        ((8, 1), (1, 2), (30, 90), (0.7, 0.3)),
        ((2.5, 7.1), (1.2, 3), (11.3, 40.2), (0.2, 0.8)),
    ],
)
def test_limits_of_two_labels_equal_the_profile_likelihood(b, c, n, a):
    low, _, _ = limits_and_p_value(b, c, n, a)

    def slope(label, difference):
        """Differentiate the largest log-likelihood of a label by its difference."""
        p = tangos_share(b[label], c[label], n[label], difference)
        r = n[label] - b[label] - c[label]
        return b[label] / (p + difference) - r / (1 - 2 * p - difference)

    def other(first):
        return (low - a[0] * first) / a[1]

    least, most = ((low - a[1] * end) / a[0] for end in (0.999, -0.999))
    first = optimize.brentq(
        lambda d: slope(0, d) / a[0] - slope(1, other(d)) / a[1],
        *(max(least, -0.999), min(most, 0.999)),
        xtol=1e-15,
    )
    label_variances = [variance(b[i], c[i], n[i], d) for i, d in enumerate((first, other(first)))]
    parts = [a[i] ** 2 / n[i] for i in (0, 1)]
    corrected = [n[i] / (n[i] - 1 + parts[i] / sum(parts)) for i in (0, 1)]
    v_f = sum(f * part * v for f, part, v in zip(corrected, parts, label_variances, strict=True))
    observed = sum(a[i] * (b[i] - c[i]) / n[i] for i in (0, 1))
    assert (observed - low) / math.sqrt(v_f) == pytest.approx(Z, rel=1e-9)


@cases("b", [0, 1, 3, 12, 40, 10**9])
@cases("c", [0, 1, 3, 40, 200, 10**9 - 90_000])
def test_p_value_of_one_label_equals_mcnemar(b, c):
    result = limits_and_p_value([b], [c], [b + c + 5])[2]

    if b == c:
        assert result == 1
    else:
        expected = mcnemar([[7, b], [c, 5]], exact=False, correction=False).pvalue
        assert result == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("n", [1, 2, 17, 1e9, 0.03])
class TestOneLabelThatDoesNotVary:
    def test_limits_are_symmetric_if_models_agree_on_every_row(self, n):
        # p_c (1 - p_c) l / n = p_c at the limit, where T^2 = n p_c / (1 - p_c) = z^2
        limit = Z**2 / (n + Z**2)

        assert limits_and_p_value([0], [0], [n]) == pytest.approx([-limit, limit, 1], rel=1e-9)

    def test_limits_have_a_closed_form_if_one_model_is_always_right(self, n):
        # T^2 = n (1 - d) / (1 + d)
        limit, p = (n - Z**2) / (n + Z**2), math.erfc(math.sqrt(n / 2))

        assert limits_and_p_value([n], [0], [n]) == pytest.approx([limit, 1, p], rel=1e-9)
        assert limits_and_p_value([0], [n], [n]) == pytest.approx([-1, -limit, p], rel=1e-9)


@pytest.mark.parametrize("n", [1, 4, 1000])
def test_limits_of_two_labels_without_variance_are_symmetric(n):
    # both p_c are equal: p_c^2 = z^2 f p_c (1 - p_c) / 2n, where f = n / (n - 1/2)
    half = Z**2 / (2 * n - 1)
    limit = half / (1 + half)

    assert limits_and_p_value([0, 0], [0, 0], [n, n]) == pytest.approx(
        [-limit, limit, 1], rel=1e-10
    )


def test_scores_that_differ_by_rounding_only_have_p_value_1():
    # 0.1 + 0.2 is not 0.3 in floats
    assert limits_and_p_value([5, 9, 0], [0, 0, 8], [5, 9, 8], [0.1, 0.2, 0.3])[2] == 1
    assert limits_and_p_value([3, 0, 1], [0, 6, 0], [30, 30, 10], None)[2] == 1


def drawn(rng, rows, labels, kind):
    """Draw tables of one kind: of whole or broken rows, few or many, and of any weights."""
    shape = (rows, labels)
    if kind == "few rows":
        n = rng.integers(1, 7, shape).astype(float)
    else:
        n = 10 ** rng.uniform(*{"broken rows": (-3, 2), "many rows": (0, 9)}[kind], shape)
    b, c, r = rng.random((3, *shape)) * (rng.random((3, *shape)) < 0.6)
    total = np.where(b + c + r > 0, b + c + r, 1)
    b, c = b / total * n, c / total * n
    if kind != "broken rows":
        b, c, n = np.floor(b), np.floor(c), np.ceil(n)
    a = np.where(rng.random((rows, 1)) < 0.5, 1, 10 ** rng.uniform(-3, 0, shape))
    return b, c, n, a / a.sum(axis=1, keepdims=True)


@pytest.mark.thorough
@pytest.mark.any_version
@pytest.mark.parametrize("labels", [1, 2, 5])
@pytest.mark.parametrize("kind", ["few rows", "broken rows", "many rows"])
class TestManySegmentsAtOnce:
    def test_limits_contain_the_difference_and_widen_with_the_level(self, labels, kind):
        b, c, n, a = drawn(np.random.default_rng(1), 400, labels, kind)
        difference = (a * (b - c) / n).sum(axis=1)

        low, high = np.swapaxes([paired_limits(b, c, n, a, level) for level in LEVELS], 0, 1)

        assert (np.diff(low, axis=0) <= 1e-13).all()
        assert (np.diff(high, axis=0) >= -1e-13).all()
        assert (low >= -1).all()
        assert (high <= 1).all()
        assert (low[0] <= difference + 1e-15).all()
        assert (difference - 1e-15 <= high[0]).all()

    def test_p_value_is_below_alpha_exactly_where_limits_exclude_0(self, labels, kind):
        rows = drawn(np.random.default_rng(2), 400, labels, kind)
        p = paired_p_value(*rows)

        assert (p >= 0).all()
        assert (p <= 1).all()
        for level in LEVELS:
            low, high = paired_limits(*rows, level)
            clear = np.abs(p / (1 - level) - 1) > 1e-9
            assert (((low > 0) | (high < 0)) == (p < 1 - level))[clear].all()

    def test_swapping_models_mirrors_the_limits(self, labels, kind):
        b, c, n, a = drawn(np.random.default_rng(3), 400, labels, kind)
        low, high = paired_limits(b, c, n, a, 0.95)

        swapped_low, swapped_high = paired_limits(c, b, n, a, 0.95)

        assert (swapped_low == -high).all()
        assert (swapped_high == -low).all()
        assert (paired_p_value(b, c, n, a) == paired_p_value(c, b, n, a)).all()

    def test_order_of_labels_does_not_change_limits(self, labels, kind):
        rows = drawn(np.random.default_rng(4), 400, labels, kind)
        swapped = [values[:, ::-1] for values in rows]

        limits, expected = paired_limits(*swapped, 0.95), paired_limits(*rows, 0.95)

        assert np.array(limits) == pytest.approx(np.array(expected), abs=1e-11)
        assert paired_p_value(*swapped) == pytest.approx(paired_p_value(*rows), abs=1e-11)

    def test_many_segments_at_once_equal_each_alone(self, labels, kind):
        rows = drawn(np.random.default_rng(5), 40, labels, kind)
        together = [*paired_limits(*rows, 0.95), paired_p_value(*rows)]

        for i in range(40):
            one = [values[[i]] for values in rows]
            alone = [*paired_limits(*one, 0.95), paired_p_value(*one)]
            assert np.ravel(alone) == pytest.approx([of[i] for of in together], abs=1e-12)

    def test_limits_and_p_values_equal_bisection(self, labels, kind):
        b, c, n, a = drawn(np.random.default_rng(6), 300, labels, kind)
        n = np.maximum(n, 2)  # of fewer rows the statistic may be z in more than one place

        low, high, p = tango.limits_and_p((a, b, c, n))

        result = [*paired_limits(b, c, n, a, 0.95), paired_p_value(b, c, n, a)]
        assert np.array(result) == pytest.approx(np.array([low, high, p]), abs=1e-10)

    def test_gate_limits_equal_bisection_and_contain_the_others(self, labels, kind):
        b, c, n, a = drawn(np.random.default_rng(8), 300, labels, kind)
        n = np.maximum(n, 2)

        for level in (0.8, 0.95, 0.9999):
            z = np.sqrt(2) * special.erfinv(level)
            result = np.array(paired_gate_limits(b, c, n, a, level))
            low, high = paired_limits(b, c, n, a, level)

            expected = np.array(tango.gate_limits((a, b, c, n), z))
            assert result == pytest.approx(expected, abs=1e-9)
            assert (result[0] <= low).all()
            assert (result[1] >= high).all()
            swapped = paired_gate_limits(c, b, n, a, level)
            assert (result == [-swapped[1], -swapped[0]]).all()


COUNTS = st.tuples(*[st.integers(0, 12)] * 3).filter(any)


@given(st.lists(COUNTS, min_size=1, max_size=3), st.sampled_from(LEVELS))
def test_p_values_and_limits_agree(labels, level):
    b, c, r = np.array(labels, float).T
    low, high, p = limits_and_p_value(b, c, b + c + r, level=level)

    if not math.isclose(p, 1 - level, rel_tol=1e-9):
        assert (p < 1 - level) == (low > 0 or high < 0)
    assert -1 <= low <= high <= 1


def test_limits_and_p_value_agree_with_few_rows_of_a_light_label():
    # the statistic reaches z, falls below it as the label of one row joins in, and rises again
    case = [7, 4, 2, 7, 1], [0.19463455, 0.03121945, 0.37323673, 0.36489052, 0.03601877]
    b, c = [0, 4, 0, 7, 1], [1, 0, 0, 0, 0]

    low, _, p = limits_and_p_value(b, c, *case)

    assert p == pytest.approx(0.0343, abs=1e-4)
    assert low > 0
    assert limits_and_p_value(b, c, *case, level=0.97)[0] < 0


@pytest.mark.parametrize("weights", [(0.999, 0.001), (0.001, 0.999), (1 - 1e-12, 1e-12)])
def test_a_label_with_nearly_all_weight_determines_the_limits(weights):
    heavy = int(weights[1] > weights[0])
    tables = [(12, 3, 100), (5, 9, 80)]
    alone = limits_and_p_value(*([one] for one in tables[heavy]))

    result = limits_and_p_value(*zip(*tables, strict=True), weights)

    light = min(weights)
    assert result == pytest.approx(alone, abs=2 * light)


def effective(weights, unit=1.0):
    """Count effective rows of weights of three kinds: b, c and n of the lower and upper side."""
    sums = [row(math.fsum(some)) * unit for some in weights]
    squares = [row(math.fsum(w * w for w in some)) * unit * unit for some in weights]
    largest = row(max(max(some, default=0) for some in weights)) * unit
    lower, upper = effective_paired_counts(sums, squares, largest)
    return np.ravel(lower), np.ravel(lower if upper is None else upper)


@cases("case", reference("weights")["pairs"])
def test_effective_rows_are_those_of_the_reference(case):
    pairs = list(zip(case["weights"], case["kind"], strict=True))
    weights = [[w for w, kind in pairs if kind == number] for number in range(3)]

    sides = effective(weights)

    assert [n for *_, n in sides] == pytest.approx([case["n_lower"], case["n_upper"]], rel=1e-9)


WEIGHTS = [
    [[3, 1], [2], [1, 1, 5, 1]],
    [[1] * 4, [10], [1] * 30],
    [[], [7], [1, 2]],
    [[0.5] * 3, [], []],
    [[1e-3, 20], [0.1] * 5, [3]],
    [[4], [], []],
]


def exactly(weights):
    """Find effective rows from weights in fractions."""
    sums = [sum(map(Fraction, some), Fraction(0)) for some in weights]
    squares = [sum((Fraction(w) ** 2 for w in some), Fraction(0)) for some in weights]
    return tango.effective(sums, squares, max(Fraction(max(some, default=0)) for some in weights))


@cases("unit", [1, 1e-100, 1e100])
@cases("weights", WEIGHTS)
def test_effective_rows_do_not_depend_on_the_unit_of_weights(weights, unit):
    for result, expected in zip(effective(weights, unit), exactly(weights), strict=True):
        assert result == pytest.approx([float(kind) for kind in expected], rel=1e-12)


@cases("weight", [1.0, 3.0, 0.1])
def test_equal_weights_give_the_numbers_of_rows(weight):
    for result in effective([[weight] * 5, [weight] * 2, [weight] * 30]):
        assert result == pytest.approx([5, 2, 37], rel=1e-14)


WEIGHT_LISTS = st.lists(st.floats(1e-3, 1e3), max_size=8)


@given(st.tuples(*[WEIGHT_LISTS] * 3).filter(any))
def test_p_values_and_limits_of_weighted_rows_agree(weights):
    lower, upper = (tuple(map(row, side)) for side in effective(weights))
    one, level = row(1.0), 0.9

    ((low,), (high,)) = paired_limits(*lower, one, level, upper)
    (p,) = paired_p_value(*lower, one, upper)

    difference = lower[0] - lower[1]
    assert (p < 1 - level) == (low > 0 or high < 0) or abs(p - (1 - level)) < 1e-6
    assert p == 1 or abs(difference) > 0
    assert low - 1e-9 <= (difference / lower[2]).item() <= high + 1e-9


def test_effective_counts_without_weights_equal_the_counts():
    rng = np.random.default_rng(7)
    b, c, e = rng.integers(0, 2**50, (3, 500)).astype(float) // 10 ** rng.integers(0, 15, 500)

    for largest in (None, np.ones(500)):
        result, upper = effective_paired_counts((b, c, e), (b, c, e), largest)

    assert upper is None
    defined = b + c + e > 0
    for effective_rows, rows in zip(result, (b, c, b + c + e), strict=True):
        assert (effective_rows == rows)[defined].all()


@cases(
    ("sums", "squares"),
    [
        ((0, 0, 0), (0, 0, 0)),
        ((1e-170, 0, 1e-170), (0, 0, 0)),
        ((1e170, 0, 1e170), (math.inf, 0, math.inf)),
        ((1e-160, 1e-160, 0), (1e-320, 1e-320, 0)),
    ],
)
def test_effective_counts_are_nan_if_squares_of_weights_are_out_of_range(sums, squares):
    lower, _ = effective_paired_counts(
        [row(value) for value in sums], [row(value) for value in squares], row(max(sums))
    )

    assert np.isnan(lower).all()
