"""Names of metrics: those of other libraries, of metrics of scores, and near ones."""

import re
from collections import Counter

import numpy as np
import polars as pl
import pytest
from sklearn import metrics as sk

import balframe as bf
from balframe.methods import declarations
from balframe.metrics.lookup import all_metrics, find_metric
from balframe.metrics.score_metrics import all_score_metrics
from tests.support.cases import cases

SCORERS = {name: sk.get_scorer(name) for name in sk.get_scorer_names()}
OF_CLASSES = {
    name: scorer
    for name, scorer in SCORERS.items()
    if scorer._score_func.__module__
    in ("sklearn.metrics._classification", "sklearn.metrics._ranking")
}
OF_LABELS = [
    name
    for name, scorer in OF_CLASSES.items()
    if scorer._response_method == "predict" and scorer._sign > 0 and not name.endswith("_samples")
]
SCORE_METRICS = {  # names, with the method that returns the metric and its column
    "roc_auc": ("ranking", "roc_auc"),
    "auc": ("ranking", "roc_auc"),
    "auroc": ("ranking", "roc_auc"),
    "roc_auc_score": ("ranking", "roc_auc"),
    "average_precision": ("ranking", "average_precision"),
    "average_precision_score": ("ranking", "average_precision"),
    "ks_statistic": ("ranking", "ks_statistic"),
    "ks": ("ranking", "ks_statistic"),
    "brier_score": ("ranking", "brier_score"),
    "brier": ("ranking", "brier_score"),
    "brier_score_loss": ("ranking", "brier_score"),
    "log_loss": ("ranking", "log_loss"),
    "cross_entropy": ("ranking", "log_loss"),
    "roc_auc(max_fpr=0.1)": ("ranking", r"roc_auc(max_fpr=0.1)"),
    "miscalibration": ("calibration", "miscalibration"),
    "observed_over_expected": ("calibration", "oe_ratio"),
}
NOT_COMPUTED = ["neg_log_loss", "neg_brier_score", "pr_auc", "top_k_accuracy"]
OTHERS = {  # of R and Python: names of the same quantity, in arithmetic on a table of two labels
    "acc": "(tp + tn) / n",
    "accuracy_score": "(tp + tn) / n",
    "bal_acc": "(tp / (tp + fn) + tn / (tn + fp)) / 2",
    "bac": "(tp / (tp + fn) + tn / (tn + fp)) / 2",
    "bacc": "(tp / (tp + fn) + tn / (tn + fp)) / 2",
    "balanced_accuracy_score": "(tp / (tp + fn) + tn / (tn + fp)) / 2",
    "gmean": "(tp / (tp + fn) * tn / (tn + fp)) ** 0.5",
    "g_mean": "(tp / (tp + fn) * tn / (tn + fp)) ** 0.5",
    "nir": "max(tp + fn, tn + fp) / n",
    "zero_one_loss": "(fp + fn) / n",
    "misclassification_rate": "(fp + fn) / n",
    "kap": "1 - (1 - (tp + tn) / n) / (1 - ((tp + fn) * (tp + fp) + (tn + fp) * (tn + fn)) / n**2)",
    "mcc": "(tp * tn - fp * fn) / ((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)) ** 0.5",
    "sens": "tp / (tp + fn)",
    "recall_score": "tp / (tp + fn)",
    "spec": "tn / (tn + fp)",
    "ppv": "tp / (tp + fp)",
    "precision_score": "tp / (tp + fp)",
    "f_meas": "2 * tp / (2 * tp + fp + fn)",
    "csi": "tp / (tp + fp + fn)",
    "detection_prevalence": "(tp + fp) / n",
    "j_index": "tp / (tp + fn) + tn / (tn + fp) - 1",
    "bookmaker_informedness": "tp / (tp + fn) + tn / (tn + fp) - 1",
    "fpr": "fp / (fp + tn)",
    "fnr": "fn / (fn + tp)",
    "tpr": "tp / (tp + fn)",
    "tnr": "tn / (tn + fp)",
}


