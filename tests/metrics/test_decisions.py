"""Net benefit and cost: published figures, arithmetic by hand, limits, and their names."""

import json
import math

import numpy as np
import polars as pl
import pytest

import balframe as bf
from balframe.cli import parse_values
from tests.support.cases import cases

# The example of the package dcurves (PyPI, 1.1.7): 750 patients, of whom 105 have cancer. The first
# model is the family history; the second is the column cancerpredmarker, of which these are the
# true and the false positives at thresholds. The net benefits are those that dca() returns.
FAMILY_HISTORY = bf.from_matrix([[554, 91], [81, 24]])
NET_BENEFIT_OF_FAMILY_HISTORY = {
    0.05: 0.025614035088,
    0.1: 0.018518518519,
    0.15: 0.010588235294,
    0.2: 0.001666666667,
    0.25: -0.008444444444,
    0.3: -0.02,
    0.35: -0.033333333333,
}
MARKER = {  # threshold: true positives, false positives, net benefit, net benefit of all
    0.05: (96, 320, 0.105543859649, 0.094736842105),
    0.1: (87, 193, 0.087407407407, 0.044444444444),
    0.15: (82, 128, 0.079215686275, -0.011764705882),
    0.2: (75, 98, 0.067333333333, -0.075),
    0.25: (72, 72, 0.064, -0.146666666667),
    0.3: (62, 49, 0.054666666667, -0.228571428571),
    0.35: (57, 36, 0.050153846154, -0.323076923077),
}


def patients():
    """Make rows that have these true and false positives at each threshold."""
    ends = [(105, 645), *((tp, fp) for tp, fp, *_ in MARKER.values()), (0, 0)]  # of each step
    scores = [0.01, *MARKER]
    columns = {"y": [], "score": []}
    for score, above, below in zip(scores, ends[:-1], ends[1:], strict=True):
        for y, n in ((1, above[0] - below[0]), (0, above[1] - below[1])):
            columns["y"] += [y] * n
            columns["score"] += [score] * n
    return pl.DataFrame(columns)


def test_net_benefit_is_that_of_a_published_example():
    names = {f"net_benefit({t})": value for t, value in NET_BENEFIT_OF_FAMILY_HISTORY.items()}
    out = bf.report(FAMILY_HISTORY, "actual", "predicted", counts="n", metrics=list(names))

    assert out.select(list(names)).row(0) == pytest.approx(tuple(names.values()), abs=1e-11)


def test_curve_has_the_net_benefit_at_each_threshold():
    out = bf.curve(patients(), "y", "score", metrics="net_benefit", thresholds=list(MARKER))

    assert out["threshold"].to_list() == list(MARKER)
    expected = [value for _, _, value, _ in MARKER.values()]
    assert out["net_benefit"].to_list() == pytest.approx(expected, abs=1e-11)


def test_curve_at_thresholds_that_are_no_probabilities_is_null():
    out = bf.curve(
        patients(), "y", "score", metrics="net_benefit", thresholds=[-1, 0, 1, 2], interval=True
    )

    assert out["net_benefit"].to_list() == [None, pytest.approx(105 / 750), None, None]
    assert out["net_benefit_upper"].is_null().to_list() == [True, False, True, True]


def test_decision_curve_draws_acting_on_everybody_and_on_nobody():
    chart = bf.plot.decision_curve(patients(), "y", "score", thresholds=list(MARKER))
    text = json.dumps(chart.to_dict())
    (rows,) = [rows for rows in chart.to_dict()["datasets"].values() if "everybody" in rows[0]]

    assert [row["estimate"] for row in rows] == pytest.approx([v[2] for v in MARKER.values()])
    assert [row["everybody"] for row in rows] == pytest.approx([v[3] for v in MARKER.values()])
    assert all(row["lower"] < row["estimate"] < row["upper"] for row in rows)
    assert '"strokeDash": [4, 3]' in text
    assert '"datum": 0' in text


def test_cost_adds_up_errors():
    out = bf.report(
        FAMILY_HISTORY,
        "actual",
        "predicted",
        counts="n",
        metrics=["cost(fn=5, fp=1)", "cost(fp=1, fn=5)", "cost(5, 1)", "cost(1, 1)", "accuracy"],
    )

    five = (5 * 81 + 91) / 750
    assert out.row(0)[-5:] == pytest.approx((five, five, five, 172 / 750, 578 / 750))


