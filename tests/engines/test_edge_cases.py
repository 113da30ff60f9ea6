"""What is rare in data is the same on every engine: odd names and types, nulls, huge numbers."""

import math
from datetime import date, datetime
from decimal import Decimal

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import balframe as bf
from tests.engines.conftest import on_engines
from tests.support import engine_frames
from tests.support.cases import cases
from tests.support.constructors import assert_table, plain
from tests.support.programs import library

INF, NAN = math.inf, math.nan
ROWS = {
    "g": ["b", "a", "b", "c"],
    "y": [1, 0, 1, 0],
    "p": [1, 0, 0, 1],
    "s": [0.5, 0.25, 0.5, 1.0],
}
LARGEST = 2**63 - 1

pytestmark = pytest.mark.any_version


def segments(result):
    """Give the size and the accuracy of each segment."""
    rows = plain(result)
    return dict(zip(rows["g"], zip(rows["n"], rows["accuracy"], strict=True), strict=True))


def test_words_have_a_positive_label_on_every_engine(engine):
    rows = {"y": ["No", "YES", "YES"], "p": ["No", "YES", "No"], "one": ["no", "no", "no"]}
    rates = ["recall", "specificity"]

    both = plain(bf.report(engine(rows), "y", "p", metrics=rates))
    none = plain(bf.report(engine({**rows, "p": rows["one"]}), "one", "p", metrics=rates))

    assert [both[name] for name in rates] == [[1 / 2], [1.0]]
    assert [none[name] for name in rates] == [[None], [1.0]]
    cases_of_yes = engine({"y": ["Yes", "yes"], "p": ["Yes", "yes"]})
    with pytest.raises(bf.InvalidInputError, match=r"'Yes', 'yes'.*differ only in case"):
        plain(bf.report(cases_of_yes, "y", "p", metrics="recall"))


def test_null_and_nan_are_the_same_segment_and_so_are_both_zeros(engine):
    rows = {"g": [NAN, None, 0.0, -0.0, INF], "y": [1, 1, 0, 1, 0], "p": [1, 0, 0, 1, 1]}
    result = bf.report(engine(rows), "y", "p", by="g")
    assert segments(result) == {0.0: (2, 1.0), INF: (1, 0.0), None: (2, 1 / 2)}


SEGMENTS = {
    "booleans": [False, True],
    "int8": pa.array([-128, 127], pa.int8()),
    "int64": [-(2**63), LARGEST],
    "dates": [date(1969, 12, 31), date(2024, 2, 29)],
    "times": [datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(1970, 1, 1)],
    "text": ["'; --", '\U0001f600"`\n'],
    "case": ["A", "a"],
}


@cases("values", SEGMENTS.values())
def test_segments_of_every_type_are_sorted(values, engine):
    low, high = (pa.array(values) if isinstance(values, list) else values).to_pylist()
    g = pa.concat_arrays([pa.array(values)[::-1], pa.array(values)[:1]])
    rows = {"g": g, "y": [1, 0, 1], "p": [1, 0, 0]}
    result = plain(bf.report(engine(rows), "y", "p", by="g"))
    found = [_as_given(value, low) for value in result["g"]]
    assert (found, result["n"], result["accuracy"]) == ([low, high], [2, 1], [1 / 2, 1.0])


def _as_given(value, like):
    """Pandas has no dates but midnights, and Spark no times without a zone."""
    if isinstance(like, datetime):
        return value.replace(tzinfo=None)
    return value.date() if isinstance(like, date) and isinstance(value, datetime) else value


@pytest.mark.parametrize("name", on_engines(["duckdb", "ibis"]))
@pytest.mark.parametrize("kind", [pa.uint8(), pa.uint64(), pa.decimal128(38, 2)], ids=str)
def test_unsigned_numbers_and_decimals_of_databases_are_segments(name, kind, request):
    if pa.types.is_decimal(kind) and pl.__version__.startswith("1.30."):
        pytest.skip("this polars cannot look up decimals")
    low, high = (Decimal("-0.25"), Decimal("9.50")) if pa.types.is_decimal(kind) else (0, 255)
    high = 2**64 - 1 if kind == pa.uint64() else high
    rows = {"g": pa.array([high, None, low], kind), "y": [1, 0, 1], "p": [1, 0, 0]}
    result = bf.report(request.getfixturevalue(name)(rows), "y", "p", by="g")
    assert segments(result) == {low: (1, 0.0), high: (1, 1.0), None: (1, 1.0)}


