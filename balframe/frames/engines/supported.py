"""The frames that balframe reads: what holds their rows, and what comes back."""

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

import narwhals as nw
import pandas as pd
import polars as pl

from balframe.errors import InvalidInputError, MissingExtraError, UnsupportedTypeError
from balframe.frames.engines.reduce import Rows
from balframe.frames.libraries.in_pandas import columns as columns_of_pandas
from balframe.frames.libraries.in_pandas.encode import DType, Values
from balframe.frames.libraries.in_polars import columns as columns_of_polars
from balframe.frames.library import Frame, Library, LibraryOf, Name
from balframe.frames.query import Query

if TYPE_CHECKING:
    import pyarrow as pa
    from narwhals.dtypes import DType as NarwhalsDType

_pandas: LibraryOf[pd.DataFrame, Name, Values, DType] = columns_of_pandas
_polars: LibraryOf[pl.DataFrame, str, pl.Series, pl.DataType] = columns_of_polars

# Each takes frames of its own only: a frame and its library always go together.
in_pandas = cast(Library, _pandas)
in_polars = cast(Library, _polars)

LAZY = "polars, lazy"

# It asks for a package that narwhals takes by itself where it is installed.
warnings.filterwarnings("ignore", "Dask support is moving out of Narwhals", FutureWarning)


@dataclass(frozen=True, slots=True)
class Engine:
    """A kind of frame: one row of the table of what is supported.

    `library` counts its cells, `answer` is what comes back, `extra` installs what it needs and
    `notes` say what is not supported, or different. Of lazy ones, only cells are fetched.
    """

    name: str
    frame: str
    library: Library
    answer: str
    extra: str | None = None
    notes: str = ""
    is_lazy: bool = True


PANDAS = Engine("pandas", "pandas.DataFrame", in_pandas, "pandas", is_lazy=False)
POLARS = Engine("polars", "polars.DataFrame", in_polars, "polars", is_lazy=False)
POLARS_LAZY = Engine(
    LAZY, "polars.LazyFrame", in_polars, LAZY, notes='`backend="polars"` collects at once'
)
PYARROW = Engine(
    "PyArrow",
    "pyarrow.Table",
    in_polars,
    "pyarrow",
    "arrow",
    "no `.bal`; counted where it is",
    is_lazy=False,
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
    "no `.bal`; classic and Connect, of which the first is tested",
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
    "Ibis", "ibis.Table", in_polars, "polars", "ibis", "no `.bal`; tested on its DuckDB backend"
)
SQLFRAME = Engine(
    "SQLFrame",
    "sqlframe DataFrame",
    in_polars,
    "polars",
    "sqlframe",
    "no `.bal`; tested on its DuckDB backend",
)
ENGINES = (PANDAS, POLARS, POLARS_LAZY, PYARROW, DASK, PYSPARK, DUCKDB, IBIS, SQLFRAME)

_NARWHALS = {
    nw.Implementation.PYARROW: PYARROW,
    nw.Implementation.DASK: DASK,
    nw.Implementation.PYSPARK: PYSPARK,
    nw.Implementation.PYSPARK_CONNECT: PYSPARK,
    nw.Implementation.DUCKDB: DUCKDB,
    nw.Implementation.IBIS: IBIS,
    nw.Implementation.SQLFRAME: SQLFRAME,
}
_ADVICE = {  # frames that do not run beside the pandas of today, by the start of their module
    "pyspark.pandas": "Give the Spark frame behind it, `frame.to_spark()`.",
    "modin": "Give the pandas frame behind it, `frame.modin.to_pandas()`.",
}


