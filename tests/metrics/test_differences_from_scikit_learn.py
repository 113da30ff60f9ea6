"""Where the conventions differ: balframe's value by hand beside scikit-learn's.

What is undefined is null here, where scikit-learn puts 0 or minus infinity; an average over
labels leaves it out, where scikit-learn counts 0.
"""

import math
import warnings

import numpy as np
import polars as pl
import pytest
from sklearn import metrics as sk
from sklearn.exceptions import UndefinedMetricWarning

import balframe as bf
from tests.support.cases import cases


def score(metric, y, yhat, weight=None, **options):
    frame = pl.DataFrame({"y": y, "yhat": yhat})
    if weight is not None:
        frame = frame.with_columns(weight=pl.Series(weight))
        options["sample_weight"] = "weight"
    return bf.report(frame, "y", "yhat", metrics=metric, **options).get_column(metric).item()


def near(expected):
    return pytest.approx(expected, rel=0, abs=1e-12)


@cases(
    ("y", "yhat"),
    [("aabb", "aaaa"), ("aaaa", "aabb"), ("aaaa", "aaaa"), ("aaaa", "bbbb"), ("abc", "ccc")],
)
def test_correlation_with_a_constant_is_null(y, yhat):
    assert score("matthews_corrcoef", list(y), list(yhat)) is None
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "A single label was found", UserWarning)
        assert sk.matthews_corrcoef(list(y), list(yhat)) == 0


@cases("weight", [[0.1, 0.2, 0.3], [0.1, 0.4, 0.2], [0.5, 0.25, 2.0]])
@cases("prediction", "abc")
def test_correlation_with_a_constant_is_null_under_weights(weight, prediction):
    assert score("matthews_corrcoef", list("abc"), [prediction] * 3, weight) is None
    assert score("matthews_corrcoef", [prediction] * 3, list("abc"), weight) is None


def test_kappa_of_one_label_throughout_is_null_where_scikit_learn_gives_nan():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert math.isnan(sk.cohen_kappa_score(["a", "a"], ["a", "a"]))
    assert score("cohen_kappa", ["a", "a"], ["a", "a"]) is None


def test_kappa_and_correlation_with_a_rare_label_are_precise():
    tp, fn, fp, tn = 2, 1, 1, 100_000_000
    true, predicted, n = (tp + fn, tn + fp), (tp + fp, tn + fn), tp + fn + fp + tn
    by_chance = sum(t * p for t, p in zip(true, predicted, strict=True))  # exact integers
    above_chance = n * (tp + tn) - by_chance
    assert sum(t * t for t in true) == sum(p * p for p in predicted) == by_chance
    cells = bf.from_matrix([[tn, fp], [fn, tp]])
    metrics = ["cohen_kappa", "matthews_corrcoef"]

    out = bf.report(cells, "actual", "predicted", counts="n", metrics=metrics)

    expected = above_chance / (n * n - by_chance)
    assert out.select(metrics).row(0) == pytest.approx((expected, expected), rel=1e-12)


def test_a_label_never_predicted_has_precision_0_in_averages_as_in_scikit_learn():
    y, yhat = list("aabc"), list("aaab")  # precision of a 2/3, of b 0/1, of c 0 of 0
    peer = {"zero_division": 0, "y_true": y, "y_pred": yhat}

    for absent in ("skip", "null", "zero"):
        labels = bf.label_set(absent=absent)
        macro = score("precision_macro", y, yhat, labels=labels)
        assert macro == near((2 / 3 + 0 + 0) / 3) == sk.precision_score(average="macro", **peer)
        weighted = score("precision_weighted", y, yhat, labels=labels)
        assert weighted == near((2 * 2 / 3 + 0 + 0) / 4)
        assert weighted == near(sk.precision_score(average="weighted", **peer))


def test_ignoring_a_label_does_not_raise_the_macro_precision():
    y = list("aaaabbbc")
    ignores_c, finds_c = list("aaaabbab"), list("aaaabbac")

    assert score("precision_macro", y, ignores_c) < score("precision_macro", y, finds_c)


def test_weighted_precision_is_0_if_no_label_with_support_is_predicted():
    y, yhat = ["a", "a"], ["b", "b"]

    assert score("precision_weighted", y, yhat) == 0
    assert sk.precision_score(y, yhat, average="weighted", zero_division=0) == 0


