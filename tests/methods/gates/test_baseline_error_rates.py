"""How often do limits of differences from a baseline decide wrongly? By enumeration of outcomes.

A model that is worse by the margin must not pass, and one that is as good must not fail a rule
without a margin. Of one rule each may happen in one family of 40, one-sided: in many segments
together as in one.
"""

from itertools import product

import numpy as np
import polars as pl
import pytest
from scipy import stats

import balframe as bf
from balframe.stats.base import IntervalRequest
from balframe.stats.differences import gate_difference
from balframe.stats.paired_differences import paired_gate_limits
from tests.support.cases import cases

pytestmark = pytest.mark.simulation

SAME = 1e-12
NOMINAL = 0.025
# few outcomes cannot be divided finely: at some true scores the limits err more often than that
MOST = {1: 0.039, 6: 0.032, 100: 0.033}
MARGINS = (0, 0.02, 0.05, 0.1, 0.2)
RATES = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99, 0.999)

each_family = pytest.mark.parametrize("segments", MOST)


def simultaneous_level(segments):
    return IntervalRequest(None, 0.95).bonferroni(segments).level


def in_family(probability, segments):
    return 1 - (1 - probability) ** segments


def unpaired(now, before, segments):
    """Find limits for all outcomes of labels with these supports; an axis for each label."""
    supports = (*now, *before)
    x = np.indices([n + 1 for n in supports]).reshape(len(supports), -1).T.astype(float)
    n, k = np.broadcast_to(np.array(supports, float), x.shape), len(now)
    a = np.full((len(x), k), 1 / k)
    limits = gate_difference(
        x[:, :k], n[:, :k], x[:, k:], n[:, k:], a, simultaneous_level(segments)
    )
    return [limit.reshape([n + 1 for n in supports]) for limit in limits]


def probability(event, supports, rates):
    """Add up the probabilities of the outcomes in which something happens."""
    for n, rate in zip(supports, rates, strict=True):
        event = np.tensordot(stats.binom.pmf(np.arange(n + 1), n, rate), event, axes=(0, 0))
    return float(event)


def boundary_rates(k):
    """List rates now and before, and how much less those of now are on average."""
    some = RATES if k == 1 else (0.6, 0.8, 0.95, 0.99)
    for before, margin, apart in product(product(some, repeat=k), MARGINS, (0, 0.15)[:k]):
        now = [rate - margin + apart * (-1) ** label for label, rate in enumerate(before)]
        if min(now) >= 0 and max(now) <= 1:
            yield (*now, *before), margin


ONE_LABEL = [
    *(((n,), (n,)) for n in (5, 10, 20, 40, 100)),
    *(((n,), (m,)) for n, m in ((3, 30), (30, 3), (10, 100), (100, 10), (30, 100))),
]
TWO_LABELS = [
    ((2, 2), (20, 20)), ((3, 3), (3, 3)), ((4, 4), (10, 10)), ((5, 5), (5, 5)),
    ((3, 10), (10, 10)), ((10, 10), (10, 10)), ((2, 30), (2, 30)),
]  # fmt: skip


@each_family
@cases(("now", "before"), [*ONE_LABEL, *TWO_LABELS])
def test_false_verdicts_against_an_earlier_run_are_near_nominal(now, before, segments):
    lower, upper = unpaired(now, before, segments)
    passes = {margin: (lower >= -margin - SAME).astype(float) for margin in MARGINS}
    fails = (upper < -SAME).astype(float)
    supports = (*now, *before)

    worse = [probability(passes[margin], supports, at) for at, margin in boundary_rates(len(now))]
    equal = [
        probability(fails, supports, at) for at, margin in boundary_rates(len(now)) if not margin
    ]

    for errors in (worse, equal):
        assert in_family(max(errors), segments) <= MOST[segments]
        assert np.mean(errors) <= NOMINAL / segments
    if min(supports) == 100:  # and not much more rarely than they may
        assert min(max(worse), max(equal)) >= 0.9 * NOMINAL / segments


DISCORDANT = (0.01, 0.02, 0.04, 0.06, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7, 0.9)


def pairs(n):
    """List how many of n rows only the new and only the old model can get right."""
    both = np.indices((n + 1, n + 1)).reshape(2, -1).T.astype(float)
    return both[both.sum(axis=1) <= n]


