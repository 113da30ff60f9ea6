import itertools

import numpy as np
import polars as pl
import pytest
from constructors import assert_table, plain
from scipy import stats
from sklearn import metrics as sk

import balframe as bf

COLUMNS = ["lowest", "highest", "difference", "difference_lower", "difference_upper"]
COLUMNS += ["ratio", "ratio_lower", "ratio_upper", "n_segments", "n_left_out"]
COLUMNS += ["statistic", "df", "p_value"]
SCORES = {
    "accuracy": sk.accuracy_score,
    "balanced_accuracy": sk.balanced_accuracy_score,
    "recall": sk.recall_score,
    "precision": sk.precision_score,
    "f1": sk.f1_score,
    "f1_macro": lambda *a, **w: sk.f1_score(*a, average="macro", **w),
    "cohen_kappa": sk.cohen_kappa_score,
    "matthews_corrcoef": sk.matthews_corrcoef,
    "hamming_loss": sk.hamming_loss,
}
PARTS = {  # hits and rows out of tp, fn, fp, tn
    "accuracy": lambda tp, fn, fp, tn: (tp + tn, tp + fn + fp + tn),
    "recall": lambda tp, fn, fp, tn: (tp, tp + fn),
    "false_positive_rate": lambda tp, fn, fp, tn: (fp, fp + tn),
    "precision": lambda tp, fn, fp, tn: (tp, tp + fp),
    "selection_rate": lambda tp, fn, fp, tn: (tp + fp, tp + fn + fp + tn),
}
FOUR = {"a": (60, 20, 15, 55), "b": (75, 15, 33, 47), "c": (41, 42, 36, 80), "d": (90, 30, 31, 50)}


def random_frame(seed=0, rows=700):
    rng = np.random.default_rng(seed)
    y, right = rng.integers(0, 2, rows), rng.random((2, rows)) < 0.7
    p, q = (np.where(hit, y, rng.integers(0, 2, rows)) for hit in right)
    g, sex = (rng.choice([None, *values], rows).tolist() for values in ("abcd", "fm"))
    w = rng.random(rows) + 0.1
    return pl.DataFrame({"g": g, "sex": sex, "y": y, "p": p, "q": q, "w": w})


def table(**segments):
    """Write tp, fn, fp, tn of each segment as counted rows."""
    g, size = np.repeat([*segments], 4).tolist(), len(segments)
    n = [count for counts in segments.values() for count in counts]
    return {"g": g, "y": [1, 1, 0, 0] * size, "p": [1, 0, 1, 0] * size, "n": n}


def disparity(metrics, segments, **options):
    """Compare the segments of a table; rows as dicts."""
    options |= {"by": "g", "metrics": metrics, "counts": "n"}
    return bf.disparity(pl.DataFrame(table(**segments)), "y", "p", **options).to_dicts()


def values_of(row, names=COLUMNS):
    return [row[name] for name in names]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("weight", [None, "w"])
def test_the_extremes_are_those_of_a_loop_with_scikit_learn(seed, weight):
    frame = random_frame(seed)
    out = bf.disparity(frame, "y", "p", by="g", metrics=[*SCORES], sample_weight=weight)
    assert out.columns == ["metric", "lowest_g", "highest_g", *COLUMNS]
    assert out["metric"].to_list() == [*SCORES]
    parts = sorted(frame.group_by("g"), key=lambda one: -len(one[1]))
    for row in out.to_dicts():
        values = {}
        for (g,), part in parts:
            weights = {"sample_weight": part["w"]} if weight else {}
            values[g] = SCORES[row["metric"]](part["y"], part["p"], **weights)
        low, high = min(values, key=values.get), max(values, key=values.get)
        assert values_of(row, ["lowest_g", "highest_g"]) == [low, high]
        found = values_of(row, ["lowest", "highest", "difference", "ratio"])
        low, high = values[low], values[high]
        expected = [low, high, high - low, low / high if low >= 0 else None]
        assert found == pytest.approx(expected, rel=1e-12)
        assert values_of(row, ["n_segments", "n_left_out", "df"]) == [5, 0, 4]


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("weight", [None, "w"])
def test_limits_come_from_limits_of_all_segments_that_hold_together(level, weight):
    frame, names = random_frame(5), ["accuracy", "uar", "recall", "f1", "kappa", "geometric_mean"]
    names += ["adjusted_balanced_accuracy"]
    options = {"by": "g", "metrics": names, "sample_weight": weight}
    together = {"interval": True, "level": 1 - (1 - level) / 5}
    limits = bf.report(frame, "y", "p", **together, **options)
    for row in bf.disparity(frame, "y", "p", level=level, **options).to_dicts():
        low, high = (limits[f"{row['metric']}_{end}"] for end in ("lower", "upper"))
        difference = [max(low.max() - high.min(), 0), high.max() - low.min()]
        assert values_of(row, COLUMNS[3:5]) == pytest.approx(difference, abs=1e-12)
        if low.min() < 0:
            assert values_of(row, COLUMNS[6:8]) == [None, None]
        else:
            ratio = [low.min() / high.max(), min(high.min() / low.max(), 1)]
            assert values_of(row, COLUMNS[6:8]) == pytest.approx(ratio, abs=1e-12)


