"""Verdicts are the same on every library, of rows and of their cells, in a known order."""

import itertools

import numpy as np
import polars as pl
import pytest
from constructors import assert_table, plain

import balframe as bf

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


@pytest.mark.parametrize("extra", [{}, {"decide": "estimate"}, {"adjust": None, "level": 0.8}])
def test_segments_are_judged_the_same_everywhere(constructor, extra):
    data = random_frame(3)
    options = {"by": ["g", "sex"], "margins": "all", "sample_weight": "w", "rules": RULES, **extra}
    frame = constructor(data)
    out = bf.check(frame, "y", ["q", "p"], **options)
    assert type(out) is type(frame)
    assert_table(out, plain(bf.check(pl.DataFrame(data), "y", ["q", "p"], **options)))
    assert plain(frame) == data
    none = plain(bf.check(frame[:0], "y", ["q", "p"], **options))
    assert none == {name: [] for name in plain(out)}


def test_rows_come_by_margin_segment_model_and_rule_and_differences_behind_them():
    frame = pl.DataFrame(random_frame(4))
    options = {"by": ["g", "sex"], "margins": "all", "rules": RULES}
    out = bf.check(frame.lazy(), "y", ["q", "p"], **options)
    assert out.collect_schema() == out.collect().schema
    out = out.collect()
    assert out.columns == ["g", "sex", "margin", "model", "rule", "reason", *JUDGED]
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
def test_cells_are_judged_as_their_rows_are(weight):
    frame, options = pl.DataFrame(random_frame(5)), {"by": ["g", "sex"], "rules": RULES}
    cells = bf.confusion(frame, "y", "p", by=["g", "sex"], sample_weight=weight)
    out = bf.check(cells, "y", "p", cells=True, **options)
    assert_table(out, plain(bf.check(frame, "y", "p", sample_weight=weight, **options)))


def test_limits_hold_at_once_over_models_margins_and_the_segments_of_where():
    frame = pl.DataFrame(random_frame(6))
    rule = {"rule": "accuracy >= 0.7", "where": {"g": ["a", "b"]}}
    options = {"by": ["g", "sex"], "margins": "all"}
    out = bf.check(frame, "y", ["p", "q"], rules=rule, **options)
    assert len(out) == 2 * (2 * 3 + 2)  # models; pairs with a value of sex, and g alone
    options |= {"metrics": "accuracy", "interval": True, "level": 1 - 0.05 / 16}
    known = bf.report(frame, "y", ["p", "q"], **options).filter(pl.col("g").is_in(["a", "b"]))
    for name in ("lower", "upper"):
        assert out[name].to_list() == pytest.approx(known[f"accuracy_{name}"].to_list(), abs=1e-12)
    one = bf.check(frame, "y", ["p", "q"], rules="difference(accuracy) <= 0.1", by="sex")
    by_hand = {"by": "sex", "metrics": "accuracy", "level": 1 - 0.05 / 2}  # of two models
    known = bf.disparity(frame, "y", ["p", "q"], **by_hand)
    for name in ("lower", "upper"):
        limits = known[f"difference_{name}"].to_list()
        assert one[name].to_list() == pytest.approx(limits, abs=1e-12)
