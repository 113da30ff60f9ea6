"""Limits of averages, F-scores, weighted kappas and metrics of users, by the delta method."""

from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl
import pytest
from sklearn import metrics as sk

import balframe as bf
from balframe.core.class_counts import comparing
from balframe.core.sample import Sample
from balframe.metrics.lookup import find_metric
from balframe.stats.base import GATE, Interval, IntervalRequest
from balframe.stats.linearised_intervals import LinearisedMetric
from balframe.stats.numerical_derivative import MOST_LABELS, evaluate_counts, linearise_numerically
from tests.stats.test_kappa_mcc import make_sample, weights_of
from tests.support.cases import cases
from tests.support.reference_values import reference

CASES = reference("delta_method")["cases"]
METRICS = [
    "precision_weighted",
    "f1_macro",
    "f1_weighted",
    "jaccard_macro",
    "jaccard_weighted",
    "cohen_kappa_linear",
    "cohen_kappa_quadratic",
    "fbeta(2)",
]


def with_options(sample, **options):
    """Return the sample with other options; `compared` leaves the first label out."""
    compared = options.pop("compared", None)
    counts = replace(sample.counts, pos_label=1, **options)
    if compared:
        counts = comparing(counts, np.arange(len(counts.label)) > 0)
    return Sample(counts, sample.cells)


def ends(limits):
    return [float(limit[0]) for limit in limits]


def undefined(values):
    return [np.nan if value is None else value for value in values]


@cases("case", CASES)
def test_limits_equal_reference_values(case):
    given, expected = case["input"], case["expected"]
    weights = weights_of(given["cells"]) if "cells" in given else [given["matrix"]]
    sample, metric = with_options(make_sample(*weights)), find_metric(given["metric"])
    together = 1 - (1 - given["level"]) / given["together"]

    estimate = metric(sample.counts)
    limits, decisive = (
        ends(metric.interval.limits(sample, estimate, request))
        for request in (IntervalRequest(None, given["level"]), IntervalRequest(GATE, together))
    )

    u = LinearisedMetric.of(metric.interval.linearise, sample)
    width = metric.range[1] - metric.range[0]
    parts = {
        "estimate": estimate,
        "n_eff": u.by_mean.effective_size,
        "n_eff_gate": u.by_largest.effective_size,
        "bias": width * u.by_mean.bias,
        "bias_gate": width * u.by_largest.bias,
    }
    for name, value in parts.items():
        assert value[0] == pytest.approx(expected[name], rel=1e-9, abs=1e-9), name
    excess = max(expected["skew_excess"], expected["tail_excess"])
    assert u.by_mean.excess[0] == pytest.approx(excess, abs=1e-9)
    assert limits == pytest.approx([expected["lower"], expected["upper"]], abs=1e-9)
    gate = undefined([expected["gate_lower"], expected["gate_upper"]])
    assert decisive == pytest.approx(gate, abs=1e-9, nan_ok=True)


def draw_matrix(n_labels, seed):
    rng = np.random.default_rng(seed)
    rates = rng.choice([2, 6, 30], (n_labels, n_labels))
    return rng.poisson(rates) + np.diag([20] * n_labels)


def draw_weights(n_labels, seed):
    rng = np.random.default_rng(seed)
    rows = draw_matrix(n_labels, seed)
    return weights_of([[[*rng.exponential(1, n), 0.0] for n in row] for row in rows])


@cases("name", METRICS)
@cases("options", [{}, {"absent": "zero", "n_labels": 5}, {"compared": True}])
@cases(("n_labels", "has_weights"), [(2, False), (3, True), (4, False)])
def test_closed_form_derivatives_equal_differences(n_labels, has_weights, options, name):
    of = draw_weights(n_labels, 1) if has_weights else [draw_matrix(n_labels, 1)]
    sample, metric = with_options(make_sample(*of), **options), find_metric(name)
    numerical = partial(linearise_numerically, evaluate_counts(metric.function), metric.range)

    exact, differences = (
        LinearisedMetric.of(linearise, sample)
        for linearise in (metric.interval.linearise, numerical)
    )

    assert exact.influence == pytest.approx(differences.influence, abs=1e-9)
    for one, other in (
        (exact.by_mean, differences.by_mean),
        (exact.by_largest, differences.by_largest),
    ):
        assert one.value == pytest.approx(other.value, abs=1e-12)
        assert one.first == pytest.approx(other.first, abs=1e-9)
        assert one.mean_square == pytest.approx(other.mean_square, rel=1e-8)
        for power, of_differences in zip(
            one.mean_cube_and_fourth(), other.mean_cube_and_fourth(), strict=True
        ):
            assert power == pytest.approx(of_differences, rel=1e-7, abs=1e-9)
        assert one.second() == pytest.approx(other.second(), rel=1e-5, abs=1e-5)
        assert one.mean_second() == pytest.approx(other.mean_second(), rel=1e-5, abs=1e-5)


