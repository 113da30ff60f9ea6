"""Weighted rows in clusters, beside R's survey, loops over the rows, and rows without weights."""

import math

import numpy as np
import polars as pl
import pytest

import balframe as bf
from balframe.api.metric_selection import MetricSelection
from balframe.core.cells import Cells
from balframe.core.class_counts import ClassCounts
from balframe.core.label_counts import LabelCounts
from balframe.core.row_sums import RowSums
from balframe.core.sample import Clusters, Sample
from balframe.stats.clustered_means import clustered_means
from tests.methods.test_clusters import OF_ONE_MODEL, each, same
from tests.support.cases import cases
from tests.support.frames.clustered_rows import NOTHING, ask, close, drawn, limits
from tests.support.oracles import clustered_gates as gates
from tests.support.oracles import clusters as loops
from tests.support.reference_values import reference

FIGURES = reference("weighted_clusters")
PUBLISHED = pl.DataFrame(reference("clusters")["rows"]).with_columns(
    w=pl.Series(FIGURES["weight"]).cast(pl.Float64)
)
SEGMENTS = ["a", "b"]


def weighted(seed, **options):
    """Draw rows whose weights are quarters, so that their sums are exact in any order."""
    frame = drawn(seed, **options)
    n = frame.height
    weight = np.random.default_rng([seed, 1]).choice([1, 2, 5, 8, 24], n) / 4
    return frame.with_columns(w=weight, one=np.ones(n), row=np.arange(n))


def rows(frame, predicted="p"):
    """List (cluster, true, predicted, weight)."""
    return list(frame.select("c", "y", predicted, "w").iter_rows())


def sample_of(frame, predicted="pred"):
    """Count the rows of a frame as one segment."""
    cluster = frame["cluster"].rank("dense").to_numpy().astype(np.int64)
    y, p = (frame[name].to_numpy() for name in ("y", predicted))
    sums = RowSums(np.ones(len(y), np.int64), weight=frame["w"].to_numpy()).with_squares()
    cells = Cells((np.zeros_like(y), cluster), y, p, sums).regrouped()
    own = cells.sorted_by([0])
    counts = ClassCounts.of(LabelCounts.of(own, 2), pos_label=1)
    return Sample(counts, lambda: own, Clusters.of(cells, counts))


def interval_of(name):
    (metric,) = MetricSelection.of(name, None, ()).metrics.values()
    return metric.interval


def linearised(frame, name, in_denominator):
    """Give the influence of each cluster without the correction for few clusters, by its code."""
    influence = interval_of(name).influence(sample_of(frame))
    own = frame.filter(in_denominator)
    weight = own.group_by("cluster").agg(pl.col("w").sum()).sort("cluster")["w"].to_numpy()
    return influence.value * np.sqrt(1 - weight / weight.sum())


