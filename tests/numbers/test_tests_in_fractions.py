"""p-values and differences of segments and models, recalls of 0 and 1 among them."""

from fractions import Fraction
from math import isclose

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import erfc, exp, mp, mpf, sqrt

import balframe as bf
from tests.support.cases import cases
from tests.support.oracles.constrained_likelihood import (
    chi_square_tail,
    equality,
    limits_of_difference,
    p_of_difference,
)

pytestmark = pytest.mark.any_version
mp.dps = 50
Z = mpf("1.95996398454005423552")
_STEPS, _INNER_STEPS = 90, 120  # of bisection: what is left of an interval is below 1e-25


def count_rows(**correct_rows):
    """Write down segments, each as (correct, support) of its labels."""
    rows = [
        (segment, label, predicted, n)
        for segment, labels in correct_rows.items()
        for label, (x, size) in enumerate(labels)
        for predicted, n in ((label, x), (1 - label if label < 2 else 0, size - x))
    ]
    return pl.DataFrame(rows, schema=["g", "y", "p", "k"], orient="row")


def _real(value):
    return mpf(value.numerator) / value.denominator


FEW = st.integers(1, 6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
MANY = st.sampled_from([30, 31, 1000, 10**6, 10**9]).flatmap(
    lambda n: st.tuples(st.sampled_from([0, 1, n // 3, n - 1, n]), st.just(n))
)
LABEL = st.one_of(FEW, MANY)


def gap(one, other, **how):
    names = ("lower", "upper", "p_value")
    frame = count_rows(a=one, b=other)
    how = {"by": "g", "counts": "k", "metrics": "uar", "adjust": None, **how}
    out = bf.gaps(frame, "y", "p", detail=True, **how).row(0, named=True)
    return [out[name] for name in names]


def transpose(one, other):
    """Lay out correct rows and rows of both segments, and the weights."""
    return (*zip(*one, strict=True), *zip(*other, strict=True), [1] * len(one))


@cases(("x", "y"), [(0, 1), (1, 2), (1, 5), (10**9 - 1, 10**9 - 7)])
def test_p_values_of_gaps_with_a_billion_rows_equal_exact_arithmetic(x, y):
    one, other = [(x, 10**9)], [(y, 10**9)]
    *_, result = gap(one, other)

    assert isclose(result, p_of_difference(*transpose(one, other)), rel_tol=2e-6)


# p-values of scores that differ in the ninth digit alone have seven digits left
@settings(max_examples=25, deadline=None)
@given(st.integers(1, 2).flatmap(lambda k: st.tuples(*[st.tuples(*[LABEL] * k)] * 2)))
def test_p_values_of_gaps_equal_exact_arithmetic(pair):
    *_, result = gap(*pair)

    expected = p_of_difference(*transpose(*pair))
    assert isclose(result, expected, rel_tol=1e-6, abs_tol=1e-300)


@settings(max_examples=15, deadline=None)
@given(
    st.integers(1, 2).flatmap(lambda k: st.tuples(*[st.tuples(*[LABEL] * k)] * 2)),
    st.sampled_from([0.7, 0.95, 0.9995]),
)
def test_limits_of_gaps_equal_exact_arithmetic(pair, level):
    *result, _ = gap(*pair, level=level)

    expected = limits_of_difference(*transpose(*pair), level)
    assert result == pytest.approx([float(limit) for limit in expected], abs=1e-11)


@cases(
    ("only_one", "only_other"),
    [(0, 0), (0, 1), (0, 60), (3, 3), (2, 9), (500, 400), (0, 1000), (10**6, 10**6 + 4000)],
)
def test_compare_of_accuracy_has_the_p_value_of_mcnemar(only_one, only_other):
    columns = {"y": [1] * 4, "p": [1, 1, 0, 0], "q": [1, 0, 1, 0]}
    frame = pl.DataFrame({**columns, "k": [5, only_one, only_other, 2]})
    out = bf.compare(frame, "y", ["p", "q"], counts="k", metrics="accuracy", detail=True)

    statistic = Fraction((only_one - only_other) ** 2, max(only_one + only_other, 1))
    expected = erfc(sqrt(_real(statistic) / 2))
    assert out["p_value"].item() == pytest.approx(float(expected), rel=1e-9, abs=1e-300)


def paired(multiplier, labels):
    """Give the difference that a multiplier leaves, and the statistic there.

    Of b/(m + t) + c/(m - t) + r/m = 1 bisection finds the largest m.
    """
    share = mpf(1) / len(labels)
    left, parts = mpf(0), []
    for n, b, c in labels:
        t, r = multiplier * share, n - b - c
        z, high = mpf(0), mpf(n)  # m - t
        if c or b / (2 * t) + r / t > 1:
            for _ in range(_INNER_STEPS):
                middle = (z + high) / 2
                is_low = b / (middle + 2 * t) + c / middle + r / (middle + t) > 1
                z, high = (middle, high) if is_low else (z, middle)
        p_b, p_r = b / (z + 2 * t), r / (z + t)
        p_c = 1 - p_b - p_r
        left += share * (p_b - p_c)
        parts.append((share**2 / n, p_b + p_c - (p_b - p_c) ** 2, n))
    whole = sum(part for part, _, _ in parts)
    v = sum(part * spread for part, spread, _ in parts)
    v_f = sum(n / (n - 1 + part / whole) * part * spread for part, spread, n in parts)
    return left, multiplier * v / sqrt(v_f) if v_f > 0 else mpf(0)


def crossing(labels, is_beyond):
    """Find where the logarithm of the multiplier has gone too far."""
    low, high = mpf(-40), mpf(40)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_beyond(*paired(exp(middle), labels)) else (middle, high)
    return paired(exp(high), labels)


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::balframe.BalframeWarning")
@pytest.mark.parametrize(
    "labels",
    [
        [(5, 0, 0)],
        [(9, 9, 0), (7, 0, 2)],
        [(5, 5, 0), (7, 0, 7)],
        [(3, 0, 3), (10**6, 10**6, 0)],
        [(10**9, 1, 0), (4, 2, 2), (9, 0, 0)],
    ],
)
def test_compare_of_balanced_accuracy_equals_exact_arithmetic(labels):
    """Each label is given as its rows and those that only one of the models gets right."""
    rows = []
    for label, (n, only_one, only_other) in enumerate(labels):
        wrong = label + 1
        rows += [(label, label, label, n - only_one - only_other)]
        rows += [(label, label, wrong, only_one), (label, wrong, label, only_other)]
    frame = pl.DataFrame(rows, schema=["y", "p", "q", "k"], orient="row")
    out = bf.compare(frame, "y", ["q", "p"], counts="k", metrics="uar", detail=True).row(
        0, named=True
    )

    swapped = [(n, c, b) for n, b, c in labels]
    difference = sum(Fraction(b - c, n) for n, b, c in labels) / len(labels)
    lower, _ = crossing(labels, lambda _, statistic: statistic > Z)
    upper, _ = crossing(swapped, lambda _, statistic: statistic > Z)
    larger = labels if difference > 0 else swapped
    p = erfc(crossing(larger, lambda left, _: left < 0)[1] / sqrt(2)) if difference else 1
    assert (out["model"], out["baseline"]) == ("p", "q")
    assert out["difference"] == pytest.approx(float(difference), rel=1e-12, abs=1e-15)
    assert out["lower"] == pytest.approx(float(lower), rel=1e-9)
    assert out["upper"] == pytest.approx(float(-upper), rel=1e-9)
    assert out["p_value"] == pytest.approx(float(p), rel=1e-9)


@cases("right", [(40, 0), (40, 40), (0, 0), (40, 20, 0), (39, 40, 40), (0, 1, 0, 0)])
def test_disparity_test_of_accuracy_equals_exact_arithmetic(right):
    names = "abcd"[: len(right)]
    segments = {name: [(x, 40)] for name, x in zip(names, right, strict=True)}
    out = bf.disparity(
        count_rows(**segments), "y", "p", by="g", counts="k", metrics="accuracy", detail=True
    )

    n = 40 * len(right)
    pooled = Fraction(sum(right), n)
    spread = pooled * (1 - pooled) / 40 * Fraction(n, n - 1)
    recalls = [Fraction(x, 40) for x in right]
    q = sum((one - pooled) ** 2 for one in recalls) / spread if spread else Fraction(0)
    assert out["statistic"].item() == pytest.approx(float(q), rel=1e-9)
    if spread == 0:
        assert out["p_value"].item() == 1
    elif pooled == Fraction(1, 2):  # where the variance of Q is no larger than that of chi-square
        expected = chi_square_tail(len(right) - 1, mpf(q.numerator) / q.denominator)
        assert out["p_value"].item() == pytest.approx(float(expected), rel=1e-9)


@pytest.mark.thorough
@cases(
    "segments",
    [
        [[(115, 120)], [(141, 150)], [(996, 1000)]],
        [[(20_000, 20_000)], [(20_000, 20_000)], [(99_990, 100_000)]],
        [[(0, 9), (0, 1)], [(8, 8), (1, 1)], [(1, 4), (2, 7)]],  # Newton's steps lead too far
        [[(1, 1), (0, 2)], [(3, 3), (500, 1000)], [(9, 10), (10**6 - 9, 10**6)], [(2, 3), (4, 5)]],
    ],
)
def test_disparity_test_of_balanced_accuracy_equals_exact_arithmetic(segments):
    frame = count_rows(**dict(zip("abcd", segments, strict=False)))
    out = bf.disparity(
        frame, "y", "p", by="g", counts="k", metrics="uar", min_support=1, detail=True
    )

    weights = [mpf(1) / len(segments[0])] * len(segments[0])
    expected = equality([tuple(zip(*one, strict=True)) for one in segments], weights)
    assert out["statistic"].item() == pytest.approx(float(expected.q), rel=1e-8)
    # where less than one degree of freedom is left, the chi-square without a scale too
    p, df = expected.p_value, len(segments) - 1
    p = p if expected.scale <= df else max(p, chi_square_tail(df, expected.q))
    assert out["p_value_all"].item() == pytest.approx(float(p), rel=1e-8)


def compare(frame, **how):
    gaps = bf.gaps(frame, "y", "p", by="g", metrics=["accuracy", "uar", "mcc"], detail=True, **how)
    report = bf.report(frame, "y", "p", by="g", metrics="all", interval=True, **how)
    scores = [name for name in report.columns if name != "n"]
    return report.select(scores).rows() + gaps.drop("n", "min_support").rows()


@pytest.mark.parametrize("weight", [0.125, 1.0, 2.0**40])
def test_compare_with_equal_weights_equals_compare_without(weight):
    frame = count_rows(a=[(3, 7), (5, 5)], b=[(0, 4), (6, 11)], c=[(9, 9), (30, 31)])
    rows = frame[[i for i, k in enumerate(frame["k"]) for _ in range(k)]].drop("k")

    weighted = compare(rows.with_columns(w=pl.lit(weight)), sample_weight="w")

    assert [[_near(v) for v in row] for row in compare(rows)] == [list(row) for row in weighted]


def _near(value):
    return pytest.approx(value, rel=1e-9, abs=1e-12) if isinstance(value, float) else value


@cases("heavy", range(4))
def test_report_with_a_single_nonzero_weight_equals_that_row_alone(heavy):
    rows = pl.DataFrame({"g": ["a"] * 4, "y": [0, 0, 1, 2], "p": [0, 1, 1, 0]})
    how = {"by": "g", "metrics": "all", "interval": True, "labels": [0, 1, 2], "pos_label": 1}
    how["detail"] = True
    weight = [7.3 if i == heavy else 0.0 for i in range(4)]
    result = bf.report(rows.with_columns(w=pl.Series(weight)), "y", "p", sample_weight="w", **how)
    alone = bf.report(rows[heavy : heavy + 1], "y", "p", **how)

    assert result["n"].item() == 4
    for name in (name for name in alone.columns if name not in ("n", "min_support")):
        assert result[name].item() == _near(alone[name].item()), name