def labels(n_labels, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_labels, 200)
    return y, np.where(rng.random(200) < 0.6, y, rng.integers(0, n_labels, 200))


def score(y, yhat, names, **options):
    return bf.report(pl.DataFrame({"y": y, "p": yhat}), "y", "p", metrics=names, **options)


@cases("seed", range(3))
@cases("name", OF_LABELS)
def test_scorers_of_scikit_learn_have_their_names_and_values(name, seed):
    scorer, needs = OF_CLASSES[name], find_metric(name).needs
    for n_labels in (2,) if "pos_label" in needs else (2, 3):
        y, yhat = labels(n_labels, seed)

        expected = scorer._score_func(y, yhat, **scorer._kwargs)

        assert score(y, yhat, name)[name][0] == pytest.approx(expected, rel=1e-12)


def test_every_scikit_learn_scorer_of_labels_is_supported():
    assert {"accuracy", "balanced_accuracy", "f1_macro", "jaccard", "matthews_corrcoef"} < {
        *OF_LABELS
    }
    assert len(OF_LABELS) > 18


@cases("name", sorted({*OF_CLASSES} - {*OF_LABELS}))
def test_unsupported_scikit_learn_scorers_raise_with_advice(name):
    frame = pl.DataFrame({"y": [0, 1], "p": [0, 1]})

    with pytest.raises(bf.BalframeError) as raised:
        bf.report(frame, "y", "p", metrics=name)

    if OF_CLASSES[name]._response_method != "predict":
        assert "computed from scores" in str(raised.value)
        assert "ranking" in str(raised.value)
    else:
        assert re.search(f"^metric '{name}' not found; did you mean '\\w+'", str(raised.value))


@cases("name", OTHERS)
def test_names_of_other_libraries_have_their_formula(name):
    tp, fp, fn, tn = 31, 7, 12, 50
    cells = bf.from_matrix([[tn, fp], [fn, tp]])

    out = bf.report(cells, "actual", "predicted", counts="n", metrics=name)

    counts = {"tp": tp, "fp": fp, "fn": fn, "tn": tn, "n": tp + fp + fn + tn}
    expected = eval(OTHERS[name], counts | {"max": max})
    assert out[name][0] == pytest.approx(expected, rel=1e-12)


@cases("name", ["bal_accuracy", "ce", "dice", "iou", "jaccard_index"])
def test_names_with_different_meanings_between_libraries_are_refused(name):
    with pytest.raises(KeyError, match=f"metric '{name}' not found"):
        find_metric(name)


@cases("name", [*SCORE_METRICS, *NOT_COMPUTED])
def test_metrics_of_scores_raise_and_name_the_method_that_returns_them(name):
    frame = pl.DataFrame({"g": [0, 1], "y": [0, 1], "p": [0, 1]})
    says = f"metric '{name}' not found: it is computed from scores, and no method returns it"
    if name in SCORE_METRICS:
        method, column = SCORE_METRICS[name]
        says = f"computed from scores, not from labels; call {method}, which returns '{column}'"

    for method in (bf.report, bf.gaps, bf.disparity):
        with pytest.raises(bf.BalframeError, match=re.escape(says)):
            method(frame, "y", "p", by="g", metrics=name)
    if SCORE_METRICS.get(name, ("",))[0] == "ranking":
        says = f"the rule '{name} >= 0.5' is on a metric of scores, but y_pred gives predicted"
    with pytest.raises(bf.BalframeError, match=re.escape(says)):
        bf.check(frame, "y", "p", rules=f"{name} >= 0.5")


@cases("metric", all_score_metrics())
def test_the_method_of_each_metric_of_scores_has_its_column(metric):
    (columns,) = declarations()[metric.method].layouts.values()

    names = {column.name for column in columns}
    assert metric.name in names or "(" in metric.name  # a family, of which a caller names a member


def test_an_unsupported_metric_of_scores_raises_with_supported_names():
    with pytest.raises(KeyError) as raised:
        find_metric("pr_auc")

    ranked = "ranking returns roc_auc, average_precision, ks_statistic, brier_score, log_loss"
    assert f"{ranked}; calibration returns oe_ratio, " in str(raised.value)


