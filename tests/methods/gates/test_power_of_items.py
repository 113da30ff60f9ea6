"""Power of rules on pass@k and pass^k, beside simulated items and sums over all outcomes."""

from math import comb

import numpy as np
import polars as pl
import pytest
from scipy import stats

import balframe as bf
from balframe.stats.proportions import clopper_pearson
from tests.support.cases import cases

OPTIONS = {"outcome": "passed", "cluster": "item", "detail": True}


def trials(a, b, n_items, n_trials, seed=1):
    """Draw the trials of items, whose difficulty has a beta distribution."""
    rng = np.random.default_rng(seed)
    p = np.repeat(rng.beta(a, b, n_items), n_trials)
    item = np.repeat(np.arange(n_items), n_trials)
    return pl.DataFrame({"item": item, "passed": (rng.random(len(p)) < p) * 1})


def exact_items(a, b, n_items, n_trials):
    """Return items whose passes have a beta-binomial distribution, as near as whole items can."""
    quantiles = (np.arange(n_items) + 0.5) / n_items
    passed = stats.betabinom.ppf(quantiles, n_trials, a, b).astype(int)
    rows = [(item, int(t < c)) for item, c in enumerate(passed) for t in range(n_trials)]
    return pl.DataFrame(rows, schema=["item", "passed"], orient="row")


def simulated(a, b, n_items, n_trials, k, bound, *, any_passes, n_samples=3000):
    """Return how often the exact lower limit of a mean over items is above a bound."""
    rng = np.random.default_rng(5)
    c = rng.binomial(n_trials, rng.beta(a, b, (n_samples, n_items)))
    if any_passes:
        u = [1 - comb(n_trials - x, k) / comb(n_trials, k) for x in range(n_trials + 1)]
    else:
        u = [comb(x, k) / comb(n_trials, k) for x in range(n_trials + 1)]
    mean = np.array(u)[c].mean(axis=1)
    lower, _ = clopper_pearson(mean * n_items, np.full(n_samples, float(n_items)), 0.95)
    return (lower > bound).mean()


@cases(
    ("a", "b", "n_items", "n_trials", "rule"),
    [
        (4, 1, 60, 8, "pass_at(1) >= 0.7"),
        (2, 2, 150, 5, "pass_at(2) >= 0.6"),
        (3, 1, 80, 10, "pass_all(3) >= 0.4"),
        (0.4, 0.1, 100, 4, "pass_at(1) >= 0.7"),
        (2, 2, 500, 16, "pass_at(1) >= 0.45"),
    ],
)
def test_power_is_how_often_a_rule_passes(a, b, n_items, n_trials, rule):
    plan = bf.power(exact_items(a, b, n_items, n_trials), rules=rule, **OPTIONS)
    metric, _, bound = rule.split()
    k, any_passes = int(metric[-2]), "at" in metric
    passes = simulated(a, b, n_items, n_trials, k, float(bound), any_passes=any_passes)
    needed = plan["clusters_needed"].item()
    with_more = simulated(a, b, needed, n_trials, k, float(bound), any_passes=any_passes)

    assert plan["power_at_zero"].item() == pytest.approx(passes, abs=0.06)
    assert with_more == pytest.approx(0.8, abs=0.06)
    assert plan["rows_needed"].item() == needed * n_trials


def test_a_rule_from_above_is_the_mirror_image():
    frame = exact_items(3, 1, 80, 10)
    mirrored = frame.with_columns(passed=1 - pl.col("passed"))
    plan = bf.power(frame, rules="pass_all(2) >= 0.5", **OPTIONS)
    other = bf.power(mirrored, rules="pass_at(2) <= 0.5", **OPTIONS)

    for name in ("detectable_difference", "power_at_zero", "rows_needed", "clusters_needed"):
        assert other[name].item() == pytest.approx(plan[name].item(), rel=1e-6), name


def test_more_trials_help_only_if_trials_of_an_item_differ():
    differ, agree = exact_items(4, 1, 200, 8), exact_items(0.04, 0.01, 200, 8)
    needed = {
        name: [
            bf.power(frame, rules="pass_at(1) >= 0.7", design=bf.design(trials=n), **OPTIONS)[
                "clusters_needed"
            ][0]
            for n in (1, 16)
        ]
        for name, frame in (("differ", differ), ("agree", agree))
    }

    assert needed["differ"][1] < 0.8 * needed["differ"][0]
    assert needed["agree"][1] > 0.95 * needed["agree"][0]


def test_the_design_effect_follows_the_number_of_trials():
    frame = trials(2, 1, 60, 6)
    plan = bf.power(frame, rules="rate >= 0.5", **OPTIONS)
    effect = plan["design_effect"].item()
    correlation = (effect - 1) / 5
    for n_trials in (1, 6, 20):
        own = bf.power(frame, rules="rate >= 0.5", design=bf.design(trials=n_trials), **OPTIONS)
        assert own["design_effect"].item() == pytest.approx(1 + (n_trials - 1) * correlation)
        assert own["rows_needed"].item() == own["clusters_needed"].item() * n_trials
    again = bf.power(frame, rules="rate >= 0.5", design=bf.design(trials=6), **OPTIONS)
    assert again["clusters_needed"].item() == plan["clusters_needed"].item()
    assert 0 <= again["rows_needed"].item() - plan["rows_needed"].item() < 6


def test_items_with_too_few_trials_are_counted_and_left_out():
    frame = trials(2, 1, 40, 6).filter((pl.col("item") >= 3) | (pl.int_range(pl.len()) % 6 < 2))
    message = (
        "of 40 items, some have fewer trials than a metric needs, and are left out: 3 of "
        "'pass_at(4)'."
    )
    with pytest.warns(bf.BalframeWarning) as caught:
        out = bf.report(
            frame, metrics=["rate", "pass_at(4)"], layout="long", outcome="passed",
            cluster="item", detail=True,
        )  # fmt: skip
    with pytest.warns(bf.BalframeWarning):
        plan = bf.power(frame, rules="pass_at(4) >= 0.5", **OPTIONS)
    expected = bf.power(frame.filter(pl.col("item") >= 3), rules="pass_at(4) >= 0.5", **OPTIONS)

    assert str(caught[0].message) == message
    assert out["clusters_left_out"].to_list() == [0, 3]
    columns = ["estimate", "detectable_difference", "power_at_zero", "clusters_needed"]
    assert plan.select(columns).row(0) == pytest.approx(expected.select(columns).row(0))


@cases(
    ("options", "message"),
    [
        (
            {"design": bf.design(trials=2)},
            "trials=2 is not valid; give a whole number of at least 3, as pass_at(3) needs.",
        ),
        (
            {"design": bf.design(trials=4), "cluster": None, "rules": "rate >= 0.5"},
            "trials=4 is the planned number of rows of each cluster; give cluster too.",
        ),
        (
            {"rules": "pass_at(3) >= baseline", "baseline": "other"},
            "power is not known for 'pass_at(3) >= baseline' (differences of means over items are "
            "not planned).",
        ),
    ],
)
def test_bad_requests_are_refused(options, message):
    frame = trials(2, 1, 40, 6).with_columns(other=pl.col("passed").reverse())
    with pytest.raises(bf.BalframeError) as caught:
        bf.power(frame, **{"rules": "pass_at(3) >= 0.5", **OPTIONS, **options})

    assert str(caught.value).startswith(message)