HOLES = {
    "label": ({"y": [1, None, 0, 0], "p": [1, 0, 0, 1]}, {}, "'y' has 1 null value;"),
    "prediction": ({"y": ["a", "b", "b", "a"], "p": ["a", None, None, "b"]}, {}, "'p' has 2 null"),
    "NaN label": ({"y": [1.0, NAN, None, 0.0], "p": [1, 0, 0, 1]}, {}, "'y' has 2 null"),
    "weight": (
        {"y": [1, 1, 0, 0], "p": [1, 0, 0, 1], "w": [1.0, NAN, None, 1.0]},
        {"sample_weight": "w"},
        "'w' has 2 null",
    ),
    "NaN weight": (
        {"y": [1, 1, 0, 0], "p": [1, 0, 0, 1], "w": [1.0, NAN, NAN, 1.0]},
        {"sample_weight": "w"},
        "'w' has 2 null",
    ),
    "NaN count": (
        {"y": [1, 1, 0, 0], "p": [1, 0, 0, 1], "k": [1.0, NAN, NAN, 1.0]},
        {"counts": "k"},
        "'k' has 2 null",
    ),
}


@cases(("rows", "asked", "said"), HOLES.values())
def test_nulls_are_refused_or_left_out(rows, asked, said, engine):
    with pytest.raises(bf.InvalidInputError, match=said):
        bf.report(engine(rows), "y", "p", **asked)
    result = plain(bf.report(engine(rows), "y", "p", missing="drop", **asked))
    # of the rows left, the first is right and the last is wrong
    n_left = 3 if "'y' has 1" in said else 2
    assert (result["n"], result["n_missing"]) == ([n_left], [4 - n_left])
    assert result["accuracy"] == [(n_left - 1) / n_left]


def test_null_and_nan_scores_are_refused_or_dropped(engine):
    rows = {"y": [1, 0, 1, 1], "s": [0.75, NAN, None, 0.25]}
    for thresholds in (3, [0.0, 0.5, 1.0]):
        with pytest.raises(bf.InvalidInputError, match="'s' has 2 null values"):
            bf.curve(engine(rows), "y", "s", thresholds=thresholds)
        result = plain(bf.curve(engine(rows), "y", "s", thresholds=thresholds, missing="drop"))
        assert (result["n"], result["predicted_positive"]) == ([2, 2, 2], [2, 1, 0])


def test_scores_outside_0_and_1_need_explicit_thresholds(engine):
    rows = {"y": [1, 0, 1, 0], "s": [0.5, 1e300, -3e307, 1.0]}
    with pytest.raises(bf.InvalidInputError, match=r"'s' has 2 scores outside \[0, 1\]"):
        bf.curve(engine(rows), "y", "s", thresholds=11)
    result = plain(bf.curve(engine(rows), "y", "s", thresholds=[-1e308, 0.5, 1e300]))
    assert result["predicted_positive"] == [4, 3, 1]


@pytest.mark.parametrize("last", [1.0, 2.0])  # the least is the largest, or not
@pytest.mark.parametrize("name", on_engines(["duckdb", "sqlframe"]))
def test_nan_omitted_from_parquet_statistics_is_detected(name, last, request, tmp_path):
    make = request.getfixturevalue(name)
    rows = {"y": [1, 0, 1], "p": [1, 1, 1], "w": [1.0, NAN, last]}
    if name == "duckdb":
        path = str(tmp_path / "rows.parquet")
        pyarrow.parquet.write_table(pa.table(rows), path)
        frame = library("duckdb").read_parquet(path)
    else:
        frame = make(rows)
    for asked in ({"sample_weight": "w"}, {"counts": "w"}):
        with pytest.raises(bf.InvalidInputError, match="'w' has 1 null value"):
            bf.report(frame, "y", "p", **asked)
    result = plain(bf.report(frame, "y", "p", sample_weight="w", missing="drop"))
    assert (result["n"], result["n_missing"]) == ([2], [1])
    result = plain(bf.curve(frame, "y", "w", thresholds=[1.5], missing="drop"))
    assert (result["n"], result["predicted_positive"]) == ([2], [int(last > 1.5)])


