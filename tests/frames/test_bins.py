"""Bins are by-columns: the same segments as those of a column that was cut by hand."""

import random

import pandas as pd
import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import CONSTRUCTORS, plain
from tests.support.method_arguments import METHODS_WITH_BY, example_arguments

RNG = random.Random(67)
N = 240
AGES = [RNG.choice([None, *range(15, 80)]) for _ in range(N)]
TEXTS = ["under 25", "25 to 45", "45 or more"]
ROWS = {
    "age": AGES,
    "y": [RNG.choice([0, 1]) for _ in AGES],
    "p": [RNG.choice([0, 1]) for _ in AGES],
    "q": [RNG.choice([0, 1]) for _ in AGES],
    "s": [RNG.randrange(100) / 100 for _ in AGES],
    "t": [RNG.randrange(100) / 100 for _ in AGES],
    "k": [RNG.choice([0, 1, 3]) for _ in AGES],
}


def text_of(age):
    """Return the bin of an age, by hand."""
    return None if age is None else TEXTS[(age >= 25) + (age >= 45)]


BY_HAND = pl.DataFrame(ROWS).with_columns(
    age=pl.Series([text_of(age) for age in AGES], dtype=pl.Enum(TEXTS))
)


@pytest.mark.parametrize("method", [name for name in METHODS_WITH_BY if name != "monitor"])
def test_every_method_has_the_segments_of_a_column_cut_by_hand(method):
    arguments = example_arguments(method) | {"by": "age"}
    function = getattr(bf, method)

    out = function(pl.DataFrame(ROWS), **arguments | {"by": bf.bins("age", [25, 45])})

    assert out.equals(function(BY_HAND, **arguments))


@cases("make", CONSTRUCTORS)
def test_bins_are_in_order_with_null_last_in_every_library(make):
    out = plain(bf.report(make(ROWS), "y", "p", by=bf.bins("age", [45, 25]), metrics="accuracy"))

    assert out["age"] == [*TEXTS, None]
    assert out["n"] == [sum(text_of(age) == text for age in AGES) for text in out["age"]]


def test_a_number_of_bins_has_about_equally_many_rows():
    frame = pl.DataFrame({"x": [1, 2, 3, 4, 5, 6, 7, 8], "y": [1] * 8, "p": [1, 0] * 4})

    for form in (frame, frame.lazy(), frame.to_pandas(), frame.to_arrow()):
        out = plain(bf.report(form, "y", "p", by=bf.bins("x", 4), metrics="accuracy"))
        # the values with 1/4, 1/2 and 3/4 of the rows up to them begin the next bin
        assert out["x"] == ["under 2", "2 to 4", "4 to 6", "6 or more"]
        assert out["n"] == [1, 2, 2, 3]


def test_counts_weigh_the_rows_of_bins():
    rows = pl.DataFrame(ROWS).filter(pl.col("k") > 0)
    repeated = rows.select(pl.all().repeat_by("k").explode())

    for number in (2, 3, 7):
        by = bf.bins("age", number)
        expected = bf.report(repeated, "y", "p", by=by, metrics="accuracy")
        assert bf.report(rows, "y", "p", by=by, counts="k", metrics="accuracy").equals(expected)


def test_cells_of_a_column_of_numbers_are_cut_as_their_rows():
    rows, by = pl.DataFrame(ROWS), bf.bins("age", 3)
    cells = bf.confusion(rows, "y", "p", by="age")

    assert bf.report(cells, "y", "p", by=by).equals(bf.report(rows, "y", "p", by=by))


