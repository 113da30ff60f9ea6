"""Scores of all rows, of which only some have a true label, and of each of their labels."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import balframe as bf
from balframe.core.strata import Strata
from balframe.stats.partly_labelled import share_limits
from tests.support.cases import cases
from tests.support.constructors import assert_table, each_constructor, plain
from tests.support.frames.partly_labelled import answers, chosen_unequally, three_labels


def test_estimates_are_weighted_by_strata():
    rows = answers()
    out = bf.report(rows, "human", "judge", missing="correct", metrics=["accuracy", "precision"])
    labelled = rows.drop_nulls("human")
    by_verdict = labelled.group_by("judge").agg((pl.col("human") == pl.col("judge")).mean())
    share = dict(by_verdict.rows())
    selected = rows["judge"].mean()

    expected = selected * share[1] + (1 - selected) * share[0]
    assert out["accuracy"].item() == pytest.approx(expected)
    assert out["precision"].item() == pytest.approx(share[1])
    assert (out["n"].item(), out["n_labelled"].item()) == (3000, labelled.height)


def test_correcting_is_right_where_labels_depend_on_the_prediction_and_dropping_is_wrong():
    misses = {"correct": 0, "drop": 0}
    for seed in range(40):
        rows = answers(seed=seed, share=0.16, rejected=0.02)
        for missing in misses:
            out = bf.report(
                rows, "human", "judge", missing=missing, metrics="specificity", interval=True
            )
            true = bf.report(rows, "truth", "judge", metrics="specificity")["specificity"].item()
            low, high = out["specificity_lower"].item(), out["specificity_upper"].item()
            misses[missing] += not low <= true <= high

    assert misses["correct"] <= 6
    assert misses["drop"] > 35


def test_probabilities_of_being_labelled_are_weights_of_labels():
    rows = chosen_unequally()
    options = {"missing": bf.correct(probability="probability"), "interval": True}
    out = bf.report(rows, "human", "judge", metrics=["accuracy", "precision"], **options)
    known = rows.drop_nulls("human").with_columns(
        w=1 / pl.col("probability"), right=pl.col("human") == pl.col("judge")
    )
    share, labels = {}, {}
    for judge in (0, 1):
        w = known.filter(judge=judge)["w"].to_numpy()
        right = known.filter(judge=judge)["right"].to_numpy()
        share[judge], labels[judge] = (w * right).sum() / w.sum(), w.sum() ** 2 / (w**2).sum()
    n = [rows.filter(judge=judge).height for judge in (0, 1)]
    expected = (n[0] * share[0] + n[1] * share[1]) / rows.height
    strata = Strata(
        np.array([n], float),
        np.array([[labels[0], labels[1]]]),
        np.array([[labels[0] * share[0], labels[1] * share[1]]]),
        np.array([[0, 1]]),
    )
    lower, upper = share_limits(strata, 0.95)

    assert out["accuracy"].item() == pytest.approx(expected)
    assert out["precision"].item() == pytest.approx(share[1])
    assert out["n_labelled"].item() == known.height
    limits = [out["accuracy_lower"].item(), out["accuracy_upper"].item()]
    assert limits == pytest.approx([lower[0], upper[0]], abs=1e-9)


def test_equal_probabilities_change_nothing():
    rows = answers().with_columns(probability=pl.lit(0.25))
    metrics = ["accuracy", "recall", "balanced_accuracy", "prevalence"]
    options = {"by": "category", "interval": True, "metrics": metrics}
    expected, out = (
        bf.report(rows, "human", "judge", missing=missing, **options)
        for missing in ("correct", bf.correct(probability="probability"))
    )

    assert_table(out, plain(expected), close=1e-12)


def test_known_probabilities_are_right_where_labels_depend_on_being_right():
    misses = {None: 0, "probability": 0}
    for seed in range(40):
        rows = chosen_unequally(seed=seed)
        true = bf.report(rows, "truth", "judge", metrics="accuracy")["accuracy"].item()
        for name in misses:
            out = bf.report(
                rows,
                "human",
                "judge",
                missing=bf.correct(probability=name),
                metrics="accuracy",
                interval=True,
            )
            low, high = out["accuracy_lower"].item(), out["accuracy_upper"].item()
            misses[name] += not low <= true <= high

    assert misses["probability"] <= 6
    assert misses[None] > 20


@each_constructor
def test_every_library_weights_labels_alike(constructor):
    rows = chosen_unequally(1500).drop("truth")
    options = {
        "missing": bf.correct(probability="probability"),
        "interval": True,
        "metrics": ["accuracy", "recall"],
    }
    expected = bf.report(rows, "human", "judge", **options)
    frame = constructor(rows.to_dict(as_series=False))
    out = bf.report(frame, "human", "judge", backend="polars", **options)

    assert_table(out, plain(expected), close=1e-9)


@cases(
    ("values", "message"),
    [
        ([0.5, 0.0], "column 'probability' has 1 value that cannot be the probability"),
        ([0.5, 1.5], "column 'probability' has 1 value that cannot be the probability"),
        (["0.5", "1"], "column 'probability' has the type String; probabilities must be num"),
        ([0.5, None], "column 'probability' has 1 value that cannot be the probability"),
    ],
)
def test_bad_probabilities_are_refused(values, message):
    rows = pl.DataFrame({"human": [1, 0], "judge": [1, 1], "probability": values})
    with pytest.raises(bf.BalframeError) as caught:
        bf.report(rows, "human", "judge", missing=bf.correct(probability="probability"))

    assert str(caught.value).startswith(message)


def test_a_corrected_confusion_matrix_adds_up_to_all_rows_and_gives_the_corrected_rates():
    rows, options = answers(share=0.2), {"missing": bf.correct("judge"), "by": "category"}
    cells = bf.confusion(rows, "human", "model", normalize="all", **options)
    scores = bf.report(rows, "human", "model", metrics=["accuracy", "recall"], **options)

    for category, n, accuracy, recall in scores.select(
        "category", "n", "accuracy", "recall"
    ).rows():
        own = cells.filter(category=category)
        estimated = dict(zip(own.select("human", "model").rows(), own["estimated_n"], strict=True))
        assert sum(estimated.values()) == pytest.approx(n)
        assert (estimated[0, 0] + estimated[1, 1]) / n == pytest.approx(accuracy)
        assert estimated[1, 1] / (estimated[1, 0] + estimated[1, 1]) == pytest.approx(recall)
        assert own["share"].to_list() == pytest.approx([x / n for x in own["estimated_n"]])
    assert cells["n"].sum() == rows["human"].count()
    lazy = bf.confusion(rows.lazy(), "human", "model", normalize="all", **options)
    assert lazy.collect_schema() == cells.schema
    assert_frame_equal(lazy.collect(), cells)


def test_a_segment_with_a_stratum_without_labels_has_no_estimated_cells():
    rows = answers(600, share=0.3).with_columns(
        human=pl.when(~((pl.col("category") == "code") & (pl.col("judge") == 1))).then("human")
    )
    with pytest.warns(bf.BalframeWarning):
        cells = bf.confusion(rows, "human", "judge", by="category", missing="correct",
                             normalize="all")  # fmt: skip

    assert cells.filter(category="code")["estimated_n"].is_null().all()
    assert cells.filter(category="code")["share"].is_null().all()
    assert cells.filter(category="maths")["estimated_n"].null_count() == 0


def test_metrics_of_a_positive_label_among_three_are_those_of_that_label_against_the_rest():
    metrics = ["recall", "specificity", "precision", "npv", "prevalence", "selection_rate"]
    options = {"interval": True, "metrics": metrics}
    rows = three_labels()
    out = bf.report(rows, "y", "p", pos_label=2, missing="correct", **options)
    binary = rows.select(y=(pl.col("y") == 2) * 1, p=(pl.col("p") == 2) * 1, verdict="p")
    expected = bf.report(binary, "y", "p", missing=bf.correct("verdict"), **options)

    for name in metrics:
        for column in (name, f"{name}_lower", f"{name}_upper"):
            assert out[column].item() == pytest.approx(expected[column].item(), abs=1e-9), column


def test_limits_of_a_label_among_three_hold_its_rates():
    metrics = ["recall", "specificity", "npv", "prevalence", "accuracy"]
    misses = dict.fromkeys(metrics, 0)
    for seed in range(40):
        rows = three_labels(1500, seed)
        options = {"metrics": metrics, "pos_label": 2}
        true = bf.report(rows, "truth", "p", **options)
        out = bf.report(rows, "y", "p", missing="correct", interval=True, **options)
        for name in metrics:
            low, high = out[f"{name}_lower"].item(), out[f"{name}_upper"].item()
            misses[name] += not low <= true[name].item() <= high

    assert max(misses.values()) <= 6, misses


def test_means_of_more_than_two_recalls_have_an_estimate_and_no_limits():
    rows = three_labels().with_columns(g=pl.Series(["a", "b"] * 3000))
    metric = {"metrics": "balanced_accuracy", "missing": "correct"}
    out = bf.report(rows, "y", "p", interval=True, **metric)
    gap = bf.gaps(rows, "y", "p", by="g", **metric)
    extremes = bf.disparity(rows, "y", "p", by="g", **metric)

    assert out["balanced_accuracy"].item() is not None
    for result, names in (
        (out, ["balanced_accuracy_lower", "balanced_accuracy_upper"]),
        (gap, ["lower", "upper", "p_adjusted"]),
        (extremes, ["lower", "upper", "p_value"]),
    ):
        assert result.select(pl.col(names).is_null().all()).row(0) == (True,) * len(names)


@pytest.mark.parametrize("by", [None, "g"])
def test_each_label_has_the_scores_of_it_against_all_others(by):
    rows = three_labels().with_columns(g=pl.Series(["a", "b"] * 3000))
    options = {"missing": "correct", "by": by, "interval": True}
    names = ["recall", "precision", "specificity", "npv"]
    out = bf.classes(rows, "y", "p", detail=True, **options)

    for label in (0, 1, 2):
        expected = bf.report(rows, "y", "p", metrics=[*names, "prevalence"], pos_label=label,
                             **options)  # fmt: skip
        own = out.filter(label=label)
        columns = [*names, *(f"{name}_{end}" for name in names for end in ("lower", "upper"))]
        assert_table(own.select(columns), plain(expected.select(columns)), close=1e-9)
        assert own["prevalence"].to_list() == pytest.approx(expected["prevalence"].to_list())
    assert out["f1"].null_count() == 0
    assert out["f1_lower"].null_count() == out.height
    assert out["support"].sum() == rows["y"].count()


def test_labels_are_scored_as_today_if_all_rows_have_one():
    rows = three_labels()
    expected = bf.classes(rows, "truth", "p", interval=True, detail=True)
    out = bf.classes(rows, "truth", "p", interval=True, detail=True, missing="correct")

    assert_frame_equal(out, expected)
    lazy = bf.classes(rows.lazy(), "y", "p", missing="correct", interval=True).collect()
    assert_frame_equal(lazy, bf.classes(rows, "y", "p", missing="correct", interval=True))
