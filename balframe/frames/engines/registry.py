"""The frames that balframe reads, and what it returns for each."""

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

import narwhals as nw
import polars as pl
from narwhals.dependencies import is_pandas_dataframe, is_pandas_series

from balframe.errors import MissingExtraError, UnsupportedTypeError
from balframe.frames import polars_adapter
from balframe.frames.adapter import Adapter, AdapterOf, Name
from balframe.frames.lazy_pandas import pandas_adapter
from balframe.frames.query import duplicate_name_error

if TYPE_CHECKING:
    import pandas as pd

    from balframe.frames.pandas_encoding import DType, Values

_pandas: "AdapterOf[pd.DataFrame, Name, Values, DType]" = pandas_adapter
_polars: AdapterOf[pl.DataFrame, str, pl.Series, pl.DataType] = polars_adapter

# Each takes frames of its own library only: a frame always comes with its adapter.
PANDAS_ADAPTER = cast(Adapter, _pandas)
POLARS_ADAPTER = cast(Adapter, _polars)

LAZY = "polars, lazy"

# The warning asks for a package that narwhals uses by itself if it is installed.
warnings.filterwarnings("ignore", "Dask support is moving out of Narwhals", FutureWarning)


@dataclass(frozen=True, slots=True)
class Engine:
    """A kind of frame: one row of the table of what is supported.

    `adapter` counts its cells, `result` is the type of the result, `extra` installs what it needs,
    and `notes` describe what is unsupported or different. A lazy engine returns only cells.
    """

    name: str
    frame: str
    adapter: Adapter
    result: str
    extra: str | None = None
    notes: str = ""
    is_lazy: bool = True


