"""Rules against a baseline under the options of `check`, and beside rules without one."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import plain
from tests.support.frames.segment_counts import (
    cells,
    check,
    letters,
    random_frame,
    table,
    two_models,
)
from tests.support.oracles.mean_recalls import effective, gate
from tests.support.oracles.paired_recalls import effective as effective_pairs
from tests.support.oracles.paired_recalls import gate_limits_of

RECALL, MEAN = "recall >= baseline - 0.1", "balanced_accuracy >= baseline - 0.1"
NOW = {"a": (60, 20, 15, 55), "b": (75, 15, 33, 47), "c": (30, 4, 9, 41)}
BEFORE = {"a": (70, 10, 15, 55), "b": (60, 30, 33, 47), "c": (28, 9, 20, 33)}


def limits(out):
    return out.select("lower", "upper").rows()


def difference_of_proportions(x, n, y, m, level):
    low, high = gate([x, m - y], [n, m], [0.5, 0.5], level)
    return pytest.approx((2 * low - 1, 2 * high - 1), abs=1e-9)


ABSOLUTE = [
    "recall >= 0.7", "n >= 80", "n_labels == 2", "f1 > 0.6", "difference(recall) <= 0.3",
    {"rule": "ratio(uar) >= 0.8", "where": {"g": ["a", "b"]}},
]  # fmt: skip


@cases("margins", [False, "overall", "all"])
@cases("absent", ["null", "skip", "zero"])
def test_a_baseline_does_not_change_the_verdicts_of_rules_without_it(margins, absent):
    frame = random_frame(3).filter(pl.col("sex").is_not_null())
    frame = frame.with_columns(g=pl.col("g").fill_null("none"))
    earlier = random_frame(4, labels=3, segments="bcd")  # with a label that the data lack
    by = {"by": ["g", "sex"], "margins": margins, "pos_label": 1}
    by["labels"] = bf.label_set(absent=absent)
    alone = bf.check(frame, "y", "p", rules=ABSOLUTE, detail=True, **by)
    rules = [ABSOLUTE[0], MEAN, *ABSOLUTE[1:]]

    for baseline in ("q", bf.confusion(earlier, "y", "q", by=["g", "sex"])):
        out = bf.check(frame, "y", "p", rules=rules, baseline=baseline, detail=True, **by)
        beside = out.filter(pl.col("rule") != MEAN)

        assert beside.select(alone.columns).equals(alone)
        columns = beside.select("n", "n_labels", "baseline_n", "score", "baseline_score")
        assert columns.null_count().row(0) == (beside.height,) * 5


def test_where_limits_a_rule_to_segments_of_either_side():
    baseline = cells(BEFORE | {"gone": (8, 2, 3, 7)})
    rules = [
        {"rule": RECALL, "where": {"g": ["a", "c"]}, "reason": "agreed"},
        {"rule": "recall > baseline - 0.1", "where": {"g": "gone"}},
        {"rule": "n >= 1", "where": {"g": "b"}},
    ]

    out = check(NOW, rules, baseline=baseline)

    assert out["g"].to_list() == ["a", "b", "c", "gone"]
    assert out["reason"].to_list() == ["agreed", None, "agreed", None]
    # the family of the first rule has two segments
    expected = [
        difference_of_proportions(60, 80, 70, 80, 0.975),
        difference_of_proportions(30, 34, 28, 37, 0.975),
    ]
    assert limits(out[[0, 2]]) == expected
    assert letters(out) == "-PP-"


MODELS = {"old": (70, 10, 15, 55), "new": (60, 20, 15, 55), "best": (78, 2, 15, 55)}


def of_models(*names):
    """Write the predictions of one model after the other, as columns, of the same labels."""
    rows = {"y": np.repeat([1, 0], [80, 70])}
    for name in names:
        tp, fn, fp, tn = MODELS[name]
        rows[name] = np.repeat([1, 0, 1, 0], [tp, fn, fp, tn])
    return pl.DataFrame(rows)


def test_every_model_is_compared_with_the_baseline_on_its_rows():
    frame = of_models("best", "new", "old")

    out = bf.check(frame, "y", ["new", "best"], baseline="old", rules=RECALL, detail=True)

    assert out["model"].to_list() == ["new", "best"]
    assert out["score"].to_list() == [60 / 80, 78 / 80]
    assert out["baseline_score"].to_list() == [70 / 80] * 2
    # the rows that one gets right are among those of the other
    z = stats.norm.ppf(1 - 0.05 / 4)
    expected = [gate_limits_of([(1, *pair, 80)], z) for pair in ((0, 10), (8, 0))]
    assert limits(out) == [pytest.approx(one, abs=1e-9) for one in expected]


def test_models_are_compared_with_cells_of_the_same_or_a_single_model():
    frame = of_models("best", "new")
    own = frame.select("y", new="best", best="new")
    each = bf.confusion(own, "y", ["best", "new"])
    one = bf.confusion(of_models("old"), "y", "old")

    with_each = bf.check(frame, "y", ["new", "best"], baseline=each, rules=RECALL, detail=True)
    with_one = bf.check(frame, "y", ["new", "best"], baseline=one, rules=RECALL, detail=True)

    for out, before in ((with_each, (78, 60)), (with_one, (70, 70))):
        assert out["model"].to_list() == ["new", "best"]
        assert out["score"].to_list() == [60 / 80, 78 / 80]
        assert out["baseline_score"].to_list() == [right / 80 for right in before]
        assert limits(out) == [
            difference_of_proportions(now, 80, right, 80, 0.975)
            for now, right in zip((60, 78), before, strict=True)
        ]


def test_a_model_absent_from_either_side_is_inconclusive():
    frame = of_models("best", "new", "old")
    earlier = bf.confusion(frame, "y", ["old", "new"])

    out = bf.check(frame, "y", ["new", "best"], baseline=earlier, rules=RECALL, detail=True)

    assert out["model"].to_list() == ["new", "best", "old"]
    assert out["n"].to_list() == [150, 150, 0]
    assert out["baseline_n"].to_list() == [150, None, 150]
    assert out["score"].to_list() == [60 / 80, 78 / 80, None]
    assert out["baseline_score"].to_list() == [60 / 80, None, 70 / 80]
    assert limits(out) == [difference_of_proportions(60, 80, 60, 80, 0.95), *[(None, None)] * 2]
    assert letters(out[1:]) == "--"


def test_min_support_counts_the_rarest_label_of_both_sides():
    now, before = {"a": (9, 1, 50, 50)}, {"a": (50, 50, 9, 1)}
    rules = [MEAN, RECALL, "specificity >= baseline - 0.9", "accuracy >= baseline - 0.9"]

    enough = check(now, rules, baseline=cells(before), min_support=10)
    few = check(now, rules, baseline=cells(before), min_support=11)

    assert enough["lower"].null_count() == 0
    assert few["lower"].is_null().to_list() == [True, True, True, False]
    assert few["estimate"].equals(enough["estimate"])
    assert set(letters(few[:3])) == {"-"}


def test_missing_rows_are_dropped_where_either_model_lacks_a_prediction():
    rows = {"y": [1, 1, 1, 0, None, 1], "p": [1, 0, 1, 0, 1, None], "q": [1, 1, None, 1, 1, 0]}
    frame, options = pl.DataFrame(rows), {"baseline": "q", "rules": RECALL}

    out = bf.check(frame, "y", "p", missing="drop", detail=True, **options)

    assert (out["n"].item(), out["baseline_n"].item()) == (3, 3)
    assert (out["score"].item(), out["baseline_score"].item()) == (1 / 2, 2 / 2)
    with pytest.raises(bf.InvalidInputError, match="has 1 null"):
        bf.check(frame, "y", "p", detail=True, **options)


WEIGHTS = {"now": [3.0, 1.0, 1.0, 2.0], "before": [1.0, 4.0, 1.0, 0.5]}


def weighted(counts, weights):
    """Weight the four kinds of rows."""
    return pl.DataFrame(table(a=counts)).with_columns(w=pl.Series(weights))


def recall_of(counts, weights):
    """Give the effective rows of the positive label for both limits: the right ones, and all."""
    (tp, fn), (w, v) = counts[:2], weights[:2]
    return effective([w] * tp, [v] * fn)


def test_limits_of_weighted_rows_and_weighted_cells_use_effective_sizes():
    now, before = (60, 20, 15, 55), (70, 10, 15, 55)
    options = {"by": "g", "counts": "n", "sample_weight": "w"}
    baseline = bf.confusion(weighted(before, WEIGHTS["before"]), "y", "p", **options)

    out = bf.check(
        weighted(now, WEIGHTS["now"]),
        "y",
        "p",
        baseline=baseline,
        rules=RECALL,
        detail=True,
        **options,
    )

    assert (out["n"].item(), out["baseline_n"].item()) == (150, 150)
    assert out["score"].item() == pytest.approx(180 / 200, abs=1e-12)
    assert out["baseline_score"].item() == pytest.approx(70 / 110, abs=1e-12)
    lower, upper = recall_of(now, WEIGHTS["now"])
    lower_before, upper_before = recall_of(before, WEIGHTS["before"])
    below = difference_of_proportions(*lower, *upper_before, 0.95).expected
    above = difference_of_proportions(*upper, *lower_before, 0.95).expected
    assert limits(out) == [pytest.approx((below[0], above[1]), abs=1e-9)]


def test_limits_of_weighted_rows_of_two_models_use_effective_sizes():
    counts = (16, 4, 60, 20)
    weights = [5.0, 2.0, 1.0, 1.0]
    frame = two_models({"a": {1: counts}}).with_columns(w=pl.Series(weights))

    out = bf.check(
        frame, "y", "p", baseline="q", rules=RECALL, counts="n", sample_weight="w", labels=[0, 1]
    )

    sums = [n * w for n, w in zip(counts, weights, strict=True)]
    squares = [n * w * w for n, w in zip(counts, weights, strict=True)]
    kinds = [(one[0], one[1], one[2] + one[3]) for one in (sums, squares)]
    lower, upper = effective_pairs(*kinds, 5)
    assert out["estimate"].item() == pytest.approx((80 - 8) / 168, abs=1e-12)
    expected = (
        gate_limits_of([(1, *rows)], stats.norm.ppf(0.975))[side]
        for side, rows in enumerate((lower, upper))
    )
    assert limits(out) == [pytest.approx(tuple(expected), abs=1e-9)]


def test_class_weights_apply_to_both_sides():
    rule = "weighted_balanced_accuracy >= baseline - 0.1"
    options = {"class_weight": {1: 3, 0: 1}, "adjust": None}

    out = check(NOW, rule, baseline=cells(BEFORE), **options)

    for row, now, before in zip(out.to_dicts(), NOW.values(), BEFORE.values(), strict=True):
        (tp, fn, fp, tn), (was_tp, was_fn, was_fp, was_tn) = now, before
        x = [tp, tn, was_fn, was_fp]
        n = [tp + fn, tn + fp, was_tp + was_fn, was_tn + was_fp]
        expected = gate(x, n, [0.375, 0.125, 0.375, 0.125], 0.95)
        found = [(row[end] + 1) / 2 for end in ("lower", "upper")]
        assert found == pytest.approx(expected, abs=1e-9)


def test_check_of_cells_equals_check_of_rows():
    frame, earlier = random_frame(5), random_frame(6)
    by = {"by": ["g", "sex"]}
    baseline = bf.confusion(earlier, "y", "p", **by)
    options = by | {"baseline": baseline, "rules": [RECALL, MEAN, "n >= 9"], "margins": "all"}

    out = bf.check(bf.confusion(frame, "y", "p", **by), "y", "p", **options)

    assert out.equals(bf.check(frame, "y", "p", **options))


@pytest.mark.parametrize(
    ("dtype", "of_baseline", "expected"),
    [(pl.Int8, pl.Int64, pl.Int64), (pl.Enum(list("cab")), pl.String, pl.String)],
)
def test_segments_of_different_dtypes_get_a_common_dtype(dtype, of_baseline, expected):
    values = ["a", "b", "c"] if of_baseline == pl.String else [1, 2, 3]
    rows = pl.DataFrame({"g": values * 4, "y": [0, 1] * 6, "p": [0, 1] * 6})
    cells = bf.confusion(rows.with_columns(pl.col("g").cast(of_baseline)), "y", "p", by="g")
    frame = rows.with_columns(pl.col("g").cast(dtype))

    for one in (frame, frame.lazy()):
        out = bf.check(
            one, "y", "p", by="g", baseline=cells, rules="accuracy >= baseline - 0.1", detail=True
        )

        schema = out.lazy().collect_schema()
        assert out.lazy().collect().schema == schema
        assert schema["g"] == expected
        assert plain(out)["baseline_n"] == [4, 4, 4]


def test_the_lazy_schema_equals_the_collected_schema():
    frame, earlier = random_frame(8).lazy(), random_frame(9)
    by = {"by": ["g", "sex"], "margins": "all", "rules": [RECALL, "n >= 5", "difference(uar) < 1"]}
    for baseline in ("q", bf.confusion(earlier, "y", "p", by=by["by"])):
        out = bf.check(frame, "y", "p", baseline=baseline, **by)

        assert out.collect_schema() == out.collect().schema
        expected = bf.check(frame.collect(), "y", "p", baseline=baseline, **by)
        assert plain(out) == plain(expected)
