"""Comparisons of segments and models whose rows come in clusters, beside loops over the rows."""

from itertools import chain, permutations

import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.frames.clustered_rows import (
    NOTHING,
    ask,
    close,
    drawn,
    each_seed,
    halves,
    limits,
    rows,
)
from tests.support.oracles import clustered_gates as gates
from tests.support.oracles import clusters as loops
from tests.support.oracles import paired_recalls as tango
from tests.support.oracles.extremes import critical_value


class TestGaps:
    @pytest.mark.thorough
    @each_seed
    @pytest.mark.parametrize("nested", [False, True])
    def test_gaps_against_the_rest_equal_loops_over_clusters(self, seed, nested):
        frame = drawn(seed, nested=nested)
        names = ["accuracy", "uar", "f1"]

        result = ask(bf.gaps, frame, metrics=names)

        for accuracy, mean, f1 in zip(*(result[i::3] for i in range(3)), strict=True):
            one, other = halves(frame, accuracy["g"])
            found = gates.difference(loops.right(one), loops.right(other))
            assert (*limits(accuracy), accuracy["p_value"]) == close(found)
            found = gates.difference(loops.recalls(one), loops.recalls(other))
            assert (*limits(mean), mean["p_value"]) == close(found)
            assert f1["p_value"] is None
            assert limits(f1) == close(difference_of_f1(one, other))

    @each_seed
    def test_gaps_against_a_segment_equal_loops_over_clusters(self, seed):
        frame = drawn(seed)

        result = ask(bf.gaps, frame, metrics=["uar", "mcc"], reference="c")

        decided = ask(bf.check, frame, rules="mcc >= 0", adjust=None)
        decisive = {row["g"]: limits(row) for row in decided}
        other = rows(frame.filter(g="c"))
        for mean, mcc in zip(result[:4:2], result[1:4:2], strict=True):
            one = rows(frame.filter(g=mean["g"]))
            found = gates.difference(loops.recalls(one), loops.recalls(other))
            assert (*limits(mean), mean["p_value"]) == close(found)
            a, b = (loops.agreement("mcc", side) for side in (one, other))
            _, r = loops.minus(a, b)
            r = gates.reduced(r, gates.fewest(loops.right(one), loops.right(other)))
            ends = [decisive[mean["g"]], decisive["c"]]
            if NOTHING in ends:
                ends = [a.limits, b.limits]
            assert limits(mcc) == close(loops.mover(a.value, ends[0], b.value, ends[1], r))
        assert {limits(row) for row in result[4:]} == {NOTHING}  # the segment itself

    def test_a_gap_without_variance_between_clusters_has_the_p_value_of_its_limits(self):
        frame = pl.DataFrame(
            {"g": list("aaaaabbbbbb"), "c": list("uuvvvxxxyyy"), "y": 1, "p": [1] * 5 + [0] * 6}
        )

        result = ask(bf.gaps, frame, metrics="accuracy", labels=[0, 1])

        expected = gates.difference(*map(loops.right, halves(frame, "a")))
        assert (*limits(result[0]), result[0]["p_value"]) == close(expected)
        assert 0 < expected[-1] < 1


def difference_of_f1(one, other):
    """Give the limits, whose correlation is that of the Jaccard indices."""
    values, ends = [], []
    for side in (one, other):
        labels = loops.jaccard(side)
        values += loops.doubled([loops.mean(labels).value])
        ends.append(loops.doubled(gates.limits(labels)))
    r = gates.reduced_correlation(*map(loops.jaccard, (one, other)))
    return loops.mover(values[0], ends[0], values[1], ends[1], r)


class TestDisparity:
    @pytest.mark.thorough
    @each_seed
    @cases("nested", [False, True])
    @cases("segments", [2, 3, 6])
    def test_equality_of_segments_equals_loops_over_clusters(self, seed, nested, segments):
        frame = drawn(seed, segments=segments, nested=nested, rows=40 * segments)
        of_segments = [rows(frame.filter(g=g)) for g in sorted(set(frame["g"]))]

        result = ask(bf.disparity, frame, metrics=["accuracy", "uar"])

        for row, labels in zip(result, (loops.right, loops.recalls), strict=True):
            q, p = loops.equality([labels(own) for own in of_segments])
            if segments == 2:
                p = gates.difference(*map(labels, of_segments))[-1]
                assert row["p_value"] == close(p)
            assert (row["statistic"], row["p_value_all"]) == close((q, p))
            assert row["n_clusters"] == len(set(frame["c"]))

    @cases("nested", [False, True])
    def test_limits_of_the_largest_difference_equal_loops_over_pairs(self, nested):
        frame = drawn(2, segments=3, nested=nested, rows=150)
        of_segments = [rows(frame.filter(g=g)) for g in "abc"]
        z = critical_value(0.95, 3)

        result = ask(bf.disparity, frame, metrics=["accuracy", "uar"])

        for row, labels in zip(result, (loops.right, loops.recalls), strict=True):
            sides = [labels(own) for own in of_segments]
            pairs = []
            for one, other in permutations(sides, 2):
                both = ((loops.mean(side).value, gates.limits(side, z)) for side in (one, other))
                r = gates.reduced_correlation(one, other)
                pairs.append(loops.mover(*chain.from_iterable(both), r))
            lower, upper = (max(ends) for ends in zip(*pairs, strict=True))
            expected = (max(lower, 0), upper)
            # as exact as SciPy's quantile of the studentized range
            assert limits(row) == pytest.approx(expected, abs=1e-5)
            assert (row["p_value"] < 0.05) == (lower > 0)

    @pytest.mark.parametrize("nested", [False, True])
    def test_equality_with_an_error_free_segment_equals_loops_over_clusters(self, nested):
        frame = drawn(1, nested=nested).with_columns(p=pl.when(g="a").then("y").otherwise("p"))
        of_segments = [rows(frame.filter(g=g)) for g in "abc"]

        result = ask(bf.disparity, frame, metrics=["accuracy", "uar"])

        for row, labels in zip(result, (loops.right, loops.recalls), strict=True):
            expected = loops.equality([labels(own) for own in of_segments])
            assert (row["statistic"], row["p_value_all"]) == close(expected)

    def test_a_label_in_a_single_cluster_has_no_test(self):
        frame = drawn(1).with_columns(
            c=pl.when((pl.col("g") == "a") & (pl.col("y") == 1)).then(0).otherwise("c")
        )

        accuracy, mean = ask(bf.disparity, frame, metrics=["accuracy", "uar"])

        assert accuracy["note"] == "p_value_recalls needs independent rows, but cluster is given"
        assert (mean["statistic"], mean["p_value_all"]) == NOTHING
        assert mean["p_value"] is None
        assert mean["note"] == (
            "not every segment has an interval; "
            "all rows of a label or a denominator of some segment are in one cluster"
        )

    @cases("metric", ["f1", "precision"])
    def test_a_segment_without_an_interval_is_noted(self, metric):
        frame = drawn(1).with_columns(c=pl.when(g="a").then(0).otherwise("c"))

        (row,) = ask(bf.disparity, frame, metrics=metric)

        assert row["difference"] > 0
        assert (row["p_value"], *limits(row), *limits(row, "ratio_")) == (None,) * 5
        assert row["note"].startswith("not every segment has an interval; ")


