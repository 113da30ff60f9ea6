"""What a result of `slices` looks like, and what its options change."""

import numpy as np
import pandas as pd
import polars as pl
import polars.selectors as cs
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import CONSTRUCTORS, each_constructor, plain
from tests.support.tested_slices import search

COLUMNS = [
    *("slice", "metric", "estimate", "difference", "lower", "upper", "p_adjusted", "n"),
    *("rank", "on", "sex", "age", "depth", "min_support", "wrong", "rest", "p_value", "n_tests"),
    *("excess_errors", "share_of_errors", "n_explained"),
]


def people(n=1000, seed=5):
    """Draw rows that are wrong more often for older rows whose `sex` is null, and for young F."""
    random = np.random.default_rng(seed)
    sex = random.choice(np.array(["F", "M", None]), n, p=[0.45, 0.35, 0.2])
    age, y = random.integers(18, 80, n), random.integers(0, 2, n)
    is_null = np.array([one is None for one in sex])
    is_young = (sex == "F") & (age < 30)
    rate = np.where(is_null & (age >= 30), 0.5, np.where(is_young, 0.8, 0.05))
    yhat = np.where(random.random(n) < rate, 1 - y, y)
    return {"sex": list(sex), "age": age.tolist(), "y": y.tolist(), "yhat": yhat.tolist()}


ROWS = people()
FRAME = pl.DataFrame(ROWS)
EDGES = {"bins": {"age": [30, 60]}, "metrics": "accuracy"}


@each_constructor
def test_result_has_slice_text_counts_and_estimates_of_its_rows(constructor):
    result = plain(bf.slices(constructor(ROWS), "y", "yhat", detail=True, **EDGES))
    is_wrong = FRAME.with_columns(wrong=pl.col("y") != pl.col("yhat"))
    inside = [
        is_wrong.filter(sex="F").filter(pl.col("age") < 30)["wrong"],
        is_wrong.filter(pl.col("sex").is_null())["wrong"],
    ]

    assert list(result) == COLUMNS
    assert result["rank"] == [1, 2]
    assert result["slice"] == ["sex = F and age under 30", "sex is null"]
    assert result["on"] == ["sex, age", "sex"]
    assert result["sex"] == ["F", None]
    assert result["age"] == ["under 30", None]
    assert result["depth"] == [2, 1]
    assert result["n"] == result["min_support"] == [len(one) for one in inside]
    assert result["wrong"] == [one.sum() for one in inside]
    assert result["estimate"] == pytest.approx([1 - one.mean() for one in inside])
    assert result["metric"] == ["accuracy"] * 2


def test_n_counts_all_rows_and_min_support_those_of_the_metric():
    first, *_ = bf.slices(
        FRAME, "y", "yhat", detail=True, **EDGES | {"metrics": "recall"}
    ).to_dicts()
    inside = FRAME.filter(sex="F").filter(pl.col("age") < 30)

    assert first["slice"] == "sex = F and age under 30"
    assert first["n"] == inside.height
    assert first["min_support"] == inside["y"].sum() < inside.height


def test_conditions_are_in_the_order_of_over():
    result = bf.slices(FRAME, "y", "yhat", over=["age", "sex"], detail=True, **EDGES)

    assert [name for name in result.columns if name in ("age", "sex")] == ["age", "sex"]
    assert result["on"].to_list() == ["age, sex", "sex"]
    assert result["slice"].to_list() == ["age under 30 and sex = F", "sex is null"]


def test_a_metric_keeps_the_name_that_the_caller_used():
    result = bf.slices(FRAME, "y", "yhat", metrics="uar", detail=True)

    assert set(result["metric"]) == {"uar"}
    assert result.drop("metric").equals(bf.slices(FRAME, "y", "yhat", detail=True).drop("metric"))
    assert set(bf.slices(FRAME, "y", "yhat", detail=True)["metric"]) == {"balanced_accuracy"}


ALL_OTHERS = [
    None,
    ["sex", "age"],
    ("sex", "age"),
    cs.exclude("y", "yhat"),
    cs.by_name("sex", "age"),
]


@cases("over", ALL_OTHERS)
@cases("make", [pl.DataFrame, pl.LazyFrame])
def test_over_is_a_list_a_selector_or_all_other_columns(over, make):
    result = bf.slices(make(ROWS), "y", "yhat", over=over, detail=True).lazy().collect()

    assert result.equals(bf.slices(FRAME, "y", "yhat", over=["sex", "age"], detail=True))
    assert result.columns == COLUMNS


@pytest.mark.parametrize("over", ["sex", ["sex"], cs.string()], ids=str)
def test_over_may_be_a_single_column(over):
    assert bf.slices(FRAME, "y", "yhat", over=over, detail=True)["slice"].to_list() == [
        "sex is null"
    ]


