import math
import re
from pathlib import Path
from typing import get_args

import numpy as np
import polars as pl
import pytest

import balframe as bf
from balframe.metrics.lookup import find_metric
from balframe.stats.base import IntervalMethod
from tests.support.cases import cases
from tests.support.constructors import each_constructor, plain
from tests.support.reference_values import reference
from tests.support.shipped_metrics import OF_FAMILIES, SHIPPED

REFERENCE = reference("intervals")
PAGE = Path(__file__).parents[2] / "docs" / "pages" / "how-to" / "choosing-an-interval.md"
LISTED = PAGE.read_text("utf-8").partition("## What has no interval")[2].partition("\n```\n")[0]
WITHOUT = {*re.findall("^[a-z0-9_]+$", LISTED, re.MULTILINE)}
METHODS = [True, *get_args(IntervalMethod)]


def matrix_of(correct, support):
    """Send the mistakes of all labels to one more label, which is absent from the truth."""
    matrix = np.zeros((len(correct) + 1, len(correct) + 1), int)
    matrix[:-1, :-1] = np.diag(correct)
    matrix[:-1, -1] = np.subtract(support, correct)
    return bf.from_matrix(matrix)


def random_frame(seed=0, labels=2, rows=400):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, labels, rows)
    right = rng.random(rows) < 0.7
    yhat = np.where(right, y, rng.integers(0, labels, rows))
    return pl.DataFrame(
        {"g": rng.integers(0, 12, rows), "y": y, "yhat": yhat, "w": rng.integers(1, 9, rows) / 4}
    )


def limits_of(frame, metric, interval=True, **options):
    options |= {"metrics": metric, "interval": interval}
    out = bf.report(frame, "actual", "predicted", counts="n", **options)
    return [out[f"{metric}_{side}"][0] for side in ("lower", "upper")]


def without_empty_labels(block):
    return [case for case in REFERENCE[block] if 0 not in case["support"]]


@cases("case", without_empty_labels("linear"))
def test_report_gives_the_reference_limits(case):
    frame = matrix_of(case["correct"], case["support"])
    weights = dict(enumerate([*case["weights"], 1.0]))
    if case["correct"] == case["support"]:
        del weights[len(case["weights"])]  # the label of mistakes does not occur

    metric = "weighted_balanced_accuracy"
    found = limits_of(frame, metric, class_weight=weights)
    assert found == pytest.approx(case["score_adj"], abs=1e-6)
    found = limits_of(frame, metric, "mover", class_weight=weights)
    assert found == pytest.approx(case["mover_jeffreys"], abs=1e-6)


def test_linear_functions_of_a_metric_have_its_transformed_limits():
    frame = bf.from_matrix([[2, 8], [5, 40]])
    low, high = limits_of(frame, "balanced_accuracy")

    assert [low, high] == pytest.approx([0.4470031118554255, 0.7063726479711947], abs=1e-6)
    for metric in ("adjusted_balanced_accuracy", "informedness"):
        expected = [2 * low - 1, 2 * high - 1]
        assert limits_of(frame, metric) == pytest.approx(expected, abs=1e-12)
    low, high = limits_of(frame, "accuracy")
    assert limits_of(frame, "normalized_accuracy") == pytest.approx([2 * low - 1, 2 * high - 1])


@cases("case", without_empty_labels("posterior"))
def test_the_posterior_method_gives_the_reference_values(case):
    frame = matrix_of(case["correct"], case["support"])

    out = bf.posterior(
        frame, "actual", "predicted", counts="n", prior=case["prior"], above=0.5, detail=True
    )

    (row,) = out.to_dicts()
    assert row["mean"] == pytest.approx(case["mean"], abs=1e-9)
    found = [row["lower"], row["median"], row["upper"]]
    assert found == pytest.approx([case["q025"], case["median"], case["q975"]], abs=2e-6)
    if "p_le_half" in case:
        assert 1 - row["p_above"] == pytest.approx(case["p_le_half"], abs=2e-6)


