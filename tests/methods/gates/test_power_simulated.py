"""The power that is stated is the power that gates have: simulated through `check`.

With two labels, samples have random numbers of rows of each; with more, the same. The truth of a
fall is that of largest likelihood, found here by bisection.
"""

import numpy as np
import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.oracles.mean_recalls import multiplier_at, recalls
from tests.support.oracles.paired_recalls import shares

pytestmark = pytest.mark.simulation

DRAWS = 10_000
WITHIN = 0.03
MEAN = "balanced_accuracy"

each_family = pytest.mark.parametrize("segments", [1, 6, 100])


def predictions(right, rows):
    """Write right and wrong rows of each label of each draw as counts."""
    right, rows = (np.asarray(values).reshape(-1, np.shape(rows)[-1]) for values in (right, rows))
    draw, label = (index.ravel() for index in np.indices(right.shape))
    rows = np.broadcast_to(rows, right.shape).ravel()
    positive = 1 if right.shape[1] == 1 else 0
    frames = [
        pl.DataFrame({"g": draw, "y": label + positive, "p": label + positive - kind, "n": n})
        for kind, n in ((0, right.ravel()), (1, rows - right.ravel()))
    ]
    labels = max(2, right.shape[1])
    return pl.concat(frames).with_columns(pl.col("p") % labels).filter(pl.col("n") > 0)


def asked(frame, rule, segments, **options):
    """Give the arguments of `check` and of `power` at the level of so many segments."""
    options |= {"by": "g", "counts": "n", "rules": rule, "adjust": None, "pos_label": 1}
    return (frame, "y", "p"), options | {"level": 1 - 0.05 / segments}


def decided(frame, rule, segments, **options):
    """Find the shares of draws that pass and that fail."""
    args, options = asked(frame, rule, segments, **options)
    status = bf.check(*args, detail=True, **options)["status"]
    return (status == "pass").sum() / DRAWS, (status == "fail").sum() / DRAWS


def planned(frame, rule, segments, **options):
    args, options = asked(frame, rule, segments, **options)
    (row,) = bf.power(*args, detail=True, **options).to_dicts()
    return row


def sampled(rng, rows):
    """Draw the rows of each label in random samples of as many rows; more than two are fixed."""
    supports = np.tile(rows, (DRAWS, 1))
    if len(rows) == 2:
        supports[:, 0] = rng.binomial(sum(rows), rows[0] / sum(rows), DRAWS)
        supports[:, 1] = sum(rows) - supports[:, 0]
    return supports


def moved(rates, rows, fall):
    """Move recalls along the path of largest likelihood until their mean has fallen so far."""
    x, a = np.multiply(rates, rows), np.full(len(rates), 1 / len(rates))
    return recalls(x, rows, a, multiplier_at(x, rows, a, np.dot(a, rates) - fall))


def times(rows, plan):
    """Multiply rows until there are as many as needed."""
    return np.rint(np.multiply(rows, plan["rows_needed"] / np.sum(rows))).astype(int)


ABSOLUTE = [  # rows and right rows of each label, and how far the bound is below
    ((1000,), (900,), 0.02),
    ((200,), (150,), 0.08),
    ((100, 100), (70, 60), 0.1),
    ((400, 400), (360, 360), 0.04),
    ((1000, 80), (900, 40), 0.12),
    ((300, 1000), (270, 700), 0.06),
    ((150,) * 5, (120, 100, 110, 75, 90), 0.04),
    ((2000, 60), (1960, 30), 0.08),
]


@each_family
@cases(("rows", "right", "margin"), ABSOLUTE)
def test_power_of_absolute_rules_equals_simulated_power(rows, right, margin, segments):
    rates, rng = np.divide(right, rows), np.random.default_rng(1)
    bound = float(np.mean(rates) - margin)
    rule = f"{'recall' if len(rows) == 1 else MEAN} >= {bound!r}"

    def drawn(recalls, rows=rows):
        supports = sampled(rng, rows)
        return decided(predictions(rng.binomial(supports, recalls), supports), rule, segments)

    plan = planned(predictions(right, rows), rule, segments)
    passes, _ = drawn(rates)
    _, fails = drawn(moved(rates, rows, plan["detectable_difference"]))
    passes_with_more, _ = drawn(rates, times(rows, plan))

    assert plan["reliability"] == ("exact" if len(rows) == 1 else "good")
    assert passes == pytest.approx(plan["power_at_zero"], abs=WITHIN)
    assert [fails, passes_with_more] == pytest.approx([0.8, 0.8], abs=WITHIN)


ROUGH = [  # few rows or errors of the rarer label, with another number of them in each sample
    ((200, 10), (160, 7), 0.2),
    ((1000, 20), (900, 16), 0.1),
    ((60, 20), (48, 16), 0.15),
]


@cases(("rows", "right", "margin"), ROUGH)
def test_probability_to_pass_with_few_rows_equals_simulated_share(rows, right, margin):
    rates, rng = np.divide(right, rows), np.random.default_rng(4)
    rule = f"{MEAN} >= {float(np.mean(rates) - margin)!r}"

    plan = planned(predictions(right, rows), rule, 1)

    supports = sampled(rng, rows)
    passes, _ = decided(predictions(rng.binomial(supports, rates), supports), rule, 1)
    assert plan["reliability"] == "rough"
    assert passes == pytest.approx(plan["power_at_zero"], abs=WITHIN)


