"""Every metric against scikit-learn in a loop over the segments."""

import math
import warnings
from dataclasses import dataclass
from functools import cache, cached_property, partial

import numpy as np
import polars as pl
import pytest
from sklearn import metrics as sk
from sklearn.dummy import DummyClassifier

import balframe as bf
from tests.support.cases import cases
from tests.support.shipped_metrics import OF_FAMILIES, SHIPPED

LABELS = {  # the last label is the positive one
    "ints": [0, 1],
    "bools": [False, True],
    "strings": ["no", "yes"],
    "three strings": ["a", "b", "c"],
    "four ints": [-3, 0, 7, 20],
    "five strings": ["ant", "bee", "cat", "dog", "eel"],
}


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of one segment, and the labels of the whole frame."""

    y: np.ndarray
    yhat: np.ndarray
    weight: np.ndarray | None
    labels: list

    def ask(self, function, **options):
        """Call scikit-learn, which warns of what is undefined or absent."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # UndefinedMetricWarning is one
            warnings.simplefilter("ignore", RuntimeWarning)
            return function(self.y, self.yhat, sample_weight=self.weight, **options)

    @cache  # noqa: B019 (the rows are few, and kept anyway)
    def per_label(self, function, zero_division=math.nan):
        """Score every label of the frame."""
        return self.ask(function, average=None, labels=self.labels, zero_division=zero_division)

    @cached_property
    def positive(self):
        """The same rows, positive or not."""
        at = self.labels[-1]
        return Rows(self.y == at, self.yhat == at, self.weight, [False, True])

    @cached_property
    def cells(self):
        counts = self.positive.ask(sk.confusion_matrix, labels=[False, True]).ravel()
        return dict(zip(("tn", "fp", "fn", "tp"), counts, strict=True))


def averaged(function, average, rows):
    """Average over the labels, undefined values left out, but a precision without predictions 0."""
    if function is sk.precision_score:
        return rows.ask(function, average=average, zero_division=0)
    if function is sk.jaccard_score:  # its default labels occur, so that none is undefined
        return rows.ask(function, average=average)
    return rows.ask(function, average=average, zero_division=math.nan)


def of_label(function, rows):
    """Score the positive label, in each of scikit-learn's ways of asking for it."""
    if len(rows.labels) == 2:
        options = {"average": "binary", "pos_label": rows.labels[-1]}
    else:
        options = {"average": "macro", "labels": rows.labels[-1:]}
    return rows.ask(function, **options, zero_division=math.nan)


def fbeta(beta, rows):
    options = {"beta": beta, "average": "macro", "labels": rows.labels[-1:]}
    return rows.ask(sk.fbeta_score, **options, zero_division=math.nan)


def weighted_kappa(weights, rows):
    return rows.ask(sk.cohen_kappa_score, weights=weights, labels=rows.labels)


def share(cell, other, rows):
    """Share of one cell of the binary confusion matrix in the sum of two."""
    both = rows.cells[cell] + rows.cells[other]
    return rows.cells[cell] / both if both > 0 else math.nan


def likelihood_ratios(rows):
    return rows.positive.ask(sk.class_likelihood_ratios, labels=[False, True])


def diagnostic_odds_ratio(rows):
    tn, fp, fn, tp = rows.cells.values()
    return tp * tn / (fp * fn) if fp * fn > 0 else math.nan


def net_benefit(threshold, rows):
    _, fp, _, tp = rows.cells.values()
    n = sum(rows.cells.values())
    return (tp - fp * threshold / (1 - threshold)) / n if n > 0 else math.nan


def cost(fn_cost, fp_cost, rows):
    _, fp, fn, _ = rows.cells.values()
    n = sum(rows.cells.values())
    return (fn_cost * fn + fp_cost * fp) / n if n > 0 else math.nan


def treatment_ratio(rows):
    _, fp, fn, _ = rows.cells.values()
    return fn / fp if fp > 0 else math.nan


def jaccard(rows):
    never = not (rows.positive.y | rows.positive.yhat).any()
    return math.nan if never else rows.positive.ask(sk.jaccard_score)


def label_weights(labels):
    return np.arange(1.0, len(labels) + 1)


def weighted_mean_of_recalls(rows):
    recalls = rows.per_label(sk.recall_score)
    weights = np.where(np.isnan(recalls), 0, label_weights(rows.labels))
    return np.average(np.nan_to_num(recalls), weights=weights)


def geometric_mean(rows):
    recalls = rows.per_label(sk.recall_score)
    return np.prod(recalls[~np.isnan(recalls)]) ** (1 / np.sum(~np.isnan(recalls)))


