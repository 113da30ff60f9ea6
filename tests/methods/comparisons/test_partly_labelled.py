"""Differences of segments of which only some rows have a true label."""

from itertools import product

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import balframe as bf
from balframe.core.strata import Strata
from balframe.metrics.partly_labelled import PARTLY_LABELLED
from balframe.stats.constrained_mle import WeightedBinomials
from balframe.stats.partly_labelled_differences import share_differences
from tests.support.cases import cases
from tests.support.constructors import assert_table, each_constructor, plain
from tests.support.frames.partly_labelled import answers, three_labels

OPTIONS = {"by": "category", "missing": "correct"}
DOUBT, BOUNDS = {"missing": bf.correct(doubt=1.5)}, {"missing": "bounds"}


def strata(rows, labelled, right):
    return Strata(*(np.array([values], float) for values in (rows, labelled, right)), np.zeros(1))


def score_of_difference(first, second, d):
    """Compute the score statistic of a difference in a loop over a grid of its shares."""
    share, variance, theta = [], 0.0, []
    x = [*first[2], *(n - right for n, right in zip(second[1], second[2], strict=True))]
    n, rows = [*first[1], *second[1]], [first[0], second[0]]
    a = [value / sum(side) / 2 for side in rows for value in side]
    c = WeightedBinomials.of(*(np.array([values], float) for values in (x, n, a)))
    _, p = c.constrained_mle(np.array([(1 + d) / 2]))
    p = p[:, 0]
    variance = sum(w * w * q * (1 - q) / k for w, q, k in zip(a, p, n, strict=True))
    for side, shares in zip(rows, np.split(p, [len(first[0])]), strict=True):
        total = sum(side)
        theta = sum(k * q for k, q in zip(side, shares, strict=True)) / total
        deviations = zip(side, shares, strict=True)
        variance += sum(k / total * (q - theta) ** 2 for k, q in deviations) / total / 4
    share = sum(w * k / m for w, k, m in zip(a, x, n, strict=True))
    return (share - (1 + d) / 2) / variance**0.5


def test_limits_of_a_difference_are_where_a_score_statistic_is_the_quantile():
    first, second = ([760, 240], [40, 20], [34, 9]), ([300, 500], [60, 25], [30, 15])
    (lower, upper), p = share_differences(strata(*first), strata(*second), 0.95)

    at_limits = [score_of_difference(first, second, limit) for limit in (lower[0], upper[0])]
    assert at_limits[0] >= 1.959964 - 1e-5
    assert at_limits[1] <= -1.959964 + 1e-5
    assert min(at_limits[0], -at_limits[1]) == pytest.approx(1.959964, abs=0.1)
    assert (p[0] < 0.05) == (lower[0] > 0 or upper[0] < 0)


@cases("metric", PARTLY_LABELLED)
def test_gaps_are_those_of_today_if_all_rows_have_a_label(metric):
    rows = answers(900, share=1.1)
    expected = bf.gaps(rows, "human", "judge", by="category", metrics=metric)
    out = bf.gaps(rows, "human", "judge", metrics=metric, **OPTIONS)

    assert_table(out, plain(expected), close=1e-12)
    expected = bf.disparity(rows, "human", "judge", by="category", metrics=metric)
    out = bf.disparity(rows, "human", "judge", metrics=metric, **OPTIONS)
    assert_table(out, plain(expected), close=1e-12)


@cases("metric", PARTLY_LABELLED)
@pytest.mark.parametrize("missing", [bf.correct("judge"), bf.correct("judge", doubt=1.2), "bounds"])
def test_two_segments_have_one_difference_one_interval_and_one_p_value(metric, missing):
    rows = answers(4000, share=0.96 if missing == "bounds" else 0.15)
    options = {"metrics": metric, "by": "category", "missing": missing}
    gap = bf.gaps(rows, "human", "model", adjust=None, **options)
    extremes = bf.disparity(rows, "human", "model", **options)

    higher = gap.filter(pl.col("difference") > 0)
    assert extremes["difference"].item() == pytest.approx(higher["difference"].item())
    assert extremes["upper"].item() == pytest.approx(gap["upper"].max(), abs=1e-7)
    assert extremes["lower"].item() == pytest.approx(max(higher["lower"].item(), 0), abs=1e-7)
    assert extremes["p_value"].item() == pytest.approx(gap["p_adjusted"][0], abs=1e-6)


@cases("level", [0.8, 0.95, 0.999])
@pytest.mark.parametrize("more", [{}, DOUBT, BOUNDS])
def test_p_values_are_below_alpha_exactly_where_limits_exclude_0(level, more):
    metrics = ["accuracy", "recall", "balanced_accuracy", "prevalence", "selection_rate"]
    differs, options = [], {"metrics": metrics, "adjust": None, **OPTIONS, **more}
    for seed in range(3):
        rows = answers(3000, seed=seed, share=0.96 if more is BOUNDS else 0.3).with_columns(
            model=pl.when(pl.col("category") == "code").then("model").otherwise("truth")
        )
        out = bf.gaps(rows, "human", "model", level=level, **options)
        for lower, upper, p in out.select("lower", "upper", "p_adjusted").iter_rows():
            differs.append(lower > 0 or upper < 0)
            assert differs[-1] == (p < 1 - level)
    assert 0 < sum(differs) < len(differs)


