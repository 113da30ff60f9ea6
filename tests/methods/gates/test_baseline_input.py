"""What can be given as a baseline, and what is refused: cells of any library, columns, rules."""

import duckdb
import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import CONSTRUCTORS, assert_table, each_constructor, plain
from tests.support.frames.segment_counts import cells, check, random_frame, table

RULE = "recall >= baseline - 0.1"
NOW, BEFORE = {"a": (60, 20, 15, 55)}, {"a": (70, 10, 15, 55)}
ASKED = {"by": "g", "rules": [RULE, "balanced_accuracy >= baseline"]}


def as_relation(data):
    return duckdb.from_arrow(pa.table(data))


def as_narwhals(data):
    return nw.from_native(pl.DataFrame(data))


def as_lazy_narwhals(data):
    return nw.from_native(pl.LazyFrame(data))


def as_categories(data):
    frame = pd.DataFrame(data)
    return frame.assign(g=frame["g"].astype("category"))


def as_narrow_labels(data):
    frame = pl.DataFrame(data)
    return frame.with_columns(pl.col("y").cast(pl.Boolean), pl.col("p").cast(pl.Int8))


KINDS = [*CONSTRUCTORS, as_relation, as_narwhals, as_lazy_narwhals, as_categories, as_narrow_labels]


@pytest.fixture(scope="module")
def sides():
    """Rows, and cells of others; both have a null segment, and each a segment of its own."""
    earlier = bf.confusion(random_frame(2, segments="abc"), "y", "p", by="g")
    return random_frame(1, segments="bcd"), earlier


@cases("make", KINDS)
def test_baseline_cells_are_accepted_from_every_library(sides, constructor, make):
    frame, earlier = sides
    expected = bf.check(frame, "y", "p", baseline=earlier, detail=True, **ASKED)

    out = bf.check(
        constructor(plain(frame)), "y", "p", baseline=make(plain(earlier)), detail=True, **ASKED
    )

    assert_table(out, plain(expected))


@cases("make", CONSTRUCTORS)
def test_baseline_cells_are_not_modified(sides, make):
    frame, earlier = sides
    baseline = make(plain(earlier))

    bf.check(frame, "y", "p", baseline=baseline, detail=True, **ASKED)

    assert plain(baseline) == plain(earlier)


def test_order_and_names_of_label_columns_of_a_baseline_do_not_matter(sides):
    frame, earlier = sides
    renamed = earlier.select("g", truth="y", said="p", n="n")[::-1]

    out = bf.check(frame, "y", "p", baseline=renamed, detail=True, **ASKED)

    assert out.equals(bf.check(frame, "y", "p", baseline=earlier, detail=True, **ASKED))


def test_baseline_cells_from_files_and_from_combine_are_accepted(sides, tmp_path):
    frame, earlier = sides
    parts = [random_frame(2, segments="abc")[rows] for rows in (slice(0, 300), slice(300, None))]
    added = bf.combine([bf.confusion(part, "y", "p", by="g") for part in parts])
    earlier.write_parquet(tmp_path / "cells.parquet")
    expected = bf.check(frame, "y", "p", baseline=earlier, detail=True, **ASKED)

    for baseline in (added, pl.scan_parquet(tmp_path / "cells.parquet")):
        assert bf.check(frame, "y", "p", baseline=baseline, detail=True, **ASKED).equals(expected)


@cases("baseline", ["q", "cells"])
@each_constructor
def test_passed_and_require_compare_with_the_baseline(constructor, baseline):
    rows = {"y": [1] * 200 + [0] * 200, "p": [1] * 180 + [0] * 220, "q": [1] * 120 + [0] * 280}
    frame = constructor(rows)
    given = "q" if baseline == "q" else bf.confusion(frame, "y", "q")

    for rule, holds in (("recall >= baseline + 0.1", True), ("recall <= baseline", False)):
        out = bf.check(frame, "y", "p", baseline=given, rules=rule, detail=True)
        assert bf.passed(out) is holds
    assert bf.require(frame, "y", "p", baseline=given, rules="recall >= baseline") is frame
    with pytest.raises(bf.CheckFailed, match="1 of 1 verdicts fail") as raised:
        bf.require(frame, "y", "p", baseline=given, rules="recall <= baseline")
    assert plain(raised.value.frame)["baseline_score"] == [120 / 200]


def test_a_segment_only_in_the_baseline_makes_require_fail():
    baseline = cells(BEFORE | {"gone": (70, 10, 15, 55)})
    options = {"by": "g", "counts": "n", "rules": "recall >= baseline - 0.9", "baseline": baseline}
    frame = pl.DataFrame(table(**NOW))

    assert not bf.passed(bf.check(frame, "y", "p", detail=True, **options))
    with pytest.raises(bf.CheckFailed, match=r"inconclusive.*\n.*where g is gone"):
        bf.require(frame, "y", "p", **options)
    assert bf.require(frame, "y", "p", allow_inconclusive=True, **options) is frame


