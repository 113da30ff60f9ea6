"""Limits that decide rules about rows in clusters, beside loops over the rows.

Where few clusters have errors, rows are taken away: 1 / n' = w / n + (1 - w) / m* with
w = e / (e + (z / 4)^2), where e = (sum x_c)^2 / sum x_c^2 counts the clusters with errors. The
lower limit looks at errors, the upper one at correct rows.
"""

from collections import Counter

import numpy as np
import polars as pl
import pytest
from scipy import stats

import balframe as bf
from balframe.stats.constrained_mle import score_statistic, skewness_corrected_statistic
from balframe.stats.mean_recall import invert_score_test
from tests.support.frames.clustered_rows import NOTHING, ask, close, drawn, each_seed, limits, rows
from tests.support.oracles import clusters as loops

Z = stats.norm.isf(0.025)


def doubted(n, m_star, clusters):
    """Take rows away, from n; `clusters` has the cluster of each error."""
    held = Counter(clusters).values()
    e = sum(held) ** 2 / sum(one**2 for one in held) if held else 0
    w = e / (e + (Z / 4) ** 2)
    return 1 / (w / n + (1 - w) / m_star) if n > m_star else n


def clopper_pearson(p, n, tail=0.025):
    return stats.beta.ppf(tail, p * n, n - p * n + 1) if p > 0 else 0


def of_proportion(labels):
    found, ((_, values),) = loops.mean(labels), labels
    (n,), (p,), fewer = found.n_eff, found.p, (Z / found.quantile) ** 2
    ends = []
    for share, value in ((p, 0), (1 - p, 1)):
        left = doubted(n, found.m_star, [c for c, v in values if v == value])
        least = min(left, n, found.m_star)
        ends.append(clopper_pearson(share, max(left * fewer, least)))
    return ends[0], 1 - ends[1]


@each_seed
def test_limits_of_proportions_equal_loops_over_clusters(seed):
    rules = ["accuracy >= 0.5", "precision >= 0.5", "f1 >= 0.5"]

    result = ask(bf.check, drawn(seed), rules=rules, adjust=None)

    for accuracy, precision, f1 in zip(*(result[i::3] for i in range(3)), strict=True):
        own = rows(drawn(seed).filter(g=accuracy["g"]))
        assert limits(accuracy) == close(of_proportion(loops.right(own)))
        assert limits(precision) == close(of_proportion(loops.precision(own)))
        assert limits(f1) == close(loops.doubled(of_proportion(loops.jaccard(own))))
        found = loops.mean(loops.right(own))
        design = [accuracy[name] for name in ("effective_clusters", "design_effect", "n_clusters")]
        assert design == close([found.m_star, found.design_effect, len({c for c, *_ in own})])


@each_seed
def test_limits_of_means_of_recalls_equal_loops_over_clusters(seed):
    result = ask(bf.check, drawn(seed), rules="uar >= 0.5", adjust=None)

    for row in result:
        labels = loops.recalls(rows(drawn(seed).filter(g=row["g"])))
        found, ends = loops.mean(labels), []
        for value in (0, 1):
            p = np.array(found.p) if value == 0 else 1 - np.array(found.p)
            left, floor = [], []
            for n, (_, values) in zip(found.n_eff, labels, strict=True):
                held = Counter(c for c, _ in values).values()
                m_star = 1 / sum((one / len(values)) ** 2 for one in held)
                left.append(doubted(n, m_star, [c for c, v in values if v == value]))
                floor.append(min(n, m_star))
            lower = [lowest(p, n, q) for n, q in ((left, found.quantile), (floor, Z))]
            ends.append(max(lower))
        assert limits(row) == close((ends[0], 1 - ends[1]))


def lowest(p, n, quantile):
    """Give the lower limit that score or skewness-corrected score does not reject."""
    columns = (np.array([values]) for values in (p * n, n, [0.5, 0.5]))
    lower, _ = invert_score_test(*columns, quantile, score_statistic, skewness_corrected_statistic)
    return lower[0]


def skewness_beyond_a_proportion(found, n):
    share, u = (1 + found.value) / 2, found.u.values()
    skewness = sum(one**3 for one in u) / sum(one**2 for one in u) ** 1.5
    return abs(skewness - (1 - 2 * share) / np.sqrt(n * share * (1 - share)))


@pytest.mark.parametrize("name", ["cohen_kappa", "mcc"])
def test_limits_of_kappa_and_mcc_equal_loops_over_clusters(name):
    frame = drawn(1, rows=240)

    result = ask(bf.check, frame, rules=f"{name} >= 0.5", adjust=None)

    for row in result:
        own = rows(frame.filter(g=row["g"]))
        found = loops.agreement(name, own)
        n = (1 - found.value**2) / max(found.v, found.of_rows)
        excess = skewness_beyond_a_proportion(found, n)
        assert excess < 0.25
        tail = stats.norm.sf(Z + excess * (2 * Z * Z + 1) / 6)
        fewer = (Z / stats.t.isf(0.025, found.df)) ** 2
        ends = []
        for share, is_error in (((1 + found.value) / 2, True), ((1 - found.value) / 2, False)):
            clusters = [c for c, true, predicted in own if (true != predicted) == is_error]
            left = doubted(n, found.m_star, clusters) * fewer
            ends.append(2 * clopper_pearson(share, left, tail) - 1)
        assert limits(row) == close((ends[0], -ends[1]))


@pytest.mark.parametrize("name", ["cohen_kappa", "mcc"])
def test_kappa_and_mcc_have_no_limits_where_few_clusters_carry_them(name):
    # thirty clusters of ten rows, of which one has all rows of the rarer label that are right
    truth = [1] * 6 + [0] * 4 + ([0] * 9 + [1]) * 29
    predicted = [1] * 6 + [0] * 4 + [0] * 290
    frame = pl.DataFrame({"y": truth, "p": predicted, "c": [row // 10 for row in range(300)]})

    out = bf.check(frame, "y", "p", rules=f"{name} >= 0.5", cluster="c")

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


def test_a_baseline_model_in_clusters_has_the_limits_of_compare():
    frame, rule = drawn(2), "accuracy >= baseline - 0.5"
    compared = ask(bf.compare, frame, ["p", "q"], metrics="accuracy")

    result = ask(bf.check, frame, rules=rule, baseline="q", adjust=None)

    names = ("lower", "upper", "n_clusters", "effective_clusters", "design_effect")
    for row, other in zip(result, compared, strict=True):
        assert [row[name] for name in names] == close([other[name] for name in names])
