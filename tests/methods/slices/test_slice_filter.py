"""The rows of a slice: from a row of a result, in any form, on frames of every library."""

import random
import re

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import each_constructor, plain

RNG = random.Random(5)
N = 1500


def rows():
    """Draw rows of text, nulls, integers, floats and booleans that all matter."""
    out = {name: [] for name in ("sex", "age", "income", "owns", "y", "yhat")}
    for _ in range(N):
        one = {
            "sex": RNG.choice(["F", "M", None]),
            "age": RNG.choice([None, *range(18, 80)]),
            "income": RNG.choice([None, *(i / 8 for i in range(300))]),
            "owns": RNG.choice([True, False, None]),
            "y": RNG.choice([0, 1]),
        }
        bad = [
            one["sex"] is None,
            (one["age"] or 99) < 30,
            one["income"] is None,
            one["owns"] is None,
        ]
        rate = 0.08 + 0.3 * any(bad) + 0.2 * (sum(bad) > 1)
        for name, value in one.items():
            out[name].append(value)
        out["yhat"].append(1 - one["y"] if RNG.random() < rate else one["y"])
    return out


ROWS = rows()
OPTIONS = [
    {},
    {"bins": {"age": [20, 40, 60], "income": [2.5, 10]}, "order": "impact"},
    {"bins": {"age": None, "income": 3}, "depth": 1, "min_support": 5, "level": 0.5},
    {"order": "lower", "depth": 2},
]


def lists(frame):
    """Turn a frame into lists; pandas keeps the index of the rows selected."""
    return plain(frame.reset_index(drop=True) if isinstance(frame, pd.DataFrame) else frame)


def height(frame):
    return len(next(iter(lists(frame).values())))


def forms(result):
    """Give each row of a result in every form."""
    result = result.collect() if isinstance(result, pl.LazyFrame) else result
    frame = pl.DataFrame(plain(result), infer_schema_length=None)
    for i, row in enumerate(frame.rows(named=True)):
        given = [row, frame[i], frame[i].lazy(), frame[i].to_arrow()]
        if isinstance(result, pd.DataFrame):
            given += [result.iloc[i], result.iloc[[i]], result.iloc[i].to_dict()]
        elif isinstance(result, (pl.DataFrame, pa.Table)):
            given.append(result[i] if isinstance(result, pl.DataFrame) else result.slice(i, 1))
        yield row, given


@pytest.mark.thorough
@cases("options", OPTIONS)
@each_constructor
def test_slice_filter_selects_n_rows_for_each_slice(constructor, options):
    frame = constructor(ROWS)
    result = bf.slices(frame, "y", "yhat", detail=True, **options)

    assert height(result) > 1
    for row, given in forms(result):
        for one in given:
            found = bf.slice_filter(frame, one)
            assert type(found) is type(frame)
            assert height(found) == row["n"]


@cases("options", OPTIONS)
def test_a_report_of_the_selected_rows_equals_the_estimate(options):
    frame = pl.DataFrame(ROWS)
    for row in bf.slices(frame, "y", "yhat", detail=True, **options).rows(named=True):
        inside = bf.report(bf.slice_filter(frame, row), "y", "yhat", metrics="uar")

        assert inside["uar"].to_list() == pytest.approx([row["estimate"]])


@cases(
    ("row", "expected"),
    [
        ({"on": "a", "a": "x"}, [0, 1]),
        ({"on": "a", "a": None}, [2, 3]),
        ({"on": "b", "b": "under 2"}, [0]),
        ({"on": "b", "b": "2 to 3"}, [1]),
        ({"on": "b", "b": "2 or more"}, [1, 3]),
        ({"on": "b", "b": None}, [2]),
        ({"on": "b", "b": "3"}, [3]),
        ({"on": "c", "c": "0.5 to 1.5"}, [0]),
        ({"on": "c", "c": "-1.5"}, [2]),
        ({"on": "c", "c": None}, [3]),
        ({"on": "a, b", "a": None, "b": "2 or more"}, [3]),
        ({"on": "a, b, c", "a": "x", "b": "under 2", "c": "0.5 to 1.5"}, [0]),
        ({"on": "a", "a": "x", "b": "not read"}, [0, 1]),
    ],
)
@each_constructor
def test_conditions_select_the_expected_rows(constructor, row, expected):
    data = {
        "a": ["x", "x", None, None],
        "b": [1, 2, None, 3],
        "c": [0.5, 1.5, -1.5, None],
        "i": [0, 1, 2, 3],
    }

    assert lists(bf.slice_filter(constructor(data), row))["i"] == expected


def test_a_null_condition_selects_nan_and_null():
    frame = pl.DataFrame({"c": [0.5, float("nan"), None], "i": [0, 1, 2]})

    assert bf.slice_filter(frame, {"on": "c", "c": None})["i"].to_list() == [1, 2]
    assert bf.slice_filter(frame, {"on": "c", "c": "0 or more"})["i"].to_list() == [0]
    assert bf.slice_filter(frame, {"on": "c", "c": "under 1"})["i"].to_list() == [0]


def test_column_names_with_commas_are_read_from_on():
    frame = pl.DataFrame({"a": [1, 1, 2], "b": ["u", "v", "u"], "a, b": ["p", "q", "q"]})
    both = {"a": "1", "b": "u", "a, b": "q"}

    assert bf.slice_filter(frame, {**both, "on": "a, b, a, b"}).height == 0
    assert bf.slice_filter(frame, {"on": "b, a, b", "b": "u", "a, b": "q"}).height == 1


REFUSED = {
    "a lean result": (
        {"slice": "a = x", "n": 40},
        "of slices with detail=True; give a row",
    ),
    "no slice": ({"a": "x"}, "the row has the columns 'a', which are not those of a result of sli"),
    "on is no text": ({"on": None, "a": "x"}, "the row has the columns 'on', 'a', which are not"),
    "a column is lost": (
        {"on": "a, b", "a": "x"},
        "the slice is on 'a, b', but the row has only the columns 'on', 'a'; give the row with all",
    ),
    "unknown column": ({"on": "z", "z": "x"}, "column 'z' not found"),
    "a text for a number": (
        {"on": "b", "b": "young"},
        "column 'b' is numeric, but the slice has 'young' there, which is neither a number nor a b",
    ),
    "two rows": (
        pl.DataFrame({"on": ["a", "a"], "a": ["x", "y"]}),
        "the frame given as a row has 2 rows; give one of them",
    ),
    "no rows": (pl.DataFrame({"on": [], "a": []}), "has 0 rows; give one of them"),
    "a number": (3, "got int as a row; give a mapping, a pandas Series or a frame of one row"),
    "a text": ("sex = F", "got str as a row; give a mapping"),
}


@cases("about", REFUSED)
@each_constructor
def test_invalid_slices_are_refused(constructor, about):
    row, words = REFUSED[about]

    with pytest.raises(bf.BalframeError, match=re.escape(words)):
        bf.slice_filter(constructor({"a": ["x"], "b": [1]}), row)


@cases("frame", [None, 3, {"a": [1]}, "people.csv"])
def test_an_invalid_frame_is_refused(frame):
    with pytest.raises(bf.BalframeError):
        bf.slice_filter(frame, {"on": "a", "a": "1"})


@each_constructor
def test_frames_are_not_modified(constructor):
    frame = constructor(ROWS)
    before = plain(frame)

    bf.slice_filter(frame, {"on": "sex, age", "sex": None, "age": "under 30"})

    assert plain(frame) == before
