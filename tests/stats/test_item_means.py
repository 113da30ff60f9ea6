"""pass@k and pass^k: by enumeration, reference values, and what limits have in common."""

from itertools import combinations
from math import comb

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import balframe as bf
from balframe.stats.differences import mover_difference
from balframe.stats.item_means import (
    ItemMeans,
    PairedItems,
    chance_that_all_pass,
    chance_that_any_passes,
)
from balframe.stats.proportions import clopper_pearson, wilson
from tests.support.cases import cases
from tests.support.reference_values import reference

REFERENCE = reference("pass_k")
CHANCES = {"pass@k": chance_that_any_passes, "pass^k": chance_that_all_pass}
CLOSE = {"rel": 0, "abs": 1e-9}


def means_of(passed, trials, k, kind):
    passed, trials = np.array(passed), np.broadcast_to(trials, len(passed)).astype(np.int64)
    nothing = np.zeros(len(passed), np.int64)
    value = CHANCES[kind](passed, trials, k)
    return ItemMeans(nothing, nothing + 1, value, trials // k, 1)


@cases(
    ("passed", "trials", "k"), [(0, 4, 2), (1, 4, 2), (3, 5, 2), (5, 5, 5), (4, 7, 3), (1, 1, 1)]
)
def test_chances_are_those_of_all_sets_of_k_trials(passed, trials, k):
    sets = [*combinations([i < passed for i in range(trials)], k)]
    arrays = np.array([passed]), np.array([trials])

    assert chance_that_any_passes(*arrays, k)[0] == pytest.approx(np.mean([*map(any, sets)]))
    assert chance_that_all_pass(*arrays, k)[0] == pytest.approx(np.mean([*map(all, sets)]))


def test_chances_of_many_trials_are_exact_ratios_of_binomials():
    passed, trials = np.array([3, 400, 999, 0, 1000]), np.full(5, 1000)
    found = chance_that_all_pass(passed, trials, 17)

    exact = [comb(c, 17) / comb(1000, 17) for c in passed.tolist()]
    np.testing.assert_allclose(found, exact, rtol=1e-10)
    assert np.isnan(chance_that_any_passes(np.array([1]), np.array([2]), 3)).all()


@cases("case", REFERENCE["pass_k"])
def test_limits_are_those_of_the_reference(case):
    given, expected = case["input"], case["expected"]
    means = means_of(given["passed"], given["trials"], given["k"], given["kind"])
    lower, upper = means.pointwise_limits(given["level"])
    gate_lower, gate_upper = means.exact_limits().limits(np.array([1.959963984540054]))

    assert means.mean[0] == pytest.approx(expected["estimate"], **CLOSE)
    assert means.effective_items[0] == pytest.approx(expected["effective_items"], **CLOSE)
    if expected["df"] is not None:
        assert means.df[0] == pytest.approx(expected["df"], **CLOSE)
    found = [lower[0], upper[0], gate_lower[0], gate_upper[0]]
    names = ("lower", "upper", "gate_lower", "gate_upper")
    assert found == pytest.approx([expected[name] for name in names], **CLOSE)


@cases("case", REFERENCE["pass_k_difference"])
def test_differences_are_those_of_the_reference(case):
    given, expected = case["input"], case["expected"]
    first, second = (
        means_of(given[name], given["trials"], given["k"], given["kind"])
        for name in ("passed_1", "passed_2")
    )
    pairs = PairedItems(PairedItems.of(first, second).differences, np.array([False]))
    (lower, upper), _ = pairs.limits_and_p_values(0.95)
    gate_lower, gate_upper = pairs.gate_limits(0.95)

    assert pairs.differences.mean[0] == pytest.approx(expected["difference"], **CLOSE)
    limits = [expected["paired_lower"], expected["paired_upper"]]
    assert [lower[0], upper[0]] == pytest.approx(limits, abs=1e-7)
    sides = [(means.mean, means.pointwise_limits(0.95)) for means in (first, second)]
    unpaired = [limit[0] for limit in mover_difference(*sides[0], *sides[1])]
    names = ("unpaired_lower", "unpaired_upper")
    assert unpaired == pytest.approx([expected[name] for name in names], **CLOSE)
    assert gate_lower[0] <= expected["paired_gate_lower"] + 1e-7  # the wider of two
    assert gate_upper[0] >= expected["paired_gate_upper"] - 1e-7


def runs(n_items=40, n_trials=6, seed=1, shift=0.0):
    """Draw trials of items that are not equally difficult, in two categories."""
    rng = np.random.default_rng(seed)
    item = np.repeat(np.arange(n_items), n_trials)
    p = np.clip(np.repeat(rng.beta(1.5, 1, n_items), n_trials) + shift, 0, 1)
    return pl.DataFrame(
        {
            "item": item,
            "category": np.where(item % 3 == 0, "maths", "code"),
            "passed": rng.random(len(item)) < p,
            "old": rng.random(len(item)) < p * 0.8,
        }
    )


def test_one_trial_of_each_item_is_a_proportion():
    frame = runs(n_trials=1)
    options = {"outcome": "passed", "by": "category", "cluster": "item", "interval": True}
    out = bf.report(frame, metrics=["rate", "pass_at(1)", "pass_all(1)"], **options)

    for name in ("pass_at(1)", "pass_all(1)"):
        for part in ("", "_lower", "_upper"):
            assert out[name + part].to_list() == pytest.approx(out["rate" + part].to_list())
    found = bf.compare(frame, outcome=["passed", "old"], cluster="item", metrics="pass_at(1)")
    rows = bf.compare(frame, outcome=["passed", "old"], cluster="item", metrics="rate")
    for name in ("difference", "lower", "upper", "p_adjusted"):
        assert found[name].to_list() == pytest.approx(rows[name].to_list(), abs=1e-9)


def test_all_trials_of_each_item_are_a_proportion_of_items():
    frame = runs(n_trials=3)
    items = frame.group_by("item").agg(pl.col("passed").any())
    x, n = np.array([float(items["passed"].sum())]), np.array([float(items.height)])
    out = bf.report(frame, outcome="passed", cluster="item", metrics="pass_at(3)", interval=True)
    gate = bf.check(frame, outcome="passed", cluster="item", rules="pass_at(3) >= 0.5")

    limits = [limit[0] for limit in wilson(x, n, 0.95)]
    assert out.select("^.*_(lower|upper)$").row(0) == pytest.approx(limits)
    exact = [limit[0] for limit in clopper_pearson(x, n, 0.95)]
    assert gate.select("lower", "upper").row(0) == pytest.approx(exact)


def test_items_with_fewer_trials_are_left_out():
    frame = runs(n_trials=5)
    few = frame.filter((pl.col("item") >= 10) | (pl.int_range(pl.len()).over("item") < 3))
    options = {"outcome": "passed", "cluster": "item", "metrics": ["pass_at(4)", "pass_all(6)"]}
    with pytest.warns(bf.BalframeWarning, match="left out: 10 of 'pass_at.*, 40 of 'pass_all"):
        out = bf.report(few, interval=True, **options)
    options["metrics"] = "pass_at(4)"
    enough = bf.report(frame.filter(pl.col("item") >= 10), interval=True, **options)

    names = [name for name in out.columns if name.startswith("pass_at")]
    assert out.select(names).equals(enough.select(names))
    assert out["pass_all(6)"].to_list() == out["pass_all(6)_lower"].to_list() == [None]


def test_p_values_agree_with_limits():
    for seed in range(12):
        frame = runs(seed=seed, n_items=24, shift=-0.1)
        for metric in ("pass_at(3)", "pass_all(3)"):
            options = {"cluster": "item", "metrics": metric, "detail": True}
            of_models = bf.compare(frame, outcome=["passed", "old"], **options)
            of_segments = bf.gaps(frame, outcome="passed", by="category", **options)
            for out in (of_models, of_segments):
                excludes = (out["lower"] > 0) | (out["upper"] < 0)
                assert (out["p_value"] < 0.05).to_list() == excludes.to_list()


def test_engines_and_orders_of_rows_give_the_same():
    frame = runs()
    options = {"outcome": "passed", "by": "category", "cluster": "item", "interval": True}
    metrics = ["pass_at(2)", "pass_all(2)"]
    expected = bf.report(frame, metrics=metrics, **options)
    shuffled = frame.sample(fraction=1, shuffle=True, seed=3)
    counted = frame.group_by("item", "category", "passed").len("times")

    for other in (shuffled, shuffled.to_pandas(), shuffled.lazy(), shuffled.to_arrow()):
        found = bf.report(other, metrics=metrics, backend="polars", **options)
        assert_frame_equal(found, expected)
    found = bf.report(counted, metrics=metrics, counts="times", **options)
    assert_frame_equal(found, expected)


@cases(
    ("options", "message"),
    [
        (
            {"metrics": "pass_at(2)"},
            "metric 'pass_at(2)' needs cluster=, the column that identifies the trials of the "
            "same item.",
        ),
        (
            {"metrics": "pass_all(0)", "cluster": "item"},
            "metric 'pass_all(0)' takes a whole number of at least 1 in brackets, as in "
            "'pass_all(5)'.",
        ),
        (
            {"metrics": "pass_at(2)", "cluster": "item", "sample_weight": "item"},
            "metric 'pass_at(2)' counts trials, which have no weights; omit sample_weight=.",
        ),
    ],
)
def test_bad_requests_are_refused(options, message):
    with pytest.raises(bf.InvalidInputError) as caught:
        bf.report(runs(), outcome="passed", **options)

    assert str(caught.value) == message