def draw_frame(seed, n=300, n_labels=3):
    rng = np.random.default_rng(seed)
    true = rng.integers(0, n_labels, n)
    predicted = np.where(rng.random(n) < 0.7, true, rng.integers(0, n_labels, n))
    segment, weight = rng.integers(0, 2, n), rng.exponential(1, n)
    return pl.DataFrame({"g": segment, "y": true, "p": predicted, "w": weight})


def limits_of(frame, names, **options):
    out = bf.report(frame, "y", "p", by="g", metrics=names, interval=True, pos_label=1, **options)
    return out.select(pl.col("^.*_(lower|upper)$"))


ALL = [*METRICS, "precision_macro", "jaccard_micro", "lr_plus", "lr_minus", "dor"]


def test_weights_of_one_have_the_limits_of_rows():
    frame = draw_frame(1).with_columns(w=pl.lit(1.0))

    assert limits_of(frame, ALL, sample_weight="w").equals(limits_of(frame, ALL))


@cases("weight", [None, "w"])
def test_order_of_rows_names_of_labels_and_scale_of_weights_change_no_limits(weight):
    frame = draw_frame(2)
    options = {} if weight is None else {"sample_weight": weight}
    changed = frame.sample(fraction=1, shuffle=True, seed=1).with_columns(pl.col("w") * 3)

    result, expected = (limits_of(of, ALL, **options).to_numpy() for of in (changed, frame))

    assert result == pytest.approx(expected, abs=1e-11)


def test_swapping_labels_changes_no_limits_of_averages():
    frame, averages = draw_frame(3), [*METRICS[:5], "precision_macro", "jaccard_micro"]
    swapped = frame.with_columns(pl.col("y", "p").replace({0: 1, 1: 2, 2: 0}))

    result, expected = (limits_of(of, averages).to_numpy() for of in (swapped, frame))

    assert result == pytest.approx(expected, abs=1e-11)


@cases("name", ["f1_macro", "f1_weighted", "jaccard_macro", "jaccard_weighted"])
def test_jaccard_is_decided_where_f1_is(name):
    """Of 8 rows of the second label, two are right: fewer than 16 rows determine the averages."""
    few = make_sample([[3000, 2], [6, 2]])
    metric = find_metric(name)

    low, high = ends(metric.interval.limits(few, metric(few.counts), IntervalRequest(GATE, 0.95)))

    of_f1 = find_metric(name.replace("jaccard", "f1"))
    expected = ends(of_f1.interval.limits(few, of_f1(few.counts), IntervalRequest(GATE, 0.95)))
    assert np.isnan([low, high]).tolist() == np.isnan(expected).tolist()


@cases("name", ["f1_macro", "cohen_kappa_linear"])
def test_rules_are_inconclusive_where_few_rows_determine_the_metric(name):
    cells = bf.from_matrix([[3000, 2], [6, 2]])

    out = bf.check(
        cells, "actual", "predicted", counts="n", rules=f"{name} >= 0.1", pos_label=1, detail=True
    )

    why = "fewer than about 16 rows determine the score"
    assert out.select("lower", "upper", "status").row(0) == (None, None, "inconclusive")
    assert out["undecided"].to_list() == [why]


def test_likelihood_and_odds_ratios_equal_reference_values():
    names = {"lr_plus": "lr_plus", "lr_minus": "lr_minus", "odds": "dor"}
    for case in reference("likelihood_ratios")["cases"]:
        given, expected = case["input"], case["expected"]
        tp, fp = given["tp"], given["fp"]
        cells = bf.from_matrix([[given["negatives"] - fp, fp], [given["positives"] - tp, tp]])

        out = bf.report(
            cells, "actual", "predicted", counts="n", metrics=[*names.values()], interval=True,
            level=given["level"], pos_label=1,
        )  # fmt: skip

        for key, name in names.items():
            if expected[f"{key}_upper"] is None:  # infinite, as the estimate is
                assert out[f"{name}_upper"].to_list() == [None]
                continue
            for end in ("lower", "upper"):
                wanted = pytest.approx(expected[f"{key}_{end}"], rel=1e-9, abs=1e-12)
                assert out[f"{name}_{end}"].item() == wanted


@cases("name", ["lr_plus", "lr_minus", "dor"])
def test_gate_limits_of_ratios_contain_those_of_report(name):
    cells = {"counts": "n", "pos_label": 1}
    for matrix in ([[45, 5], [3, 17]], [[49, 1], [3, 17]], [[9, 1], [1, 4]], [[5, 5], [5, 5]]):
        frame = bf.from_matrix(matrix)

        report = bf.report(
            frame, "actual", "predicted", metrics=[name], interval=True, **cells
        ).row(0, named=True)
        check = bf.check(frame, "actual", "predicted", rules=f"{name} >= 1", **cells)

        lower, upper = check.select("lower", "upper").row(0)
        assert lower <= report[f"{name}_lower"] <= report[name] <= report[f"{name}_upper"] <= upper


