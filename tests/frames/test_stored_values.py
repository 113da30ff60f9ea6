"""A value leaves as its library shows it, never as it is stored; other types are refused."""

from datetime import datetime
from decimal import Decimal
from uuid import UUID

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import plain

pytestmark = pytest.mark.any_version
if not hasattr(pa, "json_"):
    pytest.skip("PyArrow 16 has no such types", allow_module_level=True)

LABELS = {"y": [1, 1, 0, 0], "p": [1, 0, 0, 0]}
UUIDS = [UUID(int=2**127), UUID(int=255), UUID(int=255), None]
UUID_TEXTS = [str(UUIDS[1]), str(UUIDS[0]), None]
FORMS = {
    "table": lambda table: table,
    "reader": lambda table: table.to_reader(),
    "dataset": pyarrow.dataset.dataset,
}


def stored(dtype, storage):
    return pa.ExtensionArray.from_storage(dtype, storage)


def named(name, values):
    """Make a column of an extension type that is not registered."""
    array = pa.array(values)
    return array, pa.field("g", array.type, metadata={"ARROW:extension:name": name})


def arrow(column):
    array, field = column if isinstance(column, tuple) else (column, pa.field("g", column.type))
    return pa.table(LABELS).append_column(field, array)


def segments(frame, **options):
    result = plain(bf.report(frame, "y", "p", by="g", metrics="accuracy", **options))
    return dict(zip(result["g"], result["n"], strict=True))


OF_UUIDS = stored(pa.uuid(), pa.array([u and u.bytes for u in UUIDS], pa.binary(16)))
SHOWN = {
    "uuid": (OF_UUIDS, UUID_TEXTS, [2, 1, 1]),
    "dictionary of uuids": (
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 1, None]), OF_UUIDS[:2]),
        UUID_TEXTS,
        [2, 1, 1],
    ),
    "bool8": (
        stored(pa.bool8(), pa.array([1, 2, 0, None], pa.int8())),
        [False, True, None],
        [1, 2, 1],
    ),
    "json": (stored(pa.json_(), pa.array(["2", "1", "2", None])), ["1", "2", None], [1, 2, 1]),
}
REFUSED = {
    "opaque": (stored(pa.opaque(pa.int64(), "money", "acme"), pa.array([1, 2, 1, 2])), "opaque"),
    "unregistered": (named("acme.money", [1, 2, 1, 2]), "extension<acme.money>"),
    "shapes": (named("geoarrow.wkb", [b"1", b"2", b"1", b"2"]), "extension<geoarrow.wkb>"),
}


@cases("form", FORMS)
@cases("name", SHOWN)
@cases("options", [{}, {"backend": "polars"}, {"backend": "pandas"}])
def test_values_of_extension_types_leave_as_they_are_shown(name, form, options):
    column, values, counts = SHOWN[name]
    assert segments(FORMS[form](arrow(column)), **options) == dict(zip(values, counts, strict=True))


@cases("form", FORMS)
@cases("name", REFUSED)
@cases("roles", [{"by": "g"}, {"cluster": "g"}, {"y_true": "g"}, {"sample_weight": "g"}])
def test_extension_types_without_a_counterpart_are_refused_by_name(name, form, roles):
    column, shown = REFUSED[name]
    with pytest.raises(bf.UnsupportedTypeError, match="'g' of type ") as raised:
        bf.report(FORMS[form](arrow(column)), **{"y_true": "y", "y_pred": "p"} | roles)
    assert shown in str(raised.value)


@cases(
    "column",
    [
        OF_UUIDS,
        REFUSED["opaque"][0],
        pa.array(pd.Series(pd.period_range("2020", periods=4, freq="M"))),
    ],
)
@cases("roles", [{"by": "g"}, {"y_true": "g"}, {"sample_weight": "g"}])
def test_extension_types_that_pandas_only_holds_are_refused(column, roles):
    frame = arrow(column).to_pandas(types_mapper=pd.ArrowDtype)
    with pytest.raises(bf.UnsupportedTypeError, match="column 'g' "):
        bf.report(frame, **{"y_true": "y", "y_pred": "p"} | roles)
    with pytest.raises(bf.UnsupportedTypeError, match=r"column 'g' has the type .*extension"):
        bf.audit(frame, "y", "p", by="g")