def test_metrics_without_an_interval_have_no_limits():
    for row in disparity(["f1_macro", "positive_likelihood_ratio", "no_information_rate"], FOUR):
        assert 0 < row["ratio"] < 1
        names = [f"{name}_{end}" for name in ("difference", "ratio") for end in ("lower", "upper")]
        assert values_of(row, names) == [None] * 4


@pytest.mark.parametrize("metric", PARTS)
def test_whether_proportions_are_alike_is_pearsons_chi_square(metric):
    parts = np.array([PARTS[metric](*counts) for counts in FOUR.values()])
    hits, rows = parts.T
    expected = stats.chi2_contingency(np.array([hits, rows - hits]), correction=False)
    (row,) = disparity(metric, FOUR)
    assert row["statistic"] == pytest.approx(expected.statistic, rel=1e-12)
    assert (row["df"], row["p_value"]) == (3, pytest.approx(expected.pvalue, rel=1e-9))


@pytest.mark.parametrize(
    ("metric", "class_weight", "shares"),
    [
        ("balanced_accuracy", None, (1 / 2, 1 / 2)), ("informedness", None, (1 / 2, 1 / 2)),
        ("weighted_balanced_accuracy", {1: 1, 0: 3}, (1 / 4, 3 / 4)),
    ],
)  # fmt: skip
def test_whether_means_of_recalls_are_alike(metric, class_weight, shares):
    counts, shares = np.array([*FOUR.values()]), np.array(shares)
    hits = counts[:, [0, 3]]
    rows = hits + counts[:, [1, 2]]
    pooled = hits.sum(axis=0) / rows.sum(axis=0)
    weight = 1 / (shares**2 * pooled * (1 - pooled) / rows).sum(axis=1)
    means = (shares * hits / rows).sum(axis=1)
    statistic = (weight * (means - np.average(means, weights=weight)) ** 2).sum()
    (row,) = disparity(metric, FOUR, class_weight=class_weight)
    assert row["statistic"] == pytest.approx(statistic, rel=1e-12)
    assert row["p_value"] == pytest.approx(stats.chi2.sf(statistic, 3), rel=1e-12)


def test_the_p_value_needs_10_rows_of_every_label():
    for support, is_null in ((9, True), (10, False)):
        few = {**FOUR, "d": (support - 2, 2, 31, 50)}
        rows = disparity(["recall", "uar", "false_positive_rate"], few)
        assert [row["p_value"] is None for row in rows] == [is_null, is_null, False]
        assert all(row["statistic"] > 0 for row in rows)
    (row,) = disparity("recall", {"a": (10, 0, 1, 1), "b": (12, 0, 1, 1)})
    assert values_of(row, ["statistic", "df", "p_value"]) == [0, 1, 1]


def test_metrics_that_are_not_linear_in_recalls_have_no_statistic():
    for row in disparity(["f1", "kappa", "mcc", "geometric_mean", "f1_macro"], FOUR):
        assert values_of(row, ["statistic", "df", "p_value"]) == [None, 3, None]
        assert row["difference"] > 0