@pytest.mark.parametrize("segment", SEGMENTS)
class TestSurvey:
    """Without the factor 1 / (1 - h), V is that of R's survey times (m - 1) / m."""

    @staticmethod
    def figure(segment, name, *, m=None):
        figure, m = FIGURES[segment][name], m or FIGURES[segment]["m"]
        return figure["se"] ** 2 * (m - 1) / m

    @pytest.mark.parametrize(
        ("name", "in_denominator"),
        [
            ("accuracy", pl.lit(True)),
            ("recall", pl.col("y") == 1),
            ("precision", pl.col("pred") == 1),
            ("cohen_kappa", pl.lit(True)),
        ],
    )
    def test_variances_equal_those_of_survey(self, segment, name, in_denominator):
        frame = PUBLISHED.filter(segment=segment)

        u = linearised(frame, name, in_denominator)

        assert (u**2).sum() == pytest.approx(self.figure(segment, name), rel=1e-9)

    def test_influence_on_balanced_accuracy_is_that_of_survey_on_each_label(self, segment):
        frame = PUBLISHED.filter(segment=segment)
        total = {}
        for name, label in (("recall", 1), ("specificity", 0)):
            own = frame.filter(y=label)
            values = linearised(frame, name, pl.col("y") == label)
            for cluster, value in zip(sorted(set(own["cluster"])), values, strict=True):
                total[cluster] = total.get(cluster, 0) + value / 2

        variance = sum(value**2 for value in total.values())

        assert variance == pytest.approx(self.figure(segment, "balanced_accuracy"), rel=1e-9)

    def test_estimates_equal_those_of_survey(self, segment):
        names = ["accuracy", "recall", "precision", "balanced_accuracy", "cohen_kappa"]
        options = {"sample_weight": "w", "cluster": "cluster", "metrics": names, "pos_label": 1}

        out = bf.report(PUBLISHED.filter(segment=segment), "y", "pred", **options)

        expected = [FIGURES[segment][name]["estimate"] for name in names]
        assert [out[name].item() for name in names] == pytest.approx(expected, rel=1e-12)

    def test_difference_of_models_has_the_variance_of_survey(self, segment):
        frame = PUBLISHED.filter(segment=segment)
        options = {"sample_weight": "w", "cluster": "cluster", "detail": True, "pos_label": 1}

        out = bf.compare(frame, "y", ["pred2", "pred"], metrics="accuracy", **options)

        weight = frame.group_by("cluster").agg(pl.col("w").sum())["w"].to_numpy()
        assert out["difference"].item() == pytest.approx(FIGURES[segment]["models"]["estimate"])
        right, other = (frame["y"] == frame[name] for name in ("pred", "pred2"))
        values = [
            (c, int(x) - int(y), w)
            for c, x, y, w in zip(frame["cluster"], right, other, frame["w"], strict=True)
        ]
        found = loops.mean([(1, values)])
        share = dict(zip(*frame.group_by("cluster").agg(pl.col("w").sum()), strict=True))
        u = {c: v * math.sqrt(1 - share[c] / weight.sum()) for c, v in found.u.items()}
        variance = sum(v**2 for v in u.values())
        assert variance == pytest.approx(self.figure(segment, "models"), rel=1e-9)
        assert out["p_value"].item() == close(loops.p_of_models([(1, values)]))


@pytest.mark.parametrize("seed", range(3))
class TestLoops:
    def test_limits_of_report_equal_loops(self, seed):
        frame = weighted(seed)
        names = ["accuracy", "precision", "f1", "uar", "cohen_kappa", "mcc"]
        options = {"metrics": names, "interval": True, "sample_weight": "w", "layout": "long"}

        by_name = {}
        for row in ask(bf.report, frame, **options):
            by_name.setdefault(row["g"], {})[row["metric"]] = row

        for segment, of_segment in by_name.items():
            own = rows(frame.filter(g=segment))
            expected = {
                "accuracy": loops.wilson(loops.right(own)),
                "precision": loops.wilson(loops.precision(own)),
                "f1": loops.doubled(loops.wilson(loops.jaccard(own))),
                "uar": loops.score(loops.recalls(own)),
                "cohen_kappa": loops.agreement("cohen_kappa", own).limits,
                "mcc": loops.agreement("mcc", own).limits,
            }
            found = loops.mean(loops.recalls(own))
            mean = of_segment["uar"]
            assert (mean["effective_clusters"], mean["design_effect"]) == (
                close(found.m_star),
                close(found.design_effect),
            )
            for name, values in expected.items():
                assert limits(of_segment[name]) == close(values), name

    def test_limits_of_ranking_equal_loops(self, seed):
        frame = weighted(seed)

        for row in ask(bf.ranking, frame, "s", sample_weight="w"):
            found = loops.area(rows(frame.filter(g=row["g"]), "s"))
            assert (row["roc_auc"], *limits(row, "roc_auc_")) == close((found.value, *found.limits))

    def test_limits_of_check_equal_loops(self, seed):
        frame = weighted(seed)
        rules = ["accuracy >= 0.5", "uar >= 0.5"]

        for row in ask(bf.check, frame, rules=rules, sample_weight="w", adjust=None):
            own = rows(frame.filter(g=row["g"]))
            labels = loops.right(own) if row["rule"] == rules[0] else loops.recalls(own)
            assert limits(row) == close(gates.limits(labels))


@each
def test_weights_of_one_give_the_result_without_weights(method, predicted, options):
    frame = weighted(0)

    found, expected = (
        ask(method, frame, predicted, sample_weight=w, **options) for w in ("one", None)
    )

    assert found == expected


@each
def test_clusters_of_one_row_give_the_result_of_weights_alone(method, predicted, options):
    found, expected = (
        ask(method, weighted(0), predicted, sample_weight="w", cluster=c, **options)
        for c in ("row", None)
    )

    for row, one in zip(found, expected, strict=True):
        names = one.keys() - {"method"}  # which is that of clusters, whatever their rows
        assert {name: row[name] for name in names} == {name: one[name] for name in names}


