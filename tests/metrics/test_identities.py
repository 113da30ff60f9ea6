"""Identities between metrics, and properties that every metric of the registry has."""

import math
from itertools import product

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import roc_auc_score

import balframe as bf
from balframe.metrics.lookup import find_metric
from tests.support.cases import cases
from tests.support.shipped_metrics import SHIPPED

ALIASES = [(name, alias) for name in SHIPPED for alias in find_metric(name).aliases]


def tables(matrices, n_labels):
    """Make a segment of each confusion matrix, with a weight for the rows of each cell."""
    matrices = np.array(list(matrices))
    segment, cell = np.nonzero(matrices)
    names = np.char.mod("%03d", segment)
    y, yhat = np.divmod(cell, n_labels)
    weight = np.random.default_rng(5).uniform(0.1, 5, len(cell))
    n = matrices[segment, cell]
    return pl.DataFrame({"segment": names, "y": y, "yhat": yhat, "n": n, "weight": weight})


TWO = tables(product(range(4), repeat=4), 2)  # every matrix of counts up to 3
THREE = tables(np.random.default_rng(6).choice([0, 0, 0, 0, 1, 2, 3, 4], (400, 9)), 3)
on_tables = cases("frame", [TWO, THREE])
weighting = cases("weight", [None, "weight"])


every_metric = cases("metric", SHIPPED)


def score(frame, metric, **options):
    """Give the metric of every segment as an array, NaN for null."""
    labels = sorted({*frame["y"], *frame["yhat"]})
    defaults = {
        "by": "segment" if "segment" in frame.columns else None,
        "counts": "n" if "n" in frame.columns else None,
        "class_weight": {label: 1 + i for i, label in enumerate(labels)},
        "pos_label": 1,
    }
    options = defaults | options
    if metric != "all" and "class_weight" not in find_metric(metric).needs:
        del options["class_weight"]
    out = bf.report(frame, "y", "yhat", metrics=[metric], **options)
    scores = out.get_column(metric)
    assert not scores.is_nan().any()
    return np.array([math.nan if value is None else value for value in scores])


def assert_same(actual, expected):
    assert np.isfinite(expected).any()
    np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-12)


def assert_identical(actual, expected):
    assert np.isfinite(expected).any()
    np.testing.assert_array_equal(actual, expected)


@on_tables
@weighting
def test_accuracy_is_the_sum_of_prevalence_times_recall(frame, weight):
    classes = bf.classes(
        frame, "y", "yhat", by="segment", counts="n", sample_weight=weight, detail=True
    )

    share = pl.col("prevalence") * pl.col("recall").fill_null(0)
    sums = classes.group_by("segment", maintain_order=True).agg(share.sum().alias("sum"))

    assert_same(score(frame, "accuracy", sample_weight=weight), sums["sum"].to_numpy())


@pytest.mark.parametrize("n_labels", [2, 3, 5])
def test_balanced_accuracy_is_accuracy_when_labels_are_balanced(n_labels):
    rng = np.random.default_rng(n_labels)
    y = np.tile(np.arange(n_labels), 40)
    yhat = np.where(rng.random(len(y)) < 0.6, y, rng.integers(n_labels, size=len(y)))
    frame = pl.DataFrame({"y": y, "yhat": yhat})

    assert_same(score(frame, "accuracy"), np.array([(y == yhat).mean()]))
    assert_same(score(frame, "balanced_accuracy"), np.array([(y == yhat).mean()]))


@on_tables
@weighting
def test_balanced_accuracy_is_accuracy_under_normalised_row_weights(frame, weight):
    own = pl.lit(1.0) if weight is None else pl.col(weight)
    of_label = (own * pl.col("n")).sum().over("segment", "y")

    normalised = frame.with_columns(normalised=own / of_label)

    accuracy = score(normalised, "accuracy", sample_weight="normalised")
    assert_same(score(frame, "balanced_accuracy", sample_weight=weight), accuracy)


def test_balanced_accuracy_equals_roc_auc_of_predictions():
    both = TWO.filter(pl.col("y").n_unique().over("segment") == 2)
    areas = [
        roc_auc_score(rows["y"], rows["yhat"], sample_weight=rows["n"])
        for rows in both.partition_by("segment", maintain_order=True)
    ]

    assert_same(score(both, "balanced_accuracy"), np.array(areas))


@on_tables
@weighting
@cases(("class_weight", "same"), [("prevalence", "accuracy"), ("balanced", "balanced_accuracy")])
def test_named_class_weights_give_accuracy_and_balanced_accuracy(frame, weight, class_weight, same):
    expected = score(frame, same, sample_weight=weight)

    options = {"sample_weight": weight, "class_weight": class_weight}
    assert_same(score(frame, "weighted_balanced_accuracy", **options), expected)