@pytest.mark.skipif(not hasattr(pl, "BaseExtension"), reason="polars has no such types yet")
@cases("is_lazy", [False, True])
def test_months_of_pandas_in_polars_are_refused(tmp_path, is_lazy):
    months = pa.array(pd.Series(pd.PeriodIndex(["2020-02", "2020-01"] * 2, freq="M")))
    pyarrow.parquet.write_table(arrow(months), tmp_path / "rows.parquet")
    frame = pl.scan_parquet(tmp_path / "rows.parquet")
    with pytest.raises(bf.UnsupportedTypeError, match=r"'g' has the type .*pandas\.period"):
        segments(frame if is_lazy else frame.collect())


def test_commands_show_uuids_of_parquet(run, tmp_path):
    path = tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(arrow(OF_UUIDS), path)
    out = run(
        "report", path, "--y-true", "y", "--y-pred", "p", "--by", "g", "--metric", "accuracy"
    ).out
    assert [text in out for text in UUID_TEXTS[:2]] == [True, True]


# DuckDB


@pytest.fixture(params=["false", "true"])
def rows(request):
    """Make a relation of two values, on a connection that may export them as bytes."""
    connection = duckdb.connect()
    try:
        connection.execute(f"SET arrow_lossless_conversion = {request.param}")
    except duckdb.Error:
        pytest.skip("this release of DuckDB has no such option")

    def relation(first, second):
        values = [first, second, second, "NULL"]
        labels = zip(LABELS["y"], LABELS["p"], values, strict=True)
        parts = [f"SELECT {y} AS y, {p} AS p, {value} AS g, {value} AS h" for y, p, value in labels]
        try:
            return connection.sql(" UNION ALL ".join(parts))
        except duckdb.Error:
            pytest.skip("this release of DuckDB has no such type")

    return relation


LARGEST = 2**127 - 1


@cases(
    ("first", "second", "values"),
    [
        ("true", "false", [False, True]),
        (f"{LARGEST}::HUGEINT", "-1::HUGEINT", [-1, LARGEST]),
        (f"'{UUIDS[0]}'::UUID", f"'{UUIDS[1]}'::UUID", UUID_TEXTS[:2]),
        ("'2'::JSON", "'1'::JSON", ["1", "2"]),
        (
            "'2020-01-02'::TIMESTAMP_S",
            "'2020-01-01'::TIMESTAMP_S",
            [datetime(2020, 1, 1), datetime(2020, 1, 2)],
        ),
    ],
)
def test_values_of_duckdb_leave_as_they_are_shown(rows, first, second, values):
    assert segments(rows(first, second)) == {values[0]: 2, values[1]: 1, None: 1}
    matched = bf.diff(
        rows(first, second).filter("y = 1"),
        "y",
        "p",
        baseline=rows(first, second).filter("y = 1"),
        key="g",
        metrics="accuracy",
    )
    assert plain(matched)["estimate"] == [1 / 2]


@cases(
    "value",
    ["'101'::BIT", "1::BIGNUM", "1::VARIANT", "union_value(a := 1)", "'10:00:00+02'::TIMETZ"],
)
@cases(
    "roles",
    [{"by": "g"}, {"y_true": "g"}, {"y_pred": "g"}, {"cluster": "g"}, {"sample_weight": "g"}],
)
def test_types_of_duckdb_without_a_counterpart_are_refused_by_name(rows, value, roles):
    with pytest.raises(bf.UnsupportedTypeError, match=r"column 'g' has the type [A-Z]"):
        bf.report(rows(value, value), **{"y_true": "y", "y_pred": "p"} | roles)
    with pytest.raises(bf.UnsupportedTypeError, match=r"column 'g' has the type [A-Z]"):
        bf.diff(rows(value, value), "y", "p", baseline=rows(value, value), key="g")


