import ast
import itertools
from functools import cache

import numpy as np
import polars as pl
import pytest
from sklearn import metrics as sk

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import assert_table, each_constructor, head, plain
from tests.support.frames.segment_counts import FOUR, disparity, random_frame, table, values_of
from tests.support.oracles.extremes import extreme_limits, level_of_each, mover_extremes
from tests.support.oracles.mean_recalls import effective

DIFFERENCE = ["lower", "upper"]
RATIO = ["ratio_lower", "ratio_upper"]
COLUMNS = ["difference", *DIFFERENCE, "p_value", "n_left_out", "lowest", "highest", "ratio", *RATIO]
COLUMNS += ["n_segments", "statistic", "df", "p_value_all", "p_value_recalls", "note"]
EXTREMES = ["lowest", "highest", "difference"]
FEW_ROWS = "p_value_recalls needs 10 rows in every denominator"
TOO_FEW = "fewer than two segments could be compared"
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


@cases("seed", range(3))
@cases("weight", [None, "w"])
def test_the_extremes_are_those_of_a_loop_with_scikit_learn(seed, weight):
    frame = random_frame(seed, segments="abcd")
    out = bf.disparity(
        frame, "y", "p", by="g", metrics=[*SCORES], sample_weight=weight, detail=True
    )
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


def check_ratio(row, lower, upper):
    """Compare limits of the ratio with those that come from limits of all segments."""
    if min(lower) < 0:
        assert values_of(row, RATIO) == [None, None]
    else:
        ratio = [min(lower) / max(upper), min(min(upper) / max(lower), 1)]
        assert values_of(row, RATIO) == pytest.approx(ratio, abs=1e-9)


def rows_worth(part, is_right, among, weight):
    """Count the right rows and all rows of a part, for both limits: what weights are worth."""
    if weight is None:
        return [(part.filter(is_right & among).height, part.filter(among).height)] * 2
    right, wrong = (part.filter(one & among)["w"].to_numpy() for one in (is_right, ~is_right))
    return effective(right, wrong)


@pytest.mark.thorough
@cases("level", [0.8, 0.95])
@cases("weight", [None, "w"])
def test_limits_of_means_of_recalls_equal_loops_over_pairs(level, weight):
    frame = random_frame(5, segments="abcd")
    y, p, right = pl.col("y") == 1, pl.col("p") == 1, pl.col("y") == pl.col("p")
    parts = [part for _, part in frame.group_by("g")]
    counted = {
        "accuracy": [(right, pl.lit(value=True))],
        "recall": [(p, y)],
        "balanced_accuracy": [(p, y), (~p, ~y)],
    }
    options = {"by": "g", "metrics": [*counted], "sample_weight": weight, "level": level}
    for row in bf.disparity(frame, "y", "p", detail=True, **options).to_dicts():
        sides = counted[row["metric"]]
        by_side = [
            [*zip(*(rows_worth(part, *own, weight) for own in sides), strict=True)]
            for part in parts
        ]
        lower, upper = (
            [[*zip(*of_part[side], strict=True)] for of_part in by_side] for side in (0, 1)
        )
        a = [1 / len(sides)] * len(sides)
        difference, ratio, p_value = extreme_limits(lower, a, level, upper if weight else None)
        # as exact as SciPy's quantile of the studentized range
        assert values_of(row, DIFFERENCE) == pytest.approx(difference, abs=1e-5)
        assert values_of(row, RATIO) == pytest.approx(ratio, abs=1e-5)
        assert row["p_value"] == pytest.approx(p_value, rel=1e-5)


@cases("metric", ["accuracy", "recall", "balanced_accuracy", "informedness"])
def test_limits_of_two_segments_equal_those_of_gaps(metric):
    frame = pl.DataFrame(table(a=(150, 30, 5, 4), b=(60, 30, 4, 2)))
    options = {"by": "g", "counts": "n", "metrics": metric}
    (row,) = bf.disparity(frame, "y", "p", min_support=1, detail=True, **options).to_dicts()
    gaps = bf.gaps(frame, "y", "p", reference=row["lowest_g"], detail=True, **options)
    (gap,) = gaps.filter(pl.col("g") == row["highest_g"]).to_dicts()
    expected = [gap["difference"], max(gap["lower"], 0), gap["upper"], gap["p_value"]]
    found = values_of(row, ["difference", *DIFFERENCE, "p_value"])
    assert found == pytest.approx(expected, abs=1e-12)
    excludes_equality = [row["lower"] > 0, row["ratio_upper"] < 1]
    assert excludes_equality == [row["p_value"] < 0.05] * 2


