"""Columns of every dtype can be labels or segments, and come back with the dtype they had."""

import math
from datetime import date, datetime
from functools import partial
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pandas.testing import assert_frame_equal

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import assert_table, each_constructor, plain

WIDTHS = (8, 16, 32, 64)
SIGNED = {f"int{w}": (-(2 ** (w - 1)), 2 ** (w - 1) - 1) for w in WIDTHS}
UNSIGNED = {f"uint{w}": (0, 2**w - 1) for w in WIDTHS}
INTEGERS = SIGNED | UNSIGNED
TEXTS = ("\ufb00", "\U0001f600")  # in this order by code point, not by UTF-16 unit
DATES = (date(1969, 12, 31), date(1970, 1, 2))
LEVELS = ["z", "never used", "a"]
ROME = ZoneInfo("Europe/Rome")
TIMES = (datetime(2024, 10, 27, 2, 30, tzinfo=ROME), datetime(2024, 10, 27, 2, 30, 1, tzinfo=ROME))
BINS = (pd.Interval(0.0, 1.0), pd.Interval(5.0, 9.0))


def _capital(name):
    return name.replace("i", "I").replace("u", "U")


POLARS_LABELS = [
    (pl.Boolean(), (False, True)),
    *((getattr(pl, _capital(name))(), ends) for name, ends in INTEGERS.items()),
    (pl.Int128(), (-1, 2**100)),
    (pl.Float32(), (-2.0, 2.0**60)),
    (pl.Float64(), (-2.0, 2.0**60)),
    (pl.String(), TEXTS),
    (pl.Categorical(), TEXTS),
    (pl.Enum(LEVELS), ("z", "a")),
    (pl.Date(), DATES),
]
POLARS_BY = [
    *POLARS_LABELS,
    (pl.Float32(), (0.25, math.inf)),
    (pl.Float64(), (-0.1, 0.1)),
    (pl.Datetime("us"), (datetime(1969, 12, 31, 23), datetime(1970, 1, 1))),
    (pl.Datetime("ms", "Europe/Rome"), TIMES),
    (pl.Datetime("ns", "Europe/Rome"), TIMES),
]
PANDAS_STRINGS = ["string[python]", "string[pyarrow]", "str", object]
PANDAS_STRINGS += [pd.ArrowDtype(pa.string()), pd.ArrowDtype(pa.large_string())]
PANDAS_STRINGS += (
    ["string[pyarrow_numpy]"]
    if pd.__version__ < "3"
    else [pd.StringDtype("python", na_value=np.nan)]
)
PANDAS_FLOATS = ["float32", "float64", "Float32", "Float64", "float[pyarrow]", "double[pyarrow]"]
PANDAS_LABELS = [
    *((dtype, (False, True)) for dtype in ("bool", "boolean", "bool[pyarrow]")),
    *INTEGERS.items(),
    *((_capital(name), ends) for name, ends in INTEGERS.items()),
    *((f"{name}[pyarrow]", ends) for name, ends in INTEGERS.items()),
    *((dtype, (-2.0, 2.0**60)) for dtype in PANDAS_FLOATS),
    *((dtype, TEXTS) for dtype in PANDAS_STRINGS),
    (pd.CategoricalDtype(LEVELS), ("z", "a")),
    (pd.CategoricalDtype(LEVELS, ordered=True), ("z", "a")),
    (pd.CategoricalDtype([9, 5, 2]), (9, 2)),
    (object, DATES),
    (pd.ArrowDtype(pa.date32()), DATES),
    ("datetime64[ns]", tuple(map(pd.Timestamp, DATES))),
]
PANDAS_BY = [
    *PANDAS_LABELS,
    *((dtype, (-0.5, math.inf)) for dtype in PANDAS_FLOATS),
    ("datetime64[s]", tuple(map(pd.Timestamp, DATES))),
    ("datetime64[ns, Europe/Rome]", tuple(map(pd.Timestamp, TIMES))),
    (pd.ArrowDtype(pa.timestamp("us", "Europe/Rome")), tuple(map(pd.Timestamp, TIMES))),
    ("interval[float64, right]", BINS),
    (pd.CategoricalDtype(pd.IntervalIndex([*BINS, pd.Interval(9.0, 10.0)]), ordered=True), BINS),
    (pd.PeriodDtype("M"), (pd.Period("1969-12", "M"), pd.Period("1970-01", "M"))),
]
NULLABLE = {"bool": "boolean"} | {name: _capital(name) for name in INTEGERS}


