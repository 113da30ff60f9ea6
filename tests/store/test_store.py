"""`bf.store` and `bf.read_run`: what the table holds, and what is refused."""

from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

import duckdb
import pandas as pd
import polars as pl
import pytest
from deltalake import DeltaTable, write_deltalake

import balframe as bf
from balframe.frames.history.run_table import LOG
from tests.support.cases import cases
from tests.support.constructors import each_constructor, plain

DATA = {
    "g": ["a", "a", "b", "b", "b"],
    "y": [1, 1, 0, 0, 1],
    "p": [1, 0, 0, 0, 1],
    "q": [1, 1, 0, 1, 0],
    "w": [0.1, 0.2, 0.3, 0.4, 0.5],
    "who": [1, 1, 2, 3, 3],
    "day": [date(2026, 11, 1), date(2026, 11, 2), date(2026, 11, 2), None, date(2026, 11, 1)],
}
FRAME = pl.DataFrame(DATA)
DAY = date(2026, 11, 1)


@pytest.fixture
def table(tmp_path):
    return tmp_path / "runs"


def stored(table, run="r1", frame=FRAME, **options):
    options = {"by": "g", **({} if "time" in options else {"date": DAY}), **options}
    return bf.store(frame, table, "y", options.pop("y_pred", "p"), run=run, **options)


def rows_of(table, *columns):
    return pl.scan_delta(str(table)).select(columns).sort(columns, nulls_last=True).collect().rows()


def test_table_has_the_cells_their_run_and_where_they_come_from(table):
    before = datetime.now().astimezone()
    result = stored(table, model="v3", source="a.csv")

    assert (result.run, result.status, result.cells, result.n) == ("r1", "added", 4, 5)
    frame = pl.read_delta(str(table))
    own = ["source", "stored_at", "balframe_version"]
    assert frame.columns == ["run", "date", "model", "g", "y", "p", "n", *own]
    assert frame.select("g", "y", "p", "n").sort("g", "y", "p").rows() == [
        ("a", 1, 0, 1),
        ("a", 1, 1, 1),
        ("b", 0, 0, 2),
        ("b", 1, 1, 1),
    ]
    constant = frame.select("run", "date", "model", "source", "balframe_version").unique()
    assert constant.rows() == [("r1", DAY, "v3", "a.csv", bf.__version__)]
    (at,) = frame["stored_at"].unique()
    assert before <= at <= datetime.now().astimezone()


def test_a_run_is_one_commit_after_that_which_makes_the_table(table):
    stored(table, "r1")
    stored(table, "r2")

    assert DeltaTable(table).version() == 2
    assert len(DeltaTable(table).file_uris()) == 2


@each_constructor
def test_second_write_of_the_same_run_changes_nothing_in_any_library(table, constructor):
    stored(table)
    version = DeltaTable(table).version()
    again = constructor({name: DATA[name] for name in ("g", "y", "p")})

    result = stored(table, frame=again)

    assert (result.status, result.n) == ("unchanged", 5)
    assert DeltaTable(table).version() == version


@cases("change", [{"model": "v4"}, {"date": date(2026, 11, 2)}, {"frame": FRAME.head(4)}])
def test_another_run_of_the_same_id_raises_unless_it_is_to_replace(tmp_path, change):
    table = tmp_path / "-".join(change)
    stored(table, model="v3")
    stored(table, "r2", model="v3")
    before = rows_of(table, "run", "date", "model", "g", "n")

    with pytest.raises(bf.InvalidInputError, match="has run 'r1' with other cells, dates or"):
        stored(table, **{"model": "v3", **change})
    assert rows_of(table, "run", "date", "model", "g", "n") == before

    replacing = {"model": "v3", **change, "replace": True}
    assert stored(table, **replacing).status == "replaced"
    assert stored(table, **replacing).status == "unchanged"
    expected = pl.concat(
        [
            bf.confusion(change.get("frame", FRAME), "y", "p", by="g").select(
                run=pl.lit("r1"),
                date=pl.lit(change.get("date", DAY)),
                model=pl.lit(change.get("model", "v3")),
                g="g",
                n="n",
            ),
            bf.confusion(FRAME, "y", "p", by="g").select(
                run=pl.lit("r2"), date=pl.lit(DAY), model=pl.lit("v3"), g="g", n="n"
            ),
        ]
    )
    assert rows_of(table, "run", "date", "model", "g", "n") == sorted(expected.rows())


