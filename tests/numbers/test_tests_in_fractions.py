"""p-values and differences of segments and models, recalls of 0 and 1 among them."""

from fractions import Fraction
from itertools import product
from math import comb, isclose, prod

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import erfc, gammainc, mp, mpf, sqrt
from tried import TRIED

import balframe as bf

pytestmark = pytest.mark.slow
mp.dps = 50
Z = mpf("1.95996398454005423552")


def counted(**right_of):
    """Write down segments, each as (correct, support) of its labels."""
    rows = [
        (segment, label, predicted, n)
        for segment, labels in right_of.items()
        for label, (x, size) in enumerate(labels)
        for predicted, n in ((label, x), (1 - label if label < 2 else 0, size - x))
    ]
    return pl.DataFrame(rows, schema=["g", "y", "p", "k"], orient="row")


def by_normal(one, other):
    """Test by z with pooled recalls; 1 where nothing varies."""
    difference = variance = Fraction(0)
    for (x, n), (x_other, n_other) in zip(one, other, strict=True):
        pooled = Fraction(x + x_other, n + n_other)
        difference += Fraction(x, n) - Fraction(x_other, n_other)
        variance += pooled * (1 - pooled) * (Fraction(1, n) + Fraction(1, n_other))
    if variance == 0:
        return mpf(1)
    return erfc(
        sqrt(mpf(difference.numerator**2) / difference.denominator**2 / _real(variance) / 2)
    )


def _real(value):
    return mpf(value.numerator) / value.denominator


def by_mid_p(one, other):
    """Go through all outcomes of binomials with pooled recalls, in fractions."""
    draws = []
    for (x, n), (x_other, n_other) in zip(one, other, strict=True):
        pooled = Fraction(x + x_other, n + n_other)
        for size, sign in ((n, 1), (n_other, -1)):
            chances = [
                comb(size, i) * pooled**i * (1 - pooled) ** (size - i) for i in range(size + 1)
            ]
            draws.append([(Fraction(sign * i, size), p) for i, p in enumerate(chances) if p])
    found = sum(Fraction(x, n) for x, n in one) - sum(Fraction(x, n) for x, n in other)
    lower = upper = Fraction(0)
    for outcome in product(*draws):
        value, chance = sum(v for v, _ in outcome), prod(p for _, p in outcome)
        lower += chance * (Fraction(value < found) + Fraction(int(value == found), 2))
        upper += chance * (Fraction(value > found) + Fraction(int(value == found), 2))
    return min(Fraction(1), 2 * min(lower, upper))