@pytest.fixture(params=[False, True], ids=["eager", "lazy"])
def polars_frame(request):
    return lambda columns: pl.DataFrame(columns).lazy() if request.param else pl.DataFrame(columns)


def _collected(frame):
    return frame.collect() if isinstance(frame, pl.LazyFrame) else frame


@cases(("dtype", "ends"), POLARS_LABELS)
def test_polars_labels_keep_their_dtype(polars_frame, dtype, ends):
    low, high = ends
    columns = {"y": [high, low, high, None], "p": [high, high, None, low]}
    frame = polars_frame({name: pl.Series(v, dtype=dtype) for name, v in columns.items()})
    result = _collected(bf.confusion(frame, "y", "p", missing="drop"))
    assert_table(result, {"y": [low, high], "p": [high, high], "n": [1, 1]})
    assert result.schema["y"] == result.schema["p"] == dtype
    label = _collected(bf.classes(frame, "y", "p", missing="drop"))["label"]
    assert label.to_list() == [low, high]
    assert label.dtype == dtype


@cases(("dtype", "ends"), PANDAS_LABELS)
def test_pandas_labels_keep_their_dtype(dtype, ends):
    low, high = ends
    rest = [] if dtype in NULLABLE else [(None, low), (high, None)]
    y, p = zip((high, high), (low, high), *rest, strict=True)
    frame = pd.DataFrame({"y": pd.Series(y, dtype=dtype), "p": pd.Series(p, dtype=dtype)})
    result = bf.confusion(frame, "y", "p", missing="drop")
    assert_table(result, {"y": [low, high], "p": [high, high], "n": [1, 1]})
    assert result["y"].dtype == result["p"].dtype == frame["y"].dtype
    label = bf.classes(frame, "y", "p", missing="drop")["label"]
    assert label.tolist() == [low, high]
    assert label.dtype == frame["y"].dtype


@cases(("dtype", "ends"), POLARS_BY)
def test_polars_segments_keep_their_dtype(polars_frame, dtype, ends):
    low, high = ends
    g = pl.Series([high, None, low, high], dtype=dtype)
    frame = polars_frame({"g": g, "y": [1, 0, 0, 1], "p": [1, 1, 0, 0]})
    plainly, overall = (
        _collected(bf.report(frame, "y", "p", by="g", metrics="accuracy", margins=margins))
        for margins in (False, "overall")
    )
    assert overall["g"].to_list() == [low, high, None, None]
    assert overall["n"].to_list() == [1, 2, 1, 4]
    assert overall["accuracy"].to_list() == [1.0, 1 / 2, 0.0, 2 / 4]
    assert overall.drop("grouped_by")[:3].equals(plainly)
    assert plainly.schema["g"] == overall.schema["g"] == dtype


@cases(("dtype", "ends"), PANDAS_BY)
def test_pandas_segments_keep_their_dtype(dtype, ends):
    low, high = ends
    null = [] if dtype in NULLABLE else [None]
    g = pd.Series([high, low, high, *null], dtype=dtype)
    frame = pd.DataFrame({"g": g, "y": [1, 0, 1, 0][: len(g)], "p": [1, 0, 0, 1][: len(g)]})
    plainly = bf.report(frame, "y", "p", by="g", metrics="accuracy")
    assert plain(plainly)["g"] == [low, high, *null]
    assert plainly["n"].tolist() == [1, 2, 1][: len(plainly)]
    assert plainly["accuracy"].tolist() == [1.0, 1 / 2, 0.0][: len(plainly)]
    assert plainly["g"].dtype == g.dtype
    overall = bf.report(frame, "y", "p", by="g", metrics="accuracy", margins="overall")
    assert plain(overall)["g"] == [low, high, *null, None]
    assert overall["n"].tolist() == [*plainly["n"], len(g)]
    assert overall["g"].dtype == NULLABLE.get(dtype, g.dtype)


def test_mixed_objects_are_sorted_by_type_name_then_value():
    values = ["b", 2, None, (1, 2), 1.5, "B", 1, math.nan]
    g = pd.Series(values, dtype=object)
    result = bf.report(pd.DataFrame({"g": g, "y": 1, "p": 1}), "y", "p", by="g")
    assert plain(result)["g"] == [1.5, 1, 2, "B", "b", (1, 2), None]
    assert result["n"].tolist() == [1, 1, 1, 1, 1, 1, 2]
    assert result["g"].dtype == object