@cases("run", ["it's", 'a "b"', "ä/ü %20", "x" * 300])
def test_ids_are_any_text(table, run):
    stored(table, run)
    stored(table, "other")

    assert stored(table, run).status == "unchanged"
    assert stored(table, run, FRAME.head(2), replace=True).status == "replaced"
    assert bf.read_run(table, run)["n"].sum() == 2
    assert bf.read_run(table, "other")["n"].sum() == 5


@cases("name", ["a b", "ä", "a'b", "run=1"])
def test_paths_have_any_name(tmp_path, name):
    table = tmp_path / name
    stored(table)

    assert stored(table).status == "unchanged"
    assert stored(table, "r2", FRAME.head(2)).status == "added"
    assert bf.read_run(table).equals(bf.confusion(FRAME.head(2), "y", "p", by="g"))


def test_days_of_rows_are_kept(table):
    frame = FRAME.filter(pl.col("day").is_not_null())
    stored(table, frame=frame, time="day")

    assert rows_of(table, "date", "g", "y", "p", "n") == [
        (date(2026, 11, 1), "a", 1, 1, 1),
        (date(2026, 11, 1), "b", 1, 1, 1),
        (date(2026, 11, 2), "a", 1, 0, 1),
        (date(2026, 11, 2), "b", 0, 0, 1),
    ]
    assert bf.read_run(table, "2026-11-02")["n"].sum() == 4  # its last day
    with pytest.raises(bf.InvalidInputError, match="no run '2026-11-01'"):
        bf.read_run(table, "2026-11-01")


def test_rows_without_a_day_raise(table):
    with pytest.raises(bf.InvalidInputError, match="column 'day', which time names, has nulls"):
        stored(table, time="day")
    assert not table.exists()


def test_several_models_are_stored_under_their_names(table):
    stored(table, y_pred=["p", "q"])

    cells = bf.read_run(table)
    assert cells.equals(bf.confusion(FRAME, "y", ["p", "q"], by="g"))
    assert bf.read_run(table, by=[]).columns == ["model", "y", "predicted", "n"]
    with pytest.raises(bf.InvalidInputError, match="no column of cells may have such a name"):
        stored(table, "r2", y_pred=["p", "q"], model="v3")


def test_read_run_returns_the_result_of_confusion_in_either_library(table):
    stored(table)
    expected = bf.confusion(FRAME, "y", "p", by="g")

    assert bf.read_run(table, "r1").equals(expected)
    in_pandas = bf.read_run(str(table), backend="pandas")
    assert isinstance(in_pandas, pd.DataFrame)
    assert plain(in_pandas) == plain(expected)
    assert bf.read_run(table, by=[]).equals(bf.confusion(FRAME, "y", "p"))
    assert bf.read_run(table, by=["date", "g"]).equals(
        expected.select(date=pl.lit(DAY), g="g", y="y", p="p", n="n")
    )


def test_weighted_cells_are_stored_and_are_the_same_in_any_order_of_rows(table):
    stored(table, sample_weight="w")

    assert stored(table, frame=FRAME.reverse(), sample_weight="w").status == "unchanged"
    assert stored(table, frame=duckdb.sql("from FRAME"), sample_weight="w").status == "unchanged"
    assert bf.read_run(table).equals(bf.confusion(FRAME, "y", "p", by="g", sample_weight="w"))
    heavier = FRAME.with_columns(pl.col("w") * (1 + 1e-6))
    with pytest.raises(bf.InvalidInputError, match="with other cells"):
        stored(table, frame=heavier, sample_weight="w")


