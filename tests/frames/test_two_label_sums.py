"""Two labels counted by sums of booleans: the same counts as by a group-by of all columns."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import balframe as bf
from balframe.core.counting_strategy import MIN_TO_HASH
from balframe.frames import count_frame

N = MIN_TO_HASH + 1_000
RNG = np.random.default_rng(8)
Y = RNG.integers(0, 2, N)
ROWS = pl.DataFrame(
    {
        "text": np.array(["a", "b", "ü", ""])[RNG.integers(0, 4, N)],
        "store": RNG.integers(-2, 3, N) * 10**12,
        "fraction": RNG.choice([0.5, np.nan, -0.0, 0.0], N),
        "y": Y,
        "yhat": np.where(RNG.random(N) < 0.8, Y, 1 - Y),
    }
).with_columns(
    null_text=pl.when(pl.int_range(pl.len()) % 9 > 0).then("text"),
    flag=pl.col("y") == 1,
    small=pl.col("y").cast(pl.Int8) * 2 - 1,
    small_hat=pl.col("yhat").cast(pl.Int16) * 2 - 1,
    rare=pl.when(pl.int_range(pl.len()) == 77).then(5).otherwise("y"),
    gone=pl.when(pl.int_range(pl.len()) != 77).then("y"),
    same=pl.lit(1),
)


@pytest.fixture
def counted(monkeypatch):
    """Note whether rows were counted by sums of booleans."""
    calls, original = [], count_frame.sum_two_labels

    def noted(frame, query):
        cells = original(frame, query)
        calls.append(cells is not None)
        return cells

    monkeypatch.setattr(count_frame, "sum_two_labels", noted)
    return calls


@pytest.mark.parametrize(
    ("by", "labels", "is_summed"),
    [
        (["text", "store"], ("y", "yhat"), True),
        (["null_text", "fraction"], ("y", "yhat"), True),
        (["store", "text"], ("flag", "yhat"), True),
        (["store", "text"], ("small", "small_hat"), True),
        (["text", "store"], ("rare", "yhat"), False),
        (["text", "store"], ("same", "same_hat"), False),
        (["fraction"], ("y", "yhat"), False),
    ],
)
def test_cells_are_those_of_a_lazy_frame(counted, by, labels, is_summed):
    rows = ROWS.with_columns(same_hat=pl.lit(1))

    cells = bf.confusion(rows, *labels, by=by)

    assert_frame_equal(cells, bf.confusion(rows.lazy(), *labels, by=by).collect())
    assert counted == [is_summed]


def test_clusters_are_one_more_key(counted):
    options = {"by": "text", "cluster": "store", "interval": True}

    out = bf.report(ROWS, "y", "yhat", **options)

    assert_frame_equal(out, bf.report(ROWS.lazy(), "y", "yhat", **options).collect())
    assert counted == [True]


def test_nulls_are_left_out_by_the_other_way(counted):
    options = {"by": ["text", "store"], "missing": "drop"}

    out = bf.report(ROWS, "gone", "yhat", **options)

    assert_frame_equal(out, bf.report(ROWS.lazy(), "gone", "yhat", **options).collect())
    assert counted == [False]