def likely(x, n, only_new, only_old):
    counts = np.column_stack([x, n - x.sum(axis=1)])
    return stats.multinomial.pmf(counts, n, [only_new, only_old, 1 - only_new - only_old])


def shares():
    """List the shares that only the new and only the old model gets right, and the margin."""
    for share, margin in product(DISCORDANT, MARGINS):
        if margin <= share:
            yield (share - margin) / 2, (share + margin) / 2, margin


@each_family
@cases("supports", [(5,), (10,), (30,), (100,), (5, 5), (10, 10)])
def test_false_verdicts_on_two_models_are_near_nominal(supports, segments):
    outcomes_by_label = [pairs(n) for n in supports]
    shape, k = [len(x) for x in outcomes_by_label], len(supports)
    at = np.indices(shape).reshape(k, -1)
    x = np.stack([x[i] for x, i in zip(outcomes_by_label, at, strict=True)], axis=1)
    n = np.broadcast_to(np.array(supports, float), x.shape[:2])
    limits = paired_gate_limits(
        x[:, :, 0], x[:, :, 1], n, np.full(n.shape, 1 / k), simultaneous_level(segments)
    )
    lower, upper = (limit.reshape(shape) for limit in limits)

    worse, equal = [], []
    for only_new, only_old, margin in shares():
        mass = [
            likely(x, n, only_new, only_old)
            for x, n in zip(outcomes_by_label, supports, strict=True)
        ]
        for errors, event in (
            (worse, lower >= -margin - SAME),
            *([] if margin else [(equal, upper < -SAME)]),
        ):
            found = event.astype(float)
            for label_mass in mass:
                found = np.tensordot(label_mass, found, axes=(0, 0))
            errors.append(float(found))

    for errors in (worse, equal):
        assert in_family(max(errors), segments) <= MOST[segments]
        assert np.mean(errors) <= NOMINAL / segments
    if supports == (100,):
        assert min(max(worse), max(equal)) >= 0.9 * NOMINAL / segments


ONLY_LOSES = [(800, 0.02), (2500, 0.005), (400, 0.05), (1200, 0.03), (150, 0.15)]


@each_family
@cases(("n", "margin"), ONLY_LOSES)
def test_a_model_that_only_loses_its_margin_rarely_fails(n, margin, segments):
    """Its losses are binomial: check decides all of their numbers, and each has its probability."""
    losses = np.arange(n + 1)[stats.binom.pmf(np.arange(n + 1), n, margin) > 1e-9]
    frame = pl.DataFrame(
        {
            "lost": np.repeat(losses, 2),
            "y": 1,
            "new": np.tile([0, 1], len(losses)),
            "old": 1,
            "n": np.column_stack([losses, n - losses]).ravel(),
        }
    )

    out = bf.check(
        frame, "y", "new", baseline="old", by="lost", counts="n", labels=[0, 1], adjust=None,
        rules=f"recall >= baseline - {margin}", level=simultaneous_level(segments),
    )  # fmt: skip

    fails = out.filter(status="fail")["lost"].to_numpy()
    assert in_family(stats.binom.pmf(fails, n, margin).sum(), segments) <= 0.031


FEW = [((3, 3), (300, 300)), ((4, 4), (30, 30)), ((3, 3), (30, 30)), ((2, 50), (10, 10))]


@each_family
@cases(("now", "before"), FEW)
def test_false_verdicts_on_few_rows_against_many_are_near_nominal(now, before, segments):
    """Means of few recalls need wider limits than the score's; their differences do not."""
    rng, draws = np.random.default_rng(6), 20_000
    found = []
    for rate, margin in product((0.7, 0.9, 0.98), (0, 0.05)):
        supports, rates = [*now, *before], [rate - margin] * 2 + [rate] * 2
        x = rng.binomial(supports, rates, (draws, 4)).astype(float)
        distinct, times = np.unique(x, axis=0, return_counts=True)
        n, a = np.broadcast_to(np.array(supports, float), distinct.shape), (0.5, 0.5)
        a = np.broadcast_to(a, (len(distinct), 2))
        lower, upper = gate_difference(
            distinct[:, :2], n[:, :2], distinct[:, 2:], n[:, 2:], a, simultaneous_level(segments)
        )
        found += [times[lower > -margin + SAME].sum(), times[upper < -margin - SAME].sum()]
    error = (NOMINAL / segments / draws) ** 0.5

    assert max(found) / draws <= 0.055 / segments + 2 * error
