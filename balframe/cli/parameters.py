"""The options of the commands, named as the parameters of the verbs, and how they are read."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import polars as pl
import typer

from balframe.analyses.references import KEYWORDS
from balframe.cli import inputs
from balframe.errors import InvalidInputError
from balframe.intervals.request import IntervalOption, Method

_HEADINGS = {"data": "Data", "how": "How", "out": "Output"}


def option(text: str, *names: str, panel: str = "how", kind: str | None = None) -> Any:  # noqa: ANN401
    """Describe an option; without names it has that of its parameter."""
    return typer.Option(*names, help=text, rich_help_panel=_HEADINGS[panel], metavar=kind)


def column(text: str) -> Any:  # noqa: ANN401
    """Describe an option that names a column."""
    return option(text, panel="data", kind="COLUMN")


Files = Annotated[
    list[str],
    typer.Argument(
        help="csv, tsv, parquet, ndjson or arrow files, patterns such as 'day=*/*.parquet', or - "
        "for csv on standard input.",
        show_default=False,
    ),
]
YTrue = Annotated[str, column("Column of the true labels.")]
YPred = Annotated[
    list[str], column("Column of predicted labels; again for more models: --y-pred a --y-pred b.")
]
YScore = Annotated[
    list[str], column("Column of scores; again for more models: --y-score a --y-score b.")
]
By = Annotated[
    list[str] | None,
    column("Column whose values are the segments; again for more: --by sex --by age."),
]
NeededBy = Annotated[
    list[str], column("Column whose values are the segments; again for more: --by sex --by age.")
]
Weight = Annotated[str | None, column("Column of weights of rows.")]
Counts = Annotated[str | None, column("Column of how many identical rows each row stands for.")]
Cells = Annotated[bool, option("The files are results of `confusion`.", "--cells", panel="data")]
Labels = Annotated[
    list[str] | None,
    option("A label of the label set, in order; again for each.", "--label", kind="LABEL"),
]
PosLabel = Annotated[
    str | None,
    option("The positive label, for metrics such as recall; by default 1 or true.", kind="LABEL"),
]
Missing = Annotated[
    Literal["raise", "drop"], option("Refuse nulls, or leave their rows out.", panel="data")
]
Margins = Annotated[
    Literal["overall", "all"] | None,
    option("Add all segments together, or those of every subset of --by."),
]
Metric = Annotated[
    list[str] | None,
    option(
        'Metric, or "all"; again for more. `balframe metrics` lists them.', "--metric", kind="NAME"
    ),
]
ClassWeights = Annotated[
    list[str] | None,
    option(
        "Weight of a label, as in yes=0.8; again for each. Or balanced, or prevalence.",
        "--class-weight",
        kind="LABEL=NUMBER",
    ),
]
Interval = Annotated[bool, option("Add limits of confidence.", "--interval")]
IntervalMethod = Annotated[Method | None, option("Add limits by this method.")]
Level = Annotated[float, option("Confidence level of limits.")]
MinSupport = Annotated[int, option("Rows that the smallest denominator of a metric must have.")]
Thresholds = Annotated[
    str | None,
    option(
        "How many from 0 to 1, a list 0.2,0.5 or quantiles,10; by default every score.", kind="HOW"
    ),
]
MaxCells = Annotated[int, option("The most cells to hold in memory.")]
Format = Annotated[
    Literal["table", "csv", "json", "ndjson", "markdown", "parquet", "junit"] | None,
    option("By default a table on a terminal, csv in a pipe, for --out its ending.", panel="out"),
]
Out = Annotated[Path | None, option("File to write to.", panel="out")]
Sort = Annotated[
    list[str] | None,
    option(
        "Column to sort by, with a minus before it descending; again for more.",
        panel="out",
        kind="COLUMN",
    ),
]


def one_or_more(names: Sequence[str]) -> Any:  # noqa: ANN401
    """Give one name as it is, and several as a list."""
    return list(names) if len(names) > 1 else names[0]


def metrics(names: list[str] | None) -> str | list[str] | None:
    """Read names of metrics, "all" alone."""
    return "all" if names == ["all"] else names or None


def interval(wanted: bool, method: Method | None) -> IntervalOption:
    """Choose a method by its name, or the default by the flag."""
    return method if method is not None else (True if wanted else None)


def labels(texts: list[str] | None, rows: pl.LazyFrame, y_true: str) -> list[Any] | None:
    """Read the label set."""
    return [inputs.label(text, rows, y_true) for text in texts] if texts else None


def pos_label(text: str | None, rows: pl.LazyFrame, y_true: str) -> Any:  # noqa: ANN401
    """Read the positive label."""
    return None if text is None else inputs.label(text, rows, y_true)


def reference(text: str, rows: pl.LazyFrame, by: Sequence[str]) -> Any:  # noqa: ANN401
    """Read an option, or the value of a segment."""
    return text if text in KEYWORDS or len(by) != 1 else inputs.label(text, rows, by[0])


def rules(texts: list[str] | None, file: Path | None) -> list[str] | Path:
    """Take rules one by one, or the file that has them."""
    if (not texts) == (file is None):
        raise InvalidInputError(
            "give rules either one by one, --rule 'recall >= 0.7', or in a file, --rules gate.toml."
        )
    return file if file is not None else list(texts or [])