def test_over_defaults_to_all_columns_without_a_role():
    frame = FRAME.with_columns(k=pl.lit(1), w=pl.lit(1.0))
    expected = bf.slices(FRAME, "y", "yhat", detail=True)

    result = bf.slices(frame.drop("w"), "y", "yhat", counts="k", detail=True)
    assert result.equals(expected)
    weighted = bf.slices(frame, "y", "yhat", counts="k", sample_weight="w", detail=True)
    assert weighted.columns == COLUMNS


@pytest.mark.parametrize("layers", [1, 2, 5])
def test_counts_and_cells_equal_repeated_rows(layers):
    repeated = pl.concat([FRAME] * layers).with_row_index("i").sort(pl.col("i").hash()).drop("i")
    counted = FRAME.with_columns(k=pl.lit(layers))
    cells = bf.confusion(FRAME.with_columns(k=layers), "y", "yhat", by=["sex", "age"], counts="k")

    expected = bf.slices(repeated, "y", "yhat", over=["sex", "age"], detail=True)
    assert bf.slices(counted, "y", "yhat", over=["sex", "age"], counts="k", detail=True).equals(
        expected
    )
    assert bf.slices(cells, "y", "yhat", detail=True).equals(expected)


@cases("metric", ["recall", "accuracy", "balanced_accuracy", "f1"])
@cases("weight", [1.0, 2.0, 0.125])
def test_equal_weights_give_the_estimates_of_rows(metric, weight):
    options = {"metrics": metric, "top": 1000, "order": "impact"}
    frame = FRAME.with_columns(w=pl.lit(weight))
    result = bf.slices(frame, "y", "yhat", sample_weight="w", detail=True, **options)
    _, seen = search(FRAME, **options)
    sign = -seen.tested.scores.worse
    by_key = {
        frozenset(one.items()): (*figures, difference)
        for one, *figures, difference in zip(
            seen.slices(), seen.tested.scores.estimate, seen.tested.scores.rest, sign, strict=True
        )
        if difference < 0
    }

    assert result.height == len(by_key) > 2
    for row in result.to_dicts():
        on = row["on"].split(", ")
        figures = by_key[frozenset((name, row[name]) for name in on)]
        assert [row["estimate"], row["rest"], row["difference"]] == pytest.approx(figures)
    for name in ("lower", "upper", "p_value", "p_adjusted"):
        assert result[name].null_count() == result.height
    assert result["n_explained"].to_list() == [0] * result.height


def test_weighted_recalls_of_slice_and_rest_equal_fractions():
    data = {
        "g": ["a"] * 4 + ["b"] * 4,
        "y": [1] * 8,
        "yhat": [1, 1, 0, 0, 1, 1, 1, 0],
        "w": [1.0, 2.0, 4.0, 1.0, 3.0, 3.0, 1.0, 1.0],
    }
    result = bf.slices(
        pl.DataFrame(data),
        "y",
        "yhat",
        metrics="recall",
        sample_weight="w",
        min_support=1,
        detail=True,
    )

    assert result.select("slice", "estimate", "rest", "n", "wrong").rows() == [
        ("g = a", 3 / 8, 7 / 8, 4, 2)
    ]


def test_scaled_weights_give_the_same_result():
    random = np.random.default_rng(4)
    frame = FRAME.with_columns(w=random.integers(0, 9, FRAME.height) / 4)
    results = [
        bf.slices(
            frame.with_columns(pl.col("w") * scale), "y", "yhat", sample_weight="w", detail=True
        )
        for scale in (1, 2.0**-40, 2.0**900)
    ]

    assert results[0].height
    assert results[0].equals(results[1])
    assert results[0].equals(results[2])


@pytest.mark.parametrize("metric", ["f1", "matthews_corrcoef", "cohen_kappa"])
def test_metrics_without_a_test_equal_report_of_slice_and_rest(metric):
    options = {**EDGES, "metrics": metric, "top": 100}
    result = bf.slices(FRAME, "y", "yhat", detail=True, **options)
    above = pl.when(pl.col("age") < 60).then(pl.lit("30 to 60")).otherwise(pl.lit("60 or more"))
    frame = FRAME.with_columns(
        age=pl.when(pl.col("age") < 30).then(pl.lit("under 30")).otherwise(above)
    )

    assert result.height > 2
    for row in result.to_dicts():
        given = {name: row[name] for name in row["on"].split(", ")}
        same = pl.all_horizontal(pl.col(name).eq_missing(level) for name, level in given.items())
        inside, rest = (
            bf.report(frame.filter(one), "y", "yhat", metrics=metric)[metric][0]
            for one in (same, ~same)
        )
        assert (row["estimate"], row["rest"]) == pytest.approx((inside, rest))
        assert row["difference"] == pytest.approx(inside - rest)
    assert result["difference"].is_sorted()
    assert result["p_value"].null_count() == result.height


