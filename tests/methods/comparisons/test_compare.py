import math
import random
from collections import Counter, defaultdict
from functools import cache

import numpy as np
import polars as pl
import pytest
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

import balframe as bf
import balframe.methods.comparisons.models as compared_models
from tests.support.cases import cases
from tests.support.constructors import (
    assert_table,
    each_constructor,
    head,
    pandas_numpy,
    plain,
    polars_eager,
    polars_lazy,
)
from tests.support.oracles.paired_recalls import (
    effective,
    limits_and_p_by_side,
    limits_by_side,
    limits_of,
)

COLUMNS = ["model", "baseline", "metric", "estimate", "baseline_estimate", "difference"]
COLUMNS += ["lower", "upper", "p_adjusted", "verdict"]
COLUMNS += ["n", "n_labels", "min_support", "p_value", "n_tests"]
LINE = [  # what the loops and the worked example give, in their order
    *("model", "baseline", "n", "n_labels", "min_support", "metric", "estimate"),
    *(
        "baseline_estimate",
        "difference",
        "lower",
        "upper",
        "p_value",
        "p_adjusted",
        "n_tests",
        "verdict",
    ),
]
# of 100 rows of label 1 and 200 of label 0: what both get right, only one, only the other, neither
HAND = {"y": [1] * 4 + [0] * 4, "k": [60, 16, 4, 20, 160, 5, 5, 30]}
HAND |= {"new": [1, 1, 0, 0, 0, 0, 1, 1], "old": [1, 0, 1, 0, 0, 1, 0, 1]}
POSITIVE, NEGATIVE, EVERYTHING = (16, 4, 100), (5, 5, 200), (21, 9, 300)
PAIR, TESTS = ["m1", "m2"], ["p_value", "p_adjusted", "n_tests"]


def random_rows(rows, seed=0, segments="abc", nulls=()):
    rng = random.Random(seed)
    values = {"g": segments, "y": [0, 1, 1, 2], "w": [0.25, 0.5, 1.0, 3.0], "k": [0, 1, 2, 5]}
    out = {name: rng.choices(some, k=rows) for name, some in values.items()}
    for model, wrong in (("m1", [0, 1, 2, 7]), ("m2", [0, 1]), ("m3", [0, 2])):
        out[model] = [y if rng.random() < 0.7 else rng.choice(wrong) for y in out["y"]]
    for name in nulls:
        out[name] = [None if rng.random() < 0.1 else value for value in out[name]]
    return out


def slow(data, models=PAIR, weight=None, counts=None):
    """Compare accuracy and balanced accuracy in a loop over rows; p_adjusted is left out.

    Rows that are the same are taken together.
    """
    segments, out, labels = defaultdict(list), [], []
    for values, repeats in Counter(zip(*data.values(), strict=True)).items():
        row = dict(zip(data, values, strict=True))
        segments[row["g"]].append(row | {"repeats": repeats})
    for g in sorted(segments, key=lambda g: (g is None, g)):
        for one, other in ((model, models[0]) for model in models[1:]):
            # rows, weight that one gets right, weight of the three kinds of rows, their squares
            sums, largest = defaultdict(lambda: np.zeros(8)), defaultdict(float)
            for row in segments[g]:
                y, k, w = row["y"], row["repeats"] * row.get(counts, 1), row.get(weight, 1.0)
                if None not in (y, row[one], row[other]) and k:
                    right, other_right = row[one] == y, row[other] == y
                    each = right > other_right, other_right > right, right == other_right
                    kinds = [v * which for v in (w, w * w) for which in each]
                    for key in (y, "all"):
                        sums[key] += k * np.array([1, w * right, *kinds])
                        largest[key] = max(largest[key], w)
            sums = {key: np.append(of, largest[key]) for key, of in sums.items()}
            whole = sums.pop("all", np.zeros(9))
            rarest = min((int(of[0]) for of in sums.values()), default=0)
            shown = (g, one, other, int(whole[0]), len(sums), rarest)
            for metric, of in (("accuracy", [whole]), ("balanced_accuracy", [*sums.values()])):
                score, difference, parts = scores(of)
                out.append((*shown, metric, score, score - difference, difference))
                labels.append(parts)
    sides = np.moveaxis(np.array(labels), (1, 3), (0, 1))
    tested = limits_and_p_by_side(*sides)
    lines = [
        (*line, *of) if line[3] else (*line[:7], *(None,) * 6)
        for line, *of in zip(out, *(values.tolist() for values in tested), strict=True)
    ]
    return in_order(["g", *LINE[:-3]], lines)


