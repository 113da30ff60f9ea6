"""`long` makes rows of labels; scores of these agree with scikit-learn's of several labels."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import metrics
from sklearn.datasets import make_multilabel_classification

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import each_constructor, plain

LABELS = ["politics", "sport", "science", "arts"]
TRUE, PREDICTED, SCORES = ([f"{label}_{role}" for label in LABELS] for role in "tps")


def drawn():
    """Draw items with labels, and predictions of which a fifth are wrong."""
    _, y = make_multilabel_classification(300, n_classes=4, n_labels=1, random_state=6)
    rng = np.random.default_rng(3)
    score = np.round(np.clip(0.25 + 0.5 * y + rng.normal(0, 0.25, y.shape), 0, 1), 3)
    return y, (score >= 0.5).astype(int), score


Y, P, S = drawn()
WIDE = {
    "id": [f"doc{i}" for i in range(len(Y))],
    **dict(zip(TRUE, Y.T.tolist(), strict=True)),
    **dict(zip(PREDICTED, P.T.tolist(), strict=True)),
    **dict(zip(SCORES, S.T.tolist(), strict=True)),
}


def scores_by_label(metric, **options):
    decisions = bf.long(pl.DataFrame(WIDE), TRUE, PREDICTED, labels=LABELS, item="id")
    return bf.report(decisions, "y_true", "y_pred", metrics=metric, labels=[0, 1], **options)


@cases(
    ("metric", "peer"),
    [
        ("precision", metrics.precision_score),
        ("recall", metrics.recall_score),
        ("f1", metrics.f1_score),
        ("jaccard", metrics.jaccard_score),
    ],
)
def test_averages_agree_with_scikit_learn(metric, peer):
    by_label, micro = scores_by_label(metric, by="label"), scores_by_label(metric)
    found = dict(zip(by_label["label"], by_label[metric], strict=True))

    assert [found[label] for label in LABELS] == pytest.approx(peer(Y, P, average=None), abs=1e-12)
    assert micro[metric].item() == pytest.approx(peer(Y, P, average="micro"), abs=1e-12)
    assert by_label[metric].mean() == pytest.approx(peer(Y, P, average="macro"), abs=1e-12)


def test_accuracy_of_decisions_is_one_less_hamming_loss():
    score = scores_by_label("accuracy")["accuracy"].item()

    assert score == pytest.approx(1 - metrics.hamming_loss(Y, P), abs=1e-12)


def test_accuracy_of_whole_items_is_subset_accuracy():
    sets = pl.DataFrame(WIDE).select(
        truth=pl.concat_str(TRUE, separator=" "), prediction=pl.concat_str(PREDICTED, separator=" ")
    )
    out = bf.report(sets, "truth", "prediction", metrics="accuracy")

    assert out["accuracy"].item() == pytest.approx(metrics.accuracy_score(Y, P), abs=1e-12)


def test_ranking_of_scores_agrees_with_scikit_learn():
    decisions = bf.long(pl.DataFrame(WIDE), TRUE, y_score=SCORES, labels=LABELS)
    by_label = bf.ranking(decisions, "y_true", "y_score", by="label")
    found = dict(zip(by_label["label"], by_label["roc_auc"], strict=True))

    expected = metrics.roc_auc_score(Y, S, average=None)
    assert [found[label] for label in LABELS] == pytest.approx(expected, abs=1e-12)


@each_constructor
def test_rows_are_those_of_every_library(constructor):
    frame = constructor({"a": [1, 0], "b": [0, None], "pa": [1, 1], "pb": [0, 1], "g": ["x", "y"]})
    out = plain(bf.long(frame, ["a", "b"], ["pa", "pb"], labels=["A", "B"]))

    assert list(out) == ["item", "g", "label", "y_true", "y_pred"]
    assert out["item"] == [0, 1, 0, 1]
    assert out["g"] == ["x", "y", "x", "y"]
    assert out["label"] == ["A", "A", "B", "B"]
    assert out["y_true"][:3] == [1, 0, 0]
    assert out["y_true"][3] is None or np.isnan(out["y_true"][3])
    assert out["y_pred"] == [1, 1, 0, 1]


def test_names_of_pandas_may_be_numbers_and_the_index_is_new():
    frame = pd.DataFrame([[1, 0, 1, 1]], columns=[1, 2, 3, 4], index=[7])
    out = bf.long(frame, [1, 2], [3, 4])

    assert out["label"].tolist() == ["1", "2"]
    assert out.index.tolist() == [0, 1]


FRAME = pl.DataFrame({"a": [1], "b": [0], "pa": [1], "pb": [1], "t": ["yes"]})


@cases(
    ("arguments", "options", "message"),
    [
        (("a", "pa"), {}, "y_true='a' is not a list"),
        (([], []), {}, "y_true=[] is empty"),
        ((["a", "b"], ["pa"]), {}, "y_pred=['pa'] has 1 entries and y_true has 2"),
        ((["a"], ["a"]), {}, "column 'a' is named more than once"),
        ((["a"], ["pa"]), {"item": "a"}, "column 'a' is named more than once"),
        ((["a"], ["pa"]), {"item": ["b"]}, "item=['b'] is not a name"),
        ((["a"],), {}, "needs y_pred or y_score"),
        ((["a", "b"], ["pa", "t"]), {}, "'pa' Int64, 't' String. Cast them"),
        ((["a", "c"], ["pa", "pb"]), {}, "column 'c' not found"),
        ((["a", "b"], ["pa", "pb"]), {"labels": ["A", "A"]}, "has a label twice"),
        ((["a", "b"], ["pa", "pb"]), {"labels": ["A"]}, "labels=['A'] has 1 entries"),
    ],
)
def test_errors_say_what_to_give(arguments, options, message):
    with pytest.raises(bf.BalframeError) as caught:
        bf.long(FRAME, *arguments, **options)

    assert message in str(caught.value)


def test_columns_are_not_overwritten():
    with pytest.raises(bf.BalframeError, match="the frame already has 'label'; rename or drop it"):
        bf.long(FRAME.rename({"t": "label"}), ["a"], ["pa"])


def test_an_engine_without_order_needs_the_items():
    duckdb = pytest.importorskip("duckdb")
    frame = duckdb.sql("select 1 as a, 0 as pa, 'k' as id")

    with pytest.raises(bf.BalframeError, match="no order to number them by; give item"):
        bf.long(frame, ["a"], ["pa"])
    assert bf.long(frame, ["a"], ["pa"], item="id").pl()["id"].to_list() == ["k"]
