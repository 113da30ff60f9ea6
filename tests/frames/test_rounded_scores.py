"""Scores of very many values, rounded down to multiples of a power of ten."""

import math
from decimal import Decimal
from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

from balframe.frames.median_selection import round_down_scores
from tests.support.cases import cases

ENGINES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "lazy": pl.LazyFrame,
    "arrow": lambda data: pl.DataFrame(data).to_arrow(),
    "duckdb": lambda data: duckdb.from_arrow(pl.DataFrame(data).to_arrow()),
}


@pytest.fixture(params=ENGINES.values(), ids=ENGINES)
def engine(request):
    return request.param


def values(frame, name="s"):
    if hasattr(frame, "collect"):
        frame = frame.collect()
    if isinstance(frame, duckdb.DuckDBPyRelation):
        frame = frame.to_arrow_table()
    column = frame[name]
    return column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()


def floor(score, exponent):
    """Round a number down to a multiple of a power of ten, exactly, and give the nearest float.

    A float that is the nearest to a multiple is taken as this multiple.
    """
    step = Fraction(10) ** -exponent
    below = math.floor(Fraction(score) / step)
    return float((below + 1) * step) if float((below + 1) * step) == score else float(below * step)


def spread(low, high, n=3_000, seed=1):
    return np.random.default_rng(seed).uniform(low, high, n).tolist()


@pytest.mark.thorough
@cases(
    ("low", "high", "exponent"),
    [
        (0, 1, 3),
        (-1, 1, 2),
        (0, 97, 1),
        (0, 100, 1),
        (0.2, 0.25, 4),
        (-5_000, 90_000, -2),
        (0, 1e-8, 11),
    ],
)
def test_scores_are_rounded_down(engine, low, high, exponent):
    scores = [low, high, *spread(low, high)]
    rounded, step = round_down_scores(engine({"s": [float(one) for one in scores]}), "s")
    assert step == pytest.approx(10.0**-exponent)
    assert values(rounded) == [floor(one, exponent) for one in scores]
    assert 100 <= len({*values(rounded)}) <= 1_001


def test_multiples_of_the_step_are_not_rounded(engine):
    """Decimal arithmetic says which floats stand for multiples."""
    multiples = [float(Decimal(at) / 1_000) for at in range(1_001)]
    between = spread(0, 1)
    rounded, _ = round_down_scores(engine({"s": [*multiples, *between]}), "s")
    assert values(rounded)[: len(multiples)] == multiples
    above = [one + math.ulp(one) for one in multiples[:-1]]
    below = [one - math.ulp(one) for one in multiples[1:]]
    rounded, _ = round_down_scores(engine({"s": [*above, *below, *between, 0.0, 1.0]}), "s")
    assert values(rounded)[: len(above) + len(below)] == [*multiples[:-1]] * 2


def test_rounding_does_not_change_the_predicted_positives_at_a_threshold(engine):
    scores = [*spread(0, 1), *[0.7] * 5]
    for threshold in (0.5, 0.7, 0.123):
        rounded = values(round_down_scores(engine({"s": scores}), "s")[0])
        assert [one >= threshold for one in rounded] == [one >= threshold for one in scores]


@pytest.mark.parametrize("n", [1_000, 1_001])
def test_up_to_a_thousand_distinct_scores_are_not_rounded(engine, n):
    scores = [at / 7_919 for at in range(n)]
    rounded, step = round_down_scores(engine({"s": scores}), "s")
    assert (step is None) == (n == 1_000)
    assert (values(rounded) == scores) == (n == 1_000)


def test_missing_scores_stay_missing(engine):
    scores = [None, *spread(0, 1)]
    rounded, step = round_down_scores(engine({"s": scores}), "s")
    assert step == 0.001
    found = values(rounded)
    assert found[0] is None or math.isnan(found[0])
    assert found[1:] == [floor(one, 3) for one in scores[1:]]


def test_nan_scores_stay_nan():
    scores = [math.nan, *spread(0, 1)]
    for frame in (pl.DataFrame({"s": scores}), pd.DataFrame({"s": scores})):
        found = values(round_down_scores(frame, "s")[0])
        assert math.isnan(found[0])
        assert found[1:] == [floor(one, 3) for one in scores[1:]]


@pytest.mark.parametrize(
    "make",
    [
        lambda s: pl.DataFrame({"s": s.astype(np.float32)}),
        lambda s: pd.DataFrame({"s": s.astype(np.float32)}),
    ],
)
def test_float32_scores_at_multiples_are_not_rounded(make):
    """The float of 32 bits nearest to 0.7 is below 0.7, and stands for it all the same."""
    multiples = np.arange(1_001) / 1_000
    scores = np.concatenate([multiples, np.array(spread(0, 1))])
    found = values(round_down_scores(make(scores), "s")[0])
    assert found[:1_001] == multiples.astype(np.float32).tolist()


@cases("name", ["s", "risk score", "p(high)", "décile", "x-1"])
def test_column_names_with_spaces_and_symbols_are_accepted(name, engine):
    rounded, step = round_down_scores(engine({name: spread(0, 1)}), name)
    assert step == 0.001
    assert len({*values(rounded, name)}) <= 1_001


@cases(
    "scores",
    [
        [math.inf, *spread(0, 1)],
        [-math.inf, *spread(0, 1)],
        np.linspace(-0.9, 0.9, 2_001) * 1.7e308,
        np.arange(2_001) * 1e-320,
        np.arange(2_001),
        [str(at) for at in range(2_001)],
    ],
)
def test_scores_that_cannot_be_rounded_are_returned_unchanged(scores):
    frame = pl.DataFrame({"s": scores})
    rounded, step = round_down_scores(frame, "s")
    assert step is None
    assert rounded is frame


def test_other_columns_and_their_order_do_not_change():
    frame = pl.DataFrame({"a": range(3_000), "s": spread(0, 1), "b": ["x"] * 3_000})
    rounded, _ = round_down_scores(frame, "s")
    assert rounded.columns == ["a", "s", "b"]
    assert rounded.drop("s").equals(frame.drop("s"))


def test_a_frame_without_the_score_column_is_returned_unchanged():
    frame = pl.DataFrame({"s": [0.5]})
    for name in ("t", None, 0, "^s$"):
        assert round_down_scores(frame, name) == (frame, None)