FEW = st.integers(1, 4).flatmap(lambda n: st.tuples(st.sampled_from([0, n, n // 2]), st.just(n)))
MANY = st.sampled_from([30, 31, 1000, 10**6, 2**31, 2**40]).flatmap(
    lambda n: st.tuples(st.sampled_from([0, 1, n // 3, n - 1, n]), st.just(n))
)


def p_of_gaps(one, other):
    out = bf.gaps(counted(a=one, b=other), "y", "p", by="g", counts="k", metrics="uar", adjust=None)
    return out["p_value"].to_list()


@settings(max_examples=25, deadline=None)
@given(st.tuples(FEW, FEW), st.tuples(FEW, FEW))
def test_p_values_of_few_rows(one, other):
    TRIED["inputs"] += 1
    expected = float(by_mid_p(one, other))

    assert p_of_gaps(one, other) == [pytest.approx(expected, rel=1e-9)] * 2


@settings(max_examples=25, deadline=None)
@given(st.tuples(MANY, MANY), st.tuples(MANY, MANY))
def test_p_values_of_many_rows(one, other):
    TRIED["inputs"] += 1
    expected = float(by_normal(one, other))

    for found in p_of_gaps(one, other):
        assert isclose(found, expected, rel_tol=1e-6, abs_tol=1e-300)


@pytest.mark.parametrize(
    ("only_one", "only_other"),
    [(0, 0), (0, 1), (0, 60), (3, 3), (2, 9), (500, 400), (0, 1000), (10**6, 10**6 + 4000)],
)
def test_mcnemar(only_one, only_other):
    columns = {"y": [1] * 4, "p": [1, 1, 0, 0], "q": [1, 0, 1, 0]}
    frame = pl.DataFrame({**columns, "k": [5, only_one, only_other, 2]})
    out = bf.compare(frame, "y", ["p", "q"], counts="k", metrics="accuracy")

    discordant, fewer = only_one + only_other, min(only_one, only_other)
    if discordant < 5000:
        tail = sum(comb(discordant, i) for i in range(fewer + 1))
        expected = min(Fraction(1), Fraction(2 * tail, 2**discordant))
    else:  # with the correction for continuity, the normal is close
        expected = erfc((abs(only_one - only_other) - 1) / sqrt(2 * mpf(discordant)))
    room = 1e-10 if discordant < 5000 else 1e-3
    assert out["p_value"].item() == pytest.approx(float(expected), rel=room, abs=1e-300)


@pytest.mark.parametrize(
    "labels",
    [
        [(5, 0, 0)],
        [(5, 5, 0), (7, 0, 7)],
        [(3, 0, 3), (10**6, 10**6, 0)],
        [(10**9, 1, 0), (4, 2, 2), (9, 0, 0)],
    ],
)
def test_limits_of_paired_differences(labels):
    """Each label is given as its rows and those that only one of the models gets right."""
    rows = []
    for label, (n, only_one, only_other) in enumerate(labels):
        wrong = label + 1
        rows += [(label, label, label, n - only_one - only_other)]
        rows += [(label, label, wrong, only_one), (label, wrong, label, only_other)]
    frame = pl.DataFrame(rows, schema=["y", "p", "q", "k"], orient="row")
    out = bf.compare(frame, "y", ["p", "q"], counts="k", metrics="uar").row(0, named=True)

    share = Fraction(1, len(labels))
    difference, below, above = Fraction(0), mpf(0), mpf(0)
    for n, b, c in labels:
        observed, centre = Fraction(b - c, n), Fraction(b - c, n + 2)
        half = Z * sqrt(_real((Fraction(b + c + 2, n + 2) - centre**2) / (n + 2)))
        difference += share * observed
        below += _real(share) ** 2 * max(_real(observed - centre) + half, 0) ** 2
        above += _real(share) ** 2 * max(_real(centre - observed) + half, 0) ** 2
    lower, upper = _real(difference) - sqrt(below), _real(difference) + sqrt(above)
    assert (out["model"], out["reference"]) == ("p", "q")
    assert out["difference"] == pytest.approx(float(difference), rel=1e-12)
    assert out["lower"] == pytest.approx(max(-1, float(lower)), rel=1e-9)
    assert out["upper"] == pytest.approx(min(1, float(upper)), rel=1e-9)


@pytest.mark.parametrize(
    "right", [(40, 0), (40, 40), (0, 0), (40, 20, 0), (39, 40, 40), (0, 1, 0, 0)]
)
def test_whether_segments_are_alike(right):
    names = "abcd"[: len(right)]
    segments = {name: [(x, 40)] for name, x in zip(names, right, strict=True)}
    out = bf.disparity(counted(**segments), "y", "p", by="g", counts="k", metrics="accuracy")

    pooled = Fraction(sum(right), 40 * len(right))
    spread = pooled * (1 - pooled) / 40
    recalls = [Fraction(x, 40) for x in right]
    q = sum((one - pooled) ** 2 for one in recalls) / spread if spread else Fraction(0)
    assert out["statistic"].item() == pytest.approx(float(q), rel=1e-12)
    if spread == 0:
        assert out["p_value"].item() == 1
    elif pooled == Fraction(1, 2):  # where the variance of Q is no larger than that of chi-square
        df = len(right) - 1
        expected = gammainc(mpf(df) / 2, _real(q) / 2, regularized=True)
        assert out["p_value"].item() == pytest.approx(float(expected), rel=1e-9)


def compared(frame, **how):
    gaps = bf.gaps(frame, "y", "p", by="g", metrics=["accuracy", "uar", "mcc"], **how)
    report = bf.report(frame, "y", "p", by="g", metrics="all", interval=True, **how)
    scores = [name for name in report.columns if name != "n"]
    return report.select(scores).rows() + gaps.drop("n", "min_support").rows()


@pytest.mark.parametrize("weight", [0.125, 1.0, 2.0**40])
def test_equal_weights_are_none(weight):
    frame = counted(a=[(3, 7), (5, 5)], b=[(0, 4), (6, 11)], c=[(9, 9), (30, 31)])
    rows = frame[[i for i, k in enumerate(frame["k"]) for _ in range(k)]].drop("k")

    weighted = compared(rows.with_columns(w=pl.lit(weight)), sample_weight="w")

    assert [[_near(v) for v in row] for row in compared(rows)] == [list(row) for row in weighted]


def _near(value):
    return pytest.approx(value, rel=1e-9, abs=1e-12) if isinstance(value, float) else value


@pytest.mark.parametrize("heavy", range(4))
def test_all_weights_zero_but_one_leave_one_row(heavy):
    rows = pl.DataFrame({"g": ["a"] * 4, "y": [0, 0, 1, 2], "p": [0, 1, 1, 0]})
    how = {"by": "g", "metrics": "all", "interval": True, "labels": [0, 1, 2], "pos_label": 1}
    weight = [7.3 if i == heavy else 0.0 for i in range(4)]
    found = bf.report(rows.with_columns(w=pl.Series(weight)), "y", "p", sample_weight="w", **how)
    alone = bf.report(rows[heavy : heavy + 1], "y", "p", **how)

    assert found["n"].item() == 4
    for name in (name for name in alone.columns if name not in ("n", "min_support")):
        assert found[name].item() == _near(alone[name].item()), name