def test_the_ratio_of_scores_below_0_or_to_0_is_null():
    (row,) = disparity("mcc", {"a": (8, 2, 2, 8), "b": (2, 8, 8, 2)})
    assert values_of(row, COLUMNS[:3]) == pytest.approx([-0.6, 0.6, 1.2], abs=1e-12)
    assert values_of(row, COLUMNS[5:8]) == [None] * 3
    (row,) = disparity("recall", {"a": (0, 8, 2, 8), "b": (0, 5, 8, 2)})
    assert values_of(row, COLUMNS[:3]) == [0, 0, 0]
    assert values_of(row, COLUMNS[5:8]) == [None] * 3


@pytest.mark.parametrize(
    ("metric", "min_support", "used"),
    [
        ("recall", 80, "abcd"), ("recall", 81, "bcd"), ("recall", 84, "bd"), ("recall", 1000, ""),
        ("false_positive_rate", 81, "cd"), ("precision", 108, "bd"), ("accuracy", 171, "cd"),
        ("balanced_accuracy", 80, "bcd"), ("geometric_mean", 81, "cd"), ("kappa", 200, "d"),
    ],
)  # fmt: skip
def test_segments_of_too_few_rows_are_left_out_and_counted(metric, min_support, used):
    (row,) = disparity(metric, FOUR, min_support=min_support)
    assert values_of(row, ["n_segments", "n_left_out"]) == [len(used), 4 - len(used)]
    if used:
        (alone,) = disparity(metric, {g: FOUR[g] for g in used})
        names = [name for name in alone if name != "n_left_out"]
        assert values_of(row, names) == values_of(alone, names)
    if len(used) < 2:
        assert values_of(row, COLUMNS[2:8]) == [None] * 6
        assert values_of(row, COLUMNS[10:]) == [None, 0, None]
    if not used:
        assert values_of(row, ["lowest_g", "highest_g", *COLUMNS[:2]]) == [None] * 4


def test_a_segment_that_lacks_a_label():
    segments = {"a": (9, 1, 6, 4), "b": (7, 3, 8, 2), "c": (19, 1, 0, 0)}
    for metric in ("balanced_accuracy", "geometric_mean"):
        (row,) = disparity(metric, segments)
        assert values_of(row, ["lowest_g", "highest_g", "n_segments", "n_left_out"]) == [
            *"ba",
            2,
            1,
        ]
        (row,) = disparity(metric, segments, min_support=0)
        assert values_of(row, ["lowest_g", "highest_g", "n_segments", "n_left_out"]) == [
            *"bc",
            3,
            0,
        ]
        assert row["highest"] == pytest.approx(19 / 20)
        assert values_of(row, ["statistic", "p_value"]) == [None, None]  # of unequal labels
    for min_support in (0, 1):
        (row,) = disparity("false_positive_rate", segments, min_support=min_support)
        assert values_of(row, ["lowest", "highest", "n_left_out"]) == [0.6, 0.8, 1]


def test_rows_are_counted_for_min_support_and_not_weights():
    data = {"g": [*"aaab"], "y": [1, 1, 1, 1], "p": [1, 0, 1, 1], "w": [0.1, 0.1, 0.1, 9.0]}
    options = {"by": "g", "metrics": "recall", "sample_weight": "w", "min_support": 2}
    row = bf.disparity(pl.DataFrame(data), "y", "p", **options).row(0, named=True)
    assert values_of(row, ["lowest_g", "n_segments", "n_left_out"]) == ["a", 1, 1]


def test_of_several_extremes_the_one_with_the_most_rows_and_then_the_first():
    segments = {"a": (1, 1, 1, 1), "b": (2, 2, 2, 2), "c": (4, 0, 4, 4), "d": (8, 0, 0, 4)}
    segments |= {"e": (2, 2, 2, 2), "f": (8, 0, 4, 0)}
    (row,) = disparity("recall", segments)
    assert values_of(row, ["lowest_g", "highest_g"]) == ["b", "c"]


