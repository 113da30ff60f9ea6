"""Rows in clusters: variances, limits and tests beside those of R and of a program of its own."""

import numpy as np
import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import each_constructor, plain
from tests.support.oracles import clustered_gates as gates
from tests.support.oracles import clusters as loops
from tests.support.reference_values import reference

CASES = reference("clusters")
ROWS = CASES["rows"]
FRAME = pl.DataFrame(ROWS)
SEGMENTS = ["a", "b"]
METRICS = {
    "accuracy": "accuracy",
    "precision": "precision",
    "f1": "jaccard_of_f1",
    "balanced_accuracy": "balanced_accuracy",
    "cohen_kappa": "kappa",
    "mcc": "mcc",
}
PROPORTIONS = ["accuracy", "precision", "f1"]
CLOSE = 1e-9
close = {"rel": CLOSE, "abs": CLOSE}


def ask(method, frame=FRAME, **options):
    """List the rows of a result."""
    result = plain(
        method(frame, "y", **{"by": "segment", "cluster": "cluster", "detail": True, **options})
    )
    return [dict(zip(result, row, strict=True)) for row in zip(*result.values(), strict=True)]


def rows(segment, predicted="pred"):
    """List (cluster, true, predicted) of a segment."""
    own = FRAME.filter(segment=segment)
    return list(zip(own["cluster"], own["y"], own[predicted], strict=True))


def f1_limits(name, jaccard):
    return loops.doubled(jaccard) if name == "f1" else jaccard


def reference_limits(segment, name):
    """Give the limits of the reference, or of loops where the exchangeable variance applies."""
    case = CASES[segment][METRICS.get(name, name)]
    labels = {"precision": loops.precision, "f1": loops.jaccard, "recall": loops.recall}
    ends = case["limits"] if "limits" in case else loops.wilson(labels[name](rows(segment)))
    return f1_limits(name, ends)


def labels_of(case):
    """Give the labels (weight, rows) of a case of exchangeable rows."""
    n, right = (np.array(case[name]).reshape(len(case["n"]), -1) for name in ("n", "right"))
    return [
        (1, [(c, int(i < x[c])) for c, size in enumerate(sizes) for i in range(size)])
        for sizes, x in zip(n.T, right.T, strict=True)
    ]


def frame_of(case):
    """Give the rows of a case; the true label is that of the recall."""
    return pl.DataFrame(
        [
            {"c": c, "y": k, "p": k if is_right else 1 - k}
            for k, (_, own) in enumerate(labels_of(case))
            for c, is_right in own
        ]
    )


def limits(row, name=""):
    return [row[f"{name}lower"], row[f"{name}upper"]]


@pytest.mark.parametrize("segment", SEGMENTS)
class TestLoops:
    """The loops that other tests use give the reference too."""

    @pytest.mark.parametrize("name", PROPORTIONS)
    def test_loops_of_a_proportion_equal_the_reference(self, segment, name):
        labels = {"accuracy": loops.right, "f1": loops.jaccard, "precision": loops.precision}[name]
        case, labels = CASES[segment][METRICS[name]], labels(rows(segment))

        result = loops.mean(labels)

        values = (result.v, result.m_star, result.kurtosis, result.df, result.design_effect)
        names = ("variance", "effective_clusters", "kurtosis", "df", "deff")
        assert values == pytest.approx([case[one] for one in names], **close)
        assert result.n_eff == pytest.approx([case["n_effective"]], **close)
        has_limits = result.floor <= max(result.v, result.of_rows)
        assert has_limits == ("limits" in case)
        if has_limits:
            assert loops.wilson(labels) == pytest.approx(case["limits"], **close)

    def test_loops_of_a_mean_of_recalls_equal_the_reference(self, segment):
        case, labels = CASES[segment]["balanced_accuracy"], loops.recalls(rows(segment))

        result = loops.mean(labels)

        values = (result.v, result.m_star, result.kurtosis, result.df, result.quantile)
        names = ("variance", "effective_clusters", "kurtosis", "df", "quantile")
        assert values == pytest.approx([case[one] for one in names], **close)
        assert result.n_eff == pytest.approx(case["n_effective"], **close)
        assert loops.score(labels) == pytest.approx(case["limits"], **close)

    @pytest.mark.parametrize("name", ["cohen_kappa", "mcc"])
    def test_loops_of_kappa_and_mcc_equal_the_reference(self, segment, name):
        case, result = CASES[segment][METRICS[name]], loops.agreement(name, rows(segment))

        values = (result.v, result.of_rows, result.m_star, result.df, *result.limits)
        names = ("variance", "variance_of_rows", "effective_clusters", "df")
        assert values == pytest.approx([*(case[one] for one in names), *case["limits"]], **close)