UNPAIRED = [  # rows and right rows of each label, how many times as many before, and the margin
    ((500,), (450,), 1, 0.04),
    ((300,), (240,), 10, 0.1),
    ((100, 100), (65, 70), 3, 0.1),
    ((400, 400), (360, 350), 1, 0.05),
    ((1000, 80), (900, 40), 2, 0.12),
]


@each_family
@cases(("rows", "right", "more", "margin"), UNPAIRED)
def test_power_against_an_earlier_run_equals_simulated_power(rows, right, more, margin, segments):
    k, rng = len(rows), np.random.default_rng(2)
    rates, earlier = np.divide(right, rows), np.multiply(rows, more)
    rule = f"{'recall' if k == 1 else MEAN} >= baseline - {margin}"

    def against(now, before, rows=rows, earlier=earlier):
        cells = bf.confusion(predictions(before, earlier), "y", "p", by="g", counts="n")
        return predictions(now, rows), {"baseline": cells}

    def drawn(now, before, rows=rows, earlier=earlier):
        rows = sampled(rng, rows)
        sides = rng.binomial(rows, now), rng.binomial(earlier, before, (DRAWS, k))
        frame, options = against(*sides, rows, earlier)
        return decided(frame, rule, segments, **options)

    frame, options = against(right, np.multiply(right, more))
    plan = planned(frame, rule, segments, **options)
    both = np.concatenate([rates, 1 - rates]), np.concatenate([rows, earlier])
    truth = np.array(moved(*both, plan["detectable_difference"] / 2))
    passes, _ = drawn(rates, rates)
    _, fails = drawn(truth[:k], 1 - truth[k:])
    passes_with_more, _ = drawn(rates, rates, times(rows, plan), more * times(rows, plan))

    assert plan["reliability"] == "good"
    assert passes == pytest.approx(plan["power_at_zero"], abs=WITHIN)
    assert [fails, passes_with_more] == pytest.approx([0.8, 0.8], abs=WITHIN)


PAIRED = [  # rows, those that only the new and only the old model gets right, and the margin
    ((100,), (20,), (20,), 0.1),
    ((1000,), (20,), (20,), 0.01),
    ((1000,), (20,), (40,), 0.05),
    ((100, 100), (20, 20), (20, 20), 0.1),
    ((1000, 300), (20, 20), (20, 20), 0.04),
    ((1300, 1300), (20, 20), (20, 20), 0.012),
    ((400,) * 3, (25, 20, 25), (25, 20, 15), 0.04),
]


def of_two_models(counts):
    """Write rows that only p, only q, and neither gets right; of the shape (draws, labels, 3)."""
    draw, label, kind = (index.ravel() for index in np.indices(counts.shape))
    k = max(2, counts.shape[1])
    label += counts.shape[1] == 1
    wrong = (label - 1) % k
    columns = {"p": np.where(kind == 0, label, wrong), "q": np.where(kind == 1, label, wrong)}
    frame = pl.DataFrame({"g": draw, "y": label, **columns, "n": counts.ravel()})
    return frame.filter(pl.col("n") > 0)


def shares_at(fall, rows, only_new, only_old):
    """Find the shares of largest likelihood where the mean difference has fallen so far."""
    n, b, c = (np.array([values], float) for values in (rows, only_new, only_old))
    a = np.full(n.shape, 1 / n.shape[1])
    target = (a * (b - c) / n).sum() - fall
    low, high = -30.0, 30.0
    for _ in range(100):
        middle = (low + high) / 2
        p_b, p_c = shares(np.exp(middle) * a, b, c, n - b - c)
        low, high = (low, middle) if (a * (p_b - p_c)).sum() < target else (middle, high)
    return np.stack([p_b[0], p_c[0], np.maximum(1 - p_b[0] - p_c[0], 0)], axis=1)


@each_family
@pytest.mark.parametrize(("rows", "only_new", "only_old", "margin"), PAIRED, ids=str)
def test_power_against_another_model_equals_simulated_power(
    rows, only_new, only_old, margin, segments
):
    rng = np.random.default_rng(3)
    rule = f"{'recall' if len(rows) == 1 else MEAN} >= baseline - {margin}"
    seen = np.stack([only_new, only_old, np.subtract(rows, np.add(only_new, only_old))], axis=1)

    def drawn(of_labels, rows=rows):
        supports = sampled(rng, rows).T
        counts = [rng.multinomial(n, at) for n, at in zip(supports, of_labels, strict=True)]
        return decided(of_two_models(np.stack(counts, axis=1)), rule, segments, baseline="q")

    plan = planned(of_two_models(seen[None]), rule, segments, baseline="q")
    truth = shares_at(plan["detectable_difference"], rows, only_new, only_old)
    rates = seen / np.array(rows)[:, None]
    passes, _ = drawn(rates)
    _, fails = drawn(truth)
    passes_with_more, _ = drawn(rates, times(rows, plan))

    assert plan["reliability"] == "good"
    assert passes == pytest.approx(plan["power_at_zero"], abs=WITHIN)
    assert [fails, passes_with_more] == pytest.approx([0.8, 0.8], abs=WITHIN)
