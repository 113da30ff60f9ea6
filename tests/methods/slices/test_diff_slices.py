"""`diff_slices`: which slices got worse between two runs."""

import warnings

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import each_constructor, plain

OVER = ["a", "b", "c", "d"]


def rows_of(rng, n, planted=0.0):
    """Return rows whose skill depends on a; of some, the new run is worse by `planted`."""
    columns = {name: rng.integers(0, k, n) for name, k in zip(OVER, (2, 3, 4, 5), strict=True)}
    skill = np.where(columns["a"] == 0, 0.75, 0.9)
    is_planted = (columns["b"] == 1) & (columns["c"] == 2)
    old = (rng.random(n) < skill).astype(int)
    new = (rng.random(n) < skill - planted * is_planted).astype(int)
    frame = pl.DataFrame(columns).with_columns(pl.all().cast(pl.String))
    return frame.with_columns(y=pl.lit(1), p=new, q=old, id=np.arange(n))


@pytest.fixture
def planted():
    return rows_of(np.random.default_rng(1), 4000, 0.35)


def both(planted):
    """Return the new and the old run, with different columns of predictions made alike."""
    return planted.drop("q"), planted.drop("p").rename({"q": "p"})


@each_constructor
def test_a_planted_slice_is_listed_with_mcnemars_exact_p_value(constructor, planted):
    frame = constructor(planted.to_dict(as_series=False))

    out = plain(bf.diff_slices(frame, "y", "p", baseline="q", over=OVER, detail=True))

    assert out["slice"][0] == "b = 1 and c = 2"
    inside = planted.filter((pl.col("b") == "1") & (pl.col("c") == "2"))
    lost, gained = ((inside["p"] < inside["q"]).sum(), (inside["p"] > inside["q"]).sum())
    p = stats.binomtest(lost, lost + gained, alternative="greater").pvalue
    assert out["p_value"][0] == pytest.approx(p, rel=1e-9)
    assert out["n"][0] == out["baseline_n"][0] == inside.height
    assert out["estimate"][0] == pytest.approx(inside["p"].mean())
    assert out["baseline_estimate"][0] == pytest.approx(inside["q"].mean())
    assert out["difference"][0] == pytest.approx(inside["p"].mean() - inside["q"].mean())
    assert out["wrong"][0] == inside.height - inside["p"].sum()
    assert out["p_adjusted"][0] > out["p_value"][0]


def test_other_rows_are_tested_by_fisher(planted):
    new, _ = both(planted)
    old = rows_of(np.random.default_rng(2), 3000).drop("q")

    out = bf.diff_slices(new, "y", "p", baseline=old, over=OVER, detail=True)

    assert out["slice"][0] == "b = 1 and c = 2"
    is_inside = (pl.col("b") == "1") & (pl.col("c") == "2")
    table = [[(side["p"] == 0).sum(), (side["p"] == 1).sum()]
             for side in (new.filter(is_inside), old.filter(is_inside))]  # fmt: skip
    p = stats.fisher_exact(table, alternative="greater").pvalue
    assert out["p_value"][0] == pytest.approx(p, rel=1e-9)
    assert out.select("wrong", "baseline_wrong").row(0) == (table[0][0], table[1][0])


def test_a_key_equals_a_column(planted):
    new, old = both(planted)

    out = bf.diff_slices(new, "y", "p", baseline=old.reverse(), key="id", over=OVER, detail=True)

    expected = bf.diff_slices(planted, "y", "p", baseline="q", over=OVER, detail=True)
    assert_frame_equal(out, expected)
    lazy = bf.diff_slices(new.lazy(), "y", "p", baseline=old, key="id", over=OVER, detail=True)
    assert_frame_equal(lazy.collect(), expected)


