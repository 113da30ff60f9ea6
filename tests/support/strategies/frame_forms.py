"""What should change no result: other libraries, dtypes and layouts in memory of the same rows."""

import io
from collections.abc import Callable
from random import Random
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset

from tests.support.arrow_types import unknown_to_polars

Form = Callable[[pl.DataFrame, Random], Any]

COUNTS = ("k", "n")


def in_chunks(frame: pl.DataFrame, random: Random) -> pl.DataFrame:
    """Put slices together without copying; some are empty, and columns differ in their pieces."""
    cuts = sorted(random.randint(0, frame.height) for _ in range(3))
    ends = zip([0, *cuts], [*cuts, frame.height], strict=True)
    pieces = pl.concat([frame[start:end] for start, end in ends], rechunk=False)
    return pieces.with_columns(frame.to_series(0))


def sliced(frame: pl.DataFrame, random: Random) -> pl.DataFrame:
    before, after = frame[: random.randint(0, 9)], frame[: random.randint(0, 9)]
    return pl.concat([before, frame, after])[before.height : before.height + frame.height]


def in_categories(frame: pl.DataFrame, _: Random) -> pl.DataFrame:
    return frame.with_columns(pl.col(pl.String).cast(pl.Categorical))


def in_levels(frame: pl.DataFrame, _: Random) -> pl.DataFrame:
    """Make texts levels, in the order of their code points, among them one that never occurs."""
    return frame.with_columns(pl.col(pl.String).cast(pl.Enum(_levels(frame))))


def _levels(frame: pl.DataFrame) -> list[str]:
    texts = frame.select(pl.col(pl.String))
    found = {value for column in texts for value in column.to_list()}
    return sorted({*found, "never used", "x"} - {None})


def lazy(frame: pl.DataFrame, _: Random) -> pl.LazyFrame:
    return frame.lazy()


def lazy_in_files(frame: pl.DataFrame, random: Random) -> pl.LazyFrame:
    cut = random.randint(0, frame.height)
    files = []
    for part in (frame[:cut], frame[cut:]):
        file = io.BytesIO()
        part.write_parquet(file, row_group_size=5)
        file.seek(0)
        files.append(pl.scan_parquet(file))
    return pl.concat(files)


def pandas_of_numpy(frame: pl.DataFrame, _: Random) -> pd.DataFrame:
    """Integers with nulls are floats, and texts are objects."""
    rows = pd.DataFrame({column.name: column.to_numpy() for column in frame})
    for name, dtype in frame.schema.items():
        if isinstance(dtype, pl.Datetime) and dtype.time_zone is not None:  # numpy has no zones
            rows[name] = rows[name].dt.tz_localize("UTC").dt.tz_convert(dtype.time_zone)
    return rows


def pandas_of_nullables(frame: pl.DataFrame, random: Random) -> pd.DataFrame:
    floats = [name for name, dtype in frame.schema.items() if dtype.is_float()]
    return pandas_of_numpy(frame, random).convert_dtypes().astype(dict.fromkeys(floats, "Float64"))


def pandas_of_arrow(frame: pl.DataFrame, _: Random) -> pd.DataFrame:
    return frame.to_pandas(use_pyarrow_extension_array=True)


def pandas_of_dictionaries(frame: pl.DataFrame, random: Random) -> pd.DataFrame:
    """Make texts dictionaries of Arrow, ordered or not, in chunks."""
    table, levels = arrow_in_chunks(frame, random), pa.array(_levels(frame))
    is_ordered = random.random() < 0.5
    for position, field in enumerate(table.schema):
        if field.type in (pa.string(), pa.large_string()):
            chunks = [
                pa.DictionaryArray.from_arrays(
                    pc.index_in(chunk.cast(pa.string()), levels), levels, ordered=is_ordered
                )
                for chunk in table[position].chunks
            ]
            table = table.set_column(position, field.name, pa.chunked_array(chunks))
    return table.to_pandas(types_mapper=pd.ArrowDtype)


