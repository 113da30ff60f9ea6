"""What `cluster` does not change, and ways of asking that give the same answer."""

import numpy as np
import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import each_constructor, plain
from tests.support.frames.clustered_rows import ask, close, drawn

RULES = ["uar >= 0.5", "accuracy > 0.4", "n >= 1", "difference(accuracy) <= 0.5", "mcc >= 0"]
ALL = {"metrics": "all", "interval": True}
ASKED = {
    "report": (bf.report, "p", ALL),
    "report, long": (bf.report, "p", {**ALL, "layout": "long", "level": 0.8}),
    "report, scas": (bf.report, "p", {"metrics": ["uar", "f1"], "interval": "scas"}),
    "classes": (bf.classes, "p", {"interval": True}),
    "gaps": (bf.gaps, "p", {"metrics": ["uar", "accuracy", "f1", "mcc"]}),
    "gaps, largest": (bf.gaps, "p", {"reference": "largest"}),
    "gaps, overall": (bf.gaps, "p", {"reference": "overall"}),
    "disparity": (bf.disparity, "p", {"metrics": ["uar", "accuracy"]}),
    "fairness": (bf.fairness, "p", {}),
    "compare": (bf.compare, ["p", "q"], {"metrics": ["uar", "accuracy"]}),
    "check": (bf.check, "p", {"rules": RULES}),
    "check, baseline": (bf.check, "p", {"rules": "uar >= baseline - 0.2", "baseline": "q"}),
    "ranking": (bf.ranking, "s", {}),
    "ranking, rest": (bf.ranking, "s", {"reference": "rest"}),
    "ranking, segment": (bf.ranking, "s", {"reference": "b"}),
}
each = cases(("method", "predicted", "options"), ASKED.values())
OF_ONE_MODEL = {
    name: one for name, one in ASKED.items() if one[1] == "p" and "baseline" not in one[2]
}
of_one_model = cases(("method", "predicted", "options"), OF_ONE_MODEL.values())
UNCERTAIN = ("lower", "upper", "p_value", "p_value_recalls", "p_adjusted", "status", "note")
UNCERTAIN += ("statistic", "n_tests", "method", "p_value_all", "verdict")
FAMILY = {"p_adjusted", "n_tests", "verdict"}  # which are of all tests together
NAMES = {"reference", "lowest", "highest"}  # of segments, which have all columns in them
ADDED = {"n_clusters", "clusters_left_out", "effective_clusters", "design_effect"}


def same(one, other):
    """Compare all columns; only floats may be off by rounding."""
    assert len(one) == len(other)
    for row, expected in zip(one, other, strict=True):
        assert row == {
            name: close(value) if isinstance(value, float) else value
            for name, value in expected.items()
        }


@each
def test_cluster_does_not_change_estimates(method, predicted, options):
    frame = drawn(0)

    found, plain_rows = (ask(method, frame, predicted, cluster=c, **options) for c in ("c", None))

    for row, expected in zip(found, plain_rows, strict=True):
        assert row.keys() - expected.keys() <= ADDED
        for name, value in expected.items():
            if not name.endswith(UNCERTAIN):
                assert row[name] == value, name


@each
def test_clusters_of_one_row_give_the_result_without_clusters(method, predicted, options):
    frame = drawn(0).with_columns(c=np.random.default_rng(0).permutation(90))

    found, expected = (ask(method, frame, predicted, cluster=c, **options) for c in ("c", None))

    for row, one in zip(found, expected, strict=True):
        names = one.keys() - {"method"}  # which is that of clusters, whatever their rows
        assert {name: row[name] for name in names} == {name: one[name] for name in names}


def test_report_names_the_interval_method_of_rows_in_clusters():
    methods = {"accuracy": "wilson", "uar": "score", "mcc": "fisher", "geometric_mean": None}

    result = ask(bf.report, drawn(0), metrics=[*methods], interval=True, layout="long")

    assert [row["method"] for row in result] == [*methods.values()] * 3
    assert {row["lower"] is None for row in result if row["method"] is None} == {True}
    assert {row["lower"] is None for row in result if row["method"] is not None} == {False}


@each
def test_order_of_rows_and_names_of_clusters_do_not_change_the_result(method, predicted, options):
    frame = drawn(0)
    names = np.random.default_rng(0).permutation(20)
    mixed = frame.with_columns(c=pl.lit("p") + pl.Series(names)[frame["c"]].cast(str))

    found = ask(method, mixed.sample(fraction=1, shuffle=True, seed=0), predicted, **options)

    same(found, ask(method, frame, predicted, **options))