@each_constructor
def test_every_library_gives_the_same(constructor):
    rows = answers(900, share=0.5)
    frame = constructor(rows.drop("truth").to_dict(as_series=False))
    for method, metric in ((bf.gaps, "accuracy"), (bf.disparity, "recall")):
        options = {"metrics": metric, "by": "category", "missing": bf.correct("judge")}
        expected = method(rows, "human", "model", **options)
        out = method(frame, "human", "model", backend="polars", **options)
        assert_frame_equal(out, expected)


@pytest.mark.filterwarnings("ignore:in . of")
def test_a_segment_is_compared_with_all_rows_of_the_others():
    rows = answers(3000, share=0.2).with_columns(
        category=pl.Series(["a", "b", "c"] * 1000), other=pl.Series(["a", "not", "not"] * 1000)
    )
    options = {"missing": bf.correct("category"), "metrics": "accuracy"}
    out = bf.gaps(rows, "human", "judge", by="category", **options)
    two = bf.gaps(rows, "human", "judge", by="other", **options)

    columns = ["estimate", "difference", "lower", "upper", "n"]
    assert_frame_equal(out[:1].select(columns), two[:1].select(columns))


def test_segments_without_labels_in_a_stratum_are_null_and_left_out():
    rows = answers(3000, share=0.2).with_columns(category=pl.Series(["a", "b", "c"] * 1000))
    rows = rows.with_columns(
        human=pl.when(~((pl.col("category") == "c") & (pl.col("judge") == 0))).then("human"),
    )
    with pytest.warns(bf.BalframeWarning, match="in 1 of 3 segments"):
        gap = bf.gaps(rows, "human", "judge", metrics="accuracy", reference="largest", **OPTIONS)
    with pytest.warns(bf.BalframeWarning, match="in 1 of 3 segments"):
        extremes = bf.disparity(rows, "human", "judge", metrics="accuracy", **OPTIONS)

    assert gap["estimate"].is_null().to_list() == [False, False, True]
    assert gap["p_adjusted"].is_null().to_list() == [True, False, True]
    assert extremes["n_left_out"].item() == 1


@pytest.mark.simulation
def test_equal_segments_rarely_differ():
    rng = np.random.default_rng(97)
    n_samples, n_segments = 120, 6
    any_pair = any_gap = 0
    for _ in range(n_samples):
        truth = rng.random(6000) < 0.9
        judge = np.where(rng.random(6000) < 0.9, truth, ~truth)
        labelled = rng.random(6000) < np.where(judge, 0.05, 0.15)
        rows = pl.DataFrame(
            {
                "category": rng.integers(0, n_segments, 6000),
                "judge": judge * 1,
                "human": [y * 1 if has else None for y, has in zip(truth, labelled, strict=True)],
            }
        )
        metrics = {"metrics": "prevalence"}
        any_pair += bf.disparity(rows, "human", "judge", **metrics, **OPTIONS)["p_value"][0] < 0.05
        gap = bf.gaps(rows, "human", "judge", adjust="holm", **metrics, **OPTIONS)
        any_gap += (gap["p_adjusted"] < 0.05).any()

    assert any_pair <= 13  # of 120, where 5% are allowed
    assert any_gap <= 13


def known_in_part(seed=0):
    """Draw 60 rows of two segments, of which four have no label."""
    rng = np.random.default_rng(seed)
    truth, unknown = rng.random(60) < 0.7, np.isin(np.arange(60), [3, 20, 41, 58])
    rows = pl.DataFrame(
        {
            "category": np.where(np.arange(60) % 2 == 0, "maths", "code"),
            "judge": np.where(rng.random(60) < 0.8, truth, ~truth) * 1,
            "truth": truth * 1,
        }
    )
    return rows.with_columns(human=pl.Series(truth * 1).set(pl.Series(unknown), None)), unknown


def completed(rows, unknown):
    """Yield the rows with every choice of true labels that are unknown."""
    for labels in product([0, 1], repeat=int(unknown.sum())):
        truth = rows["human"].to_numpy().copy()
        truth[unknown] = labels
        yield rows.with_columns(human=truth.astype(int))


