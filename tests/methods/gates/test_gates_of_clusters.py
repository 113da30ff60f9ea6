"""Limits that decide rules about rows in clusters, beside loops over the rows."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

import balframe as bf
from tests.support.cases import cases
from tests.support.frames.clustered_rows import NOTHING, ask, close, drawn, each_seed, limits, rows
from tests.support.oracles import clustered_gates as gates
from tests.support.oracles import clusters as loops
from tests.support.oracles.clusters import Z
from tests.support.oracles.paired_recalls import gate_limits_of


@each_seed
def test_limits_of_proportions_equal_loops_over_clusters(seed):
    rules = ["accuracy >= 0.5", "precision >= 0.5", "f1 >= 0.5"]

    result = ask(bf.check, drawn(seed), rules=rules, adjust=None)

    for accuracy, precision, f1 in zip(*(result[i::3] for i in range(3)), strict=True):
        own = rows(drawn(seed).filter(g=accuracy["g"]))
        assert limits(accuracy) == close(gates.limits(loops.right(own)))
        assert limits(precision) == close(gates.limits(loops.precision(own)))
        assert limits(f1) == close(loops.doubled(gates.limits(loops.jaccard(own))))
        found = loops.mean(loops.right(own))
        design = [accuracy[name] for name in ("effective_clusters", "design_effect", "n_clusters")]
        assert design == close([found.m_star, found.design_effect, len({c for c, *_ in own})])


@each_seed
def test_limits_of_means_of_recalls_equal_loops_over_clusters(seed):
    result = ask(bf.check, drawn(seed), rules="uar >= 0.5", adjust=None)

    for row in result:
        labels = loops.recalls(rows(drawn(seed).filter(g=row["g"])))
        assert limits(row) == close(gates.limits(labels))


def skewness_beyond_a_proportion(found, n):
    share, u = (1 + found.value) / 2, found.u.values()
    skewness = sum(one**3 for one in u) / sum(one**2 for one in u) ** 1.5
    return abs(skewness - (1 - 2 * share) / np.sqrt(n * share * (1 - share)))


def on_scale_of_kappa(name, values):
    """Bring limits of f1_macro to the range from -1 to 1."""
    return [2 * value - 1 for value in values] if name == "f1_macro" else list(values)


@cases("name", ["f1_macro", "cohen_kappa_quadratic"])
def test_pointwise_limits_of_linearised_metrics_equal_loops_over_clusters(name):
    frame = drawn(1, rows=240)
    options = {"metrics": name, "interval": True, "layout": "long"}

    for row in ask(bf.report, frame, **options):
        found = loops.agreement(name, rows(frame.filter(g=row["g"])))
        u, n = (1 + found.value) / 2, (1 - found.value**2) / found.safe_v
        t = stats.t.isf(0.025, found.df)
        half = t / (1 + t**2 / n) * np.sqrt(u * (1 - u) / n + t**2 / (4 * n * n))
        centre = (u + t**2 / (2 * n)) / (1 + t**2 / n)
        expected = [2 * (centre + sign * half) - 1 for sign in (-1, 1)]
        assert on_scale_of_kappa(name, limits(row)) == close(expected)


@pytest.mark.parametrize("name", ["cohen_kappa", "mcc", "f1_macro", "cohen_kappa_quadratic"])
def test_limits_of_linearised_metrics_equal_loops_over_clusters(name):
    frame = drawn(1, rows=240)

    result = ask(bf.check, frame, rules=f"{name} >= 0.5", adjust=None)

    for row in result:
        own = rows(frame.filter(g=row["g"]))
        found = loops.agreement(name, own)
        n = (1 - found.value**2) / found.safe_v
        excess = skewness_beyond_a_proportion(found, n)
        assert excess < 0.25
        shifted = Z + excess * (2 * Z * Z + 1) / 6
        fewer = (Z / stats.t.isf(0.025, found.df)) ** 2
        ends = []
        for share, is_error in (((1 + found.value) / 2, True), ((1 - found.value) / 2, False)):
            with_errors = gates.kish((c,) for c, true, seen in own if (true != seen) == is_error)
            left = gates.doubted(n, found.m_star, with_errors, Z) * fewer
            ends.append(2 * gates.clopper_pearson(share, left, shifted) - 1)
        assert on_scale_of_kappa(name, limits(row)) == close([ends[0], -ends[1]])


@pytest.mark.parametrize("name", ["cohen_kappa", "mcc"])
def test_kappa_and_mcc_have_no_limits_where_few_clusters_carry_them(name):
    # thirty clusters of ten rows, of which one has all rows of the rarer label that are right
    truth = [1] * 6 + [0] * 4 + ([0] * 9 + [1]) * 29
    predicted = [1] * 6 + [0] * 4 + [0] * 290
    frame = pl.DataFrame({"y": truth, "p": predicted, "c": [row // 10 for row in range(300)]})

    out = bf.check(frame, "y", "p", rules=f"{name} >= 0.5", cluster="c", detail=True)

    assert out.select("lower", "upper").row(0) == (None, None)


def test_limits_of_clustered_rows_are_adjusted_for_the_segments():
    asked = {"rules": "accuracy >= 0.5", "adjust": "bonferroni"}
    frame = drawn(0)

    together = ask(bf.check, frame, level=0.94, **asked)

    for row in together:
        (alone,) = ask(bf.check, frame.filter(g=row["g"]), level=0.98, **asked)
        assert limits(row) == close(limits(alone))


def test_cluster_columns_of_a_difference_are_null():
    (row,) = ask(bf.check, drawn(0), rules="difference(accuracy) <= 0.5")

    names = ("n_clusters", "effective_clusters", "design_effect")
    assert [row[name] for name in names] == [None] * 3
    assert limits(row) != NOTHING


def test_a_baseline_model_in_clusters_has_the_wider_paired_limits():
    frame, rule = drawn(2), "accuracy >= baseline - 0.5"
    compared = ask(bf.compare, frame, ["p", "q"], metrics="accuracy")

    result = ask(bf.check, frame, rules=rule, baseline="q", adjust=None)

    design = ("n_clusters", "effective_clusters", "design_effect")
    for row, other in zip(result, compared, strict=True):
        assert [row[name] for name in design] == close([other[name] for name in design])
        own = frame.filter(g=row["g"])
        one, before = (loops.right(rows(own, name))[0][1] for name in ("p", "q"))
        rises = [(c, v - w) for (c, v), (_, w) in zip(one, before, strict=True)]
        found = loops.mean([(1, rises)])
        (n,), values = found.n_eff, [v for _, v in rises]
        b, c = (n * values.count(sign) / len(values) for sign in (1, -1))
        assert limits(row) == close(gate_limits_of([(1, b, c, n)], found.quantile))