@each
def test_counts_equal_repeated_rows(method, predicted, options):
    frame = drawn(0).with_columns(n=np.random.default_rng(1).integers(0, 4, size=90))
    counted = frame.filter(pl.col("n") > 0)
    repeated = counted.select(pl.all().repeat_by("n")).explode(pl.all())

    found = ask(method, frame, predicted, counts="n", **options)

    same(found, ask(method, repeated, predicted, **options))


@of_one_model
def test_cells_with_clusters_equal_their_rows(method, predicted, options):
    frame = drawn(0)
    parts = [frame[:40], frame[40:]]

    cells = pl.concat(bf.confusion(one, "y", "p", by="g", cluster="c") for one in parts)

    same(ask(method, cells, counts="n", **options), ask(method, frame, predicted, **options))


@pytest.mark.thorough
@each
def test_each_margin_equals_the_result_of_its_own_by_columns(method, predicted, options):
    frame = drawn(0).with_columns(h=np.random.default_rng(3).integers(2, size=90))
    if options.get("reference") == "b":
        options = {"reference": {"g": "b", "h": 1}}

    found = ask(method, frame, predicted, by=["g", "h"], margins="all", **options)

    for by in (["g", "h"], ["g"], ["h"]):
        own = dict(options)
        if isinstance(own.get("reference"), dict):
            own["reference"] = {name: own["reference"][name] for name in by}
        alone = ask(method, frame, predicted, by=by, **own)
        margin = [row for row in found if row["grouped_by"] == ", ".join(by)]
        same(*(without(NAMES, side) for side in (among(margin, alone), alone)))


@cases("name", ["report", "report, long", "classes", "compare", "ranking"])
def test_a_segment_has_the_same_result_without_other_segments(name):
    method, predicted, options = ASKED[name]
    frame = drawn(0)

    found = ask(method, frame, predicted, **options)

    for segment in "abc":
        alone = ask(method, frame.filter(g=segment), predicted, **options)
        among_others = [row for row in found if row["g"] == segment]
        same(*(without(FAMILY, side) for side in (among_others, alone)))


@cases("name", ["report", "classes", "gaps", "fairness", "check", "ranking, rest"])
def test_a_model_has_the_same_result_without_other_models(name):
    method, predicted, options = ASKED[name]
    options = {**options, "adjust": None} if method is bf.check else options
    frame = drawn(0).with_columns(t=1 - pl.col("s"))
    other = {"p": "q", "s": "t"}[predicted]

    found = ask(method, frame, [predicted, other], **options)

    for model in (predicted, other):
        alone = ask(method, frame, model, **options)
        of_model = [row for row in found if row["model"] == model]
        same(*(without(FAMILY, side) for side in (among(of_model, alone), alone)))


def among(found, alone):
    """Take the columns that the rows alone have too."""
    return [{name: row[name] for name in one} for row, one in zip(found, alone, strict=True)]


def without(names, found):
    return [{name: value for name, value in row.items() if name not in names} for row in found]


class TestNullClusters:
    FRAME = drawn(0).with_columns(c=pl.when(pl.col("c") > 0).then("c"))

    @each
    def test_missing_drop_leaves_out_rows_without_a_cluster(self, method, predicted, options):
        found = ask(method, self.FRAME, predicted, missing="drop", **options)

        for row in found:
            row.pop("n_missing", None)
        same(found, ask(method, self.FRAME.drop_nulls("c"), predicted, **options))

    def test_n_missing_counts_rows_without_a_cluster(self):
        found = ask(bf.report, self.FRAME, missing="drop")

        expected = self.FRAME.filter(pl.col("c").is_null()).group_by("g").len().sort("g")["len"]
        assert [row["n_missing"] for row in found] == expected.to_list()
        assert sum(expected) > 0

    @pytest.mark.parametrize("method", [bf.report, bf.ranking])
    def test_rows_without_a_cluster_raise_by_default(self, method):
        n = self.FRAME["c"].null_count()
        words = rf"^column 'c' has {n} null values; fill them, or give missing=\"drop\" to drop"

        with pytest.raises(bf.BalframeError, match=words):
            method(self.FRAME, "y", {bf.report: "p", bf.ranking: "s"}[method], cluster="c")


@each_constructor
def test_clusters_of_text_and_of_floats_give_the_same_result(constructor):
    frame = {"y": [0, 1] * 8, "p": [0, 1, 1, 1] * 4, "c": [*"aabbccdd"] * 2, "b": [True, False] * 8}
    frame["d"] = [0.5, 0.5, 1, 1, 2, 2, 3, 3] * 2

    by_text, by_number = (
        plain(bf.report(constructor(frame), "y", "p", cluster=name, interval=True)) for name in "cd"
    )

    assert by_text == by_number
    assert by_text["n_clusters"] == [4]