def engine_of(frame: object) -> Engine:
    """Find out what holds the rows of a frame."""
    if isinstance(frame, pd.DataFrame):
        return PANDAS
    if isinstance(frame, pl.DataFrame):
        return POLARS
    if isinstance(frame, pl.LazyFrame):
        return POLARS_LAZY
    known: Any = nw.from_native(frame, pass_through=True)
    is_frame = isinstance(known, (nw.DataFrame, nw.LazyFrame))
    engine = _NARWHALS.get(known.implementation) if is_frame else None
    if engine is None:
        raise UnsupportedTypeError(_not_read(type(frame)))
    if engine.library is in_polars:
        check_installed("pyarrow", engine.extra, f"{engine.name} frames")
    return engine


def as_rows(frame: object) -> Rows:
    """Take the rows of a lazy frame as narwhals has them."""
    native: Any = frame
    rows: Rows = nw.from_native(native)
    return rows


def _not_read(given: type) -> str:
    advice = "Convert it to one of these first."
    for module, known in _ADVICE.items():
        if given.__module__.startswith(module):
            advice = known
    frames = ", ".join(engine.frame for engine in ENGINES)
    return (
        f"got {given.__module__}.{given.__qualname__}, which is not a frame that balframe reads: "
        f"it reads {frames}. {advice}"
    )


def check_installed(module: str, extra: str | None, purpose: str) -> None:
    """Raise unless a module is there, and name the command that installs it."""
    if find_spec(module) is None:
        raise MissingExtraError(
            f"{purpose} need {module}, which is not installed: "
            f"python -m pip install 'balframe[{extra}]'"
        )


def without_rows(frame: object, engine: Engine) -> Frame:
    """Make a frame of the same columns in the engine's library; no row is read.

    A frame of pandas or polars is given as it is.
    """
    if isinstance(frame, (pd.DataFrame, pl.DataFrame)):
        return frame
    if isinstance(frame, pl.LazyFrame):
        return frame.collect_schema().to_frame()
    native: Any = frame  # of a library that need not be installed
    if engine is DASK:
        return _of_known_categories(native._meta)
    names = native.column_names if engine is PYARROW else native.columns
    _check_distinct(names)
    if engine is PYARROW:
        return from_arrow(native.schema.empty_table())
    dtypes = as_rows(frame).collect_schema().dtypes()
    return pl.DataFrame(schema={n: polars_dtype(one) for n, one in zip(names, dtypes, strict=True)})


def polars_dtype(dtype: "NarwhalsDType") -> pl.DataType | type[pl.DataType]:
    """Find the type of polars; where there is none, only the values can tell."""
    try:
        known = nw.Schema({"column": dtype}).to_polars()["column"]
    except (NotImplementedError, TypeError, ValueError):
        return pl.Null
    return pl.Null if known in (pl.Unknown, pl.Object) else known


def _of_known_categories(frame: pd.DataFrame) -> pd.DataFrame:
    """Leave open what a column of categories holds, which Dask may not know yet."""
    unknown = {
        name: object
        for name, dtype in frame.dtypes.items()
        if isinstance(dtype, pd.CategoricalDtype) and "__UNKNOWN_CATEGORIES__" in dtype.categories
    }
    return frame.astype(unknown)


def _check_distinct(names: Sequence[Name]) -> None:
    for name, number in Counter(names).items():
        if number > 1:
            raise InvalidInputError(
                f"the frame has {number} columns named {name!r}; rename them so that the name "
                "says which one is meant."
            )


def in_memory(frame: object, engine: Engine, query: Query) -> Frame:
    """Take the rows of an eager frame in the engine's library: only the columns that are read."""
    if engine is PYARROW:
        return from_arrow(cast("pa.Table", frame).select(list(query.columns)))
    return cast(Frame, frame)


def from_arrow(table: "pa.Table") -> pl.DataFrame:
    """Read a table of Arrow under its own names; polars makes up one for an empty name."""
    numbered = table.rename_columns([str(i) for i in range(table.num_columns)])
    return cast(pl.DataFrame, pl.from_arrow(numbered)).rename(
        dict(zip(numbered.column_names, table.column_names, strict=True))
    )
