"""The figures of the pages: they draw, and hold the values that their captions claim."""

import re
from functools import cache
from inspect import getmembers, getmodule, isfunction
from math import sqrt
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

from balframe.stats.mean_recall import score_limits
from docs.generators import figure_data, figures

pytestmark = pytest.mark.any_version

SITE = Path(__file__).parents[2] / "docs" / "pages"
PAGES = SITE / "explanations"
FIGURES = {
    name: function
    for name, function in getmembers(figures, isfunction)
    if getmodule(function) is figures and not name.startswith("_")
}


@cache
def chart(name):
    """Draw a figure once, for all tests that look at it."""
    return FIGURES[name]()


def rows(name, column):
    """Give the rows that a figure draws, from the data set that has this column."""
    (found,) = (data for data in chart(name).to_dict()["datasets"].values() if column in data[0])
    return found


def series(name, column, score, value="value"):
    """Give the values of one of a figure's series."""
    return [row[value] for row in rows(name, column) if row[column] == score]


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_drawn_without_a_network(name, tmp_path):
    path = tmp_path / "figure.png"
    chart(name).save(path)
    picture = path.read_bytes()
    width, height = (int.from_bytes(picture[at : at + 4], "big") for at in (16, 20))
    assert picture.startswith(b"\x89PNG")
    assert 500 <= width <= 620
    assert 200 <= height <= 420


def test_every_figure_is_used_once_and_has_a_caption():
    markers = [
        marker
        for page in SITE.rglob("*.md")
        for marker in re.findall(r"<!-- figure: (\w+) \| ([^|\n]+\.) -->", page.read_text())
    ]
    assert sorted(name for name, _ in markers) == sorted(FIGURES)


def test_means_equal_the_arithmetic_and_geometric_mean_of_recalls():
    data = rows("two_means", "geometric_mean")
    assert len(data) == 26 * 26
    for row in data:
        recall, specificity = row["recall"], row["specificity"]
        assert row["balanced_accuracy"] == pytest.approx((recall + specificity) / 2, abs=6e-5)
        assert row["geometric_mean"] == pytest.approx(sqrt(recall * specificity), abs=6e-5)
        if recall == specificity:
            assert row["geometric_mean"] == pytest.approx(row["balanced_accuracy"], abs=1e-4)


def test_coenen_figure_has_the_published_values():
    published = [0, 90, 91, 90.67, 90, 89.2, 88.33, 87.43, 86.5, 85.56]
    found = series("coenen", "score", "normalised accuracy")
    assert [round(100 * value, 2) for value in found] == published
    accuracies = series("coenen", "score", "accuracy")
    assert [round(100 * value) for value in accuracies] == [100, 95, 94, 93, 92, 91, 90, 89, 88, 87]


def test_uninformative_score_has_balanced_accuracy_near_one_half():
    balanced = series("over_thresholds", "model", "uninformative", "balanced_accuracy")
    band = 1.358 / 2 * sqrt(1 / 400 + 1 / 3600)
    assert len(balanced) == 51
    assert all(abs(value - 0.5) < band for value in balanced)
    accuracy = series("over_thresholds", "model", "uninformative", "accuracy")
    for step, value in enumerate(accuracy):
        threshold = step / 50
        assert value == pytest.approx(0.1 * (1 - threshold) + 0.9 * threshold, abs=0.03)


def test_informative_score_has_the_expected_best_balanced_accuracy():
    balanced = series("over_thresholds", "model", "informative", "balanced_accuracy")
    # two normal distributions 2 apart: the best rule has both recalls Phi(1) = 0.841
    assert max(balanced) == pytest.approx(0.841, abs=0.036)
    assert balanced[0] == balanced[-1] == 0.5


def test_majority_classifier_scores_its_share_or_one_half():
    for row in rows("majority", "prevalence"):
        prevalence = row["prevalence"]
        claimed = {"accuracy": max(prevalence, 1 - prevalence), "balanced accuracy": 0.5}
        assert row["value"] == pytest.approx(claimed[row["score"]])


def test_limits_that_exclude_the_true_value_are_marked():
    data = rows("repetitions", "sample")
    missed = [row for row in data if not row["balanced_accuracy_lower"] <= 0.8]
    missed += [row for row in data if not row["balanced_accuracy_upper"] >= 0.8]
    assert {row["sample"] for row in missed} == {
        row["sample"] for row in data if row["limits"] == "misses it"
    }
    assert f"In {len(missed)} of the 100, the" in (PAGES / "intervals.md").read_text()


