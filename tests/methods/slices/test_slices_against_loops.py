"""The worst slices of random tables, beside loops and fractions that share no code with them."""

import random

import numpy as np
import polars as pl
import pytest

from tests.support.cases import cases
from tests.support.oracles.slices import metric_of, worst
from tests.support.tested_slices import search

OVER = ["a", "b", "c", "x"]
pytestmark = [pytest.mark.any_version, pytest.mark.filterwarnings("ignore:no slice is listed")]
SEEDS = range(2)
METRICS = {
    "recall": {},
    "precision": {},
    "false_positive_rate": {},
    "accuracy": {},
    "balanced_accuracy": {},
    "weighted_balanced_accuracy": {"class_weight": {0: 1, 1: 3}},
}
each_metric = pytest.mark.parametrize("metric", METRICS)


def binned(x):
    """Write the bin of a number as its text."""
    if x is None:
        return None
    return "under 10" if x < 10 else "10 to 25" if x < 25 else "25 or more"


def drawn(seed, *, labels=(0, 1), n_rows=900, most=1):
    """Draw rows whose errors are more frequent in two slices."""
    rng, rows = random.Random(seed), []
    for _ in range(n_rows):
        a, b = rng.choice(["p", "q", "r", None]), rng.choice(["u", "v"])
        c = b if rng.random() < 0.8 else rng.choice(["u", "w"])
        x = rng.choice([None, *range(40)])
        is_bad = (a == "p" and b == "u") or (a is None and x is not None and x >= 25)
        y = rng.choice(labels)
        others = [label for label in labels if label != y]
        yhat = rng.choice(others) if rng.random() < (0.6 if is_bad else 0.15) else y
        n = rng.randint(0, most) if most > 1 else 1
        rows.append({"a": a, "b": b, "c": c, "x": x, "y": y, "yhat": yhat, "n": n})
    return rows


def both(rows, metric, *, depth=3, least=12, counts=False, options=None, **listing):
    """Ask balframe and the loops."""
    labels = sorted({row["y"] for row in rows})
    options = options or {}
    schema = dict.fromkeys("abc", pl.String) | dict.fromkeys(("n", "x", "y", "yhat"), pl.Int64)
    asked = {name: value for name, value in listing.items() if name in ("order", "top")}
    level, difference = 1 - listing.get("alpha", 0.05), listing.get("most", 0.0)
    result, seen = search(
        pl.DataFrame(rows, schema=schema),
        over=OVER,
        metrics=metric,
        depth=depth,
        bins={"x": [10, 25]},
        min_support=least,
        counts="n" if counts else None,
        **options,
        level=level,
        min_difference=difference,
        **asked,
    )
    metric = metric_of(metric, labels, class_weight=options.get("class_weight"))
    texts = [{**row, "x": binned(row["x"])} for row in rows]
    kept, found, whole = worst(texts, OVER, metric, depth=depth, least=least, **listing)
    return result, seen, metric, kept, found, whole


def check(result, seen, metric, kept, found, whole):
    """Compare all slices tested, and then the list."""
    sign, strata = (-1 if metric.higher else 1), list(metric.weights)
    place = {frozenset(one.items()): i for i, one in enumerate(seen.slices())}
    assert len(place) == len(seen.slices()) == len(found)
    at = np.array([place[frozenset(one["conditions"].items())] for one in found])
    n, wrong = seen.counts()
    assert n[at].tolist() == [[one["inside"][k][0] for k in strata] for one in found]
    assert wrong[at].tolist() == [[one["inside"][k][1] for k in strata] for one in found]
    tested = seen.tested
    assert np.exp(tested.scores.log_p[at]) == pytest.approx([one["p"] for one in found], rel=1e-9)
    assert tested.scores.worse[at] == pytest.approx([float(o["gap"]) for o in found], abs=1e-12)
    adjusted = np.exp(np.minimum(tested.log_adjusted[at], 0))
    assert adjusted == pytest.approx([one["p_adjusted"] for one in found], rel=1e-9)

    rows = result.to_dicts()
    assert [{k: row[k] for k in row["on"].split(", ")} for row in rows] == [
        one["conditions"] for one in kept
    ]
    wrong_of_all = sum(e for _, e in whole.values())
    for rank, (row, one) in enumerate(zip(rows, kept, strict=True), 1):
        inside, (low, high) = one["inside"], one["limits"]
        ends = sorted((sign * max(low, 0.0), sign * high))
        excess = sum(
            max(e - n * (whole[k][1] - e) / (whole[k][0] - n), 0) for k, (n, e) in inside.items()
        )
        estimate = 1 - one["rate"] if metric.higher else one["rate"]
        expected = {
            "rank": rank,
            "depth": len(one["conditions"]),
            "min_support": min(n for n, _ in inside.values()),
            "wrong": sum(e for _, e in inside.values()),
            "estimate": float(estimate),
            "difference": float(sign * one["gap"]),
            "rest": float(estimate - sign * one["gap"]),
            "lower": ends[0],
            "upper": ends[1],
            "p_value": one["p"],
            "p_adjusted": one["p_adjusted"],
            "n_tests": len(found),
            "excess_errors": excess,
            "share_of_errors": sum(e for _, e in inside.values()) / wrong_of_all,
            "n_explained": one["n_explained"],
        }
        assert {name: row[name] for name in expected} == pytest.approx(expected, rel=1e-8)
    return rows


@pytest.mark.thorough
@cases("seed", SEEDS)
@each_metric
def test_slices_of_single_rows_equal_loops(metric, seed):
    assert check(*both(drawn(seed), metric, options=METRICS[metric]))


@pytest.mark.thorough
@cases("seed", SEEDS)
@each_metric
def test_slices_of_counted_rows_equal_loops(metric, seed):
    rows = drawn(seed, n_rows=300, most=9)

    assert check(*both(rows, metric, counts=True, options=METRICS[metric]))


@pytest.mark.parametrize("seed", SEEDS)
def test_slices_of_several_labels_equal_loops(seed):
    rows = drawn(seed, labels=(0, 1, 2, 3), n_rows=1200)

    assert check(*both(rows, "balanced_accuracy", depth=2, least=8))
    assert check(*both(rows, "accuracy", depth=2))


@pytest.mark.thorough
@pytest.mark.parametrize("order", ["p_value", "lower", "impact"])
@pytest.mark.parametrize("metric", ["recall", "balanced_accuracy", "false_positive_rate"])
def test_slices_in_every_order_equal_loops(metric, order):
    assert check(*both(drawn(0), metric, order=order, depth=2))


@pytest.mark.parametrize("most", [0.1, 0.35, 0.5])
def test_slices_with_a_minimum_difference_equal_loops(most):
    *asked, metric, kept, found, whole = both(drawn(1), "accuracy", most=most)
    rows = check(*asked, metric, kept, found, whole)
    assert all(row["difference"] <= -most for row in rows)


@pytest.mark.parametrize("alpha", [0.3, 0.001])
def test_slices_at_other_levels_equal_loops(alpha):
    assert check(*both(drawn(0), "recall", alpha=alpha))


@pytest.mark.parametrize("top", [1, 2])
def test_top_limits_the_number_of_slices(top):
    result, *others = both(drawn(0), "balanced_accuracy", top=top)

    assert result.height == top
    check(result, *others)