@cases("roles", [{"by": "g"}, {"by": "g", "missing": "drop"}, {"cluster": "g", "missing": "drop"}])
@cases("second", ["'10:00:00'::TIME", "NULL::TIME"])
def test_a_time_of_24_hours_is_an_error_and_no_missing_value(rows, second, roles):
    frame = rows("'24:00:00'::TIME", second)
    with pytest.raises(
        bf.InvalidInputError, match="column 'g' has values that become null on the way from DuckDB"
    ):
        bf.report(frame, "y", "p", **roles)
    with pytest.raises(bf.InvalidInputError, match="'g' has values that become null"):
        bf.diff(frame, "y", "p", baseline=frame, key="g")


@cases("form", FORMS)
def test_a_time_of_24_hours_in_arrow_is_an_error(form):
    column = pa.array([86_400_000_000, 0, 0, None], pa.time64("us"))
    with pytest.raises(
        bf.InvalidInputError, match="column 'g' has values that become null on the way from Arrow"
    ):
        segments(FORMS[form](arrow(column)))


@cases(
    "value",
    [
        "'infinity'::DATE",
        "'-infinity'::TIMESTAMP",
        "'infinity'::TIMESTAMPTZ",
        "'infinity'::TIMESTAMP_S",
        "'0044-03-15 (BC)'::DATE",
    ],
)
@cases("roles", [{"by": "g"}, {"y_true": "g", "y_pred": "h"}, {"by": bf.period("g", "1mo")}])
def test_dates_that_python_cannot_show_are_refused(rows, value, roles):
    with pytest.raises(
        bf.InvalidInputError, match="column 'g' has dates outside the years 1 to 9999"
    ):
        bf.report(rows(value, value), **{"y_true": "y", "y_pred": "p", "missing": "drop"} | roles)


def on_arrow(data):
    return pa.table(data).to_pandas(types_mapper=pd.ArrowDtype)


@cases("make", [pl.DataFrame, pl.LazyFrame, pa.table, on_arrow])
def test_dates_beyond_python_in_a_frame_are_refused(make):
    days = pl.Series([2**31 - 1, 0, 0, None], dtype=pl.Int32).cast(pl.Date)
    frame = make(LABELS | {"g": days if make in (pl.DataFrame, pl.LazyFrame) else days.to_arrow()})
    with pytest.raises(bf.InvalidInputError, match="'g' has dates outside the years 1 to 9999"):
        plain(bf.report(frame, "y", "p", by="g"))


# -0.0


@cases("values", [[-0.0, 0.0, 1.0, -0.0], [0.0, -0.0, 1.0, -0.0]])
@cases(
    "make",
    {
        "polars": pl.DataFrame,
        "polars, lazy": pl.LazyFrame,
        "polars, 32 bits": lambda d: pl.DataFrame(d).cast({"g": pl.Float32}),
        "PyArrow": pa.table,
        "DuckDB": lambda d: duckdb.from_arrow(pa.table(d)),
        "pandas": pd.DataFrame,
        "objects": lambda d: pd.DataFrame(d).astype({"g": object}),
        "categories": lambda d: pd.DataFrame(d).astype({"g": "category"}),
        "Decimals": lambda d: pd.DataFrame(d | {"g": [*map(Decimal, map(str, d["g"]))]}),
    }.values(),
)
def test_a_negative_zero_is_zero_whatever_the_order_of_rows(make, values):
    result = bf.report(make(LABELS | {"g": values}), "y", "p", by="g", metrics="accuracy")
    assert [*map(str, map(float, plain(result)["g"]))] == ["0.0", "1.0"]
    assert plain(result)["n"] == [3, 1]
