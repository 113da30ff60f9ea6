"""A lazy frame gives a lazy frame, and everything but checks of names and types waits."""

import random
from datetime import date

import numpy as np
import polars as pl
import pytest
from polars.io.plugins import register_io_source

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import assert_table, plain

RNG = random.Random(11)
ROWS = {
    "g": [RNG.choice(["é", "b", "a", None]) for _ in range(200)],
    "day": [RNG.choice([date(2024, 1, 1), date(1969, 1, 1)]) for _ in range(200)],
    "y": [RNG.choice([0, 1]) for _ in range(200)],
    "p": [RNG.choice([0, 1]) for _ in range(200)],
    "q": [RNG.choice([True, False, None]) for _ in range(200)],
    "w": [RNG.choice([0.0, 0.5, 2.0]) for _ in range(200)],
    "k": [RNG.choice([0, 1, 5]) for _ in range(200)],
    "unused": ["never read"] * 200,
}
FRAME = pl.DataFrame(ROWS)
CALLS = {
    "report": lambda df: df.bal.report("y", "p", by="g"),
    "report long": lambda df: df.bal.report("y", "p", by=["day", "g"], layout="long"),
    "report models": lambda df: bf.report(df, "y", ["p", "q"], by="g", missing="drop"),
    "report margins": lambda df: bf.report(
        df, "y", "p", by=["g", "day"], margins="all", metrics="all", counts="k"
    ),
    "report weights": lambda df: bf.report(df, "y", "p", sample_weight="w", counts="k"),
    "classes": lambda df: df.bal.classes("y", "p", by="day", margins="overall"),
    "classes models": lambda df: bf.classes(df, "y", ["q", "p"], missing="drop"),
    "confusion": lambda df: df.bal.confusion("y", "q", by="g", missing="drop"),
    "confusion weights": lambda df: bf.confusion(
        df, "y", "p", by="g", sample_weight="w", complete=True, normalize="pred"
    ),
    "confusion models": lambda df: bf.confusion(df, "y", ["p", "q"], missing="drop", by="g"),
}
ENGINES = ["in-memory", "streaming"]
on_each_method = cases("method", CALLS.values())
on_each_engine = pytest.mark.parametrize("engine", ENGINES)


class Source:
    """A scan that notes each time it is read, and of which columns."""

    def __init__(self, frame):
        self.frame, self.read = frame, []

    def lazy(self):
        return register_io_source(self._batches, schema=self.frame.schema)

    def _batches(self, columns, predicate, n_rows, batch_size):
        self.read.append(columns)
        frame = self.frame if columns is None else self.frame.select(columns)
        for batch in (frame[:7], frame[7:]):
            yield batch if predicate is None else batch.filter(predicate)


@on_each_method
@on_each_engine
def test_nothing_is_read_until_collect(method, engine):
    source = Source(FRAME)
    result = method(source.lazy())
    assert isinstance(result, pl.LazyFrame)
    schema = result.collect_schema()
    assert source.read == []
    collected = result.collect(engine=engine)
    assert source.read != []
    assert not any(columns is None or "unused" in columns for columns in source.read)
    assert collected.schema == schema
    assert collected.equals(method(FRAME))


@on_each_method
def test_an_empty_lazy_frame_has_the_schema_of_a_full_frame(method):
    empty = FRAME.clear()
    result = method(empty.lazy())
    assert result.collect().height == 0
    assert result.collect_schema() == result.collect().schema == method(FRAME).schema


def test_a_file_is_not_read_until_collect(tmp_path):
    path = tmp_path / "rows.csv"
    columns = {"y": [1, 1, 0], "p": [1, 0, 0]}
    pl.DataFrame(columns).write_csv(path)
    result = bf.report(pl.scan_csv(path), "y", "p", metrics="accuracy")
    pl.DataFrame({"y": [1, 1, 0, 0], "p": [1, 0, 1, 1]}).write_csv(path)
    expected = {"n": [4], "accuracy": [1 / 4]}
    assert_table(result, expected)
    again = bf.report(pl.scan_csv(path), "y", "p")
    path.unlink()
    again.collect_schema()
    with pytest.raises(FileNotFoundError):
        again.collect()


@on_each_engine
def test_a_scan_of_parquet_equals_an_eager_frame(tmp_path, engine):
    FRAME.write_parquet(tmp_path / "rows.parquet", row_group_size=30)
    scan = pl.scan_parquet(tmp_path / "rows.parquet")
    for method in CALLS.values():
        assert method(scan).collect(engine=engine).equals(method(FRAME))


def test_a_lazy_result_can_be_sunk_into_a_parquet_file(tmp_path):
    bf.report(FRAME.lazy(), "y", "p", by="g").sink_parquet(tmp_path / "report.parquet")
    stored = pl.read_parquet(tmp_path / "report.parquet")
    assert stored.equals(bf.report(FRAME, "y", "p", by="g"))


VALUE_ERRORS = {
    "nulls": ({"y": [1, None], "p": [1, 0]}, {}, "y"),
    "scores": ({"y": [1, 0], "p": [0.7, 0.2]}, {}, "p"),
    "null weight": ({"y": [1, 0], "p": [1, 0], "w": [1.0, None]}, {"sample_weight": "w"}, "w"),
    "negative weight": ({"y": [1, 0], "p": [1, 0], "w": [1, -1]}, {"sample_weight": "w"}, "w"),
    "infinite weight": (
        {"y": [1, 0], "p": [1, 0], "w": [1.0, float("inf")]},
        {"sample_weight": "w"},
        "w",
    ),
    "negative count": ({"y": [1, 0], "p": [1, 0], "k": [1, -1]}, {"counts": "k"}, "k"),
    "part of a row": ({"y": [1, 0], "p": [1, 0], "k": [1.0, 0.5]}, {"counts": "k"}, "k"),
    "foreign label": ({"y": [1, 0], "p": [1, 2]}, {"labels": [0, 1]}, "2"),
    "foreign pos_label": ({"y": [1, 0], "p": [1, 2]}, {"pos_label": 3}, "3"),
}