@cases("alpha", [0, 0.3, 0.5, 1])
def test_class_weights_alpha_give_the_mean_of_recall_and_specificity(alpha):
    recall, specificity = score(TWO, "recall"), score(TWO, "specificity")

    actual = score(TWO, "weighted_balanced_accuracy", class_weight={1: alpha, 0: 1 - alpha})

    alone = np.where(np.isnan(specificity), recall, specificity)
    weight = np.where(np.isnan(specificity), alpha, 1 - alpha)
    is_alone = np.isnan(recall) | np.isnan(specificity)
    both = alpha * recall + (1 - alpha) * specificity
    assert_same(actual, np.where(is_alone, np.where(weight > 0, alone, math.nan), both))


def people(rows):
    """Spell out (label, prediction, how many) as rows of one segment."""
    return pl.DataFrame(rows, ["y", "yhat", "n"], orient="row")


def assert_scores(frame, expected):
    for metric, value in expected.items():
        assert_same(score(frame, metric), np.array([value]))


@pytest.mark.filterwarnings("ignore::balframe.BalframeWarning")
@pytest.mark.parametrize("k", [2, 3, 5])
def test_predicting_always_the_same_label_scores_at_chance(k):
    frame = people([(label, 0, label + 2) for label in range(k)])

    assert_scores(frame, {"balanced_accuracy": 1 / k, "accuracy": 2 / sum(range(2, k + 2))})
    assert_scores(frame, {"adjusted_balanced_accuracy": 0, "geometric_mean": 0, "kappa": 0})


@pytest.mark.parametrize("k", [2, 3, 5])
def test_uniformly_random_predictions_score_at_chance(k):
    frame = people([(y, yhat, y + 1) for y, yhat in product(range(k), repeat=2)])

    assert_scores(frame, {"balanced_accuracy": 1 / k, "accuracy": 1 / k, "geometric_mean": 1 / k})
    assert_scores(frame, {"adjusted_balanced_accuracy": 0, "normalized_accuracy": 0, "mcc": 0})


@pytest.mark.parametrize("k", [2, 3, 5])
def test_predictions_that_are_always_wrong_score_the_minimum(k):
    frame = people([(label, (label + 1) % k, label + 1) for label in range(k)])
    lowest = 1 / (1 - k)

    assert_scores(frame, {"balanced_accuracy": 0, "geometric_mean": 0, "hamming_loss": 1})
    assert_scores(frame, {"adjusted_balanced_accuracy": lowest, "normalized_accuracy": lowest})


@weighting
@cases(
    ("metric", "image", "other"),
    [
        ("informedness", lambda value: 2 * value - 1, "balanced_accuracy"),
        ("hamming_loss", lambda value: 1 - value, "accuracy"),
        ("false_positive_rate", lambda value: 1 - value, "specificity"),
        ("false_negative_rate", lambda value: 1 - value, "recall"),
        ("false_discovery_rate", lambda value: 1 - value, "precision"),
        ("false_omission_rate", lambda value: 1 - value, "npv"),
        ("f1", lambda value: 2 * value / (1 + value), "jaccard"),
        ("adjusted_balanced_accuracy", lambda value: 2 * value - 1, "balanced_accuracy"),
        ("normalized_accuracy", lambda value: 2 * value - 1, "accuracy"),
    ],
)
def test_binary_metrics_equal_linear_functions_of_others(weight, metric, image, other):
    both = TWO.filter(pl.col("y").n_unique().over("segment") == 2)
    value = score(both, other, sample_weight=weight)

    assert_same(score(both, metric, sample_weight=weight), image(value))


@cases("metric", [name for name in SHIPPED if find_metric(name).better])
def test_a_perfect_classifier_has_the_best_value_of_each_metric(metric):
    frame = people([(0, 0, 3), (1, 1, 2), (2, 2, 1)])
    low, high = find_metric(metric).range
    best = high if find_metric(metric).better == "higher" else low
    if metric.startswith("net_benefit"):
        best = score(frame, "prevalence").item()  # more true positives than positives there are not

    actual = score(frame, metric)

    assert np.isnan(actual).all() if math.isinf(best) else actual.tolist() == [best]


@on_tables
@weighting
@every_metric
def test_values_lie_in_the_range(frame, weight, metric):
    low, high = find_metric(metric).range

    actual = score(frame, metric, sample_weight=weight)

    assert low <= np.nanmin(actual)
    assert np.nanmax(actual) <= high


@on_tables
@cases(("metric", "alias"), ALIASES)
def test_an_alias_gives_the_same_values(frame, metric, alias):
    assert_identical(score(frame, alias), score(frame, metric))


@on_tables
@every_metric
def test_renaming_and_reordering_labels_does_not_change_metrics(frame, metric):
    names = dict(zip(sorted(frame["y"].unique()), "zma", strict=False))
    renamed = frame.with_columns(pl.col("y", "yhat").replace_strict(names))
    weights = {name: label + 1 for label, name in names.items()}

    order = [*names.values()]  # texts have no other
    actual = score(renamed, metric, pos_label="m", class_weight=weights, labels=order)

    assert_same(actual, score(frame, metric))


