"""Columns of Arrow in pandas: floats that Arrow tells apart, and dictionaries."""

import io
import math

import pandas as pd
import pyarrow as pa
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import plain

NAN = math.nan


def frame(**columns):
    return pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype)


def segments(result):
    return dict(zip(plain(result)["g"], plain(result)["n"], strict=True))


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()], ids=str)
def test_negative_and_positive_zero_are_the_same_segment(kind):
    g = pa.array([0.0, -0.0, 0.0, -0.0, 0.5]).cast(kind)
    result = bf.report(frame(g=g, y=[0, 1, 1, 0, 1], p=[0, 1, 0, 0, 1]), "y", "p", by="g")
    assert plain(result)["g"] == [0.0, 0.5]
    assert (plain(result)["n"], plain(result)["accuracy"]) == ([4, 1], [3 / 4, 1.0])
    assert math.copysign(1, result["g"][0]) == 1
    assert result["g"].dtype == pd.ArrowDtype(kind)


@pytest.mark.parametrize("dtype", ["double[pyarrow]", "Float64"])
def test_nan_and_null_are_the_same_segment(dtype):
    rows = frame(g=[NAN, None, 1.0, 1.0], y=[0, 1, 1, 0], p=[0, 1, 0, 0])
    rows["g"] = rows["g"].astype(dtype)
    result = bf.report(rows, "y", "p", by="g")
    assert segments(result) == {1.0: 2, None: 2}
    assert plain(
        bf.disparity(rows, "y", "p", by="g", metrics="accuracy", min_support=1, detail=True)
    )["n_segments"] == [2]


def test_nan_labels_are_counted_as_null():
    rows = frame(y=[0.0, NAN, 1.0, None, 1.0], p=[-0.0, 1.0, 1.0, 0.0, 0.0])
    result = bf.confusion(rows, "y", "p", missing="drop")
    assert plain(result) == {"y": [0.0, 1.0, 1.0], "p": [0.0, 0.0, 1.0], "n": [1, 1, 1]}
    with pytest.raises(bf.InvalidInputError, match="'y' has 2 null values"):
        bf.confusion(rows, "y", "p")


def in_chunks(*chunks, values=("b", "unused", "a"), is_ordered=False, kind=None):
    """Make a column of positions in a dictionary."""
    arrays = [
        pa.DictionaryArray.from_arrays(
            pa.array(chunk, kind or pa.int8()), pa.array(values), ordered=is_ordered
        )
        for chunk in chunks
    ]
    return pa.chunked_array(arrays)


@cases("kind", [pa.int8(), pa.uint8(), pa.int32()])
@cases(("is_ordered", "levels"), [(True, ["b", "unused", "a"]), (False, ["a", "b", "unused"])])
def test_dictionaries_are_categories(is_ordered, levels, kind):
    g = in_chunks([2, 0, None], [0], is_ordered=is_ordered, kind=kind)
    rows = frame(g=g, y=[1, 0, 1, 1], p=[1, 1, 0, 1])
    before = list(rows.dtypes)
    result = bf.report(rows, "y", "p", by="g", metrics="accuracy")
    found = dict(zip(plain(result)["g"], plain(result)["accuracy"], strict=True))
    assert found == {"b": 1 / 2, "a": 1.0, None: 0.0}
    assert plain(result)["g"] == [*(level for level in levels if level != "unused"), None]
    assert result["g"].dtype == pd.CategoricalDtype(levels, ordered=is_ordered)
    assert list(rows.dtypes) == before


@pytest.mark.parametrize("is_ordered", [False, True])
def test_dictionaries_are_accepted_as_labels(is_ordered):
    labels = {"values": ["yes", "maybe", "no"], "is_ordered": is_ordered}
    rows = frame(y=in_chunks([2, 0, 0, None], **labels), p=in_chunks([2, 2, 0, 0], **labels))
    result = bf.classes(rows, "y", "p", missing="drop")
    order = slice(None, None, 1 if is_ordered else -1)
    assert plain(result)["label"] == ["yes", "no"][order]
    assert plain(result)["support"] == [2, 1][order]
    assert plain(result)["recall"] == [1 / 2, 1.0][order]
    beside_text = rows.assign(p=["no", "no", "yes", "yes"])
    assert plain(bf.classes(beside_text, "y", "p", missing="drop"))["label"] == ["no", "yes"]


def test_the_order_of_rows_does_not_change_the_order_of_labels():
    for labels in (["3", "1", "2", "3", "2", "1"], ["1", "2", "3", "2", "1", "3"]):
        y = pa.array(labels).dictionary_encode()
        p = pa.array([{"2": "1", "1": "2"}.get(one, one) for one in labels]).dictionary_encode()
        assert plain(bf.classes(frame(y=y, p=p), "y", "p"))["label"] == ["1", "2", "3"]


def test_int8_codes_of_dictionary_chunks_do_not_overflow():
    chunks = [pa.array([f"{i}" for i in range(at, at + 100)]) for at in (0, 100, 200)]
    encoded = [
        one.dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string())) for one in chunks
    ]
    rows = frame(g=pa.chunked_array(encoded), y=[1] * 300, p=[1] * 300)
    assert len(bf.report(rows, "y", "p", by="g")) == 300
    table = pa.table({"g": pa.chunked_array(encoded), "y": [1] * 300, "p": [1] * 300})
    assert bf.report(table, "y", "p", by="g").num_rows == 300


@pytest.mark.parametrize("role", ["by", "sample_weight", "counts"])
def test_dictionaries_of_integers_equal_plain_integers(role):
    held = pa.DictionaryArray.from_arrays(pa.array([0, 2, 2]), pa.array([2**53, None, 2**53 + 1]))
    expected = pa.table({"v": [2**53, 2**53 + 1, 2**53 + 1], "y": [1, 0, 1], "p": [1, 0, 0]})
    result = bf.report(frame(v=held, y=[1, 0, 1], p=[1, 0, 0]), "y", "p", **{role: "v"})
    assert plain(result) == plain(bf.report(expected, "y", "p", **{role: "v"}))


def test_chunks_with_different_dictionaries_are_merged():
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
def test_repeated_values_and_nulls_of_a_dictionary_are_merged(values, expected):
    rows = frame(g=in_chunks([0, 1, 2, None], values=values), y=[1, 0, 1, 1], p=[1, 1, 0, 1])
    assert segments(bf.report(rows, "y", "p", by="g")) == expected


def test_categories_read_from_parquet_equal_the_originals():
    own = pd.DataFrame(
        {
            "g": pd.Categorical(["x", "y", None], categories=["y", "z", "x"], ordered=True),
            "y": pd.Categorical(["no", "yes", "yes"], categories=["no", "yes"]),
            "p": pd.Categorical(["no", "no", "yes"], categories=["no", "yes"]),
        }
    )
    file = io.BytesIO()
    own.to_parquet(file)
    read = pd.read_parquet(file, dtype_backend="pyarrow")
    assert isinstance(read["g"].dtype, pd.ArrowDtype)
    for method in (bf.report, bf.classes, bf.confusion):
        result, expected = (method(rows, "y", "p", by="g") for rows in (read, own))
        assert plain(result) == plain(expected)


def test_dictionaries_without_rows_return_no_segments():
    rows = frame(g=in_chunks([0]), y=[1], p=[1])[:0]
    assert plain(bf.report(rows, "y", "p", by="g"))["n"] == []
