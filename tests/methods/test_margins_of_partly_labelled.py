"""Margins of rows of which only some have a true label."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import assert_table, each_constructor, plain
from tests.support.frames.partly_labelled import answers

RNG = np.random.default_rng(11)
N = 3000
ROWS = answers(N, share=0.3, rejected=0.15).with_columns(
    region=pl.Series(RNG.choice(["north", "south", ""], N, p=[0.5, 0.3, 0.2])).replace("", None),
    size=pl.Series(RNG.choice(["big", ""], N)).replace("", None),
    chance=pl.Series(RNG.choice([0.1, 0.3, 0.6], N)),
)
NAMES = {"y_true": "human", "y_pred": "model"}
BY = ["region", "size"]
MARGINS = {"region, size": BY, "region": ["region"], "size": ["size"], "overall": []}
SHARES = ["accuracy", "npv", "prevalence", "selection_rate"]
METRICS = [*SHARES, "recall", "balanced_accuracy"]
RULES = ["accuracy >= 0.7", "precision >= 0.85", "n >= 400"]
CORRECT, BOUNDS, KEEP = ({"missing": word} for word in ("correct", "bounds", "keep"))
VERDICTS = {"missing": bf.correct(["size", "judge"])}
DOUBTED_VERDICTS = {"missing": bf.correct(["size", "judge"], doubt=2)}
PROBABILITIES = {"missing": bf.correct("region", probability="chance")}
SEVERAL_SEGMENTS = ("gaps", "disparity")

pytestmark = pytest.mark.filterwarnings("ignore:in .* segments, fewer than 5 rows")


def margin(result, name, columns):
    return result.filter(pl.col("grouped_by") == name).select(columns)


@cases(
    ("method", "options"),
    [
        ("report", {**CORRECT, "metrics": METRICS, "interval": True}),
        ("report", {**VERDICTS, "metrics": METRICS, "layout": "long", "detail": True}),
        ("report", {**PROBABILITIES, "metrics": METRICS, "interval": True}),
        ("report", {**DOUBTED_VERDICTS, "metrics": SHARES, "interval": True}),
        ("report", {**BOUNDS, "metrics": SHARES, "interval": True}),
        ("classes", {**VERDICTS, "interval": True}),
        ("confusion", {**PROBABILITIES, "normalize": "true", "complete": True}),
        ("confusion", KEEP),
        ("gaps", {**PROBABILITIES, "metrics": ["accuracy", "recall"], "detail": True}),
        ("gaps", {**VERDICTS, "metrics": "accuracy", "reference": "largest"}),
        ("gaps", {**CORRECT, "metrics": "npv", "reference": "best", "adjust": "holm"}),
        ("disparity", {**VERDICTS, "metrics": ["accuracy", "recall"], "detail": True}),
        ("check", {**PROBABILITIES, "rules": RULES, "detail": True}),
        ("check", {**DOUBTED_VERDICTS, "rules": RULES}),
        ("check", {**BOUNDS, "rules": RULES}),
    ],
)
def test_a_margin_is_what_its_columns_alone_give(method, options):
    call = getattr(bf, method)
    out = call(ROWS, **NAMES, by=BY, margins="all", **options)

    assert out["grouped_by"].unique(maintain_order=True).to_list() == [*MARGINS]
    for name, by in MARGINS.items():
        if not by and method in SEVERAL_SEGMENTS:
            continue
        alone = call(ROWS, **NAMES, by=by or None, **options)
        columns = [column for column in alone.columns if column != "reference"]  # "north", "size=1"
        assert_table(margin(out, name, columns), plain(alone.select(columns)))


@cases(("strata", "columns"), [(CORRECT, []), (VERDICTS, ["judge"]), (PROBABILITIES, ["chance"])])
def test_cells_have_the_margins_of_their_rows(strata, columns):
    cells = bf.confusion(ROWS, **NAMES, by=[*BY, *columns], **KEEP)
    options = {**NAMES, **strata, "by": BY, "margins": "all", "metrics": METRICS}

    expected = bf.report(ROWS, **options)
    assert_table(bf.report(cells, **options), plain(expected))


def test_the_rows_of_a_stratum_are_those_of_all_segments_together():
    out = bf.report(ROWS, "human", "judge", by=BY, margins="overall", metrics="accuracy", **CORRECT)
    right = pl.col("human") == pl.col("judge")
    strata = ROWS.group_by("judge").agg(pl.len(), right.mean()).select("len", "human")
    expected = sum(n * share for n, share in strata.iter_rows()) / N
    *segments, overall = out.select("n", "accuracy").rows()

    assert overall == (N, pytest.approx(expected))
    mean_of_segments = sum(n * accuracy for n, accuracy in segments) / N
    assert abs(mean_of_segments - expected) > 0.001


def test_a_verdict_that_is_a_by_column_has_strata_in_every_margin():
    options = {"metrics": "accuracy", "margins": "overall", "missing": bf.correct("size")}
    out = bf.report(ROWS, "human", "judge", by="size", **options)
    *segments, overall = out.select("n", "accuracy").rows()

    mean_of_segments = sum(n * accuracy for n, accuracy in segments) / N
    assert overall[1] == pytest.approx(mean_of_segments)


@each_constructor
def test_every_library_gives_the_same(constructor):
    frame = constructor(ROWS.drop("truth").to_dict(as_series=False))
    options = {**NAMES, "missing": bf.correct("judge"), "by": BY, "margins": "all"}
    for method, own in (
        (bf.report, {"metrics": "accuracy", "interval": True}),
        (bf.gaps, {"metrics": "prevalence"}),
        (bf.confusion, KEEP),
    ):
        expected = method(ROWS, **{**options, **own})
        assert_table(method(frame, **{**options, **own}), plain(expected))


def test_a_lazy_frame_has_the_columns_of_its_result():
    options = {**NAMES, **CORRECT, "by": BY, "margins": "overall"}
    lazy, eager = (bf.report(frame, **options) for frame in (ROWS.lazy(), ROWS))

    assert lazy.collect_schema() == eager.schema


def test_a_model_in_a_list_has_margins_too():
    options = {"by": BY, "margins": "all", "metrics": "accuracy", **CORRECT}
    out = bf.report(ROWS, "human", ["model"], **options)

    assert out["model"].unique().to_list() == ["model"]
    assert_frame_equal(out.drop("model"), bf.report(ROWS, "human", "model", **options))


def test_a_warning_counts_segments_but_not_margins():
    rows = ROWS.with_columns(
        human=pl.when(pl.col("region").ne_missing("north") | (pl.col("model") == 1)).then("human")
    )
    with pytest.warns(bf.BalframeWarning, match="in 1 of 3 segments, fewer than 5 rows"):
        bf.report(rows, **NAMES, by="region", margins="overall", **CORRECT)


def test_segments_of_few_and_many_strata_have_the_same_limits_as_alone():
    rows = ROWS.with_columns(
        verdict=pl.when(pl.col("region") == "north").then(pl.int_range(N) % 40).otherwise(0)
    )
    options = {**NAMES, "metrics": METRICS, "interval": True, "missing": bf.correct("verdict")}
    out = bf.report(rows, by="region", margins="overall", **options)

    south = bf.report(rows.filter(pl.col("region") == "south"), **options)
    of_south = out.filter(pl.col("region") == "south").select(south.columns)
    assert_table(of_south, plain(south))
    assert_table(margin(out, "overall", south.columns), plain(bf.report(rows, **options)))


def test_a_plan_of_labels_has_no_margins():
    with pytest.raises(bf.InvalidInputError) as caught:
        bf.power(ROWS, **NAMES, by=BY, margins="all", rules="accuracy >= 0.5", **CORRECT)

    assert str(caught.value) == (
        "margins='all' cannot be combined with missing='correct' in a plan of labels: each row of "
        "the data would be in several strata, and drawn for each. Make one plan for each margin, "
        "with its columns as by."
    )
