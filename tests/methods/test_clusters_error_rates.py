"""Limits and tests of rows in clusters hold as often as the page of intervals shows: simulated."""

import numpy as np
import polars as pl
import pytest

import balframe as bf
from benchmarks import clusters_simulation
from benchmarks.clusters_data import BEHIND, DESIGNS, Design
from benchmarks.clusters_simulation import (
    COVERAGE,
    SIZE,
    Shares,
    by_design,
    of_designs,
    row,
    share_within,
    tables,
)
from tests.support.cases import cases

CORRELATED = Design(30, (10, 10), 0.5, 0.8)
SETS = 400


def test_simulated_clusters_have_the_correlation_of_the_design():
    random = np.random.default_rng(1)
    ease = CORRELATED.ease(random.standard_normal(200_000), 0.8)

    assert ease.mean() == pytest.approx(0.8, abs=0.004)
    assert ease.var() == pytest.approx(0.5 * 0.8 * 0.2, abs=0.002)
    assert set(Design(30, (10, 10), 0.0, 0.8).ease(random.standard_normal(5), 0.8)) == {0.8}


def test_simulated_segments_share_clusters_only_if_shared():
    def n_clusters(shared):
        frame = CORRELATED.of_segments(1, 2, np.random.default_rng(1), shared=shared)
        assert frame["n"].sum() == 2 * 30 * 10
        return frame["cluster"].n_unique()

    assert n_clusters(shared=True) == 30
    assert n_clusters(shared=False) == 60


def test_simulated_models_differ_by_the_true_difference():
    frame = CORRELATED.of_models(SETS, np.random.default_rng(1)).filter(y=1)
    right = [(frame["n"] * (frame[model] == 1)).sum() / frame["n"].sum() for model in "ab"]

    assert right[0] == pytest.approx(0.8, abs=0.015)
    assert right[0] - right[1] == pytest.approx(BEHIND, abs=0.015)


def test_simulated_scores_have_one_label_per_cluster_with_one_label():
    frame = CORRELATED.of_scores(1, np.random.default_rng(1), one_label=True)

    assert frame.group_by("cluster").agg(n=frame["y"].n_unique()).height == 30
    assert frame.select("cluster", "y").n_unique() == 30
    assert CORRELATED.of_scores(1, np.random.default_rng(1)).select("cluster", "y").n_unique() > 50


def test_share_within_excludes_and_counts_nan_limits():
    lower, upper = np.array([0.1, 0.6, np.nan, 0.5]), np.array([0.4, 0.9, np.nan, 0.5])

    assert share_within(lower, upper, 0.5) == (pytest.approx(1 / 3), 1)


@pytest.mark.simulation
@cases("title", COVERAGE)
def test_coverage_of_limits_with_clusters_is_near_nominal(title):
    (found,) = of_designs(COVERAGE[title], [CORRELATED], SETS)

    assert found.named > 0.95 - 4 * np.sqrt(0.95 * 0.05 / SETS)
    assert found.without_limits < SETS / 100


@pytest.mark.simulation
@pytest.mark.parametrize(
    "title", ["accuracy", "balanced accuracy", "difference of two segments with other clusters"]
)
def test_coverage_of_limits_without_clusters_is_too_low(title):
    (found,) = of_designs(COVERAGE[title], [CORRELATED], SETS)

    assert found.ignored < 0.75


