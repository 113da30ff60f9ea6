"""Limits and p-values of differences of segments, against roots that are searched one by one."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import balframe as bf
from tests.support.cases import cases
from tests.support.frames.segment_counts import (
    FOUR,
    PARTS,
    gaps,
    random_frame,
    table,
    values_of,
    without,
)
from tests.support.oracles.mean_recalls import difference, effective, weighted_difference

SUPPORT = ["n", "n_labels", "min_support"]
LABELS = [(2, "balanced"), (4, {0: 1, 1: 2, 2: 0, 3: 3})]
SIDES = ["estimate", "reference_estimate"]
RATES = {  # the rows counted and those that they are among, by y, p and y == p
    "accuracy": lambda y, p, right: (right, y | ~y),
    "normalized_accuracy": lambda y, p, right: (right, y | ~y),
    "hamming_loss": lambda y, p, right: (~right, y | ~y),
    "recall": lambda y, p, right: (p, y),
    "specificity": lambda y, p, right: (~p, ~y),
    "precision": lambda y, p, right: (y, p),
    "npv": lambda y, p, right: (~y, ~p),
    "false_positive_rate": lambda y, p, right: (p, ~y),
    "false_negative_rate": lambda y, p, right: (~p, y),
    "false_discovery_rate": lambda y, p, right: (~y, p),
    "false_omission_rate": lambda y, p, right: (y, ~p),
    "jaccard": lambda y, p, right: (y & p, y | p),
    "selection_rate": lambda y, p, right: (p, y | ~y),
    "prevalence": lambda y, p, right: (y, y | ~y),
}
EQUAL = [  # and whether the p-value is 1
    ((40, 10, 20, 30), (40, 10, 20, 30), True), ((40, 10, 20, 30), (80, 20, 40, 60), False),
    ((9, 0, 0, 9), (8, 0, 0, 7), True), ((0, 9, 9, 0), (0, 8, 7, 0), True),
]  # fmt: skip


def mover(one, other):
    (p, low, high), (p_other, low_other, high_other) = one, other
    lower = math.hypot(p - low, high_other - p_other)
    return p - p_other - np.array([lower, -math.hypot(high - p, p_other - low_other)])


def weights_of(frame, rows, counts, weight):
    """Repeat the weights of rows by their counts; without weights each row has the weight 1."""
    k = frame[counts].to_numpy()[rows] if counts else np.ones(rows.sum(), int)
    w = frame[weight].to_numpy()[rows] if weight else np.ones(rows.sum())
    return np.repeat(w, k)


def in_rows(frame, counted, among, **columns):
    """Count the rows that weights are worth: those counted, and those that they are among."""
    right, wrong = (
        weights_of(frame, rows, **columns) for rows in (counted & among, ~counted & among)
    )
    if columns["weight"] is None:
        return [(len(right), len(right) + len(wrong))] * 2
    return effective(right, wrong)


def read_recalls(frame, metric, labels, class_weight, **columns):
    """Read a metric that is linear in recalls: its rows for both limits, weights, and slope."""
    y, p = (frame[name].to_numpy() for name in "yp")
    if metric in RATES:
        found, weights = [RATES[metric](y == 1, p == 1, y == p)], [1]
    elif metric == "informedness":
        found, weights = [(p == 1, y == 1), (p != 1, y != 1)], [1, 1]
    elif metric == "weighted_balanced_accuracy" and class_weight != "balanced":
        found = [(p == k, y == k) for k, w in class_weight.items() if w]
        weights = [w for w in class_weight.values() if w]
    else:
        found, weights = [(p == k, y == k) for k in range(labels)], [1] * labels
    of_labels = [in_rows(frame, *one, **columns) for one in found]
    sides = [tuple(zip(*side, strict=True)) for side in zip(*of_labels, strict=True)]
    of_chance = labels / (labels - 1)
    slopes = {"adjusted_balanced_accuracy": of_chance, "normalized_accuracy": of_chance}
    slope = slopes.get(metric, 2 if metric == "informedness" else 1)
    return sides, [w / sum(weights) for w in weights], slope


MEANS = {"balanced_accuracy", "adjusted_balanced_accuracy", "weighted_balanced_accuracy"}
MEANS |= {"informedness"}
TESTED_BY_LIMITS = {"precision_macro", *bf.list_metrics().filter(interval="linearised")["name"]}


@pytest.mark.thorough
@cases("counts", [None, "k"])
@cases("weight", [None, "w", "heavy"])
@cases(("labels", "class_weight"), LABELS)
def test_the_rest_is_the_frame_without_the_segment(labels, class_weight, counts, weight):
    frame = random_frame(labels, labels)
    options = {"metrics": "all", "class_weight": class_weight, "pos_label": 1}
    options |= {"counts": counts, "sample_weight": weight}
    limits = {"interval": True, "layout": "long", "detail": True, **options}
    ranges = dict(zip(*bf.list_metrics().select("name", "range"), strict=True))
    out = bf.gaps(frame, "y", "p", by="g", detail=True, **options)
    own = bf.report(frame, "y", "p", by="g", **limits).to_dicts()
    others = {g: without(frame, {"g": g}, ["g"]) for g in ("a", "b", "c", None)}
    rest = {}
    for g, rows in others.items():
        of_rest = bf.report(rows, "y", "p", **limits).to_dicts()
        rest |= {(g, row["metric"]): row for row in of_rest}
    for row, one in zip(out.to_dicts(), own, strict=True):
        other, metric = rest[row["g"], row["metric"]], row["metric"]
        assert values_of(row, ["g", "metric", *SUPPORT]) == values_of(
            one, ["g", "metric", *SUPPORT]
        )
        sides = [side["estimate"] for side in (one, other)]
        assert values_of(row, SIDES) == pytest.approx(sides, rel=1e-12)
        assert row["difference"] == pytest.approx(sides[0] - sides[1], abs=1e-12)
        if metric in RATES or (metric in MEANS and row["estimate"] is not None):
            read = [
                read_recalls(side, metric, labels, class_weight, counts=counts, weight=weight)
                for side in (frame.filter(pl.col("g").eq_missing(row["g"])), others[row["g"]])
            ]
            (first, weights, slope), (second, _, _) = read
            if weight is None:
                low, high, p = difference(first[0], second[0], weights, 0.95)
            else:
                low, high, p = weighted_difference(first, second, weights, 0.95)
            assert values_of(row, ["lower", "upper"]) == pytest.approx(
                [slope * low, slope * high], abs=1e-9
            )
            assert row["p_value"] == pytest.approx(p, rel=1e-9, abs=1e-15)
            continue
        if metric in TESTED_BY_LIMITS:
            excludes_zero = row["lower"] is not None and (row["lower"] > 0 or row["upper"] < 0)
            assert row["p_value"] is None or (row["p_value"] < 0.05) == excludes_zero
            continue
        assert row["p_value"] is None
        ends = [values_of(side, ["estimate", "lower", "upper"]) for side in (one, other)]
        if None in ends[0] + ends[1]:
            assert row["lower"] is row["upper"] is None
        else:
            least, most = map(float, ranges[metric].strip("[])").split(","))
            expected = np.clip(mover(*ends), least - most, most - least)
            assert [row["lower"], row["upper"]] == pytest.approx(expected, abs=1e-9)


@cases("metric", ["f1_macro", "cohen_kappa", "fbeta(2)", "cohen_kappa_quadratic"])
@cases("weight", [None, "w"])
def test_linearised_metrics_have_mover_limits_of_gates_and_a_p_value_that_agrees(metric, weight):
    frame = random_frame(2, 2)
    options = {"by": "g", "pos_label": 1, "sample_weight": weight}
    of_segment = bf.check(
        frame, "y", "p", rules=f"{metric} >= 0", adjust=None, **options
    ).rows_by_key("g", named=True, unique=True)

    def gap(level):
        out = bf.gaps(
            frame, "y", "p", metrics=metric, reference="a", level=level, detail=True, **options
        )
        return out.rows_by_key("g", named=True, unique=True)["b"]

    row = gap(0.95)
    ends = [values_of(of_segment[g], ["estimate", "lower", "upper"]) for g in "ba"]
    assert values_of(row, ["lower", "upper"]) == pytest.approx(mover(*ends), abs=1e-9)
    at_p = gap(1 - row["p_value"])
    nearer = at_p["lower"] if row["difference"] > 0 else at_p["upper"]
    assert row["p_value"] == 1 or nearer == pytest.approx(0, abs=1e-8)


def test_a_difference_of_segments_without_gate_limits_has_neither_limits_nor_a_test():
    few, many = [[3000, 2], [6, 2]], [[500, 30], [40, 200]]
    cells = [
        {"g": g, "y": y, "p": p, "n": matrix[y][p]}
        for g, matrix in {"few": few, "many": many}.items()
        for y in (0, 1)
        for p in (0, 1)
    ]
    options = {"by": "g", "counts": "n", "metrics": "f1_macro"}

    (row, _) = bf.gaps(
        pl.DataFrame(cells), "y", "p", reference="many", detail=True, **options
    ).to_dicts()

    assert [row[name] for name in ("lower", "upper", "p_value", "verdict")] == [None] * 4
    assert row["n_tests"] == 0


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_proportions_have_skewness_corrected_score_limits_and_p_values(level):
    for row in gaps(table(**FOUR), [*PARTS], level=level):
        others = np.sum([FOUR[g] for g in FOUR if g != row["g"]], axis=0)
        (x, n), (x_rest, n_rest) = (PARTS[row["metric"]](*c) for c in (FOUR[row["g"]], others))
        found = difference(([x], [n]), ([x_rest], [n_rest]), [1], level)
        expected = [x / n - x_rest / n_rest, x / n / (x_rest / n_rest), *found]
        assert values_of(
            row, ["difference", "ratio", "lower", "upper", "p_value"]
        ) == pytest.approx(expected, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize(("hits", "rows"), [((12, 1), 16), ((90, 75), 100), ((3, 3), 9)])
def test_segments_of_equal_support_have_the_chi_square_of_a_table(hits, rows):
    data = {"g": [*"aabb"], "y": [1] * 4, "p": [1, 0] * 2}
    data["n"] = [hits[0], rows - hits[0], hits[1], rows - hits[1]]
    pearson = stats.chi2_contingency(np.reshape(data["n"], (2, 2)), correction=False).statistic
    expected = stats.chi2.sf(pearson * (2 * rows - 1) / (2 * rows), 1)

    row = gaps(data, "recall", reference="b", labels=[0, 1])[0]

    assert row["p_value"] == pytest.approx(expected, rel=1e-9)


def test_limits_equal_an_interval_published_by_laud():
    # Laud 2017, Table 2: 12 of 16 and 1 of 16
    data = {"g": [*"aabb"], "y": [1] * 4, "p": [1, 0] * 2, "n": [12, 4, 1, 15]}
    row = gaps(data, "recall", reference="b", labels=[0, 1])[0]
    assert [round(row[end], 3) for end in ("lower", "upper")] == [0.386, 0.878]


def test_limits_and_p_values_of_balanced_accuracy_use_the_same_statistic():
    rows = gaps(table(**FOUR), ["balanced_accuracy", "adjusted_balanced_accuracy"], reference="c")
    of_c = ([41, 80], [83, 116])
    for row, slope in zip(rows[:2], (1, 2), strict=True):  # of a
        low, high, p = difference(([60, 55], [80, 70]), of_c, [0.5, 0.5], 0.95)
        assert values_of(row, ["lower", "upper"]) == pytest.approx([slope * low, slope * high])
        assert row["p_value"] == pytest.approx(p, rel=1e-9)


SWAPPED = table(a=(18, 12, 15, 285), b=(285, 15, 12, 18))


def test_equal_means_of_swapped_recalls_have_a_p_value_of_1():
    # recalls 18/30 and 285/300 in one segment, 285/300 and 18/30 in the other
    metrics = ["balanced_accuracy", "informedness", "recall", "specificity"]
    rows = gaps(SWAPPED, metrics, reference="b")[:4]
    assert [row["difference"] for row in rows] == pytest.approx([0, 0, -0.35, 0.35], abs=1e-12)
    p = [row["p_value"] for row in rows]
    assert p[:2] == pytest.approx([1, 1], abs=1e-9)
    assert max(p[2:]) < 1e-5
    assert rows[0]["lower"] == pytest.approx(-rows[0]["upper"], abs=1e-12)


COUNTS = st.tuples(*[st.integers(0, 40)] * 4).filter(lambda c: c[0] + c[1] and c[2] + c[3])


@given(one=COUNTS, other=COUNTS, level=st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_p_value_is_significant_only_if_the_limits_exclude_0(one, other, level):
    metrics = ["accuracy", "recall", "balanced_accuracy", "informedness"]
    for row in gaps(table(a=one, b=other), metrics, reference="b", level=level)[:4]:
        p, nearest = row["p_value"], max(row["lower"], -row["upper"])
        if abs(p - (1 - level)) > 1e-9 and abs(nearest) > 1e-9:
            assert (p < 1 - level) == (nearest > 0)


@cases(("a", "b", "is_one"), EQUAL)
def test_equal_segments_have_a_p_value_near_1(a, b, is_one):
    for row in gaps(table(a=a, b=b), ["accuracy", "recall", "uar"]):
        assert (row["difference"], row["n_tests"]) == (pytest.approx(0, abs=1e-12), 2)
        assert row["lower"] < 0 < row["upper"]
        # skewness moves the middle of the limits where one side has more rows
        assert row["p_value"] == pytest.approx(1, abs=1e-9 if is_one else 0.05)
        assert row["p_adjusted"] == row["p_value"]