@cases("prior", ["uniform", "jeffreys"])
@cases("errors", [(0, 0, 0), (5, 5), (1, 0)])
def test_the_posterior_of_ten_million_rows_includes_its_mean(errors, prior):
    support = [10**7] * len(errors)
    frame = matrix_of([rows - wrong for rows, wrong in zip(support, errors, strict=True)], support)

    (row,) = bf.posterior(
        frame, "actual", "predicted", counts="n", prior=prior, detail=True
    ).to_dicts()

    assert row["lower"] < row["median"] < row["upper"]
    assert row["lower"] < row["mean"] < row["upper"]
    # 1 - mean has a Gamma distribution, whose median is less than its mean
    assert row["median"] > row["mean"]
    again = bf.posterior(
        frame, "actual", "predicted", counts="n", prior=prior, above=row["lower"], detail=True
    )
    assert again["p_above"][0] == pytest.approx(0.975, abs=2e-6)


def test_limits_of_f1_are_mapped_from_the_jaccard_index():
    frame = bf.from_matrix([[50, 7], [3, 20]])
    z2 = 1.959963984540054**2
    n, p = 30, 20 / 30
    half = math.sqrt(z2 * p * (1 - p) / n + z2 * z2 / (4 * n * n))
    jaccard = [(p + z2 / (2 * n) + sign * half) / (1 + z2 / n) for sign in (-1, 1)]

    assert limits_of(frame, "f1") == pytest.approx([2 * j / (1 + j) for j in jaccard], abs=1e-12)


@cases("labels", [2, 3])
@cases("weight", [None, "w"])
@cases("interval", METHODS)
def test_limits_of_every_metric_lie_in_its_range_around_the_estimate(labels, weight, interval):
    frame = random_frame(labels, labels)
    options = {"by": "g", "metrics": SHIPPED, "class_weight": "balanced", "sample_weight": weight}
    options |= {"pos_label": 1, "layout": "long", "detail": True}
    ranges = dict(zip(*bf.list_metrics().select("name", "range"), strict=True))
    of_families = {name: find_metric(name).range for name in OF_FAMILIES}
    ranges |= {name: f"[{low}, {high}]" for name, (low, high) in of_families.items()}
    narrow = bf.report(frame, "y", "yhat", interval=interval, level=0.8, **options)
    out = bf.report(frame, "y", "yhat", interval=interval, level=0.99, **options)

    for row, inner in zip(out.to_dicts(), narrow.to_dicts(), strict=True):
        has_limits = row["metric"] not in WITHOUT and row["estimate"] is not None
        if not has_limits:
            assert row["lower"] is row["upper"] is None
        elif row["lower"] is None:
            # with this method a limit may be 1 without all being right, and 1 has no odds
            assert (row["metric"], row["method"]) == ("treatment_ratio", "scas")
        else:
            least, most = (float(end) for end in ranges[row["metric"]].strip("[])").split(","))
            assert least <= row["lower"] <= inner["lower"] + 1e-9
            assert inner["upper"] - 1e-9 <= row["upper"] <= most
            if row["method"] != "posterior":
                assert row["lower"] <= row["estimate"] <= row["upper"]


@cases("interval", METHODS)
def test_counts_equal_repeated_rows_and_cells_equal_both(interval):
    frame = random_frame(7)
    options = {"by": "g", "metrics": "all", "interval": interval}
    compressed = frame.group_by("g", "y", "yhat").len("k")

    out = bf.report(frame, "y", "yhat", **options)

    assert bf.report(compressed, "y", "yhat", counts="k", **options).equals(out)
    cells = bf.confusion(frame, "y", "yhat", by="g")
    assert bf.report(cells, "y", "yhat", **options).equals(out)
    weighted = bf.report(frame, "y", "yhat", sample_weight="w", **options)
    cells = bf.confusion(frame, "y", "yhat", by="g", sample_weight="w")
    assert bf.report(cells, "y", "yhat", **options).equals(weighted)