def in_order(names, lines):
    """Turn lines into the columns of a result."""
    values = dict(zip(names, map(list, zip(*lines, strict=True)), strict=True))
    return {name: values[name] for name in ["g", *COLUMNS] if name in values}


def scores(sums):
    """Give a score, the difference, and (a, b, c, n) of up to three labels, for both limits."""
    parts = np.array([[[1.0, 0, 0, 1], *[[0.0, 0, 0, 1]] * 2]] * 2)
    score = difference = 0
    for i, (rows, right, *kinds, largest) in enumerate(sums):
        if rows:
            total = sum(kinds[:3])
            for side, counts in enumerate(effective(kinds[:3], kinds[3:], largest)):
                parts[side, i] = 1 / len(sums), *counts
            score += right / total / len(sums)
            difference += (kinds[0] - kinds[1]) / total / len(sums)
    return score, difference, parts


def assert_slow(out, expected):
    found = pl.DataFrame(plain(out), strict=False).drop("p_adjusted", "n_tests", "verdict")
    assert_table(found, expected, close=1e-9)


@each_constructor
def test_compare_of_two_models_equals_a_worked_example(constructor):
    low, high, p = limits_of([(1, *EVERYTHING)])
    assert p == pytest.approx(math.erfc(math.sqrt((21 - 9) ** 2 / (21 + 9) / 2)), abs=1e-12)
    accuracy = ("accuracy", 241 / 300, 229 / 300, 12 / 300, low, high, p, p, 1, "better")
    low, high, p = limits_of([(0.5, *POSITIVE), (0.5, *NEGATIVE)])
    mean = ("balanced_accuracy", 0.7925, 0.7325, 0.06, low, high, p, p, 1, "better")
    lines = [("new", "old", 300, 2, 100, *numbers) for numbers in (accuracy, mean)]

    out = bf.compare(constructor(HAND), "y", ["old", "new"], counts="k", detail=True)

    assert_table(out, in_order(LINE, lines))


@cases(
    ("models", "baseline", "pairs"),
    [
        (["old", "new", "third"], None, [("new", "old"), ("third", "old")]),
        (["old", "new", "third"], "new", [("old", "new"), ("third", "new")]),
        (["new", "third"], "old", [("new", "old"), ("third", "old")]),
        ("new", "old", [("new", "old")]),
    ],
)
@each_constructor
def test_each_other_model_is_compared_with_the_baseline(constructor, models, baseline, pairs):
    right = {"old": 229, "new": 241, "third": 300}
    frame = constructor(HAND | {"third": HAND["y"]})

    out = plain(bf.compare(frame, "y", models, baseline=baseline, counts="k", metrics="accuracy"))

    assert list(zip(out["model"], out["baseline"], strict=True)) == pairs
    expected = [(right[model] - right[other]) / 300 for model, other in pairs]
    assert out["difference"] == pytest.approx(expected)
    better = ["better" if difference > 0 else "worse" for difference in expected]
    assert out["verdict"] == better


@each_constructor
def test_the_verdict_follows_from_the_test_and_the_better_direction(constructor):
    words = {
        "accuracy": "better",  # 21 rows against 9, p = .028
        "specificity": "not decided",  # 5 rows against 5
        "fnr": "better",  # 16 of 20 rows, and a lower rate is better
        "selection_rate": "higher",  # 21 rows against 9, without a direction
        "precision": None,  # without a test
    }

    out = plain(bf.compare(constructor(HAND), "y", ["old", "new"], counts="k", metrics=[*words]))
    swapped = plain(
        bf.compare(constructor(HAND), "y", ["new", "old"], counts="k", metrics=[*words])
    )

    assert out["verdict"] == [*words.values()]
    opposite = {"better": "worse", "higher": "lower"}
    assert swapped["verdict"] == [opposite.get(word, word) for word in words.values()]


ALL, BOTH = [(1, *EVERYTHING)], [(0.5, *POSITIVE), (0.5, *NEGATIVE)]
SELECTED = [(1, 16 + 5, 4 + 5, 300)]  # called positive by one alone
LIMITS = {
    "accuracy": (1, ALL), "normalized_accuracy": (2, ALL), "hamming_loss": (1, [(1, 9, 21, 300)]),
    "recall": (1, [(1, *POSITIVE)]), "fnr": (1, [(1, 4, 16, 100)]),
    "specificity": (1, [(1, *NEGATIVE)]), "adjusted_balanced_accuracy": (2, BOTH),
    "selection_rate": (1, SELECTED), "balanced_accuracy": (1, BOTH), "informedness": (2, BOTH),
}  # fmt: skip
UNEQUAL = [(0.75, *POSITIVE), (0.25, *NEGATIVE)]
WEIGHTS = [("prevalence", ALL), ("balanced", BOTH), ({0: 1, 1: 3}, UNEQUAL)]
CASES = [
    *((metric, None, *case) for metric, case in LIMITS.items()),
    *(("weighted_balanced_accuracy", weight, 1, parts) for weight, parts in WEIGHTS),
]