BAD = {
    "negative weight": ([1.0, -0.5], "sample_weight", "'w' has 1 negative or infinite"),
    "infinite weight": ([INF, INF], "sample_weight", "'w' has 2 negative or infinite"),
    "negative count": ([3, -1], "counts", "'w' has 1 value that cannot be counts"),
    "part of a row": ([1.0, 0.5], "counts", "'w' has 1 value that cannot be counts"),
    "part of many rows": ([1.0, 2**52 - 0.5], "counts", "'w' has 1 value that cannot be counts"),
    "count too large": ([1.0, 2.0**63], "counts", "'w' has 1 value that cannot be counts"),
    "counts of one cell too large": ([LARGEST, 1], "counts", "add up to more than"),
}


@cases(("values", "role", "said"), BAD.values())
def test_invalid_weights_and_counts_are_refused(values, role, said, engine):
    with pytest.raises(bf.InvalidInputError, match=said):
        bf.report(engine({"y": [1, 1], "p": [1, 1], "w": values}), "y", "p", **{role: "w"})


def test_counts_are_exact_up_to_the_largest_integer(engine):
    rows = {"y": [0, 1, 1], "p": [1, 1, 1], "k": [2**62 + 1, 2**61 + 1, 2**60 + 1]}
    cells = bf.confusion(engine(rows), "y", "p", counts="k")
    assert_table(cells, {"y": [0, 1], "p": [1, 1], "n": [2**62 + 1, 2**61 + 2**60 + 2]})
    rows = {"y": [1, 1], "p": [1, 1], "k": [LARGEST - 1, 1]}
    assert plain(bf.confusion(engine(rows), "y", "p", counts="k"))["n"] == [LARGEST]


def test_weights_near_the_largest_float_and_of_zero_are_accepted(engine):
    rows = {"g": ["a"] * 4 + ["b"], "y": [1, 0, 0, 1, 1], "p": [1] * 5, "w": [1e308] * 4 + [0.0]}
    result = plain(bf.report(engine(rows), "y", "p", by="g", sample_weight="w"))
    assert (result["n"], result["accuracy"]) == ([4, 1], [2 / 4, None])


def test_weights_whose_squares_overflow_or_underflow_are_accepted(engine):
    rows = {"g": [*"aabbcc"], "y": [1] * 6, "p": [1, 0] * 3, "k": [1, 3] * 3}
    rows["w"] = [1e200, 3e200, 1e-200, 3e-200, 5e-324, 0.0]
    for counts, of_right in ((None, 1 / 4), ("k", 1 / 10)):
        options = {"by": "g", "sample_weight": "w", "counts": counts, "interval": True}
        result = plain(bf.report(engine(rows), "y", "p", **options))
        assert result["accuracy"] == pytest.approx([of_right, of_right, 1.0], rel=1e-15)


def test_cells_have_their_largest_weight(engine):
    rows = {"y": [1, 1, 1, 0], "p": [1, 1, 1, 0], "k": [2, 0, 1, 3], "w": [0.5, 8.0, 2.0, 1e200]}
    without_counts = bf.confusion(engine(rows), "y", "p", sample_weight="w")
    with_counts = bf.confusion(engine(rows), "y", "p", sample_weight="w", counts="k")
    assert plain(without_counts)["weight_max"] == [1e200, 8.0]
    assert plain(with_counts)["weight_max"] == [1e200, 2.0]


CELLS = {
    "y": [1, 1, 1, 0],
    "p": [1, 1, 1, 0],
    "n": [4, 1, 1, 2],
    "weight": [10.0, 2.0, 5.0, 6.0],
    "weight_sq": [40.0, 4.0, 25.0, 18.0],
}


def test_stored_cells_keep_their_largest_weight(engine):
    stored = engine(CELLS | {"weight_max": [5.5, 2.0, 5.0, 3.0]})
    result = plain(bf.confusion(stored, "y", "p"))
    assert result["weight_max"] == [3.0, 5.5]


def assert_is_the_largest_possible_weight(make):
    largest = 10 / 4 + math.sqrt(3 * (40 / 4 - (10 / 4) ** 2))  # three equal rows and this one
    result = plain(bf.confusion(make(CELLS), "y", "p"))
    assert result["weight_max"] == pytest.approx([3.0, largest], rel=1e-12)