def test_names_and_aliases_of_metrics_are_unique():
    names = Counter(name for metric in all_metrics() for name in (metric.name, *metric.aliases))

    assert {name for name, times in names.items() if times > 1} == set()
    assert {*names} & {*NOT_COMPUTED} == set()


def test_every_metric_has_a_meaning_and_a_formula():
    shipped = [metric for metric in all_metrics() if metric.is_shipped]

    assert [metric.name for metric in shipped if not (metric.meaning and metric.formula)] == []


def test_metrics_of_scores_are_listed_after_those_of_labels():
    out = bf.list_metrics(detail=True)

    assert out["of"].to_list() == sorted(out["of"])
    assert out.filter(of="scores").drop("formula").rows()[:2] == [
        ("roc_auc", "auc, auroc, roc_auc_score", "scores", "[0, 1]", "higher",
         "area under a curve", "decisions", "", "", "Hanley, McNeil 1982"),
        ("average_precision", "average_precision_score", "scores", "[0, 1]", "higher",
         "linearised", "decisions", "", "", ""),
    ]  # fmt: skip
    without = out.filter(name="miscalibration").select("interval", "limits_for").row(0)
    assert without == ("", "none: it is not a function of a confusion matrix")


@pytest.mark.parametrize("alias", ["auc", "roc_auc"])
def test_names_of_metrics_of_scores_are_refused_for_own_metrics(alias):
    before = bf.list_metrics()

    with pytest.raises(bf.InvalidInputError, match=f"'{alias}' already names the metric 'roc_auc'"):
        bf.metric(range=(0, 1), aliases=[alias])(lambda c: c.mean_recall)

    assert bf.list_metrics().equals(before)


def test_ranking_refuses_metrics_of_labels_and_names_report():
    with pytest.raises(bf.InvalidInputError, match=r"'accuracy' is computed from labels.*report"):
        bf.ranking(pl.DataFrame({"y": [0, 1], "s": [0.1, 0.9]}), "y", "s", metrics="accuracy")


@cases(
    ("name", "near"),
    [
        ("sensitivty", "'sensitivity'"),
        ("kapa", "'kappa'"),
        ("Accuracy", "'accuracy'"),
        ("selection", "'selection_rate'"),
        ("balanced_acuracy", "'balanced_accuracy' or 'weighted_balanced_accuracy' or 'adj"),
        ("recal", "'recall'"),
        ("f1_marco", "'f1_macro' or 'f1_micro' or 'f1_score'"),
    ],
)
def test_an_unknown_metric_suggests_near_names_of_different_metrics(name, near):
    with pytest.raises(KeyError) as raised:
        find_metric(name)

    text = str(raised.value)
    assert text.startswith(f"metric {name!r} not found; did you mean {near}")
    assert text.endswith("? bf.list_metrics() lists the metrics.")
    assert raised.value.written(str).endswith("? balframe metrics lists the metrics.")


def test_check_decides_about_the_metrics_whose_limits_are_for_decisions():
    frame = pl.DataFrame({"y": [0, 0, 1, 1] * 9, "p": [0, 1, 1, 0] * 9})
    listed = bf.list_metrics().filter(pl.col("of") == "labels", ~pl.col("name").str.contains(r"\("))
    decided = []
    for name in listed["name"]:
        reads_weights = "class_weight" in find_metric(name).needs
        options = {"class_weight": "balanced"} if reads_weights else {}
        try:
            bf.check(frame, "y", "p", rules=f"{name} >= 0", pos_label=1, **options)
        except bf.InvalidInputError:
            continue
        decided.append(name)

    shipped = [metric.name for metric in all_metrics() if metric.is_shipped]
    expected = listed.filter(limits_for="decisions")["name"]
    assert [name for name in decided if name in shipped] == [n for n in expected if n in shipped]
    assert listed.filter(name="no_information_rate")["limits_for"].item().startswith("none: ")
