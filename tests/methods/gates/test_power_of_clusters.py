"""Power of rows that belong together: of effective rows, whose number a design effect gives."""

import numpy as np
import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.frames.clustered_rows import ask, drawn

RULES = ["accuracy >= 0.6", "uar >= 0.6", "recall >= 0.5"]
PLAN = ["detectable_difference", "power_at_zero"]
CELLS = pl.DataFrame({"y": [0, 0, 1, 1], "p": [0, 1, 1, 0], "n": [320, 80, 270, 30]})


def plan(cells=CELLS, **options):
    options = {"rules": RULES, "detail": True, "counts": "n"} | options
    return bf.power(cells, "y", "p", **options)


@cases("effect", [1, 2, 5])
def test_rows_with_a_design_effect_tell_as_much_as_fewer_independent_ones(effect):
    """If k rows tell as much as one, k times the rows have the same power, and k are needed."""
    repeated = CELLS.with_columns(pl.col("n") * effect)

    out, expected = plan(repeated, design=bf.design(design_effect=effect)), plan()

    for column in PLAN:
        assert out[column].to_list() == pytest.approx(expected[column].to_list(), rel=1e-9)
    for column in ("rows_needed", "rows_needed_per_label"):
        for rows, independent in zip(out[column], expected[column], strict=True):
            assert rows == (
                None if independent is None else pytest.approx(effect * independent, abs=effect)
            )
    assert {*out["reliability"]} == ({"rough"} if effect > 1 else {*expected["reliability"]})


def test_the_design_effect_of_clusters_is_that_of_their_scores():
    frame = drawn(1, rows=400, clusters=40)
    scores = ask(
        bf.report,
        frame,
        by=None,
        metrics=["accuracy", "uar", "recall"],
        layout="long",
        interval=True,
    )
    out = ask(bf.power, frame, by=None, rules=RULES)

    for row, score, rule in zip(out, scores, RULES, strict=True):
        effect = max(score["design_effect"], 1)
        design = bf.design(design_effect=effect)
        own = plan(frame, counts=None, rules=rule, design=design).row(0, named=True)
        assert row["design_effect"] == pytest.approx(effect)
        assert row["effective_clusters"] == pytest.approx(score["effective_clusters"])
        assert row["n_clusters"] == score["n_clusters"] == 40
        assert [row[name] for name in PLAN] == pytest.approx([own[name] for name in PLAN])
        assert row["rows_needed"] == own["rows_needed"]


def test_clusters_of_one_row_are_independent_rows():
    frame = drawn(0, rows=300).with_columns(c=pl.int_range(300))
    out, expected = (
        ask(bf.power, frame, rules=RULES),
        ask(bf.power, frame, rules=RULES, cluster=None),
    )

    assert [{k: v for k, v in row.items() if k in expected[0]} for row in out] == expected
    assert {row["design_effect"] for row in out} == {1}


def test_models_on_the_same_rows_have_the_design_effect_of_their_difference():
    frame = drawn(2, rows=400, clusters=30)
    rule = "accuracy >= baseline - 0.1"
    (out,) = ask(bf.power, frame, by=None, rules=rule, baseline="q")
    difference = ask(bf.compare, frame, ["p", "q"], by=None, metrics="accuracy")[0]

    assert out["design_effect"] == pytest.approx(max(difference["design_effect"], 1))
    assert out["rows_needed"] > 0


def test_a_cluster_with_all_rows_of_a_segment_has_no_power():
    frame = drawn(0, rows=60).with_columns(c=pl.lit(1))
    (out,) = ask(bf.power, frame, by=None, rules="accuracy >= 0.5")

    assert out["power_at_zero"] is out["rows_needed"] is out["reliability"] is None
    assert out["n_clusters"] == 1


@cases(
    ("options", "message"),
    [
        (
            {"design": bf.design(design_effect=0.5)},
            "design_effect=0.5 is not valid; give a number of at least 1",
        ),
        ({"design": bf.design(design_effect=float("nan"))}, "design_effect=nan is not valid"),
        ({"design": bf.design(design_effect=True)}, "design_effect=True is not valid"),
        (
            {"design": bf.design(design_effect=2), "cluster": "c"},
            "the design effect follows from the clusters",
        ),
        (
            {
                "cluster": "c",
                "design": bf.design(disagreement=0.1),
                "rules": "accuracy >= baseline - 0.1",
            },
            "Give design=bf.design(design_effect=...) instead",
        ),
    ],
)
def test_contradictory_options_are_refused(options, message):
    frame = drawn(0).with_columns(n=1)

    with pytest.raises(bf.InvalidInputError) as raised:
        plan(frame, **options)

    assert message in str(raised.value)


def test_chart_of_power_takes_clusters_and_design_effects():
    frame = drawn(1, rows=400, clusters=40)

    for options in ({"cluster": "c"}, {"design": bf.design(design_effect=2)}):
        chart = bf.plot.power(frame, "y", "p", by="g", rules="accuracy >= 0.6", **options)
        assert "dashed curves are rough" in str(chart.to_dict()["title"])


def test_power_of_clusters_is_about_how_often_check_passes():
    """`check` allows for more than the design effect, so that it passes less often."""
    rng = np.random.default_rng(5)
    n_samples, m, size = 80, 60, 10
    cluster = np.repeat(np.arange(m), size)
    ability = rng.beta(3.52, 0.48, (n_samples, m))[:, cluster].ravel()  # correlation 0.2, mean 0.88
    y = rng.integers(0, 2, n_samples * m * size)
    frame = pl.DataFrame(
        {
            "g": np.repeat(np.char.mod("%02d", np.arange(n_samples)), m * size),
            "c": np.tile(cluster, n_samples),
            "y": y,
            "p": np.where(rng.random(len(y)) < ability, y, 1 - y),
        }
    )
    options = {"by": "g", "rules": "accuracy >= 0.8", "cluster": "c", "adjust": None}
    passed = (bf.check(frame, "y", "p", **options)["status"] == "pass").mean()
    planned = bf.power(frame, "y", "p", **options)["power_at_zero"].mean()

    assert planned == pytest.approx(passed, abs=0.12)
    assert (
        planned
        < bf.power(frame, "y", "p", **options | {"cluster": None})["power_at_zero"].mean() - 0.1
    )
