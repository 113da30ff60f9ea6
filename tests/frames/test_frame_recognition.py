"""What is asked of a frame before it is asked for cells: that it is known, and all installed."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import balframe as bf
from balframe.frames.engines import registry as engines
from tests.support.constructors import plain

ROWS = {"g": ["a", "b", None], "y": [1, 0, 1], "p": [1, 1, 0]}


@pytest.mark.parametrize(
    ("module", "advice"),
    [
        ("modin.pandas.dataframe", r"frame\.modin\.to_pandas\(\)"),
        ("pyspark.pandas.frame", r"frame\.to_spark\(\)"),
        ("elsewhere", "Convert it to one of them first"),
    ],
)
def test_the_error_of_an_unknown_frame_says_what_to_do(module, advice):
    frame = type("DataFrame", (), {"__module__": module})()
    with pytest.raises(bf.UnsupportedTypeError, match=rf"got {module}\.DataFrame.*{advice}"):
        bf.report(frame, "y", "p")


@pytest.fixture
def without(monkeypatch):
    """Let modules seem not to be installed."""
    found = engines.find_spec

    def hide(*names):
        monkeypatch.setattr(
            engines, "find_spec", lambda name: None if name in names else found(name)
        )

    return hide


def test_a_missing_extra_is_named_with_the_command_that_installs_it(without):
    table = pa.table(ROWS)
    without("pyarrow", "dask")
    command = r"python -m pip install 'balframe\[{}\]'"
    with pytest.raises(bf.MissingExtraError, match=command.format("arrow")):
        bf.report(table, "y", "p")
    with pytest.raises(bf.MissingExtraError, match=command.format("arrow")) as caught:
        bf.report(pl.DataFrame(ROWS), "y", "p", backend="pyarrow")
    assert isinstance(caught.value, ImportError)
    with pytest.raises(bf.MissingExtraError, match=command.format("dask")):
        bf.register("dask")


@pytest.mark.engines
def test_frames_of_dask_have_the_namespace_after_register():
    dataframe = pytest.importorskip("dask.dataframe")
    bf.register("dask")
    bf.register("dask")  # again, as a notebook's cell may
    frame = dataframe.from_pandas(pd.DataFrame(ROWS), npartitions=2)
    assert plain(frame.bal.report("y", "p", by="g")) == plain(bf.report(frame, "y", "p", by="g"))
    with pytest.raises(bf.InvalidInputError, match="library='spark' is not one of the options"):
        bf.register("spark")


@pytest.mark.parametrize("frame", [pd.DataFrame(ROWS), pl.DataFrame(ROWS), pl.LazyFrame(ROWS)])
def test_backend_returns_the_result_in_another_library(frame):
    expected = plain(bf.report(frame, "y", "p", by="g", margins="overall"))
    for backend, kind in {
        "pandas": pd.DataFrame,
        "polars": pl.DataFrame,
        "pyarrow": pa.Table,
    }.items():
        result = bf.report(frame, "y", "p", by="g", margins="overall", backend=backend)
        assert isinstance(result, kind)
        assert plain(result) == expected
    with pytest.raises(bf.InvalidInputError, match="backend='numpy' is not one of the options"):
        bf.report(frame, "y", "p", backend="numpy")


def test_integers_and_booleans_beside_nulls_keep_their_type_in_pandas():
    rows = pl.DataFrame({"i": [2**60 + 1, None], "b": [None, True], "y": [1, 1], "p": [1, 0]})
    result = bf.report(rows, "y", "p", by=["i", "b"], backend="pandas")
    assert result["i"].tolist() == [2**60 + 1, pd.NA]
    assert (str(result["i"].dtype), str(result["b"].dtype)) == ("Int64", "boolean")


def test_a_result_that_arrow_cannot_represent_is_refused():
    g = pl.Series([2**100, 1], dtype=pl.Int128)
    frame = pl.DataFrame({"g": g, "y": [1, 0], "p": [1, 0]})
    with pytest.raises(bf.UnsupportedTypeError, match="pyarrow cannot hold the result"):
        bf.report(frame, "y", "p", by="g", backend="pyarrow")