def majority_share(rows):
    nothing = np.zeros((len(rows.y), 1))
    majority = DummyClassifier(strategy="most_frequent").fit(nothing, rows.y, rows.weight)
    return majority.score(nothing, rows.y, rows.weight)


def normalized_accuracy(rows):
    chance = 1 / len(rows.labels)
    return (rows.ask(sk.accuracy_score) - chance) / (1 - chance)


def adjusted_balanced_accuracy(rows):
    value = rows.ask(sk.balanced_accuracy_score, adjusted=True)
    return math.nan if len(set(rows.y)) == 1 else value


def matthews_corrcoef(rows):
    value = rows.ask(sk.matthews_corrcoef)
    return math.nan if 1 in (len(set(rows.y)), len(set(rows.yhat))) else value


FAMILIES = {
    "recall": sk.recall_score,
    "precision": sk.precision_score,
    "f1": sk.f1_score,
    "jaccard": sk.jaccard_score,
}
AVERAGES = {
    f"{name}_{average}": (function, average)
    for name, function in FAMILIES.items()
    for average in ("macro", "micro", "weighted")
}
PEERS = {name: partial(averaged, *options) for name, options in AVERAGES.items()} | {
    "accuracy": lambda rows: rows.ask(sk.accuracy_score),
    "balanced_accuracy": lambda rows: rows.ask(sk.balanced_accuracy_score),
    "adjusted_balanced_accuracy": adjusted_balanced_accuracy,
    "normalized_accuracy": normalized_accuracy,
    "geometric_mean": geometric_mean,
    "weighted_balanced_accuracy": weighted_mean_of_recalls,
    "no_information_rate": majority_share,
    "hamming_loss": lambda rows: rows.ask(sk.hamming_loss),
    "recall": partial(of_label, sk.recall_score),
    "precision": partial(of_label, sk.precision_score),
    "f1": partial(of_label, sk.f1_score),
    "jaccard": jaccard,
    "specificity": partial(share, "tn", "fp"),
    "npv": partial(share, "tn", "fn"),
    "false_positive_rate": partial(share, "fp", "tn"),
    "false_negative_rate": partial(share, "fn", "tp"),
    "false_discovery_rate": partial(share, "fp", "tp"),
    "false_omission_rate": partial(share, "fn", "tn"),
    "selection_rate": lambda rows: np.average(rows.positive.yhat, weights=rows.weight),
    "prevalence": lambda rows: np.average(rows.positive.y, weights=rows.weight),
    "informedness": lambda rows: share("tp", "fn", rows) + share("tn", "fp", rows) - 1,
    "positive_likelihood_ratio": lambda rows: likelihood_ratios(rows)[0],
    "negative_likelihood_ratio": lambda rows: likelihood_ratios(rows)[1],
    "diagnostic_odds_ratio": diagnostic_odds_ratio,
    "treatment_ratio": treatment_ratio,
    "cohen_kappa": lambda rows: rows.ask(sk.cohen_kappa_score),
    "cohen_kappa_linear": partial(weighted_kappa, "linear"),
    "cohen_kappa_quadratic": partial(weighted_kappa, "quadratic"),
    "fbeta(0.5)": partial(fbeta, 0.5),
    "fbeta(2)": partial(fbeta, 2),
    "net_benefit(0.5)": partial(net_benefit, 0.5),
    "net_benefit(0.2)": partial(net_benefit, 0.2),
    "cost(1, 1)": partial(cost, 1, 1),
    "cost(fn=5, fp=1)": partial(cost, 5, 1),
    "matthews_corrcoef": matthews_corrcoef,
}


@cache
def grouped(kind):
    """Draw segments that have all labels, lack some, never predict some, or have just one."""
    rng = np.random.default_rng(len(kind))
    labels = LABELS[kind]
    drawn = {
        "all": (labels, labels, 200),
        "all, few rows": (labels, labels, 7),
        "lacks a label": (labels[1:], labels[1:], 60),
        "one row": (labels[:1], labels[1:], 1),
        "nothing in common": (labels[:1], labels[1:], 30),
        "one label throughout": (labels[:1], labels[:1], 9),
        "one true label": (labels[-1:], labels, 40),
        "predicted but absent": (labels[:-1], labels, 60),
        "never predicted": (labels, labels[:-1], 60),
    }
    drawn |= {f"all called {label}": (labels, [label], 40) for label in labels}
    parts = []
    for segment, (true, predicted, size) in drawn.items():
        y = rng.choice(len(true), size, p=rng.dirichlet(np.full(len(true), 2.0)))
        guesses = rng.integers(len(predicted), size=size)
        keeps = (rng.random(size) < 0.5) & np.isin(true, predicted)[y]
        y, guesses = np.array(true)[y], np.array(predicted)[guesses]
        columns = {"y": y, "yhat": np.where(keeps, y, guesses), "weight": rng.uniform(0.1, 5, size)}
        parts.append(pl.DataFrame(columns).with_columns(segment=pl.lit(segment)))
    return pl.concat(parts).sample(fraction=1, shuffle=True, seed=1)