RNG = np.random.default_rng(12)
N = 400
Y = RNG.integers(0, 2, N)
FRAME = pl.DataFrame(
    {
        "y": Y,
        "p": np.where(RNG.random(N) < 0.8, Y, 1 - Y),
        "s": RNG.random(N) / 2 + Y / 2,
        "c": np.repeat(np.arange(N // 4), 4),
        "w": RNG.choice([1.0, 2.0, 5.0], N),
    }
)


def limits(metric, **options):
    out = bf.report(FRAME, "y", "p", metrics=metric, interval=True, **options)
    return np.array(out.row(0)[-2:])


@cases("options", [{}, {"cluster": "c"}, {"sample_weight": "w"}])
def test_limits_do_not_depend_on_the_unit_of_cost(options):
    assert limits("cost(fn=20, fp=5)", **options) == pytest.approx(
        5 * limits("cost(fn=4, fp=1)", **options), rel=1e-12
    )


def test_limits_have_the_variance_of_the_mean_payoff():
    """With many rows, they are nearly those of the normal distribution."""
    y, p = FRAME["y"].to_numpy(), FRAME["p"].to_numpy()
    many, z = 100, 1.959964
    big = bf.from_matrix(
        [[many * int(((y == i) & (p == j)).sum()) for j in (0, 1)] for i in (0, 1)]
    )
    for metric, payoff in {
        "net_benefit(0.2)": ((y == 1) & (p == 1)) - 0.25 * ((y == 0) & (p == 1)),
        "cost(fn=5, fp=1)": 5.0 * ((y == 1) & (p == 0)) + ((y == 0) & (p == 1)),
    }.items():
        out = bf.report(big, "actual", "predicted", counts="n", metrics=metric, interval=True)
        half = z * payoff.std() / np.sqrt(many * N)
        low, high = payoff.mean() - half, payoff.mean() + half
        assert out.row(0)[-2:] == pytest.approx((low, high), abs=0.02 * half)


def test_gates_and_gaps_have_limits():
    rules = ["net_benefit(0.2) >= 0.2", "cost(fn=5, fp=1) <= 0.4", "cost(fn=5, fp=1) <= 1"]
    out = bf.check(FRAME, "y", "p", rules=rules)
    gaps = bf.gaps(
        FRAME.with_columns(g=pl.int_range(N) % 2), "y", "p", by="g", metrics="cost(fn=5, fp=1)"
    )

    assert out["status"].to_list() == ["pass", "fail", "pass"]
    assert gaps["lower"].is_null().sum() == 0


PAIRS = pl.DataFrame(  # what two models predict on 200 rows
    {
        "y": [1, 1, 1, 1, 0, 0, 0, 0],
        "new": [1, 1, 0, 0, 1, 1, 0, 0],
        "old": [1, 0, 1, 0, 1, 0, 1, 0],
        "n": [30, 14, 5, 11, 12, 9, 4, 115],
    }
)
LIMITS = ["lower", "upper", "p_value"]


def limits_of_tango(b, c, n):
    """Return the limits of (b - c) / n where Tango's statistic is z, by bisection."""
    z = 1.959963984540054

    def statistic(d):
        rest = -b - c + (2 * n - b + c) * d
        q = (math.sqrt(rest**2 + 8 * n * c * d * (1 - d)) - rest) / (4 * n)
        return (b - c - n * d) / math.sqrt(n * (2 * q + d * (1 - d)))

    def root(sign):
        inside, outside = (b - c) / n, sign
        for _ in range(80):
            middle = (inside + outside) / 2
            is_inside = abs(statistic(middle)) < z
            inside, outside = (middle, outside) if is_inside else (inside, middle)
        return inside

    return root(-1), root(1)


@pytest.mark.parametrize(
    ("metric", "gains", "most"),
    [
        # of a hit against a miss, and of a false alarm against none
        ("net_benefit(0.2)", (1, -0.25), 1),
        ("net_benefit(0.75)", (1, -3), 3),
        ("cost(fn=5, fp=1)", (-5, 1), 5),
        ("cost(fn=0, fp=2)", (0, 2), 2),
    ],
)
def test_two_models_are_compared_by_the_payoffs_of_the_same_rows(metric, gains, most):
    out = bf.compare(
        PAIRS, "y", ["old", "new"], counts="n", pos_label=1, metrics=metric, detail=True
    )
    gained = [14 * gains[0], -5 * gains[0], 9 * gains[1], -4 * gains[1]]
    b, c = (sum(max(sign * gain, 0) for gain in gained) / most for sign in (1, -1))

    assert out["difference"].item() == pytest.approx(sum(gained) / 200, abs=1e-12)
    limits = [most * limit for limit in limits_of_tango(b, c, 200)]
    assert [out["lower"].item(), out["upper"].item()] == pytest.approx(limits, abs=1e-9)
    p = math.erfc(abs(b - c) / math.sqrt(b + c) / math.sqrt(2))  # McNemar's
    assert out["p_value"].item() == pytest.approx(p, abs=1e-9)


@pytest.mark.parametrize("options", [{}, {"sample_weight": "w"}, {"cluster": "person"}])
def test_errors_that_cost_alike_are_compared_as_error_rates(options):
    rng = np.random.default_rng(5)
    rows = pl.DataFrame(rng.integers(0, 2, (300, 3)), schema=["y", "new", "old"])
    rows = rows.with_columns(w=pl.Series(rng.random(300)), person=pl.Series(np.arange(300) // 4))
    metrics = ["error_rate", "cost(fn=1, fp=1)", "cost(fn=7, fp=7)"]
    out = bf.compare(
        rows, "y", ["new", "old"], pos_label=1, metrics=metrics, detail=True, **options
    )

    of_rate = out.row(0, named=True)
    for row, unit in zip(out.tail(2).iter_rows(named=True), (1, 7), strict=True):
        expected = [of_rate["lower"] * unit, of_rate["upper"] * unit, of_rate["p_value"]]
        assert [row[name] for name in LIMITS] == pytest.approx(expected, abs=1e-12)


def test_gates_against_another_model_of_the_same_rows_have_limits():
    rules = ["net_benefit(0.2) >= baseline - 0.1", "cost(fn=5, fp=1) <= baseline - 0.3"]
    out = bf.check(PAIRS, "y", "new", counts="n", pos_label=1, baseline="old", rules=rules)

    assert out["status"].to_list() == ["pass", "inconclusive"]


def test_best_threshold_has_the_least_cost():
    out = bf.best_threshold(FRAME, "y", "s", metrics="cost(fn=5, fp=1)", min_support=0)
    y, s = FRAME["y"].to_numpy(), FRAME["s"].to_numpy()
    costs = [np.mean(5 * (y & (s < t)) + ((1 - y) & (s >= t))) for t in s]

    assert out["estimate"].item() == pytest.approx(min(costs))


@cases(
    ("metric", "message"),
    [
        (
            "net_benefit",
            "takes a probability between 0 and 1 in brackets, as in 'net_benefit(0.2)'",
        ),
        ("net_benefit(1)", "takes a probability between 0 and 1"),
        ("net_benefit(0.2, 0.3)", "takes a probability between 0 and 1"),
        ("cost", "takes 2 numbers of at least 0, one of which is above 0, in brackets"),
        ("cost(5)", "as in 'cost(fn=5, fp=1)'"),
        ("cost(fn=5, fn=1)", "takes 2 numbers"),
        ("cost(fn=0, fp=0)", "takes 2 numbers"),
        ("cost(fn=-1, fp=1)", "takes 2 numbers"),
        ("cost(miss=1, fp=1)", "takes 2 numbers"),
        ("cost(5, inf)", "takes 2 numbers"),
    ],
)
def test_other_numbers_are_refused(metric, message):
    with pytest.raises(bf.InvalidInputError) as raised:
        bf.report(FRAME, "y", "p", metrics=metric)

    assert message in str(raised.value)


@cases(
    ("texts", "expected"),
    [
        (["cost(fn=5, fp=1)"], "cost(fn=5, fp=1)"),
        (["c=cost(fn=5, fp=1)", "accuracy"], {"c": "cost(fn=5, fp=1)", "accuracy": "accuracy"}),
        (
            ["cost(fn=5, fp=1)", "a=accuracy"],
            {"cost(fn=5, fp=1)": "cost(fn=5, fp=1)", "a": "accuracy"},
        ),
    ],
)
def test_numbers_with_names_are_read_on_the_command_line(texts, expected):
    assert parse_values.metrics(texts) == expected


@cases("names", [{"name": "cost"}, {"name": "price", "aliases": ["net_benefit"]}])
def test_the_names_of_families_are_taken(names):
    def price(c):
        return c.positive.fn / c.total

    price.__name__ = names.pop("name")
    with pytest.raises(bf.InvalidInputError, match="begins the name of a metric of balframe"):
        bf.metric(range=(0, 1), **names)(price)
