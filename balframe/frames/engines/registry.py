"""The frames that balframe reads, and what it returns for each."""

import re
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

import narwhals as nw
import numpy as np
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
    "pyarrow.dataset.Dataset, pyarrow.dataset.Scanner, pyarrow.RecordBatchReader",
    POLARS_ADAPTER,
    "pyarrow",
    "arrow",
    "no `.bal`; read in batches; a reader can be read only once; datasets of Lance and Vortex too",
)
HUGGING_FACE = Engine(
    "Hugging Face",
    "datasets.Dataset",
    POLARS_ADAPTER,
    "polars",
    "arrow",
    "no `.bal`; read in batches; class labels are their numbers",
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
    HUGGING_FACE,
    ARROW_STREAM,
)
STREAMS = (PYARROW_STREAM, HUGGING_FACE, ARROW_STREAM)

_NARWHALS = {
    nw.Implementation.PYARROW: PYARROW,
    nw.Implementation.DASK: DASK,
    nw.Implementation.PYSPARK: PYSPARK,
    nw.Implementation.PYSPARK_CONNECT: PYSPARK,
    nw.Implementation.DUCKDB: DUCKDB,
    nw.Implementation.IBIS: IBIS,
    nw.Implementation.SQLFRAME: SQLFRAME,
}
# What people have in place of a frame, a pattern of the names of its classes, and what to do. The
# first pattern that matches counts.
NOT_FRAMES = (
    ("pandas on Spark", r"pyspark\.pandas", "Give its Spark frame, `frame.to_spark()`."),
    (
        "groups of rows",
        r".*\.\w*(GroupBy|Grouped\w+|Rolling|Expanding|Resampler)$",
        "Give the frame itself, and the columns as `by`.",
    ),
    ("Modin", r"modin\.", "Give its pandas frame, `frame.modin.to_pandas()`."),
    ("cuDF", r"cudf\.", "Give `frame.to_arrow()`."),
    ("Vaex", r"vaex\.", "Give `frame.to_arrow_table()`."),
    ("H2O", r"h2o\.", "Give `frame.as_data_frame()`."),
    ("xarray, a dataset", r"xarray\..*Dataset", "Give `dataset.to_dataframe().reset_index()`."),
    (
        "Ray, Snowpark, BigQuery DataFrames, datatable",
        r"(ray\.data|snowflake\.snowpark|bigframes|datatable)\.",
        "Give `frame.to_pandas()`.",
    ),
    ("Iceberg, a scan", r"pyiceberg\..*Scan$", "Give `scan.to_arrow_batch_reader()`."),
    ("Iceberg, a table", r"pyiceberg\.", "Give `table.scan().to_arrow_batch_reader()`."),
    ("Delta Lake", r"deltalake\.", "Give `pl.scan_delta(table)`."),
    ("Vortex, a file", r"vortex\.file\.", "Give `file.to_dataset()`."),
    ("Vortex, an array", r"vortex\..*Array$", "Give `array.to_arrow_table()`."),
    ("Vortex, a scan", r"vortex\.", "Give `scan.to_arrow()`."),
    ("Hugging Face, splits", r"datasets\.dataset_dict\.", 'Give one split, as `splits["test"]`.'),
    ("Hugging Face, iterable", r"datasets\.iterable", "Give `pl.DataFrame(list(dataset))`."),
    (
        "DuckDB, a connection, which is what `execute` returns",
        r"_?duckdb\.",
        "Give the relation `con.sql(query)`.",
    ),
    (
        "cursors, connections and results of other databases",
        r"sqlalchemy\.|.*\.\w*([Cc]ursor|[Cc]onnection)$",
        "Give `pl.read_database(query, connection)`.",
    ),
    ("pandas, styled", r"pandas\..*Styler$", "Give `styler.data`."),
    ("pandas, chunks", r"pandas\..*Reader$", "Give `pd.concat(reader)`."),
    ("PyArrow, structs", r"pyarrow\.lib\.StructArray", "Give `pa.Table.from_struct_array(array)`."),
    (
        "PyArrow, open files",
        r"pyarrow\..*(File|FileReader|Dataset)$",
        "Give `pyarrow.dataset.dataset(path)`.",
    ),
    ("text of several lines", "text", "Give `pl.read_csv(io.StringIO(text))` if it is CSV."),
    (
        "paths and open files",
        r"(str|bytes)$|(pathlib|_io|tempfile|gzip|csv|_csv)\.",
        "Read the file first, as with `pl.read_csv(path)` or `pl.read_parquet(path)`.",
    ),
    ("functions", r"(\w*method|function)$", "Call it, with `()`."),
    (
        "lists of batches",
        r".* of pyarrow\.lib\.RecordBatch$",
        "Give `pa.Table.from_batches(batches)`.",
    ),
    (
        "lists and mappings of frames",
        r".* of .*\.(DataFrame|LazyFrame|Table|Dataset|DuckDBPyRelation)$",
        "Give one of the frames, or all as one, as with `pl.concat(frames)`.",
    ),
    (
        "rows without names",
        r"(list|tuple) of (tuple|list|.*Row)$|numpy\.ndarray of numpy\.ndarray",
        'Give `pl.DataFrame(rows, schema=["y", "yhat"], orient="row")`.',
    ),
    (
        "mappings of columns, lists of mappings, structured arrays",
        r"dict|list of (dict|pydantic\.)|numpy\..* of numpy\.void$",
        "Give `pl.DataFrame(data)`.",
    ),
    ("iterators", r"(generator|map|filter|zip)$", "Give `pl.DataFrame(list(rows))`."),
)


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
        raise unsupported_frame_error(frame)
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
    names = class_names(frame)
    if "datasets.arrow_dataset.Dataset" in names:
        return HUGGING_FACE
    is_stream = hasattr(frame, "__arrow_c_stream__")
    if any(name.startswith("pyarrow.") for name in names):  # or a class derived from it
        is_dataset = (is_stream or hasattr(frame, "scanner")) and hasattr(frame, "schema")
        return PYARROW_STREAM if is_dataset or hasattr(frame, "projected_schema") else None
    native = nw.to_native(frame, pass_through=True)
    is_column = isinstance(native, pl.Series) or is_pandas_series(native)
    return ARROW_STREAM if is_stream and not is_column else None


