import functools
import warnings

import numpy as np
import polars as pl
import pytest
from sklearn import metrics as sk

import balframe as bf
from tests.support.cases import cases
from tests.support.oracles.mean_recalls import difference

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from fairlearn import metrics as fl

pytestmark = pytest.mark.filterwarnings("ignore")  # of fairlearn and scikit-learn

SCORES = {
    "accuracy": sk.accuracy_score,
    "balanced_accuracy": sk.balanced_accuracy_score,
    "recall": sk.recall_score,
    "precision": functools.partial(sk.precision_score, zero_division=0),
    "selection_rate": fl.selection_rate,
    "false_positive_rate": fl.false_positive_rate,
}
CRITERIA = {
    ("demographic_parity", "difference"): fl.demographic_parity_difference,
    ("demographic_parity", "ratio"): fl.demographic_parity_ratio,
    ("equalized_odds", "difference"): fl.equalized_odds_difference,
    ("equalized_odds", "ratio"): fl.equalized_odds_ratio,
    ("equal_opportunity", "difference"): fl.equal_opportunity_difference,
    ("equal_opportunity", "ratio"): fl.equal_opportunity_ratio,
}


def random_frame(seed, rows=500):
    rng = np.random.default_rng(seed)
    g = rng.choice([*"abcde"], rows, p=[0.4, 0.3, 0.15, 0.1, 0.05])
    y = rng.integers(0, 2, rows)
    p = np.where(rng.random(rows) < 0.6 + (g == "b") / 4, y, rng.integers(0, 2, rows))
    return pl.DataFrame({"g": g, "y": y, "p": p, "w": rng.exponential(size=rows) + 0.01})


def arguments(frame, weight=None):
    y, p, g, w = (frame[name].to_numpy() for name in ("y", "p", "g", "w"))
    weights = {} if weight is None else {"sample_weight": w}
    return (y, p), {"sensitive_features": g}, weights


def metric_frame(frame, metric, weight=None):
    (y, p), features, weights = arguments(frame, weight)
    return fl.MetricFrame(
        metrics=SCORES[metric], y_true=y, y_pred=p, sample_params=weights, **features
    )


@functools.cache
def random_metric_frame(seed, metric, weight):
    return metric_frame(random_frame(seed), metric, weight)


def criteria_of(frame, **options):
    rows = bf.fairness(frame, "y", "p", by="g", min_support=1, detail=True, **options).to_dicts()
    return {(row["criterion"], row["measure"]): row for row in rows}


FRAMES = cases(("seed", "weight"), [(k, w) for k in range(4) for w in (None, "w")])


@FRAMES
@cases("metric", SCORES)
def test_disparity_is_the_difference_and_ratio_between_groups(seed, weight, metric):
    frame = random_frame(seed)
    theirs = random_metric_frame(seed, metric, weight)
    options = {"metrics": metric, "sample_weight": weight, "min_support": 1}
    ours = bf.disparity(frame, "y", "p", by="g", detail=True, **options)
    row = ours.row(0, named=True)
    assert (row["n_segments"], row["n_left_out"]) == (5, 0)
    names = ["lowest", "highest", "difference", "ratio"]
    expected = [theirs.group_min(), theirs.group_max(), theirs.difference(), theirs.ratio()]
    assert [row[name] for name in names] == pytest.approx(expected, abs=1e-12)
    assert theirs.difference() == theirs.difference(method="between_groups")


@FRAMES
@cases("metric", SCORES)
def test_gaps_to_the_overall_make_the_difference_and_ratio_to_overall(seed, weight, metric):
    frame = random_frame(seed)
    theirs = random_metric_frame(seed, metric, weight)
    options = {"metrics": metric, "sample_weight": weight, "reference": "overall"}
    ours = bf.gaps(frame, "y", "p", by="g", detail=True, **options)
    assert ours["g"].to_list() == theirs.by_group.index.to_list()
    assert ours["estimate"].to_list() == pytest.approx(theirs.by_group.to_list(), abs=1e-12)
    assert ours["reference_estimate"].to_list() == pytest.approx([theirs.overall] * 5, abs=1e-12)
    furthest = ours["difference"].abs().max()
    assert furthest == pytest.approx(theirs.difference(method="to_overall"), abs=1e-12)
    least = min(min(ratio, 1 / ratio if ratio else 0) for ratio in ours["ratio"])
    assert least == pytest.approx(theirs.ratio(method="to_overall"), abs=1e-12)


