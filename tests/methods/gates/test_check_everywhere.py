"""Verdicts are the same on every library, of rows and of their cells, in a known order."""

import itertools
from functools import cache

import numpy as np
import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import assert_table, each_constructor, plain
from tests.support.oracles.extremes import extreme_limits
from tests.support.oracles.mean_recalls import clopper_pearson

JUDGED = ["estimate", "lower", "upper", "bound", "status"]


def random_frame(seed, rows=600):
    rng = np.random.default_rng(seed)
    y, right = rng.integers(0, 2, rows), rng.random((2, rows)) < 0.7
    p, q = (np.where(hit, y, rng.integers(0, 2, rows)).tolist() for hit in right)
    g, sex = (rng.choice([None, *values], rows).tolist() for values in ("ba", "mf"))
    w = (rng.random(rows) + 0.1).tolist()
    return {"g": g, "sex": sex, "y": y.tolist(), "p": p, "q": q, "w": w}


RULES = [
    "difference(uar) <= 0.5", "recall >= 0.7",
    {"rule": "f1 > 0.6", "where": {"g": ["a", None]}, "reason": "agreed"},
    "n >= 60", {"rule": "ratio(accuracy) >= 0.8", "where": {"sex": "m"}, "reason": "law"},
]  # fmt: skip


EXTRA = {"none": {}, "estimates": {"level": None}, "level": {"adjust": None, "level": 0.8}}


def options_with(extra):
    shared = {"by": ["g", "sex"], "margins": "all", "sample_weight": "w", "rules": RULES}
    return shared | EXTRA[extra]


@cache
def result_of_polars(extra):
    return plain(bf.check(pl.DataFrame(random_frame(3)), "y", ["q", "p"], **options_with(extra)))


@cases("extra", EXTRA)
@each_constructor
def test_verdicts_are_equal_in_every_library(constructor, extra):
    data, options = random_frame(3), options_with(extra)
    frame = constructor(data)
    out = bf.check(frame, "y", ["q", "p"], **options)
    assert type(out) is type(frame)
    assert_table(out, result_of_polars(extra))
    assert plain(frame) == data
    none = plain(bf.check(frame[:0], "y", ["q", "p"], **options))
    assert none == {name: [] for name in plain(out)}


def test_rows_are_sorted_by_margin_segment_model_and_rule_then_differences():
    frame = pl.DataFrame(random_frame(4))
    options = {"by": ["g", "sex"], "margins": "all", "rules": RULES}
    out = bf.check(frame.lazy(), "y", ["q", "p"], **options)
    assert out.collect_schema() == out.collect().schema
    out = out.collect()
    assert out.columns == ["g", "sex", "grouped_by", "model", "rule", "reason", *JUDGED]
    expected = []
    for margin, gs, sexes in (
        ("g, sex", ["a", "b", None], ["f", "m", None]), ("g", ["a", "b", None], ["-"]),
        ("sex", ["-"], ["f", "m", None]), ("overall", ["-"], ["-"]),
    ):  # fmt: skip
        for g, sex, model in itertools.product(gs, sexes, "qp"):
            where = tuple(None if one == "-" else one for one in (g, sex))
            expected.append((*where, margin, model, "recall >= 0.7", None))
            if g in ("a", None):
                expected.append((*where, margin, model, "f1 > 0.6", "agreed"))
            expected.append((*where, margin, model, "n >= 60", None))
        for model in "qp" if margin != "overall" else "":
            expected.append((None, None, margin, model, "difference(uar) <= 0.5", None))
            if "sex" in margin:
                expected.append((None, None, margin, model, "ratio(accuracy) >= 0.8", "law"))
    assert out.select(out.columns[:6]).rows() == expected


@pytest.mark.parametrize("weight", [None, "w"])
def test_verdicts_of_cells_equal_those_of_rows(weight):
    frame, options = pl.DataFrame(random_frame(5)), {"by": ["g", "sex"], "rules": RULES}
    cells = bf.confusion(frame, "y", "p", by=["g", "sex"], sample_weight=weight)
    out = bf.check(cells, "y", "p", **options)
    assert_table(out, plain(bf.check(frame, "y", "p", sample_weight=weight, **options)))


def test_limits_are_simultaneous_over_models_and_segments_of_where():
    frame = pl.DataFrame(random_frame(6))
    rule = {"rule": "accuracy >= 0.7", "where": {"g": ["a", "b"]}}
    options = {"by": ["g", "sex"], "margins": "all"}
    out = bf.check(frame, "y", ["p", "q"], rules=rule, **options)
    sizes = {"g, sex": 2 * 2 * 3, "g": 2 * 2}  # models; pairs with a value of sex, and g alone
    assert out["grouped_by"].value_counts().sort("count").rows() == [*sizes.items()][::-1]
    frame = frame.with_columns(p=pl.col("y") == pl.col("p"), q=pl.col("y") == pl.col("q"))
    for row in out.to_dicts():
        by = row["grouped_by"].split(", ")
        inside = [pl.col(name).eq_missing(row[name]) for name in by]
        right = frame.filter(inside)[row["model"]]
        expected = clopper_pearson(right.sum(), len(right), 1 - 0.05 / sizes[row["grouped_by"]])
        assert [row["lower"], row["upper"]] == pytest.approx(expected, abs=1e-12)


def test_limits_of_differences_are_simultaneous_over_models():
    frame = pl.DataFrame(random_frame(6))
    one = bf.check(frame, "y", ["p", "q"], rules="difference(accuracy) <= 0.1", by="sex")
    for model, row in zip("pq", one.to_dicts(), strict=True):
        parts = [part["y"] == part[model] for _, part in frame.group_by("sex")]
        segments = [([right.sum()], [len(right)]) for right in parts]
        expected, _, _ = extreme_limits(segments, [1], 1 - 0.05 / 2)
        assert [row["lower"], row["upper"]] == pytest.approx(expected, abs=1e-5)


def test_each_margin_is_a_separate_family_of_verdicts():
    frame = pl.DataFrame(random_frame(4))
    options = {"by": ["g", "sex"], "rules": ["accuracy >= 0.7", "uar >= 0.7", "ratio(uar) > 0.5"]}
    alone = bf.check(frame, "y", ["p", "q"], **options)
    beside = bf.check(frame, "y", ["p", "q"], margins="all", **options)
    assert beside.filter(grouped_by="g, sex").drop("grouped_by").equals(alone)
    # each roll-up is judged as a question of its own
    for by in ("g", "sex"):
        own = bf.check(frame, "y", ["p", "q"], **options | {"by": by})
        assert beside.filter(grouped_by=by).select(own.columns).equals(own)