@pytest.mark.any_version
@pytest.mark.parametrize(("metric", "class_weight", "scale", "parts"), CASES)
def test_limits_depend_on_the_rows_that_only_one_model_predicts_correctly(
    metric, class_weight, scale, parts
):
    options = {"metrics": metric, "counts": "k", "class_weight": class_weight}

    (found,) = bf.compare(
        pl.DataFrame(HAND), "y", ["old", "new"], detail=True, **options
    ).to_dicts()

    *limits, p = limits_of(parts)
    expected = [sum(a * (x - y) / n for a, x, y, n in parts), *limits]
    numbers = [found[name] / scale for name in ("difference", "lower", "upper")]
    assert numbers == pytest.approx(expected, abs=1e-11)
    assert found["p_value"] == found["p_adjusted"] == pytest.approx(p, abs=1e-11)
    if len(parts) == 1:
        table = [[7, parts[0][1]], [parts[0][2], 5]]
        of_mcnemar = mcnemar(table, exact=False, correction=False).pvalue
        assert found["p_value"] == pytest.approx(of_mcnemar, rel=1e-9)


# the same with weights: sums of those that only one gets right, only the other, and of all others
WEIGHTED = HAND | {"w": [1.0, 5.0, 2.0, 1.0, 1.0, 3.0, 0.5, 1.0]}
OF_POSITIVE = (16 * 5, 4 * 2, 80), (16 * 25, 4 * 4, 80), 5
OF_NEGATIVE = (5 * 3, 5 * 0.5, 190), (5 * 9, 5 * 0.25, 190), 3
OF_ALL = (80 + 15, 8 + 2.5, 270), (400 + 45, 16 + 1.25, 270), 5
OF_SELECTED = (80 + 2.5, 8 + 15, 270), (400 + 1.25, 16 + 45, 270), 5
OF_WEIGHTED = {
    "accuracy": (1, [OF_ALL]), "normalized_accuracy": (2, [OF_ALL]), "recall": (1, [OF_POSITIVE]),
    "specificity": (1, [OF_NEGATIVE]), "selection_rate": (1, [OF_SELECTED]),
    "balanced_accuracy": (1, [OF_POSITIVE, OF_NEGATIVE]),
    "informedness": (2, [OF_POSITIVE, OF_NEGATIVE]),
}  # fmt: skip


@pytest.mark.any_version
@cases("metric", OF_WEIGHTED)
def test_limits_and_p_values_of_weighted_rows_use_the_effective_size(constructor, metric):
    scale, sums = OF_WEIGHTED[metric]
    options = {"metrics": metric, "counts": "k", "sample_weight": "w"}

    out = plain(bf.compare(constructor(WEIGHTED), "y", ["old", "new"], detail=True, **options))

    sides = zip(*(effective(*of_label) for of_label in sums), strict=True)
    lower, upper = ([(1 / len(sums), *rows) for rows in side] for side in sides)
    difference = sum((b - c) / (b + c + e) for (b, c, e), *_ in sums) / len(sums)
    *limits, p = limits_by_side(lower, upper)
    numbers = [out[name][0] / scale for name in ("difference", "lower", "upper")]
    assert numbers == pytest.approx([difference, *limits], abs=1e-11)
    assert out["p_value"] == pytest.approx([p], abs=1e-11)
    assert out["n_tests"] == [1]


WITHOUT_LIMITS = ["precision", "npv", "f1", "jaccard", "f1_macro", "kappa", "mcc", "geometric_mean"]


@cases("metric", WITHOUT_LIMITS)
def test_metrics_whose_denominators_depend_on_the_predictions_have_no_limits(metric):
    out = bf.compare(
        pl.DataFrame(HAND), "y", ["old", "new"], counts="k", metrics=metric, detail=True
    )

    (found,) = out.to_dicts()
    assert found["difference"] == found["estimate"] - found["baseline_estimate"] != 0
    assert [found[name] for name in ("lower", "upper", "p_value", "p_adjusted")] == [None] * 4
    assert found["n_tests"] == 0