def test_the_number_of_tests_is_that_of_slices_that_can_be_significant():
    """Of four slices, two have no discordant row, one has three and one has ten."""
    lost = {"u": 0, "v": 0, "w": 3, "x": 10}
    frame = pl.DataFrame(
        [(g, 1, int(i >= n), 1) for g, n in lost.items() for i in range(40)],
        schema=["g", "y", "p", "q"],
        orient="row",
    )

    out = bf.diff_slices(frame, "y", "p", baseline="q", over="g", detail=True)

    assert out["slice"].to_list() == ["g = x"]
    assert out["p_value"].item() == pytest.approx(2**-10)
    assert out["p_adjusted"].item() == pytest.approx(2**-10)  # 2^-3 is above 0.05
    assert out["n_tests"].item() == 4


def test_slices_within_a_listed_one_are_explained():
    rng = np.random.default_rng(5)
    n = 2000
    g, h = rng.integers(0, 2, n), rng.integers(0, 2, n)
    frame = pl.DataFrame(
        {"g": g, "h": h, "y": [1] * n, "p": np.where((g == 1) & (rng.random(n) < 0.3), 0, 1)}
    ).with_columns(q=1)

    out = bf.diff_slices(frame, "y", "p", baseline="q", over=["g", "h"], detail=True)

    assert out["slice"].to_list() == ["g = 1"]
    assert out["n_explained"].item() == 4  # each value of h, alone and within g = 1


@cases("is_paired", [True, False])
def test_nothing_is_listed_where_nothing_changed(is_paired):
    frame = rows_of(np.random.default_rng(0), 900)
    baseline = "q" if is_paired else frame.drop("p").rename({"q": "p"})

    with pytest.warns(bf.BalframeWarning, match=r"none got significantly worse at level 0\.95"):
        out = bf.diff_slices(frame, "y", "p", baseline=baseline, over=OVER)

    assert out.is_empty()


REFUSED = {
    "is not a proportion of the same rows": {"metrics": "balanced_accuracy"},
    "has no direction": {"metrics": "selection_rate"},
    "no slice is large enough": {"min_support": 10_000},
    "there are more than max_slices=3": {"max_slices": 3},
    "depth=0 is not valid": {"depth": 0},
    "column 'z' not found": {"over": "z"},
    "is a list, but diff_slices": {"y_pred": ["p"]},
    "names a column of the same rows": {"key": "id"},
}


@cases("words", list(REFUSED))
def test_what_cannot_be_searched_is_refused(words):
    frame = rows_of(np.random.default_rng(0), 300).with_columns(y=pl.col("id") % 2)
    options = {"y_pred": "p", "baseline": "q", "over": OVER, "metrics": "accuracy"}

    with pytest.raises(bf.BalframeError, match=words):
        bf.diff_slices(frame, "y", **options | REFUSED[words])


@each_constructor
def test_cells_are_refused_as_either_run(constructor):
    rows = rows_of(np.random.default_rng(0), 300).with_columns(y=pl.col("id") % 2)
    frame = constructor(rows.to_dict(as_series=False))
    cells = bf.confusion(frame, "y", "p", by=OVER)
    of_models = bf.confusion(frame, "y", ["p", "q"], by=OVER)

    for baseline in (cells, of_models):
        for key in (None, "id"):
            with pytest.raises(bf.BalframeError, match=r"^in baseline: these are cells, .*rows of"):
                bf.diff_slices(frame, "y", "p", baseline=baseline, over=OVER, key=key)
    for baseline in ("q", frame):
        with pytest.raises(bf.BalframeError, match=r"^the data are cells, .*rows of both runs"):
            bf.diff_slices(cells, "y", "p", baseline=baseline, over=OVER)


@pytest.mark.simulation
@pytest.mark.parametrize("is_paired", [True, False])
def test_any_slice_is_listed_in_at_most_a_twentieth_of_null_data(is_paired):
    n_listed, n_runs = 0, 200
    for seed in range(n_runs):
        rng = np.random.default_rng(seed)
        frame = rows_of(rng, 800)
        baseline = "q" if is_paired else rows_of(rng, 800).drop("p").rename({"q": "p"})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            n_listed += (
                bf.diff_slices(
                    frame, "y", "p", baseline=baseline, over=OVER, depth=2, labels=[0, 1]
                ).height
                > 0
            )

    assert n_listed <= stats.binom.ppf(0.999, n_runs, 0.05)