def test_stored_cells_without_their_largest_weight_get_the_largest_possible(engine_but_sqlframe):
    assert_is_the_largest_possible_weight(engine_but_sqlframe)


@pytest.mark.thorough  # as SQLFrame takes half a minute to plan this query
def test_stored_cells_without_their_largest_weight_get_the_largest_possible_of_sqlframe():
    with engine_frames.sqlframe() as make:
        assert_is_the_largest_possible_weight(make)


def test_booleans_integers_and_whole_floats_are_the_same_labels(engine):
    rows = {"y": [True, False, True], "p": [1, 0, 0], "q": [0.0, -0.0, 1.0]}
    result = plain(bf.report(engine(rows), "y", ["p", "q"], metrics="accuracy"))
    assert result["accuracy"] == [2 / 3, 2 / 3]
    with pytest.raises(bf.InvalidInputError, match=r"'y'.*strings.*'p'.*numbers"):
        bf.report(engine({"y": ["1", "0"], "p": [1, 0]}), "y", "p")


NAMES = ["*", "^y.*$", "a b", "a.b", "'", '"', "\n", "n_low", "by0", "Total", "x + 1"]
# of SQLFrame in test_names_in_sqlframe.py
MORE_NAMES = ["`", "1", "1.5", "select", "Ünï", "null", "true", "false", "current_date"]


@cases("name", NAMES)
def test_columns_of_any_name_are_accepted(name, engine):
    assert_is_a_name(name, engine)


@cases("name", MORE_NAMES)
def test_columns_of_any_name_are_accepted_except_by_sqlframe(name, engine_but_sqlframe):
    assert_is_a_name(name, engine_but_sqlframe)


def assert_is_a_name(name, engine):
    rows = {name: ["b", "a"], "y": [1, 0], f"{name}p": [1, 1], f"{name}w": [3.0, 2.0], "s": [0, 1]}
    rows["a, b"] = [1, 2]  # not used
    result = bf.report(engine(rows), "y", f"{name}p", by=name, sample_weight=f"{name}w")
    found = plain(result)
    assert (found[name], found["n"], found["accuracy"]) == (["a", "b"], [1, 1], [0.0, 1.0])
    scores = {"y": [1, 0], name: [0.75, 0.25]}
    result = plain(bf.curve(engine(scores), "y", name, thresholds=[0.5]))
    assert result["accuracy"] == [1.0]


def test_empty_arrow_column_name_is_accepted():
    table = pa.table([["b", "a"], [1, 0], [1, 1], [7, 7]], names=["", "y", "column_0", "unused"])
    result = bf.report(table, "y", "column_0", by="", metrics="accuracy")
    assert plain(result)[""] == ["a", "b"]
    assert plain(result)["accuracy"] == [0.0, 1.0]


def test_names_of_dask_need_not_be_strings(dask):
    frame = dask(ROWS).rename(columns={"g": 0, "y": 1, "p": 2.5})
    assert plain(bf.report(frame, 1, 2.5, by=0))["accuracy"] == [1.0, 1 / 2, 0.0]


UNUSED = {
    "lists": [[1], [], None, [2]],
    "structs": [{"a": 1}] * 4,
    "bytes": [b"\x00", b"a", b"", None],
    "decimals": [Decimal("0.5"), None, Decimal(1), Decimal(2)],
}


NOT_STORED = {
    "postgres": ["structs"],
    "sqlite": ["lists", "structs", "decimals"],
}


@pytest.mark.parametrize("kind", UNUSED)
def test_unused_columns_of_any_type_are_ignored(kind, engine, request):
    if kind in NOT_STORED.get(request.node.callspec.params["engine"], []):
        pytest.skip("there are no such columns")
    values = UNUSED[kind]
    result = bf.report(engine(ROWS | {"unused": pa.array(values)}), "y", "p", by="g")
    assert segments(result) == {"a": (1, 1.0), "b": (2, 1 / 2), "c": (1, 0.0)}


def test_more_than_max_cells_is_refused(engine):
    # each of the four rows is a cell of its own; the two of segment b share a score
    frame = engine(ROWS)
    assert len(bf.report(frame, "y", "p", by="g", max_cells=4)) == 3
    with pytest.raises(bf.InvalidInputError, match=r"more than 3 cells.*max_cells="):
        bf.report(frame, "y", "p", by="g", max_cells=3)
    assert plain(bf.curve(frame, "y", "s", by="g", max_cells=3))["n"] == [1, 1, 2, 2, 1, 1]
    with pytest.raises(bf.InvalidInputError, match="more than 2 distinct scores"):
        bf.curve(frame, "y", "s", by="g", max_cells=2)


