"""Every type of a by-column has the same segments, order and texts wherever a result is shown."""

import csv
from datetime import datetime, time, timedelta
from decimal import Decimal
from html.parser import HTMLParser

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.chart_specifications import rows_of
from tests.support.constructors import plain
from tests.support.html_tables import Page

N = 24
LABELS = {"y": [1, 1, 0, 0] * 6, "p": [1, 0, 0] * 8}


def cycle(*values):
    return [values[i % len(values)] for i in range(N)]


AGES = pd.Series(cycle(45, 8, 20, None, 12))
BANDS = ["(0, 9]", "(9, 30]", "(30, 90]", None]
EDGES = [0, 9, 30, 90]
DAYS = pd.Series(pd.to_datetime(cycle("2020-02-03", "2019-12-31", "2020-11-05")))
INTERVALS = pd.IntervalIndex.from_breaks(EDGES)
ZONE = "Europe/Rome"


def arrow(values, dtype):
    return pd.Series(values, dtype=pd.ArrowDtype(dtype))


DECIMALS, BYTES = cycle(Decimal("10.25"), Decimal("9.50")), cycle(b"b", b"a")
OF_BYTES, OF_DECIMALS = ["b'a'", "b'b'"], ["9.50", "10.25"]
DELTAS = cycle(timedelta(10), timedelta(2))
PANDAS = {  # by-columns, and their segments in order
    "bands of cut": (pd.cut(AGES, EDGES), BANDS),
    "bands of qcut": (pd.qcut(AGES, 2), ["(7.999, 20.0]", "(20.0, 45.0]", None]),
    "bands with names": (pd.cut(AGES, EDGES, labels=["z", "y", "x"]), ["z", "y", "x", None]),
    "intervals": (pd.Series(INTERVALS[cycle(2, 0, 1)]), BANDS[:3]),
    "months": (DAYS.dt.to_period("M"), ["2019-12", "2020-02", "2020-11"]),
    "quarters": (DAYS.dt.to_period("Q").astype("category"), ["2019Q4", "2020Q1", "2020Q4"]),
    "dates": (pd.Series([*DAYS.dt.date]), ["2019-12-31", "2020-02-03", "2020-11-05"]),
    "midnights": (DAYS, ["2019-12-31", "2020-02-03", "2020-11-05"]),
    "moments": (
        (DAYS[:2] + pd.Timedelta("3h")).dt.tz_localize(ZONE)[cycle(0, 1)].reset_index(drop=True),
        ["2019-12-31 03:00:00+01:00", "2020-02-03 03:00:00+01:00"],
    ),
    "durations": (pd.Series(DELTAS), ["2 days 00:00:00", "10 days 00:00:00"]),
    "times": (pd.Series(cycle(time(23, 30), time(9))), ["09:00:00", "23:30:00"]),
    "sparse booleans": (pd.Series(cycle(True, False), dtype="Sparse[bool]"), ["False", "True"]),
    "sparse integers": (pd.Series(cycle(12, 0, 3), dtype="Sparse[int]"), ["0", "3", "12"]),
    "bytes": (pd.Series(BYTES), OF_BYTES),
    "decimals": (pd.Series(DECIMALS), OF_DECIMALS),
    "tuples": (pd.Series(cycle((10, 1), (9, 1))), ["(9, 1)", "(10, 1)"]),
    "objects of two types": (pd.Series(cycle("b", 1, None), dtype=object), ["1", "b", None]),
    "Int64": (pd.Series(cycle(12, None, 3), dtype="Int64"), ["3", "12", None]),
    "boolean": (pd.Series(cycle(True, None, False), dtype="boolean"), ["False", "True", None]),
    "string": (pd.Series(cycle("b", None, "a"), dtype="string"), ["a", "b", None]),
    "categories of numbers": (
        pd.Series(pd.Categorical(cycle(1, 5, 2), categories=[5, 1, 2])),
        ["5", "1", "2"],
    ),
    "Arrow's decimals": (arrow(DECIMALS, pa.decimal128(6, 2)), OF_DECIMALS),
    "Arrow's bytes": (arrow(BYTES, pa.binary()), OF_BYTES),
    "Arrow's dates": (arrow([*DAYS.dt.date], pa.date32()), [*map(str, sorted({*DAYS.dt.date}))]),
    "Arrow's texts": (arrow(cycle("b", None, "a"), pa.string()), ["a", "b", None]),
}
TIMES = cycle(datetime(2020, 1, 2, 3), datetime(2019, 1, 2, 3))
POLARS = {
    "Decimal": (pl.Series(DECIMALS), OF_DECIMALS),
    "Binary": (pl.Series(BYTES), OF_BYTES),
    "Enum": (pl.Series(cycle("z", "a", None), dtype=pl.Enum(["z", "u", "a"])), ["z", "a", None]),
    "Categorical": (pl.Series(cycle("z", "a"), dtype=pl.Categorical), ["a", "z"]),
    "Time": (pl.Series(cycle(time(23, 30), time(9))), ["09:00:00", "23:30:00"]),
    "Duration": (pl.Series(DELTAS), ["2 days, 0:00:00", "10 days, 0:00:00"]),
    "Datetime": (pl.Series(TIMES), ["2019-01-02 03:00:00", "2020-01-02 03:00:00"]),
    "Int128": (pl.Series(cycle(2**70, 1), dtype=pl.Int128), ["1", str(2**70)]),
}
ARROW = {
    "months": (pa.array(PANDAS["months"][0]), PANDAS["months"][1]),
    "intervals": (pa.array(PANDAS["intervals"][0]), BANDS[:3]),
    "dictionary": (pa.array(cycle("b", "a")).dictionary_encode(), ["a", "b"]),
    "decimals": (pa.array(DECIMALS), OF_DECIMALS),
}
FRAMES = {
    **{("pandas", k): (pd.DataFrame(LABELS | {"g": g}), texts) for k, (g, texts) in PANDAS.items()},
    **{("polars", k): (pl.DataFrame(LABELS | {"g": g}), texts) for k, (g, texts) in POLARS.items()},
    **{("pyarrow", k): (pa.table(LABELS | {"g": g}), texts) for k, (g, texts) in ARROW.items()},
}
each_type = pytest.mark.parametrize("name", FRAMES, ids=" ".join)


