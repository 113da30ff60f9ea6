"""Two runs whose columns have different types are compared by their values, or not at all."""

import warnings
from datetime import date, datetime, timedelta
from decimal import Decimal

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import plain

pytestmark = pytest.mark.any_version

DAYS = [datetime(2020, 1, 1), datetime(2020, 7, 2)]
ZONED = pl.Series(DAYS).dt.replace_time_zone("UTC")


def enum(*categories):
    return pl.Enum(categories)


EQUAL = {  # the column of two rows in this run and in the earlier one, and its values in order
    "an Enum that gained": (
        pl.Series(["z", "a"], dtype=enum("z", "a")),
        pl.Series(["z", "a"], dtype=enum("z", "a", "m")),
        ["z", "a"],
    ),
    "Enum and text": (pl.Series(["z", "a"], dtype=enum("z", "a")), pl.Series(["z", "a"]), None),
    "Categorical and Enum": (
        pl.Series(["z", "a"], dtype=pl.Categorical),
        pl.Series(["z", "a"], dtype=enum("z", "a")),
        ["a", "z"],
    ),
    "units": (
        pl.Series(DAYS, dtype=pl.Datetime("us")),
        pl.Series(DAYS, dtype=pl.Datetime("ns")),
        DAYS,
    ),
    "zones": (ZONED, ZONED.dt.convert_time_zone("Europe/Rome"), ZONED.to_list()),
    "32 and 64 bits": (
        pl.Series([0.7, 0.1], dtype=pl.Float32),
        pl.Series([0.7, 0.1]),
        [0.1, 0.7],
    ),
    "32 bits and integers": (
        pl.Series([2, 1], dtype=pl.Float32),
        pl.Series([2, 1]),
        [1, 2],
    ),
    "signed and unsigned": (
        pl.Series([2**53 + 1, 2**53]),
        pl.Series([2**53 + 1, 2**53], dtype=pl.UInt64),
        [2**53, 2**53 + 1],
    ),
    "decimals and integers": (
        pl.Series([Decimal("2.0"), Decimal("1.0")]),
        pl.Series([2, 1]),
        [1, 2],
    ),
    "decimals and floats": (
        pl.Series([Decimal("2.50"), Decimal("0.10")]),
        pl.Series([2.5, 0.1]),
        [0.1, 2.5],
    ),
    "decimals and 32 bits": (
        pl.Series([Decimal("2.50"), Decimal("0.10")]),
        pl.Series([2.5, 0.1], dtype=pl.Float32),
        [0.1, 2.5],
    ),
}
UNEQUAL = {
    "a zone and none": (ZONED, pl.Series(DAYS)),
    "numbers and text": (pl.Series([1, 2]), pl.Series(["1", "2"])),
    "days and moments": (pl.Series([date(2020, 1, 1)] * 2), pl.Series(DAYS)),
    "bytes and text": (pl.Series([b"a", b"b"]), pl.Series(["a", "b"])),
    "durations and numbers": (pl.Series([timedelta(1)] * 2), pl.Series([1, 2])),
}
FORMS = {
    "polars": lambda frame: frame,
    "PyArrow": lambda frame: frame.to_arrow(),
    "pandas": lambda frame: frame.to_pandas(),
    "pandas on Arrow": lambda frame: frame.to_arrow().to_pandas(types_mapper=pd.ArrowDtype),
}


def runs(form, now, then):
    labels = {"y": [1, 1], "p": [1, 0]}
    return [FORMS[form](pl.DataFrame(labels | {"g": column})) for column in (now, then)]


@cases("form", FORMS)
@cases("name", EQUAL)
def test_equal_values_of_different_types_are_one_group_and_one_key(name, form):
    now, then, values = EQUAL[name]
    new, earlier = runs(form, now, then)
    cells = bf.confusion(earlier, "y", "p", by="g")
    compare = {"by": "g", "metrics": "accuracy"}
    for baseline in (earlier, cells):
        result = plain(bf.diff(new, "y", "p", baseline=baseline, **compare))
        assert result["difference"] == [0, 0]
        if form == "polars" and values is not None:  # others have an order of their own
            assert result["g"] == values
    matched = plain(bf.diff(new, "y", "p", baseline=earlier, key="g", metrics="accuracy"))
    assert matched["estimate"] == matched["baseline_estimate"] == [1 / 2]
    together = plain(bf.combine([bf.confusion(new, "y", "p", by="g"), cells]))
    assert sorted(together["n"]) == [0, 0, 2, 2] or sorted(together["n"]) == [2, 2]
    checked = bf.check(new, "y", "p", rules="accuracy >= baseline - 0.5", baseline=cells, by="g")
    assert len(plain(checked)["g"]) == 2


@cases("form", FORMS)
@cases("name", UNEQUAL)
def test_values_that_are_never_equal_are_refused_in_one_sentence(name, form):
    if name == "days and moments" and form == "pandas":
        return  # pandas has one type for both
    new, earlier = runs(form, *UNEQUAL[name])
    message = r"column 'g' holds .* which never compare equal. Cast one to the type of the other.$"
    for roles in ({"by": "g"}, {"key": "g"}):
        with pytest.raises(bf.InvalidInputError, match=message):
            bf.diff(new, "y", "p", baseline=earlier, metrics="accuracy", **roles)


@cases("make", [pl.DataFrame, pd.DataFrame, pa.table])
@cases(
    ("earlier", "shown"),
    [(["yes", "no"], "'no', 'yes'"), (["1.0", "0.0"], "'0.0', '1.0'"), (["1", "no"], None)],
)
def test_labels_of_another_code_warn(make, earlier, shown):
    new = make({"y": ["1", "0"], "p": ["1", "0"], "day": [date(2026, 1, 5)] * 2})
    old = make({"y": earlier, "p": earlier})
    period = bf.period("day", "1w")
    for run in (
        lambda: bf.diff(new, "y", "p", baseline=old),
        lambda: bf.check(new, "y", "p", baseline=old, rules="accuracy >= baseline"),
        lambda: bf.monitor(new, "y", "p", time=period, baseline=bf.confusion(old, "y", "p")),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            run()
        messages = [str(w.message) for w in caught if "no label of" in str(w.message)]
        expected = (
            f"no label of the baseline occurs in the data: the baseline has {shown}, and the data "
            "have '0', '1'. Write the labels of both in one way."
        )
        assert messages == ([] if shown is None else [expected])


@cases("name", UNEQUAL)
@cases("form", ["polars", "PyArrow"])
def test_cells_whose_values_are_never_equal_are_not_added(name, form):
    cells = [bf.confusion(frame, "y", "p", by="g") for frame in runs(form, *UNEQUAL[name])]
    with pytest.raises(bf.InvalidInputError, match="'g'"):
        bf.combine(cells)


def test_files_of_short_and_long_floats_have_equal_scores(run, tmp_path):
    for name, dtype in (("a", pa.float32()), ("b", pa.float64())):
        table = pa.table({"y": [1, 0], "s": pa.array([0.7, 0.1], dtype)})
        pyarrow.parquet.write_table(table, tmp_path / f"{name}.parquet")
    out = run(
        "curve",
        tmp_path,
        "--y-true",
        "y",
        "--y-score",
        "s",
        "--thresholds",
        "0.7",
        "--format",
        "csv",
    ).out
    assert out.splitlines()[1].startswith("0.7,4,2,")
