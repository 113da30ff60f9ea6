"""Files of Arrow and Parquet with columns of types that polars lacks, read without them.

Periods and intervals of pandas are read as texts.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import polars as pl

from balframe.cli.files.csv_dialect import first_bytes
from balframe.cli.files.paths import Location, is_url
from balframe.cli.files.read_errors import ContentError
from balframe.errors import listed
from balframe.frames.engines.arrow import (
    from_arrow,
    has_polars_type,
    is_extension,
    is_of_pandas,
    type_text,
)

if TYPE_CHECKING:
    import pyarrow as pa


def read_known_types(
    locations: Sequence[Location], columns: Collection[str]
) -> pl.LazyFrame | None:
    """Read files that polars cannot, without the columns of types that it lacks.

    Raise where one of `columns` is of such a type, or two have the same name. Return None where a
    file has none of these, or pyarrow is not installed.
    """
    if find_spec("pyarrow") is None or any(map(is_url, locations)):
        return None
    import pyarrow as pa

    frames = []
    for location in locations:
        try:
            schema = _read_schema(location)
            names = _known_names(schema, columns)
            used = [field for field in schema if field.name in columns]
            if len(names) == len(schema) and not any(map(is_extension, used)):
                return None
            frames.append(from_arrow(_read_table(location, names)).lazy())
        except (pa.ArrowException, OSError):
            return None
    return pl.concat(frames)


def _known_names(schema: "pa.Schema", columns: Collection[str]) -> list[str]:
    """List the columns whose types polars has."""
    repeated = [repr(name) for name, n in Counter(schema.names).items() if n > 1]
    if repeated:
        raise ContentError(
            f"more than one column has the name {listed(repeated)}. Rename all but one"
        )
    has_pandas = find_spec("pandas") is not None
    unknown = {
        field.name: type_text(field)
        for field in schema
        if not has_polars_type(field) or (is_of_pandas(field) and not has_pandas)
    }
    named = [f"column {name!r} of type {unknown[name]}" for name in columns if name in unknown]
    if named:
        raise ContentError(f"polars does not have the type of {listed(named)}. Cast it first")
    return [name for name in schema.names if name not in unknown]


def _read_schema(location: Location) -> "pa.Schema":
    import pyarrow as pa
    import pyarrow.parquet

    if _is_parquet(location):
        return pa.parquet.read_schema(location)
    with _open_arrow(location) as reader:
        return reader.schema


def _read_table(location: Location, names: list[str]) -> "pa.Table":
    import pyarrow.parquet

    if _is_parquet(location):
        return pyarrow.parquet.read_table(location, columns=names)
    with _open_arrow(location) as reader:
        return reader.read_all().select(names)


def _is_parquet(location: Location) -> bool:
    return first_bytes(location).startswith(b"PAR1")


@contextmanager
def _open_arrow(location: Location) -> "Iterator[Any]":
    """Open a file or a stream of Arrow, as a reader with a schema."""
    import pyarrow as pa

    is_file = first_bytes(location).startswith(b"ARROW1")
    open_reader = pa.ipc.open_file if is_file else pa.ipc.open_stream
    with open(location, "rb") as file, open_reader(file) as reader:
        yield reader