def test_estimates_are_those_of_report():
    frame = pl.DataFrame(random_rows(300, 1, nulls=["g"]))
    options = {"by": "g", "metrics": "all", "pos_label": 1, "labels": [0, 1, 2, 7]}

    out = bf.compare(frame, "y", PAIR, detail=True, **options)

    for model, name in (("m2", "estimate"), ("m1", "baseline_estimate")):
        alone = bf.report(frame, "y", model, layout="long", detail=True, **options)
        assert out["metric"].to_list() == alone["metric"].to_list()
        assert out[name].to_list() == pytest.approx(alone["estimate"].to_list(), abs=1e-12)


@cases(("weight", "counts"), [(None, None), ("w", None), (None, "k"), ("w", "k")])
@pytest.mark.parametrize("models", [PAIR, ["m3", "m1", "m2"]])
@each_constructor
def test_compare_on_every_kind_of_frame_equals_a_loop_over_rows(
    constructor, weight, counts, models
):
    options = {"by": "g", "sample_weight": weight, "counts": counts, "missing": "drop"}

    out = bf.compare(constructor(rows_with_nulls()), "y", models, detail=True, **options)

    assert_slow(out, slow_result_of_nulls(tuple(models), weight, counts))


def rows_with_nulls():
    data = random_rows(250, 2, nulls=("g", "y", "m1", "m3"))
    data["g"][0], data["m1"][0] = "none", None  # a segment without a full row
    return data


@cache
def slow_result_of_nulls(models, weight, counts):
    return slow(rows_with_nulls(), models, weight, counts)


@pytest.mark.thorough
@pytest.mark.any_version
@pytest.mark.parametrize(("segments", "rows"), [(3, 60_500), (900, 7_000)])
def test_compare_of_many_rows_equals_a_loop_over_rows(segments, rows, monkeypatch):
    monkeypatch.setattr(compared_models, "_BLOCK_SIZE", 512)  # several blocks of 900 segments
    data = random_rows(rows, 3, [f"segment {i}" for i in range(segments)], ["g", "m2"])
    expected = slow(data, weight="w")

    for make in (pandas_numpy, polars_eager, polars_lazy):
        out = bf.compare(
            make(data), "y", PAIR, by="g", missing="drop", sample_weight="w", detail=True
        )
        assert_slow(out, expected)


@pytest.mark.parametrize(("adjust", "method"), [("bh", "fdr_bh"), ("holm", "holm")])
def test_p_values_are_adjusted_within_a_metric(adjust, method):
    frame = pl.DataFrame(random_rows(600, 5, "abcdefgh"))
    options = {"by": "g", "metrics": ["accuracy", "recall", "f1"], "pos_label": 1}

    out = bf.compare(frame, "y", ["m1", "m2", "m3"], adjust=adjust, detail=True, **options)

    for metric in ("accuracy", "recall"):
        p, found, n = out.filter(metric=metric).select("p_value", "p_adjusted", "n_tests")
        assert found.to_list() == pytest.approx(multipletests(p, method=method)[1])
        assert n.to_list() == [2 * 8] * 16
    raw = bf.compare(frame, "y", ["m1", "m2", "m3"], adjust=None, detail=True, **options)
    assert raw["p_adjusted"].equals(raw["p_value"])


@cases("unit", [1.0, 0.1, 1e6, 1e100])
def test_equal_weights_do_not_change_limits(unit):
    frame = pl.DataFrame(random_rows(200, 6)).with_columns(u=pl.lit(unit))
    plainly = bf.compare(frame, "y", PAIR, by="g", detail=True).select(
        "estimate", "lower", "upper", "p_value"
    )

    out = bf.compare(frame, "y", PAIR, by="g", sample_weight="u", detail=True).select(
        plainly.columns
    )

    assert out.to_numpy() == pytest.approx(plainly.to_numpy(), abs=1e-12)


def test_counts_equal_repeated_rows_with_their_weights():
    frame = pl.DataFrame(random_rows(150, 7, nulls=["m2"]))
    repeated = frame.select(pl.all().repeat_by("k")).explode(pl.all()).drop_nulls("y")
    options = {"by": "g", "metrics": "all", "pos_label": 2, "missing": "drop"}

    for weight in (None, "w"):
        options["sample_weight"] = weight
        expected = plain(bf.compare(repeated, "y", PAIR, detail=True, **options))
        assert_table(
            bf.compare(frame, "y", PAIR, counts="k", detail=True, **options), expected, close=1e-9
        )


@cases("missing", [["y"], ["m1"], ["m2"], ["y", "m1", "m2"]])
@each_constructor
def test_nulls_raise_by_default_and_name_their_column(constructor, missing):
    frame = constructor(random_rows(60, 8, nulls=missing))

    with pytest.raises(bf.InvalidInputError, match=f"'{missing[0]}'"):
        plain(bf.compare(frame, "y", PAIR, detail=True))


