"""`diff`: what got better, what got worse, and what cannot be said."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.dataset
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import each_constructor, plain

ONLY_ONE_RUN = pytest.mark.filterwarnings("ignore:rows whose key")
PAIRS = [  # of each group: rows that both get right, only the new, only the old, and neither
    ("a", 70, 12, 3, 15),
    ("b", 80, 5, 5, 10),
    ("c", 60, 2, 20, 18),
]
RIGHT = {"a": (90, 80), "b": (60, 90), "c": (85, 84)}  # of 100 rows now, and before


@pytest.fixture
def pairs():
    """Rows whose true label is 1, with the predictions of both runs."""
    kinds = [(1, 1), (1, 0), (0, 1), (0, 0)]
    rows = [
        (group, 1, new, old)
        for group, *numbers in PAIRS
        for (new, old), n in zip(kinds, numbers, strict=True)
        for _ in range(n)
    ]
    frame = pl.DataFrame(rows, schema=["g", "y", "new", "old"], orient="row")
    return frame.with_row_index("id").with_columns(pl.col("id").cast(pl.Int64))


def run_of(position, groups=RIGHT):
    """Return the rows of the new run (0) or of the old one (1)."""
    rows = [
        (group, 1, int(i < right[position])) for group, right in groups.items() for i in range(100)
    ]
    return pl.DataFrame(rows, schema=["g", "y", "p"], orient="row")


def halves(pairs):
    """Return the new and the old run of the pairs, the old one in another order."""
    new = pairs.select("id", "g", "y", p="new")
    old = pairs.select("id", "g", "y", p="old")
    return new, old.sample(fraction=1, shuffle=True, seed=1)


@each_constructor
def test_pairs_are_tested_as_mcnemar_does(constructor, pairs):
    frame = constructor(pairs.to_dict(as_series=False))

    out = plain(bf.diff(frame, "y", "new", baseline="old", by="g", metrics="accuracy", detail=True))

    discordant = [(new, old) for _, _, new, old, _ in PAIRS]
    p = [stats.chi2.sf((b - c) ** 2 / (b + c), 1) for b, c in discordant]
    assert out["g"] == ["a", "b", "c"]
    assert out["difference"] == pytest.approx([(b - c) / 100 for b, c in discordant])
    assert out["estimate"] == pytest.approx([0.82, 0.85, 0.62])
    assert out["baseline_estimate"] == pytest.approx([0.73, 0.85, 0.80])
    assert out["p_value"] == pytest.approx(p)
    assert out["p_adjusted"] == pytest.approx(stats.false_discovery_control(p))
    assert out["verdict"] == ["better", "not decided", "worse"]
    assert (out["n"], out["baseline_n"], out["n_tests"]) == ([100] * 3, [100] * 3, [3] * 3)


def test_a_single_pair_equals_compare(pairs):
    metrics = ["accuracy", "recall", "selection_rate"]
    out = bf.diff(pairs, "y", "new", baseline="old", metrics=metrics, detail=True)

    compared = bf.compare(pairs, "y", ["old", "new"], metrics=metrics, detail=True)
    shared = [name for name in out.columns if name in compared.columns]
    assert len(shared) >= 10
    assert_frame_equal(out.select(shared), compared.select(shared))


@each_constructor
def test_other_rows_are_tested_as_gaps_does(constructor):
    new, old = (constructor(run_of(i).to_dict(as_series=False)) for i in (0, 1))

    out = plain(bf.diff(new, "y", "p", baseline=old, by="g", metrics="accuracy", detail=True))

    stacked = pl.concat([run_of(0).with_columns(run=1), run_of(1).with_columns(run=0)])
    expected = [
        bf.gaps(
            stacked.filter(pl.col("g") == group),
            "y",
            "p",
            by="run",
            reference=0,
            metrics="accuracy",
            detail=True,
        ).filter(pl.col("run") == 1)
        for group in RIGHT
    ]
    p = [gap["p_value"].item() for gap in expected]
    assert out["p_value"] == pytest.approx(p)
    assert out["difference"] == pytest.approx([0.1, -0.3, 0.01])
    assert out["p_adjusted"] == pytest.approx(stats.false_discovery_control(p))
    assert out["verdict"] == ["not decided", "worse", "not decided"]


@cases(
    ("adjust", "share"),
    [("bh", lambda m, k: max(k, 1) / m), ("holm", lambda m, k: 1 / max(m - k, 1)), (None, None)],
)
def test_limits_have_the_level_at_which_they_agree(adjust, share):
    new, old = run_of(0), run_of(1)

    out = bf.diff(new, "y", "p", baseline=old, by="g", metrics="accuracy", adjust=adjust)

    k = out["verdict"].to_list().count("worse") + out["verdict"].to_list().count("better")
    level = 0.95 if share is None else 1 - 0.05 * share(3, k)
    stacked = pl.concat([new.with_columns(run=1), old.with_columns(run=0)])
    for row in out.rows(named=True):
        gap = bf.gaps(
            stacked.filter(pl.col("g") == row["g"]),
            "y",
            "p",
            by="run",
            reference=0,
            metrics="accuracy",
            level=level,
        ).row(1, named=True)
        assert (row["lower"], row["upper"]) == pytest.approx((gap["lower"], gap["upper"]))


def random_runs(seed, n=400):
    """Return rows of many groups, in some of which the new run is better or worse."""
    rng = np.random.default_rng(seed)
    g, y = rng.integers(0, 8, n), rng.integers(0, 2, n)
    skill = rng.choice([0.5, 0.7, 0.9], 8)
    new = np.where(rng.random(n) < skill[g], y, 1 - y)
    old = np.where(rng.random(n) < 0.7, y, 1 - y)
    weight = rng.choice([0.5, 1.0, 3.0], n)
    return pl.DataFrame({"id": np.arange(n), "g": g, "y": y, "p": new, "q": old, "w": weight})


@cases("adjust", ["bh", "holm", None])
@cases("weight", [None, "w"])
@cases("is_paired", [True, False])
def test_limits_p_values_and_statuses_agree(adjust, weight, is_paired):
    metrics = ["accuracy", "uar", "fpr", "recall", "selection_rate", "f1"]
    statuses = set()
    for seed in range(4):
        frame = random_runs(seed)
        old = frame.select("g", "y", "w", p="q")
        out = bf.diff(
            frame,
            "y",
            "p",
            baseline="q" if is_paired else old,
            by="g",
            metrics=metrics,
            adjust=adjust,
            sample_weight=weight,
            margins="overall",
            level=0.9,
            detail=True,
        )
        for row in out.rows(named=True):
            excludes_zero = row["lower"] is not None and not row["lower"] <= 0 <= row["upper"]
            assert excludes_zero == (row["verdict"] not in ("not decided", None)), row
            if row["p_adjusted"] is not None:
                assert excludes_zero == (row["p_adjusted"] < 0.1), row
            if excludes_zero:
                is_higher = row["difference"] > 0
                words = {"fpr": ("worse", "better"), "selection_rate": ("higher", "lower")}
                word = words.get(row["metric"], ("better", "worse"))[0 if is_higher else 1]
                assert row["verdict"] == word
            statuses.add(row["verdict"])
    assert {"better", "worse", "not decided"} <= statuses


def test_a_metric_without_a_test_is_decided_by_limits_for_all_segments():
    new, old = run_of(0), run_of(1)

    out = bf.diff(new, "y", "p", baseline=old, by="g", metrics="f1", detail=True)

    assert out["p_adjusted"].null_count() == 3
    assert out["n_tests"].to_list() == [0] * 3
    single = bf.diff(
        new.filter(pl.col("g") == "b"), "y", "p", metrics="f1", level=1 - 0.05 / 3,
        baseline=old.filter(pl.col("g") == "b"),
    )  # fmt: skip
    limits = out.select("lower", "upper")
    assert limits.row(1) == pytest.approx(single.select("lower", "upper").row(0), abs=1e-12)
    assert out["verdict"].to_list() == ["not decided", "worse", "not decided"]


@each_constructor
def test_segments_of_one_run_are_rows_that_cannot_be_compared(constructor):
    new = constructor(run_of(0).filter(pl.col("g") != "c").to_dict(as_series=False))
    old = constructor(run_of(1).filter(pl.col("g") != "a").to_dict(as_series=False))

    out = plain(bf.diff(new, "y", "p", baseline=old, by="g", metrics="accuracy", detail=True))

    assert out["g"] == ["a", "b", "c"]
    assert out["verdict"] == [None, "worse", None]
    assert out["difference"] == [None, pytest.approx(-0.3), None]
    assert out["estimate"] == [0.9, 0.6, None]
    assert out["baseline_estimate"] == [None, 0.9, 0.84]
    assert (out["n"], out["baseline_n"]) == ([100, 100, 0], [0, 100, 100])


def test_cells_and_finer_cells_equal_rows():
    new, old = (run_of(i).with_columns(h=pl.int_range(pl.len()) % 3) for i in (0, 1))

    out = bf.diff(new, "y", "p", baseline=old, by="g", detail=True)

    for by in ("g", ["h", "g"]):
        cells = bf.confusion(old, "y", "p", by=by)
        assert_frame_equal(bf.diff(new, "y", "p", baseline=cells, by="g", detail=True), out)
    new_cells = bf.confusion(new, "y", "p", by="g")
    assert_frame_equal(bf.diff(new_cells, "y", "p", baseline=cells, by="g", detail=True), out)


def test_several_models_are_compared_with_the_cells_of_each():
    frame = random_runs(1)
    cells = bf.confusion(frame, "y", ["p", "q"], by="g")

    out = bf.diff(frame, "y", ["p", "q"], baseline=cells, by="g")

    assert set(out["difference"]) == {0.0}
    assert set(out["model"]) == {"p", "q"}


@each_constructor
def test_a_key_finds_the_pairs(constructor, pairs):
    new, old = (constructor(half.to_dict(as_series=False)) for half in halves(pairs))

    out = plain(bf.diff(new, "y", "p", baseline=old, by="g", key="id", detail=True))

    expected = plain(bf.diff(pairs, "y", "new", baseline="old", by="g", detail=True))
    assert out.pop("n_only_new") == out.pop("n_only_baseline") == [0] * 6
    assert out == expected


def test_a_key_finds_the_pairs_of_files_and_of_dictionaries(pairs, tmp_path):
    expected = bf.diff(pairs, "y", "new", baseline="old", by="g")
    tables = [half.with_columns(pl.col("g", "id").cast(pl.String)) for half in halves(pairs)]
    for name, table in zip(("new", "old"), tables, strict=True):
        table.write_parquet(tmp_path / name)
    new, old = (pyarrow.dataset.dataset(tmp_path / name) for name in ("new", "old"))
    out = bf.diff(new, "y", "p", baseline=old, by="g", key="id", backend="polars")
    assert_frame_equal(out, expected)

    new, old = (
        table.with_columns(pl.col("g", "id").cast(pl.Categorical)).to_pandas(
            use_pyarrow_extension_array=True
        )
        for table in tables
    )
    assert str(new["id"].dtype).startswith("dictionary")
    out = bf.diff(new, "y", "p", baseline=old, by="g", key="id", backend="polars")
    assert_frame_equal(out, expected, check_dtypes=False)


@cases(
    "options",
    [{"sample_weight": "w"}, {"cluster": "c"}, {"counts": "k"}, {"margins": "overall"}, {}],
)
def test_a_key_keeps_weights_clusters_counts_and_margins(options):
    frame = random_runs(3).with_columns(
        c=pl.col("id") % 50, k=pl.col("id") % 3, id=pl.col("id").cast(pl.String)
    )
    others = ["g", "w", "c", "k"]
    new, old = frame.select("id", "y", "p", *others), frame.select("id", "y", *others, p="q")

    out = bf.diff(
        new.reverse(), "y", "p", baseline=old, by="g", key="id", detail=True, **options
    ).drop("n_only_new", "n_only_baseline")

    expected = bf.diff(frame, "y", "p", baseline="q", by="g", detail=True, **options)
    assert_frame_equal(out, expected)


@each_constructor
def test_rows_of_one_run_are_counted_and_left_out(constructor, pairs):
    new, old = halves(pairs)
    new = new.filter((pl.col("g") != "c") & (pl.col("id") != 0))
    old = old.filter((pl.col("g") != "b") & (pl.col("id") != 1))
    frames = [constructor(frame.to_dict(as_series=False)) for frame in (new, old)]

    with pytest.warns(bf.BalframeWarning, match="101 of the data and 101 of the baseline"):
        out = plain(
            bf.diff(
                frames[0], "y", "p", baseline=frames[1], by="g", key="id", metrics="accuracy",
                margins="overall", detail=True,
            )
        )  # fmt: skip

    assert out["g"] == ["a", "b", "c", None]
    assert out["n"] == out["baseline_n"] == [98, 0, 0, 98]
    assert out["n_only_new"] == [1, 100, 0, 101]
    assert out["n_only_baseline"] == [1, 0, 100, 101]
    assert out["verdict"] == ["better", None, None, "better"]
    assert out["difference"] == [pytest.approx(9 / 98), None, None, pytest.approx(9 / 98)]


@each_constructor
def test_rows_whose_group_changed_are_counted_in_the_new_one(constructor, pairs):
    new, old = halves(pairs)
    moved = pl.when(pl.col("id") < 2).then(pl.lit("b")).when(pl.col("id") > 2).then("g")
    frames = [
        constructor(frame.to_dict(as_series=False)) for frame in (new, old.with_columns(g=moved))
    ]
    options = {"by": "g", "key": "id", "metrics": "accuracy"}

    with pytest.warns(bf.BalframeWarning, match="'g' has another value .* in 3 of 300 rows"):
        out = plain(bf.diff(frames[0], "y", "p", baseline=frames[1], **options))

    assert out == plain(bf.diff(new, "y", "p", baseline=old, **options))


@cases("values", [[0.5, 1.5], [None, float("nan")], ["0", "1"]])
def test_a_group_of_numbers_can_change(values, pairs):
    new, old = halves(pairs)
    number = (pl.col("id") % 2).cast(pl.Float64)
    old = old.with_columns(g=pl.Series(values * 150, strict=False))
    n_changed = 0 if values[0] is None else 300

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        new = new.with_columns(g=None if n_changed == 0 else number).cast({"g": pl.Float64})
        bf.diff(new, "y", "p", baseline=old, by="g", key="id")

    texts = [str(warning.message) for warning in caught if "another" in str(warning.message)]
    assert len(texts) == (n_changed > 0)
    assert all("in 300 of 300 rows" in text for text in texts)


@ONLY_ONE_RUN
def test_an_earlier_frame_needs_no_columns_but_the_key_and_the_labels(pairs):
    new, old = halves(pairs)

    out = bf.diff(
        new, "y", "p", baseline=old.drop("g").filter(pl.col("id") > 9), by="g", key="id",
        metrics="accuracy", detail=True,
    )  # fmt: skip

    assert out["n"].to_list() == [90, 100, 100]
    assert out["n_only_new"].to_list() == [10, 0, 0]
    assert out["n_only_baseline"].to_list() == [0, 0, 0]


@ONLY_ONE_RUN
def test_nulls_are_dropped_in_pairs_and_placeholders_are_not_seen(pairs):
    new, old = halves(pairs)
    is_null = pl.col("id").is_in([0, 1])
    old = old.with_columns(p=pl.when(is_null).then(None).otherwise("p")).filter(pl.col("id") != 2)

    with pytest.raises(bf.InvalidInputError, match="'p of the baseline' has 2 null"):
        bf.diff(new, "y", "p", baseline=old, by="g", key="id")
    out = bf.diff(
        new, "y", "p", baseline=old, by="g", key="id", missing="drop", metrics="accuracy",
        detail=True,
    )  # fmt: skip

    assert out["n"].to_list() == [97, 100, 100]
    assert out["n_only_new"].to_list() == [1, 0, 0]


def test_libraries_may_differ_and_a_lazy_frame_stays_lazy(pairs):
    new, old = halves(pairs)
    expected = bf.diff(new, "y", "p", baseline=old, by="g", key="id")

    lazy = bf.diff(new.lazy(), "y", "p", baseline=old.to_pandas(), by="g", key="id")

    assert isinstance(lazy, pl.LazyFrame)
    assert_frame_equal(lazy.collect(), expected)
    in_pandas = bf.diff(new.to_pandas(), "y", "p", baseline=old.lazy(), by="g", key="id")
    assert isinstance(in_pandas, pd.DataFrame)
    assert in_pandas["verdict"].to_list() == expected["verdict"].to_list()
    arrow = bf.diff(new.to_arrow(), "y", "p", baseline=old.to_arrow(), by="g", key="id")
    assert arrow["difference"].to_pylist() == expected["difference"].to_list()


REFUSED = {
    "share their value": lambda new, old: (new, pl.concat([old, old.head(1)]), {}),
    "3 rows of the data": lambda new, old: (
        new.with_columns(id=pl.when(pl.col("id") > 2).then("id").otherwise(5)).filter(
            pl.col("id").is_in([5]) | (pl.col("id") > 7)
        ).head(3),
        old,
        {},
    ),
    "is null in 1 rows of the baseline": lambda new, old: (
        new,
        old.with_columns(id=pl.when(pl.col("id") == 4).then(None).otherwise("id")),
        {},
    ),
    "2 of 300 rows that both have differ in": lambda new, old: (
        new,
        old.with_columns(y=pl.when(pl.col("id") < 2).then(0).otherwise("y")),
        {},
    ),
    "no value that is in both": lambda new, old: (new, old.with_columns(pl.col("id") + 1000), {}),
    "numbers in the data and strings": lambda new, old: (
        new,
        old.with_columns(pl.col("id").cast(pl.String)),
        {},
    ),
    "column 'idd' not found": lambda new, old: (new, old, {"key": "idd"}),
    "in baseline: column 'id' not found": lambda new, old: (new, old.drop("id"), {}),
    "is a list of models": lambda new, old: (new, old, {"y_pred": ["p"]}),
    "names a column of the same rows": lambda new, old: (new, "y", {}),
}  # fmt: skip


@pytest.mark.parametrize("words", REFUSED)
def test_rows_that_cannot_be_matched_are_refused(pairs, words):
    new, old, options = REFUSED[words](*halves(pairs))

    with pytest.raises(bf.BalframeError, match=words):
        bf.diff(new, baseline=old, **{"y_true": "y", "y_pred": "p", "key": "id", **options})


def test_what_other_rows_cannot_have_is_refused():
    new, old = run_of(0), run_of(1)

    with pytest.raises(bf.InvalidInputError, match="if both runs have the same rows"):
        bf.diff(new, "y", "p", baseline=old, cluster="g")
    with pytest.raises(bf.BalframeError, match="in baseline: column 'p' not found"):
        bf.diff(new, "y", "p", baseline=old.drop("p"), by="g")
    with pytest.raises(bf.BalframeError, match="in baseline: column 'g' not found"):
        bf.diff(new, "y", "p", baseline=old.drop("g"), by="g")
    weighted, cells = new.with_columns(w=1.0), bf.confusion(old, "y", "p", by="g")
    with pytest.raises(bf.BalframeError, match="Weight both or neither"):
        bf.diff(weighted, "y", "p", baseline=cells, by="g", sample_weight="w")
    with pytest.raises(bf.UnsupportedTypeError, match="baseline= has the type list"):
        bf.diff(new, "y", "p", baseline=[1], by="g")


def test_a_table_shows_the_statuses():
    out = bf.diff(run_of(0), "y", "p", baseline=run_of(1), by="g", metrics="accuracy")

    html = bf.table(out).as_raw_html()

    assert html.count("not decided") == 2
    assert "worse" in html