@cases("metric", PARTLY_LABELLED)
def test_bounds_are_those_of_all_completions(metric):
    rows, unknown = known_in_part()
    options = {"by": "category", "metrics": metric}
    every = [
        (
            bf.report(each, "human", "judge", interval=True, **options),
            bf.gaps(each, "human", "judge", reference="code", **options),
            bf.check(each, "human", "judge", rules=f"{metric} >= 0.5", by="category"),
        )
        for each in completed(rows, unknown)
    ]
    options["missing"] = "bounds"
    report = bf.report(rows, "human", "judge", **options)
    gap = bf.gaps(rows, "human", "judge", reference="code", **options)
    verdict = bf.check(
        rows, "human", "judge", rules=f"{metric} >= 0.5", by="category", missing="bounds"
    )

    for out, which, names in (
        (report, 0, (f"{metric}_lower", f"{metric}_upper")),
        (gap[1:], 1, ("lower", "upper")),
        (verdict, 2, ("lower", "upper")),
    ):
        for name, extreme in zip(names, (np.min, np.max), strict=True):
            values = [each[which][name].to_numpy()[-out.height :] for each in every]
            expected = extreme(values, axis=0)
            assert out[name].to_list() == pytest.approx(expected, abs=1e-9), name


@cases("metric", ["accuracy", "recall", "balanced_accuracy", "precision"])
def test_limits_of_a_difference_widen_with_doubt_up_to_the_bounds(metric):
    rows = answers(1000, share=0.5)
    options = {"by": "category", "metrics": metric}
    limits = [
        bf.gaps(
            rows, "human", "judge", reference="code", missing=bf.correct(doubt=doubt), **options
        )[1]
        for doubt in (None, 1.0, 1.5, 4, 1e6)
    ]
    lower, upper = ([each[name].item() for each in limits] for name in ("lower", "upper"))
    extremes = [
        bf.disparity(rows, "human", "judge", missing=bf.correct(doubt=doubt), **options)
        for doubt in (1, 1.5, 4)
    ]

    assert lower[0] == pytest.approx(lower[1], abs=1e-12)
    assert lower[1:] == sorted(lower[1:], reverse=True)
    assert upper[1:] == sorted(upper[1:])
    for name in ("upper", "p_value"):
        values = [each[name].item() for each in extremes]
        assert values == sorted(values), name


def test_many_segments_are_compared_with_doubt_and_bounds():
    rng = np.random.default_rng(5)
    rows = answers(9000, share=0.97).with_columns(category=pl.Series(rng.integers(0, 40, 9000)))
    rows = rows.with_columns(
        human=pl.when(pl.col("category") == 7).then(0).otherwise("human"),
    )
    p = [
        bf.disparity(rows, "human", "judge", metrics="recall", min_support=0, **{**OPTIONS, **more})
        for more in (DOUBT, BOUNDS)
    ]
    gaps = bf.gaps(rows, "human", "judge", metrics="prevalence", **{**OPTIONS, **BOUNDS})

    assert all(each["p_value"].item() > 0.5 for each in p)
    assert gaps.filter(category=7)["p_adjusted"].item() < 1e-6


def test_rules_on_differences_are_those_of_disparity():
    rows = answers(6000, share=0.3).with_columns(
        model=pl.when(pl.col("category") == "code").then("model").otherwise("truth")
    )
    for metric in ("accuracy", "recall", "balanced_accuracy"):
        for more in ({}, DOUBT, BOUNDS):
            options = {**OPTIONS, **more}
            extremes = bf.disparity(rows, "human", "model", metrics=metric, **options)
            rules = f"difference({metric}) <= 0.05"
            verdict = bf.check(rows, "human", "model", rules=rules, **options)
            columns = ["lower", "upper"]
            assert_frame_equal(verdict.select(columns), extremes.select(columns))
            lower, upper = extremes.select(columns).row(0)
            status = "fail" if lower > 0.05 else "pass" if upper <= 0.05 else "inconclusive"
            assert verdict["status"].item() == status


@cases("metric", ["recall", "balanced_accuracy", "accuracy"])
def test_a_segment_without_nulls_has_one_comparison_in_gaps_and_disparity(metric):
    rows = answers(4000, share=0.15).with_columns(
        human=pl.when(pl.col("category") == "maths").then("truth").otherwise("human")
    )
    gap = bf.gaps(rows, "human", "judge", metrics=metric, adjust=None, **OPTIONS)
    extremes = bf.disparity(rows, "human", "judge", metrics=metric, **OPTIONS)

    assert extremes["p_value"].item() == pytest.approx(gap["p_adjusted"][0], abs=1e-6)
    assert extremes["upper"].item() == pytest.approx(gap["upper"].max(), abs=1e-7)


def test_means_of_three_recalls_have_the_limits_of_today_if_all_rows_have_a_label():
    rows = three_labels().with_columns(g=pl.Series(["a", "b"] * 3000))
    options = {"by": "g", "metrics": "balanced_accuracy", "adjust": None}
    expected = bf.gaps(rows, "truth", "p", **options)
    for missing in ("correct", "bounds"):
        assert_table(bf.gaps(rows, "truth", "p", missing=missing, **options), plain(expected))
