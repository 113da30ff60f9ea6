"""What should change no answer: other libraries, dtypes and layouts in memory of the same rows."""

import io
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

Form = Callable[[pl.DataFrame, Random], Any]


def in_chunks(frame: pl.DataFrame, random: Random) -> pl.DataFrame:
    """Put slices together without copying; some are empty, and columns differ in their pieces."""
    cuts = sorted(random.randint(0, frame.height) for _ in range(3))
    ends = zip([0, *cuts], [*cuts, frame.height], strict=True)
    pieces = pl.concat([frame[start:end] for start, end in ends], rechunk=False)
    return pieces.with_columns(frame["y"])


def sliced(frame: pl.DataFrame, random: Random) -> pl.DataFrame:
    before, after = frame[: random.randint(0, 9)], frame[: random.randint(0, 9)]
    return pl.concat([before, frame, after])[before.height : before.height + frame.height]


def with_nan_for_null(frame: pl.DataFrame, random: Random) -> pl.DataFrame:
    """Some nulls of floats are NaN."""
    where = pl.Series([random.random() < 0.5 for _ in range(frame.height)], dtype=pl.Boolean)
    return frame.with_columns(
        pl.when(where & column.is_null()).then(np.nan).otherwise(column).alias(column.name)
        for column in frame
        if column.dtype.is_float()
    )


def in_categories(frame: pl.DataFrame, _: Random) -> pl.DataFrame:
    return frame.with_columns(pl.col(pl.String).cast(pl.Categorical))


def in_levels(frame: pl.DataFrame, _: Random) -> pl.DataFrame:
    """Make texts levels, in the order of their code points, among them one that never occurs."""
    return frame.with_columns(pl.col(pl.String).cast(pl.Enum(_levels(frame))))


def _levels(frame: pl.DataFrame) -> list[str]:
    texts = frame.select(pl.col(pl.String))
    found = {value for column in texts for value in column.drop_nulls()}
    return sorted({*found, "never used", "x"})


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
    return pd.DataFrame({column.name: column.to_numpy() for column in frame})


def pandas_of_nullables(frame: pl.DataFrame, random: Random) -> pd.DataFrame:
    return pandas_of_numpy(frame, random).convert_dtypes()


def pandas_of_arrow(frame: pl.DataFrame, _: Random) -> pd.DataFrame:
    return frame.to_pandas(use_pyarrow_extension_array=True)


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


FORMS: list[Form] = [
    in_chunks,
    sliced,
    with_nan_for_null,
    in_categories,
    in_levels,
    lazy,
    lazy_in_files,
    pandas_of_numpy,
    pandas_of_nullables,
    pandas_of_arrow,
    pandas_of_categories,
    pandas_with_an_index,
    pandas_views,
    arrow_in_chunks,
]