@FRAMES
def test_gaps_to_the_best_and_worst_make_the_difference_between_groups(seed, weight):
    frame = random_frame(seed)
    options = {"by": "g", "metrics": "recall", "sample_weight": weight}
    to_best, to_worst = (
        bf.gaps(frame, "y", "p", reference=reference, detail=True, **options)[
            "difference"
        ].to_list()
        for reference in ("best", "worst")
    )
    expected = metric_frame(frame, "recall", weight).difference()
    found = [min(to_best), max(to_best), min(to_worst), max(to_worst)]
    assert found == pytest.approx([-expected, 0, 0, expected], abs=1e-12)


@FRAMES
def test_fairness_gives_the_named_differences_and_ratios(seed, weight):
    frame = random_frame(seed)
    (y, p), features, weights = arguments(frame, weight)
    ours = criteria_of(frame, sample_weight=weight)
    for key, function in CRITERIA.items():
        expected = function(y, p, **features, **weights)
        assert ours[key]["estimate"] == pytest.approx(expected, abs=1e-12)


NO_POSITIVES = pl.DataFrame(
    {
        "g": [*"aaaabbbbcccc"],
        "y": [1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0],
        "w": [1.0] * 12,
    }
).with_columns(p="y")


def test_a_perfect_classifier_is_not_unfair_where_a_segment_has_no_positives():
    (y, p), features, _ = arguments(NO_POSITIVES)
    assert fl.equal_opportunity_difference(y, p, **features) == 1
    assert fl.equalized_odds_difference(y, p, **features) == 1
    assert fl.equal_opportunity_ratio(y, p, **features) == 0
    ours = criteria_of(NO_POSITIVES)
    for key in [key for key in CRITERIA if key[0] == "equal_opportunity"]:
        row = ours[key]
        counted = (row["n_segments"], row["n_left_out"])
        assert (row["estimate"], *counted) == (float(key[1] == "ratio"), 2, 1)
    assert ours["equalized_odds", "difference"]["estimate"] == 0


def test_recall_of_a_segment_without_positives_is_null_unlike_fairlearn():
    theirs = metric_frame(NO_POSITIVES, "recall")
    assert theirs.by_group.to_dict() == {"a": 1, "b": 1, "c": 0}
    ours = bf.gaps(NO_POSITIVES, "y", "p", by="g", metrics="recall", detail=True)
    assert ours["estimate"].to_list() == [1, 1, None]
    out = bf.disparity(NO_POSITIVES, "y", "p", by="g", metrics="recall", min_support=1, detail=True)
    row = out.row(0, named=True)
    assert (row["difference"], row["n_segments"], row["n_left_out"]) == (0, 2, 1)
    assert theirs.difference() == 1


def test_precision_of_a_segment_never_selected_is_null_unlike_fairlearn():
    frame = pl.DataFrame({"g": [*"aabbcc"], "y": [1, 0, 1, 0, 1, 0], "p": [1, 0, 1, 1, 0, 0]})
    frame = frame.with_columns(w=1.0)
    assert metric_frame(frame, "precision").difference() == 1
    row = criteria_of(frame)["predictive_parity", "difference"]
    found = [row[name] for name in ("lowest", "highest", "estimate", "n_segments", "n_left_out")]
    assert found == [0.5, 1, 0.5, 2, 1]


def test_ratio_of_odds_is_that_of_the_recalls_where_every_other_rate_is_0():
    frame = NO_POSITIVES.filter(pl.col("g") != "c")
    (y, p), features, _ = arguments(frame)
    assert np.isnan(metric_frame(frame, "false_positive_rate").ratio())
    ours = criteria_of(frame)
    assert ours["equalized_odds", "ratio"]["estimate"] == fl.equalized_odds_ratio(y, p, **features)
    assert ours["equal_opportunity", "ratio"]["estimate"] == 1


def test_gap_of_compas_false_positive_rates_equals_fairlearn():
    compas = bf.datasets.compas(expand=True)
    compas = compas.rename({"race": "g", "reoffended": "y", "high_risk": "p"}).with_columns(w=1.0)
    compas = compas.filter(pl.col("g").is_in(["African-American", "Caucasian"]))
    options = {"by": "g", "metrics": "false_positive_rate"}
    row = bf.gaps(compas, "y", "p", reference="Caucasian", detail=True, **options).row(
        0, named=True
    )
    *limits, _ = difference(([805], [1795]), ([349], [1488]), [1], 0.95)
    found = [row[name] for name in ("difference", "lower", "upper")]
    assert found == pytest.approx([805 / 1795 - 349 / 1488, *limits], abs=1e-9)
    assert found[0] == pytest.approx(0.2139, abs=5e-5)
    assert metric_frame(compas, "false_positive_rate").difference() == pytest.approx(found[0])