@on_each_engine
@cases("method", [bf.report, bf.classes, bf.confusion])
@cases(("rows", "asked", "said"), VALUE_ERRORS.values())
def test_errors_of_values_are_raised_at_collect(method, rows, asked, said, engine):
    result = method(pl.LazyFrame(rows), "y", "p", **asked)
    result.collect_schema()
    with pytest.raises(bf.BalframeError, match=rf"\b{said}\b") as caught:
        result.collect(engine=engine)
    with pytest.raises(bf.BalframeError) as eager:
        method(pl.DataFrame(rows), "y", "p", **asked)
    assert type(caught.value) is type(eager.value) is bf.InvalidInputError
    assert str(caught.value) == str(eager.value)


@cases(
    ("asked", "error"),
    [
        ({"y_true": "why"}, bf.UnknownNameError),
        ({"y_pred": ["p", "why"]}, bf.UnknownNameError),
        ({"by": "why"}, bf.UnknownNameError),
        ({"counts": "why"}, bf.UnknownNameError),
        ({"sample_weight": "g"}, bf.UnsupportedTypeError),
        ({"counts": "g"}, bf.UnsupportedTypeError),
        ({"y_pred": "list"}, bf.UnsupportedTypeError),
        ({"by": "list"}, bf.UnsupportedTypeError),
        ({"y_pred": "g"}, bf.InvalidInputError),
        ({"labels": ["a", "b"]}, bf.InvalidInputError),
        ({"margins": "some"}, bf.InvalidInputError),
        ({"missing": "skip"}, bf.InvalidInputError),
        ({"by": ["g", "g"]}, bf.InvalidInputError),
    ],
)
@cases("method", [bf.report, bf.classes, bf.confusion])
def test_errors_of_names_and_types_are_raised_at_once(method, asked, error):
    source = Source(FRAME.with_columns(list=pl.lit([1])))
    with pytest.raises(error):
        method(source.lazy(), **{"y_true": "y", "y_pred": "p"} | asked)
    assert source.read == []


def test_an_unknown_metric_is_refused_before_collect():
    source = Source(FRAME)
    with pytest.raises(bf.UnknownNameError, match="accuracy"):
        bf.report(source.lazy(), "y", "p", metrics="acuracy")
    assert source.read == []


@on_each_engine
def test_later_lazy_operations_apply_to_the_whole_result(engine):
    rows = {"g": ["a", "a", "b", "b", "c"], "y": [1, 0, 1, 0, 1], "p": [1, 0, 0, 0, 1]}
    result = bf.report(pl.LazyFrame(rows), "y", "p", by="g", margins="overall")
    expected = {"g": ["a", "b", "c", None], "n": [2, 2, 1, 5], "accuracy": [1.0, 0.5, 1.0, 4 / 5]}

    def collected(frame):
        return plain(frame.collect(engine=engine))

    assert collected(result.select("g", "n", "accuracy")) == expected
    assert collected(result.filter(pl.col("g") == "b").select("accuracy")) == {"accuracy": [0.5]}
    assert collected(result.filter(pl.col("n") > 1).select("g")) == {"g": ["a", "b", None]}
    assert collected(result.head(2).select("g")) == {"g": ["a", "b"]}
    assert collected(result.tail(1).select("n")) == {"n": [5]}
    assert collected(result.slice(1, 2).select("g")) == {"g": ["b", "c"]}
    assert collected(result.select(pl.col("n").sum())) == {"n": [10]}
    assert collected(result.sort("accuracy").head(1).select("g")) == {"g": ["b"]}
    joined = pl.LazyFrame({"g": ["b", "c"]}).join(result, on="g").select("g", "n").sort("g")
    assert collected(joined) == {"g": ["b", "c"], "n": [2, 1]}


def test_earlier_lazy_operations_are_applied_first():
    rows = pl.LazyFrame({"g": ["a", "b", "b"], "y": [1, 1, 0], "p": [1, 0, 0]})
    result = bf.report(rows.filter(pl.col("g") == "b").with_columns(p=1), "y", "p", by="g")
    assert_table(result.select("g", "n", "accuracy"), {"g": ["b"], "n": [2], "accuracy": [1 / 2]})


@pytest.mark.filterwarnings("ignore:column 'g' in by has 1,000,000 different numbers")
@on_each_engine
def test_a_lazy_report_of_a_million_segments_is_correct(engine):
    n = 1_000_000
    segment = np.random.default_rng(1).permutation(n)
    rows = pl.LazyFrame({"g": segment, "y": segment % 2 == 0, "p": segment % 3 == 0})
    result = bf.report(rows, "y", "p", by="g", metrics="accuracy", margins="overall")
    collected = result.collect(engine=engine)
    in_order = np.arange(n)
    right = (in_order % 2 == 0) == (in_order % 3 == 0)
    assert collected.height == n + 1
    assert np.array_equal(collected["g"][:n].to_numpy(), in_order)
    assert np.array_equal(collected["accuracy"][:n].to_numpy(), right.astype(float))
    assert collected["n"][:n].unique().to_list() == [1]
    assert collected["n"][-1] == n
    assert collected["accuracy"][-1] == right.sum() / n