def test_limits_of_transformed_means_are_transformed():
    metrics = ["balanced_accuracy", "informedness", "recall", "false_negative_rate"]
    mean, informedness, recall, missed = disparity(metrics, FOUR)

    doubled = [2 * value for value in values_of(mean, ["difference", *DIFFERENCE])]
    assert values_of(informedness, ["difference", *DIFFERENCE]) == pytest.approx(doubled, abs=1e-12)
    assert values_of(missed, ["difference", *DIFFERENCE]) == pytest.approx(
        values_of(recall, ["difference", *DIFFERENCE])
    )
    assert mean["p_value"] == pytest.approx(informedness["p_value"], rel=1e-9)
    assert recall["p_value"] == pytest.approx(missed["p_value"], rel=1e-9)
    for row in (informedness, missed):
        assert row["ratio_lower"] < row["ratio"] < row["ratio_upper"]


@cases("metric", ["f1", "kappa", "mcc", "geometric_mean"])
def test_limits_of_other_metrics_come_from_the_limits_of_check(metric):
    def check_limits(**options):
        frame = pl.DataFrame(table(**FOUR))
        out = bf.check(
            frame, "y", "p", by="g", counts="n", rules=f"{metric} >= 0", detail=True, **options
        )
        return out["estimate"].to_list(), (out["lower"].to_list(), out["upper"].to_list())

    (row,) = disparity(metric, FOUR)
    values, simultaneous = check_limits()
    if None in simultaneous[0]:
        names = [*DIFFERENCE, *RATIO, "p_value"]
        assert values_of(row, names) == [None] * 5
        return
    _, limits = check_limits(adjust=None, level=level_of_each(0.95, 4))
    difference = mover_extremes(values, limits)
    assert values_of(row, DIFFERENCE) == pytest.approx(difference, abs=1e-5)
    assert (row["p_value"] < 0.05) == (row["lower"] > 0)
    check_ratio(row, *simultaneous)


def test_metrics_without_an_interval_have_no_limits():
    for row in disparity(["no_information_rate"], FOUR):
        assert 0 < row["ratio"] < 1
        assert values_of(row, [*DIFFERENCE, *RATIO]) == [None] * 4


def test_the_ratio_of_scores_below_0_or_to_0_is_null():
    (row,) = disparity("mcc", {"a": (8, 2, 2, 8), "b": (2, 8, 8, 2)})
    assert values_of(row, EXTREMES) == pytest.approx([-0.6, 0.6, 1.2], abs=1e-12)
    assert values_of(row, ["ratio", *RATIO]) == [None] * 3
    (row,) = disparity("recall", {"a": (0, 8, 2, 8), "b": (0, 5, 8, 2)})
    assert values_of(row, EXTREMES) == [0, 0, 0]
    assert values_of(row, ["ratio", *RATIO]) == [None] * 3


@cases(
    ("metric", "min_support", "used"),
    [
        ("recall", 80, "abcd"), ("recall", 81, "bcd"), ("recall", 84, "bd"), ("recall", 1000, ""),
        ("false_positive_rate", 81, "cd"), ("precision", 108, "bd"), ("accuracy", 171, "cd"),
        ("balanced_accuracy", 80, "bcd"), ("geometric_mean", 81, "cd"), ("kappa", 200, "d"),
    ])  # fmt: skip
def test_segments_of_too_few_rows_are_left_out_and_counted(metric, min_support, used):
    (row,) = disparity(metric, FOUR, min_support=min_support)
    assert values_of(row, ["n_segments", "n_left_out"]) == [len(used), 4 - len(used)]
    if used:
        (alone,) = disparity(metric, {g: FOUR[g] for g in used})
        names = [name for name in alone if name != "n_left_out"]
        assert values_of(row, names) == values_of(alone, names)
    if len(used) < 2:
        assert values_of(row, [*COLUMNS[:4], "ratio", *RATIO]) == [None] * 7
        assert values_of(row, COLUMNS[11:]) == [None, 0, None, None, TOO_FEW]
    if not used:
        assert values_of(row, ["lowest_g", "highest_g", "lowest", "highest"]) == [None] * 4


def test_a_segment_that_lacks_a_label_is_left_out_unless_min_support_is_0():
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
        tests = ["statistic", "p_value_all", "p_value_recalls"]
        assert values_of(row, tests) == [None] * 3  # of unequal labels
    for min_support in (0, 1):
        (row,) = disparity("false_positive_rate", segments, min_support=min_support)
        assert values_of(row, ["lowest", "highest", "n_left_out"]) == [0.6, 0.8, 1]