class RowHeadings(HTMLParser):
    """The headings of the rows of all tables of a page."""

    def __init__(self, page):
        super().__init__()
        self.texts, self.is_heading = [], False
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        if tag == "th":
            self.is_heading = dict(attributes).get("scope") == "row"
            self.texts += [""] * self.is_heading

    def handle_endtag(self, tag):
        self.is_heading = self.is_heading and tag != "th"

    def handle_data(self, data):
        if self.is_heading:
            self.texts[-1] += data


def texts_of(result):
    """Return the different values of the by-column as texts, None for null."""
    if isinstance(result, pd.DataFrame):
        column = result["g"].astype(object) if result["g"].dtype == "category" else result["g"]
        values = [None if pd.isna(value) else value for value in column]
    else:
        values = result["g"].to_pylist() if isinstance(result, pa.Table) else [*result["g"]]
    return [*dict.fromkeys(None if value is None else str(value) for value in values)]


@each_type
def test_results_tables_charts_and_pages_have_the_texts_of_the_values(name):
    frame, texts = FRAMES[name]
    names = ["(missing)" if text is None else text for text in texts]
    result = bf.report(frame, "y", "p", by="g", metrics="accuracy")
    gaps = bf.gaps(frame, "y", "p", by="g", metrics="accuracy")
    in_result = [f"{text} 00:00:00" for text in texts] if name[1] == "midnights" else texts
    assert texts_of(result) == texts_of(gaps) == in_result
    table = Page(bf.table(result, method="report"))
    assert table.text_of("g") == names
    chart = bf.plot.report(frame, "y", "p", by="g", metrics="accuracy", sort="name")
    assert [*dict.fromkeys(row["segment"] for row in rows_of(chart))] == names
    headings = RowHeadings(bf.audit(frame, "y", "p", by="g", min_support=1).html()).texts
    assert [text for text in dict.fromkeys(headings) if text in names] == names


OF_PANDAS_ALONE = ["bands of cut", "intervals", "months", "quarters", "sparse integers"]
OF_PANDAS_ALONE += ["tuples", "objects of two types"]


