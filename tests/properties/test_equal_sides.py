"""Both sides of a comparison have the same statistics, however the baseline is given."""

import numpy as np
import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases

METRICS = ["accuracy", "balanced_accuracy", "precision", "f1", "mcc", "positive_likelihood_ratio"]
PAIRED = ["accuracy", "balanced_accuracy", "recall", "informedness"]
SCORED = ["roc_auc", "roc_auc(max_fpr=0.6)", "average_precision", "brier_score"]
WEIGHTS = [{}, {"sample_weight": "w"}, {"counts": "k"}, {"sample_weight": "w", "counts": "k"}]
CLUSTERS = [{"cluster": "c"}, {"cluster": "c", "sample_weight": "w"}]


def rows(seed, n=110):
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n)
    return pl.DataFrame(
        {
            "g": random.choice(["a", "b"], n),
            "y": y,
            "p": np.where(random.random(n) < 0.8, y, 1 - y),
            "q": np.where(random.random(n) < 0.7, y, 1 - y),
            "s": np.round(0.4 * y + 0.6 * random.random(n), 2),
            "t": np.round(0.2 * y + 0.8 * random.random(n), 2),
            "w": random.choice([1.0, 1.5, 2.0, 6.0], n),
            "k": random.integers(1, 4, n),
            "c": random.integers(0, 40, n),
        }
    )


NOW, BEFORE = rows(1), rows(2, n=90)


def rows_of(frame, options, folder):
    return frame


def cells_of(frame, options, folder):
    return bf.confusion(frame, "y", "p", by="g", **options)


def run_of(frame, options, folder):
    table = folder / "-".join(["runs", *options])
    names = {"run": "may", "date": "2026-05-31", "by": "g", "replace": True}
    bf.store(frame, table, "y", "p", **names, **options)
    return bf.read_run(table, "may", by="g")


def diff(frame, baseline, metric, options, y_pred="p"):
    return bf.diff(frame, "y", y_pred, baseline=baseline, by="g", metrics=metric, **options)


def check(frame, baseline, metric, options, y_pred="p"):
    rule = f"{metric} >= baseline - 0"
    return bf.check(frame, "y", y_pred, baseline=baseline, by="g", rules=[rule], **options)


def compare(frame, baseline, metric, options, y_pred="p"):
    names = {"metrics": metric, "by": "g", **options}
    return bf.compare(frame, "y", y_score=[baseline, y_pred], **names)


def check_scores(frame, baseline, metric, options, y_pred="p"):
    names = {"rules": [f"{metric} >= baseline - 0"], "by": "g", **options}
    return bf.check(frame, "y", y_score=y_pred, baseline=baseline, **names)


def assert_mirrored(result, mirrored):
    """Check that the limits of one are those of the other, with the other sign."""
    lower, upper = (result[name].to_list() for name in ("lower", "upper"))
    assert None not in lower
    assert lower == pytest.approx((-mirrored["upper"]).to_list(), rel=1e-9, abs=1e-12)
    assert upper == pytest.approx((-mirrored["lower"]).to_list(), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("form", [rows_of, cells_of, run_of])
@cases(
    ("method", "options"), [(diff, o) for o in WEIGHTS] + [(check, o) for o in WEIGHTS + CLUSTERS]
)
def test_limits_of_equal_runs_are_symmetric_and_those_of_exchanged_ones_mirrored(
    form, tmp_path, method, options
):
    if form is run_of and "cluster" in options:
        return  # runs are stored without clusters
    now, before = (form(frame, options, tmp_path) for frame in (NOW, BEFORE))
    for metric in METRICS:
        if "cluster" in options and metric == "positive_likelihood_ratio":
            continue  # it has no limits of clusters
        same = method(NOW, now, metric, options)
        assert_mirrored(same, same)
        assert_mirrored(method(NOW, before, metric, options), method(BEFORE, now, metric, options))


@cases("method, names", [(diff, "pq"), (check, "pq"), (compare, "st"), (check_scores, "st")])
@cases("options", WEIGHTS + CLUSTERS)
def test_limits_of_exchanged_models_are_mirrored(method, names, options):
    is_scored = names == "st"
    if method is check_scores and "cluster" in options:
        return  # rules on scores have no clusters
    for metric in SCORED if is_scored else PAIRED:
        if "cluster" in options and method is compare and "max_fpr" in metric:
            continue
        first, second = names
        result, mirrored = (
            method(NOW, baseline, metric, options, y_pred=model)
            for model, baseline in ((first, second), (second, first))
        )
        assert_mirrored(result, mirrored)


def test_weighted_rows_without_an_error_differ_by_the_same_on_both_sides():
    """The weights 2 and 1 of 60 rows; one row of weight 2 is added to 45 of each label."""
    frame = pl.DataFrame({"y": [1, 0] * 30, "p": [1, 0] * 30, "w": [2.0] * 30 + [1.0] * 30})
    (result,) = bf.diff(
        frame, "y", "p", baseline=frame, sample_weight="w", metrics="accuracy"
    ).iter_rows(named=True)
    assert result["upper"] == pytest.approx(-result["lower"], abs=1e-12)
    assert result["upper"] < 0.07


def test_cells_without_the_largest_weights_have_the_largest_possible_ones():
    cells = cells_of(BEFORE, {"sample_weight": "w"}, None)
    options = {"sample_weight": "w"}
    exact = diff(NOW, cells, "accuracy", options)
    bound = diff(NOW, cells.drop("weight_max"), "accuracy", options)
    assert (bound["upper"] > exact["upper"]).all()
    assert (bound["lower"] <= exact["lower"]).all()


def test_a_limit_without_end_counts_among_the_limits_that_hold_together():
    """The only negative of group b that is predicted 1 weighs little: its ratio may be any."""
    table = {"y": [1, 1, 0, 0] * 2, "p": [1, 0, 1, 0] * 2, "g": [*"aaaabbbb"]}
    now, before = (
        pl.DataFrame(
            {**table, "k": [40, 10, 10, 40, 20, 4, n_false, 24], "w": [1.0] * 6 + [w, 1.0]}
        )
        for n_false, w in ((2, 1.0), (1, 0.1))
    )
    options = {"counts": "k", "sample_weight": "w"}
    metric = "positive_likelihood_ratio"
    result = diff(now, before, metric, options)
    assert result["lower"].to_list()[1] == -np.inf
    assert result["verdict"].to_list() == ["not decided", "not decided"]
    assert_mirrored(result, diff(before, now, metric, options))