def test_each_limit_of_weighted_rows_uses_its_own_effective_size():
    # label 1: weights 1, 1, 2 of which 1 + 2 right: p = 3/4; label 0: one row, right.
    # One more wrong row of weight 2: q = 3/6, V = (5/4 + 5/4) / 36, n = 36/10 - 1. One more right
    # row: 180/34 - 1, which is more than Kish's 16/6.
    frame = pl.DataFrame({"y": [1, 1, 1, 0], "p": [1, 0, 1, 0], "w": [1.0, 1.0, 2.0, 5.0]})
    p, z2, expected = 3 / 4, 1.959963984540054**2, []
    for sign, n in ((-1, 2.6), (1, 16 / 6)):
        half = math.sqrt(z2 * p * (1 - p) / n + z2 * z2 / (4 * n * n))
        expected.append((p + z2 / (2 * n) + sign * half) / (1 + z2 / n))

    out = bf.report(frame, "y", "p", sample_weight="w", metrics="recall", interval=True)

    assert out.select("recall_lower", "recall_upper").row(0) == pytest.approx(expected, abs=1e-12)


def test_weights_with_squares_out_of_float_range_have_no_limits():
    for unit in (1e200, 1e-200, 1e-161):
        frame = pl.DataFrame({"y": [1, 1, 0], "p": [1, 0, 0], "w": [unit, unit, unit]})
        out = bf.report(frame, "y", "p", sample_weight="w", metrics="uar", interval=True)
        assert out.select("uar", "uar_lower", "uar_upper").row(0) == (0.75, None, None)


@each_constructor
def test_all_correct_segments_have_upper_limit_1_all_wrong_lower_limit_0(constructor):
    frame = constructor(
        {
            "g": ["all right"] * 4 + ["all wrong"] * 4 + ["one label"] * 2 + ["none"],
            "y": [0, 0, 1, 1, 0, 0, 1, 1, 1, 1, None],
            "p": [0, 0, 1, 1, 1, 1, 0, 0, 1, 0, 1],
        }
    )
    metrics = ["uar", "geometric_mean", "kappa", "adjusted_balanced_accuracy"]

    out = plain(bf.report(frame, "y", "p", by="g", metrics=metrics, interval=True, missing="drop"))

    assert out["g"] == ["all right", "all wrong", "none", "one label"]
    assert out["uar_upper"][0] == out["geometric_mean_upper"][0] == 1
    assert 0 < out["uar_lower"][0] == pytest.approx(1 - out["uar_upper"][1])
    assert out["uar_lower"][1] == 0
    assert out["geometric_mean_lower"][1] is out["geometric_mean_upper"][1] is None
    assert 0 < out["kappa_lower"][0] < out["kappa_upper"][0] == 1
    assert [out[f"{metric}_lower"][2] for metric in metrics] == [None] * 4
    # one label: Wilson's limits of 1 of 2
    assert out["uar_lower"][3] == pytest.approx(0.0945312, abs=1e-6)
    assert out["adjusted_balanced_accuracy_lower"][3] is None


@cases(
    ("options", "message"),
    [
        ({"interval": "wald"}, "interval='wald' is not one of the options: None, False"),
        ({"interval": True, "level": 95}, "level=95 is not a confidence level; give a number"),
        ({"interval": True, "level": "a"}, "level='a' is not a confidence level"),
        ({"interval": "flat_posterior"}, "interval='flat_posterior' is not one of the options"),
    ],
)
def test_invalid_interval_options_raise(options, message):
    with pytest.raises(bf.InvalidInputError, match=message):
        bf.report(random_frame(), "y", "yhat", **options)


@cases(
    ("method", "options"),
    [
        (bf.report, {"metrics": "all", "interval": True}),
        (bf.classes, {"interval": "exact"}),
        (bf.posterior, {"margins": "overall"}),
    ],
)
@each_constructor
def test_intervals_are_the_same_in_every_library(constructor, method, options):
    data = random_frame(9).to_dict(as_series=False)
    expected = method(pl.DataFrame(data), "y", "yhat", by="g", **options)

    assert plain(method(constructor(data), "y", "yhat", by="g", **options)) == plain(expected)