@each_constructor
def test_missing_drop_leaves_out_rows_without_a_label(constructor):
    data = {name: list(values) for name, values in ROWS.items()}
    data = {name: [*values, *values[:50]] for name, values in data.items()}
    data["y"][-50:] = [None] * 50

    options = {"over": ["sex", "age"], "missing": "drop", **EDGES}
    result = plain(bf.slices(constructor(data), "y", "yhat", detail=True, **options))
    assert result == plain(bf.slices(FRAME, "y", "yhat", detail=True, **EDGES))
    with pytest.raises(bf.InvalidInputError, match="column 'y' has 50 null values; "):
        bf.slices(constructor(data), "y", "yhat", detail=True, **EDGES).lazy().collect()


def test_balanced_accuracy_of_a_single_label_equals_recall():
    ones = FRAME.filter(y=1)
    options = EDGES | {"metrics": "balanced_accuracy"}
    by_recall = bf.slices(ones, "y", "yhat", detail=True, **EDGES | {"metrics": "recall"})

    assert by_recall.height
    result = bf.slices(ones, "y", "yhat", detail=True, **options)
    assert result.drop("metric").equals(by_recall.drop("metric"))


@cases("make", CONSTRUCTORS)
@cases("options", [{}, EDGES, {"metrics": "f1"}, {"over": ["sex"]}])
def test_a_lazy_result_has_the_schema_of_the_collected_one(make, options):
    lazy = bf.slices(FRAME.lazy(), "y", "yhat", detail=True, **options)
    eager = bf.slices(FRAME, "y", "yhat", detail=True, **options)

    assert lazy.collect_schema() == lazy.collect().schema == eager.schema
    assert lazy.collect().equals(eager)
    assert plain(bf.slices(make(ROWS), "y", "yhat", detail=True, **options)) == plain(eager)


def test_order_of_rows_and_columns_does_not_change_the_result():
    random = np.random.default_rng(0)
    shuffled = FRAME[random.permutation(FRAME.height)]
    first = bf.slices(FRAME, "y", "yhat", depth=2, detail=True)

    for frame in (FRAME, shuffled, FRAME.select("yhat", "sex", "y", "age")):
        assert bf.slices(frame, "y", "yhat", depth=2, over=["sex", "age"], detail=True).equals(
            first
        )


def test_slices_of_duplicate_columns_are_listed_once():
    twice = FRAME.with_columns(again=pl.col("sex").fill_null("none"), more="sex")
    alone = bf.slices(FRAME, "y", "yhat", over=["sex"], detail=True)

    assert alone["n_explained"].to_list() == [0]
    result = bf.slices(twice, "y", "yhat", over=["sex", "again", "more"], detail=True)

    assert result["n"].to_list() == alone["n"].to_list()
    # 3 + 3 + 1 slices of one, two and three conditions have these rows, and one is listed
    assert result["n_explained"].to_list() == [3 + 3 + 1 - 1]


def test_top_limits_the_rows_and_max_slices_refuses_more():
    _, seen = search(FRAME, **EDGES)
    n = len(seen.slices())

    assert bf.slices(FRAME, "y", "yhat", top=1, detail=True, **EDGES).height == 1
    assert bf.slices(FRAME, "y", "yhat", max_slices=n, detail=True, **EDGES).height == 2
    with pytest.raises(bf.InvalidInputError, match=f"more than max_slices={n - 1} slices"):
        bf.slices(FRAME, "y", "yhat", max_slices=n - 1, detail=True, **EDGES)


def test_depth_limits_the_conditions_of_a_slice():
    result, seen = search(FRAME, depth=1, **EDGES)

    assert set(seen.tested.depth) == set(result["depth"]) == {1}
    one, two = (search(FRAME, depth=depth, **EDGES)[1] for depth in (2, 9))
    assert one.slices() == two.slices()


def test_pandas_categories_are_kept_and_the_index_is_ignored():
    frame = pd.DataFrame(ROWS, index=np.arange(1000) * 7 % 13)
    frame["sex"] = pd.Categorical(frame["sex"], ["M", "never", "F"])
    result = bf.slices(frame, "y", "yhat", detail=True, **EDGES)

    assert list(result["slice"]) == ["sex = F and age under 30", "sex is null"]
    assert list(result["sex"].cat.categories) == ["M", "never", "F"]


def test_a_label_without_weight_is_absent():
    data = {
        "g": list("aaaabbbb"),
        "y": [0, 0, 1, 0, 0, 0, 1, 0],
        "yhat": [0, 1, 0, 0, 0, 0, 0, 0],
        "w": [1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0],
    }
    result = bf.slices(
        pl.DataFrame(data), "y", "yhat", sample_weight="w", min_support=1, detail=True
    )

    assert result.select("slice", "estimate", "rest").rows() == [("g = a", 2 / 3, 1.0)]
