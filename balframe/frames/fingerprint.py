"""The fingerprint of counts: the same for the same counts in any library or engine."""

import hashlib
import json
from collections.abc import Iterable

import numpy as np
import polars as pl

_MAX_EXACT_INTEGER = 2.0**53


def fingerprint(tables: Iterable[pl.DataFrame]) -> str:
    """Return the sha256 of the sorted rows of tables of counts, 64 hexadecimal digits.

    It is of the different values of each column as text, and of their positions in each row. A
    number that is whole is written as an integer, so that integers beside nulls, which pandas
    converts to floats, have the same text as without. The length of every value comes before it, so
    that one text is never read as two.
    """
    sha = hashlib.sha256()
    for table in tables:
        sha.update(f"{json.dumps([str(name) for name in table.columns])}\n".encode())
        positions = {}
        for number, column in enumerate(table.iter_columns()):
            texts, positions[f"{number}"] = _different_texts(column)
            text = "\n".join([f"{len(texts)}", *texts, ""])
            sha.update(text.encode("utf-8", "surrogatepass"))
        for column in pl.DataFrame(positions).sort(pl.all()).iter_columns():
            sha.update(column.to_numpy().astype("<i8").tobytes())
    return sha.hexdigest()


def _different_texts(column: pl.Series) -> tuple[list[str], pl.Series]:
    """Return the different values as sorted texts, and the position of each value in these."""
    if column.dtype.is_decimal():  # which older versions of polars cannot join
        column = column.cast(pl.String)
    values = column.unique()
    texts = _with_length_prefix(_as_text(values))
    different = texts.unique().sort()
    places = pl.DataFrame({"value": values, "place": different.search_sorted(texts)})
    rows = pl.DataFrame({"value": column})
    placed = rows.join(places, on="value", how="left", nulls_equal=True, maintain_order="left")
    return different.to_list(), placed["place"]


def _with_length_prefix(texts: pl.Series) -> pl.Series:
    length = texts.str.len_bytes().cast(pl.String)
    return (length + ":" + texts).fill_null("-")


def _as_text(column: pl.Series) -> pl.Series:
    if column.dtype == pl.Boolean:
        return column.cast(pl.Int8).cast(pl.String)
    if column.dtype.is_float():
        return _number_texts(column.cast(pl.Float64))
    if column.dtype.is_temporal():
        return column.dt.to_string("iso")
    if column.dtype == pl.Binary:
        return column.bin.encode("hex")
    return column.cast(pl.String)


def _number_texts(numbers: pl.Series) -> pl.Series:
    """Write whole numbers as integers, and the bits of the others."""
    values = numbers.fill_null(0).to_numpy()
    is_whole = pl.Series((np.floor(values) == values) & (np.abs(values) < _MAX_EXACT_INTEGER))
    whole = pl.Series(np.where(is_whole, values, 0).astype(np.int64)).cast(pl.String)
    bits = "f" + pl.Series(np.ascontiguousarray(values).view(np.int64)).cast(pl.String)
    texts = whole.zip_with(is_whole, bits)
    return texts.zip_with(numbers.is_not_null(), pl.Series([None] * len(numbers), dtype=pl.String))