PANDAS = Engine("pandas", "pandas.DataFrame", PANDAS_ADAPTER, "pandas", is_lazy=False)
POLARS = Engine("polars", "polars.DataFrame", POLARS_ADAPTER, "polars", is_lazy=False)
POLARS_LAZY = Engine(
    LAZY, "polars.LazyFrame", POLARS_ADAPTER, LAZY, notes='`backend="polars"` collects immediately'
)
PYARROW = Engine(
    "PyArrow",
    "pyarrow.Table",
    POLARS_ADAPTER,
    "pyarrow",
    "arrow",
    "no `.bal`; counted in place",
    is_lazy=False,
)
PYARROW_STREAM = Engine(
    "PyArrow, in batches",
    "pyarrow.dataset.Dataset, pyarrow.RecordBatchReader",
    POLARS_ADAPTER,
    "pyarrow",
    "arrow",
    "no `.bal`; read in batches; a reader can be read only once",
)
ARROW_STREAM = Engine(
    "Arrow streams",
    "any frame with __arrow_c_stream__",
    POLARS_ADAPTER,
    "polars",
    "arrow",
    "no `.bal`; read in batches, and only once; tested with nanoarrow, arro3 and DataFusion",
)
DASK = Engine(
    "Dask",
    "dask.dataframe.DataFrame",
    PANDAS_ADAPTER,
    "pandas",
    "dask",
    '`.bal` after `bf.register("dask")`',
)
PYSPARK = Engine(
    "PySpark",
    "pyspark.sql.DataFrame",
    POLARS_ADAPTER,
    "pandas",
    "spark",
    "no `.bal`; classic and Connect, tested with classic; the order of an Enum is lost; times are "
    "read in the zone of the session",
)
DUCKDB = Engine(
    "DuckDB",
    "duckdb.DuckDBPyRelation",
    POLARS_ADAPTER,
    "polars",
    "duckdb",
    "no `.bal`; no time intervals in `by`; times with a zone are read in UTC",
)
IBIS = Engine(
    "Ibis",
    "ibis.Table",
    POLARS_ADAPTER,
    "polars",
    "ibis",
    "no `.bal`; tested on its DuckDB, Postgres and SQLite backends; the order of an Enum is lost; "
    "no time intervals in `by`; times whose zone a table has lost are read in UTC",
)
SQLFRAME = Engine(
    "SQLFrame",
    "sqlframe DataFrame",
    POLARS_ADAPTER,
    "polars",
    "sqlframe",
    "no `.bal`; tested on its DuckDB backend; the order of an Enum is lost; times with a zone are "
    "read in UTC",
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
UNSUPPORTED_FRAME_ADVICE = {  # frames that do not work with current pandas, by their module
    "pyspark.pandas": "Give its Spark frame, `frame.to_spark()`.",
    "modin": "Give its pandas frame, `frame.modin.to_pandas()`.",
}


def is_frame(native: object) -> bool:
    """Return whether this is a frame that balframe reads."""
    try:
        find_engine(native)
    except UnsupportedTypeError:
        return False
    return True


def find_engine(frame: object) -> Engine:
    """Return the engine that holds the rows of a frame; raise if it is not a frame."""
    if isinstance(frame, pl.DataFrame):
        return POLARS
    if isinstance(frame, pl.LazyFrame):
        return POLARS_LAZY
    if is_pandas_dataframe(frame):
        return PANDAS
    try:
        wrapped: Any = nw.from_native(frame, pass_through=True)
    except nw.exceptions.DuplicateError:
        check_distinct(_column_names(frame))
        raise
    is_frame = isinstance(wrapped, (nw.DataFrame, nw.LazyFrame))
    engine = _NARWHALS.get(wrapped.implementation) if is_frame else _stream_engine(frame)
    if engine is None:
        raise unsupported_frame_error(type(frame))
    if engine.adapter is POLARS_ADAPTER:
        check_installed("pyarrow", engine.extra, f"{engine.name} frames")
    return engine


def _column_names(frame: Any) -> list[Name]:  # noqa: ANN401
    return list(frame.column_names if hasattr(frame, "column_names") else frame.columns)


def check_distinct(names: Sequence[Name]) -> None:
    """Raise if two columns have the same name."""
    for name, number in Counter(names).items():
        if number > 1:
            raise duplicate_name_error(name, number)


def _stream_engine(frame: object) -> Engine | None:
    """Return the engine of a stream of record batches; a column may be one too, so None for it."""
    is_stream = hasattr(frame, "__arrow_c_stream__")
    if type(frame).__module__.startswith("pyarrow"):
        is_frame = hasattr(frame, "scanner") or (is_stream and hasattr(frame, "schema"))
        return PYARROW_STREAM if is_frame else None
    native = nw.to_native(frame, pass_through=True)
    is_column = isinstance(native, pl.Series) or is_pandas_series(native)
    return ARROW_STREAM if is_stream and not is_column else None


def unsupported_frame_error(frame_type: type) -> UnsupportedTypeError:
    """Return the error that lists the supported frames."""
    advice = "Convert it to one of them first."
    for module, module_advice in UNSUPPORTED_FRAME_ADVICE.items():
        if frame_type.__module__.startswith(module):
            advice = module_advice
    frames = ", ".join(engine.frame for engine in ENGINES)
    return UnsupportedTypeError(
        f"got {frame_type.__module__}.{frame_type.__qualname__}, which is not a frame that "
        f"balframe can read. It reads {frames}, and narwhals frames of these. {advice}"
    )


def unexported_type_error(engine: str, name: Name, dtype: object) -> UnsupportedTypeError:
    """Return the error for a column whose values an engine does not give to Python."""
    return UnsupportedTypeError(
        f"column {name!r} has the type {dtype}, which {engine} cannot export; cast it, for example "
        "to seconds or to text."
    )


def check_installed(module: str, extra: str | None, purpose: str) -> None:
    """Raise an error with the command that installs a module, if it is missing."""
    if find_spec(module) is None:
        raise MissingExtraError(
            f"{purpose} need {module}, which is not installed: "
            f"python -m pip install 'balframe[{extra}]'"
        )