def test_an_upper_limit_may_be_infinite():
    """One false alarm of 50: with three such errors in a million, the statistic never rejects."""
    frame = bf.from_matrix([[49, 1], [3, 17]])

    out = bf.check(
        frame, "actual", "predicted", counts="n", pos_label=1, level=0.999999,
        rules=["lr_plus >= 1", "lr_plus <= 100000"],
    )  # fmt: skip

    assert out["upper"].to_list() == [np.inf, np.inf]
    assert out["status"].to_list() == ["pass", "inconclusive"]


def test_macro_precision_has_the_limits_of_a_mean_of_recalls_of_predicted_labels():
    """The transposed matrix has the precisions as recalls, but for a label never predicted."""
    matrix = np.array([[30, 5, 2], [4, 20, 1], [3, 2, 15]])
    options = {"counts": "n", "interval": True}

    precision, recall = (
        bf.report(bf.from_matrix(of), "actual", "predicted", metrics=name, **options).row(0)[-3:]
        for of, name in ((matrix, "precision_macro"), (matrix.T, "balanced_accuracy"))
    )

    assert precision == pytest.approx(recall, abs=1e-14)
    never = bf.from_matrix([[30, 5, 0], [4, 20, 0], [3, 2, 0]])
    of_two = bf.from_matrix([[30, 7], [7, 20]])  # the rows predicted as the first two labels
    out = bf.report(never, "actual", "predicted", metrics="precision_macro", **options).row(0)[-3:]
    recalls = bf.report(of_two, "actual", "predicted", metrics="bal_acc", **options).row(0)[-3:]
    assert out == pytest.approx(2 / 3 * np.array(recalls), abs=1e-12)


def test_micro_jaccard_has_the_limits_of_accuracy():
    frame = draw_frame(4)

    out = bf.report(frame, "y", "p", metrics=["jaccard_micro", "accuracy"], interval=True)

    a = out.select(pl.col("^accuracy.*$")).to_numpy()
    jaccard = out.select(pl.col("^jaccard_micro.*$")).to_numpy()
    assert jaccard == pytest.approx(a / (2 - a), abs=1e-14)


class TestMetricsOfUsers:
    def test_a_registered_metric_has_the_limits_of_the_built_in_one(self):
        for name in ("f1_macro", "cohen_kappa_quadratic"):
            built_in = find_metric(name)

            def own(c, built_in=built_in):
                return built_in.function(c)

            own.__name__ = f"own_{name}"
            bf.metric(range=built_in.range)(own)
        names, own_names = METRICS[1:7:5], ["own_f1_macro", "own_cohen_kappa_quadratic"]
        frame = draw_frame(5)

        for options in ({}, {"sample_weight": "w"}):
            result, expected = (
                limits_of(frame, of, **options).to_numpy() for of in (own_names, names)
            )
            assert result == pytest.approx(expected, abs=1e-9)
        status = bf.check(frame, "y", "p", by="g", rules=[f"{own_names[0]} >= 0.5"])["status"]
        assert status.to_list() == ["pass", "pass"]

    def test_a_function_of_labels_that_takes_rows_has_them_too(self):
        name = bf.metric_from(
            partial(sk.f1_score, average="macro"),
            name="sk_f1_macro",
            range=(0, 1),
            counts="sample_weight",
        )
        frame = draw_frame(6)

        result, expected = (limits_of(frame, [of]).to_numpy() for of in (name, "f1_macro"))

        assert result == pytest.approx(expected, abs=1e-9)

    def test_a_metric_that_is_not_of_shares_has_no_limits(self):
        @bf.metric(range=(0, 1))
        def shrunken(c):
            """Accuracy with a penalty for few rows: acc n / (n + 10)."""
            return c.total_correct / (c.total + 10)

        @bf.metric(range=(0, 1))
        def part_of_rows(c):
            """Accuracy of n / 1,000 rows: acc n / 1000."""
            return np.minimum(c.total_correct / 1000, 1)

        limits = limits_of(draw_frame(7), ["shrunken", "part_of_rows"])

        assert limits.null_count().sum_horizontal().item() == 8

    def test_the_base_class_of_intervals_gives_none(self):
        @bf.metric(range=(0, 1), interval=Interval())
        def lowest_recall(c):
            """The lowest recall: min_k R_k."""
            lowest = np.full(c.n_segments, np.inf)
            np.fmin.at(lowest, c.segment, c.recall)
            return lowest

        assert limits_of(draw_frame(8), ["lowest_recall"]).null_count().sum_horizontal().item() == 4
        with pytest.raises(bf.InvalidInputError, match="has no confidence interval"):
            bf.check(draw_frame(8), "y", "p", rules="lowest_recall >= 0.5")

    def test_many_labels_have_no_limits(self):
        @bf.metric(range=(0, 1))
        def own_accuracy(c):
            """Share of correct rows: TP / n."""
            return c.total_correct / c.total

        frame = draw_frame(9, 600, MOST_LABELS + 1)

        assert limits_of(frame, ["own_accuracy"]).null_count().sum_horizontal().item() == 4
