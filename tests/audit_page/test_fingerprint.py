"""The fingerprint of counts: the same for the same counts, and for no others."""

import random
from datetime import date

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from balframe.frames.fingerprint import fingerprint
from tests.support.audits.small_audits import audit_of
from tests.support.cases import cases

ROWS = {
    "y": [0, 1, 0, 1, 1, 0, 1],
    "p": [0, 1, 1, 1, 0, 0, 1],
    "g": ["a", "b", "a", None, "b", "b", "a"],
}
NUMBERS = {**ROWS, "g": [1, 2, 1, None, 2, 2, 1]}
DATES = {**ROWS, "g": [date(2024, 1, 1 + at % 2) for at in range(7)]}
FLAGS = {**ROWS, "g": [True, False, True, True, False, False, True]}


def of(frame, **changes):
    return audit_of(frame, **changes).audit.fingerprint


@cases("rows", [ROWS, NUMBERS, DATES, FLAGS])
def test_pandas_polars_and_arrow_have_the_same_fingerprint(rows):
    """Integers beside a null are floats in pandas."""
    known = of(pl.DataFrame(rows))
    assert of(pd.DataFrame(rows)) == known
    assert of(pl.LazyFrame(rows)) == known
    assert of(pl.DataFrame(rows).to_arrow()) == known
    assert len(known) == 64


@pytest.mark.parametrize("rows", [ROWS, NUMBERS, DATES], ids=["text", "number", "date"])
def test_order_of_rows_does_not_change_the_fingerprint(rows):
    positions = list(range(7))
    random.Random(1).shuffle(positions)
    assert of(pl.DataFrame(rows)[positions]) == of(pl.DataFrame(rows))


def test_categories_and_strings_have_the_same_fingerprint():
    known = of(pl.DataFrame(ROWS))
    assert of(pl.DataFrame(ROWS).with_columns(pl.col("g").cast(pl.Categorical))) == known
    assert of(pl.DataFrame(ROWS).with_columns(pl.col("g").cast(pl.Enum(["b", "a"])))) == known
    assert of(pd.DataFrame(ROWS).astype({"g": "category"})) == known


def test_number_types_do_not_change_the_fingerprint():
    known = of(pl.DataFrame(ROWS))
    for dtype in (pl.Int8, pl.UInt64, pl.Float32, pl.Float64, pl.Boolean):
        assert of(pl.DataFrame(ROWS).with_columns(pl.col("y", "p").cast(dtype))) == known


def test_column_names_do_not_change_the_fingerprint():
    renamed = pl.DataFrame(ROWS).rename({"g": "group", "y": "truth", "p": "call"})
    known = of(pl.DataFrame(ROWS))
    assert of(renamed, y_true="truth", y_pred=("call",), by=("group",)) == known


def test_rows_and_counts_have_the_same_fingerprint():
    counts = pl.DataFrame(ROWS).group_by("y", "p", "g").len("n")
    assert of(counts, options={"counts": "n"}) == of(pl.DataFrame(ROWS))


def test_every_count_changes_the_fingerprint():
    counts = pl.DataFrame(ROWS).group_by("y", "p", "g", maintain_order=True).len("n")
    found = {of(counts, options={"counts": "n"})}
    for at in range(counts.height):
        more = counts["n"].to_list()
        more[at] += 1
        found.add(of(counts.with_columns(pl.Series("n", more)), options={"counts": "n"}))
    assert len(found) == counts.height + 1


def test_every_value_changes_the_fingerprint():
    found = {of(pl.DataFrame(ROWS))}
    for name, value in (("y", 1), ("p", 1), ("g", "b")):
        changed = [value, *ROWS[name][1:]]
        found.add(of(pl.DataFrame({**ROWS, name: changed})))
    assert len(found) == 4


TEXTS = st.none() | st.text(st.sampled_from('a1:-\n\x00\x1f\\"['), max_size=4)
TABLES = st.lists(st.tuples(TEXTS, TEXTS), max_size=3)


def table(rows):
    return pl.DataFrame(rows, schema={"a": pl.String, "b": pl.String}, orient="row")


@given(TABLES, TABLES)
def test_different_texts_and_nulls_have_different_fingerprints(first, second):
    def key(rows):
        return sorted([(one is None, one or "") for one in row] for row in rows)

    is_same = fingerprint([table(first)]) == fingerprint([table(second)])
    assert is_same == (key(first) == key(second))


def test_splitting_rows_into_two_tables_changes_the_fingerprint():
    one, two = table([("a", "b")]), table([("c", "d")])
    assert fingerprint([one, two]) != fingerprint([pl.concat([one, two])])
    assert fingerprint([one, two]) != fingerprint([two, one])


@cases("value", [0.5, 1e300, float("inf"), 2.0**60])
def test_fractions_and_large_numbers_change_the_fingerprint(value):
    def of_one(number):
        return fingerprint([pl.DataFrame({"a": [number]})])

    others = [value * 2, -value, 1.0]
    assert of_one(value) == of_one(value)
    assert len({of_one(one) for one in (value, *others)} - {of_one(value)}) >= 2
    assert of_one(0.0) == of_one(-0.0)
