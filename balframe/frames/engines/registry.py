"""The frames that balframe reads, and what it returns for each."""

import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

import narwhals as nw
import polars as pl
from narwhals.dependencies import is_pandas_dataframe, is_pandas_series

from balframe.errors import MissingExtraError, UnsupportedTypeError
from balframe.frames import polars_adapter as columns_of_polars
from balframe.frames.adapter import Adapter, AdapterOf, Name
from balframe.frames.lazy_pandas import columns_of_pandas

if TYPE_CHECKING:
    import pandas as pd

    from balframe.frames.pandas_encoding import DType, Values

_pandas: "AdapterOf[pd.DataFrame, Name, Values, DType]" = columns_of_pandas
_polars: AdapterOf[pl.DataFrame, str, pl.Series, pl.DataType] = columns_of_polars

# Each takes frames of its own only: a frame and its library always go together.
in_pandas = cast(Adapter, _pandas)
in_polars = cast(Adapter, _polars)

LAZY = "polars, lazy"

# It asks for a package that narwhals takes by itself where it is installed.
warnings.filterwarnings("ignore", "Dask support is moving out of Narwhals", FutureWarning)


@dataclass(frozen=True, slots=True)
class Engine:
    """A kind of frame: one row of the table of what is supported.

    `library` counts its cells, `answer` is the type of the result, `extra` installs what it needs,
    and `notes` describe what is unsupported or different. A lazy engine sends only cells.
    """

    name: str
    frame: str
    library: Adapter
    answer: str
    extra: str | None = None
    notes: str = ""
    is_lazy: bool = True


PANDAS = Engine("pandas", "pandas.DataFrame", in_pandas, "pandas", is_lazy=False)
POLARS = Engine("polars", "polars.DataFrame", in_polars, "polars", is_lazy=False)
POLARS_LAZY = Engine(
    LAZY, "polars.LazyFrame", in_polars, LAZY, notes='`backend="polars"` collects immediately'
)
PYARROW = Engine(
    "PyArrow",
    "pyarrow.Table",
    in_polars,
    "pyarrow",
    "arrow",
    "no `.bal`; counted in place",
    is_lazy=False,
)
PYARROW_STREAM = Engine(
    "PyArrow, in batches",
    "pyarrow.dataset.Dataset, pyarrow.RecordBatchReader",
    in_polars,
    "pyarrow",
    "arrow",
    "no `.bal`; read in batches; a reader can be read only once",
)
ARROW_STREAM = Engine(
    "Arrow streams",
    "any frame with __arrow_c_stream__",
    in_polars,
    "polars",
    "arrow",
    "no `.bal`; read in batches, and only once; tested with nanoarrow, arro3 and DataFusion",
)
DASK = Engine(
    "Dask",
    "dask.dataframe.DataFrame",
    in_pandas,
    "pandas",
    "dask",
    '`.bal` after `bf.register("dask")`',
)
PYSPARK = Engine(
    "PySpark",
    "pyspark.sql.DataFrame",
    in_polars,
    "pandas",
    "spark",
    "no `.bal`; classic and Connect, tested with classic; the order of an Enum is lost",
)
DUCKDB = Engine(
    "DuckDB",
    "duckdb.DuckDBPyRelation",
    in_polars,
    "polars",
    "duckdb",
    "no `.bal`; no time intervals in `by`",
)
IBIS = Engine(
    "Ibis",
    "ibis.Table",
    in_polars,
    "polars",
    "ibis",
    "no `.bal`; tested on its DuckDB, Postgres and SQLite backends; the order of an Enum is lost",
)
SQLFRAME = Engine(
    "SQLFrame",
    "sqlframe DataFrame",
    in_polars,
    "polars",
    "sqlframe",
    "no `.bal`; tested on its DuckDB backend; the order of an Enum is lost",
)
ENGINES = (
    PANDAS,
    POLARS,
    POLARS_LAZY,
    PYARROW,
    PYARROW_STREAM,
    DASK,
    PYSPARK,
    DUCKDB,
    IBIS,
    SQLFRAME,
    ARROW_STREAM,
)
STREAMS = (PYARROW_STREAM, ARROW_STREAM)

_NARWHALS = {
    nw.Implementation.PYARROW: PYARROW,
    nw.Implementation.DASK: DASK,
    nw.Implementation.PYSPARK: PYSPARK,
    nw.Implementation.PYSPARK_CONNECT: PYSPARK,
    nw.Implementation.DUCKDB: DUCKDB,
    nw.Implementation.IBIS: IBIS,
    nw.Implementation.SQLFRAME: SQLFRAME,
}
ADVICE = {  # frames that do not run beside the pandas of today, by the start of their module
    "pyspark.pandas": "Give its Spark frame, `frame.to_spark()`.",
    "modin": "Give its pandas frame, `frame.modin.to_pandas()`.",
}


def engine_of(frame: object) -> Engine:
    """Find out what holds the rows of a frame."""
    if isinstance(frame, pl.DataFrame):
        return POLARS
    if isinstance(frame, pl.LazyFrame):
        return POLARS_LAZY
    if is_pandas_dataframe(frame):
        return PANDAS
    known: Any = nw.from_native(frame, pass_through=True)
    is_frame = isinstance(known, (nw.DataFrame, nw.LazyFrame))
    engine = _NARWHALS.get(known.implementation) if is_frame else _stream(frame)
    if engine is None:
        raise not_read(type(frame))
    if engine.library is in_polars:
        check_installed("pyarrow", engine.extra, f"{engine.name} frames")
    return engine


def _stream(frame: object) -> Engine | None:
    """Find out whether rows come as record batches; columns of some libraries come so too."""
    is_stream = hasattr(frame, "__arrow_c_stream__")
    if type(frame).__module__.startswith("pyarrow"):
        is_frame = hasattr(frame, "scanner") or (is_stream and hasattr(frame, "schema"))
        return PYARROW_STREAM if is_frame else None
    native = nw.to_native(frame, pass_through=True)
    is_column = isinstance(native, pl.Series) or is_pandas_series(native)
    return ARROW_STREAM if is_stream and not is_column else None


def not_read(given: type) -> UnsupportedTypeError:
    """Say which frames are read."""
    advice = "Convert it to one of them first."
    for module, known in ADVICE.items():
        if given.__module__.startswith(module):
            advice = known
    frames = ", ".join(engine.frame for engine in ENGINES)
    return UnsupportedTypeError(
        f"got {given.__module__}.{given.__qualname__}, which is not a frame that balframe can "
        f"read. It reads {frames}, and narwhals frames of these. {advice}"
    )


def check_installed(module: str, extra: str | None, purpose: str) -> None:
    """Raise unless a module is there, and name the command that installs it."""
    if find_spec(module) is None:
        raise MissingExtraError(
            f"{purpose} need {module}, which is not installed: "
            f"python -m pip install 'balframe[{extra}]'"
        )
