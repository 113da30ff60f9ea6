"""Rules against an earlier run whose rows are in clusters."""

import numpy as np
import polars as pl
import pytest

import balframe as bf
from balframe.stats.differences import mover_difference

RNG = np.random.default_rng(12)
RULE = "accuracy >= baseline - 0.05"


def run(n_clusters=40, size=5, share=0.8):
    cluster = np.repeat(np.arange(n_clusters), size)
    chance = np.repeat(RNG.beta(8 * share, 8 * (1 - share), n_clusters), size)
    right = RNG.random(len(cluster)) < chance
    y = RNG.integers(0, 2, len(cluster))
    return pl.DataFrame(
        {
            "g": np.array(["a", "b"])[cluster % 2],
            "person": cluster,
            "y": y,
            "p": np.where(right, y, 1 - y),
        }
    )


NOW, BEFORE = run(), run(n_clusters=30, size=8)
OPTIONS = {"by": "g", "cluster": "person", "rules": RULE}


def test_limits_are_those_of_both_runs():
    out = bf.check(NOW, "y", "p", baseline=BEFORE, **OPTIONS)
    sides = [
        bf.check(run, "y", "p", by="g", cluster="person", rules="accuracy >= 0", level=0.975)
        for run in (NOW, BEFORE)  # the level of two segments, which is that of each of these
    ]
    alone = [
        bf.check(
            run, "y", "p", by="g", cluster="person", rules="accuracy >= 0", adjust=None, level=0.975
        )
        for run in (NOW, BEFORE)
    ]
    assert sides[0]["lower"].to_list() != alone[0]["lower"].to_list()  # which adjusts once more
    scores, limits = (
        [[one[name].to_numpy() for name in names] for one in alone]
        for names in (("estimate",), ("lower", "upper"))
    )
    lower, upper = mover_difference(scores[0][0], limits[0], scores[1][0], limits[1], 0)

    assert out["lower"].to_list() == pytest.approx(lower.tolist(), abs=1e-12)
    assert out["upper"].to_list() == pytest.approx(upper.tolist(), abs=1e-12)


def test_rows_and_cells_are_the_same_earlier_run():
    cells = bf.confusion(BEFORE, "y", "p", by="g", cluster="person")
    of_rows = bf.check(NOW, "y", "p", baseline=BEFORE, detail=True, **OPTIONS)

    assert of_rows.equals(bf.check(NOW, "y", "p", baseline=cells, detail=True, **OPTIONS))
    assert of_rows["n_clusters"].to_list() == [20, 20]


def test_clusters_of_one_row_are_independent_rows():
    frames = [frame.with_row_index("row") for frame in (NOW, BEFORE)]
    options = {"by": "g", "rules": RULE}
    columns = ["g", "rule", "estimate", "lower", "upper", "status"]
    out = bf.check(frames[0], "y", "p", baseline=frames[1], cluster="row", **options)

    expected = bf.check(frames[0], "y", "p", baseline=frames[1], **options)
    assert out.select(columns).equals(expected.select(columns))


def test_segments_of_one_run_only_are_inconclusive():
    before = BEFORE.filter(pl.col("g") == "b").with_columns(g=pl.lit("c"))
    out = bf.check(NOW, "y", "p", baseline=pl.concat([before, BEFORE]), **OPTIONS)

    assert out.filter(g="c")["status"].to_list() == ["inconclusive"]
    known = bf.check(NOW, "y", "p", baseline=BEFORE, adjust=None, **OPTIONS)
    found = bf.check(NOW, "y", "p", baseline=pl.concat([before, BEFORE]), adjust=None, **OPTIONS)
    names = ["g", "estimate", "lower", "upper"]
    assert found.filter(pl.col("g") != "c").select(names).equals(known.select(names))


def test_margins_of_both_runs_are_compared():
    out = bf.check(NOW, "y", "p", baseline=BEFORE, margins="overall", adjust=None, **OPTIONS)
    alone = bf.check(NOW, "y", "p", baseline=BEFORE, cluster="person", rules=RULE, adjust=None)

    of_all = out.filter(pl.col("grouped_by") == "overall").select("estimate", "lower", "upper")
    assert of_all.row(0) == pytest.approx(alone.select("estimate", "lower", "upper").row(0))
