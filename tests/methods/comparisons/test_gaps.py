import itertools
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from statsmodels.stats.multitest import multipletests

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
from tests.support.oracles.mean_recalls import difference

COLUMNS = ["metric", "estimate", "difference", "lower", "upper", "p_adjusted", "verdict"]
COLUMNS += ["n", "reference", "reference_estimate", "ratio", "n_labels", "min_support"]
COLUMNS += ["p_value", "n_tests"]
TESTS = ["lower", "upper", "p_value", "p_adjusted"]
SIDES = ["estimate", "reference_estimate"]
TIED = {"a": (8, 2, 4, 6), "b": (40, 10, 20, 30), "c": (40, 10, 20, 30), "d": (5, 5, 5, 5)}


def test_segments_are_compared_within_each_margin_and_model():
    frame, metrics = random_frame(5), ["accuracy", "recall", "f1", "gmean"]
    options = {"metrics": metrics, "sample_weight": "w"}
    out = bf.gaps(frame, "y", ["p", "q"], by=["g", "sex"], margins="all", detail=True, **options)
    assert out.columns == ["g", "sex", "grouped_by", "model", *COLUMNS]
    assert out["metric"].to_list() == metrics * 2 * (12 + 4 + 3 + 1)
    of_margins = np.repeat([24, 8, 6, 0], [12, 4, 3, 1])  # the whole frame has no rest
    sizes = [(n, n, 0, 0) * 2 for n in of_margins.tolist()]
    assert out["n_tests"].to_list() == [n for one in sizes for n in one]
    for row in out.filter(pl.col("grouped_by") != "overall").to_dicts():
        others = without(frame, row, row["grouped_by"].split(", "))
        rest = bf.report(others, "y", row["model"], **options)[row["metric"]][0]
        assert row["n"] == len(frame) - len(others)
        assert row["reference_estimate"] == pytest.approx(rest, rel=1e-12)
    assert out.filter(grouped_by="overall")["reference_estimate"].null_count() == 8


def averages_by_hand(frame, shared, weight):
    y, p, w = (frame[name].to_numpy() for name in ("y", "p", "w"))
    hits = np.array([w[(y == k) & (p == k)].sum() for k in shared])
    support, predicted = (np.array([w[v == k].sum() for k in shared]) for v in (y, p))
    recall, size = hits / support, len(shared)
    return {
        "balanced_accuracy": recall.mean(),
        "geometric_mean": recall.prod() ** (1 / size),
        "adjusted_balanced_accuracy": (recall.mean() - 1 / size) / (1 - 1 / size),
        "weighted_balanced_accuracy": np.average(recall, weights=[weight[k] for k in shared]),
        "f1_macro": (2 * hits / (support + predicted)).mean(),
        "accuracy": w[y == p].sum() / w.sum(),  # looks at all rows all the same
    }


@cases("reference", ["rest", "overall", "c"])
@cases("weight", [{0: 1, 1: 2, 2: 4, 3: 8}, "balanced"])
def test_averages_use_only_the_labels_present_on_both_sides(reference, weight):
    present = {"a": {0, 1}, "b": {1, 2, 3}, "c": {0, 1, 3}}
    kept = [pl.col("g").eq(g) & pl.col("y").is_in(labels) for g, labels in present.items()]
    frame = random_frame(11, 4).filter(pl.any_horizontal(kept))
    numbers = dict.fromkeys(range(4), 1) if weight == "balanced" else weight
    metrics = [*averages_by_hand(frame, [0, 1], numbers)]
    options = {"class_weight": weight, "sample_weight": "w", "reference": reference}
    out = bf.gaps(frame, "y", "p", by="g", metrics=metrics, detail=True, **options)
    for g, own in present.items():
        sides = {"rest": pl.col("g") != g, "overall": True, "c": pl.col("g") == "c"}
        one, other = frame.filter(g=g), frame.filter(sides[reference])
        shared = sorted(own & set(other["y"]))
        expected = [averages_by_hand(side, shared, numbers) for side in (one, other)]
        rarest = min(one["y"].to_list().count(k) for k in shared)
        for row in out.filter(pl.col("g") == g).to_dicts():
            values = [side[row["metric"]] for side in expected]
            assert values_of(row, SIDES) == pytest.approx(values, rel=1e-12)
            assert (row["n_labels"], row["min_support"]) == (len(shared), rarest)
            if reference == "overall":  # of which the segment is a part
                assert values_of(row, [*TESTS, "n_tests"]) == [None] * 4 + [0]