@each
def test_order_of_rows_and_a_factor_of_the_weights_change_nothing(method, predicted, options):
    frame = weighted(0).with_columns(w=pl.col("w") * 0.3)
    mixed = frame.with_columns(w=pl.col("w") * 2.0**200).sample(fraction=1, shuffle=True, seed=0)

    found, expected = (
        ask(method, one, predicted, sample_weight="w", **options) for one in (mixed, frame)
    )

    same(found, expected)


@cases(("method", "predicted", "options"), OF_ONE_MODEL.values())
def test_cells_with_clusters_and_weights_equal_their_rows(method, predicted, options):
    frame = weighted(0)
    parts = [frame[:40], frame[40:]]

    cells = pl.concat(
        bf.confusion(one, "y", "p", by="g", cluster="c", sample_weight="w") for one in parts
    )

    expected = ask(method, frame, predicted, sample_weight="w", **options)
    same(ask(method, cells, **options), expected)


@cases("method", [bf.gaps, bf.ranking])
@pytest.mark.parametrize("weights", [[0.1, 0.7, 3.3], [1e-12, 1.0, 1e6]])
def test_the_rest_has_the_rows_of_all_other_segments(method, weights):
    frame = drawn(1, nested=False)
    frame = frame.with_columns(w=np.random.default_rng(2).choice(weights, frame.height))
    options = {"sample_weight": "w", "reference": "rest"}
    predicted = "s" if method is bf.ranking else "p"
    options |= {} if method is bf.ranking else {"metrics": ["accuracy", "uar"]}
    names = {"g", "reference", "p_adjusted", "n_tests"}

    rest = ask(method, frame, predicted, **options)

    for segment in "abc":
        two = frame.with_columns(g=pl.when(pl.col("g") == segment).then("g").otherwise(pl.lit("o")))
        alone = ask(method, two, predicted, **{**options, "reference": "o"})
        own = [row for row in rest if row["g"] == segment]
        expected = [row for row in alone if row["g"] == segment]
        assert len(own) == len(expected) > 0
        same(
            *([{k: v for k, v in r.items() if k not in names} for r in s] for s in (own, expected))
        )


def test_a_denominator_in_one_cluster_has_no_limits():
    frame = pl.DataFrame(
        {"c": list("aabbb"), "y": [1, 1, 0, 0, 0], "p": [1, 0, 0, 0, 1], "w": [1, 2, 1, 3, 1]}
    )
    options = {"by": None, "interval": True, "layout": "long", "sample_weight": "w"}

    result = ask(bf.report, frame, metrics=["accuracy", "recall", "uar"], **options)

    assert [limits(row) == NOTHING for row in result] == [False, True, True]


def test_rows_without_weight_add_nothing_but_their_number():
    frame = weighted(0)
    extra = frame.with_columns(c=pl.col("c") + 100, w=0.0, p=1 - pl.col("p"))
    options = {"sample_weight": "w", "interval": True, "metrics": ["accuracy", "uar", "mcc"]}

    found, expected = (ask(bf.report, one, **options) for one in (pl.concat([frame, extra]), frame))

    for row, one in zip(found, expected, strict=True):
        assert row["n"] == 2 * one["n"]
        for name in options["metrics"]:
            assert limits(row, f"{name}_") == close(limits(one, f"{name}_"))


def test_weights_whose_squares_leave_the_range_of_a_float_have_no_limits():
    frame = weighted(0).with_columns(w=pl.col("w") * 1e300)
    options = {"sample_weight": "w", "interval": True, "metrics": ["accuracy", "mcc"]}

    for row in ask(bf.report, frame, **options):
        assert row["accuracy"] is not None
        assert limits(row, "accuracy_") == limits(row, "mcc_") == NOTHING
    assert {limits(row, "roc_auc_") for row in ask(bf.ranking, frame, "s", sample_weight="w")} == {
        NOTHING
    }


def test_effective_rows_are_the_fewer_of_both_limits():
    frame = PUBLISHED.filter(segment="a")

    means = clustered_means(interval_of("accuracy"), sample_of(frame))

    values = [(c, int(y == p), w) for c, y, p, w in frame["cluster", "y", "pred", "w"].iter_rows()]
    assert means.n == close([loops.effective_rows(values)])
    assert means.n.item() == min(side.item() for side in means.n_of_side)