def test_clusters_are_stored(table):
    stored(table, cluster="who")

    clustered = pl.scan_delta(str(table)).bal.report("y", "p", by="g", cluster="who", interval=True)
    expected = bf.report(FRAME, "y", "p", by="g", cluster="who", interval=True)
    assert clustered.collect().equals(expected)


def test_cells_are_stored_as_rows_are(table):
    stored(table)

    cells = bf.confusion(FRAME, "y", "p", by="g")
    assert stored(table, frame=cells).status == "unchanged"
    assert stored(table, "r2", frame=cells, counts="n").n == 5


def test_last_run_is_that_of_the_latest_day_and_then_the_last_that_was_stored(table):
    for run, day in (("a", 2), ("c", 3), ("b", 3), ("d", 1)):
        stored(table, run, FRAME.head(day), date=date(2026, 11, day))

    assert bf.read_run(table).equals(bf.read_run(table, "b"))
    assert bf.read_run(table, "2026-11-02").equals(bf.read_run(table, "a"))
    with pytest.raises(bf.InvalidInputError, match=r"has 2 runs of 2026-11-03: c, b\. Give"):
        bf.read_run(table, "2026-11-03")
    with pytest.raises(bf.InvalidInputError, match=r"the last first: b \(2026-11-03\), c \("):
        bf.read_run(table, "e")


def test_an_id_that_is_a_date_stands_for_its_run(table):
    stored(table, "2026-11-05", FRAME.head(2), date="2026-11-04")
    stored(table, "other", FRAME, date="2026-11-05")

    assert bf.read_run(table, "2026-11-05")["n"].sum() == 2


VALUES = {
    "bool": [True, False],
    "integer of 8 bits": pl.Series([1, 2], dtype=pl.UInt8),
    "float": [0.5, 1.5],
    "float of 32 bits": pl.Series([0.1, 1.5], dtype=pl.Float32),
    "category": pl.Series(["b", "a"], dtype=pl.Categorical),
    "Enum": pl.Series(["b", "a"], dtype=pl.Enum(["b", "a"])),
    "date": [date(2026, 1, 1), date(2026, 1, 2)],
    "datetime": [datetime(2026, 1, 1), datetime(2026, 1, 2, 3)],
    "datetime of ns": pl.Series([datetime(2026, 1, 1)] * 2, dtype=pl.Datetime("ns")),
    "datetime of a zone": pl.Series([datetime(2026, 1, 1)] * 2).dt.replace_time_zone("Asia/Tokyo"),
    "null": [None, None],
    "null and text": [None, "a"],
    "decimal": pl.Series([Decimal("1.50"), Decimal("2.25")]),
}


@cases("values", VALUES)
def test_types_of_by_columns_are_stored_and_compared(tmp_path, values):
    table = tmp_path / values
    frame = pl.DataFrame({"g": VALUES[values], "y": [1, 0], "p": [1, 1]})
    stored(table, frame=frame)

    assert stored(table, frame=frame).status == "unchanged"
    read = bf.read_run(table)
    shown = frame["g"].unique() if values != "float of 32 bits" else pl.Series([0.1, 1.5])
    expected = shown.to_list()
    found = read["g"].unique().to_list()
    assert sorted(map(str, found)) == sorted(map(str, expected)) or {*found} == {*expected}
    assert read["n"].sum() == 2
    assert bf.report(read, "y", "p")["accuracy"].to_list() == [0.5]


OF_PANDAS = {
    "days": [date(2026, 1, 1), date(2026, 1, 2)],
    "months": pd.PeriodIndex(["2026-09", "2026-10"], freq="M"),
    "intervals": pd.cut([5, 15], [0, 10, 20]),
    "uuids": [UUID(int=1), UUID(int=2)],
    "tuples": [(1, 2), (1, 10)],
    "integers and texts": [1, "a"],
    "decimals": [Decimal("1.5"), Decimal(2)],
    "ordered categories": pd.Categorical(["b", "a"], categories=["b", "a"], ordered=True),
}


