"""The p-values and limits of clustered gaps agree, and small p-values keep their digits."""

import numpy as np
import polars as pl
import pytest
from scipy import special

import balframe as bf
from balframe.stats.clustered_means import ClusteredMeans
from benchmarks.clusters_data import Design
from tests.support.cases import cases
from tests.support.frames.clustered_rows import ask, close, limits, rows
from tests.support.oracles import clustered_gates as gates
from tests.support.oracles import clusters as loops
from tests.support.reference_values import reference


def several_segments(seed, *, shared):
    """Draw segments of unequal clusters, whose scores differ."""
    rng = np.random.default_rng(seed)
    parts = []
    for segment, recall in enumerate([0.95, 0.9, 0.8, 0.7, 0.5, 0.3]):
        design = Design(12, (1, 12), 0.2, recall)
        part = design.of_segments(1, 1, rng).drop("set", "segment")
        cluster = pl.col("cluster") if shared else pl.col("cluster") + 100 * segment
        parts.append(part.with_columns(g=pl.lit(segment), c=cluster))
    return pl.concat(parts)


@pytest.mark.thorough
@pytest.mark.parametrize("shared", [False, True])
@cases("level", [0.5, 0.8, 0.95, 0.999, 1 - 1e-9])
def test_p_is_below_1_minus_level_exactly_where_the_limits_exclude_0(shared, level):
    metrics = ["accuracy", "uar", "informedness", "precision"]
    decided = []
    for seed in range(2):
        result = ask(
            *(bf.gaps, several_segments(seed, shared=shared), "yhat"),
            metrics=metrics, level=level, counts="n",
        )  # fmt: skip
        decided += [(row["p_value"] < 1 - level, row["lower"] * row["upper"] > 0) for row in result]

    assert all(is_small == excludes for is_small, excludes in decided)
    if 0.5 < level < 0.999:
        assert {(False, False), (True, True)} == set(decided)


def test_p_does_not_depend_on_the_level():
    frame = several_segments(0, shared=True)

    low, high = (
        ask(bf.gaps, frame, "yhat", metrics=["accuracy", "uar"], counts="n", level=level)
        for level in (0.6, 0.99)
    )

    for row, other in zip(low, high, strict=True):
        assert row["p_value"] == pytest.approx(other["p_value"], rel=1e-7)


def test_p_of_equal_scores_is_1():
    frame = pl.DataFrame({"g": list("aaaabbbb"), "c": list("uuvvwwxx"), "y": 1, "p": [1, 0] * 4})

    row, _ = ask(bf.gaps, frame, metrics="accuracy", labels=[0, 1])

    assert (row["difference"], row["p_value"]) == (0, 1)


def test_a_very_small_p_is_the_tail_at_which_the_limit_is_0():
    frame = pl.DataFrame(
        {
            "g": [0, 0, 1, 1] * 400,
            "c": np.repeat(np.arange(400), 4),
            "y": 1,
            "p": [1, 1, 0, 1] * 400,
        }
    ).with_columns(c=pl.col("c") + 1000 * pl.col("g"))

    row, _ = ask(bf.gaps, frame, metrics="accuracy", labels=[0, 1])

    assert 0 < row["p_value"] < 1e-30
    z = special.ndtri_exp(np.log(row["p_value"] / 2))
    one, other = (loops.right(rows(frame.filter(g=g))) for g in (0, 1))
    above = 1 - gates.lower(one)(-z)
    below = 0.5 - gates.lower(gates.mirrored(other))(-z)
    assert np.hypot(above, below) == pytest.approx(0.5, rel=1e-9)


@cases("case", reference("clustered_gaps")["cases"])
def test_limits_and_p_without_exchangeable_rows_equal_reference_values(case, monkeypatch):
    """The reference takes the variance between clusters alone; loops of other tests take both."""
    monkeypatch.setattr(
        *(ClusteredMeans, "exchangeable_variance"),
        property(lambda means: np.zeros_like(means.influence.variance)),
    )
    counts = [
        {"g": g, "c": c, "y": y, "p": y if is_right else 1 - y, "n": n}
        for g, c, y, *of_both in case["rows"]
        for is_right, n in zip((True, False), of_both, strict=True)
    ]
    frame = pl.DataFrame(counts).filter(pl.col("n") > 0)

    row, _ = ask(
        *(bf.gaps, frame), counts="n", metrics=case["metric"], reference=1, level=case["level"]
    )

    assert {name: row[name] for name in case["expected"]} == pytest.approx(
        case["expected"], rel=0, abs=1e-9
    )


def of_two_segments(rows_of_a, *, opposite):
    """Draw 60 clusters with two rows each in b, whose ease in a is the same or the opposite."""
    rng = np.random.default_rng(2)
    ease = rng.beta(0.5, 0.5, 60)
    in_a = 1 - ease if opposite else ease
    columns = [
        {"g": g, "c": c, "y": 1, "p": int(rng.random() < chance[c])}
        for g, chance, n in (("a", in_a, rows_of_a), ("b", ease, 2))
        for c in range(60)
        for _ in range(n)
    ]
    return pl.DataFrame(columns)


def test_a_segment_of_shared_clusters_of_one_row_has_the_limits_of_check():
    frame = of_two_segments(1, opposite=False)

    row, _ = ask(bf.gaps, frame, metrics="accuracy", labels=[0, 1])

    checked = ask(bf.check, frame, rules="accuracy >= 0.5", labels=[0, 1], adjust=None)
    r = gates.reduced_correlation(*(loops.right(rows(frame.filter(g=g))) for g in "ab"))
    assert r > 0.1
    sides = (value for own in checked for value in (own["estimate"], limits(own)))
    assert limits(row) == close(loops.mover(*sides, r))


def test_a_correlation_below_0_is_not_reduced():
    frame = of_two_segments(2, opposite=True)

    row, _ = ask(bf.gaps, frame, metrics="accuracy", labels=[0, 1])

    one, other = (loops.right(rows(frame.filter(g=g))) for g in "ab")
    a, b = loops.mean(one), loops.mean(other)
    _, r = loops.minus(a, b)
    assert r < -0.1
    expected = loops.mover(a.value, gates.limits(one), b.value, gates.limits(other), r)
    assert limits(row) == close(expected)
