"""Local times of a column with a time zone, in engines where narwhals would use another zone.

DuckDB and most databases store a moment without a zone: they show it in the zone of the session,
which may be that of the machine. Then the local time is that of UTC.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any, cast

import narwhals as nw

from balframe.errors import UnsupportedTypeError
from balframe.frames.adapter import PERIOD_ENTRY, Name
from balframe.frames.engines.column_names import Rows, ibis_backend, quoted
from balframe.frames.lazy_pandas import pandas
from balframe.frames.query import PERIOD, Query

_UTC = "UTC"
_OFFSET = re.compile(r"([+-])(\d\d):?(\d\d)")
_HAVE_TIMEZONE = ("duckdb", "postgres")  # the function `timezone` of SQL


def with_local_time(rows: Rows, query: Query) -> tuple[Rows, Query]:
    """Add a column of local times without a zone, if periods have a zone that narwhals misreads."""
    add = _ADD_BY_ENGINE.get(rows.implementation)
    if query.period is None or add is None:
        return rows, query
    native: Any = rows.to_native()
    local = "local".ljust(max(len(str(name)) for name in native.columns) + 1, "_")
    added = add(native, query.period.column, local)
    if added is None:
        return rows, query
    return cast(Rows, nw.from_native(added)), replace(
        query, computed={**query.computed, PERIOD: replace(query.period, column=local)}
    )


def _add_in_duckdb(native: Any, name: Name, local: str) -> Any:  # noqa: ANN401
    dtype = str(native.types[native.columns.index(name)])
    if dtype not in ("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS"):
        return None
    return native.project(f"*, timezone('{_UTC}', {quoted(name)}) AS {quoted(local)}")


def _add_in_ibis(native: Any, name: Name, local: str) -> Any:  # noqa: ANN401
    ibis: Any = import_module("ibis")

    def timezone(zone, moment): ...  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202

    dtype = native.schema()[name]
    zone = dtype.timezone if dtype.is_timestamp() else None
    if zone is None:
        return None
    backend = ibis_backend(nw.from_native(native))
    if backend not in _HAVE_TIMEZONE:
        raise UnsupportedTypeError(
            "column {!r} has the type {}, whose local days are not known on Ibis's backend {!r}. "
            "Give {} a column of dates, or of datetimes without a time zone.",
            name,
            dtype,
            backend,
            PERIOD_ENTRY,
        )
    timezone.__annotations__ = {"return": ibis.expr.datatypes.timestamp}
    in_zone = ibis.udf.scalar.builtin(timezone)
    offset = _OFFSET.fullmatch(zone)
    if offset is None:
        return native.mutate(**{local: in_zone(zone, native[name])})
    minutes = int(f"{offset[1]}{int(offset[2]) * 60 + int(offset[3])}")
    shift = ibis.interval(minutes=minutes)
    return native.mutate(**{local: in_zone(_UTC, native[name]) + shift})


def _add_in_sqlframe(native: Any, name: Name, local: str) -> Any:  # noqa: ANN401
    package = type(native).__module__.rpartition(".")[0]
    dtype = nw.from_native(native).collect_schema()[str(name)]
    if not package.endswith(_HAVE_TIMEZONE) or getattr(dtype, "time_zone", None) is None:
        return None
    functions = import_module(f"{package}.functions")
    in_zone = functions.call_function("timezone", functions.lit(_UTC), functions.col(name))
    return native.withColumn(local, in_zone)


def _add_in_dask(native: Any, name: Name, local: str) -> Any:  # noqa: ANN401
    if not isinstance(native._meta[name].dtype, pandas.DatetimeTZDtype):
        return None
    return native.assign(**{local: native[name].dt.tz_localize(None)})


_ADD_BY_ENGINE: Mapping[nw.Implementation, Callable[[Any, Name, str], Any]] = {
    nw.Implementation.DUCKDB: _add_in_duckdb,
    nw.Implementation.IBIS: _add_in_ibis,
    nw.Implementation.SQLFRAME: _add_in_sqlframe,
    nw.Implementation.DASK: _add_in_dask,
}
