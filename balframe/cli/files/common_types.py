"""The types of columns that several files agree on, or one error that says where they differ."""

from collections.abc import Callable, Collection, Mapping, Sequence

import polars as pl

from balframe.cli.files.paths import Source
from balframe.errors import InvalidInputError, listed

Schema = Mapping[str, pl.DataType]
_TEXTS = (pl.String, pl.Categorical, pl.Enum)
_UNITS = ("ns", "us", "ms")  # the finest first
_WORDS = {
    pl.String: "strings",
    pl.Boolean: "true or false",
    pl.Date: "dates",
    pl.Time: "times of day",
    pl.Duration: "durations",
}


def agreed(
    schemas: Mapping[Source, Schema],
    named: Collection[str],
    has_values: Callable[[Source, str], bool],
    is_exact: Callable[[Source, str], bool],
) -> dict[str, pl.DataType]:
    """Find one type for each column that all files have; those of `named` have to have one.

    A column without a value in a file agrees with any type, as `has_values` says. Whole numbers
    agree with other numbers if `is_exact` says that doubles hold them.
    """
    _check_names(schemas, named)
    first = next(iter(schemas.values()))
    types: dict[str, pl.DataType] = {}
    for column in first:
        if not all(column in schema for schema in schemas.values()):
            continue
        found = {source: schema[column] for source, schema in schemas.items()}
        if len(set(found.values())) > 1:
            found = {s: t for s, t in found.items() if t != pl.Null and has_values(s, column)}
        common = _common(list(dict.fromkeys(found.values())) or [first[column]])
        if common is not None:
            types[column] = common
            if common.is_float() and column in named:
                _check_exact(column, [s for s, t in found.items() if t.is_integer()], is_exact)
        elif column in named:
            raise _different_types(column, found)
    return types


def _check_names(schemas: Mapping[Source, Schema], named: Collection[str]) -> None:
    """Raise where a column that is asked for is in some of the files alone."""
    for name in named:
        has = {source: name in schema for source, schema in schemas.items()}
        if len(set(has.values())) > 1:
            one = next(source for source in schemas if has[source])
            other = next(source for source in schemas if not has[source])
            raise InvalidInputError(
                f"the files have different columns: {one.name} has {listed(schemas[one])}; "
                f"{other.name} has {listed(schemas[other])}. Give files with the same columns."
            )


def _check_exact(
    column: str, sources: Sequence[Source], is_exact: Callable[[Source, str], bool]
) -> None:
    """Raise where a whole number would become another one beside numbers with points."""
    for source in sources:
        if not is_exact(source, column):
            raise InvalidInputError(
                f"column {column!r} holds whole numbers beyond 2**53 in {source.name}, which are "
                "not exact beside the other numbers of another file. Give files whose columns have "
                "the same types."
            )


def _common(types: Sequence[pl.DataType]) -> pl.DataType | None:
    """Find the type that holds the values of all: a wider number, a finer time, or text."""
    if len(types) == 1:
        return types[0]
    times = [one for one in types if isinstance(one, pl.Datetime)]
    if len(times) == len(types) and len({one.time_zone for one in times}) == 1:
        return min(times, key=lambda one: _UNITS.index(one.time_unit))
    if all(one in _TEXTS for one in types):
        return pl.String()
    if all(one.is_unsigned_integer() for one in types):
        return pl.UInt64()
    if all(one.is_integer() for one in types):
        return pl.Int64()
    if all(one.is_integer() or one.is_float() for one in types):
        return pl.Float64()
    return None


def _different_types(column: str, found: Mapping[Source, pl.DataType]) -> InvalidInputError:
    holders: dict[str, str] = {}
    for source, dtype in found.items():
        holders.setdefault(_in_words(dtype), source.name)
    what = " but ".join(f"{words} in {name}" for words, name in holders.items())
    return InvalidInputError(
        f"the files have different types: column {column!r} holds {what}. Give files whose "
        "columns have the same types."
    )


def _in_words(dtype: pl.DataType) -> str:
    if dtype.is_integer():
        return "whole numbers"
    if dtype.is_numeric():
        return "numbers"
    if isinstance(dtype, pl.Datetime):
        return f"dates with times {f'in {dtype.time_zone}' if dtype.time_zone else 'of no zone'}"
    return _WORDS.get(dtype.base_type(), f"values of type {dtype}")