def test_nan_and_null_are_the_same_segment_in_polars(polars_frame):
    columns = {"g": [math.nan, None, 0.0, -0.0], "y": 1, "p": 1}
    result = plain(bf.report(polars_frame(columns), "y", "p", by="g"))
    assert (result["g"], result["n"]) == ([0.0, None], [2, 2])


def test_bins_of_cut_are_segments():
    rows = pd.DataFrame({"age": [70, 20, 30, np.nan, 22], "y": 1, "p": [1, 1, 0, 1, 1]})
    rows["age"] = pd.cut(rows["age"], [0, 25, 50, 60, 90])
    result = bf.report(rows, "y", "p", by="age", metrics="accuracy")
    bins = [pd.Interval(0, 25), pd.Interval(25, 50), pd.Interval(60, 90)]
    assert plain(result)["age"] == [*bins, None]
    assert result["n"].tolist() == [2, 1, 1, 1]
    assert result["accuracy"].tolist() == [1.0, 0.0, 1.0, 1.0]
    assert result["age"].dtype == rows["age"].dtype


AGREED = [
    ("bool", "int8", "int8"),
    ("uint16", "bool", "uint16"),
    ("bool", "float64", "float64"),
    ("int64", "float64", "float64"),
    ("int8", "int32", "int32"),
    ("uint32", "uint8", "uint32"),
    ("int8", "uint8", "int64"),
    ("level", "text", "text"),
    ("level", "other level", "text"),
]
NUMPY_TYPES = ["bool", "float64", *INTEGERS]
PANDAS = dict(zip(NUMPY_TYPES, map(np.dtype, NUMPY_TYPES), strict=True)) | {
    "text": pd.Series(["a"]).dtype,
    "level": pd.CategoricalDtype(["b", "a"]),
    "other level": pd.CategoricalDtype(["a", "b", "c"]),
}
POLARS = {name: getattr(pl, _capital(name).replace("f", "F")) for name in NUMPY_TYPES[1:]}
POLARS |= {"bool": pl.Boolean, "text": pl.String}
POLARS |= {"level": pl.Enum(["b", "a"]), "other level": pl.Categorical()}


@pytest.mark.parametrize("library", [pd, pl])
def test_labels_that_no_dtype_holds_together_raise(library):
    columns = {"y": np.array([-1], np.int64), "p": np.array([2**63], np.uint64)}

    with pytest.raises(bf.InvalidInputError) as raised:
        bf.confusion(library.DataFrame(columns), "y", "p")

    assert str(raised.value) == (
        "the columns of labels have different dtypes, and no single dtype can hold all labels: "
        "-1, 9223372036854775808. Cast them to one dtype first."
    )


@pytest.fixture(params=["pandas", "polars", "lazy"])
def labelled(request):
    """Make two label columns of these dtypes, and look up a dtype of that library."""

    def make(true, predicted):
        first, second = ["a", "b"] if "level" in true else [0, 1]
        columns = {"y": [first, second], "p": [second, first]}
        if request.param == "pandas":
            return pd.DataFrame(columns).astype({"y": PANDAS[true], "p": PANDAS[predicted]})
        frame = pl.DataFrame(columns).cast({"y": POLARS[true], "p": POLARS[predicted]})
        return frame.lazy() if request.param == "lazy" else frame

    return make, PANDAS if request.param == "pandas" else POLARS


@cases(("true", "predicted", "expected"), AGREED)
def test_label_columns_of_different_dtypes_get_a_common_dtype(labelled, true, predicted, expected):
    make, dtypes = labelled
    labels = ["a", "b"] if expected == "text" else [0, 1]
    label = _collected(bf.classes(make(true, predicted), "y", "p"))["label"]
    assert label.to_list() == labels
    cells = _collected(bf.confusion(make(true, predicted), "y", "p"))
    assert_table(cells, {"y": labels, "p": labels[::-1], "n": [1, 1]})
    assert label.dtype == cells["y"].dtype == cells["p"].dtype == dtypes[expected]