@cache
def segments(kind, weighted):
    """List the rows of every segment, in order."""
    return [
        Rows(
            *(np.array(rows[name].to_list()) for name in ("y", "yhat")),
            rows["weight"].to_numpy() if weighted else None,
            LABELS[kind],
        )
        for _, rows in sorted(grouped(kind).group_by("segment"))
    ]


def looped(kind, weighted, peer):
    """Ask a peer segment by segment, in order."""
    return np.array([peer(rows) for rows in segments(kind, weighted)], float)


@cache
def report(kind, weighted, absent):
    """Report all metrics at once."""
    labels = LABELS[kind]
    return bf.report(
        grouped(kind),
        "y",
        "yhat",
        by="segment",
        sample_weight="weight" if weighted else None,
        metrics=[*PEERS],
        class_weight=dict(zip(labels, label_weights(labels), strict=True)),
        pos_label=labels[-1],
        labels=bf.label_set(labels, absent=absent),
    )


def reported(kind, weighted, metric, absent="skip"):
    return report(kind, weighted, absent)[metric]


def assert_same(scores, expected):
    assert not scores.is_nan().any()
    values = np.array([math.nan if value is None else value for value in scores])
    np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-12)


over_all_data = pytest.mark.parametrize(
    ("kind", "weighted"),
    [
        pytest.param(kind, weighted, id=f"{kind}, {'' if weighted else 'un'}weighted")
        for kind in LABELS
        for weighted in (False, True)
    ],
)


def test_every_built_in_metric_has_a_peer_in_scikit_learn():
    assert OF_FAMILIES
    assert {*SHIPPED} <= PEERS.keys()


@pytest.mark.any_version
@cases("metric", PEERS)
@over_all_data
def test_metrics_equal_scikit_learn_in_a_loop(kind, weighted, metric):
    expected = looped(kind, weighted, PEERS[metric])

    assert_same(reported(kind, weighted, metric), expected)
    assert np.isfinite(expected).any()


@cache
def over_whole_set(metric, rows):
    """Average over all labels of the frame, 0 for one without a value."""
    if metric in AVERAGES:
        function, average = AVERAGES[metric]
        return rows.ask(function, average=average, labels=rows.labels, zero_division=0)
    recalls = rows.per_label(sk.recall_score, zero_division=0)
    chance = 1 / len(recalls)
    return {
        "adjusted_balanced_accuracy": (recalls.mean() - chance) / (1 - chance),
        "geometric_mean": np.prod(recalls) ** chance,
        "weighted_balanced_accuracy": np.average(recalls, weights=label_weights(recalls)),
    }[metric]


def undefined_where_a_label_is(metric, rows):
    function = AVERAGES.get(metric, (sk.recall_score,))[0]
    if function in (sk.jaccard_score, sk.precision_score):
        function = sk.f1_score  # undefined together, where a label does not occur at all
    has_undefined = np.isnan(rows.per_label(function)).any()
    return math.nan if has_undefined else over_whole_set(metric, rows)


IN_OTHER_WAYS = ["adjusted_balanced_accuracy", "geometric_mean", "weighted_balanced_accuracy"]
OF_ALL_ROWS = ("recall_micro", "precision_micro", "f1_micro", "jaccard_micro", "recall_weighted")


@pytest.mark.thorough
@pytest.mark.any_version
@cases("metric", sorted(AVERAGES.keys() - OF_ALL_ROWS) + IN_OTHER_WAYS)
@over_all_data
@cases(("absent", "peer"), [("zero", over_whole_set), ("null", undefined_where_a_label_is)])
def test_absent_zero_and_null_equal_scikit_learn_in_a_loop(kind, weighted, metric, absent, peer):
    expected = looped(kind, weighted, partial(peer, metric))

    assert_same(reported(kind, weighted, metric, absent), expected)
    assert np.isfinite(expected).any()