@cases("kind", OF_PANDAS_ALONE)
@cases("backend", ["polars", "pyarrow"])
def test_another_library_gets_the_texts_of_what_pandas_alone_has(kind, backend):
    frame, texts = FRAMES["pandas", kind]
    result = bf.report(frame, "y", "p", by="g", metrics="accuracy", backend=backend)
    assert texts_of(result) == texts


NOON = datetime(2026, 1, 5, 12)
MIXED = {  # two objects of a column of pandas, and their texts
    "date and datetime": ([NOON.date(), NOON], ["2026-01-05", "2026-01-05 12:00:00"]),
    "zone and none": (
        [pd.Timestamp(NOON), pd.Timestamp(NOON, tz="UTC")],
        ["2026-01-05 12:00:00", "2026-01-05 12:00:00+00:00"],
    ),
    "bytes and text": ([b"a", "a"], ["b'a'", "a"]),
    "beyond 64 bits": ([-(2**70), 2**64], [str(-(2**70)), str(2**64)]),
    "beyond 128 bits": ([1, 2**200], ["1", str(2**200)]),
    "beyond the whole numbers of floats": ([1.5, 2**53 + 1], ["1.5", str(2**53 + 1)]),
}


@cases("backend", ["polars", "pyarrow"])
@cases(("values", "texts"), MIXED.values())
def test_another_library_changes_no_value_of_objects(values, texts, backend):
    frame = pd.DataFrame({"g": pd.Series(values, dtype=object), "y": [1, 0], "p": [1, 1]})
    result = plain(bf.report(frame, "y", "p", by="g", metrics="accuracy", backend=backend))
    assert dict(zip(map(str, result["g"]), result["accuracy"], strict=True)) == {
        texts[0]: 1,
        texts[1]: 0,
    }


def test_arrow_has_integers_of_128_bits_as_decimals():
    frame = pl.DataFrame({"g": pl.Series([2**70, 1], dtype=pl.Int128), "y": [1, 0], "p": [1, 1]})
    result = bf.report(frame, "y", "p", by="g", backend="pyarrow")
    assert result["g"].to_pylist() == [1, 2**70]


@cases("kind", POLARS)
def test_results_of_polars_in_pandas_have_the_same_values(kind):
    frame, _ = FRAMES["polars", kind]
    options = {"by": "g", "metrics": "accuracy", "margins": "overall"}
    converted = bf.report(frame, "y", "p", backend="pandas", **options)
    assert plain(converted) == plain(bf.report(frame, "y", "p", **options))


@cases(("by", "message"), [("g", "2 columns named 'g'"), ([["g"]], "got list as a column")])
def test_audit_refuses_names_as_report_does(by, message):
    frame = pd.DataFrame([[1, 0, "a", "b"], [0, 0, "b", "a"]], columns=["y", "p", "g", "g"])
    for method in (bf.report, bf.audit):
        with pytest.raises(bf.BalframeError, match=message):
            method(frame, "y", "p", by=by)


def test_bands_of_an_earlier_run_may_have_other_names():
    now, then = (
        pl.DataFrame(LABELS | {"g": pl.Series(cycle(*bands), dtype=pl.Enum(bands))})
        for bands in (["(0, 9]", "(9, 90]"], ["(0, 8]", "(9, 90]"])
    )
    earlier = bf.confusion(then, "y", "p", by="g")
    result = bf.diff(now, "y", "p", baseline=earlier, by="g", metrics="accuracy")
    assert result["g"].to_list() == ["(0, 9]", "(9, 90]", "(0, 8]"]
    together = bf.report(
        bf.combine([bf.confusion(now, "y", "p", by="g"), earlier]), "y", "p", by="g"
    )
    assert together.sort("n")["n"].to_list() == [12, 12, 24]


@cases("name", [name for name in FRAMES if name[0] != "pandas"])
def test_commands_write_the_texts_of_the_values(run, tmp_path, name):
    frame, texts = FRAMES[name]
    path = tmp_path / "rows.parquet"
    if isinstance(frame, pl.DataFrame):
        frame.write_parquet(path)
    else:
        pyarrow.parquet.write_table(frame, path)
    command = ["report", path, "--y-true", "y", "--y-pred", "p", "--by", "g"]
    rows = csv.DictReader(run(*command, "--format", "csv").out.splitlines())
    assert [row["g"].replace("T", " ").removesuffix(".000000") for row in rows] == [
        "" if text is None else text for text in texts
    ]
