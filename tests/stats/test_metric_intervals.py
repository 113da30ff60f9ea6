"""Kinds of confidence interval: what each declares is true, and a new one needs no change."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

import balframe as bf
from balframe.api import interval_estimates
from balframe.core.class_counts import ClassCounts
from balframe.core.safe_divide import ratio
from balframe.metrics.lookup import find_metric
from balframe.stats.base import GATE, Interval, IntervalRequest, Sample
from balframe.stats.mean_payoff import MeanPayoff
from balframe.stats.metric_intervals import MeanOfRecalls, Proportion
from balframe.stats.proportions import wilson
from tests.support.cases import cases
from tests.support.oracles.mean_recalls import by_side, effective
from tests.support.shipped_metrics import SHIPPED as NAMES

DECLARED = [
    name for name in NAMES if getattr(find_metric(name).interval, "among", None) is not None
]

# in each pair the truth is the same and the predictions differ
PAIRS = {
    2: ([[5, 1], [2, 7]], [[2, 4], [4, 5]]),
    3: ([[5, 1, 2], [2, 7, 0], [1, 1, 4]], [[2, 4, 2], [5, 3, 1], [0, 1, 5]]),
}


def denominators(kind, matrix, **options):
    recalls = kind.linear_recalls(replace(ClassCounts.from_matrix(np.array(matrix)), **options))
    return None if recalls is None else recalls.support.tolist()


def depends_on_predictions(kind, pair, **options):
    one, other = (denominators(kind, matrix, **options) for matrix in pair)
    return one != other


def counts_the_rows_declared(kind, matrix, pos_label):
    rows = np.array(matrix).sum(axis=1)
    positives = rows[pos_label]
    expected = {
        "all": rows.sum(),
        "positives": positives,
        "negatives": rows.sum() - positives,
    }
    return denominators(kind, matrix, pos_label=pos_label) == [expected[kind.among]]


@cases("class_weight", ["balanced", "prevalence", np.array([1.0, 2.0, 3.0])])
@cases("pos_label", [0, 1])
@cases("n_labels", [2, 3])
@cases("name", NAMES)
def test_models_are_paired_where_denominators_do_not_depend_on_predictions(
    name, n_labels, pos_label, class_weight
):
    kind, pair = find_metric(name).interval, PAIRS[n_labels]
    weights = class_weight if isinstance(class_weight, str) else class_weight[:n_labels]
    is_linear = denominators(kind, pair[0], pos_label=pos_label, class_weight=weights) is not None

    depends = depends_on_predictions(kind, pair, pos_label=pos_label, class_weight=weights)

    is_mean_of_rows = isinstance(kind, MeanPayoff)  # whose denominator is all rows
    assert kind.is_paired == (is_mean_of_rows or (is_linear and not depends))


@cases("name", NAMES)
def test_metrics_stay_paired_without_rows_of_the_positive_label(name):
    kind = find_metric(name).interval

    assert not (kind.is_paired and depends_on_predictions(kind, PAIRS[2], pos_label=-1))


@cases("n_labels", [2, 3])
@cases("name", [name for name in NAMES if getattr(find_metric(name).interval, "among", None)])
def test_denominators_count_the_declared_rows(name, n_labels):
    kind = find_metric(name).interval

    assert all(counts_the_rows_declared(kind, matrix, 1) for matrix in PAIRS[n_labels])


@cases(
    ("name", "among"),
    [("precision", "positives"), ("recall", "all"), ("recall", "negatives"), ("npv", "negatives")],
)
def test_denominators_of_a_wrong_declaration_do_not_match(name, among):
    wrong = replace(find_metric(name).interval, among=among)

    assert not all(counts_the_rows_declared(wrong, matrix, 1) for matrix in PAIRS[2])


def metric_limits(name, asked, level=0.99, **options):
    """Find limits of a metric of the first table."""
    counts = replace(ClassCounts.from_matrix(np.array(PAIRS[2][0])), pos_label=1, **options)
    metric = find_metric(name)
    sample = Sample(counts, lambda: pytest.fail("no cells are needed"))
    return np.ravel(metric.interval.limits(sample, metric(counts), IntervalRequest(asked, level)))


@cases("name", ["accuracy", "recall", "specificity", "precision", "npv"])
def test_gate_limits_of_a_proportion_are_exact(name):
    assert find_metric(name).interval.method_of(GATE) == "exact"
    assert metric_limits(name, GATE).tolist() == metric_limits(name, "exact").tolist()


def test_gate_limits_of_a_mean_of_recalls_are_the_wider_of_two():
    low, high = metric_limits("balanced_accuracy", GATE)

    each = np.array([metric_limits("balanced_accuracy", name) for name in ("score", "scas")])
    assert [low, high] == [each[:, 0].min(), each[:, 1].max()]
    assert not (each == [low, high]).all()


@cases("asked", [None, GATE, "scas"])
@cases("name", ["informedness", "adjusted_balanced_accuracy"])
def test_linear_functions_of_a_mean_have_its_limits(name, asked):
    expected = 2 * metric_limits("balanced_accuracy", asked) - 1

    assert metric_limits(name, asked) == pytest.approx(expected, abs=1e-14)


def test_a_mean_weighted_by_prevalence_has_the_gate_limits_of_accuracy():
    options = {"class_weight": "prevalence"}

    low, high = metric_limits("weighted_balanced_accuracy", GATE, **options)

    exact = stats.binomtest(5 + 7, 5 + 1 + 2 + 7).proportion_ci(0.99, "exact")
    assert (low, high) == pytest.approx((exact.low, exact.high), abs=1e-12)


@cases("asked", ["score", "posterior"])
def test_last_segments_without_a_label_that_has_weight_have_no_limits(asked):
    # 8 of 10 and 3 of 4 rows of the first label are right; the others have rows of the second only
    correct, missed, none = np.array([8, 3, 5, 2]), np.array([2, 1, 1, 0]), np.zeros(4, np.int64)
    counts = ClassCounts(
        4, 2, np.arange(4), np.array([0, 0, 1, 1]), correct, missed, none,
        correct.astype(float), missed.astype(float), none.astype(float),
        class_weight=np.array([1.0, 0.0]),
    )  # fmt: skip
    metric = find_metric("weighted_balanced_accuracy")
    sample = Sample(counts, lambda: pytest.fail("no cells are needed"))
    request = IntervalRequest(asked, 0.95)

    low, high = interval_estimates.metric_limits(metric, sample, metric(counts), request)

    for at, (x, n) in enumerate([(8, 10), (3, 4)]):
        expected = {
            "score": proportion_confint(x, n, 0.05, "wilson"),
            "posterior": stats.beta(x + 1, n - x + 1).ppf([0.025, 0.975]),
        }[asked]
        assert (low[at], high[at]) == pytest.approx(expected, abs=1e-9)
    assert np.isnan([low[2:], high[2:]]).all()


@cases("asked", [None, GATE, "exact", "scas"])
def test_f1_has_the_limits_of_the_jaccard_index(asked):
    jaccard = metric_limits("jaccard", asked)

    assert metric_limits("f1", asked) == pytest.approx(2 * jaccard / (1 + jaccard), abs=1e-14)


@pytest.mark.parametrize("name", ["accuracy", "balanced_accuracy"])
def test_every_interval_method_returns_different_limits(name):
    methods = {
        "accuracy": ("wilson", "scas", "jeffreys", "exact"),
        "balanced_accuracy": ("score", "scas", "mover", "posterior"),
    }[name]

    result = {tuple(metric_limits(name, asked).round(9)) for asked in methods}

    assert [find_metric(name).interval.method_of(asked) for asked in methods] == list(methods)
    assert len(result) == len(methods)


class WithinATenth(Interval):
    """Limits a tenth below and above the estimate."""

    def method_of(self, asked):
        return "tenth"

    def limits(self, sample, estimate, request):
        return estimate - 0.1, estimate + 0.1


@pytest.fixture
def share_right():
    @bf.metric(range=(0, 1), interval=WithinATenth())
    def share_right(c):
        """Share of rows that are right: sum_k TP_k / n."""
        return ratio(c.total_correct, c.total)


@pytest.fixture
def frame():
    """Segment a is right in 5 of 10 rows, b in 8 of 10."""
    right = [*range(5), *range(10, 18)]
    truth = np.arange(20) % 2
    predicted = np.where(np.isin(np.arange(20), right), truth, 1 - truth)
    return pl.DataFrame({"g": ["a"] * 10 + ["b"] * 10, "y": truth, "p": predicted, "q": truth})


@pytest.mark.usefixtures("share_right")
def test_a_custom_interval_sets_the_limits_of_report(frame):
    out = bf.report(
        frame, "y", "p", by="g", metrics="share_right", interval=True, layout="long", detail=True
    )

    assert out["method"].to_list() == ["tenth", "tenth"]
    assert out["lower"].to_list() == pytest.approx([0.4, 0.7])
    assert out["upper"].to_list() == pytest.approx([0.6, 0.9])


@pytest.mark.usefixtures("share_right")
def test_a_custom_interval_sets_the_limits_of_gaps(frame):
    out = bf.gaps(frame, "y", "p", by="g", metrics="share_right", detail=True)

    half = np.sqrt(0.1**2 + 0.1**2)
    assert out["lower"].to_list() == pytest.approx([-0.3 - half, 0.3 - half])
    assert out["upper"].to_list() == pytest.approx([-0.3 + half, 0.3 + half])
    assert out["p_value"].to_list() == [None, None]


@pytest.mark.usefixtures("share_right")
def test_a_custom_interval_sets_the_limits_of_disparity(frame):
    (out,) = bf.disparity(frame, "y", "p", by="g", metrics="share_right", detail=True).to_dicts()

    half = np.sqrt(0.1**2 + 0.1**2)
    limits = out["lower"], out["upper"]
    assert limits == pytest.approx((0.3 - half, 0.3 + half))
    assert (out["ratio_lower"], out["ratio_upper"]) == pytest.approx((0.4 / 0.9, 0.6 / 0.7))


@pytest.mark.usefixtures("share_right")
def test_a_custom_interval_sets_the_status_of_rules(frame):
    rules = ["share_right >= 0.65", "difference(share_right) <= 0.6"]

    out = bf.check(frame, "y", "p", by="g", rules=rules, detail=True)

    assert out["status"].to_list() == ["fail", "pass", "pass"]


@pytest.mark.usefixtures("share_right")
def test_compare_has_null_limits_for_an_interval_that_is_not_paired(frame):
    out = bf.compare(frame, "y", ["p", "q"], metrics="share_right", detail=True)

    assert (out["lower"][0], out["upper"][0]) == (None, None)


@pytest.mark.parametrize("method", ["report", "compare"])
def test_a_custom_metric_has_the_limits_of_its_built_in_interval(frame, method):
    def parts(c):
        return c.total_correct, c.total

    @bf.metric(range=(0, 1), interval=Proportion(parts, among="all"))
    def own_accuracy(c):
        """Share of rows that are right: sum_k TP_k / n."""
        return ratio(*parts(c))

    @bf.metric(range=(0, 1), interval=MeanOfRecalls())
    def own_balanced_accuracy(c):
        """Mean recall over the labels: mean_k R_k."""
        return c.mean_recall

    def ask(*metrics):
        if method == "compare":
            return bf.compare(frame, "y", ["p", "q"], by="g", metrics=metrics, detail=True).drop(
                "metric"
            )
        return bf.report(frame, "y", "p", by="g", metrics=metrics, interval=True)

    own = ask("own_accuracy", "own_balanced_accuracy")
    assert own.rows() == ask("accuracy", "balanced_accuracy").rows()


def test_a_metric_without_an_interval_has_no_limits_and_no_method(frame):
    out = bf.report(
        frame, "y", "p", metrics=["nir", "accuracy"], interval=True, layout="long", detail=True
    )

    assert out["method"].to_list() == [None, "wilson"]
    assert out["lower"].is_null().to_list() == [True, False]


def test_limits_of_a_custom_proportion_of_weighted_rows_use_the_largest_weight_of_its_denominator():
    @bf.metric(
        range=(0, 1), interval=Proportion(lambda c: (c.positive.fn, c.positive.fn + c.positive.fp))
    )
    def own_share_of_misses(c):
        """Share of the errors that are misses: FN / (FN + FP)."""
        return ratio(c.positive.fn, c.positive.fn + c.positive.fp)

    missed, false_alarms, right = [1.0, 4.0, 2.0], [1.0, 3.0, 1.0, 0.5], [50.0, 1.0]
    frame = pl.DataFrame(
        {
            "y": [1] * 3 + [0] * 4 + [1, 0],
            "p": [0] * 3 + [1] * 4 + [1, 0],
            "w": missed + false_alarms + right,
        }
    )

    out = bf.report(
        frame, "y", "p", metrics="own_share_of_misses", sample_weight="w", interval=True
    )

    expected = by_side(lambda x, n: wilson(x, n, 0.95), *effective(missed, false_alarms))
    limits = [out[f"own_share_of_misses_{end}"].item() for end in ("lower", "upper")]
    assert limits == pytest.approx(expected, abs=1e-12)