def test_loops_of_the_area_equal_the_reference():
    case = CASES["auc"]

    result = loops.area(list(zip(ROWS["cluster"], ROWS["y"], ROWS["score"], strict=True)))

    values = (result.value, result.v, result.of_rows, result.df, *result.limits)
    names = ("auc", "cr2_variance", "delong_variance", "df")
    assert values == pytest.approx([*(case[one] for one in names), *case["logit_limits"]], **close)


def test_loops_of_the_difference_equal_the_reference():
    case = CASES["difference"]
    one, other = (loops.right(rows(segment)) for segment in SEGMENTS)

    result, r = loops.minus(loops.mean(one), loops.mean(other))

    assert (result.v, r, result.df) == pytest.approx(
        (case["variance"], case["correlation"], case["df"]), **close
    )
    low_high = loops.mover(
        *(x for side in (one, other) for x in (loops.mean(side).value, loops.wilson(side))), r
    )
    assert low_high == pytest.approx(case["limits"], **close)
    assert loops.p_of_segments(one, other) == pytest.approx(case["p_value"], **close)


class TestExchangeableRows:
    @cases("case", CASES["exchangeable"])
    def test_loops_of_exchangeable_rows_equal_the_reference(self, case):
        labels = labels_of(case)

        result = loops.mean(labels)

        assert (result.rho, result.floor, result.v) == pytest.approx(
            [case[name] for name in ("rho", "floor", "variance")], **close
        )
        used = max(result.floor, result.v, result.of_rows)
        assert used == pytest.approx(case["used"], rel=CLOSE)
        if "lower" in case:
            values = (result.n_safe[0], result.df, *loops.wilson(labels))
            expected = [case[name] for name in ("n_eff", "df", "lower", "upper")]
            assert values == pytest.approx(expected, **close)

    @cases("case", CASES["exchangeable"])
    def test_report_has_the_reference_limits_of_exchangeable_rows(self, case):
        metric = "uar" if "weights" in case else "recall"
        frame, options = frame_of(case), {"by": None, "metrics": metric, "interval": True}
        pos_label = {"pos_label": 0, "labels": [0, 1]} if metric == "recall" else {}

        (row,) = ask(bf.report, frame, y_pred="p", **options, **pos_label, cluster="c")

        labels = labels_of(case)
        expected = [case["lower"], case["upper"]] if "lower" in case else loops.score(labels)
        assert limits(row, f"{metric}_") == pytest.approx(expected, **close)


@each_constructor
def test_report_with_clusters_has_the_reference_limits(constructor):
    result = ask(bf.report, constructor(ROWS), y_pred="pred", metrics=[*METRICS], interval=True)

    assert [row["n_clusters"] for row in result] == [24, 23]
    for segment, row in zip(SEGMENTS, result, strict=True):
        for name in METRICS:
            expected = reference_limits(segment, name)
            assert limits(row, f"{name}_") == pytest.approx(expected, **close), name


def test_report_with_clusters_has_the_reference_design_effects():
    answer = ask(bf.report, y_pred="pred", metrics=[*METRICS], interval=True, layout="long")

    result = {(row["segment"], row["metric"]): row for row in answer}
    for segment in SEGMENTS:
        for name, of_reference in METRICS.items():
            row, case = result[segment, name], CASES[segment][of_reference]
            assert limits(row) == pytest.approx(reference_limits(segment, name), **close)
            assert row["effective_clusters"] == pytest.approx(case["effective_clusters"], **close)
        for name in PROPORTIONS:
            deff = CASES[segment][METRICS[name]]["deff"]
            assert result[segment, name]["design_effect"] == pytest.approx(deff, **close)
        for name in ("cohen_kappa", "mcc"):
            case, row = CASES[segment][METRICS[name]], result[segment, name]
            deff = case["variance"] / case["variance_of_rows"]
            assert row["design_effect"] == pytest.approx(deff, **close)