@pytest.mark.thorough
@pytest.mark.parametrize("title", SIZE)
def test_false_positive_rate_of_equal_segments_is_near_nominal(title):
    (found,) = of_designs(SIZE[title], [CORRELATED], SETS * clusters_simulation.FEWER // 2)

    assert found.named < 0.05 + 4 * np.sqrt(0.05 * 0.95 / (SETS // 2))


def test_rows_of_markdown_tables_are_formatted():
    designs = [Design(10, (5, 5), 0.0, 0.6), Design(10, (5, 5), 0.5, 0.6)]
    shares = [Shares(0.95, 0.9), Shares(0.97, 0.5)]

    assert row("x", shares, min) == "| x | 0.960 / 0.950 | 0.700 / 0.500 |"
    assert by_design(designs, shares)[0] == "| clusters | correlation 0 | correlation 0.5 |"
    assert by_design(designs, shares)[2] == "| 10 | 0.950 and 0.900 | 0.970 and 0.500 |"


def test_markdown_tables_have_a_row_for_every_simulation(monkeypatch):
    monkeypatch.setattr(clusters_simulation, "FEWER", 5)
    design = DESIGNS[-1]

    written = tables([design], 20)

    assert design.sizes == clusters_simulation.OF_TESTS
    assert all(f"| {title} | " in written for title in (*COVERAGE, *SIZE))


def unequal(sizes, rate, correlation, n_sets, *, n_segments=1, share_positive=0.0):
    """Draw segments of clusters of these sizes, as counts of right and wrong rows."""
    rng = np.random.default_rng(7)
    shape = (n_sets, n_segments, len(sizes))
    rows = np.broadcast_to(sizes, shape)
    share = np.full(shape, rate)
    if correlation:
        scale = 1 / correlation - 1
        share = rng.beta(rate * scale, (1 - rate) * scale, shape)
    positive = rng.binomial(rows, share_positive)
    index = dict(zip(("set", "segment", "c"), map(np.ravel, np.indices(shape)), strict=True))
    index["c"] = index["c"] + len(sizes) * index["segment"]
    parts = []
    for label, n in enumerate((rows - positive, positive)):
        right = rng.binomial(n, share)
        parts += [
            pl.DataFrame({**index, "y": label, "p": predicted, "n": count.ravel()})
            for predicted, count in ((label, right), (1 - label, n - right))
        ]
    return pl.concat(parts).filter(pl.col("n") > 0)


GEOMETRIC = np.round(np.geomspace(3, 300, 20)).astype(int)
ASKED = {"cluster": "c", "counts": "n", "labels": [0, 1]}


@pytest.mark.simulation
@cases(("n_clusters", "correlation", "least"), [(12, 0.2, 0.93), (20, 0.2, 0.95), (20, 0.5, 0.92)])
def test_coverage_with_clusters_of_3_to_300_rows_is_near_nominal(n_clusters, correlation, least):
    sizes = np.round(np.geomspace(3, 300, n_clusters)).astype(int)
    frame = unequal(sizes, 0.95, correlation, 1000)

    out = bf.report(frame, "y", "p", by="set", metrics="accuracy", interval=True, **ASKED)

    lower, upper = (out[f"accuracy_{end}"].to_numpy() for end in ("lower", "upper"))
    held, _ = share_within(lower, upper, 0.95)
    assert held > least - 2 * np.sqrt(0.05 * 0.95 / 1000)


@pytest.mark.simulation
@cases(
    ("metric", "rate", "share_positive", "most"),
    [("accuracy", 0.8, 0.0, 0.026), ("balanced_accuracy", 0.9, 0.3, 0.031)],
)
def test_rules_broken_at_their_bound_pass_seldom(metric, rate, share_positive, most):
    frame = unequal(GEOMETRIC, rate, 0.5, 1000, share_positive=share_positive)
    rule = f"{metric} >= {rate}"

    out = bf.check(frame, "y", "p", by="set", rules=rule, adjust=None, detail=True, **ASKED)

    assert (out["status"] == "pass").mean() < most + 2 * np.sqrt(most / 1000)


def gaps_of_families(frame):
    """Ask `gaps` about each data set."""
    return [
        bf.gaps(
            one, "y", "p", by="segment", metrics="accuracy", adjust="holm", detail=True, **ASKED
        )
        for one in frame.partition_by("set", include_key=False)
    ]


@pytest.mark.simulation
@cases(
    ("n_segments", "sizes", "rate", "correlation"),
    [
        (20, (1, 2, 3, 5, 7, 10, 13, 16, 18, 20), 0.85, 0.3),
        (20, (4,) * 50, 0.98, 0.2),
        (10, (8,) * 15, 0.97, 0.3),
    ],
)
def test_equal_segments_of_clusters_seldom_have_a_claim(n_segments, sizes, rate, correlation):
    frame = unequal(sizes, rate, correlation, 40, n_segments=n_segments)

    families = gaps_of_families(frame)

    claims = [bool((out["p_adjusted"] < 0.05).any()) for out in families]
    assert np.mean(claims) < 0.05 + 2 * np.sqrt(0.05 * 0.95 / len(claims))


@pytest.mark.simulation
def test_p_of_15_clusters_against_135_is_seldom_below_its_level():
    frame = unequal((8,) * 15, 0.97, 0.3, 40, n_segments=10)

    p = np.concatenate([out["p_value"].to_numpy() for out in gaps_of_families(frame)])

    for level in (0.05, 0.01):
        assert (p < level).mean() < level + 3 * np.sqrt(level / len(p))
