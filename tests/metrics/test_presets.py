"""Several metrics by one word, and new names for metrics."""

import re
from pathlib import Path

import polars as pl
import pytest

import balframe as bf
from balframe.methods import declarations
from balframe.metrics.lookup import registered_metrics
from balframe.metrics.registry import PRESETS
from tests.support.cases import cases

FRAME = pl.DataFrame({"g": [*"aabb"] * 3, "y": [0, 1] * 6, "p": [0, 1, 1, 1, 0, 0] * 2})
RATES = [
    "selection_rate",
    "prevalence",
    "recall",
    "false_positive_rate",
    "false_negative_rate",
    "precision",
]
ACCURACIES = [
    "accuracy",
    "balanced_accuracy",
    "adjusted_balanced_accuracy",
    "normalized_accuracy",
    "geometric_mean",
]
BINARY = [
    "recall",
    "specificity",
    "precision",
    "f1",
    "false_positive_rate",
    "false_negative_rate",
]
MULTICLASS = [
    "balanced_accuracy",
    "precision_macro",
    "f1_macro",
    "cohen_kappa",
    "matthews_corrcoef",
]
DEFAULTS = {
    "report": ["accuracy", "balanced_accuracy", "adjusted_balanced_accuracy"],
    "gaps": ["accuracy", "balanced_accuracy"],
    "disparity": ["accuracy", "balanced_accuracy"],
}


def metrics_of(method, metrics):
    """List the metrics of a result."""
    out = getattr(bf, method)(FRAME, "y", "p", by="g", metrics=metrics)
    return out.columns[2:] if method == "report" else list(dict.fromkeys(out["metric"]))


@cases("method", DEFAULTS)
@cases(
    ("metrics", "expected"),
    [
        ("fairness", RATES),
        ("accuracies", ACCURACIES),
        ("binary", BINARY),
        ("multiclass", MULTICLASS),
        (["binary", "fairness"], [*BINARY, "selection_rate", "prevalence"]),
        (["fairness", "accuracy"], [*RATES, "accuracy"]),
        (["recall", "fairness"], ["recall", *[name for name in RATES if name != "recall"]]),
        (["fairness", "recall"], RATES),
        (["fairness", "tpr"], [*[name for name in RATES if name != "recall"], "tpr"]),
    ],
)
def test_presets_combine_with_names_without_repeating_metrics(method, metrics, expected):
    assert metrics_of(method, metrics) == expected


@pytest.mark.parametrize("method", DEFAULTS)
def test_the_default_and_all_metrics_are_presets(method):
    unusable = {"class_weight", "outcome"}
    every = [metric.name for metric in registered_metrics() if not unusable & {*metric.needs}]

    assert metrics_of(method, "default") == metrics_of(method, None) == DEFAULTS[method]
    assert metrics_of(method, ["default", "f1"]) == [*DEFAULTS[method], "f1"]
    assert metrics_of(method, "all") == metrics_of(method, ["all"]) == every
    assert metrics_of(method, ["all", "fbeta(2)"]) == [*every, "fbeta(2)"]


@cases("preset", ["default", "accuracies"])
def test_presets_of_accuracies_include_the_weighted_metric_with_class_weight(preset):
    out = bf.gaps(FRAME, "y", "p", by="g", metrics=preset, class_weight="balanced")

    assert out["metric"].unique().sort()[-1] == "weighted_balanced_accuracy"


def test_preset_multiclass_scores_three_labels():
    frame = pl.DataFrame({"y": ["a", "a", "b", "c"], "p": ["a", "b", "b", "b"]})

    (out,) = bf.report(frame, "y", "p", metrics="multiclass").to_dicts()

    # recalls 1/2, 1 and 0; precisions 1, 1/3 and 0; F1 2/3, 1/2 and 0
    assert out["balanced_accuracy"] == pytest.approx((1 / 2 + 1 + 0) / 3)
    assert out["precision_macro"] == pytest.approx((1 + 1 / 3 + 0) / 3)
    assert out["f1_macro"] == pytest.approx((2 / 3 + 1 / 2 + 0) / 3)
    # right 2 of 4; by chance (2 * 1 + 1 * 3 + 1 * 0) / 16 = 5/16
    assert out["cohen_kappa"] == pytest.approx((2 / 4 - 5 / 16) / (1 - 5 / 16))
    margins = (16 - (4 + 1 + 1)) * (16 - (1 + 9 + 0))  # of 4 * 4 pairs of rows
    assert out["matthews_corrcoef"] == pytest.approx((2 * 4 - 5) / margins**0.5)


def test_preset_all_of_three_labels_has_null_for_binary_metrics():
    frame = pl.DataFrame({"y": [0, 1, 2], "p": [0, 1, 1]})

    assert bf.report(frame, "y", "p", metrics=["all", "fbeta(2)"])["recall"][0] is None
    with pytest.raises(bf.InvalidInputError, match="metric 'selection_rate' needs pos_label"):
        bf.report(frame, "y", "p", metrics="fairness")