@cases("library", ["polars", "pandas"])
@cases("values", {**VALUES, **OF_PANDAS})
def test_a_run_has_the_segments_of_the_frame_it_came_from(tmp_path, library, values):
    if values in OF_PANDAS:
        frame = pd.DataFrame({"g": OF_PANDAS[values], "y": [1, 0], "p": [1, 1]})
    else:
        frame = pl.DataFrame({"g": VALUES[values], "y": [1, 0], "p": [1, 1]})
        frame = frame if library == "polars" else frame.to_pandas()
    table = tmp_path / f"{library} {values}"
    stored(table, frame=frame)

    cells, read = bf.confusion(frame, "y", "p", by="g"), bf.read_run(table)
    result = plain(bf.diff(frame, "y", "p", by="g", baseline=read, metrics="accuracy"))
    accuracy = [1 / 2] if cells.shape[0] == 2 and len(result["g"]) == 1 else [0, 1]
    assert sorted(result["estimate"]) == sorted(result["baseline_estimate"]) == accuracy
    read = read if isinstance(frame, pl.DataFrame) else read.to_pandas()
    assert plain(bf.combine([cells, read]))["n"] == [2, 2]


@cases("labels", [[True, False], ["yes", "no"], [date(2026, 1, 1), date(2026, 1, 2)], [3.0, 4.0]])
def test_types_of_labels_are_stored(tmp_path, labels):
    table = tmp_path / str(labels[0])
    frame = pl.DataFrame({"g": ["a", "b"], "y": labels, "p": labels[:1] * 2})
    stored(table, frame=frame)

    assert {*bf.read_run(table)["y"]} == {*labels}
    assert stored(table, frame=frame).status == "unchanged"


def test_labels_of_0_and_1_are_equal_to_true_and_false(table):
    stored(table)

    as_bools = FRAME.with_columns(pl.col("y", "p").cast(pl.Boolean))
    assert stored(table, frame=as_bools).status == "unchanged"


def test_values_that_the_table_cannot_hold_raise(table):
    from datetime import time, timedelta

    frame = FRAME.with_columns(g=pl.lit(time(1)))
    with pytest.raises(bf.UnsupportedTypeError, match="column 'g' has the type Time, which a"):
        stored(table, frame=frame)
    nanoseconds = pl.Series([1], dtype=pl.Int64).cast(pl.Datetime("ns"))
    frame = FRAME.head(1).with_columns(g=nanoseconds)
    with pytest.raises(bf.InvalidInputError, match="column 'g' has values of the type Datetime"):
        stored(table, frame=frame)
    with pytest.raises(bf.UnsupportedTypeError, match="Duration"):
        stored(table, frame=FRAME.with_columns(g=pl.lit(timedelta(1))))
    assert not table.exists()


OTHERS = {
    "other by": ({"by": []}, "by 'g' with 'n'; those of the run are of 'y' and 'p' without by"),
    "other predictions": ({"y_pred": "q"}, "those of the run are of 'y' and 'q' by 'g'"),
    "weights": ({"sample_weight": "w"}, "with 'n', 'weight', 'weight_sq', 'weight_max'. Give"),
    "other types": (
        {"frame": FRAME.with_columns(pl.col("y", "p").cast(pl.String))},
        "column 'y' holds values of the type String, but those of the table are of the type Int64",
    ),
    "halves among whole numbers": (
        {"frame": FRAME.with_columns(g=pl.lit(1.5))},
        "column 'g' holds values of the type Float64, but those of the table are of the type Str",
    ),
}


@cases("case", OTHERS)
def test_runs_of_a_table_have_the_same_columns(table, case):
    change, message = OTHERS[case]
    stored(table)

    with pytest.raises(bf.BalframeError, match=message):
        stored(table, "r2", **change)
    assert rows_of(table, "run") == [("r1",)] * 4


