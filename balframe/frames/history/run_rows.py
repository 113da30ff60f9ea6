"""The rows of a run as a table has them: its cells, with their run, days and provenance."""

from collections.abc import Mapping
from datetime import date
from typing import Any

import polars as pl

from balframe.frames.history.run_table import DATE, RUN, SOURCE, STORED_AT, VERSION
from balframe.frames.query import MODEL


def run_rows(
    cells: pl.DataFrame,
    *,
    run: str,
    day: date | None,
    model: str | None,
    provenance: Mapping[str, Any],
) -> pl.DataFrame:
    """Return one row for each cell; cells have a column of days if `day` is None."""
    has_models = MODEL in cells.columns
    columns = {
        RUN: pl.lit(run),
        DATE: pl.col(DATE).cast(pl.Date) if day is None else pl.lit(day),
        MODEL: pl.col(MODEL) if has_models else pl.lit(model, pl.String),
    }
    others = [name for name in cells.columns if name not in columns]
    return cells.select(
        **columns,
        **{name: pl.col(name) for name in others},
        **{
            SOURCE: pl.lit(provenance["source"], pl.String),
            STORED_AT: pl.lit(provenance["stored_at"], pl.Datetime("us", "UTC")),
            VERSION: pl.lit(provenance["version"]),
        },
    )