@on_tables
@weighting
def test_fbeta_of_1_is_f1(frame, weight):
    assert_identical(
        score(frame, "fbeta(1)", sample_weight=weight), score(frame, "f1", sample_weight=weight)
    )


@weighting
@cases("metric", ["cohen_kappa_linear", "cohen_kappa_quadratic"])
def test_weighted_kappa_of_two_labels_is_kappa(weight, metric):
    kappa = score(TWO, "cohen_kappa", sample_weight=weight)

    assert_same(score(TWO, metric, sample_weight=weight), kappa)


@pytest.mark.parametrize("metric", ["cohen_kappa_linear", "cohen_kappa_quadratic"])
def test_weighted_kappa_uses_label_positions_in_the_whole_label_set(metric):
    """Segment 0 has the labels 0 and 1, segment 1 the labels 0 and 2, segment 2 both pairs."""
    near, far = ([(label, label, 4) for label in (0, other)] + [(0, other, 2)] for other in (1, 2))
    rows = [*near, *far, *near, *far]
    frame = people(rows).with_columns(segment=pl.Series([0] * 3 + [1] * 3 + [2] * 6))
    power = {"cohen_kappa_linear": 1, "cohen_kappa_quadratic": 2}[metric]
    true, predicted = (12, 4, 4), (8, 6, 6)
    by_chance = (
        sum(
            t * p * abs(i - j) ** power
            for (i, t), (j, p) in product(*map(enumerate, (true, predicted)))
        )
        / 20
    )

    actual = score(frame, metric)

    alone = 1 - 2 / ((6 * 6 + 4 * 4) / 10)
    assert_same(actual, np.array([alone, alone, 1 - (2 + 2 * 2**power) / by_chance]))


@on_tables
@weighting
@cases(
    ("metric", "swapped"),
    [
        ("recall", "precision"),
        ("specificity", "npv"),
        ("false_negative_rate", "false_discovery_rate"),
        ("false_positive_rate", "false_omission_rate"),
        ("prevalence", "selection_rate"),
        ("fbeta(2)", "fbeta(0.5)"),
        *((metric, metric) for metric in ("accuracy", "f1_macro", "jaccard_macro", "kappa", "mcc")),
        *((metric, metric) for metric in ("cohen_kappa_linear", "cohen_kappa_quadratic")),
    ],
)
def test_swapping_truth_and_prediction_swaps_paired_metrics(frame, weight, metric, swapped):
    mirrored = frame.rename({"y": "yhat", "yhat": "y"})

    actual = score(mirrored, metric, sample_weight=weight)

    assert_same(actual, score(frame, swapped, sample_weight=weight))


@on_tables
@weighting
def test_swapping_truth_and_prediction_swaps_macro_recall_and_precision(frame, weight):
    mirrored = frame.rename({"y": "yhat", "yhat": "y"})
    zero = bf.label_set(absent="zero")  # labels without rows have recall 0 too
    options = {"sample_weight": weight, "labels": zero}

    actual = score(mirrored, "balanced_accuracy", **options)

    assert_same(actual, score(frame, "precision_macro", **options))


@on_tables
@every_metric
@cases("factor", [3.7, 1e-200, 1e200])
def test_the_scale_of_weights_does_not_change_metrics(frame, metric, factor):
    scaled = frame.with_columns(pl.col("weight") * factor)

    actual = score(scaled, metric, sample_weight="weight")

    assert_same(actual, score(frame, metric, sample_weight="weight"))


@on_tables
@every_metric
def test_weights_of_1_equal_no_weights(frame, metric):
    actual = score(frame.with_columns(weight=1.0), metric, sample_weight="weight")

    assert_identical(actual, score(frame, metric))


@on_tables
@every_metric
def test_rows_of_weight_0_do_not_change_metrics(frame, metric):
    mirrored = frame.rename({"y": "yhat", "yhat": "y"}).with_columns(weight=0.0)
    more = pl.concat([frame, mirrored.select(frame.columns)])

    actual = score(more, metric, sample_weight="weight")

    assert_same(actual, score(frame, metric, sample_weight="weight"))
    for absent in ("skip", "null", "zero"):
        options = {"sample_weight": "weight", "labels": bf.label_set(absent=absent)}
        assert np.isnan(score(mirrored, metric, **options)).all()


@on_tables
@cases("weight", [None, "eighths"])
@every_metric
def test_counts_equal_repeated_rows(frame, metric, weight):
    frame = frame.with_columns(eighths=(8 * pl.col("weight")).ceil() / 8)  # their sums are exact
    repeated = frame[np.repeat(np.arange(frame.height), frame["n"])].drop("n")

    actual = score(frame, metric, sample_weight=weight)

    assert_identical(actual, score(repeated, metric, sample_weight=weight))