def test_extremes_within_each_margin_and_model():
    frame = random_frame(7)
    options = {"by": ["g", "sex"], "metrics": ["accuracy", "uar"], "margins": "all"}
    out = bf.disparity(frame, "y", ["q", "p"], **options)
    segments = [f"{end}_{name}" for end in ("lowest", "highest") for name in ("g", "sex")]
    assert out.columns == ["margin", "model", "metric", *segments, *COLUMNS]
    keys = itertools.product(["g, sex", "g", "sex", "overall"], "qp", ["accuracy", "uar"])
    assert out.select("margin", "model", "metric").rows() == [*keys]
    assert out["n_segments"].to_list() == [*np.repeat([15, 5, 3, 1], 4)]
    for row in out.to_dicts():
        by = [] if row["margin"] == "overall" else row["margin"].split(", ")
        scores = bf.report(frame, "y", row["model"], by=by or None, metrics=row["metric"])
        scores = scores.sort(row["metric"]).to_dicts()
        for end, extreme in (("lowest", scores[0]), ("highest", scores[-1])):
            assert row[end] == pytest.approx(extreme[row["metric"]], rel=1e-12)
            names = values_of(row, [f"{end}_g", f"{end}_sex"])
            assert names == [extreme.get(name) for name in ("g", "sex")]


def test_where_a_score_is_undefined_the_segment_is_left_out():
    (row,) = disparity("recall", {"a": (8, 2, 2, 8), "b": (0, 0, 5, 5), "c": (6, 4, 3, 7)})
    assert values_of(row, ["lowest_g", "highest_g", "n_segments", "n_left_out"]) == [*"ca", 2, 1]
    (row,) = disparity("recall", {"a": (0, 0, 2, 8), "b": (0, 0, 5, 5)})
    names = ["lowest_g", "highest_g", *COLUMNS]
    assert values_of(row, names) == [*[None] * 10, 0, 2, None, 0, None]


SEGMENT_VERBS = pytest.mark.parametrize(
    ("verb", "options"),
    [
        (bf.gaps, {}), (bf.gaps, {"reference": "overall"}), (bf.gaps, {"reference": "best"}),
        (bf.gaps, {"reference": {"g": None, "sex": "f"}}),
        (bf.disparity, {"min_support": 20}), (bf.fairness, {"min_support": 20}),
    ],
)  # fmt: skip


@SEGMENT_VERBS
def test_segments_compare_the_same_everywhere(constructor, verb, options):
    data = random_frame(8).to_dict(as_series=False)
    options = {"by": ["g", "sex"], "margins": "all", "sample_weight": "w", **options}
    expected = verb(pl.DataFrame(data), "y", ["q", "p"], **options)
    frame = constructor(data)
    out = verb(frame, "y", ["q", "p"], **options)
    assert type(out) is type(frame)
    assert_table(out, plain(expected))
    assert plain(frame) == data
    assert plain(verb(constructor(data)[:0], "y", ["q", "p"], **options))["model"] == []


@SEGMENT_VERBS
@pytest.mark.parametrize("weight", [None, "w"])
def test_cells_compare_as_their_rows_do(verb, options, weight):
    frame, options = random_frame(9), {"by": ["g", "sex"], **options}
    cells = bf.confusion(frame, "y", "p", by=["g", "sex"], sample_weight=weight)
    out = verb(cells, "y", "p", cells=True, **options)
    assert_table(out, plain(verb(frame, "y", "p", sample_weight=weight, **options)))


@pytest.mark.parametrize("verb", [bf.gaps, bf.disparity, bf.fairness])
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"by": None}, "by= names no column; {verb} compares"),
        ({"by": []}, "by= names no column; {verb} compares"),
        ({"level": 95}, "level=95 has to be a number between 0 and 1"),
    ],
)
def test_what_cannot_be_used_raises(verb, options, words):
    with pytest.raises(bf.InvalidInputError, match=words.format(verb=verb.__name__)):
        verb(random_frame(1, 50), "y", "p", **{"by": "g", **options})


@pytest.mark.parametrize("verb", [bf.disparity, bf.fairness])
@pytest.mark.parametrize("min_support", [-1, 1.5, True, None, "1"])
def test_a_support_is_a_count_of_rows(verb, min_support):
    with pytest.raises(bf.InvalidInputError, match=r"min_support=.* has to be a count of rows"):
        verb(random_frame(1, 50), "y", "p", by="g", min_support=min_support)