ODD = {
    "a by-column is missing": (
        lambda c: c.drop("g"),
        "by-columns of the baseline are none, but those requested are 'g'. Give cells of the same",
    ),
    "a by-column more": (
        lambda c: c.select("g", pl.lit("x").alias("h"), "y", "p", "n"),
        "by-columns of the baseline are 'g', 'h', but those requested are 'g'",
    ),
    "another by-column": (lambda c: c.rename({"g": "h"}), "baseline are 'h', but .* are 'g'"),
    "labels are strings": (
        lambda c: c.with_columns(pl.col("y", "p").cast(pl.String)),
        "column 'y' holds numbers, column 'y' of the baseline holds strings. Cast one",
    ),
    "segments are numbers": (
        lambda c: c.with_columns(g=pl.lit(3)),
        "column 'g' holds strings in the data and numbers in the baseline.*Cast one",
    ),
    "shares": (lambda c: c.with_columns(share=0.5), "a column 'share', and shares cannot be added"),
    "roll-ups": (
        lambda c: c.select("g", pl.lit("g").alias("grouped_by"), "y", "p", "n"),
        "'grouped_by', so rows would be counted again",
    ),
    "no counts": (lambda c: c.drop("n", "p"), "columns g, y, which are not those of .*`confusion`"),
    "weights": (
        lambda c: c.with_columns(weight=pl.col("n") * 2.0, weight_sq=pl.col("n") * 4.0),
        "the baseline has weights and the data have none. Weight both or neither",
    ),
    "counts below 0": (
        lambda c: c.with_columns(n=-pl.col("n")), "'n' has 4 values that cannot be counts"
    ),
    "counts that are null": (
        lambda c: c.with_columns(n=pl.lit(None, pl.Int64)), "column 'n' has 4 null values"
    ),
    "not one cell": (
        lambda c: bf.report(c, "y", "p", by="g", counts="n"), "not those of a result of `confusion`"
    ),
}  # fmt: skip


@cases(("change", "words"), ODD.values())
def test_incompatible_baseline_cells_are_refused(change, words):
    with pytest.raises(bf.InvalidInputError, match=words):
        check(NOW, RULE, baseline=change(cells(BEFORE)))


def test_weights_beside_a_baseline_without_weights_are_refused():
    frame = pl.DataFrame(table(**NOW)).with_columns(w=1.5)
    options = {"by": "g", "counts": "n", "rules": RULE, "baseline": cells(BEFORE)}

    with pytest.raises(
        bf.InvalidInputError, match="the data have weights and the baseline has none"
    ):
        bf.check(frame, "y", "p", sample_weight="w", detail=True, **options)


GIVEN = {
    "a list": (["q"], bf.UnsupportedTypeError, "has the type list; give the name of a column"),
    "a mapping": ({"q": 1}, bf.UnsupportedTypeError, "has the type dict; give the name of a col"),
    "a column": (pl.Series([1]), bf.UnsupportedTypeError, "has the type Series; give the name"),
    "an unknown name": ("qq", bf.UnknownNameError, "column 'qq' not found; did you mean 'q'"),
    "the model": ("p", bf.InvalidInputError, "baseline='p' is also in y_pred; name another"),
}


@cases(("given", "kind", "words"), GIVEN.values())
def test_invalid_baselines_are_refused(given, kind, words):
    frame = pl.DataFrame({"y": [1, 0], "p": [1, 0], "q": [1, 1]})

    with pytest.raises(kind, match=words):
        bf.check(frame, "y", "p", baseline=given, rules=RULE, detail=True)


@cases("name", ["*", "^y.*$", "a.b", " ", "select", "model", "baseline", "é"])
@each_constructor
def test_a_column_with_an_odd_name_is_accepted_as_baseline(constructor, name):
    rows = {"y": [1, 1, 1, 0], "p": [1, 0, 1, 0], name: [1, 1, 0, 1], "r": [1, 1, 1, 0]}

    for models in ("p", ["p", "r"]):
        out = plain(
            bf.check(constructor(rows), "y", models, baseline=name, rules=RULE, detail=True)
        )

        assert out["score"] == [2 / 3, 1][: len(models)]
        assert out["baseline_score"] == [2 / 3] * len(models)


def test_a_column_is_refused_as_baseline_of_cells():
    with pytest.raises(bf.UnknownNameError, match=r"column 'q' not found. Columns: g, y, p, n\."):
        bf.check(cells(NOW), "y", "p", by="g", baseline="q", rules=RULE, detail=True)


def test_a_baseline_without_a_rule_on_it_and_the_reverse_are_refused():
    words = "rule 'recall >= baseline - 0.1' compares with a baseline, but baseline= is missing"
    for rules in (RULE, ["n >= 1", RULE], {"recall": ">= baseline - 0.1"}):
        with pytest.raises(bf.InvalidInputError, match=words):
            check(NOW, rules)
    with pytest.raises(bf.InvalidInputError, match="baseline= is given, but no rule compares"):
        check(NOW, ["recall >= 0.1", "n >= 1"], baseline=cells(BEFORE))
    with pytest.raises(bf.InvalidInputError, match="'nir' has no confidence interval to deci"):
        check(NOW, "nir >= baseline", baseline=cells(BEFORE))


@cases("name", ["score", "baseline_score", "baseline_n", "n_labels", "estimate"])
def test_a_by_column_with_the_name_of_an_output_column_is_refused(name):
    frame, baseline = (
        one.rename({"g": name}) for one in (pl.DataFrame(table(**NOW)), cells(BEFORE))
    )
    with pytest.raises(bf.InvalidInputError, match=f"more than one column named '{name}'"):
        bf.check(frame, "y", "p", by=name, counts="n", baseline=baseline, rules=RULE, detail=True)
