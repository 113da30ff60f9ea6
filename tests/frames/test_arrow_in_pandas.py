"""Columns of Arrow in pandas: floats that Arrow tells apart, and dictionaries."""

import io
import math

import pandas as pd
import pyarrow as pa
import pytest
from constructors import plain

import balframe as bf

NAN = math.nan


def frame(**columns):
    return pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype)


def segments(result):
    return dict(zip(plain(result)["g"], plain(result)["n"], strict=True))


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()], ids=str)
def test_both_zeros_are_one_segment(kind):
    g = pa.array([0.0, -0.0, 0.0, -0.0, 0.5]).cast(kind)
    result = bf.report(frame(g=g, y=[0, 1, 1, 0, 1], p=[0, 1, 0, 0, 1]), "y", "p", by="g")
    assert plain(result)["g"] == [0.0, 0.5]
    assert (plain(result)["n"], plain(result)["accuracy"]) == ([4, 1], [3 / 4, 1.0])
    assert math.copysign(1, result["g"][0]) == 1
    assert result["g"].dtype == pd.ArrowDtype(kind)


@pytest.mark.parametrize("dtype", ["double[pyarrow]", "Float64"])
def test_nan_and_null_are_one_segment(dtype):
    rows = frame(g=[NAN, None, 1.0, 1.0], y=[0, 1, 1, 0], p=[0, 1, 0, 0])
    rows["g"] = rows["g"].astype(dtype)
    result = bf.report(rows, "y", "p", by="g")
    assert segments(result) == {1.0: 2, None: 2}
    assert plain(bf.disparity(rows, "y", "p", by="g", metrics="accuracy"))["n_segments"] == [2]


def test_float_labels_may_be_nan_beside_null():
    rows = frame(y=[0.0, NAN, 1.0, None, 1.0], p=[-0.0, 1.0, 1.0, 0.0, 0.0])
    result = bf.confusion(rows, "y", "p", missing="drop")
    assert plain(result) == {"y": [0.0, 1.0, 1.0], "p": [0.0, 0.0, 1.0], "n": [1, 1, 1]}
    with pytest.raises(bf.InvalidInputError, match="'y' has 2 null values"):
        bf.confusion(rows, "y", "p")


def in_chunks(*chunks, values=("b", "unused", "a"), is_ordered=False):
    """Make a column of positions in a dictionary."""
    arrays = [
        pa.DictionaryArray.from_arrays(
            pa.array(chunk, pa.int8()), pa.array(values), ordered=is_ordered
        )
        for chunk in chunks
    ]
    return pa.chunked_array(arrays)


@pytest.mark.parametrize("is_ordered", [False, True])
def test_dictionaries_are_categories_in_their_own_order(is_ordered):
    g = in_chunks([2, 0, None], [0], is_ordered=is_ordered)
    rows = frame(g=g, y=[1, 0, 1, 1], p=[1, 1, 0, 1])
    before = rows.copy()
    result = bf.report(rows, "y", "p", by="g", metrics="accuracy")
    assert plain(result)["g"] == ["b", "a", None]
    assert (plain(result)["n"], plain(result)["accuracy"]) == ([2, 1, 1], [1 / 2, 1.0, 0.0])
    assert result["g"].dtype == pd.CategoricalDtype(["b", "unused", "a"], ordered=is_ordered)
    pd.testing.assert_frame_equal(rows, before)


def test_labels_may_be_dictionaries():
    labels = in_chunks([2, 0, 0, None], values=["yes", "maybe", "no"])
    rows = frame(y=labels, p=in_chunks([2, 2, 0, 0], values=["yes", "maybe", "no"]))
    result = bf.classes(rows, "y", "p", missing="drop")
    assert plain(result)["label"] == ["yes", "no"]
    assert (plain(result)["support"], plain(result)["recall"]) == ([2, 1], [1 / 2, 1.0])
    beside_text = rows.assign(p=["no", "no", "yes", "yes"])
    assert plain(bf.classes(beside_text, "y", "p", missing="drop"))["label"] == ["no", "yes"]


def test_chunks_may_have_dictionaries_of_their_own():
    parts = [pa.array(["b", "a"]).dictionary_encode(), pa.array(["c", "a"]).dictionary_encode()]
    rows = frame(g=pa.chunked_array(parts), y=[1, 0, 1, 1], p=[1, 1, 0, 1])
    assert segments(bf.report(rows, "y", "p", by="g")) == {"b": 1, "a": 2, "c": 1}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["b", "a", "b"], {"b": 2, "a": 1, None: 1}),
        (["b", None, "a"], {"b": 1, "a": 1, None: 2}),
        ([0.0, NAN, -0.0], {0.0: 2, None: 2}),
    ],
)
def test_dictionaries_may_hold_a_value_twice_or_null(values, expected):
    rows = frame(g=in_chunks([0, 1, 2, None], values=values), y=[1, 0, 1, 1], p=[1, 1, 0, 1])
    assert segments(bf.report(rows, "y", "p", by="g")) == expected


def test_categories_that_went_through_a_file_are_what_they_were():
    own = pd.DataFrame(
        {
            "g": pd.Categorical(["x", "y", None], categories=["y", "z", "x"], ordered=True),
            "y": pd.Categorical(["no", "yes", "yes"], categories=["yes", "no"]),
            "p": pd.Categorical(["no", "no", "yes"], categories=["yes", "no"]),
        }
    )
    file = io.BytesIO()
    own.to_parquet(file)
    read = pd.read_parquet(file, dtype_backend="pyarrow")
    assert isinstance(read["g"].dtype, pd.ArrowDtype)
    for verb in (bf.report, bf.classes, bf.confusion):
        answer, expected = (verb(rows, "y", "p", by="g") for rows in (read, own))
        assert plain(answer) == plain(expected)


def test_no_rows():
    rows = frame(g=in_chunks([0]), y=[1], p=[1])[:0]
    assert plain(bf.report(rows, "y", "p", by="g"))["n"] == []
