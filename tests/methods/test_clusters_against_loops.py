"""Limits of segments whose rows come in clusters, beside loops over the rows."""

import polars as pl
import pytest

import balframe as bf
from tests.support.frames.clustered_rows import NOTHING, ask, close, drawn, each_seed, limits, rows
from tests.support.oracles import clusters as loops


def of_mean(labels, method):
    """Give the limits, none where a label has all rows in one cluster."""
    return (
        NOTHING if not all(one for _, one in labels) or not loops.mean(labels) else method(labels)
    )


class TestReport:
    @each_seed
    def test_limits_with_two_labels_equal_loops(self, seed):
        frame = drawn(seed)
        names = ["accuracy", "precision", "f1", "uar", "informedness", "cohen_kappa", "mcc"]

        for row in ask(bf.report, frame, metrics=names, interval=True):
            own = rows(frame.filter(g=row["g"]))
            f1 = loops.doubled(of_mean(loops.jaccard(own), loops.wilson))
            mean = of_mean(loops.recalls(own), loops.score)
            expected = {
                "accuracy": of_mean(loops.right(own), loops.wilson),
                "precision": of_mean(loops.precision(own), loops.wilson),
                "f1": f1,
                "uar": mean,
                "informedness": tuple(2 * one - 1 for one in mean),
                "cohen_kappa": loops.agreement("cohen_kappa", own).limits,
                "mcc": loops.agreement("mcc", own).limits,
            }
            for name, values in expected.items():
                assert limits(row, f"{name}_") == close(values), name

    @each_seed
    @pytest.mark.parametrize(
        ("weights", "class_weight"),
        [
            ({0: 1, 1: 1, 2: 1}, "balanced"),
            ({0: 1, 1: 2, 2: 5}, {0: 1, 1: 2, 2: 5}),
        ],
    )
    def test_limits_with_a_label_absent_from_a_segment_equal_loops(
        self, seed, weights, class_weight
    ):
        frame = drawn(seed, labels=3)
        asked = {
            "metrics": ["weighted_balanced_accuracy", "mcc"],
            "interval": True,
            "layout": "long",
        }

        result = ask(bf.report, frame, class_weight=class_weight, **asked)

        for row, correlation in zip(result[::2], result[1::2], strict=True):
            own = rows(frame.filter(g=row["g"]))
            labels = loops.recalls(own, weights)
            found = loops.mean(labels)
            assert (limits(row), row["estimate"]) == (
                close(loops.score(labels)),
                close(found.value),
            )
            design = row["n_clusters"], row["effective_clusters"], row["design_effect"]
            assert design == close((len({c for c, *_ in own}), found.m_star, found.design_effect))
            found = loops.agreement("mcc", own)
            assert limits(correlation) == close(found.limits)
            assert correlation["effective_clusters"] == close(found.m_star)

    def test_mean_recall_weighted_by_prevalence_has_limits_of_accuracy(self):
        frame = drawn(0, labels=3)
        asked = {"metrics": "weighted_balanced_accuracy", "class_weight": "prevalence"}

        for row in ask(bf.report, frame, interval=True, **asked):
            expected = loops.wilson(loops.right(rows(frame.filter(g=row["g"]))))
            assert limits(row, "weighted_balanced_accuracy_") == close(expected)

    @pytest.mark.parametrize("wrong", [(), (5,), (0, 1, 2)])
    def test_limits_of_labels_with_all_rows_correct_equal_loops(self, wrong):
        y = [0, 0, 0, 0, 1, 1, 1, 1, 1]
        frame = pl.DataFrame(
            {"c": list("aabbbcadd"), "y": y, "p": [v ^ (i in wrong) for i, v in enumerate(y)]}
        )
        asked = {"by": None, "metrics": ["accuracy", "uar"], "interval": True, "layout": "long"}

        accuracy, mean = ask(bf.report, frame, **asked)

        assert limits(accuracy) == close(loops.wilson(loops.right(rows(frame))))
        labels = loops.recalls(rows(frame))
        assert limits(mean) == close(loops.score(labels))
        assert mean["design_effect"] == close(loops.mean(labels).design_effect)

    def test_absent_zero_scales_the_limits_of_balanced_accuracy(self):
        frame = drawn(0, labels=3).filter(pl.col("g") != "b")

        result = ask(
            bf.report,
            frame,
            metrics="uar",
            interval=True,
            labels=bf.label_set([0, 1, 2], absent="zero"),
        )

        (low, high) = loops.score(loops.recalls(rows(frame.filter(g="a"))))
        assert limits(result[0], "uar_") == close((low * 2 / 3, high * 2 / 3))

    def test_labels_that_are_correlated_have_at_least_one_effective_row(self):
        frame = pl.DataFrame({"c": list("aaaabbbb"), "y": [0, 1] * 4, "p": [0, 1] * 2 + [1, 0] * 2})

        (row,) = ask(bf.report, frame, by=None, metrics="uar", interval=True)

        # each label has one effective row, and half of one with the covariance of both
        labels = loops.recalls(rows(frame))
        assert loops.mean(labels).n_eff == [1, 1]
        assert limits(row, "uar_") == close(loops.score(labels))

    def test_clusters_of_equal_accuracy_have_design_effect_0(self):
        right = [1] * 13 + [0] * 10  # 26 / 46 * 23 is not 13 in floats
        frame = pl.DataFrame({"c": ["a"] * 23 + ["b"] * 23, "y": 1, "p": right * 2})

        (row,) = ask(bf.report, frame, by=None, metrics="accuracy", interval=True, layout="long")

        assert row["design_effect"] == 0
        assert limits(row) == close(loops.wilson(loops.right(rows(frame))))

    def test_metrics_with_a_denominator_in_one_cluster_have_no_limits(self):
        frame = pl.DataFrame({"c": list("aabbb"), "y": [1, 1, 0, 0, 0], "p": [1, 0, 0, 0, 0]})
        names = ["accuracy", "recall", "precision", "uar", "mcc"]

        result = ask(bf.report, frame, by=None, metrics=names, interval=True, layout="long")

        assert [row["lower"] is None for row in result] == [False, True, True, True, False]
        assert [row["effective_clusters"] is None for row in result] == [
            row["lower"] is None for row in result
        ]

    def test_all_rows_in_one_cluster_have_no_limits(self):
        frame = drawn(0, clusters=1, segments=1)

        result = ask(bf.report, frame, metrics="all", interval=True, layout="long")

        assert {limits(row) for row in result} == {NOTHING}
        assert {row["n_clusters"] for row in result} == {1}


class TestRanking:
    @each_seed
    def test_roc_auc_and_limits_equal_loops(self, seed):
        frame = drawn(seed)

        for row in ask(bf.ranking, frame, "s"):
            own = frame.filter(g=row["g"])
            found = loops.area(rows(own, "s"))
            assert (row["roc_auc"], *limits(row, "roc_auc_")) == close((found.value, *found.limits))
            assert row["n_clusters"] == len(set(own["c"]))

    def test_roc_auc_of_1_or_with_a_class_in_one_cluster_has_no_limits(self):
        frame = pl.DataFrame(
            {
                "g": list("aaaabbbb"),
                "c": list("uuvvuuvv"),
                "y": [0, 1, 0, 1, 0, 0, 1, 1],
                "s": [0.1, 0.9, 0.2, 0.8, 0.3, 0.9, 0.8, 0.7],
            }
        )

        perfect, split = ask(bf.ranking, frame, "s")

        assert (perfect["roc_auc"], *limits(perfect, "roc_auc_")) == (1, *NOTHING)
        assert (split["roc_auc"], *limits(split, "roc_auc_")) == (0.5, *NOTHING)