def test_boolean_labels_beside_integer_predictions_become_integers(polars_frame):
    y, p = pl.Series([False, True]), pl.Series([127, 1], dtype=pl.Int8)
    cells = bf.confusion(polars_frame({"y": y, "p": p}), "y", "p", complete=True)
    assert plain(cells)["y"] == [0, 0, 0, 1, 1, 1, 127, 127, 127]
    assert plain(cells)["p"] == [0, 1, 127] * 3
    assert plain(cells)["n"] == [0, 0, 1, 0, 1, 0, 0, 0, 0]


def test_polars_frames_in_chunks_are_counted_as_a_whole(polars_frame):
    bools = {"y": [True, False], "p": [True, False]}
    part = pl.DataFrame({"g": ["b", "a"], "h": ["a", "z"], "d": DATES, **bools})
    part = part.cast({"g": pl.Categorical(), "h": pl.Enum(LEVELS)})
    whole = pl.concat([part, part[::-1], part[:1]], rechunk=False)
    assert whole.n_chunks() == 3
    result = bf.confusion(polars_frame(whole), "y", "p", by=["g", "h", "d"])
    expected = {"g": ["a", "b"], "h": ["z", "a"], "d": [DATES[1], DATES[0]]}
    assert_table(result, expected | {"y": [False, True], "p": [False, True], "n": [2, 3]})


ROWS = {"g": ["b", "a", "b", None], "y": [1, 0, 1, 1], "p": [1, 0, 0, 1], "bal": [2, 1, 1, 3]}
EXPECTED = {"g": ["a", "b", None], "n": [1, 2, 1], "accuracy": [1.0, 1 / 2, 1.0]}
INDEXES = {
    "duplicated": pd.Index([7, 7, 7, 7]),
    "unsorted, named as a column": pd.Index([3, 1, 2, 0], name="g"),
    "of several levels": pd.MultiIndex.from_product([["u", "v"], [2, 1]], names=["y", "g"]),
}


@pytest.mark.parametrize("index", INDEXES.values(), ids=INDEXES)
def test_index_of_pandas_is_neither_used_nor_changed(index):
    frame = pd.DataFrame(ROWS).set_axis(index)
    result = plain(frame.bal.report("y", "p", by="g", metrics="accuracy", margins="overall"))
    assert {name: result[name][:3] for name in EXPECTED} == EXPECTED
    assert frame.index.identical(index)


@cases("names", [(0, 1, 2), (("g", 1), ("y", 1), ("p", 1)), (None, 1.5, "p")])
@cases("several", [False, True])
def test_names_of_pandas_columns_need_not_be_strings(names, several):
    g, y, p = names
    frame = pd.DataFrame(list(zip(*(ROWS[name] for name in "gyp"), strict=True)))
    frame.columns = pd.Index(names) if several else pd.Index(names, tupleize_cols=False)
    result = bf.confusion(frame, y, [p] if several else p, by=[g])
    model = {"model": [str(p)] * 4} if several else {}
    cells = {y: [0, 1, 1, 1], "predicted" if several else p: [0, 0, 1, 1], "n": [1] * 4}
    assert_table(result, {g: ["a", "b", "b", None]} | model | cells)


@cases("method", [bf.report, bf.classes, bf.confusion])
@each_constructor
def test_inputs_are_never_modified(constructor, method):
    frame, untouched = constructor(ROWS), constructor(ROWS)
    by, labels = ["g"], [1, 0]
    plain(method(frame, "y", ["p"], by=by, labels=labels, counts="bal", margins="all"))
    assert (by, labels) == (["g"], [1, 0])
    if isinstance(frame, pd.DataFrame):
        assert_frame_equal(frame, untouched)
    else:
        assert _collected(frame).equals(_collected(untouched))


@each_constructor
def test_a_column_may_be_called_bal(constructor):
    frame = constructor(ROWS)
    expected = {"bal": [1, 2, 3], "n": [2, 1, 1], "accuracy": [1 / 2, 1.0, 1.0]}
    has_bal = not isinstance(frame, pa.Table)
    for report in (partial(bf.report, frame), *([frame.bal.report] if has_bal else [])):
        result = plain(report("y", "p", by="bal", metrics="accuracy"))
        assert {name: result[name] for name in expected} == expected
    if not isinstance(frame, pl.LazyFrame):
        assert [*frame["bal"]] == ([*pa.array(ROWS["bal"])] if not has_bal else ROWS["bal"])