def test_min_support_counts_rows_and_not_weights():
    data = {"g": [*"aaab"], "y": [1, 1, 1, 1], "p": [1, 0, 1, 1], "w": [0.1, 0.1, 0.1, 9.0]}
    options = {"by": "g", "metrics": "recall", "sample_weight": "w", "min_support": 2}
    row = bf.disparity(pl.DataFrame(data), "y", "p", detail=True, **options).row(0, named=True)
    assert values_of(row, ["lowest_g", "n_segments", "n_left_out"]) == ["a", 1, 1]


def test_tied_extremes_are_resolved_by_most_rows_and_then_by_order():
    segments = {"a": (1, 1, 1, 1), "b": (2, 2, 2, 2), "c": (4, 0, 4, 4), "d": (8, 0, 0, 4)}
    segments |= {"e": (2, 2, 2, 2), "f": (8, 0, 4, 0)}
    (row,) = disparity("recall", segments)
    assert values_of(row, ["lowest_g", "highest_g"]) == ["b", "c"]


def test_extremes_are_computed_within_each_margin_and_model():
    frame = random_frame(7, segments="abcd")
    options = {"by": ["g", "sex"], "metrics": ["accuracy", "uar"], "margins": "all"}
    out = bf.disparity(frame, "y", ["q", "p"], detail=True, **options)
    segments = [f"{end}_{name}" for end in ("lowest", "highest") for name in ("g", "sex")]
    assert out.columns == ["grouped_by", "model", "metric", *segments, *COLUMNS]
    keys = itertools.product(["g, sex", "g", "sex", "overall"], "qp", ["accuracy", "uar"])
    assert out.select("grouped_by", "model", "metric").rows() == [*keys]
    assert out["n_segments"].to_list() == [*np.repeat([15, 5, 3, 1], 4)]
    for row in out.to_dicts():
        by = [] if row["grouped_by"] == "overall" else row["grouped_by"].split(", ")
        scores = bf.report(frame, "y", row["model"], by=by or None, metrics=row["metric"])
        scores = scores.sort(row["metric"]).to_dicts()
        for end, extreme in (("lowest", scores[0]), ("highest", scores[-1])):
            assert row[end] == pytest.approx(extreme[row["metric"]], rel=1e-12)
            names = values_of(row, [f"{end}_g", f"{end}_sex"])
            assert names == [extreme.get(name) for name in ("g", "sex")]


def test_segments_with_an_undefined_score_are_left_out():
    (row,) = disparity("recall", {"a": (8, 2, 2, 8), "b": (0, 0, 5, 5), "c": (6, 4, 3, 7)})
    assert values_of(row, ["lowest_g", "highest_g", "n_segments", "n_left_out"]) == [*"ca", 2, 1]
    (row,) = disparity("recall", {"a": (0, 0, 2, 8), "b": (0, 0, 5, 5)})
    names = ["lowest_g", "highest_g", *COLUMNS]
    expected = dict.fromkeys(names) | {"n_segments": 0, "n_left_out": 2, "df": 0, "note": TOO_FEW}
    assert values_of(row, names) == [*expected.values()]


@cases(
    ("metric", "segments", "options", "note"),
    [
        ("recall", FOUR, {}, None),
        ("recall", {"a": (8, 2, 2, 8), "b": (6, 3, 3, 7)}, {}, FEW_ROWS),
        ("recall", {"a": (8, 2, 2, 8), "b": (6, 4, 3, 6)}, {}, None),  # 9 negatives are no matter
        ("accuracy", {"a": (8, 2, 2, 8), "b": (1, 2, 3, 3)}, {}, FEW_ROWS),
        ("f1", FOUR, {}, "there is no test of all segments"),
        ("mcc", FOUR, {}, "there is no test of all segments"),
        ("recall", {"a": (8, 2, 2, 8)}, {}, TOO_FEW),
        ("recall", FOUR, {"min_support": 10**6}, TOO_FEW),
        ("uar", {"a": (9, 1, 6, 4), "b": (7, 3, 8, 2), "c": (19, 1, 0, 0)}, {}, None),
        (
            "uar",
            {"a": (9, 1, 6, 4), "b": (7, 3, 8, 2), "c": (19, 1, 0, 0)},
            {"min_support": 0},
            "the segments have different labels",
        ),
    ],
)
def test_a_note_says_why_a_p_value_is_null(metric, segments, options, note):
    (row,) = disparity(metric, segments, **options)

    assert row["note"] == note
    assert (note is None) == (None not in values_of(row, ["p_value_all", "p_value_recalls"]))


