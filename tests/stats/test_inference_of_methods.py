"""The functions answer with the numbers of inference.json, on pandas and on polars."""

import numpy as np
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import pandas_numpy, plain, polars_eager
from tests.support.reference_values import reference

CASES = reference("inference")
CLOSE = 1e-10

pytestmark = pytest.mark.parametrize("make", [pandas_numpy, polars_eager])


def whole(block):
    """Take the cases that rows can be counted for."""
    return [case for case in CASES[block] if all(x % 1 == 0 for x in np.ravel(case["correct"]))]


def counts(segments):
    """Lay out the confusion matrices of segments, given as correct rows and rows of each label."""
    rows = [
        (f"{segment:03}", label, predicted, k)
        for segment, (right, support) in enumerate(segments)
        for label, (x, n) in enumerate(zip(right, support, strict=True))
        for predicted, k in ((label, x), ((label + 1) % max(len(support), 2), n - x))
    ]
    return dict(zip("gypk", map(list, zip(*rows, strict=True)), strict=True))


def metric_names(case):
    """Name what the numbers are limits of: with one label, a proportion and a mean alike."""
    return ["balanced_accuracy", "accuracy"] if len(case["support"]) == 1 else ["balanced_accuracy"]


def limits(out, row=0, prefix=""):
    return [out[f"{prefix}{end}"][row] for end in ("lower", "upper")]


@cases("interval", ["score", "scas"])
@cases("case", whole("one_sample"))
def test_limits_of_report_equal_reference_values(make, case, interval):
    frame = make(counts([(case["correct"], case["support"])]))
    how = {"metrics": metric_names(case)}
    if len(set(case["weight"])) > 1:
        weights = dict(enumerate(case["weight"]))
        how = {"metrics": ["weighted_balanced_accuracy"], "class_weight": weights}

    out = plain(
        bf.report(frame, "y", "p", counts="k", interval=interval, level=case["level"], **how)
    )

    expected = [case[f"{interval}_lower"], case[f"{interval}_upper"]]
    for name in how["metrics"]:
        assert limits(out, prefix=f"{name}_") == pytest.approx(expected, abs=CLOSE)


@cases("case", CASES["gate"])
def test_limits_of_check_of_many_segments_equal_reference_values(make, case):
    frame = make(counts([(case["correct"], case["support"])] * case["segments"]))
    rules = [f"{name} >= 0.5" for name in metric_names(case)]

    labels = bf.label_set(absent="skip")
    how = {"min_support": 1, "labels": labels, "level": case["level"]}
    out = plain(bf.check(frame, "y", "p", by="g", counts="k", rules=rules, **how))

    expected = [case["lower"], case["upper"]]
    assert len(out["rule"]) == case["segments"] * len(rules)
    for row in {0, len(out["rule"]) - 1, len(rules) - 1}:
        assert limits(out, row) == pytest.approx(expected, abs=CLOSE)


@pytest.mark.parametrize("case", CASES["f1_gate"], ids=lambda case: str(case["tp"]))
def test_limits_of_check_of_f1_equal_reference_values(make, case):
    cells = [(1, 1, case["tp"]), (1, 0, case["fn"]), (0, 1, case["fp"]), (0, 0, 7)]
    rows = [(f"{g:02}", *cell) for g in range(case["segments"]) for cell in cells]
    frame = make(dict(zip("gypk", map(list, zip(*rows, strict=True)), strict=True)))

    how = {"min_support": 1, "level": case["level"]}
    out = plain(bf.check(frame, "y", "p", by="g", counts="k", rules="f1 >= 0.5", **how))

    assert limits(out) == pytest.approx([case["lower"], case["upper"]], abs=CLOSE)


@cases("case", CASES["difference"])
def test_limits_and_p_values_of_gaps_equal_reference_values(make, case):
    reference = case["reference_correct"], case["reference_support"]
    frame = make(counts([(case["correct"], case["support"]), reference]))

    out = plain(
        bf.gaps(
            frame, "y", "p", by="g", counts="k", metrics=metric_names(case), reference="001",
            level=case["level"], adjust=None,
        detail=True)
    )  # fmt: skip

    for row in range(len(metric_names(case))):
        assert out["difference"][row] == pytest.approx(case["difference"], abs=CLOSE)
        assert limits(out, row) == pytest.approx([case["lower"], case["upper"]], abs=CLOSE)
        assert out["p_value"][row] == pytest.approx(case["p_value"], rel=CLOSE)


@cases("case", CASES["homogeneity"])
def test_statistic_and_p_value_of_disparity_equal_reference_values(make, case):
    frame = make(counts(list(zip(case["correct"], case["support"], strict=True))))

    options = {"by": "g", "counts": "k", "metrics": "balanced_accuracy", "min_support": 1}
    out = plain(bf.disparity(frame, "y", "p", detail=True, **options))

    assert out["df"] == [case["df"]]
    assert out["statistic"] == pytest.approx([case["statistic"]], abs=CLOSE)
    if min(min(case["support"])) > 10:  # others share a pool
        assert out["p_value_all"] == pytest.approx([case["p_value"]], abs=CLOSE)


WEIGHTED = reference("weights")


def rows_of(case, prefix=""):
    right, weights = case[f"{prefix}right"], case[f"{prefix}weights"]
    return {"y": [1] * len(right), "p": right, "w": [float(weight) for weight in weights]}


@cases("case", WEIGHTED["gate"])
def test_limits_of_check_of_weighted_rows_equal_reference_values(make, case):
    rules = [f"{name} >= 0.5" for name in ("accuracy", "uar", "recall")]

    labels = bf.label_set([0, 1], absent="skip")
    options = {"sample_weight": "w", "labels": labels, "pos_label": 1}

    out = plain(bf.check(make(rows_of(case)), "y", "p", rules=rules, **options))

    for row in range(len(rules)):
        assert limits(out, row) == pytest.approx([case["lower"], case["upper"]], abs=CLOSE)


@cases("case", WEIGHTED["gap"])
def test_gaps_of_weighted_rows_equal_reference_values(make, case):
    own, other = rows_of(case), rows_of(case, "reference_")
    rows = {name: own[name] + other[name] for name in own}
    rows["g"] = ["a"] * len(own["y"]) + ["b"] * len(other["y"])

    out = plain(
        bf.gaps(
            make(rows),
            "y",
            "p",
            by="g",
            metrics="uar",
            sample_weight="w",
            labels=[0, 1],
            detail=True,
        )
    )

    assert out["difference"] == pytest.approx([case["difference"], -case["difference"]], abs=CLOSE)
    assert limits(out) == pytest.approx([case["lower"], case["upper"]], abs=CLOSE)
    assert limits(out, 1) == pytest.approx([-case["upper"], -case["lower"]], abs=CLOSE)
    assert out["p_value"] == pytest.approx([case["p_value"]] * 2, rel=CLOSE)