def test_wald_limits_have_low_coverage_for_few_rows():
    of_score = series("coverage_by_support", "limits", "score", "coverage")
    wald = series("coverage_by_support", "limits", "Wald", "coverage")
    assert wald[0] <= 1 - (0.9 * 0.95) ** 3  # all three of each right: limits of no width
    assert max(wald) < 0.95
    assert 0.93 < min(of_score) < max(of_score) < 0.99


def test_exact_coverage_equals_that_of_simulated_samples():
    rng, n, recalls = np.random.default_rng(3), 8, np.array([0.9, 0.95])
    x = rng.binomial(n, recalls, (20_000, 2)).astype(float)
    low, high = score_limits(x, np.full_like(x, n), np.full_like(x, 0.5), 0.95)
    p = x / n
    wald = stats.norm.ppf(0.975) * np.sqrt((p * (1 - p)).sum(axis=1) / n) / 2
    held = (low <= 0.925) & (high >= 0.925), abs(p.mean(axis=1) - 0.925) <= wald
    exact = figure_data.coverage_at(n, (0.9, 0.95))
    for method, simulated in zip(("score", "Wald"), held, strict=True):
        assert exact[method] == pytest.approx(simulated.mean(), abs=4 * sqrt(0.25 / 20_000))


def test_limits_in_the_figure_equal_those_of_gaps_and_disparity():
    drawn = figure_data.equal_segments(6, 3)
    differences, naive, held = figure_data.extremes_of(drawn)
    options = {"by": "segment", "counts": "n", "metrics": "balanced_accuracy"}
    for sample in range(3):
        segments = drawn.filter(pl.col("sample") == sample)
        frame = figure_data.counted(segments, (50, pl.col("hits")), (50, pl.col("rejections")))
        (out,) = frame.bal.disparity("y", "yhat", detail=True, **options).rows(named=True)
        assert differences[sample] == pytest.approx(out["difference"])
        assert held[sample] == pytest.approx(out["lower"])
        best, worst = out["highest_segment"], out["lowest_segment"]
        pair = frame.filter(pl.col("segment").is_in([best, worst]))
        gaps = pair.bal.gaps("y", "yhat", reference=worst, detail=True, **options)
        assert gaps.filter(pl.col("segment") == best)["lower"].item() == pytest.approx(
            naive[sample]
        )


def test_false_alarms_of_equal_segments_match_the_page():
    page = " ".join((PAGES / "comparisons.md").read_text().split())
    assert "about a third of samples at 6 segments, and in practically all at 100" in page
    shares = {
        row["segments"]: row["share"]
        for row in rows("extremes", "share")
        if row["limits"] == "of the pair alone"
    }
    assert shares[6] == pytest.approx(1 / 3, abs=4 * sqrt(0.25 / 600))
    assert shares[100] > 0.99


def test_spread_of_equal_segments_matches_the_page():
    median = {row["segments"]: row["median"] for row in rows("extremes", "median")}
    # the range of 6 and of 100 standard normal draws is 2.5 and 5.0 on average
    spread = sqrt(2 * 0.8 * 0.2 / 50) / 2
    assert median[6] == pytest.approx(2.5 * spread, abs=0.01)
    assert median[100] == pytest.approx(5.0 * spread, abs=0.01)
    page = " ".join((PAGES / "comparisons.md").read_text().split())
    assert "are typically 0.10 apart, and those of a hundred such segments 0.20" in page


def test_simultaneous_limits_exclude_0_in_about_5_percent():
    shares = series("extremes", "limits", "of disparity", "share")
    assert len(shares) == 7
    assert max(shares) < 0.05 + 3 * sqrt(0.05 * 0.95 / 600)


def test_demanded_false_positive_rates_follow_from_published_counts():
    positives, false_alarms = 1369 + 532 + 505 + 461, 805 + 349
    groups = {row["race"]: row for row in rows("base_rates", "race")}
    published = {"African-American": (1369, 805, 990, 532), "Caucasian": (505, 349, 1139, 461)}
    for race, (tp, fp, tn, fn) in published.items():
        # p / (1 - p) * (1 - PPV) / PPV * (1 - FNR), where the last two are FP / P of both groups
        demanded = (tp + fn) / (fp + tn) * false_alarms / positives
        assert groups[race]["demanded"] == pytest.approx(demanded)
        assert groups[race]["false_positive_rate"] == pytest.approx(fp / (fp + tn))