@pytest.mark.parametrize("segment", SEGMENTS)
def test_variances_and_covariances_of_recalls_are_those_of_r(segment):
    case = CASES[segment]["r"]
    call_options = {"metrics": ["specificity", "recall", "uar", "accuracy"], "layout": "long"}
    result = ask(bf.report, FRAME.filter(segment=segment), y_pred="pred", by=None, **call_options)
    labels = {k: sum(true == k for _, true, _ in rows(segment)) for k in (0, 1)}
    p = dict(zip(labels, case["recalls"], strict=True))
    of_rows = [p[k] * (1 - p[k]) / labels[k] for k in labels]
    of_rows += [sum(of_rows) / 4, case["accuracy"] * (1 - case["accuracy"]) / case["n"]]

    # the design effect is the variance over that of independent rows
    effects = [row["design_effect"] for row in result]
    zeros, ones, both, right = np.multiply(effects, of_rows)

    cov = case["recalls_cov_cr2"]
    assert [zeros, ones] == pytest.approx(np.diag(cov), rel=CLOSE)
    assert (4 * both - zeros - ones) / 2 == pytest.approx(cov[0][1], rel=CLOSE)
    assert both == pytest.approx(case["balanced_accuracy_se_cr2"] ** 2, rel=CLOSE)
    assert right == pytest.approx(case["accuracy_se_cr2"] ** 2, rel=CLOSE)


def test_classes_with_clusters_have_the_reference_limits():
    answer = ask(bf.classes, y_pred="pred", interval=True)

    result = {row["segment"]: row for row in answer if row["label"] == 1}
    for segment in SEGMENTS:
        for name in ("precision", "f1", "recall"):
            expected = reference_limits(segment, name)
            assert limits(result[segment], f"{name}_") == pytest.approx(expected, **close)


def test_gaps_with_clusters_have_the_correlation_of_the_reference_less_half_its_error():
    case = CASES["difference"]
    one, other = (loops.right(rows(segment)) for segment in SEGMENTS)
    fewest = gates.fewest(one, other)

    row, _ = ask(bf.gaps, y_pred="pred", metrics="accuracy", reference="b")

    assert row["difference"] == pytest.approx(case["difference"], **close)
    r = np.tanh(np.arctanh(case["correlation"]) - 0.5 / np.sqrt(fewest - 3))
    sides = (x for side in (one, other) for x in (loops.mean(side).value, gates.limits(side)))
    assert limits(row) == pytest.approx(loops.mover(*sides, max(r, 0)), **close)
    assert row["effective_clusters"] == pytest.approx(
        CASES["a"]["accuracy"]["effective_clusters"], **close
    )


@cases("metric", ["accuracy", "balanced_accuracy"])
@cases("segment", SEGMENTS)
def test_the_variance_of_a_difference_of_models_is_that_of_r(metric, segment):
    case, short = CASES[segment]["r"], {"accuracy": "accuracy", "balanced_accuracy": "ba"}[metric]
    own = FRAME.filter(segment=segment)

    (row,) = ask(bf.compare, own, y_pred=["pred2", "pred"], by=None, metrics=metric)

    d = ((own["pred"] == own["y"]).cast(int) - (own["pred2"] == own["y"]).cast(int)).to_numpy()
    parts = [d] if metric == "accuracy" else [d[own["y"] == k] for k in (0, 1)]
    of_rows = sum(part.var() / len(part) for part in parts) / len(parts) ** 2
    assert row["difference"] == pytest.approx(case[f"paired_{short}_difference"], **close)
    variance = case[f"paired_{short}_difference_se_cr2"] ** 2
    assert row["design_effect"] * of_rows == pytest.approx(variance, rel=CLOSE)


def test_ranking_with_clusters_has_the_reference_limits():
    case = CASES["auc"]

    (row,) = ask(bf.ranking, y_score="score", by=None)

    assert row["roc_auc"] == pytest.approx(case["auc"], **close)
    assert limits(row, "roc_auc_") == pytest.approx(case["logit_limits"], **close)