BAD = {
    "no date": ({"date": None}, "give either date=, the day that all rows are about, or time="),
    "date and time": ({"date": DAY, "time": "day"}, "give either date=,"),
    "no day": ({"date": "November"}, "date='November' is not a date"),
    "no id": ({"run": " "}, "run=' ' is not the id of a run"),
    "last": ({"run": "last"}, "run='last' is not the id of a run"),
    "@": ({"run": "a@b"}, "run='a@b' is not the id of a run"),
    "number": ({"run": 3}, "run=3 is not text"),
    "model": ({"model": 3}, "model=3 is not text"),
    "replace": ({"replace": 1}, "replace=1 is not one of the options: False, True"),
    "no rows": ({"frame": FRAME.clear()}, "the frame has no row to store"),
    "reserved": ({"frame": FRAME.rename({"g": "run"}), "by": "run"}, "rename 'run'"),
    "unknown": ({"margins": "all"}, "stored cells add up to every margin"),
}


@cases("case", BAD)
def test_wrong_arguments_raise_and_make_no_table(table, case):
    change, message = BAD[case]

    with pytest.raises(bf.BalframeError, match=message):
        stored(table, **change)
    assert not table.exists()


def test_arrays_are_no_frame():
    array = FRAME["y"].to_numpy()

    with pytest.raises(
        bf.UnsupportedTypeError, match=r'\{"y_true": y_true, "y_pred": y_pred\}\), "y_true"'
    ):
        bf.store(array, "runs", array, array, run="r1", date=DAY)


def test_a_folder_of_other_files_is_never_written(tmp_path):
    FRAME.write_parquet(tmp_path / "a.parquet")

    with pytest.raises(bf.InvalidInputError, match=r"is a folder of other files, such as 'a\.p"):
        stored(tmp_path)
    with pytest.raises(bf.InvalidInputError, match="is a file, and a Delta table is a folder"):
        stored(tmp_path / "a.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]


def test_an_empty_folder_and_one_of_an_empty_log_become_a_table(tmp_path):
    for name in ("empty", "begun"):
        (tmp_path / name).mkdir()
    (tmp_path / "begun" / LOG).mkdir()

    assert stored(tmp_path / "empty").status == "added"
    assert stored(tmp_path / "begun").status == "added"


def test_a_table_of_other_things_is_refused(table):
    write_deltalake(table, FRAME.drop("day"))

    for call in (lambda: stored(table), lambda: bf.read_run(table)):
        with pytest.raises(bf.InvalidInputError, match="has no runs of balframe: its columns are"):
            call()


def test_a_path_without_a_table_is_refused(table):
    with pytest.raises(bf.InvalidInputError, match="is not a Delta table"):
        bf.read_run(table)


def test_duckdb_pandas_and_polars_read_the_table(table):
    stored(table, "r1")
    stored(table, "r2", FRAME.head(2))
    arrow = DeltaTable(table).to_pyarrow_table()  # noqa: F841 (of the query)

    in_duckdb = duckdb.sql("select run, g, y, p, n from arrow")
    expected = bf.report(pl.scan_delta(str(table)), "y", "p", by="run").collect()
    assert expected.select("run", "n", "accuracy").rows() == [("r1", 5, 0.8), ("r2", 2, 0.5)]
    assert bf.report(in_duckdb, "y", "p", by="run").equals(expected)
    pandas = DeltaTable(table).to_pandas()
    assert plain(bf.report(pandas, "y", "p", by="run")) == plain(expected)


def test_without_the_extra_the_error_has_the_command(table, monkeypatch):
    from balframe.frames.engines import registry

    monkeypatch.setattr(registry, "find_spec", lambda name: None if name == "deltalake" else name)

    for call in (lambda: stored(table), lambda: bf.read_run(table)):
        with pytest.raises(bf.MissingExtraError, match=r"pip install 'balframe\[history\]'"):
            call()