@each_constructor
def test_each_margin_equals_a_separate_comparison(constructor):
    frame = constructor(random_rows(200, 9, nulls=["g"]))

    out = plain(
        bf.compare(frame, "y", PAIR, by=["g", "k"], margins="all", metrics="uar", detail=True)
    )

    assert list(out) == ["g", "k", "grouped_by", *COLUMNS]
    for margin, by in (("g, k", ["g", "k"]), ("g", ["g"]), ("k", ["k"]), ("overall", [])):
        alone = plain(bf.compare(frame, "y", PAIR, by=by or None, metrics="uar", detail=True))
        lines = [i for i, name in enumerate(out["grouped_by"]) if name == margin]
        for name in [*by, "n", "min_support", "estimate", "lower", "upper", *TESTS]:
            assert [out[name][i] for i in lines] == pytest.approx(alone[name], abs=1e-12)
        assert len(lines) == out["n_tests"][lines[0]]


KINDS = [(pl.String, "n", "y"), (pl.Boolean, False, True), (pl.Enum(["y", "n"]), "n", "y")]


@pytest.mark.parametrize(("dtype", "negative", "positive"), KINDS)
def test_the_dtype_of_labels_does_not_change_the_result(dtype, negative, positive):
    frame, names = pl.DataFrame(HAND), {0: negative, 1: positive}
    options = {"metrics": ["recall", "balanced_accuracy"], "counts": "k"}
    expected = bf.compare(frame, "y", ["old", "new"], pos_label=1, detail=True, **options)
    named = frame.with_columns(pl.col("y", "new", "old").replace_strict(names, return_dtype=dtype))

    for some in (named, named.to_pandas()):
        found = bf.compare(some, "y", ["old", "new"], pos_label=positive, detail=True, **options)
        assert_table(found, plain(expected))


def test_labels_sets_the_number_of_classes():
    frame = pl.DataFrame({"y": [0, 1, 1, 0], "m1": [0, 1, 1, 1], "m2": [0, 0, 1, 1]})
    options = {"metrics": ["normalized_accuracy", "recall"], "labels": [2, 1, 0], "pos_label": 1}

    out = bf.compare(frame, "y", PAIR, baseline="m2", detail=True, **options)

    assert out["difference"].to_list() == pytest.approx([1 / 4 / (2 / 3), 1 / 2])
    low, _, _ = limits_of([(1, 1, 0, 4)])
    assert out["lower"][0] == pytest.approx(low / (2 / 3), abs=1e-12)


ERRORS = [
    ({"y_pred": "m1"}, ValueError, "y_pred='m1' names one model.*at least two"),
    ({"y_pred": ["m1"]}, ValueError, r"y_pred=\['m1'\] names one model"),
    ({"y_pred": ["m1", "m9"]}, KeyError, "'m9' not found"),
    ({"baseline": "m9"}, KeyError, "column 'm9' not found"),
    ({"y_pred": ["m1"], "baseline": "m1"}, ValueError, "or the model to compare with as baseline"),
    ({"y_pred": ["m1", "m1"]}, ValueError, "y_pred names a column twice: 'm1', 'm1'"),
    ({"baseline": "y"}, ValueError, "'y' is given as y_true and as baseline"),
    ({"by": "baseline"}, ValueError, "more than one column named 'baseline'"),
    ({"by": "model"}, ValueError, "more than one column named 'model'"),
    ({"level": 1}, ValueError, "level=1 is not a confidence level; give a number"),
    ({"metrics": "baw"}, ValueError, "'baw' needs class_weight="),
]


@cases(("options", "kind", "words"), ERRORS)
@each_constructor
def test_bad_input_raises_at_once(constructor, options, kind, words):
    data = random_rows(20) | {"baseline": ["a"] * 20, "model": ["b"] * 20}

    with pytest.raises(bf.BalframeError, match=words) as raised:
        bf.compare(constructor(data), detail=True, **{"y_true": "y", "y_pred": PAIR, **options})
    assert isinstance(raised.value, kind)


@each_constructor
def test_an_empty_frame_returns_no_rows(constructor):
    out = bf.compare(head(constructor(random_rows(20)), 0), "y", PAIR, by="g", detail=True)

    assert plain(out) == {name: [] for name in ["g", *COLUMNS]}


@each_constructor
def test_the_input_frame_is_not_modified(constructor):
    data = random_rows(50, 10, nulls=("g", "m1"))
    frame = constructor(data)

    plain(
        bf.compare(frame, "y", PAIR, by="g", counts="k", missing="drop", margins="all", detail=True)
    )

    assert plain(frame) == data