def test_limits_narrow_with_the_counts():
    frame = random_frame(3).with_columns(k=pl.lit(1), many=pl.lit(100))
    options = {"metrics": SHIPPED, "class_weight": "balanced", "layout": "long", "interval": True}
    few = bf.report(frame, "y", "yhat", counts="k", **options)
    many = bf.report(frame, "y", "yhat", counts="many", **options)

    assert few["estimate"].to_list() == pytest.approx(many["estimate"].to_list(), abs=1e-12)
    width = (few["upper"] - few["lower"], many["upper"] - many["lower"])
    assert width[0].null_count() == len(WITHOUT)
    assert (width[1] < width[0] / 5).drop_nulls().all()


@cases("interval", METHODS)
def test_names_of_labels_do_not_change_limits(interval):
    frame = random_frame(4, labels=3)
    symmetric = [name for name in SHIPPED if name not in WITHOUT] + ["uar"]
    needs = dict(zip(*bf.list_metrics(detail=True).select("name", "needs"), strict=True))
    symmetric = [
        name for name in symmetric if needs.get(name, "") == "" and name not in OF_FAMILIES
    ]
    renamed = frame.with_columns(pl.col("y", "yhat").replace_strict({0: "z", 1: "b", 2: "a"}))

    out = bf.report(frame, "y", "yhat", by="g", metrics=symmetric, interval=interval)
    other = bf.report(renamed, "y", "yhat", by="g", metrics=symmetric, interval=interval)

    for name in out.columns:
        assert other[name].to_list() == pytest.approx(out[name].to_list(), abs=1e-12, nan_ok=True)


def test_limits_follow_the_option_absent():
    frame = pl.DataFrame(
        {
            "g": ["a"] * 6 + ["b"] * 4,
            "y": [0, 0, 1, 1, 2, 2, 0, 0, 1, 1],
            "yhat": [0, 1, 1, 1, 2, 0, 0, 0, 1, 0],
        }
    )
    options = {"by": "g", "metrics": ["uar", "geometric_mean"], "interval": True}
    by_absent = {
        absent: bf.report(frame, "y", "yhat", labels=bf.label_set(absent=absent), **options).row(
            1, named=True
        )
        for absent in ("skip", "null", "zero")
    }

    skip, null, zero = by_absent.values()
    alone = bf.report(frame.filter(g="b"), "y", "yhat", **options).row(0, named=True)
    assert skip == alone
    assert [null[name] for name in ("uar", "uar_lower", "uar_upper")] == [None] * 3
    for name in ("uar", "uar_lower", "uar_upper"):  # two of three labels, the third counts 0
        assert zero[name] == pytest.approx(skip[name] * 2 / 3, abs=1e-12)
    assert [zero[f"geometric_mean{end}"] for end in ("", "_lower", "_upper")] == [0, None, None]


def test_interval_false_returns_no_limits():
    frame = pl.DataFrame({"y": [1, 0, 1], "p": [1, 1, 0]})

    assert bf.report(frame, "y", "p", interval=False).equals(bf.report(frame, "y", "p"))


@pytest.mark.parametrize("weight", [None, "w"])
def test_class_weight_prevalence_equals_shares_as_weights(weight):
    y, p = [0] * 30 + [1] * 10, [0] * 25 + [1] * 12 + [0] * 3
    frame = pl.DataFrame({"y": y, "p": p, "w": [1.0, 2.0, 3.0, 2.0] * 10})
    shares = frame.group_by("y").agg(pl.col("w").sum() if weight else pl.len())
    options = {"interval": True, "sample_weight": weight, "metrics": "weighted_balanced_accuracy"}

    found, expected = (
        bf.report(frame, "y", "p", class_weight=given, **options)
        for given in ("prevalence", dict(shares.iter_rows()))
    )

    columns = [f"weighted_balanced_accuracy{end}" for end in ("", "_lower", "_upper")]
    assert found.select(columns).row(0) == pytest.approx(expected.select(columns).row(0), rel=1e-12)
    assert found[columns[1]][0] < found[columns[0]][0] < found[columns[2]][0]
