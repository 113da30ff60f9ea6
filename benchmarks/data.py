"""Rows for a case: seeded, with predictions that agree with the truth in 80% of the rows."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl

from benchmarks.cases import Case

AGREEMENT = 0.8
REGIONS = 10

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Codes:
    """Segments and labels as numbers from 0, which no user's data has ready."""

    segment: IntArray
    y: IntArray
    yhat: IntArray
    weight: FloatArray | None
    cluster: IntArray | None


@dataclass(frozen=True, eq=False)
class Data:
    """The rows of a case, as a frame and as codes."""

    case: Case
    codes: Codes
    frame: pl.DataFrame | pd.DataFrame


def generate(case: Case) -> Data:
    """Draw the rows of a case."""
    codes = draw(case)
    frame = in_polars(case, codes.segment, codes.y, codes.yhat)
    if codes.weight is not None:
        frame = frame.with_columns(weight=codes.weight)
    if codes.cluster is not None:
        frame = frame.with_columns(cluster=codes.cluster)
    if case.frame == "polars":
        return Data(case, codes, frame)
    backed = frame.to_pandas(use_pyarrow_extension_array=case.frame == "pandas, pyarrow")
    if case.label_type == "categorical":  # polars gives each column the order of its own rows
        categories = label_values(case).to_list()
        for name in ("y", "yhat"):
            backed[name] = backed[name].cat.set_categories(categories)
    return Data(case, codes, backed)


def draw(case: Case) -> Codes:
    """Draw segments and labels alike often, and weights whose sums have no rounding."""
    random = np.random.default_rng(20)
    cluster = random.integers(0, case.clusters, case.rows) if case.clusters else None
    if cluster is None:
        segment = random.integers(0, case.segments, case.rows)
    else:
        segment = cluster % case.segments
    y = random.integers(0, case.labels, case.rows)
    other = (y + random.integers(1, case.labels, case.rows)) % case.labels
    yhat = np.where(random.random(case.rows) < AGREEMENT, y, other)
    weight = random.integers(1, 9, case.rows) / 4 if case.weighted else None
    return Codes(segment, y, yhat, weight, cluster)


def in_polars(case: Case, segment: IntArray, y: IntArray, yhat: IntArray) -> pl.DataFrame:
    """Give codes the types and names that the case asks for."""
    labels = label_values(case)
    columns = {**by_values(case, segment), "y": labels.gather(y), "yhat": labels.gather(yhat)}
    return pl.DataFrame(columns)


def by_values(case: Case, segment: IntArray) -> dict[str, pl.Series]:
    """Make the by-columns of segments given as codes."""
    if case.by == "string and int64":
        regions = pl.Series([f"region {i}" for i in range(REGIONS)])
        return {"region": regions.gather(segment % REGIONS), "store": pl.Series(segment // REGIONS)}
    return {"segment": values(case.by, "segment", case.segments).gather(segment)}


def label_values(case: Case) -> pl.Series:
    """List the labels of a case, in the order of their codes."""
    return values(case.label_type, "label", case.labels)


def positive(case: Case) -> bool | int | str:
    """Find the second of two labels."""
    found: bool | int | str = label_values(case)[1]
    return found


def values(kind: str, name: str, number: int) -> pl.Series:
    """List distinct values of a type, sorted."""
    if kind in ("int64", "int8"):
        return pl.Series(range(number), dtype=pl.Int8 if kind == "int8" else pl.Int64)
    if kind == "bool":
        return pl.Series([False, True][:number])
    end = ", which has a long name" if kind == "long string" else ""
    names = [f"{name} {i:04}{end}" for i in range(number)]
    if kind == "enum":
        return pl.Series(names, dtype=pl.Enum(names))
    return pl.Series(names, dtype=pl.Categorical if kind == "categorical" else pl.String)