def pandas_of_objects(frame: pl.DataFrame, _: Random) -> pd.DataFrame:
    """Keep labels and segments as objects of Python, beside None."""
    rows = pandas_of_numpy(frame, _)
    for name in frame.columns:
        if name not in COUNTS and not frame.schema[name].is_float():
            rows[name] = pd.Series(frame[name].to_list(), dtype=object)
    return rows


def pandas_of_categories(frame: pl.DataFrame, random: Random) -> pd.DataFrame:
    """Make texts categories, ordered or not, among them one that never occurs."""
    dtype = pd.CategoricalDtype(_levels(frame), ordered=random.random() < 0.5)
    texts = [name for name, found in frame.schema.items() if found == pl.String]
    return pandas_of_numpy(frame, random).astype(dict.fromkeys(texts, dtype))


def pandas_with_an_index(frame: pl.DataFrame, random: Random) -> pd.DataFrame:
    """Give rows labels that repeat, lack, or are named as a column is."""
    rows = pandas_of_numpy(frame, random)
    n = len(rows)
    indexes = [
        pd.Index([7] * n),
        pd.Index([np.nan, "x", 1] * n, dtype=object)[:n],
        pd.RangeIndex(n)[::-1],
        pd.Index(range(n), name="y"),
        pd.MultiIndex.from_arrays([[0] * n, ["a"] * n], names=["g", None]),
    ]
    return rows.set_axis(random.choice(indexes))


def pandas_with_a_name_twice(frame: pl.DataFrame, random: Random) -> pd.DataFrame:
    """Add two columns of one name, which no role has."""
    rows = pandas_of_numpy(frame, random)
    for value in (0, "x"):
        rows.insert(random.randint(0, rows.shape[1]), "note", value, allow_duplicates=True)
    return rows


def pandas_views(frame: pl.DataFrame, random: Random) -> pd.DataFrame:
    """Take every other row of twice as many, or all backwards: arrays with strides."""
    rows = pandas_of_numpy(frame, random)
    if random.random() < 0.5:
        return rows.iloc[::-1].iloc[::-1]
    return rows.loc[np.repeat(rows.index, 2)].iloc[::2]


def arrow_in_chunks(frame: pl.DataFrame, random: Random) -> pa.Table:
    cut = random.randint(0, frame.height)
    table = frame.to_arrow()
    return pa.concat_tables([table[:cut], table[cut:]])


def arrow_reader(frame: pl.DataFrame, random: Random) -> pa.RecordBatchReader:
    return arrow_in_chunks(frame, random).to_reader(max_chunksize=5)


def arrow_dataset(frame: pl.DataFrame, random: Random) -> pyarrow.dataset.Dataset:
    return pyarrow.dataset.dataset(arrow_in_chunks(frame, random))


def arrow_beside_unknown_types(frame: pl.DataFrame, random: Random) -> Any:
    """Add columns of types that polars lacks, to a table or to what is read in batches."""
    table = frame.to_arrow()
    unknown = unknown_to_polars(frame.height)
    for name in random.sample(list(unknown), min(2, len(unknown))):
        table = table.add_column(random.randint(0, table.num_columns), name, unknown[name])
    forms = [lambda: table, table.to_reader, lambda: pyarrow.dataset.dataset(table)]
    return random.choice(forms)()


def in_narwhals(frame: pl.DataFrame, _: Random) -> nw.DataFrame[pl.DataFrame]:
    return nw.from_native(frame)


FORMS: list[Form] = [
    in_chunks,
    sliced,
    in_categories,
    in_levels,
    lazy,
    lazy_in_files,
    pandas_of_numpy,
    pandas_of_nullables,
    pandas_of_arrow,
    pandas_of_dictionaries,
    pandas_of_objects,
    pandas_of_categories,
    pandas_with_an_index,
    pandas_with_a_name_twice,
    pandas_views,
    arrow_in_chunks,
    arrow_reader,
    arrow_dataset,
    arrow_beside_unknown_types,
    in_narwhals,
]