def test_a_segment_without_the_difficult_label_has_no_gap_in_averages():
    data = {"g": [*"aaaabb"], "y": [1, 1, 0, 0, 1, 1], "p": [1, 0, 0, 1, 1, 0]}
    data["n"] = [90, 10, 50, 50, 18, 2]
    row, of_accuracy = gaps(data, ["balanced_accuracy", "accuracy"], reference="a")[2:]
    assert values_of(row, ["g", "n", "n_labels", "min_support"]) == ["b", 20, 1, 20]
    assert values_of(row, [*SIDES, "difference"]) == pytest.approx([0.9, 0.9, 0], abs=1e-12)
    assert of_accuracy["difference"] == pytest.approx(0.9 - 140 / 200, abs=1e-12)


@pytest.mark.any_version
@pytest.mark.parametrize(("adjust", "method"), [("bh", "fdr_bh"), ("holm", "holm"), (None, None)])
def test_p_values_are_adjusted_within_metric_and_margin(adjust, method):
    options = {"metrics": ["accuracy", "uar", "recall", "f1"], "margins": "all", "adjust": adjust}
    out = bf.gaps(
        random_frame(3, rows=300), "y", ["p", "q"], by=["g", "sex"], detail=True, **options
    )
    margins = ["g, sex", "g", "sex", "overall"]
    assert out["grouped_by"].unique(maintain_order=True).to_list() == margins
    for name, margin in itertools.product(options["metrics"], margins):
        family = out.filter(metric=name, grouped_by=margin)
        known = family.drop_nulls("p_value")
        assert known.is_empty() == (name == "f1" or margin == "overall")
        assert family["p_adjusted"].null_count() == len(family) - len(known)
        p = known["p_value"].to_list()
        p = multipletests(p, method=method)[1] if p and method else p
        assert known["p_adjusted"].to_list() == pytest.approx(p, rel=1e-12)
        assert set(family["n_tests"]) == {len(known)}


def test_each_margin_is_a_separate_family_of_tests():
    frame, options = random_frame(3, rows=300), {"by": ["g", "sex"], "metrics": ["uar", "recall"]}
    alone = bf.gaps(frame, "y", "p", detail=True, **options)
    beside = bf.gaps(frame, "y", "p", margins="all", detail=True, **options)
    assert beside.filter(grouped_by="g, sex").drop("grouped_by").equals(alone)


@cases(
    ("segments", "reference", "names"),
    [
        (FOUR, "largest", "dd"), (FOUR, "best", "ba"), (FOUR, "worst", "cb"), (FOUR, "c", "cc"),
        (TIED, "largest", "bb"), (TIED, "best", "bb"), (TIED, "worst", "dd"),
        (FOUR, {"g": "c"}, "cc"),
    ])  # fmt: skip
def test_limits_and_p_values_are_corrected_for_a_chosen_reference(segments, reference, names):
    metrics = dict(zip(["recall", "false_positive_rate"], names, strict=True))
    choices = 3 if reference in ("best", "worst") else 1
    for row in gaps(table(**segments), [*metrics], reference=reference):
        name, parts = metrics[row["metric"]], PARTS[row["metric"]]
        (x, n), (k, m) = parts(*segments[name]), parts(*segments[row["g"]])
        assert values_of(row, ["reference", "reference_estimate", "n_tests"]) == [name, x / n, 3]
        if row["g"] == name:
            assert values_of(row, ["difference", "ratio", *TESTS]) == [0, 1, *[None] * 4]
        else:
            low, high, p = difference(([k], [m]), ([x], [n]), [1], 1 - 0.05 / choices)
            assert values_of(row, ["lower", "upper"]) == pytest.approx([low, high], abs=1e-9)
            assert row["p_value"] == pytest.approx(min(1, choices * p), rel=1e-9)


NULLED = table(a=(5, 3, 4, 6), b=(7, 2, 1, 11)) | {"sex": [*"mmmmffff"]}
NULLED["g"] = ["a"] * 4 + [None] * 4


@cases("reference", [None, math.nan, {"g": None}, pd.NA])
def test_a_null_reference_is_the_null_segment(reference):
    rows = gaps(NULLED, "recall", reference=reference)
    assert [values_of(row, ["reference", "reference_estimate"]) for row in rows] == [
        ["null", 7 / 9]
    ] * 2


def test_a_mapping_sets_the_reference_of_every_margin():
    options = {"reference": {"g": None, "sex": "f"}, "margins": "all"}
    rows = gaps(NULLED, "recall", by=["g", "sex"], **options)
    names = ["g=null, sex=f"] * 2 + ["g=null"] * 2 + ["sex=f"] * 2 + ["overall"]
    assert [row["reference"] for row in rows] == names
    assert np.flatnonzero([row["difference"] == 0 for row in rows]).tolist() == [1, 3, 4, 6]