def test_a_baseline_is_cut_at_the_edges_of_the_data():
    new, old = pl.DataFrame(ROWS)[:120], pl.DataFrame(ROWS)[120:]
    by = bf.bins("age", 2)
    bins = bf.report(new, "y", "p", by=by)["age"].cast(str).drop_nulls().to_list()
    edge = int(bins[0].removeprefix("under "))

    out = bf.diff(new, "y", "p", baseline=old, by=by, metrics="accuracy", detail=True)

    at_edge = bf.bins("age", [edge])
    assert out.equals(
        bf.diff(new, "y", "p", baseline=old, by=at_edge, metrics="accuracy", detail=True)
    )
    cells = bf.confusion(old, "y", "p", by=at_edge)
    assert out.equals(
        bf.diff(new, "y", "p", baseline=cells, by=by, metrics="accuracy", detail=True)
    )
    with pytest.raises(bf.InvalidInputError, match="which is none of the bins of the data"):
        bf.diff(new, "y", "p", baseline=cells, by=bf.bins("age", [edge - 1]), metrics="accuracy")


def test_own_texts_are_in_the_order_given():
    by = bf.bins("age", [25, 45], labels=["young", "middle", "aged"])

    out = bf.report(pl.DataFrame(ROWS).to_pandas(), "y", "p", by=by)

    assert out["age"].tolist()[:3] == ["young", "middle", "aged"]
    assert isinstance(out["age"].dtype, pd.CategoricalDtype)
    assert out["age"].dtype.ordered


def test_the_column_may_be_scored_too():
    rows = pl.DataFrame(ROWS)

    out = bf.ranking(rows, "y", "s", by=bf.bins("s", [0.5]))

    cut = pl.when(pl.col("s") < 0.5).then(pl.lit("low")).otherwise(pl.lit("or more"))
    expected = bf.ranking(rows.with_columns(half=cut), "y", "s", by="half")
    assert out.drop("s").equals(expected.drop("half"))


def test_more_than_50_numbers_are_a_warning_with_the_call():
    rows = pl.DataFrame({"x": [*range(51)] * 2, "y": [0, 1] * 51, "p": [1] * 102})

    with pytest.warns(bf.BalframeWarning, match=r"51 different numbers.*bf\.bins\('x', 4\)"):
        bf.report(rows, "y", "p", by="x")
    bf.report(rows.filter(pl.col("x") < 50), "y", "p", by="x")
    bf.report(rows, "y", "p", cluster="x")
    bf.report(rows.with_columns(pl.col("x").cast(str)), "y", "p", by="x")


AGE = bf.bins("age", 4)


@cases(
    ("make", "message"),
    [
        (lambda: bf.bins("age", 1), "bins=1 is not valid; give a number of bins from 2 to 1,000"),
        (lambda: bf.bins("age", "4"), "bins='4' is not valid; give a number of bins"),
        (lambda: bf.bins("age", [1, None]), "bins=[1, None] is not valid; give a number"),
        (lambda: bf.bins("age", [25], labels=["a"]), "labels has 1 texts, but there are 2 bins;"),
        (lambda: bf.bins("age", 2, labels=["a", "a"]), "labels=['a', 'a'] is not a list of"),
    ],
)
def test_invalid_bins_are_refused(make, message):
    with pytest.raises(bf.InvalidInputError) as error:
        make()
    assert str(error.value).startswith(message)


@cases(
    ("by", "message"),
    [
        (["age", AGE], "by has 'age', bf.bins('age', 4), which would both be the column 'age'"),
        ([AGE, AGE], "by has bf.bins('age', 4), bf.bins('age', 4), which would both be"),
        (bf.bins("agee", 4), "column 'agee' not found; did you mean 'age'?"),
        (bf.intersection("age", "k"), "by has bf.intersection('age', 'k'), which is for audit;"),
    ],
)
def test_entries_that_collide_or_are_unknown_are_refused(by, message):
    with pytest.raises(bf.BalframeError) as error:
        bf.report(pl.DataFrame(ROWS), "y", "p", by=by)
    assert str(error.value).startswith(message)


@cases("make", CONSTRUCTORS)
def test_bins_of_text_are_refused(make):
    frame = make({**ROWS, "age": [str(age) for age in AGES]})

    with pytest.raises(bf.UnsupportedTypeError, match=r"but bf\.bins needs numbers\. Cast it"):
        bf.report(frame, "y", "p", by=AGE)