def test_a_note_says_where_weights_allow_no_test():
    frame = pl.DataFrame(
        {"g": [*"ab"] * 4, "y": [1] * 8, "p": [0, 1] * 2 + [1, 1] * 2, "w": [1e-300, 1.0] * 4}
    )

    options = {"metrics": "recall", "sample_weight": "w", "min_support": 1}
    (row,) = bf.disparity(frame, "y", "p", by="g", detail=True, **options).to_dicts()

    assert row["p_value"] is None
    assert row["note"] == "the weights are too large or too small for a test"


SEGMENT_METHODS = pytest.mark.parametrize(
    ("method", "options"),
    [
        (bf.gaps, {}), (bf.gaps, {"reference": "overall"}), (bf.gaps, {"reference": "best"}),
        (bf.gaps, {"reference": {"g": None, "sex": "f"}}),
        (bf.disparity, {"min_support": 20}), (bf.fairness, {"min_support": 20}),
    ],
)  # fmt: skip


@cache
def result_of_polars(method, options):
    frame = random_frame(8, segments="abcd")
    return plain(method(frame, "y", ["q", "p"], **ast.literal_eval(options)))


@pytest.mark.any_version
@SEGMENT_METHODS
@each_constructor
def test_segment_comparisons_are_equal_in_every_library(constructor, method, options):
    data = random_frame(8, segments="abcd").to_dict(as_series=False)
    options = {"by": ["g", "sex"], "margins": "all", "sample_weight": "w", **options}
    frame = constructor(data)
    out = method(frame, "y", ["q", "p"], **options)
    assert type(out) is type(frame)
    assert_table(out, result_of_polars(method, repr(options)))
    assert plain(frame) == data
    assert plain(method(head(constructor(data), 0), "y", ["q", "p"], **options))["model"] == []


@SEGMENT_METHODS
@cases("weight", [None, "w"])
def test_segment_comparisons_of_cells_equal_those_of_rows(method, options, weight):
    frame, options = random_frame(9, segments="abcd"), {"by": ["g", "sex"], **options}
    cells = bf.confusion(frame, "y", "p", by=["g", "sex"], sample_weight=weight)
    out = method(cells, "y", "p", **options)
    assert_table(out, plain(method(frame, "y", "p", sample_weight=weight, **options)))


@cases("method", [bf.gaps, bf.disparity, bf.fairness])
@cases(
    ("options", "words"),
    [
        ({"by": None}, "by= is missing, but {method} compares"),
        ({"by": []}, "by= is missing, but {method} compares"),
        ({"level": 95}, "level=95 is not a confidence level; give a number"),
    ],
)
def test_missing_by_and_invalid_levels_raise(method, options, words):
    with pytest.raises(bf.InvalidInputError, match=words.format(method=method.__name__)):
        method(random_frame(1, rows=50), "y", "p", **{"by": "g", **options})


@cases("method", [bf.disparity, bf.fairness])
@cases("min_support", [-1, 1.5, True, None, "1"])
def test_invalid_min_support_is_refused(method, min_support):
    with pytest.raises(bf.InvalidInputError, match=r"min_support=.* is not a number of rows; give"):
        method(random_frame(1, rows=50), "y", "p", by="g", min_support=min_support)


# Supports of the labels 1 and 0: a (12, 12), b (10, 40), c (9, 40), d (40, 9).
AT_THE_FLOOR = {"a": (6, 6, 3, 9), "b": (8, 2, 8, 32), "c": (9, 0, 0, 40), "d": (0, 40, 9, 0)}


@cases(
    ("metric", "lowest", "highest", "n_left_out"),
    [
        ("recall", ("d", 0 / 40), ("b", 8 / 10), 1),  # c has 9 positives
        ("specificity", ("a", 9 / 12), ("c", 40 / 40), 1),  # d has 9 negatives
        ("balanced_accuracy", ("a", (6 / 12 + 9 / 12) / 2), ("b", (8 / 10 + 32 / 40) / 2), 2),
        ("accuracy", ("d", 0 / 49), ("c", 49 / 49), 0),
    ],
)
def test_segments_with_fewer_than_10_rows_in_a_denominator_are_left_out_by_default(
    metric, lowest, highest, n_left_out
):
    frame = pl.DataFrame(table(**AT_THE_FLOOR))

    (row,) = bf.disparity(
        frame, "y", "p", by="g", counts="n", metrics=metric, detail=True
    ).to_dicts()

    assert (row["n_segments"], row["n_left_out"]) == (4 - n_left_out, n_left_out)
    assert (row["lowest_g"], row["highest_g"]) == (lowest[0], highest[0])
    assert [row["lowest"], row["highest"]] == pytest.approx([lowest[1], highest[1]])