def test_limits_p_values_and_ratios_are_null_for_unsuitable_metrics():
    both = ["accuracy", "uar", "adjusted_balanced_accuracy", "baw", "npv", "jaccard", "kappa"]
    both += ["f1_macro", "mcc"]
    neither = ["no_information_rate"]
    others = ["f1", "geometric_mean", "diagnostic_odds_ratio"]
    for row in gaps(table(**FOUR), [*both, *others, *neither], class_weight="balanced"):
        assert (row["lower"] is None) == (row["upper"] is None) == (row["metric"] in neither)
        assert (row["p_value"] is None) == (row["metric"] not in both)
    data = table(bad=(2, 8, 8, 2), good=(8, 2, 2, 8), none=(0, 5, 0, 5))
    rows = gaps(data, ["mcc", "informedness", "recall"], reference="good")
    assert [row["ratio"] for row in rows] == [None, None, 0.25, 1, 1, 1, None, 0, 0]
    assert [row["ratio"] for row in gaps(data, "recall", reference="none")] == [None] * 3


@cases("reference", ["rest", "overall", "largest", "best", "worst", "a"])
def test_fewer_than_two_segments_have_no_limits_or_p_values(reference):
    with pytest.warns(bf.BalframeWarning, match="all rows are in one segment"):
        (row,) = gaps(table(a=(5, 3, 4, 6)), "recall", reference=reference)
    expected = [None, None, None] if reference == "rest" else [5 / 8, 0, 1]
    assert values_of(row, ["reference_estimate", "difference", "ratio"]) == expected
    assert values_of(row, [*TESTS, "n_tests"]) == [None, None, None, None, 0]
    empty, options = random_frame().head(0), {"metrics": "recall", "reference": reference}
    out = bf.gaps(empty, "y", "p", by="g", detail=True, **options)
    assert (len(out), out.columns) == (0, ["g", *COLUMNS])


def test_the_verdict_follows_from_the_adjusted_p_value_and_the_better_direction():
    data = table(a=(45, 5, 45, 5), b=(25, 25, 25, 25), c=(30, 20, 30, 20))
    metrics = ["recall", "fnr", "selection_rate"]
    rows = gaps(data, metrics, reference="b")
    for row in rows:
        is_significant = row["p_adjusted"] is not None and row["p_adjusted"] < 0.05
        assert (row["verdict"] in ("better", "worse", "higher", "lower")) == is_significant
    of_segment = [[row["verdict"] for row in rows[3 * i : 3 * i + 3]] for i in range(3)]
    assert of_segment[0][:2] == ["better", "better"]  # recall .9 against .5, fnr .1 against .5
    assert of_segment[1] == [None] * 3  # the reference
    assert of_segment[2][:2] == ["not decided"] * 2  # .6 against .5 of 50 rows


def test_undefined_differences_are_null_and_outside_the_family():
    data = table(a=(40, 10, 20, 30), b=(0, 0, 20, 60), c=(30, 10, 20, 30))
    rows = gaps(data, ["recall", "accuracy"])
    assert [row["estimate"] for row in rows[::2]] == [4 / 5, None, 3 / 4]
    assert [row["n_tests"] for row in rows] == [2, 3] * 3
    assert (rows[0]["reference_estimate"], rows[2]["reference_estimate"]) == (3 / 4, 7 / 9)
    assert values_of(rows[2], ["difference", "ratio", *TESTS]) == [None] * 6
    assert {row["reference"] for row in gaps(data, "recall", reference="worst")} == {"c"}


@cases(
    ("options", "words"),
    [
        (
            {"reference": "z"},
            r"reference='z' does not match any segment. Segments: 'a', 'largest'\.$",
        ),
        (
            {"reference": "larges"},
            "does not match any segment; did you mean 'largest' or 'rest'[?] Segments: ",
        ),
        (
            {"by": ["g", "sex"], "reference": {"g": "larges", "sex": "m"}},
            r"'sex': 'm'\} does not match any segment; did you mean "
            r"\{'g': 'largest', 'sex': 'm'\} or \{'g'",
        ),
        ({"reference": "largest"}, "reference='largest' is both an option and a value of .*'g'"),
        (
            {"by": ["g", "sex"], "reference": "a"},
            "'a' does not identify one segment of the columns 'g', 'sex'",
        ),
        ({"by": ["g", "sex"], "reference": {"g": "a"}}, "one value for each.*'g', 'sex'"),
        ({"metrics": ["uar", "base_rate"], "reference": "worst"}, "'base_rate' has no direction"),
        ({"adjust": "bonferroni"}, "adjust='bonferroni' is not one of the options: 'bh', 'holm'"),
    ],
)
def test_invalid_references_and_options_raise(options, words):
    data = table(a=(5, 3, 4, 6), largest=(7, 2, 1, 11)) | {"sex": [*"mfmfmfmf"]}
    with pytest.raises(bf.BalframeError, match=words):
        gaps(data, **{"metrics": None, **options})