def class_names(value: object) -> list[str]:
    """Return the names of the classes of an object, and of those with the class of its elements."""
    if isinstance(value, str) and "\n" in value:
        return ["text of several lines"]
    own = _own_class_names(value)
    if isinstance(value, np.ndarray):
        elements: list[Any] = list(value[:1]) if value.ndim else []
    elif isinstance(value, dict):
        elements = list(value.values())
    else:
        elements = list(value[:1]) if isinstance(value, (list, tuple)) else []
    of_first = _own_class_names(elements[0]) if elements else []
    return [*(f"{name} of {element}" for name in own for element in of_first), *own]


def _own_class_names(value: object) -> list[str]:
    classes = type(value).__mro__[:-1]
    return [f"{c.__module__}.{c.__qualname__}".removeprefix("builtins.") for c in classes]


def advice_for(value: object) -> str | None:
    """Return what to give in place of an object that is not a frame; None if it is unknown."""
    names = class_names(value)
    for _, pattern, advice in NOT_FRAMES:
        if any(re.match(pattern, name) for name in names):
            return advice
    return None


def unsupported_frame_error(value: object) -> UnsupportedTypeError:
    """Return the error for what is not a frame, with advice, or else with the supported frames."""
    advice = advice_for(value)
    if advice is None:
        frames = ", ".join(engine.frame for engine in ENGINES)
        advice = (
            f"It reads {frames}, and narwhals frames of these. Convert it to one of them first."
        )
    name = (class_names(value) or ["object"])[0]
    return UnsupportedTypeError(
        f"got {name}, which is not a frame that balframe can read. {advice}"
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