@pytest.mark.parametrize("metrics", [["recall", "recall"], ["fairness", "fairness"]])
def test_metrics_named_twice_raise(metrics):
    with pytest.raises(bf.InvalidInputError, match=f"names a metric twice: {', '.join(metrics)}"):
        metrics_of("report", metrics)


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_are_refused_where_one_metric_is_needed(preset):
    scores = pl.DataFrame({"y": [0, 1], "s": [0.1, 0.9]})
    says = f'metrics="{preset}" is a preset of several metrics; give the name of one metric'

    with pytest.raises(bf.InvalidInputError, match=says):
        bf.check(FRAME, "y", "p", rules=f"{preset} >= 0.5")
    if preset != "default":  # which is one metric there
        with pytest.raises(bf.InvalidInputError, match=r"takes one, so give one name"):
            bf.best_threshold(scores, "y", "s", metrics=preset)
    with pytest.raises(bf.InvalidInputError, match=says):
        metrics_of("report", {"mine": preset})
    with pytest.raises(bf.InvalidInputError, match=f"'{preset}' is a preset of metrics"):
        bf.metric(range=(0, 1), aliases=[preset])(lambda c: c.mean_recall)


def test_docstrings_list_metrics_and_the_reference_name_the_presets():
    for method in ("report", "gaps", "disparity", "compare", "curve"):
        description = declarations()[method].parameters["metrics"].text
        assert all(f'"{preset}"' in description for preset in PRESETS)
    page = (Path(__file__).parents[2] / "docs/pages/reference/metrics.md").read_text("utf-8")
    presets = dict(bf.list_metrics(detail=True).select("name", "presets").rows())
    for preset, names in {
        "default": DEFAULTS["report"],
        "accuracies": [*ACCURACIES, "weighted_balanced_accuracy"],
        "binary": BINARY,
        "multiclass": MULTICLASS,
        "fairness": RATES,
    }.items():
        assert [name for name, some in presets.items() if preset in some.split(", ")] == sorted(
            names, key=list(presets).index
        )
        (line,) = [row for row in page.splitlines() if row.startswith(f'| `"{preset}"` |')]
        assert preset == "default" or {*re.findall(r"`(\w+)`", line)} == {*names}


NEW = {"acc": "accuracy", "hit rate": "tpr"}


def test_a_mapping_renames_the_columns_of_metrics():
    options = {"by": "g", "interval": True}
    out = bf.report(FRAME, "y", "p", metrics=NEW, **options)
    plain = bf.report(FRAME, "y", "p", metrics=["accuracy", "recall"], **options)

    new = {f"{old}{end}": f"{name}{end}" for end in ("", "_lower", "_upper")
           for old, name in (("accuracy", "acc"), ("recall", "hit rate"))}  # fmt: skip
    assert out.equals(plain.rename(new))
    assert out.columns[2:] == [
        "acc", "acc_lower", "acc_upper", "hit rate", "hit rate_lower", "hit rate_upper"
    ]  # fmt: skip


@cases(
    ("method", "options"),
    [
        ("report", {"by": "g", "layout": "long", "interval": True}),
        ("gaps", {"by": "g"}),
        ("disparity", {"by": "g"}),
        ("compare", {"y_pred": ["p", "q"]}),
    ],
)
def test_a_mapping_renames_the_metrics_in_rows(method, options):
    frame = FRAME.with_columns(q=1 - pl.col("p"))
    options = {"y_pred": "p", **options}
    out = getattr(bf, method)(frame, "y", metrics=NEW, **options)
    plain = getattr(bf, method)(frame, "y", metrics=["accuracy", "recall"], **options)

    assert set(out["metric"]) == {*NEW}
    assert out.drop("metric").equals(plain.drop("metric"))


def test_a_mapping_renames_the_columns_of_a_curve():
    scores = pl.DataFrame({"y": [0, 1, 1], "s": [0.1, 0.4, 0.3]})

    out = bf.curve(scores, "y", "s", metrics=NEW)

    assert out.columns == ["threshold", "n", "predicted_positive", "acc", "hit rate"]


@cases(
    ("metrics", "says"),
    [
        ({"recall": "precision"}, "the name 'recall', which already names the metric 'recall'"),
        ({"tpr": "precision"}, "the name 'tpr', which already names the metric 'recall'"),
        ({"fbeta(2)": "f1"}, r"the name 'fbeta\(2\)', which already names the metric 'fbeta\(2\)'"),
        ({1: "recall"}, "the name 1, which is not a name; give a non-empty string"),
        ({"": "recall"}, "the name '', which is not a name"),
        ({"mine": "recal"}, "metric 'recal' not found; did you mean 'recall'"),
        ({"mine": ["recall"]}, "takes names of metrics, not"),
        ({}, "metrics= is empty"),
        ({"g": "recall"}, "more than one column named 'g'"),
        ({"n": "recall"}, "more than one column named 'n'"),
        ({"x": "recall", "x_lower": "f1"}, "more than one column named 'x_lower'"),
    ],
)
def test_new_names_that_cannot_be_used_raise(metrics, says):
    with pytest.raises(bf.BalframeError, match=says):
        bf.report(FRAME, "y", "p", by="g", metrics=metrics, interval=True)


@cases("name", ["fairness", "roc_auc", "segment", "panel"])
def test_new_names_with_a_reserved_meaning_are_refused(name):
    with pytest.raises(bf.InvalidInputError, match=f"the name '{name}', which means something"):
        bf.report(pl.DataFrame({"y": [1, 0], "p": [1, 0]}), "y", "p", metrics={name: "recall"})


def test_presets_may_come_from_an_iterator():
    frame = pl.DataFrame({"y": [0, 1, 2], "p": [0, 1, 2]})

    out = bf.report(frame, "y", "p", metrics=iter(["all"]))
    assert out["recall"].to_list() == [None]