def test_a_label_absent_from_the_truth_is_left_out_of_macro_recall():
    y, yhat = list("aabb"), list("acbb")  # recall of a 1/2, of b 2/2, of c undefined

    assert score("recall_macro", y, yhat) == near((1 / 2 + 1) / 2)
    assert sk.recall_score(y, yhat, average="macro", zero_division=0) == near((1 / 2 + 1 + 0) / 3)
    with pytest.warns(UserWarning, match="classes not in y_true"):
        assert sk.balanced_accuracy_score(y, yhat) == near(3 / 4)
    assert score("recall_macro", y, yhat, labels=bf.label_set(absent="zero")) == near(1 / 2)
    assert score("recall_macro", y, yhat, labels=bf.label_set(absent="null")) is None


def test_a_label_absent_from_the_rows_is_left_out_of_f1_and_jaccard():
    y, yhat, labels = list("aabb"), list("abbb"), list("abc")
    peer = {"average": "macro", "labels": labels, "zero_division": 0}

    f1_of_a, f1_of_b = 2 / (2 + 0 + 1), 4 / (4 + 1 + 0)
    assert score("f1_macro", y, yhat, labels=labels) == near((f1_of_a + f1_of_b) / 2)
    assert sk.f1_score(y, yhat, **peer) == near((f1_of_a + f1_of_b + 0) / 3)

    jaccard_of_a, jaccard_of_b = 1 / 2, 2 / 3
    assert score("jaccard_macro", y, yhat, labels=labels) == near((jaccard_of_a + jaccard_of_b) / 2)
    assert sk.jaccard_score(y, yhat, **peer) == near((jaccard_of_a + jaccard_of_b + 0) / 3)


@pytest.mark.parametrize("yhat", ["aaa", "aab"])
def test_adjusted_balanced_accuracy_of_one_label_is_null(yhat):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = sk.balanced_accuracy_score(list("aaa"), list(yhat), adjusted=True)

    assert score("adjusted_balanced_accuracy", list("aaa"), list(yhat)) is None
    assert math.isnan(peer) if yhat == "aaa" else peer == -math.inf


@cases(
    ("metric", "peer", "y", "yhat"),
    [
        ("recall", sk.recall_score, [0, 0], [0, 1]),
        ("precision", sk.precision_score, [0, 1], [0, 0]),
        ("f1", sk.f1_score, [0, 0], [0, 0]),
        ("jaccard", sk.jaccard_score, [0, 0], [0, 0]),
    ],
)
def test_a_binary_score_without_a_denominator_is_null(metric, peer, y, yhat):
    assert score(metric, y, yhat) is None
    with pytest.warns(UndefinedMetricWarning):
        assert peer(y, yhat) == 0


def test_labels_without_weight_are_absent():
    y, yhat, weight = ["a", "b"], ["a", "a"], [1.0, 0.0]
    peer = {"average": "macro", "sample_weight": weight, "zero_division": 0}

    assert score("jaccard_macro", y, yhat, weight) == score("f1_macro", y, yhat, weight) == 1
    assert sk.jaccard_score(y, yhat, **peer) == sk.f1_score(y, yhat, **peer) == 1 / 2
    assert score("adjusted_balanced_accuracy", y, yhat, weight) is None


def test_metrics_of_true_negatives_with_tiny_weights_are_precise():
    y, yhat, weight = [0, 0, 1, 1], [0, 1, 0, 1], [1e-6, 1e6, 3e-6, 1.0]
    tn, fp, fn, _ = sk.confusion_matrix(y, yhat, sample_weight=weight).ravel()
    assert (tn, fp, fn) == (1e-6, 1e6, 3e-6)

    assert score("npv", y, yhat, weight) == pytest.approx(1 / 4, rel=1e-9)
    assert score("false_omission_rate", y, yhat, weight) == pytest.approx(3 / 4, rel=1e-9)
    assert score("specificity", y, yhat, weight) == pytest.approx(1e-12, rel=1e-9)
    assert score("diagnostic_odds_ratio", y, yhat, weight) == pytest.approx(1 / 3e6, rel=1e-9)


def test_likelihood_ratios_are_null_where_scikit_learn_gives_nan():
    y, yhat = [0, 0, 1, 1], [0, 0, 0, 1]  # nobody negative is called positive

    with pytest.warns(UndefinedMetricWarning):
        positive, negative = sk.class_likelihood_ratios(y, yhat)

    assert math.isnan(positive)
    assert score("positive_likelihood_ratio", y, yhat) is None
    assert score("negative_likelihood_ratio", y, yhat) == near(negative) == np.float64(1 / 2)