@pytest.mark.parametrize("asked", [{"y_true": "Y"}, {"by": ["g", "gg"]}, {"sample_weight": "z"}])
def test_unknown_column_is_refused(asked, engine):
    with pytest.raises(bf.UnknownNameError, match="not found"):
        bf.report(engine(ROWS), **{"y_true": "y", "y_pred": "p", "by": "g"} | asked)


def test_unknown_column_is_refused_before_any_row_is_read(dask):
    def fail(part):
        raise AssertionError

    frame = dask(ROWS)
    frame = frame.map_partitions(fail, meta=frame._meta)
    with pytest.raises(bf.UnknownNameError):
        bf.report(frame, "y", "pp", by="g")


EMPTY = pa.table(ROWS).slice(0, 0)
METHODS = {
    "report": lambda df: bf.report(df, "y", "p", by="g", margins="all", interval=True),
    "confusion": lambda df: bf.confusion(df, "y", "p", labels=[0, 1], complete=True),
    "curve": lambda df: bf.curve(df, "y", "s", by="g"),
    "curve at quantiles": lambda df: bf.curve(df, "y", "s", thresholds=("quantiles", 3)),
    "ranking": lambda df: bf.ranking(df, "y", ["s", "p"]),
}


@cases("method", METHODS.values())
def test_frame_without_rows_gives_the_same_result_as_polars(method, engine):
    assert plain(method(engine(EMPTY))) == plain(method(pl.from_arrow(EMPTY)))


def test_single_and_empty_dask_partitions_are_accepted(dask):
    for frame in (dask(ROWS).repartition(npartitions=1), dask(ROWS).query("g == 'b'")):
        assert segments(bf.report(frame, "y", "p", by="g"))["b"] == (2, 1 / 2)


@pytest.mark.parametrize("is_known", [False, True])
def test_dask_categorical_segments_keep_the_order_of_categories(is_known, dask):
    frame = dask(ROWS)
    if is_known:
        frame["g"] = frame["g"].astype(pd.CategoricalDtype(["c", "unused", "b", "a"], ordered=True))
    else:
        frame["g"] = frame["g"].astype("category")
    result = bf.report(frame, "y", "p", by="g")
    order = ["c", "b", "a"] if is_known else ["a", "b", "c"]
    assert plain(result)["g"] == order
    assert segments(result)["b"] == (2, 1 / 2)


def test_duckdb_enum_segments_keep_the_order_of_the_enum(duckdb):
    level = "ENUM('c', 'unused', 'b', 'a')"
    frame = duckdb(ROWS).project(f"g::{level} AS g, y, p")
    result = bf.report(frame, "y", "p", by="g", metrics="accuracy")
    assert result["g"].to_list() == ["c", "b", "a"]
    assert result.schema["g"] == pl.Enum(["c", "unused", "b", "a"])
    assert result["accuracy"].to_list() == [0.0, 1 / 2, 1.0]


ARROW = {
    "string": pa.array(["b", "a"]),
    "large_string": pa.array(["b", "a"], pa.large_string()),
    "dictionary": pa.array(["b", "a"]).dictionary_encode(),
    "int8": pa.array([1, -1], pa.int8()),
    "date32": pa.array([1, -1], pa.date32()),
    "timestamp with zone": pa.array([1, -1], pa.timestamp("us", "Europe/Rome")),
    "bool": pa.array([True, False]),
}


@cases("values", ARROW.values())
def test_arrow_tables_in_chunks_keep_the_type_of_segments(values):
    part = pa.table({"g": values, "y": [1, 0], "p": [1, 1]})
    table = pa.concat_tables([part, part.slice(1), part.slice(0, 0)])
    before = table.to_pydict()
    result = bf.report(table, "y", "p", by="g", metrics="accuracy", margins="overall")
    high, low = values.to_pylist()
    assert result.schema.field("g").type == values.type
    assert (plain(result)["g"], plain(result)["n"]) == ([low, high, None], [2, 1, 3])
    assert plain(result)["accuracy"] == [0.0, 1.0, 1 / 3]
    assert table.to_pydict() == before