class TestCompare:
    @pytest.mark.thorough
    @each_seed
    @pytest.mark.parametrize("labels", [2, 3])
    def test_compare_of_two_models_equals_loops_over_clusters(self, seed, labels):
        frame = drawn(seed, labels=labels)

        result = ask(bf.compare, frame, "p", baseline="q", metrics=["accuracy", "uar"])

        for accuracy, mean in zip(result[::2], result[1::2], strict=True):
            own = frame.filter(g=accuracy["g"])
            one, other = rows(own), rows(own, "q")
            for row, of in ((accuracy, loops.right), (mean, loops.recalls)):
                both = paired(of(one), of(other))
                found = loops.mean(both)
                assert limits(row) == close(tango_limits(both, found))
                assert row["p_value"] == close(loops.p_of_models(both))
                design = row["effective_clusters"], row["design_effect"]
                assert design == close((found.m_star, found.design_effect))

    def test_compare_without_variance_between_clusters_equals_loops(self):
        frame = pl.DataFrame({"c": list("aabbb"), "y": 1, "p": 1, "q": 0})

        (row,) = ask(bf.compare, frame, "p", baseline="q", by=None, metrics="accuracy")

        both = paired(loops.right(rows(frame)), loops.right(rows(frame, "q")))
        assert row["p_value"] == close(loops.p_of_models(both))
        assert limits(row) == close(tango_limits(both, loops.mean(both)))


def paired(one, other):
    """Subtract what is right of two models, row by row."""
    return [
        (a, [(c, v - w) for (c, v), (_, w) in zip(of_one, of_other, strict=True)])
        for (a, of_one), (_, of_other) in zip(one, other, strict=True)
    ]


def tango_limits(both, found):
    parts = []
    for a, n, (_, values) in zip(found.a, found.n_eff, both, strict=True):
        shares = [sum(v == sign for _, v in values) / len(values) for sign in (1, -1)]
        parts.append((a, *(n * share for share in shares), n))
    return tango.limits_of(parts, found.quantile)[:2]


@each_seed
@pytest.mark.parametrize("reference", ["rest", "b"])
def test_differences_of_roc_auc_equal_loops_over_clusters(seed, reference):
    frame = drawn(seed)

    for row in ask(bf.ranking, frame, "s", reference=reference):
        if row["g"] == reference:
            assert limits(row, "roc_auc_difference_") == NOTHING
            continue
        is_other = pl.col("g") != row["g"] if reference == "rest" else pl.col("g") == reference
        one, other = (
            loops.area(rows(frame.filter(side), "s"))
            for side in (pl.col("g") == row["g"], is_other)
        )
        _, r = loops.minus(one, other)
        expected = loops.mover(one.value, one.limits, other.value, other.limits, r)
        assert limits(row, "roc_auc_difference_") == close(expected)


def test_a_label_whose_clusters_all_differ_by_the_same_is_not_without_variance():
    """Only `new` finds both positives, each in a cluster; on the negatives, each loses one of 20.

    Around 0, the residuals of the positives are 1, and u = 1 / 2 * 1 / (2 sqrt(1 / 2)) = .354 each,
    so the standard error is at least .5, that of the difference in balanced accuracy.
    """
    frame = pl.DataFrame(
        {
            "c": range(22),
            "y": [1] * 2 + [0] * 20,
            "new": [1] * 3 + [0] * 19,
            "old": [0] * 3 + [1] + [0] * 18,
        }
    )
    both = pl.concat([frame, frame])  # so that clusters are no rows
    names = {"metrics": "balanced_accuracy", "cluster": "c", "detail": True}
    (row,) = bf.compare(both, "y", ["old", "new"], **names).to_dicts()
    assert row["difference"] == 0.5
    assert row["p_value"] > 0.3
